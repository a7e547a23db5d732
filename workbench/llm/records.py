"""Requests to model servers and their replies, independent of the server's dialect."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, Protocol

import msgspec
from msgspec import Struct

Role = Literal["system", "user", "assistant"]
Task = Literal["score", "classify", "pooling", "rerank", "completions"]
"""Calls that return numbers: vLLM's four, and OpenAI's older completions, for the probabilities of next tokens."""
Numbers = Task | Literal["embeddings"]
"""The tasks of `Task`, and OpenAI's embeddings, which all servers of its dialect have."""
FailureCode = Literal[
    "rate_limit",
    "quota",
    "auth",
    "bad_request",
    "context_length",
    "content_filter",
    "server",
    "timeout",
    "transport",
    "malformed",
    "budget",
    "cancelled",
    "internal",
]
"""Why a call failed for good; also the reason of the resulting verdict "error"."""


class PromptMessage(Struct, frozen=True):
    """One message of a chat. A final assistant message is a prefill: the reply continues it."""

    role: Role
    content: str


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sampling settings; for a setting of None the server's default applies.

    Attributes:
        top_k: Top-k sampling; sent only to servers that support it.
        seed: The random seed; the sample's index is added, so that samples differ.
        left_out: Names of settings left to the server, whatever a template requests.
        top_logprobs: Number of most likely tokens at each position whose probability the server is to report.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    left_out: tuple[str, ...] = ()
    top_logprobs: int | None = None


def as_stored(sampling: Sampling) -> dict[str, object]:
    """Return the settings as a generation stores them; settings added to `Sampling` later appear only if set."""
    fields: dict[str, object] = msgspec.json.decode(msgspec.json.encode(sampling))
    return dict.fromkeys(("temperature", "top_p", "top_k", "max_tokens", "seed")) | fields


class Chat(Struct, frozen=True, kw_only=True, tag="chat"):
    """A request for text.

    Attributes:
        shared: The number of characters at the start of its messages that are the same for other items; 0 if unknown.
    """

    messages: tuple[PromptMessage, ...]
    sampling: Sampling = Sampling()
    shared: int = 0


class Scoring(Struct, frozen=True, kw_only=True, tag="scoring"):
    """A request for a number or a vector for each text, or for the probabilities of the tokens that may follow it.

    Attributes:
        query: The question (score and rerank), or the user's turn of a chat in which the one text is the assistant's
            (classify, pooling); None if ``texts`` are whole inputs.
        texts: The texts to score.
        activate: Whether the server is to apply its activation (vLLM's ``use_activation``); None leaves it to the
            server, and nothing is sent.
        likeliest: Number of possible next tokens to report (completions).
    """

    task: Numbers
    texts: tuple[str, ...]
    query: str | None = None
    activate: bool | None = None
    likeliest: int | None = None


Request = Chat | Scoring


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tokens and cost of a call; None is unknown, never 0.

    Attributes:
        cached_tokens: The part of ``prompt_tokens`` that was read from the server's cache.
        written_tokens: The part of ``prompt_tokens`` that was written to the cache; like the tier, only used for the
            cost.
        reasoning_tokens: The part of ``completion_tokens`` that was reasoning.
        tier: The service tier that the server reports, such as ``"flex"``.
        cost: Cost in US dollars, as the server reports it or by the price list.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    written_tokens: int | None = None
    tier: str | None = None


