"""Item states as a pure function of label events.

The procedure is that of VerifyBench (arXiv 2505.15801, section 3.1): at least two people label each item; if they
agree, the label is final; if they disagree, a third person adjudicates, never a statistical model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.core.label import DecidedBy, ItemState, LabelEvent, State, TaskState

DEFAULT_NEED = 2
"""Number of labels that an item needs if it was not assigned to anyone."""


def current_round(events: Iterable[LabelEvent]) -> int:
    """Return the current labelling round: 1, or the highest round that a reopening began (after a merge, two reopenings
    may have begun the same round).
    """
    return max((event.round for event in events if event.kind == "reopen"), default=1)


def current_events(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return the labels, adjudications and exclusions that count, oldest first, one for each person and kind.

    They are events of the current round that are not superseded. If a person has two of a kind (after a merge), the one
    with the greater (created_at, uuid) counts.
    """
    heads = {(event.annotator, event.kind): event for event in _current_events(events)}
    return sorted(heads.values(), key=_age_key)


def _current_events(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return all events of the current round that are not superseded, oldest first.

    Annotators can only supersede their own events, but any coordinator can lift or renew a coordinator's exclusion.
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
    return sorted(standing, key=_age_key)


def _age_key(event: LabelEvent) -> tuple[str, str]:
    return event.created_at, event.uuid


def rival_heads(events: Sequence[LabelEvent]) -> list[list[LabelEvent]]:
    """Return groups of current events that one person has of one kind, as occur after a merge; the last event of a
    group counts.
    """
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
    heads = {(event.annotator, event.kind): event for event in sorted(standing, key=_age_key)}
    return sorted(heads.values(), key=_age_key)


def current_labels(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    return [event for event in current_events(events) if event.kind == "label"]


def current_exclusions(events: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Return the current exclusions by coordinators, oldest first; lifting an exclusion retracts all of them."""
    return [event for event in _current_events(events) if event.kind == "exclusion"]


def current_adjudication(events: Sequence[LabelEvent]) -> LabelEvent | None:
    """Return the current adjudication: it resolves every current label, and its author gave none of them. Return None
    if there is no such adjudication.
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

    An adjudication that names no labels was imported from a file; it resolves all labels that are not later than it,
    whatever the order of lines.
    """
    if ruling.seen:
        return {label.uuid for label in labels} <= set(ruling.seen)
    return all(label.created_at <= ruling.created_at for label in labels)


def task_state(events: Sequence[LabelEvent], need: int = DEFAULT_NEED) -> TaskState:
    """Return the state of one task on one completion or question.

    Args:
        events: All events of the task on it, in any order.
        need: Number of people who must label it.
    """
    now = current_round(events)
    exclusions = current_exclusions(events)
    if exclusions:
        return _decided_state(exclusions[-1], "coordinator")
    ruling = current_adjudication(events)
    if ruling is not None:
        return _decided_state(ruling, "adjudicated")
    labels = current_labels(events)
    if not labels:
        return TaskState(state="unlabelled", round=now)
    if len(labels) < need:
        return TaskState(state="labelled", round=now)
    if len({label.value for label in labels}) > 1:
        return TaskState(state="conflict", round=now)
    return _decided_state(labels[0], "agreed")


def _decided_state(event: LabelEvent, how: DecidedBy) -> TaskState:
    if event.verdict == "unsuitable":
        return TaskState(
            state="excluded", verdict="unsuitable", reason=event.exclusion_reason, decided_by=how, round=event.round
        )
    return TaskState(state="final", verdict=event.verdict, subtype=event.subtype, decided_by=how, round=event.round)


def item_state(correctness: TaskState, type_: TaskState, *, types_labelled: bool) -> ItemState:
    """Combine both tasks: excluded, else conflict, else final, else unlabelled, else labelled.

    Args:
        correctness: The state of the completion's correctness task.
        type_: The state of the type task of its question.
        types_labelled: Whether annotators must label the type. If the data set's types are trusted, type labels and
            their conflicts still count, but no type label is required.
    """
    subtype = type_.subtype if type_.state == "final" else None
    state = _combined_state(correctness.state, type_.state, types_labelled)
    settled = correctness.decided_by is not None and state not in ("conflict", "excluded")
    return ItemState(
        state=state,
        gold=correctness.verdict == "correct" if settled else None,
        gold_from=correctness.decided_by if settled else None,
        subtype=subtype,
        reason=correctness.reason,
    )


def _combined_state(correctness: State, type_: State, types_labelled: bool) -> State:
    if correctness == "excluded":
        return "excluded"
    if "conflict" in (correctness, type_):
        return "conflict"
    if correctness == "final" and (type_ == "final" or not types_labelled):
        return "final"
    if correctness == "unlabelled" and type_ == "unlabelled":
        return "unlabelled"
    return "labelled"
