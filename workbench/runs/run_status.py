"""Return the state of runs, wait for a run to end, estimate usage, and delete runs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct, structs

from workbench.config.models import prices_of
from workbench.core.database import states
from workbench.core.database.hashes import secret
from workbench.core.errors import Command, RunError, UsageError
from workbench.core.options import record_from
from workbench.core.project import Project, at_one_moment
from workbench.core.run import ACTIVE, GENERATION, IMPORTED, Amount, Estimate, RunCosts, RunInfo, RunUsage
from workbench.core.selection import Selection
from workbench.core.verdict import VerifierInput
from workbench.runs.lease import Notice, ensure_runner, is_alive, log_path, look, waiting
from workbench.runs.store import batches, calls, verdicts
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts as stored_verdicts
from workbench.runs.store.calls import has_recorded
from workbench.runs.store.runs import RunRow

if TYPE_CHECKING:
    import sqlite3

    from workbench.llm.gate import CallEstimate as CallEstimate
    from workbench.verifiers.base import ServedVerifier


_POLL_S = 0.2
_RESTARTS = 3
_MAX_FAILURES = 5


@at_one_moment
def run_info(project: Project, run: int) -> RunInfo:
    """Return a run with its verdicts counted by outcome and by reason, and their provenance.

    Raises:
        UsageError: There is no such run.
    """
    reader = project.database.reader()
    info = _summary(project, run_row(reader, run), look(project.path))
    verdicts = stored_verdicts.by_outcome(reader, run)
    reasons, recorded = stored_verdicts.by_reason(reader, run), has_recorded(reader, run)
    return structs.replace(
        info,
        verdicts=verdicts,
        reasons=reasons,
        timeouts=stored_verdicts.by_timeout(reader, run),
        failures=_failure_lines(reader, run) if verdicts["error"] else [],
        untested=_untested_message(reader, run) if "broken_tests" in reasons else None,
        recorded=recorded,
        isolations=stored_verdicts.levels(reader, run) or None,
        provenance=stored_runs.of_run(reader, run),
    )


def _failure_lines(connection: sqlite3.Connection, run: int) -> list[str]:
    found = stored_verdicts.failures(connection, run, _MAX_FAILURES)
    return [f"{count:,} × {reason}: {words}" if words else f"{count:,} × {reason}" for reason, words, count in found]


def _untested_message(connection: sqlite3.Connection, run: int) -> str:
    problems, error = stored_verdicts.untested(connection, run)
    which = "every test of 1 problem" if problems == 1 else f"every test of {problems:,} problems"
    return f"{which} is broken{f': {error}' if error else ''}"


def runs(project: Project) -> list[RunInfo]:
    """Return all runs, oldest first, without counts by outcome; cheap enough to call every second."""
    reader = project.database.reader()
    runner, items = look(project.path), states.count_visible_items(reader)
    return [_with_new_items(_summary(project, row, runner), items) for row in stored_runs.every(reader)]


def _with_new_items(info: RunInfo, items: int) -> RunInfo:
    if info.state != "complete" or info.kind in (GENERATION, IMPORTED) or info.selection != str(Selection()):
        return info
    return info if items <= info.items else structs.replace(info, new=items - info.items)


def wait(project: Project, run: int, on_progress: Callable[[RunInfo], None] | None = None) -> RunInfo:
    """Wait until a run is no longer in progress; if its runner dies, start another.

    Args:
        on_progress: Called a few times a second with the run's state.

    Raises:
        UsageError: There is no such run.
        RunError: No runner starts, or runners repeatedly end without a new verdict.
    """
    watch = Watch(project)
    starts, done = 0, -1
    while True:
        began = time.monotonic()
        info = watch.run(run)
        cost = time.monotonic() - began
        if on_progress is not None:
            on_progress(info)
        if info.state not in ACTIVE:
            return run_info(project, run)
        if info.done != done:
            starts, done = 0, info.done
        if not info.alive:
            starts += 1
            if starts > _RESTARTS:
                raise _give_up(project, run)
            ensure_runner(project.database)
        # With a million verdicts counting takes a while; leave the machine to the runner.
        time.sleep(max(_POLL_S, 4 * cost))


_WINDOW_S: Final = 60.0
"""Length of the look-back window, in seconds."""
_LEAST_STEPS: Final = 3
_LEAST_S: Final = 5.0
"""Observations needed before a run's end is estimated."""
_LONGEST_PAUSE: Final = 5.0
"""A run counts as stalled after this many times its usual interval between commits."""


