"""Configured verifiers, and the state of their runs."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.code import Level, Provenance
from workbench.core.verdict import OutcomeWord

RunState = Literal["queued", "running", "paused", "cancelled", "complete", "failed"]
Request = Literal["pause", "cancel"]
ACTIVE: frozenset[RunState] = frozenset({"queued", "running"})
"""States in which a runner has, or will have, work to do."""
IMPORTED: Final = "imported"
"""The kind of verifier whose verdicts came in a file: it can't be run here."""
GENERATION: Final = "generation"
"""The kind of run whose calls are about no item: texts that models write. It has no verdicts and is in no table."""
STATE_AFTER: dict[Request, RunState] = {"pause": "paused", "cancel": "cancelled"}
"""What becomes of a run when the request is done."""


class ConfiguredVerifier(Struct, frozen=True, kw_only=True):
    """A name bound to one configuration of a verifier.

    Attributes:
        options: The options given, by name.
        config: Every option in force, defaults included.
        config_hash: Identifies kind and configuration.
    """

    id: int
    name: str
    kind: str
    options: dict[str, str]
    config: dict[str, Any]
    config_hash: str


class WrittenVerifier(Struct, frozen=True, kw_only=True):
    """A verifier configured in ``workbench.toml`` under a name.

    Attributes:
        options: Option values by name, as the file gives them.
    """

    name: str
    options: dict[str, str]


class VerifierInfo(Struct, frozen=True, kw_only=True):
    """One kind of verifier that can be run, and its names in a project.

    Attributes:
        package: The distribution that provides it.
        options: Every option's name and description.
        version: Version of its rules, parser or library with default options; None if it depends on options.
        broken: Why it can't be used, or None.
        configured: Its configurations in this project's database.
        written: Its configurations in ``workbench.toml``.
    """

    name: str
    package: str
    description: str
    options: dict[str, str]
    version: str | None
    isolation: str
    broken: str | None
    configured: list[ConfiguredVerifier]
    written: list[WrittenVerifier]


class RunUsage(Struct, kw_only=True):
    """A run's requests to model servers, over all its starts.

    Attributes:
        calls: Attempts that were sent, whatever their outcome.
        answered: Those with a reply.
        failed: Those that failed.
        unsent: Attempts that reached no server.
        unsure: Those of ``failed`` that may have been charged all the same: no reply in time, or a broken one.
        reused: Replies that were stored already, so that nothing was sent.
        items_reused: Items that were judged by such replies alone.
        cached_tokens: Those of ``prompt_tokens`` that a server had in its cache.
        reasoning_tokens: Those of ``completion_tokens`` that were reasoning.
        cost: US dollars, as far as known; None while no price is known.
        unpriced: Replies of unknown cost.
        errors: Failed attempts by class, such as ``"rate_limit"``.
        warnings: Notes for the user, such as prompts that a server has truncated.
        in_flight: Calls that wait for a reply at the moment.
        at_once: The current limit of calls in flight, adapted to the server's answers.
    """

    calls: int = 0
    answered: int = 0
    failed: int = 0
    unsent: int = 0
    unsure: int = 0
    reused: int = 0
    items_reused: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    unpriced: int = 0
    errors: dict[str, int] = {}
    warnings: list[str] = []
    in_flight: int = 0
    at_once: int | None = None

    @property
    def open(self) -> int:
        """Return the number of attempts whose outcome isn't known."""
        return self.calls - self.answered - self.failed


class NodeUse(Struct, kw_only=True):
    """A cluster node's work for a run, over all its starts.

    Attributes:
        name: Its host, and the beginning of its id.
        workers: Items that it judges at a time.
        judged: Items, or programs, whose results came back.
        seconds: Time it worked on them.
        lost: Items, or programs, that it had when it died, and that were assigned to others.
        deaths: How often it, or its worker for the run, has died.
        refused: Why it may not work; "" if it may.
    """

    name: str
    workers: int
    judged: int = 0
    seconds: float = 0.0
    lost: int = 0
    deaths: int = 0
    refused: str = ""

    @property
    def rate(self) -> float | None:
        """Return results a second while it worked; None before the first."""
        return self.judged / self.seconds if self.judged and self.seconds else None


