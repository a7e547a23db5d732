"""One role's server as the caller sees it: addresses, headers, requests in its form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.llm import urls
from workbench.llm.budget import ASSUMED_REPLY, CHARACTERS_A_TOKEN, CallEstimate, cost_of
from workbench.llm.clock import Clock
from workbench.llm.dialects import Built, build
from workbench.llm.journal import JournaledCall
from workbench.llm.profiles import profile_named
from workbench.llm.records import CallFailed, Chat, Halt, Request, Usage
from workbench.llm.server import ModelServer, Price
from workbench.llm.transport import Received
from workbench.llm.trial import Trial

AZURE_VERSION = "api-version=2024-10-21"
"""Used when the address names none."""

_LONGEST_REST_S = 30.0
_SHORTEST_SECRET = 8
_HIDDEN = b"[key]"


class PreparedRequest(Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent to any of a server's addresses.

    Attributes:
        keys: sha256 of the canonical request, the server's place and the sample's index, by place: what a stored reply
            is found by. A server has several places where it has several addresses, or a name beside them.
        request: sha256 of the canonical request: profile, path and body.
        characters: Length of what the model is to read.
        count: Texts that are to be scored; None for a chat.
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
        """The first of them."""
        return next(iter(self.keys.values()))


class ServerAddress(Struct):
    """One base URL."""

    base: str
    in_flight: int = 0
    failures: int = 0
    rests_until: float = 0.0


class Lane:
    """A role's server.

    Raises:
        UsageError: Its profile or an address is wrong.
    """

    def __init__(self, server: ModelServer, price: Price | None, clock: Clock) -> None:
        try:
            self.profile = profile_named(server.profile)
            self.addresses = [ServerAddress(base=urls.checked(base)) for base in server.base_urls]
        except ValueError as error:
            raise UsageError(str(error)) from None
        if not self.addresses:
            raise UsageError(f"The server of {server.model!r} has no base_url.")
        self.server = server
        self.price = price
        self.last_success: float | None = None
        self.trial = Trial(self.title)
        self._clock = clock

    def prepare(self, request: Request, sample: int) -> PreparedRequest:
        """The request in the server's form.

        Raises:
            CallFailed: The server has no such call.
        """
        try:
            built = build(self.profile, self.server.model, request, sample)
        except ValueError as error:
            raise CallFailed("bad_request", str(error)) from None
        parts = (self.profile.name.encode(), built.path.encode(), built.body)
        digest = hashlib.sha256(b"\0".join(parts)).digest()
        places = dict.fromkeys(place for address in self.addresses for place in self._places(built, address))
        return PreparedRequest(
            keys={place: reply_key(digest, place, sample) for place in places},
            request=digest,
            built=built,
            sample=sample,
            estimate=self._estimate(request, built),
            characters=_characters(request),
            count=None if isinstance(request, Chat) else len(request.texts),
        )

    def _estimate(self, request: Request, built: Built) -> CallEstimate:
        reply = (request.sampling.max_tokens or ASSUMED_REPLY) if isinstance(request, Chat) else 0
        prompt = len(built.body) // CHARACTERS_A_TOKEN + 1
        cost = cost_of(Usage(prompt_tokens=prompt, completion_tokens=reply), self.price)
        return CallEstimate(prompt=prompt, completion=reply, cost=cost or 0.0)

    def _places(self, built: Built, address: ServerAddress) -> tuple[str, ...]:
        """A name goes before addresses, whose replies it takes over."""
        own = urls.place_of(self.url(built, address.base), built.path)
        return (own,) if self.server.name is None else (self.server.name, own)

    def call(self, prepared: PreparedRequest, address: ServerAddress) -> JournaledCall:
        """What the journal keeps of an attempt."""
        place = self._places(prepared.built, address)[0]
        return JournaledCall(
            key=prepared.keys[place],
            server=place,
            request=prepared.request,
            body=prepared.built.body,
            profile=self.profile.name,
            model=self.server.model,
            sample=prepared.sample,
            url=self.url(prepared.built, address.base),
        )

    def url(self, built: Built, base: str) -> str:
        """Where a request goes at one of the addresses."""
        if self.profile.azure_paths and not base.partition("?")[0].rstrip("/").endswith("/openai/v1"):
            deployment = "" if "/deployments/" in base else f"openai/deployments/{quote(self.server.model, safe='')}/"
            return urls.endpoint(base, deployment + built.path, AZURE_VERSION)
        return urls.endpoint(urls.without_version(base) if built.beside_version else base, built.path)

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key."""
        return self.server.key_variable or self.profile.key_variable

    def key(self, environment: Mapping[str, str]) -> str | None:
        """The key, or None for a server without.

        Raises:
            Halt: It is missing, or can't be sent.
        """
        variable = self.key_variable
        key = environment.get(variable, "").strip() if variable else ""
        if key and not (key.isascii() and key.isprintable()):
            raise Halt("auth", f"The key in {variable} holds characters that can't be sent. Set the variable anew.")
        if not key and (self.server.key_variable or self.profile.key_required):
            where = f"in the environment variable {variable}"
            raise Halt("auth", f"{self.title} wants a key {where}, which is not set. Set it and resume the run.")
        return key or None

    def headers(self, key: str | None) -> dict[str, str]:
        """Everything that is sent along with a body."""
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "verifier-workbench",
            **dict(self.profile.headers),
        }
        if key is not None and self.profile.auth == "bearer":
            headers["authorization"] = f"Bearer {key}"
        elif key is not None:
            headers[self.profile.auth] = key
        return headers

    @property
    def title(self) -> str:
        """The server in words."""
        return f"The server at {self.addresses[0].base} (profile {self.profile.name})"

    @property
    def sends_key_in_clear(self) -> bool:
        """Whether a key would cross a network without encryption."""
        return any(address.base.startswith("http://") and not urls.is_local(address.base) for address in self.addresses)

    def choose(self) -> ServerAddress:
        """The address with the fewest calls in flight that doesn't rest, or the one that rests no longer first."""
        now = self._clock.now()
        return min(self.addresses, key=lambda one: (max(one.rests_until - now, 0.0), one.in_flight))

    def succeeded(self, address: ServerAddress) -> None:
        """A whole reply came from an address."""
        address.failures = 0
        address.rests_until = 0.0
        self.last_success = self._clock.now()
        self.trial.succeeded()

    def silent_since(self, moment: float) -> bool:
        """Whether no reply has come since then, by the clock."""
        return self.last_success is None or self.last_success < moment

    def failed(self, address: ServerAddress) -> None:
        """An address didn't answer or reported an error of its own: others are asked for a while."""
        address.failures += 1
        address.rests_until = self._clock.now() + min(_LONGEST_REST_S, 2.0 ** min(address.failures - 1, 10))


def reply_key(request: bytes, place: str, sample: int) -> bytes:
    """What a reply to a request's sample at one place is stored under."""
    return hashlib.sha256(b"\0".join((request, place.encode(), str(sample).encode()))).digest()


def without_key(key: str | None, received: Received) -> Received:
    """A response without the key, should the server quote it; short dummies such as "EMPTY" are no secrets."""
    if key is None or len(key) < _SHORTEST_SECRET:
        return received
    # JSON may spell a slash in two ways.
    body = received.body.replace(key.encode(), _HIDDEN).replace(key.replace("/", "\\/").encode(), _HIDDEN)
    headers = {name: value.replace(key, _HIDDEN.decode()) for name, value in received.headers.items()}
    return Received(received.status, headers, body)


def _characters(request: Request) -> int:
    if isinstance(request, Chat):
        return sum(len(message.content) for message in request.messages)
    return sum(map(len, request.texts)) + len(request.query or "")
