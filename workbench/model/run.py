"""Verifiers as configured, and what their runs have done so far."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from workbench.model.verdict import OutcomeWord

RunState = Literal["queued", "running", "paused", "cancelled", "complete", "failed"]
Request = Literal["pause", "cancel"]

ACTIVE: frozenset[RunState] = frozenset({"queued", "running"})
"""States in which a runner has, or will have, work to do."""

STATE_AFTER: dict[Request, RunState] = {"pause": "paused", "cancel": "cancelled"}
"""What becomes of a run when the request is done."""


class ConfiguredVerifier(Struct, frozen=True, kw_only=True):
    """A name bound to one configuration of a verifier.

    Attributes:
        options: What was asked for, by option name.
        config: Every option in force, defaults included.
        config_hash: Identifies kind and configuration.
    """

    id: int
    name: str
    kind: str
    options: dict[str, str]
    config: dict[str, Any]
    config_hash: str


class VerifierInfo(Struct, frozen=True, kw_only=True):
    """One kind of verifier that can be run, and the names it has in a project.

    Attributes:
        package: The distribution that brings it.
        options: Every option's name and what it does.
        version: Version of its rules, parser or library with default options; None if it needs options.
        broken: Why it can't be used, or None.
        configured: Its configurations in this project.
    """

    name: str
    package: str
    description: str
    options: dict[str, str]
    version: str | None
    isolation: str
    broken: str | None
    configured: list[ConfiguredVerifier]


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run as it stands in the database at one moment.

    Attributes:
        verifier: The verifier's name.
        selection: The items asked for last, in words.
        request: What a person has asked of the runner and it hasn't done yet.
        items: Verdicts the run has when it is complete.
        done: Verdicts stored.
        verdicts: Stored verdicts by word; None where they were not counted.
        reasons: Stored verdicts by reason code; None where they were not counted.
        pid: The process that works on it, or did before it died.
        heartbeat: That process's last sign of life.
        alive: A runner of this database is alive.
        rate: Verdicts a second lately; None unless it is being watched while running.
        eta: Seconds to go at that rate.
        started_at: When it last went from waiting to running.
        completed_at: When it was complete last; tables use runs that have been.
        message: Why it failed.
        selected: At its start: items the selection has.
        reused: At its start: how many of them had a verdict already.
    """

    run: int
    verifier: str
    kind: str
    version: str
    selection: str
    state: RunState
    request: Request | None
    items: int
    done: int
    verdicts: dict[OutcomeWord, int] | None = None
    reasons: dict[str, int] | None = None
    workers: int
    pid: int | None = None
    heartbeat: str | None = None
    alive: bool = False
    rate: float | None = None
    eta: float | None = None
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    completed_at: str | None = None
    message: str | None = None
    selected: int | None = None
    reused: int | None = None


class VerdictLine(Struct, frozen=True, kw_only=True):
    """One stored verdict with the keys of its item, as it is exported.

    Attributes:
        score: The verifier's own number, if it has one.
        reason: A bare code: why it abstained or failed, or what decided it.
        rule: The rule that fired, such as ``"number.rounding"``.
        ms: Wall time spent on the item, in milliseconds.
        reference_span: Offsets of ``reference_final`` into the stored reference.
        candidate_span: Offsets of ``candidate_final`` into the stored completion.
        detail: More for a person, such as an error's text.
    """

    question_id: str
    completion_id: str
    verifier: str
    verdict: OutcomeWord
    score: float | None
    reason: str | None
    rule: str | None
    ms: float
    run: int
    dataset: str
    reference_final: str | None
    candidate_final: str | None
    reference_span: tuple[int, int] | None
    candidate_span: tuple[int, int] | None
    detail: str | None


class VerdictEvidence(Struct, frozen=True, kw_only=True):
    """A stored verdict with the reference and the completion that its offsets point into."""

    line: VerdictLine
    reference: str
    completion: str
