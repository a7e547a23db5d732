"""The background runner: ``python -m workbench.runs.runner DB``.

It executes queued runs one after the other and ends when none is left. Front ends and the runner communicate only
through the database. SIGTERM or SIGINT end it after the current transaction; the run then waits for the next runner.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.config.trust import NotTrustedError, UnsafeError, require_grants
from workbench.core.code import Provenance
from workbench.core.database.connection import Database
from workbench.core.errors import Command, RunError, WorkbenchError, opt
from workbench.core.files import is_locked
from workbench.core.run import STATE_AFTER, ClusterUse, Request, RunState
from workbench.core.selection import Selection
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Halt
from workbench.runs.lease import Lease, LeaseLost, Postponed, log_path, trial_lock_path
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.store import runs, verdicts
from workbench.runs.store.runs import RunRow
from workbench.runs.store.verdicts import TestResult
from workbench.runs.store.verifier_inputs import paired
from workbench.runs.trust import needed_grants
from workbench.verifiers.base import AnyVerifier, Judged, SandboxedVerifier, ServedVerifier, is_identity
from workbench.verifiers.duel.pairwise import Pairwise
from workbench.verifiers.registry import Registry

if TYPE_CHECKING:
    import sqlite3

_IDLE_S = 2.0
_POLL_S = 0.1

_log = logging.getLogger("workbench.runner")


class _Stop(Exception):
    """Raised when this process was told to end."""


class _Interrupted(Exception):
    def __init__(self, request: Request) -> None:
        self.request = request


class Runner:
    """The one process that judges items of a database in the background."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database = database
        self._lease = lease
        self._stopping = False
        self._lacks_key = False

    def stop(self) -> None:
        self._stopping = self._lease.ending = True

    def work(self) -> None:
        """Execute every queued run, then end.

        Raises:
            LeaseLost: Another process has become the runner.
        """
        with contextlib.suppress(_Stop):
            while True:
                while (run := self._next_run()) is not None:
                    self._execute(run)
                runs.checkpoint(self._database)
                if self._wait_for_run():
                    return
        self._lease.end()

    def raise_if_cancelled(self) -> None:
        """Raise if this process was told to end.

        Raises:
            _Stop: This process was told to end.
        """
        if self._stopping:
            raise _Stop

    def check(self) -> None:
        """Renew the heartbeat.

        Raises:
            _Stop: This process was told to end.
        """
        self.raise_if_cancelled()
        self._lease.beat()

    def _next_run(self) -> RunRow | None:
        self.check()
        for trial in runs.trials(self._database.reader()):
            place = trial_lock_path(self._database.path, trial.verifier.name)
            if not is_locked(place):
                # The process that waited for it has ended.
                place.unlink(missing_ok=True)
                self._lease.store(partial(runs.remove, run=trial.id))
        return self._lease.store(runs.take_next)

    def _wait_for_run(self) -> bool:
        """Wait for a queued run; return True if there was none, and this process is no longer the runner.

        A runner keeps the environment it was started with: if a key was missing, only a new runner can find it.
        """
        until = time.monotonic() + (0 if self._lacks_key else _IDLE_S)
        while time.monotonic() < until:
            if runs.waiting(self._database.reader()):
                return False
            time.sleep(_POLL_S)
            self.check()
        return self._lease.end_if_idle()

    def _execute(self, run: RunRow) -> None:
        _log.info("run %d: %s %s begins", run.id, run.verifier.name, run.version)
        try:
            verifier = _load_verifier(run)
            # Another person may have queued the run.
            require_grants(self._database.path, needed_grants(verifier, run.verifier.options))
            sink = _Sink(self, self._database, self._lease, run.id)
            _judge(self._database, run, verifier, sink)
            judged = -1
            while not self._complete(run):
                if sink.stored == judged:
                    raise RunError("Some items can't be read.", "Find out more", Command("doctor DB"))
                judged = sink.stored
                _judge(self._database, run, verifier, sink)
        except (_Stop, LeaseLost):
            raise
        except Postponed:
            self._lease.store(runs.put_back)
        except _Interrupted as asked:
            self._set_state(run, STATE_AFTER[asked.request])
        except (NotTrustedError, UnsafeError) as error:
            self._set_state(run, "paused", str(error))
        except Halt as halt:
            self._lacks_key = halt.code in ("auth", "quota")
            self._set_state(run, "paused", halt.message)
        except WorkbenchError as error:
            _log.warning("run %d: %s", run.id, error)
            self._set_state(run, "failed", str(error))
        except Exception as error:
            _log.exception("run %d", run.id)
            where = log_path(self._database.path)
            self._set_state(run, "failed", f"{type(error).__name__}: {error} (more in {where})")

    def _complete(self, run: RunRow) -> bool:
        """End the run, unless items were added that its scan has passed: callers that joined the run expect them, too.

        Raises:
            RunError: Every item failed inside the verifier. Those errors are retracted, so that resuming tries again.
        """
        reader = self._database.reader()
        if runs.has_only(reader, run.id, "internal"):
            ((_, why, _),) = verdicts.failures(reader, run.id, 1)
            self._lease.store(partial(verdicts.delete_errors, run=run.id))
            raise RunError(f"Every item failed inside the verifier: {why}")
        if complete := self._lease.store(partial(_complete_if_done, run)):
            _log.info("run %d: complete", run.id)
        return complete

    def _set_state(self, run: RunRow, state: RunState, message: str | None = None) -> None:
        self._lease.store(lambda connection: runs.end_run(connection, run.id, state, message))
        _log.info("run %d: %s", run.id, state)


