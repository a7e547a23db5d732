"""Configured verifiers, and the state of their runs."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.core.code import Level, Provenance
from workbench.core.verdict import OutcomeWord

RunState = Literal["queued", "running", "paused", "cancelled", "complete", "failed"]
Request = Literal["pause", "cancel"]
ACTIVE: frozenset[RunState] = frozenset({"queued", "running"})
"""States of a run on which a runner works or will work."""
IMPORTED: Final = "imported"
"""The kind of verifier whose verdicts were imported from a file; it can't be run here."""
GENERATION: Final = "generation"
"""The kind of a run in which models write texts. Its calls belong to no item, it has no verdicts, and no table counts
it.
"""
STATE_AFTER: dict[Request, RunState] = {"pause": "paused", "cancel": "cancelled"}
"""The state of a run after a request was carried out, by request."""


class ConfiguredVerifier(Struct, frozen=True, kw_only=True):
    """A verifier's name in a project, and its configuration.

    Attributes:
        options: The options that were set, by name.
        config: All options including defaults, by name.
        config_hash: A hash that identifies the kind and the configuration.
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
        package: The Python distribution that provides it.
        options: Descriptions of all options, by name.
        version: Version of its rules, parser or library with default options; None if it depends on options.
        broken: Why it can't be used; None if it can.
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
    """A run's requests to model servers, over all times it was started.

    Attributes:
        calls: Number of attempts that were sent, with any outcome.
        answered: Number of attempts with a reply.
        failed: Number of failed attempts.
        unsent: Number of attempts that reached no server.
        unsure: Number of ``failed`` attempts that may have been charged: there was no reply in time, or a broken one.
        reused: Number of replies that were already stored, so that nothing was sent.
        items_reused: Number of items judged only with stored replies.
        cached_tokens: The part of ``prompt_tokens`` that was in a server's cache.
        reasoning_tokens: The part of ``completion_tokens`` that was reasoning.
        cost: Known cost in US dollars; None if no price is known.
        unpriced: Number of replies of unknown cost.
        errors: Number of failed attempts by class, such as ``"rate_limit"``.
        warnings: Notes for the user, such as prompts that a server has truncated.
        in_flight: Number of calls that wait for a reply at the moment.
        at_once: The current limit of calls in flight, which adapts to the server's responses; None if unknown.
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
    """A cluster node's work for a run, over all times the run was started.

    Attributes:
        name: The node's host name, and the beginning of its id.
        workers: Number of items that it judges at once.
        judged: Number of items or programs whose results it returned.
        seconds: Time that it worked on them, in seconds.
        lost: Number of items or programs that it worked on when it died; they were assigned to other nodes.
        deaths: Number of times that the node, or its worker for the run, has died.
        refused: Why the node is not allowed to work for the run; "" if it is.
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
    """The cluster whose nodes judge a run's items.

    Attributes:
        address: ``"ray"`` for the cluster that this machine belongs to, or ``"ray://HOST:PORT"``.
    """

    address: str
    nodes: list[NodeUse] = []


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run as stored in the database at one moment.

    Attributes:
        verifier: The verifier's name.
        selection: The items that were requested last, in words.
        request: A user's request to the runner that is still pending.
        items: Number of verdicts of the complete run.
        done: Number of stored verdicts.
        verdicts: Number of stored verdicts by outcome; None if they were not counted.
        reasons: Number of stored verdicts by reason code; None if they were not counted.
        timeouts: Number of items that exceeded a time limit, by kind of limit (``cpu``, ``wall``, ``unknown``); None if
            they were not counted.
        pid: The process that works on the run, or worked on it until it died.
        heartbeat: Time of that process's last sign of life.
        alive: Whether a runner process of this database is alive, even if it is waiting.
        waiting: What the runner waits for, in words, or the state of a runner that is not visible from here; otherwise
            None.
        trouble: What has prevented storing results for a while since the run was started; None if nothing has.
        rate: Recent verdicts per second; None unless the run is running and its progress is being followed.
        eta: Estimated remaining seconds at that rate.
        started_at: Time of the last change from queued to running.
        completed_at: Time when the run was last complete; tables use only runs that have been complete.
        new: Number of items added since it was complete, for a run over all items.
        message: Why the run failed, or paused by itself; None if it did neither.
        selected: Number of selected items at the run's start.
        reused: Number of the selected items that already had a verdict at the run's start.
        usage: The run's requests to model servers; None for a verifier that uses no models.
        failures: Messages of the verdicts "error", the most frequent first; empty if they were not looked up.
        untested: Why solutions can't be tested: problems have no counted tests. None if they can, or if this was not
            looked up.
        recorded: Whether verdicts are based on recorded replies, not on a live model's; None if not looked up.
        isolations: Number of executed programs by level of isolation; None if they were not counted.
        provenance: The environments that programs were run in; several if it changed at a later start of the run.
        cluster: The cluster that judges it; None if only this machine does.
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
        """Return whether the run's models write texts, so that it has calls but no verdicts."""
        return self.kind == GENERATION


