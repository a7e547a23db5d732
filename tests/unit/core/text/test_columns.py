"""Columns of numbers in plain text."""

from __future__ import annotations

import pytest

from workbench.core.text.figures import p_value


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "–"), (1e-12, "< 0.0001"), (0.00012, "0.0001"), (0.0049, "0.0049"), (0.0499, "0.050"), (1, "1.000")],
)
def test_p_values_are_rounded_for_reading(p: float | None, text: str) -> None:
    assert p_value(p) == text