class ClusterUse(Struct, kw_only=True):
    """A cluster that a run is judged on.

    Attributes:
        address: ``"ray"`` for the one that this machine belongs to, or ``"ray://HOST:PORT"``.
    """

    address: str
    nodes: list[NodeUse] = []


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run as stored in the database at one moment.

    Attributes:
        verifier: The verifier's name.
        selection: The items requested last, in words.
        shard: The shard of the items that was requested last, such as ``"1/3"``; None if it was none.
        request: A user's request to the runner that is still pending.
        items: Verdicts the run has when it is complete.
        done: Verdicts stored.
        verdicts: Stored verdicts by word; None if they were not counted.
        reasons: Stored verdicts by reason code; None if they were not counted.
        timeouts: Items that exceeded a time limit, by which it was (``cpu``, ``wall``, ``unknown``); None if they were
            not counted.
        pid: The process that works on it, or did before it died.
        heartbeat: That process's last sign of life.
        alive: A runner of this database is alive, though it may wait.
        waiting: What that runner waits for, in words, or what is known of one that can't be seen from here; None:
            nothing.
        trouble: What kept the run from being stored for a while; None: nothing, since it was started.
        rate: Verdicts a second lately; None unless it is being watched while running.
        eta: Remaining seconds at that rate.
        started_at: When it last went from waiting to running.
        completed_at: When it was complete last; tables use runs that have been.
        new: Items added since it was complete, if it is over all items.
        message: Why it failed, or paused by itself.
        selected: At its start: items the selection has.
        reused: At its start: how many of them had a verdict already.
        usage: Its requests to model servers; None for a verifier that uses none.
        failures: Messages of verdicts "error", the most frequent first; empty if they were not looked up.
        untested: What keeps solutions from being tested, if problems have no test that counts; None: nothing, or it
            was not looked up.
        recorded: Whether verdicts rest on recorded replies instead of a live model's; None if it was not looked up.
        isolations: Outcomes of programs by level of isolation; None if they were not counted.
        provenance: What outcomes of programs depend on; more than one if it changed at a later start.
        cluster: Where it is judged, if not on this machine alone.
    """

    run: int
    verifier: str
    kind: str
    version: str
    selection: str
    shard: str | None = None
    state: RunState
    request: Request | None
    items: int
    done: int
    verdicts: dict[OutcomeWord, int] | None = None
    reasons: dict[str, int] | None = None
    timeouts: dict[str, int] | None = None
    workers: int
    pid: int | None = None
    heartbeat: str | None = None
    alive: bool = False
    waiting: str | None = None
    trouble: str | None = None
    rate: float | None = None
    eta: float | None = None
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    completed_at: str | None = None
    new: int = 0
    message: str | None = None
    selected: int | None = None
    reused: int | None = None
    usage: RunUsage | None = None
    failures: list[str] = []
    untested: str | None = None
    recorded: bool | None = None
    isolations: dict[Level, int] | None = None
    provenance: list[Provenance] = []
    cluster: ClusterUse | None = None

    @property
    def writes(self) -> bool:
        """Return whether models write texts under it, so that it has calls and no verdicts."""
        return self.kind == GENERATION


class VerdictLine(Struct, frozen=True, kw_only=True):
    """One stored verdict with the keys of its item, as it is exported.

    Attributes:
        score: The verifier's own number, if it has one.
        reason: A bare code: why it abstained or failed, or what decided it.
        rule: The rule that fired, such as ``"number.rounding"``.
        ms: Wall time spent on the item, in milliseconds.
        reference_span: Offsets of ``reference_final`` into the stored reference.
        candidate_span: Offsets of ``candidate_final`` into the stored completion.
        detail: Details for a person, such as an error's text.
        origin: Where the replies it rests on were recorded; None for a verdict without recorded replies.
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
    origin: str | None


class VerdictRow(Struct, frozen=True, kw_only=True):
    """One line of a file of verdicts that were made elsewhere.

    Attributes:
        verifier: The verifier's name; may be omitted if the import names it.
        verdict: May be omitted next to a score, which has no verdict until a threshold makes one of it.
        reason: The verifier's own code.
        question_id: Required, or the dataset, if the completion's id is ambiguous.
        ms: Wall time spent on the item, in milliseconds.
    """

    completion_id: str
    verifier: str | None = None
    verdict: OutcomeWord | None = None
    score: float | None = None
    reason: str | None = None
    rule: str | None = None
    question_id: str | None = None
    dataset: str | None = None
    ms: float = 0.0
    reference_final: str | None = None
    candidate_final: str | None = None
    detail: str | None = None


class RefusedLine(Struct, frozen=True, kw_only=True):
    """Why a line of a file was rejected."""

    line: int
    field: str | None
    message: str


class VerdictColumn(Struct, kw_only=True):
    """A column that was read as a verifier's verdicts, with a summary of its values.

    Attributes:
        scored: Values that are a number and no verdict.
        missing: Rows without a value: empty, NaN, None, NULL.
        unknown: Rows whose value is no word for a verdict; they have none.
        words: The first 20 such values, each with its frequency.
    """

    verifier: str
    column: str
    correct: int = 0
    incorrect: int = 0
    abstain: int = 0
    error: int = 0
    scored: int = 0
    missing: int = 0
    unknown: int = 0
    words: dict[str, int] = {}

    @property
    def counted(self) -> str:
        counts = {
            "correct": self.correct,
            "incorrect": self.incorrect,
            "abstain": self.abstain,
            "error": self.error,
            "scores": self.scored,
            "missing": self.missing,
            "no words for a verdict": self.unknown,
        }
        said = ", ".join(f"{many:,} {what}" for what, many in counts.items() if many) or "none"
        words = ", ".join(f"{word!r} {many:,}" for word, many in self.words.items())
        return f"{said} ({words})" if words else said


