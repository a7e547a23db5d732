"""Aligning verdicts with items."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.confusion import align


@given(st.lists(st.integers(0, 50)), st.dictionaries(st.integers(0, 50), st.integers(0, 100)))
def test_every_key_gets_its_value_or_the_default(wanted: list[int], known: dict[int, int]) -> None:
    keys = sorted(known)
    found = align(np.array(wanted, dtype=np.int64), keys, [known[key] for key in keys], np.int8(-1))
    assert found.dtype == np.int8
    assert found.tolist() == [known.get(key, -1) for key in wanted]
