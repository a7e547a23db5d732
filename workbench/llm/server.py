"""Settings of model servers, and limits on a run's calls to them."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from msgspec import Struct, structs

from workbench.core.options import Options, option
from workbench.llm.profiles import Api

# -- Addresses of servers: what is accepted, where a call goes, what may be shown.


_QUERY = {"api-version"}
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|[0-9a-f]*:[0-9a-f:.]*")
_LONGEST = 2000


def normalised_url(url: str) -> str:
    """Return a base URL in normal form.

    Raises:
        ValueError: The URL is not an http(s) address of a server, or contains a user name or a key.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError("base_url: this is not a valid address; use one such as http://localhost:8000/v1") from error
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= _LONGEST
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host or "") or not is_plain:
        raise ValueError("base_url: use an address such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "base_url: a user name or key before the host is not allowed; put the key in an environment variable"
        )
    if parts.fragment or {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - _QUERY:
        raise ValueError("base_url: only api-version may follow a '?'; put a key in an environment variable")
    return url


@lru_cache(maxsize=64)
def join_url(base: str, path: str, query: str = "") -> str:
    parts = urlsplit(base)
    query = parts.query or query
    return SplitResult(parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{path}", query, "").geturl()


def without_version(base: str) -> str:
    """Return the base without a final ``/v1``, for servers with calls outside of it."""
    parts = urlsplit(base)
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")).geturl()


_AZURE_PATH = re.compile(r"/openai(?:/deployments/[^/]+)?\Z")


def azure_root(base: str) -> str:
    """Return Azure's base URL for calls with the model in their body: version 1, unless ``base`` has an API version."""
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path.endswith("/openai/v1"):
        path = _AZURE_PATH.sub("", path) + ("/openai" if parts.query else "/openai/v1")
    return parts._replace(path=path).geturl()


@lru_cache(maxsize=64)
def server_identity(url: str, path: str = "") -> str:
    """Return a server's identity: its address without the query, a final ``/v1`` and the path of a call.

    ``http://h:8000``, ``http://h:8000/v1/`` and a call's ``http://h:8000/v1/chat/completions`` are the same server.
    """
    parts = urlsplit(url)
    rest = parts.path.rstrip("/").removesuffix(path).rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{rest}"


def is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


DEFAULT_CONCURRENCY = 100
"""Maximum of calls in flight, unless a run configures another."""
DEFAULT_TIMEOUT_S = 600.0
"""Longest wait for a reply in seconds, unless a run configures another."""


class RequestExtras(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Additions to requests beyond the server's profile; they may change replies.

    Attributes:
        body: Fields of every chat's body; they override all other fields.
        headers: Headers of every call; ``$NAME`` is replaced by that environment variable.
        reasoning_effort: The reasoning effort, as the model's maker names it.
        max_tokens_field: The field of the maximum reply length in a chat's body.
        fold_system: Whether the system prompt is sent at the start of the user's message.
        api: The OpenAI API to use; None leaves it to the model.
    """

    body: dict[str, Any] = {}
    headers: dict[str, str] = {}
    reasoning_effort: str | None = None
    max_tokens_field: str | None = None
    fold_system: bool = False
    api: Api | None = None

    def config(self) -> dict[str, object]:
        """Return the settings as a part of a configuration; a header from a variable is included without its value."""
        settings: dict[str, object] = {
            "extra_body": self.body,
            "extra_headers": {name: "$" if value.startswith("$") else value for name, value in self.headers.items()},
            "reasoning_effort": self.reasoning_effort,
            "max_tokens_field": self.max_tokens_field,
            "fold_system": self.fold_system,
            "api": self.api,
        }
        return {name: value for name, value in settings.items() if value}


NO_EXTRAS = RequestExtras()


class Route(Struct, frozen=True, kw_only=True):
    """The network route to a server.

    Attributes:
        ca_file: Certificates of the authorities to trust instead of the default ones.
        proxy: The proxy; `FROM_ENVIRONMENT` reads variables such as ``HTTPS_PROXY``.
    """

    ca_file: str | None = None
    proxy: str | None = None


FROM_ENVIRONMENT = "environment"
DIRECT = Route()


class ModelServer(Struct, frozen=True, kw_only=True):
    """A model on a server.

    Attributes:
        profile: The server's kind, as `workbench.llm.profiles` lists them.
        base_url: Its address, such as ``http://localhost:8000/v1``.
        model: The model's name there.
        key_variable: The environment variable that holds the key; None for a server without keys. The key itself is
            read when a call is made, and neither stored nor logged.
        timeout_s: Longest wait for a reply in seconds.
        name: A name for equivalent servers: those with the same name share stored replies, whatever their addresses.
        key_file: A file whose first line is the key.
        key_command: A program and its arguments; it is run without a shell, and prints the key.
        extras: Additions to every request.
        route: The network route.
    """

    profile: str
    base_url: str
    model: str
    key_variable: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    name: str | None = None
    key_file: str | None = None
    key_command: tuple[str, ...] = ()
    extras: RequestExtras = NO_EXTRAS
    route: Route = DIRECT

    @property
    def identities(self) -> tuple[str, ...]:
        """Return what identifies the server in stored replies: its name, or else its addresses."""
        return (self.name,) if self.name else (server_identity(self.base_url),)


BATCH: Final = "batch"
"""The price tier of calls that are made in batches."""


class TokenPrices(Struct, frozen=True, kw_only=True):
    """Prices in US dollars per million tokens.

    Attributes:
        cached_input: Price of prompt tokens read from the server's cache; as ``input`` if None.
        cache_write: Price of prompt tokens written to the cache; as ``input`` if None.
        thought: Price of reasoning tokens; as ``output`` if None.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    thought: float | None = None

    def halved(self) -> TokenPrices:
        rates = ((name, getattr(self, name)) for name in TokenPrices.__struct_fields__)
        return TokenPrices(**{name: rate / 2 for name, rate in rates if rate is not None})


class Price(TokenPrices, frozen=True, kw_only=True):
    """The price of a model.

    Attributes:
        date: Date of the price (``2026-11-01``).
        others: Further prices, each with the number of tokens that the prompt must exceed (0 for any prompt) and the
            service tier ("" for the default one).
    """

    date: str
    others: tuple[tuple[int, str, TokenPrices], ...] = ()

    def rates(self, prompt: int, tier: str | None) -> TokenPrices:
        tiers = {name for _, name, _ in self.others}
        asked = tier if tier in tiers else ""
        fitting = [(above, rates) for above, name, rates in self.others if name == asked and prompt > above]
        return max(fitting, key=lambda one: one[0])[1] if fitting else self

    def in_batches(self) -> Price:
        """Return the price of calls in batches: as listed, else half, as all providers charge."""
        usual = {0: TokenPrices(**{name: getattr(self, name) for name in TokenPrices.__struct_fields__})}
        usual |= {above: rates for above, tier, rates in self.others if tier == ""}
        listed = {above: rates for above, tier, rates in self.others if tier == BATCH}
        found = {above: rates.halved() for above, rates in usual.items()} | listed
        rates = found.pop(0)
        return Price(
            **structs.asdict(rates), date=self.date, others=tuple((above, "", one) for above, one in found.items())
        )


class Limits(Options, frozen=True, kw_only=True):
    """Limits on the use of a server; None means unlimited."""

    concurrency: Annotated[int, option("maximum number of calls in flight", ge=1, le=10_000)] = DEFAULT_CONCURRENCY
    rpm: Annotated[float | None, option("maximum number of requests per minute", gt=0)] = None
    tpm: Annotated[float | None, option("maximum number of tokens per minute", gt=0)] = None
    max_calls: Annotated[int | None, option("maximum number of calls, over all starts of the run")] = None
    max_tokens_total: Annotated[int | None, option("maximum number of tokens, over all starts of the run")] = None
    max_cost: Annotated[float | None, option("maximum cost in US dollars, over all starts of the run", ge=0)] = None


class StageLimits(Struct, frozen=True, kw_only=True):
    """Limits of one stage of a stack, in addition to those of the whole run.

    Attributes:
        name: The stage's name.
        roles: The roles of the servers it calls.
        goes_on: Whether the run continues when the budget is used up, and only the stage's calls fail.
    """

    name: str
    roles: tuple[str, ...]
    limits: Limits
    goes_on: bool = False
