"""The process that judges stored items anew: ``python -m workbench.runs.rejudger``, a `RejudgingJob` on its stdin.

It writes verdicts to its stdout, one item at a time, and stores none. Its calls to model servers are journalled under a
run, as a run's calls are. SIGTERM ends it, once the calls in flight have ended or timed out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, cast

import msgspec

from workbench.core.database.hashes import secret
from workbench.core.errors import WorkbenchError
from workbench.core.progress import Stopped
from workbench.core.project import open_project
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Halt, Reply, Request
from workbench.runs.lease import LeaseLost, claim_runner
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.probing import count_calls
from workbench.runs.rejudging import Beat, Over, Rejudged, RejudgingJob, RejudgingNotice
from workbench.runs.store import calls, verdicts
from workbench.runs.store.verifier_inputs import inputs
from workbench.verifiers.base import Judged, ServedVerifier
from workbench.verifiers.judging import judged_by_server
from workbench.verifiers.registry import Registry
from workbench.verifiers.wire import pack

if TYPE_CHECKING:
    from workbench.core.database.connection import Database
    from workbench.runs.journal import RunJournal, Waiter
    from workbench.runs.store.calls import MadeCall

_CHUNK = 64
_BEAT_S = 0.1
_PLACES = os.cpu_count() or 1


class _VerdictRelay(ResultSink):
    def __init__(self, stream: BinaryIO, database: Database) -> None:
        self._stream, self._database = stream, database
        self._beat = 0.0
        self._lock = Lock()
        self.stopping = False

    def put(self, message: Beat | RejudgingNotice | Rejudged | Over) -> None:
        with self._lock:
            self._stream.write(pack(message))
            self._stream.flush()

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = {}) -> None:
        for item, verdict in results:
            self.put(Rejudged(item, verdict))

    def recall(self, key: bytes) -> Verdict | None:
        return verdicts.get(self._database.reader(), key)

    def check(self) -> None:
        """Renew the heartbeat.

        Raises:
            Stopped: The caller no longer waits.
        """
        if self.stopping:
            raise Stopped("It was stopped.")
        if time.monotonic() - self._beat >= _BEAT_S:
            self._beat = time.monotonic()
            self.put(Beat())

    def record(self, journal: RunJournal, item: int, judged: Judged, made: Sequence[MadeCall]) -> Waiter:
        async def put() -> None:
            await journal.flush()
            self.put(Rejudged(item, judged.verdict))

        return asyncio.ensure_future(put())


class _WarningRelay(logging.Handler):
    def __init__(self, answers: _VerdictRelay) -> None:
        super().__init__(logging.WARNING)
        self._answers = answers

    def emit(self, record: logging.LogRecord) -> None:
        self._answers.put(RejudgingNotice(record.getMessage()))


def _judge(database: Database, job: RejudgingJob, answers: _VerdictRelay) -> Over:
    verifier = Registry().load(job.kind, job.options)
    chunks = _chunks(database, job.items)
    if verifier.isolation != "served":
        judge_locally(verifier, (job.kind, job.options), _PLACES, chunks, answers)
        return Over()
    served = cast("ServedVerifier", verifier)
    if job.calls_of is not None:
        from workbench.runs.serving import judge_on_servers, servers_of

        before, trouble = count_calls(database, job.calls_of), None
        with claim_runner(database) as lease:
            try:
                servers = servers_of(database, job.calls_of, served)
                judge_on_servers(database, lease, servers, served, chunks, answers.check, answers.record)
            except (Halt, Stopped, LeaseLost) as error:
                why = str(error) or "Another process has become the database's runner."
                trouble = f"{why} Received replies are stored; ask again to continue."
        return Over(calls=count_calls(database, job.calls_of) - before, trouble=trouble)
    asyncio.run(_judge_stored_replies(database, served, chunks, answers))
    return Over()


def _chunks(database: Database, items: list[int]) -> Iterator[list[VerifierInput]]:
    for start in range(0, len(items), _CHUNK):
        yield inputs(database, items[start : start + _CHUNK])


# -- Model servers: stored replies, and new ones.


class _NotStored(Halt):
    def __init__(self) -> None:
        super().__init__("cancelled", "No server is called.")


class _StoredReplies:
    """One item's access to stored replies.

    Attributes:
        lacks: Whether a needed reply was not stored.
    """

    def __init__(self, database: Database, verifier: ServedVerifier) -> None:
        from workbench.llm.endpoint import Endpoint
        from workbench.llm.waits import Clock

        clock = Clock()
        self._endpoints = {role: Endpoint(server, None, clock) for role, server in verifier.servers().items()}
        self._reader = database.reader()
        self.lacks = False

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        from workbench.llm.caller import raise_if_filtered
        from workbench.llm.dialects import reread

        for key in self._endpoints[role].prepare(request, sample).keys.values():
            if (stored := calls.response(self._reader, key)) is not None:
                return raise_if_filtered(key, reread(stored))
        self.lacks = True
        raise _NotStored


async def _judge_stored_replies(
    database: Database, verifier: ServedVerifier, chunks: Iterator[list[VerifierInput]], answers: _VerdictRelay
) -> None:
    from workbench.runs.serving import with_stage_workers

    fence = secret(database.reader())
    with with_stage_workers(verifier, _PLACES) as judge:
        for item in chain.from_iterable(chunks):
            answers.check()
            stored = _StoredReplies(database, verifier)
            try:
                judged = await judged_by_server(judge, item, stored, fence)
            except _NotStored:
                answers.put(Rejudged(item.item, None))
            else:
                answers.put(Rejudged(item.item, None if stored.lacks else judged.verdict))


def work(job: RejudgingJob, stream: BinaryIO) -> None:
    project = open_project(job.database)
    answers = _VerdictRelay(stream, project.database)
    logging.getLogger("workbench.runner").addHandler(_WarningRelay(answers))

    def stop(*_: object) -> None:
        answers.stopping = True

    signal.signal(signal.SIGTERM, stop)
    try:
        answers.put(_judge(project.database, job, answers))
    except WorkbenchError as error:
        answers.put(Over(trouble=str(error)))
    finally:
        project.close()


def main() -> None:
    """Run as the process; output that a verifier prints goes to stderr."""
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=RejudgingJob)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        work(job, stream)


if __name__ == "__main__":
    main()
