"""One endpoint as the caller uses it: its address, headers and request format, and whether it answers."""

from __future__ import annotations

import asyncio
import hashlib
import re
import tomllib
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct, structs

from workbench.core.errors import UsageError
from workbench.llm import server as urls
from workbench.llm.dialects import CHAT_PATHS, Built, build
from workbench.llm.failures import AttemptFailed
from workbench.llm.gate import (
    ASSUMED_REPLY_TOKENS,
    CHARACTERS_A_TOKEN,
    MAX_REQUESTED_WAIT_S,
    POLL_S,
    CallEstimate,
    Gate,
    backoff_s,
    cost_of,
)
from workbench.llm.keys import KeySource
from workbench.llm.profiles import profile_for_model
from workbench.llm.records import RESUME, CallFailed, Chat, FailureCode, Halt, JournaledCall, Request, Usage
from workbench.llm.server import ModelServer, Price
from workbench.llm.transport import Received, Transport
from workbench.llm.waits import Clock

# -- Whether a server answers.


MAX_STREAK_WEIGHT: Final = 25
"""Weight of consecutive failed calls at which no new call begins."""
_WEIGHT: Final = 5
_WEIGHTS: Final[dict[FailureCode, int]] = {"context_length": 1, "content_filter": 1}
"""Failures that a single text may cause weigh less; five calls of any other kind are enough."""


ADVICE: Final = tomllib.loads(Path(__file__).with_name("advice.toml").read_text(encoding="utf-8"))


def advice_on(failure: CallFailed, otherwise: str) -> str:
    """Return the remedy that the message of a rejected call indicates; `otherwise` if it indicates none."""
    told = (advice for pattern, advice in ADVICE["rejected"] if re.search(pattern, failure.detail, re.IGNORECASE))
    return next(told, otherwise) if failure.code == "bad_request" else otherwise


def _advice(failure: CallFailed) -> str:
    otherwise = "Check the key" if failure.code == "auth" else "Check model, options and base_url"
    return f"{advice_on(failure, otherwise).removesuffix('.')}, then {RESUME}."


MIN_REJECTIONS: Final = 3
"""Minimum rejections, and at least half of the calls since the first of them, that indicate a general rejection."""


class Breaker:
    """The circuit breaker of one server.

    If the server rejects everything because it is overloaded, calls wait; after a pause one is sent, and if that
    succeeds, all are. Without it, every call in flight would find out separately.

    If several calls in a row were given up and none was answered, no new call begins until the calls in flight have
    ended. If one of these gets a reply, calls go on; otherwise the run pauses, since every call would fail.

    Args:
        title: The server's name in messages.

    Attributes:
        is_open: Whether the server rejects everything.
        last_success: When it last replied, by the clock; None if it never has.
        is_replayed: Whether it is a replay server, which may lack replies to single requests.
    """

    def __init__(self, clock: Clock, title: str = "The server") -> None:
        self.is_open = self.is_replayed = False
        self.last_success: float | None = None
        self._clock = clock
        self._title = title
        self._changed = asyncio.Event()
        # Rejections in a row, and attempts since the first of them.
        self._refused = self._made = self._probes = 0
        self._began = self._until = clock.now()
        self._probing = False
        # Calls that were given up in a row, and calls in progress.
        self._weight = self._failed = self._calls = 0
        self._last: CallFailed | None = None
        self._halt: Halt | None = None

    @property
    def in_doubt(self) -> bool:
        """Return whether calls were given up since the last reply."""
        return self._failed > 0

    def silent_since(self, moment: float) -> bool:
        return self.last_success is None or self.last_success < moment

    async def begin_call(self) -> None:
        """Count a call that is about to be made, with its attempts; each needs a call of `end_call`.

        Raises:
            Halt: The server doesn't answer.
        """
        while self._weight >= MAX_STREAK_WEIGHT and self._halt is None:
            if not self._calls:
                self.halted(self.halt())
                break
            await self._wait_for_change()
        self.require_hope()
        self._calls += 1

    def end_call(self) -> None:
        self._calls -= 1
        if self._weight >= MAX_STREAK_WEIGHT and not self._calls:
            self.halted(self.halt())
        self._changed.set()

    def require_hope(self) -> None:
        """Check that the run has not halted while a call waited for its turn.

        Raises:
            Halt: The run has halted.
        """
        if self._halt is not None:
            raise self._halt

    async def ready(self) -> None:
        """Wait until an attempt may be sent; only one caller may wait at a time."""
        while self.is_open:
            if (wait := self._until - self._clock.now()) > 0:
                await self._clock.sleep(min(wait, POLL_S))
            elif not self._probing:
                self._probing = True
                break
            else:
                await self._wait_for_change()
        self._made += 1

    def refused(self, wait: float | None) -> bool:
        """Record that the server is overloaded; return whether the breaker was closed until now.

        Args:
            wait: Seconds that the server asks to wait.
        """
        was_open = self.is_open
        if not self._refused:
            self._began, self._made, self._probes = self._clock.now(), 0, 0
        self._refused += 1
        self._probes += self._probing
        self.is_open = was_open or (self._refused >= MIN_REJECTIONS and 2 * self._refused >= self._made)
        self._until = max(self._until, self._clock.now() + max(wait or 0.0, backoff_s(self._probes + 1)))
        self.ended()
        return not was_open

    def succeeded(self, made_at: float) -> None:
        """Record a reply; it doesn't end a rejection if its attempt was made before the server began to reject.

        Args:
            made_at: When the attempt was made, by the clock.
        """
        self.last_success = self._clock.now()
        self._weight = self._failed = 0
        self._last = None
        if not self._refused or made_at >= self._began:
            self._refused = 0
            self.is_open = False
            self._probing = False
        self._changed.set()

    def ended(self) -> None:
        """Record that an attempt has ended, whether or not it succeeded: another one may probe the server."""
        self._probing = False
        self._changed.set()

    def note_failure(self, failure: CallFailed) -> None:
        self._weight += 1 if self.is_replayed else _WEIGHTS.get(failure.code, _WEIGHT)
        self._failed += 1
        self._last = failure

    def halted(self, halt: Halt) -> Halt:
        """Record that no call can succeed now; return the `Halt` that was recorded first."""
        self._halt = self._halt or halt
        self._changed.set()
        return self._halt

    def halt(self) -> Halt:
        assert self._last is not None
        failure = self._last
        refused = isinstance(failure, AttemptFailed) and failure.status is not None and 400 <= failure.status < 500
        does = "refuses" if refused else "fails at"
        many = f"all {self._failed} calls" if self._failed > 1 else "the one call made"
        return Halt(failure.code, f"{self._title} {does} {many} ({failure.detail}). {_advice(failure)}")

    async def _wait_for_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


