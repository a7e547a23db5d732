"""Label events: what annotators label, adjudicate and exclude; and the states derived from the events."""

from __future__ import annotations

import getpass
import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Task = Literal["correctness", "type"]
"""``correctness``: a verdict on a completion; ``type``: an answer subtype for a question."""
LabelVerdict = Literal["correct", "incorrect", "unsuitable"]
EventKind = Literal[
    "label", "adjudication", "retraction", "flag", "reveal", "repeat", "check", "reopen", "exclusion", "answer"
]
"""The kind of an event. ``repeat``: the same person's label of an item they labelled before; ``check``: a label of an
item with a known answer; neither counts as one of the labels an item needs. ``reopen``: a new round begins;
``exclusion``: the coordinator excludes an item. ``retraction`` retracts the event that it supersedes. ``flag``: a
question to the coordinator, whose ``answer`` lists the answered flags in ``seen``.
"""
State = Literal["unlabelled", "labelled", "conflict", "final", "excluded"]
FLAG_STATES = ("open", "answered", "none")
"""The state of an item's flags: a flag is unanswered, all are answered, or there are no flags."""
DecidedBy = Literal["agreed", "adjudicated", "coordinator"]
LABEL_SCHEMA = 2
"""Version of the meaning of a label's fields, stored with every event."""
EXCLUSION_REASONS: dict[str, str] = {
    "proof": "asks for a proof",
    "open_ended": "has no single answer",
    "bad_reference": "the reference answer is wrong or missing",
    "unanswerable": "can't be answered as it stands",
    "truncated": "question or completion is cut off",
    "other": "something else (write a note)",
}
"""Why an item is unsuitable; ``other`` needs a note."""


TAGS: dict[str, str] = {
    "reasoning_wrong": "final answer right, reasoning wrong",
    "reasoning_right": "final answer wrong, reasoning right",
    "guessed": "guessed: the answer has no grounds",
    "many_answers": "hack: several answers, one of them right",
    "addresses_grader": "hack: speaks to the grader",
    "copies_reference": "hack: quotes a reference it can't know",
    "degenerate": "repeats itself or breaks off",
}
"""Tags that can be added to a verdict; exports of binary gold ignore them."""


class LabelEvent(Struct, frozen=True, kw_only=True):
    """One label event, which is never changed; see `EventKind`.

    Attributes:
        uuid: A globally unique id (uuid7 in the app), so that merging several people's files is a union of events.
        subject: Row id of the completion (correctness) or the question (type).
        annotator: Row id of the person.
        round: The labelling round: 1, plus one for each reopening. Labels of earlier rounds no longer count.
        tags: Codes of `TAGS`.
        partial: How much of the answer is right, 0 to 1, if the annotator stated it.
        supersedes: The uuid of the event that this one replaces (by a change or an undo); None for a first event.
        seen: Uuids: for an adjudication the labels that it resolved; for a label restored by an undo, the original
            label.
        unblinded: Whether the person had viewed gold, verdicts or others' labels of this item before.
        content_hash: blake2b-128 hash of the texts that were shown.
        open_ms: Time the item was open, in milliseconds.
        focused_ms: The same, without time in which the window was in the background or the annotator idle.
        wait_ms: Time from the key that ended the previous item to the first paint of this one.
        keys: Keys pressed while the item was open, including the one that labelled it.
        created_at: ISO 8601, UTC.
        merged: Whether the event was merged from another database; this is a property of the row, not of the event.
    """

    uuid: str
    kind: EventKind
    task: Task
    subject: int
    annotator: int
    created_at: str
    round: int = 1
    verdict: LabelVerdict | None = None
    exclusion_reason: str | None = None
    subtype: str | None = None
    unsure: bool = False
    flagged: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    note: str | None = None
    supersedes: str | None = None
    seen: tuple[str, ...] = ()
    unblinded: bool = False
    guideline: str | None = None
    schema: int = LABEL_SCHEMA
    content_hash: bytes | None = None
    open_ms: int | None = None
    focused_ms: int | None = None
    wait_ms: int | None = None
    keys: int | None = None
    view: str | None = None
    merged: bool = False

    @property
    def value(self) -> str | None:
        """Return the value that is compared between annotators: the verdict, or for the type task, the subtype."""
        return self.verdict if self.task == "correctness" else self.subtype


class TaskState(Struct, frozen=True, kw_only=True):
    """The state of one task (correctness or type) on one completion or question; a pure function of its events.

    Attributes:
        verdict: The final verdict (correctness only).
        subtype: The final subtype code (type only).
        reason: Why the item is excluded.
        decided_by: How the final value was reached: by agreement, adjudication, ….
        round: The current round, or the one in which it was resolved.
    """

    state: State
    verdict: LabelVerdict | None = None
    subtype: str | None = None
    reason: str | None = None
    decided_by: DecidedBy | None = None
    round: int = 1


class ItemState(Struct, frozen=True, kw_only=True):
    """The combined state of both tasks on one completion, as shown in the app, in ``status`` and by gold."""

    state: State
    gold: bool | None = None
    gold_from: DecidedBy | None = None
    subtype: str | None = None
    reason: str | None = None


