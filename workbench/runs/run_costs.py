"""What runs on model servers cost: what was spent, what may have been, what is to come, and an estimate before all."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from workbench.config.prices import prices_of
from workbench.core.calls import Amount, Estimate, RunCosts
from workbench.core.database.secrets import secret
from workbench.core.project import Project
from workbench.core.run import RunInfo, RunUsage
from workbench.core.selection import Selection
from workbench.core.verdict import VerifierInput
from workbench.runs.choosing import choose, make
from workbench.runs.store import calls, verdicts
from workbench.runs.store import runs as stored_runs
from workbench.verifiers.base import ServedVerifier

if TYPE_CHECKING:
    from workbench.llm.budget import CallEstimate as CallEstimate

_SAMPLE = 16
"""Items whose requests are made up to estimate by."""


def run_costs(project: Project, info: RunInfo) -> RunCosts:
    """What a run has used, may have used and still needs; a local run attempts each item once, here."""
    used = info.usage
    if used is None:
        nothing = Amount(calls=0, tokens=0, cost=0.0)
        states = {"unsent": 0, "sent": 0, "failed": 0, "done": info.done}
        return RunCosts(attempts=states, ambiguous=[], spent=nothing, possibly_spent=nothing, to_finish=None)
    at_work = info.state == "running" and info.alive
    ambiguous = calls.open_attempts(project.database.reader(), info.run, lost=at_work)
    return RunCosts(
        attempts={"unsent": used.unsent, "sent": used.open, "failed": used.failed, "done": used.answered},
        ambiguous=ambiguous,
        spent=_like(used, used.answered),
        possibly_spent=_like(used, len(ambiguous) + used.unsure),
        to_finish=_like(used, math.ceil((info.items - info.done) * used.answered / info.done)) if info.done else None,
    )


def _like(used: RunUsage, count: int) -> Amount:
    """So many calls like those that were answered."""
    share = count / used.answered if used.answered else 0.0
    tokens = round((used.prompt_tokens + used.completion_tokens) * share)
    return Amount(calls=count, tokens=tokens, cost=None if used.unpriced else (used.cost or 0.0) * share)


def estimate(
    project: Project, kind: str, options: dict[str, str], name: str | None, selection: Selection
) -> Estimate | None:
    """What a run is about to use; None for a verifier that asks no server. Arguments as with ``verifying.start``.

    The requests about some of the items are made up and counted; nothing is sent.

    Raises:
        UsageError: There is no such kind, option or field.
        VerifierError: The verifier can't be used.
    """
    chosen = choose(project, kind, options, name)
    verifier = make(chosen)
    if verifier.isolation != "served":
        return None
    served, reader = cast("ServedVerifier", verifier), project.database.reader()
    bound = stored_runs.verifier_named(reader, chosen.name)
    run = None if bound is None else stored_runs.find(reader, bound.id, verifier.version)
    counts = verdicts.of_selection(reader, 0 if run is None else run.id, selection)
    items = counts.items - counts.stored
    made = math.ceil(items * served.calls_per_item())
    some = verdicts.spread(project.database, selection, counts.items, _SAMPLE)
    sample = asyncio.run(_calls_about(project, served, some)) if items else []
    each = made / len(sample) if sample else 0.0
    priced = _all_priced(project, served)
    return Estimate(
        items=items,
        stored=counts.stored,
        calls=made,
        prompt_tokens=round(each * sum(call.prompt for call in sample)),
        completion_tokens=round(each * sum(call.completion for call in sample)),
        cost=each * sum(call.cost for call in sample) if priced else None,
    )


async def _calls_about(
    project: Project, verifier: ServedVerifier, items: Iterable[VerifierInput]
) -> list[CallEstimate]:
    """What the calls about some items take, each by itself."""
    from workbench.llm.clock import Clock
    from workbench.llm.lane import Lane
    from workbench.verifiers.judges.preview import preview

    servers = verifier.servers()
    prices = prices_of(project.path, (server.model for server in servers.values()))
    lanes = {role: Lane(server, prices.get(server.model), Clock()) for role, server in servers.items()}
    key = secret(project.database.reader())
    found = []
    for item in items:
        # What goes wrong here will go wrong in the run, item by item, and is said there.
        with suppress(Exception):
            planned = await preview(verifier, item, key)
            found += [lanes[one.role].prepare(one.request, 0).estimate for one in planned]
    return found


def _all_priced(project: Project, verifier: ServedVerifier) -> bool:
    models = {server.model for server in verifier.servers().values()}
    return models == prices_of(project.path, models).keys()
