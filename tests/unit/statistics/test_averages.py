"""Micro and macro averages."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.statistics.accuracy import average, shares

# VerifyBench, arXiv 2505.15801, table 2, the hard set: sizes of the types, and math-verify's and Qwen3-32B's per cent.
SIZES = (252, 88, 430, 230)


@pytest.mark.parametrize(
    ("of_type", "micro", "macro"),
    [((76.19, 82.95, 8.37, 10.43), 32.5, 44.48), ((69.05, 81.82, 68.14, 77.83), 71.8, 74.21)],
    ids=["math-verify", "qwen3-32b"],
)
def test_the_published_average_is_micro_and_macro_is_another(
    of_type: tuple[float, ...], micro: float, macro: float
) -> None:
    counts = [round(size * share / 100) for size, share in zip(SIZES, of_type, strict=True)]
    right = np.concatenate([np.arange(size) < count for size, count in zip(SIZES, counts, strict=True)])
    by_type = shares(right, np.repeat(np.arange(4), SIZES))
    found = average("v", float(right.mean()), by_type, "type")
    assert round(100 * (found.micro or 0), 2) == micro
    assert 100 * (found.macro or 0) == pytest.approx(macro, abs=0.011)
    assert (found.over, found.groups) == ("type", 4)


def test_groups_without_items_do_not_count() -> None:
    assert shares(np.array([True, False, True]), np.array([0, 0, 3])) == [0.5, 1.0]
    assert average("v", 0.5, [None, 0.25, 0.75], "source").macro == 0.5
    empty = average("v", None, [None], "type")
    assert (empty.micro, empty.macro, empty.groups) == (None, None, 0)
