"""Whether the servers of a verifier answer as they should, in words."""

from __future__ import annotations

import asyncio
from typing import Literal, cast

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import VerifierInput
from workbench.llm.check import ServerFinding, check
from workbench.llm.records import Numbers, Request, Scoring
from workbench.llm.server import ModelServer
from workbench.runs.choosing import choose, make
from workbench.runs.trust import require_trust
from workbench.verifiers.base import ServedVerifier
from workbench.verifiers.judges.preview import preview

Kind = Literal["chat"] | Numbers
"""What a server is used for."""

_ANY = VerifierInput(item=0, question="1 + 1?", reference="2", completion="2")
"""Any item will do to see what a verifier asks whom for."""


class CheckedServer(Struct, frozen=True, kw_only=True):
    """What was found about one server of a verifier.

    Attributes:
        roles: What the verifier asks it for (``"judge"`` ...).
    """

    roles: list[str]
    base_urls: tuple[str, ...]
    model: str
    findings: list[ServerFinding]


def check_servers(project: Project, kind: str, options: dict[str, str], *, trust: bool = False) -> list[CheckedServer]:
    """Ask the servers of a verifier what they can do, and try a call.

    Args:
        kind: A kind, or the name of a verifier in ``workbench.toml`` or the database.
        options: Option values, over those of the name.
        trust: Whether the user accepts servers that a file or the database names.

    Raises:
        UsageError: There is no such verifier or option, or it asks no server.
        NotTrustedError: The user has not accepted the servers.
        VerifierError: The verifier can't be used.
    """
    choice = choose(project, kind, options)
    verifier = make(choice)
    if verifier.isolation != "served":
        raise UsageError(f"{choice.name!r} asks no model server.", "Verifiers that do: llm-judge, reward-model.")
    require_trust(project, verifier, choice.options, accept=trust or choice.own)
    return asyncio.run(_check(cast("ServedVerifier", verifier)))


async def _check(verifier: ServedVerifier) -> list[CheckedServer]:
    tasks = {one.role: _task(one.request) for one in await preview(verifier, _ANY, b"\0" * 32)}
    servers = verifier.servers()
    found: dict[tuple[ModelServer, Kind], list[str]] = {}
    for role, server in servers.items():
        found.setdefault((server, tasks.get(role, "chat")), []).append(role)
    return [
        CheckedServer(roles=roles, base_urls=server.base_urls, model=server.model, findings=await check(server, task))
        for (server, task), roles in found.items()
    ]


def _task(request: Request) -> Kind:
    return request.task if isinstance(request, Scoring) else "chat"
