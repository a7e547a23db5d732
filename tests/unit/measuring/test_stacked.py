"""Stacks on arrays equal stacks on single items."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring.stacking import StackItems, read_stages
from workbench.verifiers.stacks.stack import Stage

TYPES = ("A1", "B2", "B1", None)
scores = st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.1, 0.5, 0.9, 1.0, 1e300]))
verdicts = st.tuples(st.sampled_from([0, 1, 2, 3]), scores)
bounds = st.sampled_from([(None, None), (0.5, None), (None, 0.1), (0.9, 0.1), (0.1, 0.0), (0.5, -1.0)])


@st.composite
def stages(draw: st.DrawFn) -> Stage:
    least, most = draw(bounds)
    return Stage(
        name=f"v{draw(st.integers(0, 2))}",
        outcomes=draw(st.frozensets(st.sampled_from([Outcome.CORRECT, Outcome.INCORRECT]))),
        least=least,
        most=most,
        types=draw(st.sampled_from([(), ("A",), ("B2",), ("A", "B")])),
    )


def plainly(found: list[Stage], said: dict[str, Verdict], subtype: str | None) -> tuple[int, int, bool, list[str]]:
    """Outcome, stage, whether it settled it, and who was asked, as one would do it by hand."""
    outcome, place, asked = int(OutcomeCode.ABSTAIN), -1, []
    for number, stage in enumerate(found):
        if stage.is_for(subtype):
            asked += [] if stage.name in asked else [stage.name]
            outcome, place = int(said[stage.name].outcome.code), number
            if (own := stage.settled(said[stage.name])) is not None:
                return own.code, place, True, asked
    return outcome, place, False, asked


Row = tuple[tuple[tuple[int, float | None], ...], str | None]
"""What the three verifiers say of an item, and its answer type."""
rows_ = st.lists(st.tuples(st.tuples(verdicts, verdicts, verdicts), st.sampled_from(TYPES)), min_size=1, max_size=12)


def stack_items(names: tuple[str, ...], outcomes: list[list[int]], **more: Any) -> StackItems:
    size = len(outcomes[0])
    nothing = np.zeros(size, dtype=np.int64)
    given_: dict[str, Any] = {
        "scores": tuple(None for _ in names),
        "subtype": nothing,
        "subtypes": (UNTYPED,),
    } | more
    return StackItems(
        names=names,
        item=np.arange(size),
        question=np.arange(size),
        gold=nothing,
        outcomes=tuple(np.array(one, dtype=np.int8) for one in outcomes),
        took=tuple(np.zeros((5, size)) for _ in names),
        type=nothing,
        types=(UNTYPED,),
        **given_,
    )


@given(st.lists(stages(), min_size=1, max_size=5), rows_)
def test_arrays_and_items_agree(found: list[Stage], rows: list[Row]) -> None:
    together = stack_items(
        ("v0", "v1", "v2"),
        [[said[place][0] for said, _ in rows] for place in range(3)],
        scores=tuple(
            np.array([np.nan if said[place][1] is None else said[place][1] for said, _ in rows], dtype=np.float64)
            for place in range(3)
        ),
        subtype=np.array([TYPES.index(subtype) for _, subtype in rows]),
        subtypes=tuple(UNTYPED if one is None else one for one in TYPES),
    ).through(found)
    for number, (row, subtype) in enumerate(rows):
        said = {
            f"v{place}": Verdict(outcome=OutcomeCode(own).outcome, score=one) for place, (own, one) in enumerate(row)
        }
        expected, stage_, by_itself, asked = plainly(found, said, subtype)
        assert (together.outcome[number], together.stage[number]) == (expected, stage_)
        assert together.by_itself[number] == by_itself
        assert {f"v{who}" for who in np.flatnonzero(together.asked[:, number])} == set(asked)


def test_an_item_without_a_verdict_of_its_next_stage_has_none() -> None:
    items = stack_items(("first", "last"), [[1, 0, -1, 2], [-1, -1, 1, 0]])
    found = items.through(read_stages("first:correct, last"))
    assert found.outcome.tolist() == [1, -1, -1, 0]
    assert found.asked.tolist() == [[True] * 4, [False, True, False, True]]