class TokenChoice(Struct, frozen=True):
    """A token of a reply.

    Attributes:
        likeliest: The likeliest tokens at its position, itself included, each with its log probability.
    """

    text: str
    likeliest: tuple[tuple[str, float], ...]


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply, parsed from the server's bytes.

    Attributes:
        text: The text; "" for a `Scoring`.
        reasoning: The reasoning, if the server separates it.
        finish_reason: The finish reason as OpenAI names it (``"stop"``, ``"length"`` ...).
        scores: One raw number for each text, in the order of `Scoring.texts`; ``vectors`` has whole vectors of several
            classes.
        activation: The activation that the server applied to the scores (``"softmax"``, ``"none"`` ...), if known.
        tokens: Tokens of the text, reasoning included, if they were requested and the server reports them.
        model: The model that answered, as the server names it.
    """

    text: str = ""
    reasoning: str | None = None
    finish_reason: str | None = None
    scores: tuple[float, ...] = ()
    vectors: tuple[tuple[float, ...], ...] = ()
    activation: str | None = None
    tokens: tuple[TokenChoice, ...] = ()
    model: str | None = None
    usage: Usage = Usage()


class CallFailed(Exception):
    """A call failed for good; the item it was made for can't be judged.

    Attributes:
        code: Why, as one of `FailureCode`.
        detail: The server's or the client's message.
    """

    def __init__(self, code: FailureCode, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code: FailureCode = code
        self.detail = detail


RESUME: Final = "resume the run"
"""Advice in messages of `Halt` once its cause is fixed; a trial has no run to resume."""


class Halt(Exception):
    """No call of the run can succeed now (a wrong key, a spent quota or budget): the run pauses.

    Attributes:
        code: Why, as one of `FailureCode`.
        message: What is wrong and what to do; it never contains a key.
    """

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.code: FailureCode = code
        self.message = message


class Deferred(Halt):
    """The reply comes later with a batch: the item waits, and may only make calls whose replies are stored."""

    def __init__(self) -> None:
        super().__init__("cancelled", "The reply comes with a batch.")


class Ask(Protocol):
    """Calls a server for a verifier, about one item; the implementation caches, journals, limits and retries calls."""

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        """Return the reply to a request.

        Args:
            request: The request; equal requests with equal ``sample`` are sent only once.
            step: The call's purpose, such as ``"analyse"``, for readers of the transcript.
            role: The role of the verifier's server to call.
            sample: Index that distinguishes independent replies to the same request.

        Raises:
            CallFailed: There will be no reply to this request.
            Halt: No call of the run can succeed now.
        """
        ...


# -- How a reply ended: completely, or truncated.


Ending = Literal["whole", "truncated", "refused", "content_filter"]
REFUSAL: Final = "refusal"
"""The finish reason if the server reports that the model refused."""
_WHOLE: Final = frozenset(
    {"stop", "end_turn", "stop_sequence", "stop_token", "eos", "eos_token", "complete", "completed", "done", "finished"}
)
_TOOLS: Final = frozenset({"tool_calls", "function_call", "tool_use"})
_FILTERED: Final = re.compile(
    r"content_?filter(?:ed)?|safety(?:_\w+)?|recitation|language|prohibited_content|blocklist|spii|model_armor|escalation"
    r"|image_(?:safety|recitation|prohibited_content)|pup_limited_disabled|guardrails?(?:_\w+)?|error_toxic|sensitive"
    r"|(?:content_)?(?:blocked|moderat(?:ed|ion))"
)
"""Names of the finish reason by OpenAI and Azure, Gemini and Vertex, Bedrock, Cohere, Zhipu, and gateways."""
_REFUSED: Final = frozenset({REFUSAL, "refused"})


def ending(reply: Reply) -> Ending:
    """Return how a reply ended, as its server reports; a reply without a finish reason counts as complete.

    Unknown reasons (an abort, a tool call) mean that the reply is incomplete. A reply of only tool calls is
    complete, without text.
    """
    reason = _normalise_reason(reply.finish_reason or "stop")
    if reason in _WHOLE or (reason in _TOOLS and not reply.text.strip()):
        return "whole"
    if reason in _REFUSED:
        return "refused"
    return "content_filter" if _FILTERED.fullmatch(reason) else "truncated"


def is_filtered(reason: str | None) -> bool:
    """Return whether a finish reason means that a filter or the model's refusal ended the reply."""
    return reason is not None and (
        _normalise_reason(reason) in _REFUSED or _FILTERED.fullmatch(_normalise_reason(reason)) is not None
    )


@lru_cache(maxsize=64)
def _normalise_reason(reason: str) -> str:
    """Normalise a reason's spelling (``EndTurn``, ``content-filter``, ``FinishReason.SAFETY``)."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]", "_", reason.strip())
    return re.sub(r"^(?:finish|stop)_?reason[._]", "", snake.lower()).partition(":")[0]


# -- The client's journal: every attempt is stored before it is sent, and every reply is kept.


class JournaledCall(Struct, frozen=True, kw_only=True):
    """A request that is about to be sent.

    Attributes:
        key: sha256 of the canonical request, the server's identity and the sample's index.
        server: The server's identity: its name, or its address.
        request: sha256 of the canonical request.
        body: The exact bytes to send.
        url: The address, without the key.
    """

    key: bytes
    server: str
    request: bytes
    body: bytes
    profile: str
    model: str
    sample: int
    url: str


class Response(Struct, frozen=True, kw_only=True):
    """A successful response as received.

    Attributes:
        body: The raw bytes of the server's answer.
        task: How the bytes are to be parsed: ``"chat"`` or one of `records.Task`.
        usage: Usage as read from the body, with the cost.
        ms: Milliseconds from sending to the last byte.
        origin: Where a recorded reply comes from, if a replay server reports it; else None.
    """

    profile: str
    task: str
    body: bytes
    usage: Usage
    ms: float
    origin: str | None = None


class RunUsed(Struct, frozen=True, kw_only=True):
    """Usage of a run so far, over all its starts.

    Attributes:
        calls: Attempts that were sent, failed ones included.
        possibly_paid: Attempts whose outcome is unknown.
        tokens: Prompt and completion tokens.
        cost: US dollars, as far as known.
    """

    calls: int = 0
    possibly_paid: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, more: RunUsed) -> RunUsed:
        return RunUsed(
            calls=self.calls + more.calls,
            possibly_paid=self.possibly_paid + more.possibly_paid,
            tokens=self.tokens + more.tokens,
            cost=self.cost + more.cost,
        )


class Journal(Protocol):
    """Stores calls; every coroutine returns once its entry is committed."""

    def recall(self, key: bytes) -> Response | None:
        """Return the stored response to a key, of any run, or None; unusable responses are ignored."""
        ...

    def refused(self, key: bytes) -> CallFailed | None:
        """Return how a server rejected a request of this run for its content in an earlier start, else None."""
        ...

    def spent(self) -> RunUsed: ...

    def require_open(self) -> None:
        """Make sure that calls may still be made.

        Raises:
            Halt: The run is stopping.
        """
        ...

    async def begin(self, item: int, call: JournaledCall) -> int:
        """Store an attempt that is about to be sent, with its time; return its number."""
        ...

    def fail(self, attempt: int, code: FailureCode, status: int | None, detail: str, *, sent: bool = True) -> None:
        """Record how an attempt failed; it is committed with the next transaction.

        Args:
            sent: False if no server was reached.
        """
        ...

    def done(self, attempt: int, call: JournaledCall, response: Response) -> None:
        """Record a successful response; it is committed before later entries of this journal."""
        ...
