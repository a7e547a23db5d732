"""A project's permissions: the user approves the servers, key variables and templates of a verifier once.

Running foreign code without full isolation is approved each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from workbench.config import trust
from workbench.config.trust import UNSAFE, Grant, NotTrustedError, UnsafeError

if TYPE_CHECKING:
    from workbench.core.code import Level
    from workbench.core.project import Project
    from workbench.llm.server import ModelServer
    from workbench.verifiers.base import AnyVerifier, SandboxedVerifier, ServedVerifier

__all__ = [
    "Grant",
    "NotTrustedError",
    "UnsafeError",
    "needed_grants",
    "require_level",
    "require_servers",
    "require_trust",
]


def require_trust(project: Project, verifier: AnyVerifier, options: Mapping[str, str], *, accept: bool) -> None:
    """Check that the user has approved the servers, template or interpreter of a verifier, or approve them now.

    Args:
        project: The project; the approval applies to its database only.
        verifier: The verifier; it needs approval if it calls servers, loads a model or starts an interpreter.
        options: The verifier's options.
        accept: Whether the user approves it: with ``--trust``, or by giving every option explicitly.

    Raises:
        NotTrustedError: The user has not approved the verifier; nothing may be sent.
        UsageError: The template can't be read, or the user's configuration folder can't be written.
    """
    _require_grants(project, needed_grants(verifier, options), accept)


def require_servers(project: Project, servers: Mapping[str, ModelServer], *, accept: bool) -> None:
    """Check the approval of servers by role, whoever calls them; see `require_trust`."""
    _require_grants(project, trust.grants_of(servers, {}), accept)


def require_level(project: Project, wanted: str, *, allow_unsafe: bool, scratch: bool = False) -> Level:
    """Return the isolation level for foreign code here, if it may be run at all.

    Args:
        wanted: A `Level`, or ``"best"`` for the highest that this machine supports.
        allow_unsafe: Whether the user has approved it now (``--allow-unsafe-execution``); this is remembered for the
            runner's current work only.
        scratch: Whether programs need a writable folder.

    Raises:
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError: This machine doesn't support the level, or no writable folder.
        VerifierError: The level has no writable folder.
    """
    # Determining the level may require trying it.
    from workbench.verifiers.execution.levels import level_of

    level = level_of(wanted, allow_unsafe=allow_unsafe, scratch=scratch)
    if level == "L1":
        trust.accept_grants(project.path, [UNSAFE])
    return level


def _require_grants(project: Project, grants: list[Grant], accept: bool) -> None:
    if accept:
        trust.accept_grants(project.path, grants)
    else:
        trust.require_grants(project.path, grants)


def needed_grants(verifier: AnyVerifier, options: Mapping[str, str]) -> list[Grant]:
    if verifier.isolation == "served":
        servers = cast("ServedVerifier", verifier).servers()
        return [*trust.grants_of(servers, options), *trust.model_grants(verifier)]
    if verifier.isolation == "sandbox":
        interpreter = cast("SandboxedVerifier", verifier).interpreter
        return [] if interpreter is None else [trust.interpreter_grant(interpreter)]
    return trust.model_grants(verifier)
