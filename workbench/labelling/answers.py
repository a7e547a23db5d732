"""An annotator's answer to an item, or an adjudicator's, and its validation."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from workbench.core.errors import UsageError
from workbench.core.label import EXCLUSION_REASONS, TAGS, LabelEvent, LabelVerdict, Task


class Answer(Struct, frozen=True, kw_only=True):
    """An annotator's answer to one item, or an adjudicator's decision; for the fields see `LabelEvent`.

    Attributes:
        guideline: The version of the guidelines that the person was shown; None for the session's version.
    """

    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    unsure: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()
    partial: float | None = None
    open_ms: int | None = None
    focused_ms: int | None = None
    wait_ms: int | None = None
    keys: int | None = None
    view: str | None = None
    guideline: str | None = None


OWN_FIELDS: dict[Task, tuple[str, ...]] = {
    "correctness": ("verdict", "exclusion_reason", "unsure", "tags", "partial", "note"),
    "type": ("subtype",),
}
"""The fields of a label event that answer its task."""


def event_fields(answer: Answer) -> dict[str, Any]:
    """Return an answer's fields as those of a label event."""
    fields = structs.asdict(answer)
    return {"exclusion_reason": fields.pop("reason"), "note": fields.pop("note") or None, **fields}


def check_answer(answer: Answer) -> None:
    """Check an answer before it is stored.

    Raises:
        UsageError: The answer is incomplete, or has unknown codes.
    """
    check_verdict(answer.verdict, answer.reason, answer.note)
    check_tags(answer.tags, answer.partial)


def check_verdict(verdict: LabelVerdict | None, reason: str | None, note: str) -> None:
    """Check that "unsuitable" has a reason and that other verdicts have none.

    Raises:
        UsageError: A reason is missing, unknown, or given with another verdict.
    """
    if verdict == "unsuitable":
        check_reason(reason, note)
    elif reason is not None:
        raise UsageError("Only an unsuitable item has a reason.")


def check_reason(reason: str | None, note: str) -> None:
    """Check the reason that "unsuitable" requires.

    Raises:
        UsageError: The reason is unknown, or it is "other" without a note.
    """
    if reason not in EXCLUSION_REASONS:
        raise UsageError("An unsuitable item needs a reason.", f"Reasons: {', '.join(EXCLUSION_REASONS)}.")
    if reason == "other" and not note.strip():
        raise UsageError("The reason other needs a note.")


def check_tags(tags: tuple[str, ...], partial: float | None) -> None:
    """Check the tags of a verdict.

    Raises:
        UsageError: A tag is unknown, or the partial score is not between 0 and 1.
    """
    unknown = [tag for tag in tags if tag not in TAGS]
    if unknown:
        raise UsageError(f"There is no tag {unknown[0]!r}.", f"Tags: {', '.join(TAGS)}.")
    if partial is not None and not 0 <= partial <= 1:
        raise UsageError("A partial score is between 0 and 1.")


_SAYS: dict[str, LabelVerdict] = {"reasoning_wrong": "correct", "reasoning_right": "incorrect"}
"""Tag -> the verdict that it implies for the final answer."""


def contradictions(verdict: LabelVerdict | None, tags: tuple[str, ...], partial: float | None) -> list[str]:
    """Describe the tags that contradict a verdict or another tag, in one sentence each.

    The interface asks the person to confirm; it never rejects the answer, which may be intended.
    """
    found = []
    if {*_SAYS} <= {*tags}:
        found.append(f"The marks “{TAGS['reasoning_wrong']}” and “{TAGS['reasoning_right']}” exclude each other.")
    for tag in tags:
        if verdict in ("correct", "incorrect") and _SAYS.get(tag, verdict) != verdict:
            found.append(f"The verdict is {verdict}, and a mark says “{TAGS[tag]}”.")
    if partial is not None and ((verdict == "correct" and partial < 1) or (verdict == "incorrect" and partial == 1)):
        found.append(f"The verdict is {verdict}, and {partial:g} of the answer is marked as right.")
    return found


def without_contradictions(
    verdict: LabelVerdict, tags: tuple[str, ...], partial: float | None
) -> tuple[tuple[str, ...], float | None]:
    kept = tuple(tag for tag in tags if not contradictions(verdict, (tag,), None))
    return kept, None if contradictions(verdict, (), partial) else partial


def is_same_answer(event: LabelEvent, answer: Answer) -> bool:
    given = event_fields(answer)
    return all(getattr(event, name) == given[name] for name in OWN_FIELDS[event.task])
