"""Verifiers that pick one of several completions, as it is reported: fractions, and null where undefined."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice, Protocol3

PicksBy = Literal["score", "verdict"]


class BestOfRow(Struct, frozen=True, kw_only=True):
    """One verifier picking among n completions of a question, each set of n as likely as any other.

    Attributes:
        run: Whose verdicts or scores it picks by; None for a baseline that needs none.
        picks_by: ``score`` where the run has scores, else ``verdict``.
        n: Completions to pick from.
        questions: Questions with at least n completions to pick from; each counts alike.
        mixed: Those of them that have correct and incorrect completions: only there does a pick matter.
        completions: Completions of these questions.
        accuracy: Chance that the pick is correct; picks among equals are even. None without questions.
        ci: Its 95 % interval, questions as units; None without questions.
        random: The floor: chance that a random completion is correct.
        oracle: The ceiling, pass@n: chance that any of the n is correct.
        gain: ``accuracy`` less ``random``.
        gain_ci: Its 95 % interval over questions; None for fewer than two, or where all gain alike.
        closed: Share of the way from ``random`` to ``oracle``; None where they are equal.
        reason: Why there are no figures; None where there are.
    """

    verifier: str
    run: int | None
    picks_by: PicksBy
    n: int
    questions: int
    mixed: int
    completions: int
    accuracy: float | None
    ci: tuple[float, float] | None
    random: float | None
    oracle: float | None
    gain: float | None
    gain_ci: tuple[float, float] | None
    closed: float | None
    reason: str | None = None


class BestOfReport(Struct, frozen=True, kw_only=True):
    """Best-of-n of verifiers, with everything a reader needs to repeat the figures.

    Attributes:
        questions: Questions with gold for any completion.
        several: Those with gold for two completions or more.
        most: The largest number of completions with gold that a question has.
        rows: For each verifier one row for each n.
        protocol: What becomes of undecided verdicts: they count as "incorrect", as the opposite of gold, or their
            completions are left out.
        gold: Items by where their gold comes from: adjudicated, agreed, imported, none.
        gold_choice: Which gold was asked for.
        selection_judges: Those of the verifiers that helped, or whose model helped, to choose the items.
    """

    questions: int
    several: int
    most: int
    rows: list[BestOfRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    selection_judges: list[str] = []