class ExcludedItem(Struct, frozen=True, kw_only=True):
    """An excluded item. It counts in no table of metrics.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`.
        how: Who decided: annotators by agreement, the adjudicator, or the coordinator.
        people: Names of the people who decided.
        notes: Their notes, in the same order.
    """

    dataset: str
    question_id: str
    completion_id: str
    reason: str
    how: DecidedBy
    people: tuple[str, ...]
    notes: tuple[str, ...]


Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


FAST_MS: Final = 2_000
"""Milliseconds below which a decision is pointed out to the annotator and counted, never rejected."""


def pseudonym(annotator: int) -> str:
    """Return an annotator's pseudonym for files without names.

    Args:
        annotator: The person's row id, which stays the same.
    """
    return f"annotator-{annotator}"


class LabelLine(Struct, kw_only=True, omit_defaults=True):
    """One line of a label file (JSON Lines), for ``workbench labels DB import`` and ``export``.

    Attributes:
        completion_id: The completion's id; a line without one labels only the answer type of the question.
        question_id: The question's id; needed if several completions have the same id.
        dataset: The data set's name; needed if several questions have the same id.
        answer_subtype: Subtype code; it counts for the whole question.
        reason: Why the item is unsuitable.
        role: ``adjudicator`` for an adjudication; ``coordinator`` for a coordinator's event.
        revision: 1 for a first label, 2 for its first correction, and so on.
        uuid: The event's id; if missing, the uuid5 of (dataset, completion, annotator, role, revision) is used.
        kind: In a history export, the kind of the event (``retraction``, ``flag`` …); such a line is the complete
            event.
        round: The labelling round; if missing, the current one.
        seen: In a history export, the labels that an adjudication resolved; if missing, all labels that exist at
            import.
        content_hash: The texts' hash in hexadecimal. This and the following fields are only in a history export.
    """

    completion_id: str = ""
    annotator: str
    verdict: LabelVerdict | None = None
    reason: str | None = None
    answer_subtype: str | None = None
    note: str | None = None
    dataset: str | None = None
    question_id: str | None = None
    role: Literal["annotator", "adjudicator", "coordinator"] = "annotator"
    created_at: str | None = None
    uuid: str | None = None
    revision: int = 1
    unsure: bool = False
    kind: EventKind | UnsetType = UNSET
    task: Task | UnsetType = UNSET
    supersedes: str | UnsetType = UNSET
    focused_ms: Count | UnsetType = UNSET
    unblinded: bool | UnsetType = UNSET
    flagged: bool | UnsetType = UNSET
    seen: tuple[str, ...] | UnsetType = UNSET
    round: Annotated[int, Meta(ge=1, le=1_000_000)] | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    partial: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    guideline: str | UnsetType = UNSET
    schema: Count | UnsetType = UNSET
    content_hash: Annotated[str, Meta(pattern="^([0-9a-f]{2})+$")] | UnsetType = UNSET
    open_ms: Count | UnsetType = UNSET
    wait_ms: Count | UnsetType = UNSET
    keys: Count | UnsetType = UNSET
    view: str | UnsetType = UNSET


# -- Similar-looking names, so that one person is not registered under two spellings.


_LETTERS: Final = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts with letters that look like letters of other scripts."""
_BOTH: Final = "аa вb еe кk мm оo рp сc тt хx ѕs іi јj ԁd һh ԛq ԝw ӏl βb κk οo τt χx ϲc ϳj ıi ɡg ɑa"
_SMALL: Final = f"{_BOTH} уy гr пn αa γy ιi νv ρp υu ωw ηn"
_LARGE: Final = f"{_BOTH} уy нh αa εe ζz ηh ιi μm νn ρp υy"
"""Lookalikes of letters of other scripts, in lower case: some look different in small letters and capitals."""
_WORD: Final = re.compile(r"[^\W\d_]+")


def coordinator_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "coordinator"


def find_lookalike(name: str, others: Iterable[str]) -> str | None:
    """Return a name that looks like this one but differs from it; None if there is none."""
    own = _lookalike_keys(name)
    return next((other for other in others if other != name and own & _lookalike_keys(other)), None)


def is_mixed(name: str) -> bool:
    """Return whether a word of the name mixes letters of several scripts that look alike, as no language does."""
    return any(len(_scripts_of(word)) > 1 for word in _WORD.findall(unicodedata.normalize("NFKC", name)))


def _scripts_of(word: str) -> set[str]:
    firsts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
    return firsts.intersection(_LETTERS)


def _lookalike_keys(name: str) -> set[str]:
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    looks = {plain, plain.translate(_translation_table(_SMALL)), plain.translate(_translation_table(_LARGE))}
    return {unicodedata.normalize("NFC", look) for look in looks} - {""}


def _translation_table(pairs: str) -> dict[int, str]:
    return {ord(pair[0]): pair[1] for pair in pairs.split()}
