"""Checks (items whose answer is known), and what people answered to them."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.label import LabelVerdict


class CheckLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench checks DB import``.

    Attributes:
        completion_id: The completion's own id.
        verdict: The known answer.
        question_id: Tells two completions with the same id apart.
        dataset: The same across data sets.
    """

    completion_id: str
    verdict: LabelVerdict
    question_id: str | None = None
    dataset: str | None = None


class CheckInfo(Struct, frozen=True, kw_only=True):
    """A check: one element of ``workbench checks DB list --json``.

    Attributes:
        answered: How many people have answered it.
        right: How many of them gave the known answer.
    """

    dataset: str
    question_id: str
    completion_id: str
    verdict: LabelVerdict
    answered: int
    right: int


class CheckScore(Struct, frozen=True, kw_only=True):
    """How well one person answers checks: one element of ``workbench checks DB report --json``.

    Attributes:
        n: Checks answered.
        right: Those with the known answer.
        accuracy: ``right / n``; None without any.
        lo: Lower end of Wilson's 95 % interval.
        hi: Its upper end.
        paused: Whether the person gets no items for now.
        why: Why they are paused.
    """

    annotator: str
    n: int
    right: int
    accuracy: float | None
    lo: float
    hi: float
    paused: bool
    why: str = ""


class ChecksChanged(Struct, kw_only=True):
    """What adding or importing checks did.

    Attributes:
        added: Items that are checks now, or whose known answer was corrected.
        unchanged: Items that were such checks before.
        refused: Items or lines that were not taken.
        passed_over: Items that were drawn but can't be checks, where enough others can.
        chosen_from: Items that meet the conditions.
        seed: Of what chance chose; None where it chose nothing.
        refusals: Why, with how many or in which line.
    """

    added: int = 0
    unchanged: int = 0
    refused: int = 0
    passed_over: int = 0
    chosen_from: int = 0
    seed: int | None = None
    refusals: list[dict[str, object]] = []