class VerdictLine(Struct, frozen=True, kw_only=True):
    """One stored verdict with the ids of its item, for export.

    Attributes:
        score: The verifier's score; None if it gives none.
        reason: A reason code: why the verifier abstained or failed, or what decided the verdict.
        rule: The rule that fired, such as ``"number.rounding"``.
        ms: Wall time spent on the item, in milliseconds.
        reference_span: Offsets of ``reference_final`` into the stored reference.
        candidate_span: Offsets of ``candidate_final`` into the stored completion.
        detail: Details for the reader, such as an error's text.
        origin: Where the recorded replies behind the verdict come from; None for a verdict without recorded replies.
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
    """One line of a file of verdicts from another program.

    Attributes:
        verifier: The verifier's name; may be omitted if the import names it.
        verdict: The verdict; may be omitted if there is a score, from which a verdict needs a threshold.
        reason: The verifier's own reason code.
        question_id: The question's id; it or the data set is required if the completion's id is ambiguous.
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
        scored: Number of values that are numbers but not verdicts.
        missing: Number of rows without a value: empty, NaN, None, NULL.
        unknown: Number of rows whose value is not a word for a verdict; they get no verdict.
        words: The first 20 unknown values, each with its frequency.
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
        text = ", ".join(f"{many:,} {what}" for what, many in counts.items() if many) or "none"
        words = ", ".join(f"{word!r} {many:,}" for word, many in self.words.items())
        return f"{text} ({words})" if words else text


class VerdictsImported(Struct, kw_only=True):
    """The result of an import of verdicts; the counts are of lines.

    Attributes:
        verifiers: Run ids by name of the verifier, for verifiers with a line that was imported or stored already.
        refusals: The rejected lines, in their order.
        columns: A summary of each column with a verifier's verdicts; this and the following field are set only for a
            table.
        ignored: Names of the columns that are not read.
    """

    imported: int = 0
    unchanged: int = 0
    refused: int = 0
    verifiers: dict[str, int] = {}
    refusals: list[RefusedLine] = []
    columns: list[VerdictColumn] | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET


class VerdictEvidence(Struct, frozen=True, kw_only=True):
    """A stored verdict, with the reference and the completion into which its offsets point.

    Attributes:
        item: The item's row id.
    """

    item: int
    line: VerdictLine
    reference: str
    completion: str


# -- Calls to model servers as users see them: those behind a verdict, possible charges, and estimates.


class OpenAttempt(Struct, frozen=True, kw_only=True):
    """A call that may have been charged although no reply was received, because its runner ended first.

    Attributes:
        completion_id: The item's id; None for a call without an item (a probe, a generated text).
        attempt: The number of the attempt for this call.
        sent_at: UTC, ISO 8601.
    """

    completion_id: str | None
    attempt: int
    sent_at: str
    url: str


class CallShown(Struct, frozen=True, kw_only=True):
    """One model call behind a verdict, as shown in a transcript.

    Attributes:
        step: The call's purpose, such as ``"analyse"``.
        role: The role of the called model within the verifier.
        sample: The number of the reply, if one request is sent for several independent replies.
        request: The body of the sent request.
        response: The body of the received response.
        text: The model's text; "" for a reward model.
        reasoning: The model's reasoning, if the server returns it separately.
        scores: A reward model's scores; empty for other models.
        finish_reason: Why the reply ended: ``"stop"``, ``"length"`` ...
        ms: Time from sending the request to the last byte of the reply, in milliseconds.
        reused: Whether the reply was already stored.
        origin: Where a recorded reply comes from; None for a live reply.
        created_at: Time when the reply was stored.
        cost: In US dollars; None if unknown.
        broken_tokens: Number of control tokens in the request's texts that were broken by a thin space; 0 if all texts
            were sent unchanged.
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
        by: The name of the verifier that gave it, for the verdict of a stack; None if one verifier voted several times.
    """

    verdict: OutcomeWord
    score: float | None
    reason: str | None
    by: str | None = None


class WrittenReply(Struct, frozen=True):
    """A model's reply that became a generated text, without its content.

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
        votes: The verdicts that this verdict was combined from, in order; empty if it was not combined.
        trace: How the verifier reached the verdict, in its own format (a tree, a list of tests ...).
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
    """A number of calls, with their tokens and cost.

    Attributes:
        tokens: Prompt and completion tokens.
        cost: US dollars; None if unknown.
    """

    calls: int
    tokens: int
    cost: float | None


class Estimate(Struct, frozen=True, kw_only=True):
    """Expected usage of a run, if none of its replies is stored yet.

    Attributes:
        items: Number of items without a verdict.
        stored: Number of items that already have a verdict.
        calls: Number of calls for the items without a verdict.
        prompt_tokens: Estimated number of input tokens.
        completion_tokens: Maximum number of output tokens.
        cost: Maximum cost in US dollars; None if a model has no price.
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
        name: The batch's name at the provider; None if unknown.
        status: Its latest status, as the provider calls it; None if unknown.
    """

    name: str | None
    calls: int
    status: str | None
    sent_at: str | None


class RunCosts(Struct, frozen=True, kw_only=True):
    """The usage of a run: spent, possibly spent, and still needed.

    Attributes:
        batches: Batches that the provider has not answered yet.
        attempts: Number of calls by state: ``unsent``, ``sent`` (no outcome: in flight, or possibly charged),
            ``failed``, ``done``.
        ambiguous: Calls without a reply that may have been charged.
        spent: The calls with a reply.
        possibly_spent: Estimate for the calls without a reply that may have been charged, from the mean of the calls
            with a reply.
        to_finish: Estimate for the items without a verdict, from the same mean; None if there is no reply yet.
    """

    attempts: dict[str, int]
    ambiguous: list[OpenAttempt]
    spent: Amount
    possibly_spent: Amount
    to_finish: Amount | None
    batches: list[CallBatch] = []
