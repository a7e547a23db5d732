"""Names of verifiers: each is bound to one configuration, and has a run a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.errors import UsageError
from workbench.core.run import ConfiguredVerifier
from workbench.runs.store import runs as stored_runs
from workbench.verifiers.base import SERVER_AT, Identified, identity, is_identity

if TYPE_CHECKING:
    import sqlite3


def bound_run(connection: sqlite3.Connection, name: str, verifier: Identified, options: dict[str, str]) -> int:
    """The run of a verifier at its version under a name, made if need be; errors as with `bind`."""
    bound = bind(connection, name, verifier, options)
    found = stored_runs.find(connection, bound, verifier.version)
    return stored_runs.add(connection, bound, verifier.version) if found is None else found.id


def bind(connection: sqlite3.Connection, name: str, verifier: Identified, options: dict[str, str]) -> int:
    """Bind a name to a configuration, unless it is bound to it already; returns the configured verifier's row id.

    Options that change no verdict (a budget, how long to wait) may differ: the ones given last are kept.

    Raises:
        UsageError: The name is bound to another configuration.
    """
    bound = stored_runs.verifier_named(connection, name)
    if bound is None:
        return stored_runs.add_verifier(
            connection,
            name=name,
            kind=verifier.name,
            options=options,
            config=verifier.config(),
            config_hash=identity(verifier),
        )
    require_same(bound, verifier)
    if bound.config_hash != identity(verifier):
        # Stored before configurations named the server.
        stored_runs.put_config(connection, bound, verifier.config(), identity(verifier))
        bound = structs.replace(bound, config=verifier.config())
    if bound.options != options:
        stored_runs.put_options(connection, bound, options)
    return bound.id


def require_same(bound: ConfiguredVerifier, verifier: Identified) -> None:
    """Make sure that what a name is bound to is this.

    Raises:
        UsageError: The name is bound to another configuration.
    """
    if not is_identity(verifier, bound.config_hash):
        moved = f" If it is the same server at another address: -o server_name={_place(bound)}" if _place(bound) else ""
        raise UsageError(
            f"The name {bound.name!r} has another configuration: {_difference(bound, verifier)}.",
            f"Give this one a name of its own with --name.{moved}",
        )


def _place(bound: ConfiguredVerifier) -> str | None:
    places = bound.config.get(SERVER_AT)
    return str(places[0]) if isinstance(places, list) and len(places) == 1 else None


def _difference(bound: ConfiguredVerifier, verifier: Identified) -> str:
    if bound.kind != verifier.name:
        return f"it is {bound.kind}, not {verifier.name}"
    asked = verifier.config()
    keys = sorted(key for key in bound.config.keys() | asked.keys() if bound.config.get(key) != asked.get(key))
    return ", ".join(f"{key} is {bound.config.get(key)!r}, not {asked.get(key)!r}" for key in keys)
