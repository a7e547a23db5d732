"""Which server to ask and how hard: what a run is told about it."""

from __future__ import annotations

from msgspec import Struct

from workbench.llm.urls import place_of

DEFAULT_CONCURRENCY = 100
"""Calls in flight at most, unless a run says otherwise."""

DEFAULT_TIMEOUT_S = 600.0
"""Longest wait for a reply, unless a run says otherwise."""


class ModelServer(Struct, frozen=True, kw_only=True):
    """A model on one or several equal servers.

    Attributes:
        profile: The server's kind, as `workbench.llm.profiles` lists them.
        base_urls: Where it is, such as ``http://localhost:8000/v1``; several share the load.
        model: The model's name there.
        key_variable: The environment variable that holds the key; None for a server without keys. The key itself is
            read when a call is made, and neither stored nor logged.
        timeout_s: Longest wait for a reply, in seconds.
        name: A name for equal servers: those of one name share their replies, wherever they are.
    """

    profile: str
    base_urls: tuple[str, ...]
    model: str
    key_variable: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    name: str | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """What tells its replies apart from those of others: its name, or else its addresses."""
        return (self.name,) if self.name else tuple(sorted({place_of(url) for url in self.base_urls}))


class Price(Struct, frozen=True, kw_only=True):
    """What a model costs, in US dollars a million tokens.

    Attributes:
        cached_input: For prompt tokens from the server's cache; as ``input`` when None.
        date: When somebody looked it up (``2026-11-01``).
    """

    input: float
    output: float
    cached_input: float | None = None
    date: str


class Limits(Struct, frozen=True, kw_only=True):
    """How much a run may ask; None is no limit.

    Attributes:
        concurrency: Calls in flight at most.
        rpm: Requests a minute.
        tpm: Tokens a minute.
        max_calls: Calls in all, over every start of the run, failed ones included.
        max_tokens: Prompt and completion tokens in all.
        max_cost: US dollars in all.
    """

    concurrency: int = DEFAULT_CONCURRENCY
    rpm: float | None = None
    tpm: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