class RunPace:
    """The rate of one run.

    Verdicts are committed in groups, so their number stalls and then jumps. The rate is computed only from moments at
    which the number has grown.
    """

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()
        self._begin: int | None = None

    def observe(self, now: float, done: int) -> None:
        """Record the number of finished items; times are seconds of a monotonic clock."""
        if self._begin is None or (self._steps and done < self._steps[-1][1]):
            self._steps.clear()
            self._begin = done
        elif done > (self._steps[-1][1] if self._steps else self._begin):
            self._steps.append((now, done))
        while len(self._steps) > _LEAST_STEPS and self._steps[1][0] < now - _WINDOW_S:
            self._steps.popleft()

    def rate(self, now: float) -> float | None:
        if len(self._steps) < 2:
            return None
        (first, before), (last, done) = self._steps[0], self._steps[-1]
        took = last - first
        if not took or now - last > _LONGEST_PAUSE * max(took / (len(self._steps) - 1), 1.0):
            return None
        return (done - before) / took

    def remaining_seconds(self, now: float, items: int) -> float | None:
        """Return the seconds until ``items`` are done; None if the rate is unknown, or too little has been observed."""
        rate = self.rate(now)
        if rate is None or len(self._steps) < _LEAST_STEPS or self._steps[-1][0] - self._steps[0][0] < _LEAST_S:
            return None
        last, done = self._steps[-1]
        return max((items - done) / rate - (now - last), 0.0)


