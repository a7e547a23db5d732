"""A verdict and marks that contradict each other: which is meant is asked before anything is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.core.label import LabelVerdict
from workbench.labelling.answers import agreeing, contradictions

_VERDICT, _MARKS, _BOTH = "verdict", "marks", "both"
_OPPOSITE: dict[LabelVerdict, LabelVerdict] = {"correct": "incorrect", "incorrect": "correct"}


class Meant(NamedTuple):
    """A verdict and what stands beside it."""

    verdict: LabelVerdict
    tags: tuple[str, ...]
    partial: float | None


def which_is_meant(
    found: Sequence[str], verdict: LabelVerdict | None, tags: tuple[str, ...], partial: float | None
) -> ChoiceMenu:
    """The question, with the ways to make it consistent, or to store it as it is."""
    choices = [Choice(_VERDICT, f"{verdict}, without what contradicts it")]
    if verdict is not None and (other := _OPPOSITE.get(verdict)) and not contradictions(other, tags, partial):
        choices.append(Choice(_MARKS, f"{other}, with the mark"))
    choices.append(Choice(_BOTH, "both: store it as it is"))
    return ChoiceMenu("Which is meant?", choices, about=" ".join(found))


def settled(meant: str, verdict: LabelVerdict, tags: tuple[str, ...], partial: float | None) -> Meant:
    """What is to be stored by the choice that was made."""
    if meant == _VERDICT:
        kept, share = agreeing(verdict, tags, partial)
        # Two marks that exclude each other: neither is left.
        return Meant(verdict, () if contradictions(None, kept, None) else kept, share)
    return Meant(_OPPOSITE[verdict] if meant == _MARKS else verdict, tags, partial)
