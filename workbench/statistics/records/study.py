"""Studies of judges: sweeps over their settings, and duels between the reasoning of two."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.run import GENERATION, RunState
from workbench.core.suggestion import ANSWER_TYPE
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.report import AccuracyRow

DUEL: Final = "judge-duel"
"""The kind of verifier that judges no completion but compares what two judges reasoned about it."""

JUDGES_NOTHING: Final = (ANSWER_TYPE, DUEL, GENERATION)
"""The kinds whose verdicts say nothing of a completion: they have no accuracy."""

Part = Literal["judging", "execution", "tests"]
"""What calls are for: the judge's own reasoning, executing test cases, writing them."""

Dimension = Literal["thoroughness", "logic", "analysis", "overall"]
"""In what one piece of reasoning can be better than another. Source: MCTS-Judge, table 3."""

Winner = Literal["a", "b", "tie"]


class Consumption(Struct, frozen=True, kw_only=True):
    """What verdicts rest on, on average an item; each item counted as if nothing had been stored before.

    Attributes:
        calls: Distinct replies.
        prompt_tokens: None where a server didn't say.
        completion_tokens: None where a server didn't say.
    """

    calls: float
    prompt_tokens: float | None
    completion_tokens: float | None


class SweepPoint(Struct, frozen=True, kw_only=True):
    """A judge under one choice of settings.

    Attributes:
        verifier: The name of this configuration.
        settings: What differs from the judge, by option.
        message: Why the run failed or paused.
        items: Items with a verdict.
        accuracy: None until the run has been complete.
        consumption: By part, those that have calls.
    """

    verifier: str
    settings: dict[str, str]
    run: int
    state: RunState
    message: str | None
    items: int
    accuracy: AccuracyRow | None
    consumption: dict[Part, Consumption]


class SweepReport(Struct, frozen=True, kw_only=True):
    """How a judge's accuracy and consumption go with its settings."""

    judge: str
    protocol: Protocol3
    gold_choice: GoldChoice
    points: list[SweepPoint]


class DuelRow(Struct, frozen=True, kw_only=True):
    """Two judges' reasoning in one dimension.

    Attributes:
        n: Items on which both orders were read.
        a: Items on which both orders prefer A.
        b: Items on which both orders prefer B.
        ties: Items with a tie in either order, or whose orders disagree.
        flipped: Those of the ties in which the same place was preferred in both orders: a bias, not a tie.
        win_rate: A's share of the items that either wins; None where neither does.
        ci: Its 95 % interval, clustered by question.
    """

    dimension: Dimension
    n: int
    a: int
    b: int
    ties: int
    flipped: int
    win_rate: float | None
    ci: tuple[float, float] | None


class DuelReport(Struct, frozen=True, kw_only=True):
    """A blind comparison of two judges' reasoning.

    Attributes:
        run: The duel's run.
        a: The first judge's name.
        b: The second's.
        items: Items of the run with a verdict.
        none: Items without a comparison, by reason.
    """

    verifier: str
    run: int
    state: RunState
    a: str
    b: str
    items: int
    none: dict[str, int]
    rows: list[DuelRow]
