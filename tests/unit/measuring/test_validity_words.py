"""Findings in words."""

from __future__ import annotations

from workbench.measuring import validity
from workbench.statistics.subgroups import Effect


def test_too_few_items_are_reported_with_both_counts() -> None:
    none = Effect(exposed=0, others=0, strata=0)
    assert validity.compared("other-script", none, 3, 105) == (
        "Too few to tell: 3 completions with Chinese, Japanese or Korean characters (those without: 105); ten of each "
        "are needed with equal gold and type."
    )

    none_found = Effect(exposed=50, others=50, strata=1, difference=0.02, ci=(-0.03, 0.07))
    assert validity.compared("other-script", none_found, 50, 50).endswith(": not significant.")
    found = Effect(exposed=50, others=50, strata=1, difference=0.06, ci=(0.02, 0.1))
    assert "not significant" not in validity.compared("other-script", found, 50, 50)