class _Sink(ResultSink):
    def __init__(self, runner: Runner, database: Database, lease: Lease, run: int) -> None:
        self._runner = runner
        self._database = database
        self._lease = lease
        self._run = run
        self.stored = 0
        self._looked = 0.0

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        if results:
            self._lease.store(partial(verdicts.put, run=self._run, results=results))
            self.stored += len(results)

    def check(self) -> None:
        if time.monotonic() - self._looked < _POLL_S:
            return
        self._looked = time.monotonic()
        self._runner.check()
        self.raise_if_cancelled()

    def raise_if_cancelled(self) -> None:
        self._runner.raise_if_cancelled()
        request = runs.request_of(self._database.reader(), self._run)
        if request is not None:
            raise _Interrupted(request)

    def store_executed(self, judged: Sequence[tuple[int, Judged]], results: Sequence[TestResult]) -> None:
        if judged:
            samples = [row for item, found in judged for row in found.samples(item)]

            def put(connection: sqlite3.Connection) -> None:
                verdicts.put_samples(connection, self._run, samples)
                verdicts.put_outcomes(connection, self._run, results)

            self._lease.store(put)
            self.stored += len(judged)

    def note_provenance(self, found: Provenance) -> None:
        self._lease.store(lambda connection: runs.note(connection, self._run, found))

    def note_cluster(self, use: ClusterUse) -> None:
        self._lease.store(lambda connection: runs.put_cluster(connection, self._run, use))

    def serve_in_batches(self, verifier: ServedVerifier, selection: Selection) -> None:
        from workbench.runs.batching import judge_in_batches
        from workbench.runs.serving import reader_of, servers_of

        servers = servers_of(self._database, self._run, verifier, reader_of(verifier), in_batches=True)
        chunks = partial(verdicts.pending, self._database, self._run, selection)
        self.stored += judge_in_batches(self._database, self._lease, servers, verifier, chunks, self.raise_if_cancelled)

    def serve(self, verifier: ServedVerifier, chunks: Iterable[list[VerifierInput]], workers: int) -> None:
        # Only runs that call servers need the client's libraries.
        from workbench.runs.serving import judge_on_servers, reader_of, servers_of

        servers = servers_of(self._database, self._run, verifier, reader_of(verifier))
        self.stored += judge_on_servers(
            self._database, self._lease, servers, verifier, chunks, self.raise_if_cancelled, workers=workers
        )


def _complete_if_done(run: RunRow, connection: sqlite3.Connection) -> bool:
    stored = verdicts.count(connection, run.id)
    chosen = verdicts.of_selection(connection, run.id, run.selection)
    if chosen.stored < chosen.items:
        runs.expect(connection, run.id, stored + chosen.items - chosen.stored)
        return False
    runs.complete(connection, run.id, stored)
    return True


def _judge(database: Database, run: RunRow, verifier: AnyVerifier, sink: _Sink) -> None:
    chunks = verdicts.pending(database, run.id, run.selection)
    if run.in_batches:
        sink.serve_in_batches(cast("ServedVerifier", verifier), run.selection)
    elif verifier.isolation == "served":
        if isinstance(verifier, Pairwise):
            chunks = paired(database, verifier, chunks)
        sink.serve(cast("ServedVerifier", verifier), chunks, run.workers)
    elif verifier.isolation == "sandbox":
        # Only runs that execute solutions need the sandbox.
        from workbench.runs.executing import judge_solutions, load_solutions
        from workbench.verifiers.execution.levels import allowed_level

        sandboxed = cast("SandboxedVerifier", verifier)
        level = allowed_level(database.path, sandboxed)
        solutions = load_solutions(database, sandboxed.suites, chunks, sink)
        judge_solutions(sandboxed, level, run.workers, solutions, sink, run.cluster)
    elif run.cluster is not None:
        # Only runs on a cluster need Ray.
        from workbench.runs.cluster import judge_on_cluster

        judge_on_cluster(verifier, (run.verifier.kind, run.verifier.options), run.cluster, chunks, sink)
    else:
        judge_locally(verifier, (run.verifier.kind, run.verifier.options), run.workers, chunks, sink)


def _load_verifier(run: RunRow) -> AnyVerifier:
    """Return the verifier a run was started with.

    Raises:
        RunError: The installed verifier has another version or interprets its options differently, or a file it uses
            has changed.
        WorkbenchError: The verifier can't be loaded.
    """
    verifier = Registry().load(run.verifier.kind, run.verifier.options)
    if verifier.version == run.version and not is_identity(verifier, run.verifier.config_hash):
        from workbench.runs.configuring import configuration_difference

        raise RunError(
            f"Something has changed since the run was started: {configuration_difference(run.verifier, verifier)}.",
            f"Undo the change and resume the run, or start a new run with {opt.name}: {Command('verify')}",
        )
    if verifier.version != run.version:
        raise RunError(
            f"The run is of {run.verifier.kind} {run.version}; version {verifier.version} is installed.",
            f"Start a new run with: {Command('verify')}",
        )
    return verifier


def run_database(path: Path) -> int:
    """Run as the runner of a database until no run is left; return the exit code."""
    database = Database(path)
    try:
        lease = Lease.acquire(database)
        if lease is None:
            return 0
        runner = Runner(database, lease)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: runner.stop())
        _log.info("runner %d begins", os.getpid())
        try:
            runner.work()
        except LeaseLost:
            _log.warning("runner %d: another process has become the runner", os.getpid())
        finally:
            lease.release()
    finally:
        database.close()
    return 0


def main() -> None:
    # A message that doesn't fit on a full disk is repeated later, without a traceback.
    logging.raiseExceptions = False
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        sys.exit(run_database(Path(sys.argv[1])))
    except WorkbenchError as error:
        _log.error("%s", error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
