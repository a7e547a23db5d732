"""Stacks on arrays give what a stack's stages give item by item."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.statistics.stacks import StageVerdicts, decide_by_stage, simulate_stack
from workbench.verifiers.stacks.settling import Stage

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


@given(st.lists(stages(), min_size=1, max_size=5), rows_)
def test_arrays_and_items_agree(found: list[Stage], rows: list[Row]) -> None:
    outcome = np.array([[said[place][0] for said, _ in rows] for place in range(3)], dtype=np.int8)
    score = np.array([[np.nan if said[place][1] is None else said[place][1] for said, _ in rows] for place in range(3)])
    given_ = [
        StageVerdicts(
            verifier=(place := int(stage.name[1:])),
            outcome=outcome[place],
            settles=decide_by_stage(
                outcome[place], score[place].astype(float), stage.outcomes, stage.least, stage.most
            ),
            asked=np.array([stage.is_for(subtype) for _, subtype in rows]),
        )
        for stage in found
    ]
    together = simulate_stack(given_, 3)
    for number, (row, subtype) in enumerate(rows):
        said = {
            f"v{place}": Verdict(outcome=OutcomeCode(own).outcome, score=one) for place, (own, one) in enumerate(row)
        }
        expected, stage_, by_itself, asked = plainly(found, said, subtype)
        assert (together.outcome[number], together.stage[number]) == (expected, stage_)
        assert together.by_itself[number] == by_itself
        assert {f"v{who}" for who in np.flatnonzero(together.asked[:, number])} == set(asked)


def test_an_item_whose_next_stage_has_no_verdict_has_none() -> None:
    first = np.array([1, 0, -1, 2], dtype=np.int8)
    last = np.array([-1, -1, 1, 0], dtype=np.int8)
    every = np.ones(4, dtype=np.bool_)
    given_ = [
        StageVerdicts(0, first, decide_by_stage(first, None, [Outcome.CORRECT]), every),
        StageVerdicts(1, last, decide_by_stage(last, None, [Outcome.CORRECT, Outcome.INCORRECT]), every),
    ]
    found = simulate_stack(given_, 2)
    assert found.outcome.tolist() == [1, -1, -1, 0]
    assert found.asked.tolist() == [[True] * 4, [False, True, False, True]]


def test_without_stages_there_is_no_stack() -> None:
    with pytest.raises(ValueError, match="has a stage"):
        simulate_stack([], 0)
