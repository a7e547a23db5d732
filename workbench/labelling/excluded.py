"""Excluded items with person and reason, and candidates for exclusion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from workbench.core.database import events, states
from workbench.core.database.journal import subject_place
from workbench.core.database.selection import chosen_ids
from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.label import DecidedBy, ExcludedItem, LabelEvent
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.states import current_adjudication, current_exclusions, current_labels
from workbench.data.store import reading
from workbench.data.store.reading import annotator_names

# -- Candidates for exclusion: found by rule, each with the reason; a person decides.


LONG_COMPLETION = 8_000
"""Characters from which a completion without a proper end counts as truncated."""
_WHY_CHARACTERS = 80
_PLACEHOLDER_CHARACTERS = 60
_CLOSED = re.compile(r"[.!?。！？…)\]}>’”\"'`*$|:]\s*\Z")
_BEGINS = (
    r"(?:^|[.!?;:。？；]\s{1,9}|\n\s{0,9}|,\s{0,9}(?:then\s{1,9}|and\s{1,9})?"
    r"|\b(?:and|then|please|to|must|should)\s{1,9}|\(\w{1,3}\)\s{0,9}|\d\.\s{1,9})"
)
"""Where an instruction may begin; "the results show that …" is not one."""
_PROOF = re.compile(
    _BEGINS + r"(?P<said>(?:prove|show|demonstrate|verify)(?::|\s+(?:that|the\s+following|or\s+disprove|why)\b)"
    r"|prove\s+[^,.]{0,40}(?:theorem|inequality|identity|lemma)|give\s+a\s+proof)|(?P<other>证明[:：]|求证|试证)",
    re.IGNORECASE,
)
_PROVED = re.compile(r"\A\W{0,5}(?:proof\b|证明)|(?:\\blacksquare|\\qed|\bQ\.?E\.?D\.?|∎|证毕)\W{0,5}\Z", re.IGNORECASE)
_OPEN = re.compile(
    _BEGINS + r"(?P<said>(?:explain|describe|discuss|compare\s+and\s+contrast|brainstorm|comment\s+on)\s+"
    r"(?!(?:your|the|each|all)\s+(?:answer|reasoning|steps?|solution|choice|work|thinking|result)|step)\w+"
    r"|(?:write|compose|draft)\s+(?:me\s+)?(?:an?|the)\s+(?:\w+\s+){0,2}"
    r"(?:essay|story|poem|letter|paragraph|speech|email|article|review|summary|haiku|dialogue)\b"
    r"|give\s+(?:an|some|two|three)\s+examples?|suggest\s+(?:some|ways|a))"
    r"|(?P<other>in\s+your\s+(?:own\s+words|opinion)|what\s+do\s+you\s+think)",
    re.IGNORECASE,
)
_VARIES = re.compile(r"\banswers?\s+(?:may|can|will|could)\s+vary\b|\bopen[- ]ended\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\A\W*(?:n/?a|tbd|todo|null|nan|\?+|no\s+(?:answer|solution)\s+(?:given|provided)|see\s+(?:the\s+)?(?:solution|answer|above|below))"
    r"\W*\Z",
    re.IGNORECASE,
)
_PICTURE = re.compile(
    r"!\[[^\]]{0,80}\]\(|<image>|\[image\]"
    r"|\b(?:shown|given|depicted|illustrated|pictured|seen)\s+in\s+(?:the\s+)?(?:\w+\s+){0,2}(?:figure|diagram|picture|image|graph)\b"
    r"|\b(?:figure|diagram|picture|image|graph)\s+(?:below|above|(?:on|to|at)\s+the\s+(?:right|left)|shows?)\b"
    r"|\b(?:in|see|from|refer\s+to)\s+(?:the\s+)?(?:figure|diagram|picture)\b|如[下右左]?图",
    re.IGNORECASE,
)
_CUT = re.compile(r"(?:[,，(\[{]|\b(?:and|or|the|of|is|with|that|an))\s*\Z")


class ExclusionCandidate(NamedTuple):
    """Why an item may be unsuitable: a code of `EXCLUSION_REASONS`, and the evidence."""

    reason: str
    why: str


def candidates(question: str, reference: str, completion: str) -> list[ExclusionCandidate]:
    found = [
        _find_proof(question, reference),
        _find_open_ended(question, reference),
        _find_bad_reference(reference),
        _find_unanswerable(question),
        _find_truncated(question, completion),
    ]
    return [candidate for candidate in found if candidate is not None]


def _find_proof(question: str, reference: str) -> ExclusionCandidate | None:
    if asked := _PROOF.search(question):
        return ExclusionCandidate("proof", f"the question says {_excerpt(question, asked)}")
    if proved := _PROVED.search(reference):
        return ExclusionCandidate("proof", f"the reference is a proof: {_excerpt(reference, proved)}")
    return None


def _find_open_ended(question: str, reference: str) -> ExclusionCandidate | None:
    if asked := _OPEN.search(question):
        return ExclusionCandidate("open_ended", f"the question says {_excerpt(question, asked)}")
    if varies := _VARIES.search(reference):
        return ExclusionCandidate("open_ended", f"the reference says {_excerpt(reference, varies)}")
    return None


def _find_bad_reference(reference: str) -> ExclusionCandidate | None:
    if not reference.strip():
        return ExclusionCandidate("bad_reference", "the reference is empty")
    if len(reference) <= _PLACEHOLDER_CHARACTERS and _PLACEHOLDER.match(reference):
        return ExclusionCandidate("bad_reference", "the reference is a placeholder")
    # A reference of one line is its own answer, regardless of its length.
    if "\n" in reference.strip() and not reference_answer(reference).found:
        return ExclusionCandidate("bad_reference", "no final answer is found in the reference")
    return None


def _find_unanswerable(question: str) -> ExclusionCandidate | None:
    pictured = _PICTURE.search(question)
    if pictured is None:
        return None
    return ExclusionCandidate("unanswerable", f"the question rests on a picture: {_excerpt(question, pictured)}")


def _find_truncated(question: str, completion: str) -> ExclusionCandidate | None:
    if not question.strip():
        return ExclusionCandidate("truncated", "the question is empty")
    if _CUT.search(question):
        return ExclusionCandidate("truncated", "the question ends in the middle of a sentence")
    if not completion.strip():
        return ExclusionCandidate("truncated", "the completion is empty")
    if "<think>" in completion and "</think>" not in completion:
        return ExclusionCandidate("truncated", "the completion ends within its thoughts")
    if len(completion) < LONG_COMPLETION:
        return None
    if _CUT.search(completion):
        return ExclusionCandidate("truncated", "the completion ends in the middle of a sentence")
    if not _CLOSED.search(completion) and not completion_answer(completion).found:
        return ExclusionCandidate("truncated", f"{len(completion):,} characters without an answer or an end")
    return None


def _excerpt(text: str, found: re.Match[str]) -> str:
    begin = next((found.start(name) for name in ("said", "other") if found.groupdict().get(name)), found.start())
    excerpt = " ".join(text[begin : max(found.end(), begin + _WHY_CHARACTERS)].split())
    return f"“{excerpt[:_WHY_CHARACTERS]}”"


class CandidateItem(Struct, frozen=True, kw_only=True):
    """An item that a rule considers unsuitable; a person decides.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`.
        why: The evidence.
    """

    dataset: str
    question_id: str
    completion_id: str
    reason: str
    why: str


def excluded_items(project: Project, selection: Selection | None = None) -> list[ExcludedItem]:
    """Return every excluded item of a selection, in the order of import.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    selection = selection or Selection()
    out = Selection((*selection.conditions, Condition("state", "=", "excluded")), selection.limit)
    names = annotator_names(reader)
    return [_excluded_item(reader, completion, names) for completion in chosen_ids(reader, out)]


def _excluded_item(connection: events.Connection, completion: int, names: dict[int, str]) -> ExcludedItem:
    stored = events.events_of(connection, "correctness", completion)
    state = states.get_task(connection, "correctness", completion)
    decided = _deciding_labels(stored, state.decided_by)
    return ExcludedItem(
        **subject_place(connection, "correctness", completion)._asdict(),
        reason=state.reason or "",
        how=state.decided_by or "agreed",
        people=tuple(names[event.annotator] for event in decided),
        notes=tuple(event.note or "" for event in decided),
    )


def _deciding_labels(said: list[LabelEvent], how: DecidedBy | None) -> list[LabelEvent]:
    if how == "coordinator":
        return current_exclusions(said)
    ruling = current_adjudication(said)
    return [ruling] if how == "adjudicated" and ruling is not None else current_labels(said)


def candidate_items(project: Project, selection: Selection | None = None) -> Iterator[CandidateItem]:
    """Yield items that a rule considers unsuitable and that are not excluded yet, in the order of import.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    selection = selection or Selection()
    still_in = Selection((*selection.conditions, Condition("state", "!=", "excluded")), selection.limit)
    for completion in chosen_ids(reader, still_in):
        text = reading.item_text(reader, completion)
        for candidate in candidates(text.question_text, text.reference, text.completion_text):
            yield CandidateItem(
                dataset=text.dataset,
                question_id=text.question_key,
                completion_id=text.completion_key,
                reason=candidate.reason,
                why=candidate.why,
            )
