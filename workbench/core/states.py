"""Item states as a pure function of label events.

The procedure is VerifyBench's (arXiv 2505.15801, section 3.1): at least two people label, agreement finalises,
a third person adjudicates a disagreement. No statistical model replaces the third person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.core.label import DecidedBy, ItemState, LabelEvent, State, TaskState

DEFAULT_NEED = 2
"""Labels that an item needs if nothing was assigned."""


def current_round(events: Iterable[LabelEvent]) -> int:
    """Return the current round: 1, or the highest that a reopening began (two databases may have begun the same
    round).
    """
    return max((event.round for event in events if event.kind == "reopen"), default=1)


def current_events(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return the labels, adjudications and exclusions that count, oldest first, one for each person and kind.

    They are of the current round and not superseded. If one person has two (after a merge), the greater (created_at,
    uuid) counts.
    """
    heads = {(event.annotator, event.kind): event for event in _current_events(events)}
    return sorted(heads.values(), key=_age)


def _current_events(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return every event of the round that is not superseded, oldest first.

    An annotator can't supersede another's event, but an exclusion belongs to the role of coordinator: any coordinator
    may lift or restate it.
    """
    superseded = {(event.annotator, event.supersedes) for event in events}
    lifted = {event.supersedes for event in events if event.kind in ("retraction", "exclusion")}
    now = current_round(events)
    standing = [
        event
        for event in events
        if event.kind in ("label", "adjudication", "exclusion")
        and event.round == now
        and (event.annotator, event.uuid) not in superseded
        and not (event.kind == "exclusion" and event.uuid in lifted)
    ]
    return sorted(standing, key=_age)


def _age(event: LabelEvent) -> tuple[str, str]:
    return event.created_at, event.uuid


def rival_heads(events: Sequence[LabelEvent]) -> list[list[LabelEvent]]:
    """Return groups of several current events of one person and kind, as after a merge, the one that counts last."""
    heads: dict[tuple[int, str], list[LabelEvent]] = {}
    for event in _current_events(events):
        heads.setdefault((event.annotator, event.kind), []).append(event)
    return [rivals for rivals in heads.values() if len(rivals) > 1]


def current_repeat_answers(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    superseded = {(event.annotator, event.supersedes) for event in events}
    standing = [
        event
        for event in events
        if event.kind in ("repeat", "check") and (event.annotator, event.uuid) not in superseded
    ]
    heads = {(event.annotator, event.kind): event for event in sorted(standing, key=_age)}
    return sorted(heads.values(), key=_age)


def current_labels(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    return [event for event in current_events(events) if event.kind == "label"]


def current_exclusions(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return the coordinator's exclusions in force, oldest first; lifting retracts all of them."""
    return [event for event in _current_events(events) if event.kind == "exclusion"]


def current_adjudication(events: Sequence[LabelEvent]) -> LabelEvent | None:
    """Return the adjudication in force: it covers every current label, and its author has none; None if the item is
    open.
    """
    current = current_events(events)
    labels = [event for event in current if event.kind == "label"]
    makers = {label.annotator for label in labels}
    rulings = [
        event
        for event in current
        if event.kind == "adjudication" and event.annotator not in makers and has_seen(event, labels)
    ]
    return rulings[-1] if rulings else None


def has_seen(ruling: LabelEvent, labels: Sequence[LabelEvent]) -> bool:
    """Return whether an adjudication resolves these labels.

    An adjudication that names no labels was imported from a file, in which line order doesn't matter: it resolves
    the labels that are not later than it.
    """
    if ruling.seen:
        return {label.uuid for label in labels} <= set(ruling.seen)
    return all(label.created_at <= ruling.created_at for label in labels)


def task_state(events: Sequence[LabelEvent], need: int = DEFAULT_NEED) -> TaskState:
    """Return the state of one task on one subject.

    Args:
        events: All events of the task and subject, in any order.
        need: Number of people who must label it.
    """
    now = current_round(events)
    exclusions = current_exclusions(events)
    if exclusions:
        return _settled(exclusions[-1], "coordinator")
    ruling = current_adjudication(events)
    if ruling is not None:
        return _settled(ruling, "adjudicated")
    labels = current_labels(events)
    if not labels:
        return TaskState(state="unlabelled", round=now)
    if len(labels) < need:
        return TaskState(state="labelled", round=now)
    if len({label.value for label in labels}) > 1:
        return TaskState(state="conflict", round=now)
    return _settled(labels[0], "agreed")


def _settled(event: LabelEvent, how: DecidedBy) -> TaskState:
    if event.verdict == "unsuitable":
        return TaskState(
            state="excluded", verdict="unsuitable", reason=event.exclusion_reason, decided_by=how, round=event.round
        )
    return TaskState(state="final", verdict=event.verdict, subtype=event.subtype, decided_by=how, round=event.round)


def item_state(correctness: TaskState, type_: TaskState, *, types_labelled: bool) -> ItemState:
    """Combine both tasks: excluded, else conflict, else final, else unlabelled, else labelled.

    Args:
        correctness: The completion's own task.
        type_: The type task of its question.
        types_labelled: Whether annotators must resolve the type. If the dataset's types are trusted, type labels are
            accepted and a conflict is a conflict, but a missing label holds nothing back.
    """
    subtype = type_.subtype if type_.state == "final" else None
    state = _together(correctness.state, type_.state, types_labelled)
    settled = correctness.decided_by is not None and state not in ("conflict", "excluded")
    return ItemState(
        state=state,
        gold=correctness.verdict == "correct" if settled else None,
        gold_from=correctness.decided_by if settled else None,
        subtype=subtype,
        reason=correctness.reason,
    )


def _together(correctness: State, type_: State, types_labelled: bool) -> State:
    if correctness == "excluded":
        return "excluded"
    if "conflict" in (correctness, type_):
        return "conflict"
    if correctness == "final" and (type_ == "final" or not types_labelled):
        return "final"
    if correctness == "unlabelled" and type_ == "unlabelled":
        return "unlabelled"
    return "labelled"
