"""Chooses the next item of a person: a fresh one, or one of the checks and repeats mixed in.

Checks and repeats are served only before a fresh item, so they end with the work. The person can't distinguish them
from other items: not by texts, slots or the number of items left.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

from msgspec import Struct

from workbench.config.settings import AnnotationPolicy
from workbench.core.database import events, people, states
from workbench.core.database.hashes import secret
from workbench.core.database.values import timestamp_of
from workbench.labelling.store import assignments, check_items, claiming

# -- Checks and repeats mixed in among a person's items.


Kind = Literal["fresh", "check", "repeat"]


def kind_of_next(secret: bytes, person: int, served: int, policy: AnnotationPolicy) -> Kind:
    """Return the kind of item to serve after ``served`` items; if there is none of that kind, a fresh one is served."""
    draw = secret_number(secret, f"next {person} {served}") / 2**64
    if draw < policy.check_rate:
        return "check"
    return "repeat" if draw < policy.check_rate + policy.repeat_share else "fresh"


def secret_number(secret: bytes, name: str) -> int:
    """Return a number below 2**64 that cannot be computed without the secret."""
    return int.from_bytes(blake2b(name.encode(), key=secret, digest_size=8).digest(), "big")


def remaining_items(
    secret: bytes, person: int, served: int, policy: AnnotationPolicy, *, fresh: int, checks: int, repeats: int
) -> int:
    """Return how many items a person will be served until the last fresh one, including checks and repeats.

    Args:
        served: Number of items served so far.
        fresh: Fresh items left for them.
        checks: Checks they have not answered.
        repeats: Own items that could be served again.
    """
    left = {"fresh": fresh, "check": checks, "repeat": repeats}
    coming = 0
    while left["fresh"] and (left["check"] or left["repeat"]):
        kind = kind_of_next(secret, person, served + coming, policy)
        left[kind if left[kind] else "fresh"] -= 1
        coming += 1
    return coming + left["fresh"]


class Progress(Struct, frozen=True):
    """A person's progress: labels done, items still to be served to them, and items in their bundles."""

    done: int
    left: int
    away: int = 0


def serve(connection: people.Connection, person: int, policy: AnnotationPolicy, at: float) -> int | None:
    """Lease the next completion for a person, with its question's type slot if one is open.

    It is the first item, in the batch's order, with an open slot that they may take; then items they skipped, then
    items they labelled without the type that annotators must resolve. None if nothing is left, or they are paused.

    Args:
        at: Seconds since the epoch.
    """
    if people.is_paused(connection, person):
        return None
    assignments.free_expired(connection, at)
    fresh = claiming.next_fresh(connection, person)
    mixed = fresh and next_check_or_repeat(connection, person, policy, at)
    found = mixed or fresh or claiming.next_skipped(connection, person)
    if found is None:
        completion = claiming.next_untyped(connection, person)
        if completion is None:
            return None
        question, _ = states.question_of(connection, completion)
        _lease_open_type(connection, question, person, at)
        return completion
    lease(connection, person, found, policy, at, ahead_of=fresh.completion if fresh else None)
    return found.completion


def lease(
    connection: people.Connection,
    person: int,
    found: claiming.ClaimableSlot,
    policy: AnnotationPolicy,
    at: float,
    *,
    ahead_of: int | None = None,
) -> None:
    """Lease an item to a person, with the slot for its question's type if needed.

    Args:
        ahead_of: The next fresh completion, which may be this one; None if none is left.
    """
    assignments.lease(connection, found.slot, person, at)
    _lease_type(connection, found.completion, person, policy, at, ahead_of)


def next_check_or_repeat(
    connection: people.Connection, person: int, policy: AnnotationPolicy, at: float
) -> claiming.ClaimableSlot | None:
    key = secret(connection)
    kind = kind_of_next(key, person, claiming.served(connection, person), policy)
    if kind == "fresh":
        return None
    if kind == "check":
        candidates = claiming.unanswered_checks(connection, person)
    else:
        candidates = claiming.repeatable(connection, person, _repeat_cutoff(policy, at))
    if not candidates:
        return None
    completion = min(candidates, key=lambda item: secret_number(key, f"{kind} {person} {item}"))
    slot = assignments.open_own(connection, kind, "correctness", completion, person, timestamp_of(at))
    return None if slot is None else claiming.ClaimableSlot(slot, completion)


def _repeat_cutoff(policy: AnnotationPolicy, at: float) -> str:
    return timestamp_of(at - policy.repeat_after_hours * 3600)


def _lease_type(
    connection: people.Connection,
    completion: int,
    person: int,
    policy: AnnotationPolicy,
    at: float,
    ahead_of: int | None,
) -> None:
    question, _ = states.question_of(connection, completion)
    purpose = assignments.purpose_of(connection, "correctness", completion, person, answered=False)
    if purpose == "repeat":
        slot = _open_repeat_type_slot(connection, question, person, policy, at)
    elif purpose == "check" and not assignments.is_assigned(connection, "type", question):
        slot = _open_check_type_slot(connection, question, person, at, ahead_of)
    else:
        _lease_open_type(connection, question, person, at)
        return
    if slot is not None:
        assignments.lease(connection, slot, person, at)


def _lease_open_type(connection: people.Connection, question: int, person: int, at: float) -> None:
    slot = claiming.open_type_slot(connection, question, person)
    if slot is None:
        return
    assignments.lease(connection, slot, person, at)
    if check_items.has_typed(connection, question, person):
        # Answers to a check are not labels: the item is presented as if for the first time.
        assignments.hide_earlier(connection, slot, timestamp_of(at))


def _open_check_type_slot(
    connection: people.Connection, question: int, person: int, at: float, ahead_of: int | None
) -> int | None:
    if ahead_of is None:
        asked = assignments.has_own(connection, "check", "type", question, person)
    else:
        beside, _ = states.question_of(connection, ahead_of)
        asked = claiming.open_type_slot(connection, beside, person) is not None
        asked = asked or assignments.holds(connection, "type", beside, person)
    return assignments.open_own(connection, "check", "type", question, person, timestamp_of(at)) if asked else None


def _open_repeat_type_slot(
    connection: people.Connection, question: int, person: int, policy: AnnotationPolicy, at: float
) -> int | None:
    labels = (events.current_of(connection, "type", question, person, kind) for kind in ("label", "check"))
    typed = next(filter(None, labels), None)
    if typed is None or typed.created_at > _repeat_cutoff(policy, at):
        return None
    return assignments.open_own(connection, "repeat", "type", question, person, timestamp_of(at))


def progress(connection: people.Connection, person: int, policy: AnnotationPolicy, at: float) -> Progress:
    counts = claiming.counts(connection, person)
    coming = remaining_items(
        secret(connection),
        person,
        claiming.served(connection, person),
        policy,
        fresh=counts.fresh,
        checks=len(claiming.unanswered_checks(connection, person)) if policy.check_rate else 0,
        repeats=len(claiming.repeatable(connection, person, _repeat_cutoff(policy, at))) if policy.repeat_share else 0,
    )
    return Progress(done=counts.done, left=counts.leased + coming + counts.skipped, away=counts.away)
