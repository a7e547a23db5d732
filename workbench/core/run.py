"""Verifiers as configured, and what their runs have done so far."""

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


class WrittenVerifier(Struct, frozen=True, kw_only=True):
    """A verifier that ``workbench.toml`` configures under a name.

    Attributes:
        options: Option values by name, as the file gives them.
    """

    name: str
    options: dict[str, str]


class VerifierInfo(Struct, frozen=True, kw_only=True):
    """One kind of verifier that can be run, and the names it has in a project.

    Attributes:
        package: The distribution that brings it.
        options: Every option's name and what it does.
        version: Version of its rules, parser or library with default options; None if only options tell.
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
    """What a run has asked of model servers, over all its starts.

    Attributes:
        calls: Attempts that were sent, whatever came of them.
        answered: Those with a reply.
        failed: Those that failed.
        unsent: Attempts that reached nobody.
        unsure: Those of ``failed`` that may have been paid for all the same: no reply in time, or a broken one.
        reused: Replies that were there already, so that nothing was sent.
        items_reused: Items that were judged by such replies alone.
        cached_tokens: Those of ``prompt_tokens`` that a server had in its cache.
        reasoning_tokens: Those of ``completion_tokens`` that were thought, not said.
        cost: US dollars, as far as known; None while not one price is known.
        unpriced: Replies whose cost nobody knows.
        errors: Failed attempts by class, such as ``"rate_limit"``.
        warnings: What its user should know, such as prompts that a server has cut.
        in_flight: Calls that wait for a reply at the moment.
        at_once: Calls in flight at most, as the server's answers allow at the moment.
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
        """Attempts whose outcome isn't known."""
        return self.calls - self.answered - self.failed


class NodeUse(Struct, kw_only=True):
    """What a node of a cluster has done for a run, over all its starts.

    Attributes:
        name: Its host, and how its id begins.
        workers: Items that it judges at a time.
        judged: Items, or programs that were run, whose results came back.
        seconds: How long it was at work on them.
        lost: Items, or programs, that it had when it died, and that others were asked for again.
        deaths: How often it, or what works for the run there, has died.
        refused: Why it may not work; "" where it may.
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
        """Results a second while it was at work; None before the first."""
        return self.judged / self.seconds if self.judged and self.seconds else None


class ClusterUse(Struct, kw_only=True):
    """A cluster that a run is judged on.

    Attributes:
        address: ``"ray"`` for the one that this machine belongs to, or ``"ray://HOST:PORT"``.
    """

    address: str
    nodes: list[NodeUse] = []


class RunInfo(Struct, frozen=True, kw_only=True):
    """A run as it stands in the database at one moment.

    Attributes:
        verifier: The verifier's name.
        selection: The items asked for last, in words.
        shard: The share of the items that it was asked for last, such as ``"1/3"``; None where it was no share.
        request: What a person has asked of the runner and it hasn't done yet.
        items: Verdicts the run has when it is complete.
        done: Verdicts stored.
        verdicts: Stored verdicts by word; None where they were not counted.
        reasons: Stored verdicts by reason code; None where they were not counted.
        timeouts: Items that had no more time, by which it was (``cpu``, ``wall``, ``unknown``); None where they were
            not counted.
        pid: The process that works on it, or did before it died.
        heartbeat: That process's last sign of life.
        alive: A runner of this database is alive, though it may wait.
        waiting: What keeps that runner from going on, in words, or what is known of one that can't be seen from here;
            None: nothing.
        trouble: What kept the run from being stored for a while; None: nothing, since it was started.
        rate: Verdicts a second lately; None unless it is being watched while running.
        eta: Seconds to go at that rate.
        started_at: When it last went from waiting to running.
        completed_at: When it was complete last; tables use runs that have been.
        new: Items that have come since it was complete, where it is over all items.
        message: Why it failed, or paused by itself.
        selected: At its start: items the selection has.
        reused: At its start: how many of them had a verdict already.
        usage: What it has asked of model servers; None for a verifier that asks none.
        failures: What was said on verdicts "error", the commonest first; empty where they were not looked up.
        untested: What keeps solutions from being tested, where problems have no test that counts; None: nothing, or it
            was not looked up.
        recorded: Whether verdicts rest on recorded replies instead of a live model's; None where it was not looked up.
        isolations: Outcomes of programs by how these were kept in; None where they were not counted.
        provenance: What outcomes of programs depend on; more than one where a later start found something else.
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
        """Whether texts are written under it, so that it has calls and no verdicts."""
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
        detail: More for a person, such as an error's text.
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
    """One line of a file of verdicts that were given elsewhere.

    Attributes:
        verifier: Whose verdict; may be left out where the import gives the name.
        verdict: May be left out beside a score, which then says nothing until a threshold makes a verdict of it.
        reason: A code of the verifier's own.
        question_id: Needed, or the dataset, where the completion's id is there more than once.
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
    """Why a line of a file was not taken."""

    line: int
    field: str | None
    message: str


class VerdictColumn(Struct, kw_only=True):
    """A column that was read as a verifier's verdicts, and what its values were.

    Attributes:
        scored: Values that are a number and no verdict.
        missing: Rows without a value: empty, NaN, None, NULL.
        unknown: Rows whose value is no word for a verdict; they have none.
        words: The first 20 such values, each with how often it stands there.
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
        """What its values were, as a person reads it."""
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
    """What an import of verdicts did, in lines.

    Attributes:
        verifiers: Names of the verifiers with a line that was taken or there already, each with its run.
        refusals: The lines that were refused, in their order.
        columns: What each column of a table holds that is a verifier; this and what follows stands only where a table
            was read.
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
    """A call that may have been paid for, although no reply came: its runner ended first.

    Attributes:
        completion_id: The item's own id; None where it is about none (a probe, a text that is written).
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
        step: What it was for, such as ``"analyse"``.
        role: Which of the verifier's servers was asked.
        sample: Tells apart independent replies to one request.
        request: The request's body as it was sent.
        response: The response's body as it came.
        text: What the model said; "" where it gave numbers.
        reasoning: What it thought, where the server keeps that apart.
        scores: The numbers it gave, for a reward model.
        finish_reason: ``"stop"``, ``"length"`` ...
        ms: From sending to the last byte, in milliseconds.
        reused: The reply was there already.
        origin: Where a recorded reply comes from; None for a live one.
        created_at: When the reply was stored.
        cost: In US dollars; None when nobody knows.
        broken_tokens: Control tokens of texts in the request that are broken by a thin space; 0 where all texts are
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
    """One of the verdicts that a verdict was made of.

    Attributes:
        by: The verifier's name, where the verdict is a stack's; None for one vote of several alike.
    """

    verdict: OutcomeWord
    score: float | None
    reason: str | None
    by: str | None = None