class Watch:
    """Reports the state of runs repeatedly, with rates estimated from earlier calls."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._paces: dict[int, RunPace] = {}

    def run(self, run: int) -> RunInfo:
        """Return one run without counts by outcome, with its rate and remaining time.

        Raises:
            UsageError: There is no such run.
        """
        return self._with_rate(run_info_without_counts(self._project, run))

    def runs(self) -> list[RunInfo]:
        return [self._with_rate(info) for info in runs(self._project)]

    def _with_rate(self, info: RunInfo) -> RunInfo:
        if info.state != "running":
            self._paces.pop(info.run, None)
            return info
        now = time.monotonic()
        pace = self._paces.setdefault(info.run, RunPace())
        pace.observe(now, info.done)
        return structs.replace(info, rate=pace.rate(now), eta=pace.remaining_seconds(now, info.items))


def run_row(connection: sqlite3.Connection, run: int) -> RunRow:
    """Return a run's row.

    Raises:
        UsageError: There is no such run.
    """
    row = stored_runs.get(connection, run)
    if row is None:
        known = ", ".join(str(found.id) for found in stored_runs.every(connection)) or "none yet"
        raise UsageError(f"There is no run {run}.", f"Runs: {known}.")
    return row


def run_info_without_counts(project: Project, run: int) -> RunInfo:
    """Return a run without counts by outcome.

    Raises:
        UsageError: There is no such run.
    """
    reader = project.database.reader()
    return _summary(project, run_row(reader, run), look(project.path))


def _summary(project: Project, row: RunRow, runner: tuple[Notice, bool]) -> RunInfo:
    connection = project.database.reader()
    done = row.items if row.state == "complete" else stored_verdicts.count(connection, row.id)
    notice, alive = runner
    pid = notice.pid if row.state == "running" else None
    return record_from(
        RunInfo,
        row,
        run=row.id,
        verifier=row.verifier.name,
        kind=row.verifier.kind,
        selection=str(row.selection),
        done=done,
        pid=pid,
        heartbeat=None if pid is None else _timestamp(notice.heartbeat),
        alive=alive,
        waiting=waiting(notice) or _batch_message(connection, row.id) if alive and row.state in ACTIVE else None,
        usage=calls.get(connection, row.id),
    )


def _batch_message(connection: sqlite3.Connection, run: int) -> str | None:
    sent = batches.pending_batches(connection, run)
    if not sent:
        return None
    count, states = sum(batch.calls for batch in sent), {batch.status or "sent" for batch in sent}
    what = "a batch" if len(sent) == 1 else f"{len(sent)} batches"
    return f"waiting for {what} of {count:,} calls ({', '.join(sorted(states))})"


def _timestamp(seconds: float) -> str | None:
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        # The stored value may be anything.
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _give_up(project: Project, run: int) -> RunError:
    message = f"The background runner ended {_RESTARTS} times without a new verdict."
    with project.database.write() as connection:
        if not is_alive(project.path):
            stored_runs.end_run(connection, run, "failed", message)
    return RunError(message, f"See {log_path(project.path)}.")


# -- Costs of runs on model servers: actual, possible and remaining costs, and an estimate before the start.


_SAMPLE_ITEMS = 16
"""Number of items whose requests are built for an estimate."""


def run_costs(project: Project, info: RunInfo) -> RunCosts:
    """Return the actual, possible and remaining usage of a run; for a local run, each item counts as one attempt."""
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
        spent=_proportional_usage(used, used.answered),
        possibly_spent=_proportional_usage(used, len(ambiguous) + used.unsure),
        batches=batches.pending_batches(project.database.reader(), info.run),
        to_finish=_proportional_usage(used, math.ceil((info.items - info.done) * used.answered / info.done))
        if info.done
        else None,
    )


def _proportional_usage(used: RunUsage, count: int) -> Amount:
    share = count / used.answered if used.answered else 0.0
    tokens = round((used.prompt_tokens + used.completion_tokens) * share)
    return Amount(calls=count, tokens=tokens, cost=None if used.unpriced else (used.cost or 0.0) * share)


def estimate(
    project: Project,
    kind: str,
    options: dict[str, str],
    name: str | None,
    selection: Selection,
    *,
    in_batches: bool = False,
) -> Estimate | None:
    """Estimate a run's usage; None for a verifier without servers. For the arguments see ``verifying.start``.

    The requests about some of the items are built and counted; nothing is sent.

    Raises:
        UsageError: There is no such kind, option or field.
        VerifierError: The verifier can't be used.
    """
    from workbench.runs.choosing import construct_verifier, resolve_verifier
    from workbench.runs.store.verifier_inputs import with_rivals

    chosen = resolve_verifier(project, kind, options, name)
    verifier = construct_verifier(chosen)
    if verifier.isolation != "served":
        return None
    served, reader = cast("ServedVerifier", verifier), project.database.reader()
    bound = stored_runs.verifier_named(reader, chosen.name)
    run = None if bound is None else stored_runs.find(reader, bound.id, verifier.version)
    counts = verdicts.of_selection(reader, 0 if run is None else run.id, selection)
    items = counts.items - counts.stored
    some = verdicts.spread(project.database, selection, counts.items, _SAMPLE_ITEMS) if items else []
    compared = with_rivals(project.database, verifier, some)
    found = estimate_of(project, served, items, compared, in_batches=in_batches)
    return structs.replace(found, stored=counts.stored)


def estimate_of(
    project: Project, verifier: ServedVerifier, items: int, some: Sequence[VerifierInput], *, in_batches: bool = False
) -> Estimate:
    """Estimate the usage of calls about ``items`` items from a sample of them, ``some``.

    Raises:
        UsageError: A price is wrong.
    """
    import asyncio

    from workbench.verifiers.judges.verifier import prompt_notes

    made = math.ceil(items * verifier.calls_per_item())
    sample = asyncio.run(_calls_about(project, verifier, some, in_batches=in_batches))
    each = made / len(sample) if sample else 0.0
    servers = verifier.servers().values()
    has_all_prices = {server.model for server in servers} == prices_of(project.path, servers).keys()
    return Estimate(
        items=items,
        stored=0,
        calls=made,
        prompt_tokens=round(each * sum(call.prompt for call in sample)),
        completion_tokens=round(each * sum(call.completion for call in sample)),
        cost=each * sum(call.cost for call in sample) if has_all_prices else None,
        notes=prompt_notes(verifier),
    )


async def _calls_about(
    project: Project, verifier: ServedVerifier, items: Iterable[VerifierInput], *, in_batches: bool
) -> list[CallEstimate]:
    from workbench.llm.endpoint import Endpoint
    from workbench.llm.waits import Clock
    from workbench.runs.serving import servers_of
    from workbench.verifiers.judges.verifier import preview

    asked = servers_of(project.database, 0, verifier, in_batches=in_batches)
    endpoints = {role: Endpoint(one, asked.prices.get(one.model), Clock()) for role, one in asked.servers.items()}
    key = secret(project.database.reader())
    found = []
    for item in items:
        # The same error will occur in the run, item by item, and is reported there.
        with suppress(Exception):
            planned = await preview(verifier, item, key)
            found += [endpoints[one.role].prepare(one.request, 0).estimate for one in planned]
    return found


# -- Deleting a run: what is deleted, what prevents it, and which run replaces it in metrics.


class Removal(Struct, frozen=True, kw_only=True):
    """A run to delete.

    Attributes:
        removes: Number of rows deleted with the run, by a description of the rows.
        next_run: The run that the verifier's metrics are based on after the deletion; None if no run remains.
    """

    run: int
    verifier: str
    removes: dict[str, int]
    next_run: int | None


def removal(project: Project, run: int) -> Removal:
    """Return the consequences of deleting a run.

    Raises:
        UsageError: There is no such run.
        RunError: The run can't be deleted; see `delete`.
    """
    reader = project.database.reader()
    row = run_row(reader, run)
    if row.state == "queued" or (row.state == "running" and is_alive(project.path)):
        raise RunError(f"Run {run} is active.", "Cancel it first", Command(f"runs DB cancel {run}"))
    if row.verifier.kind == GENERATION:
        raise RunError(f"Run {run} can't be deleted: it generated texts that are items now.", "It holds no verdicts.")
    if sets := stored_runs.sets_of(reader, run):
        raise RunError(
            f"Run {run} can't be deleted: its verdicts selected the items of {', '.join(sets)}.",
            "The verdicts behind a frozen set are kept.",
        )
    if reviews := stored_runs.reviews_of(reader, run):
        raise RunError(
            f"Run {run} can't be deleted: {reviews:,} decisions of reviewers refer to its verdicts.",
            "Reviewers' decisions are never deleted.",
        )
    others = [
        other.id
        for other in stored_runs.every(reader)
        if other.verifier.id == row.verifier.id and other.id != run and other.completed_at is not None
    ]
    return Removal(
        run=run,
        verifier=row.verifier.name,
        removes=stored_runs.count_dependent_rows(reader, run),
        next_run=max(others, default=None),
    )


def delete(project: Project, run: int) -> Removal:
    """Delete a run with its verdicts and everything that depends on them; replies of model servers stay and are reused.

    Returns:
        The deleted run, with the numbers of deleted rows.

    Raises:
        UsageError: There is no such run.
        RunError: The run is in progress, was used to choose a frozen set, has reviewed verdicts, or wrote texts.
    """
    with project.database.write("full") as connection:
        found = removal(project, run)
        stored_runs.remove(connection, run)
    return found
