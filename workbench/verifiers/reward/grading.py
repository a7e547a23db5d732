"""From a reward model's numbers to a score, and from a score to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.core.numbers import is_figure
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.serving import number, whole

GRADING_OPTIONS = {
    "label": "which of several numbers is the score, from 0 (needed where the model gives several classes)",
    "threshold": "least score of a correct completion (default: none, so that it abstains and keeps the score)",
}
"""Options of `threshold_from` and `label_from`, and what they do."""


def threshold_from(options: Mapping[str, str]) -> float | None:
    """The threshold, if one is set.

    Raises:
        ValueError: It is no number.
    """
    return number(options, "threshold")


def label_from(options: Mapping[str, str]) -> int | None:
    """The place of the score among several numbers, if it is set.

    Raises:
        ValueError: It is no place.
    """
    return whole(options, "label")


def graded(score: float, threshold: float | None) -> Verdict:
    """Correct iff the score reaches the threshold; without one it abstains, and the score is kept."""
    if threshold is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_threshold", score=score)
    outcome = Outcome.CORRECT if score >= threshold else Outcome.INCORRECT
    return Verdict(outcome=outcome, reason="score", score=score)


def chosen(values: Sequence[float], label: int | None, *, last: bool = False) -> float:
    """The score among a model's numbers for one text.

    Args:
        label: Its place; None where there is no choice.
        last: Without a label the last number is taken, else there may be only one.

    Raises:
        ValueError: Which one it is can't be told, or it is no finite number.
    """
    if label is None and not last and len(values) > 1:
        raise ValueError(f"the model gives {len(values)} numbers a text; say which one is the score with label=")
    place = -1 if label is None else label
    if not -1 <= place < len(values) or not values:
        raise ValueError(f"the model gives {len(values)} numbers a text, none at place {max(place, 0)}")
    value = values[place]
    if not is_figure(value):
        raise ValueError(f"the score is {value}, which is no number to compare")
    return value
