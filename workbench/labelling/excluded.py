"""What is out of the benchmark, with who said so and why; and what may belong out of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from workbench.core.database import events, states
from workbench.core.database.selection import chosen_ids
from workbench.core.label import DecidedBy, ExcludedItem, LabelEvent
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.states import current_adjudication, current_exclusions, current_labels
from workbench.data.store import label_lines, reading
from workbench.data.store.exporting import annotator_names
from workbench.labelling.candidates import candidates


class CandidateItem(Struct, frozen=True, kw_only=True):
    """An item that a rule takes for unsuitable; a person decides.

    Attributes:
        reason: A code of `EXCLUSION_REASONS`.
        why: What gave rise to it.
    """

    dataset: str
    question_id: str
    completion_id: str
    reason: str
    why: str


def excluded_items(project: Project, selection: Selection | None = None) -> list[ExcludedItem]:
    """Every excluded item of a selection, in the order of import.

    Raises:
        UsageError: The selection names what is not there.
    """
    reader = project.database.reader()
    selection = selection or Selection()
    out = Selection((*selection.conditions, Condition("state", "=", "excluded")), selection.limit)
    names = annotator_names(reader)
    return [_excluded(reader, completion, names) for completion in chosen_ids(reader, out)]


def _excluded(connection: events.Connection, completion: int, names: dict[int, str]) -> ExcludedItem:
    said = events.of_subject(connection, "correctness", completion)
    state = states.get_task(connection, "correctness", completion)
    decided = _deciders(said, state.decided_by)
    return ExcludedItem(
        **label_lines.place(connection, "correctness", completion)._asdict(),
        reason=state.reason or "",
        how=state.decided_by or "agreed",
        people=tuple(names[event.annotator] for event in decided),
        notes=tuple(event.note or "" for event in decided),
    )


def _deciders(said: list[LabelEvent], how: DecidedBy | None) -> list[LabelEvent]:
    if how == "coordinator":
        return current_exclusions(said)
    ruling = current_adjudication(said)
    return [ruling] if how == "adjudicated" and ruling is not None else current_labels(said)


def candidate_items(project: Project, selection: Selection | None = None) -> Iterator[CandidateItem]:
    """Items that a rule takes for unsuitable and that are not excluded yet, in the order of import.

    Raises:
        UsageError: The selection names what is not there.
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