class VerdictsImported(Struct, kw_only=True):
    """The result of an import of verdicts, in lines.

    Attributes:
        verifiers: Names of the verifiers with a line that was imported or existed already, each with its run.
        refusals: The rejected lines, in their order.
        columns: What each column of a table holds that is a verifier; this and the following fields are set only if a
            table was read.
        ignored: Columns that are not read.
    """

    imported: int = 0
    unchanged: int = 0
    refused: int = 0
    verifiers: dict[str, int] = {}
    refusals: list[RefusedLine] = []
    columns: list[VerdictColumn] | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET


class VerdictEvidence(Struct, frozen=True, kw_only=True):
    """A stored verdict with the reference and the completion that its offsets point into.

    Attributes:
        item: The item's row id.
    """

    item: int
    line: VerdictLine
    reference: str
    completion: str


# -- Calls to model servers as people see them: what a verdict rests on, what may have been paid, what is to come.


class OpenAttempt(Struct, frozen=True, kw_only=True):
    """A call that may have been charged, although no reply came: its runner ended first.

    Attributes:
        completion_id: The item's own id; None if it is about none (a probe, a text that is written).
        attempt: The attempt's number.
        sent_at: UTC, ISO 8601.
    """

    completion_id: str | None
    attempt: int
    sent_at: str
    url: str


class CallShown(Struct, frozen=True, kw_only=True):
    """One call of a verdict, as a transcript shows it.

    Attributes:
        step: Its purpose, such as ``"analyse"``.
        role: The verifier's role that was asked.
        sample: Distinguishes independent replies to one request.
        request: The request's body as it was sent.
        response: The response's body as it came.
        text: The model's text; "" if it gave numbers.
        reasoning: Its reasoning, if the server separates it.
        scores: The numbers it gave, for a reward model.
        finish_reason: ``"stop"``, ``"length"`` ...
        ms: From sending to the last byte, in milliseconds.
        reused: The reply was stored already.
        origin: Where a recorded reply comes from; None for a live one.
        created_at: When the reply was stored.
        cost: In US dollars; None if unknown.
        broken_tokens: Control tokens of texts in the request that are broken by a thin space; 0 if all texts are
            sent byte for byte.
    """

    step: str
    role: str
    sample: int
    profile: str
    model: str
    request: str
    response: str
    text: str
    reasoning: str | None
    scores: list[float]
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    ms: float
    reused: bool
    origin: str | None
    created_at: str
    broken_tokens: int


class Vote(Struct, frozen=True, kw_only=True):
    """One of the verdicts that a verdict was combined from.

    Attributes:
        by: The verifier's name, if the verdict is a stack's; None for one of several votes of the same verifier.
    """

    verdict: OutcomeWord
    score: float | None
    reason: str | None
    by: str | None = None


class WrittenReply(Struct, frozen=True):
    """A reply that a text was made of, without its words.

    Attributes:
        id: Row id.
        ms: Time from the request to the reply.
    """

    id: int
    model: str
    sample: int
    prompt_tokens: int | None
    completion_tokens: int | None
    ms: float
    origin: str | None


class Transcript(Struct, frozen=True, kw_only=True):
    """The calls and votes behind a verdict.

    Attributes:
        calls: Requests and replies, in order.
        votes: The verdicts it was combined from, in their order; empty for a single one.
        trace: The verifier's own account (a tree, a list of tests ...).
    """

    completion_id: str
    question_id: str
    dataset: str
    verifier: str
    run: int
    verdict: OutcomeWord
    score: float | None
    reason: str | None
    detail: str | None
    calls: list[CallShown]
    votes: list[Vote]
    trace: dict[str, Any] | None


class Amount(Struct, frozen=True, kw_only=True):
    """Calls, and their tokens and cost.

    Attributes:
        tokens: Prompt and completion tokens.
        cost: US dollars; None if unknown.
    """

    calls: int
    tokens: int
    cost: float | None


class Estimate(Struct, frozen=True, kw_only=True):
    """Expected usage of a run if no reply is stored.

    Attributes:
        items: Items without a verdict.
        stored: Items that have one already.
        calls: Calls for those without.
        prompt_tokens: Estimated input tokens.
        completion_tokens: Maximum output tokens.
        cost: Maximum in US dollars; None if a model has no price.
        notes: Remarks on the prompt.
    """

    items: int
    stored: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    notes: tuple[str, ...] = ()


class CallBatch(Struct, frozen=True, kw_only=True):
    """A batch of calls that a provider is to answer.

    Attributes:
        name: Its name there; None while unknown.
        status: Its latest status, in the provider's word.
    """

    name: str | None
    calls: int
    status: str | None
    sent_at: str | None


class RunCosts(Struct, frozen=True, kw_only=True):
    """What a run has used, may have used and still needs.

    Attributes:
        batches: Those that its provider has still to answer.
        attempts: Calls by state: ``unsent``, ``sent`` (no outcome: in flight, or possibly charged), ``failed``,
            ``done``.
        ambiguous: Calls that may have been charged although no reply came.
        spent: Calls with a reply.
        possibly_spent: Calls without one that may have been charged, at the mean of those with a reply.
        to_finish: What the items without a verdict need at that mean; None before there is any.
    """

    attempts: dict[str, int]
    ambiguous: list[OpenAttempt]
    spent: Amount
    possibly_spent: Amount
    to_finish: Amount | None
    batches: list[CallBatch] = []