class WrittenReply(Struct, frozen=True):
    """A reply that a text was made of, without its words.

    Attributes:
        id: Row id.
        ms: From asking to the reply.
    """

    id: int
    model: str
    sample: int
    prompt_tokens: int | None
    completion_tokens: int | None
    ms: float
    origin: str | None


class Transcript(Struct, frozen=True, kw_only=True):
    """How a verdict came about.

    Attributes:
        calls: What was asked and answered, in order.
        votes: The verdicts it was made of, in their order; empty for a single one.
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
    """Calls, and what they take.

    Attributes:
        tokens: Prompt and completion tokens.
        cost: US dollars; None when nobody knows.
    """

    calls: int
    tokens: int
    cost: float | None


class Estimate(Struct, frozen=True, kw_only=True):
    """What a run is about to use, when no reply is stored.

    Attributes:
        items: Items without a verdict.
        stored: Items that have one already.
        calls: Calls those without take.
        prompt_tokens: About so many tokens the model reads.
        completion_tokens: At most so many it says.
        cost: US dollars at most; None when a model has no price.
        notes: What is said of the prompt that is asked by.
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
        name: What it is called there; None while nobody knows.
        status: How it stood there lately, in the provider's word.
    """

    name: str | None
    calls: int
    status: str | None
    sent_at: str | None


class RunCosts(Struct, frozen=True, kw_only=True):
    """What a run has used, may have used and still needs.

    Attributes:
        batches: Those that its provider has still to answer.
        attempts: Calls by state: ``unsent``, ``sent`` (no outcome: in flight, or possibly paid), ``failed``, ``done``.
        ambiguous: Calls that may have been paid for although no reply came.
        spent: Calls with a reply.
        possibly_spent: Calls without one that may have been paid for, at the mean of those with a reply.
        to_finish: What the items without a verdict need at that mean; None before there is any.
    """

    attempts: dict[str, int]
    ambiguous: list[OpenAttempt]
    spent: Amount
    possibly_spent: Amount
    to_finish: Amount | None
    batches: list[CallBatch] = []