AZURE_VERSION = "api-version=2024-10-21"
"""The API version if the address names none."""
_SHORTEST_SECRET = 8
_HIDDEN = b"[key]"


class PreparedRequest(Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent.

    Attributes:
        keys: The keys of stored replies by the server's identity: sha256 of the canonical request, the identity and the
            sample's index. A server with a name has two identities: its name and its address.
        request: sha256 of the canonical request: profile, path and body.
        characters: Length of the model's input.
        count: Number of texts to be scored; None for a chat.
    """

    keys: dict[str, bytes]
    request: bytes
    built: Built
    sample: int
    estimate: CallEstimate
    characters: int
    count: int | None

    @property
    def key(self) -> bytes:
        return next(iter(self.keys.values()))


class Secrets(Struct, frozen=True):
    """Values that are sent but never stored.

    Attributes:
        headers: Headers whose values come from environment variables.
    """

    key: str | None
    headers: dict[str, str] = {}


class Endpoint:
    """The server of one role.

    Attributes:
        gate: Admits its calls; other endpoints may share it.

    Raises:
        UsageError: The server's profile or its address is wrong.
    """

    gate: Gate

    def __init__(self, server: ModelServer, price: Price | None, clock: Clock) -> None:
        try:
            self.profile = profile_for_model(server.profile, server.model, server.extras.api)
            self.base = urls.normalised_url(server.base_url)
        except ValueError as error:
            raise UsageError(str(error)) from None
        self.server = server
        self.price = price
        self.breaker = Breaker(clock, self.title)
        self._keys = KeySource(server, self.profile, clock)

    def prepare(self, request: Request, sample: int) -> PreparedRequest:
        """Return the request in the server's format.

        Raises:
            CallFailed: The server has no such call.
        """
        try:
            built = build(self.profile, self.server.model, request, sample, self.server.extras)
        except ValueError as error:
            raise CallFailed("bad_request", str(error)) from None
        parts = [self.profile.name.encode(), built.path.encode(), built.body]
        if headers := self.server.extras.headers:
            parts.append(msgspec.json.encode(headers, order="sorted"))
        digest = hashlib.sha256(b"\0".join(parts)).digest()
        return PreparedRequest(
            keys={
                place: hashlib.sha256(b"\0".join((digest, place.encode(), str(sample).encode()))).digest()
                for place in self._identities(built)
            },
            request=digest,
            built=built,
            sample=sample,
            estimate=self._estimate(request, built),
            characters=_count_characters(request),
            count=None if isinstance(request, Chat) else len(request.texts),
        )

    def _estimate(self, request: Request, built: Built) -> CallEstimate:
        reply = (request.sampling.max_tokens or ASSUMED_REPLY_TOKENS) if isinstance(request, Chat) else 0
        prompt = len(built.body) // CHARACTERS_A_TOKEN + 1
        tier = self.server.extras.body.get("service_tier")
        may_be = Usage(prompt_tokens=prompt, completion_tokens=reply, tier=tier if isinstance(tier, str) else None)
        # The prompt may be written to the server's cache, and the reply may be reasoning: either may cost more.
        costs = (
            cost_of(structs.replace(may_be, written_tokens=written, reasoning_tokens=thought), self.price)
            for written, thought in product((0, prompt), (0, reply))
        )
        return CallEstimate(prompt=prompt, completion=reply, cost=max(cost or 0.0 for cost in costs))

    def _identities(self, built: Built) -> tuple[str, ...]:
        own = urls.server_identity(self.url(built), built.path)
        return (own,) if self.server.name is None else (self.server.name, own)

    def call(self, prepared: PreparedRequest) -> JournaledCall:
        place = self._identities(prepared.built)[0]
        return JournaledCall(
            key=prepared.keys[place],
            server=place,
            request=prepared.request,
            body=prepared.built.body,
            profile=self.profile.name,
            model=self.server.model,
            sample=prepared.sample,
            url=self.url(prepared.built),
        )

    def url(self, built: Built) -> str:
        base = self.base
        if self.profile.azure_paths and built.path == CHAT_PATHS["openai-responses"]:
            return urls.join_url(urls.azure_root(base), built.path)
        if self.profile.azure_paths and not base.partition("?")[0].rstrip("/").endswith("/openai/v1"):
            deployment = "" if "/deployments/" in base else f"openai/deployments/{quote(self.server.model, safe='')}/"
            return urls.join_url(base, deployment + built.path, AZURE_VERSION)
        return urls.join_url(urls.without_version(base) if built.beside_version else base, built.path)

    @property
    def key_place(self) -> str | None:
        """Describe where the key is; None for a server without key."""
        return self._keys.place

    async def secrets(self, environment: Mapping[str, str]) -> Secrets:
        """Return the key, and the values of environment variables in headers.

        Raises:
            Halt: A value is missing, or can't be sent.
        """
        key = await self._keys.key(self.title, environment)
        headers = {name: value for name, value in self.server.extras.headers.items() if value.startswith("$")}
        held = {name: environment.get(value[1:], "").strip() for name, value in headers.items()}
        for name, value in held.items():
            if not value or not (value.isascii() and value.isprintable()):
                variable = headers[name][1:]
                raise Halt("auth", f"{self.title} is sent the header {name} from {variable}: set this variable.")
        return Secrets(key, held)

    def headers(self, secrets: Secrets) -> dict[str, str]:
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "verifier-workbench",
            **self.profile.headers,
        }
        if secrets.key is not None and self.profile.auth == "bearer":
            headers["authorization"] = f"Bearer {secrets.key}"
        elif secrets.key is not None:
            headers[self.profile.auth] = secrets.key
        return headers | self.server.extras.headers | secrets.headers

    async def exchange(
        self, transport: Transport, secrets: Secrets, url: str, body: bytes | None, timeout_s: float | None = None
    ) -> Received:
        """Send a request and return the response without secrets; raises as `Transport.send` does."""
        server = self.server
        sent = transport.send(
            url,
            self.headers(secrets),
            body,
            server.timeout_s if timeout_s is None else timeout_s,
            route=server.route,
        )
        return without_secrets(secrets, await sent)

    @property
    def title(self) -> str:
        return f"The server at {self.base} (profile {self.profile.name})"

    def refusal(self, failure: AttemptFailed) -> Halt:
        if failure.code == "quota" or (failure.wait or 0.0) > MAX_REQUESTED_WAIT_S:
            return Halt(
                "quota", f"{self.title} says that a quota is used up ({failure.detail}). {RESUME.capitalize()} later."
            )
        key = f" with the key in {self.key_place}" if self.key_place else ""
        return Halt(failure.code, f"{self.title} rejects calls{key} ({failure.detail}). {_advice(failure)}")

    @property
    def sends_key_in_clear(self) -> bool:
        return self.base.startswith("http://") and not urls.is_local(self.base)


def without_secrets(secrets: Secrets, received: Received) -> Received:
    """Return a response without secrets that the server may quote; short placeholders such as "EMPTY" stay."""
    body, headers = received.body, dict(received.headers)
    for secret in filter(None, (secrets.key, *secrets.headers.values())):
        if len(secret) >= _SHORTEST_SECRET:
            # JSON has two spellings of a slash.
            body = body.replace(secret.encode(), _HIDDEN).replace(secret.replace("/", "\\/").encode(), _HIDDEN)
            headers = {name: value.replace(secret, _HIDDEN.decode()) for name, value in headers.items()}
    return Received(received.status, headers, body)


def _count_characters(request: Request) -> int:
    if isinstance(request, Chat):
        return sum(len(message.content) for message in request.messages)
    return sum(map(len, request.texts)) + len(request.query or "")
