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
"""The kind of verifier whose verdicts were imported from a file; it can't be run here."""
GENERATION: Final = "generation"
"""The kind of run in which models write texts: its calls are about no item. It has no verdicts and is in no table."""
STATE_AFTER: dict[Request, RunState] = {"pause": "paused", "cancel": "cancelled"}
"""Request -> state of the run when it is done."""


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
        options: Option values by name, as in the file.
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
        calls: Attempts that were sent, with any outcome.
        answered: Attempts with a reply.
        failed: Failed attempts.
        unsent: Attempts that reached no server.
        unsure: Attempts of ``failed`` that may have been charged: no reply in time, or a broken one.
        reused: Replies that were already stored, so that nothing was sent.
        items_reused: Items judged only by such replies.
        cached_tokens: Tokens of ``prompt_tokens`` in a server's cache.
        reasoning_tokens: Reasoning tokens of ``completion_tokens``.
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
        return self.calls - self.answered - self.failed


class NodeUse(Struct, kw_only=True):
    """A cluster node's work for a run, over all its starts.

    Attributes:
        name: Its host, and the beginning of its id.
        workers: Items that it judges at once.
        judged: Items, or programs, whose results came back.
        seconds: Its working time on them, in seconds.
        lost: Items, or programs, that it had when it died, which were reassigned.
        deaths: Number of times that it, or its worker for the run, has died.
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
        return self.judged / self.seconds if self.judged and self.seconds else None


class ClusterUse(Struct, kw_only=True):
    """A cluster that judges a run.

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
        shard: The shard of the items that was requested last, such as ``"1/3"``; None without one.
        request: A user's request to the runner that is still pending.
        items: Number of verdicts of the complete run.
        done: Verdicts stored.
        verdicts: Stored verdicts by word; None if they were not counted.
        reasons: Stored verdicts by reason code; None if they were not counted.
        timeouts: Items that exceeded a time limit, by which it was (``cpu``, ``wall``, ``unknown``); None if they were
            not counted.
        pid: The process that works on it, or did until it died.
        heartbeat: That process's last sign of life.
        alive: Whether a runner of this database is alive, even if waiting.
        waiting: What that runner waits for, in words, or the state of a runner that is not visible from here; else
            None.
        trouble: What prevented storing results for a while since it was started; else None.
        rate: Recent verdicts per second; None unless it is being watched while running.
        eta: Remaining seconds at that rate.
        started_at: Time when it last went from waiting to running.
        completed_at: Time when it was last complete; tables use runs that have been complete.
        new: Items added since it was complete, for a run over all items.
        message: Why it failed, or paused by itself.
        selected: At its start: number of selected items.
        reused: At its start: number of them that already had a verdict.
        usage: Its requests to model servers; None for a verifier that uses none.
        failures: Messages of verdicts "error", the most frequent first; empty if they were not looked up.
        untested: Why solutions can't be tested, if problems have no counted tests; None if they can, or if not looked
            up.
        recorded: Whether verdicts are based on recorded replies instead of a live model's; None if not looked up.
        isolations: Outcomes of programs by level of isolation; None if they were not counted.
        provenance: Everything that outcomes of programs depend on; more than one if it changed at a later start.
        cluster: The cluster that judges it, if not only this machine.
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
        """Return whether models write texts in it, so that it has calls and no verdicts."""
        return self.kind == GENERATION


class VerdictLine(Struct, frozen=True, kw_only=True):
    """One stored verdict with the keys of its item, for export.

    Attributes:
        score: The verifier's own number, if it has one.
        reason: A bare code: why it abstained or failed, or what decided it.
        rule: The rule that fired, such as ``"number.rounding"``.
        ms: Wall time spent on the item, in milliseconds.
        reference_span: Offsets of ``reference_final`` into the stored reference.
        candidate_span: Offsets of ``candidate_final`` into the stored completion.
        detail: Details for a person, such as an error's text.
        origin: Origin of the recorded replies behind it; None for a verdict without recorded replies.
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
    """One line of a file of verdicts from elsewhere.

    Attributes:
        verifier: The verifier's name; may be omitted if the import names it.
        verdict: May be omitted if there is a score, which has no verdict without a threshold.
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
        scored: Values that are numbers but not verdicts.
        missing: Rows without a value: empty, NaN, None, NULL.
        unknown: Rows whose value is not a word for a verdict; they have no verdict.
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
        verifiers: Names of the verifiers with a line that was imported or already existed, each with its run.
        refusals: The rejected lines, in their order.
        columns: Contents of each column of a table with a verifier's verdicts; this and the following fields are set
            only if a table was read.
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


# -- Calls to model servers for people: those behind a verdict, possible charges, and future calls.


class OpenAttempt(Struct, frozen=True, kw_only=True):
    """A call that may have been charged, although no reply came: its runner ended first.

    Attributes:
        completion_id: The item's own id; None without one (a probe, a generated text).
        attempt: The attempt's number.
        sent_at: UTC, ISO 8601.
    """

    completion_id: str | None
    attempt: int
    sent_at: str
    url: str


class CallShown(Struct, frozen=True, kw_only=True):
    """One call of a verdict, in a transcript.

    Attributes:
        step: Its purpose, such as ``"analyse"``.
        role: The verifier's role in the call.
        sample: Distinguishes independent replies to one request.
        request: The body of the sent request.
        response: The body of the received response.
        text: The model's text; "" if it gave numbers.
        reasoning: Its reasoning, if the server separates it.
        scores: The numbers it gave, for a reward model.
        finish_reason: ``"stop"``, ``"length"`` ...
        ms: From sending to the last byte, in milliseconds.
        reused: Whether the reply was already stored.
        origin: Origin of a recorded reply; None for a live one.
        created_at: Time when the reply was stored.
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
    """A reply behind a generated text, without its content.

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
        stored: Items that already have a verdict.
        calls: Calls for items without a verdict.
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
    """A batch of calls at a provider.

    Attributes:
        name: Its name at the provider; None if unknown.
        status: Its latest status, in the provider's word.
    """

    name: str | None
    calls: int
    status: str | None
    sent_at: str | None


class RunCosts(Struct, frozen=True, kw_only=True):
    """The usage of a run: spent, possibly spent, and still needed.

    Attributes:
        batches: Batches that its provider has not answered yet.
        attempts: Calls by state: ``unsent``, ``sent`` (no outcome: in flight, or possibly charged), ``failed``,
            ``done``.
        ambiguous: Calls without a reply that may have been charged.
        spent: Calls with a reply.
        possibly_spent: Estimate for calls without a reply that may have been charged, at the mean of those with a
            reply.
        to_finish: Estimate for items without a verdict at that mean; None without replies.
    """

    attempts: dict[str, int]
    ambiguous: list[OpenAttempt]
    spent: Amount
    possibly_spent: Amount
    to_finish: Amount | None
    batches: list[CallBatch] = []
