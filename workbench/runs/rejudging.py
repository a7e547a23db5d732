"""Judge a run's items anew with other options, to see what would change; no verdict is stored.

A separate process judges, ``python -m workbench.runs.rejudging`` with a `RejudgingJob` on its stdin: it parses stored
replies of model servers again, or calls a local verifier. Servers are called only by `asking`; their replies are stored
for the next comparison, or for a run with these options.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import msgspec
from msgspec import Struct

from workbench.config.verifiers import OWN_PROMPTS, TEMPLATE_VERSION
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError, VerifierError, WorkbenchError, opt
from workbench.core.progress import Stopped, raise_if_cancelled, step
from workbench.core.project import Project, open_project
from workbench.core.run import Estimate, RunInfo
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Halt, Reply, Request
from workbench.runs import verifying
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.configuring import bound_run
from workbench.runs.lease import LeaseLost, claim_runner
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.run_status import estimate_of, run_row
from workbench.runs.store import calls
from workbench.runs.store.verifier_inputs import inputs
from workbench.runs.trust import require_trust
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.verifiers.base import AnyVerifier, Judged, ServedVerifier, identity, is_identity
from workbench.verifiers.judging import judged_by_server
from workbench.verifiers.registry import Registry
from workbench.verifiers.wire import pack, read

if TYPE_CHECKING:
    from workbench.core.database.connection import Database
    from workbench.runs.journal import RunJournal, Waiter
    from workbench.runs.store.calls import MadeCall

_log = logging.getLogger("workbench.runner")
_SAMPLE: Final = 20
_PATIENCE_S: Final = 15.0
"""Seconds until a process that was told to end is killed; it waits for calls in flight (`session.GRACE_S`)."""


class Variant(Struct, frozen=True, kw_only=True):
    """A run's verifier with other options.

    Attributes:
        run: The run.
        of: The name of the run's verifier.
        name: The name under which a run of the variant, or its calls, would be stored.
        changed: Options that differ from the run's, each with its values in the run and in the variant; None for an
            option that isn't given.
        ran: The verifier's version in the run; the variant uses the installed version.
    """

    run: int
    of: str
    name: str
    kind: str
    options: dict[str, str]
    changed: dict[str, tuple[str | None, str | None]]
    ran: str
    verifier: AnyVerifier

    @property
    def calls_servers(self) -> bool:
        return self.verifier.isolation == "served"


def variant(project: Project, run: int, changes: Mapping[str, str | None], name: str | None = None) -> Variant:
    """Return the verifier of a run with other options.

    Args:
        changes: Option values that override those of the run; None removes an option.
        name: The variant's name; by default the run's verifier's name with a digest of the options.

    Raises:
        UsageError: The options are those of the run or invalid, or such verdicts need a separate run.
        VerifierError: The verifier can't be used.
    """
    row = run_row(project.database.reader(), run)
    before = row.verifier.options
    kept = {key: value for key, value in before.items() if key not in changes}
    if OWN_PROMPTS & changes.keys():
        kept.pop(TEMPLATE_VERSION, None)
    given = {key: value for key, value in changes.items() if value is not None}
    choice = resolve_verifier(project, row.verifier.kind, kept | given, name)
    verifier = construct_verifier(choice)
    after = choice.options
    if verifier.isolation == "sandbox" or row.verifier.kind in JUDGES_NOTHING:
        does = "runs programs" if verifier.isolation == "sandbox" else "judges no completion"
        raise UsageError(
            f"{row.verifier.name!r} {does}: only a separate run shows what other options would change.",
            "Start one under another name.",
        )
    if is_identity(verifier, row.verifier.config_hash) and verifier.version == row.version:
        hint = "Change an option." if verifier.options else f"{row.verifier.kind} has no options."
        raise UsageError(f"Run {run} has exactly these options: nothing would change.", hint)
    return Variant(
        run=run,
        of=row.verifier.name,
        name=name or f"{row.verifier.name[:80]}+{identity(verifier)[:6]}",
        kind=choice.kind,
        options=after,
        changed={
            key: (before.get(key), after.get(key))
            for key in sorted((before.keys() | after.keys()) - getattr(verifier, "filled_in", frozenset()))
            if before.get(key) != after.get(key)
        },
        ran=row.version,
        verifier=verifier,
    )


# -- The process, and its messages.


class RejudgingJob(Struct, frozen=True, kw_only=True):
    """The items to judge, and the verifier.

    Attributes:
        items: Row ids of completions.
        calls_of: The run that counts calls for missing replies; None if no server is called.
    """

    database: str
    kind: str
    options: dict[str, str]
    items: list[int]
    calls_of: int | None = None


class Beat(Struct, frozen=True, tag=True):
    """A heartbeat."""


class Rejudged(Struct, frozen=True, tag=True):
    """The result of an item.

    Attributes:
        verdict: The verdict; None if a needed reply is not stored.
    """

    item: int
    verdict: Verdict | None


class RejudgingNotice(Struct, frozen=True, tag=True):
    """A message about what the process is waiting for, or that the wait is over."""

    text: str


class Over(Struct, frozen=True, tag=True, kw_only=True):
    """The last message: no more results follow.

    Attributes:
        calls: Number of requests that were sent.
        trouble: Why some items have no verdict; None if all have one.
    """

    calls: int = 0
    trouble: str | None = None


_MESSAGE = msgspec.msgpack.Decoder(Beat | RejudgingNotice | Rejudged | Over)


class Rejudging:
    """Items that a variant is judging; verdicts arrive one at a time, in any order.

    Args:
        items: Row ids.
        trust: Whether the user approves the model to load.
        calls_of: The run that counts its calls; see `asking`.

    Attributes:
        missing: Row ids of items whose verdict needs replies that are not stored.
        calls: Number of requests that were sent.
        trouble: Why some items have no verdict; None if all have one.

    Raises:
        NotTrustedError: The user has not approved the model.
    """

    def __init__(
        self,
        project: Project,
        variant: Variant,
        items: Sequence[int],
        *,
        trust: bool = False,
        calls_of: int | None = None,
    ) -> None:
        if not variant.calls_servers:
            # A loaded model may come from anywhere; stored replies are harmless.
            require_trust(project, variant.verifier, variant.options, accept=trust)
        self._job = RejudgingJob(
            database=str(project.path.resolve()),
            kind=variant.kind,
            options=variant.options,
            items=list(items),
            calls_of=calls_of,
        )
        self.missing: list[int] = []
        self.calls = 0
        self.trouble: str | None = None

    def __iter__(self) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdicts, by row id.

        Raises:
            VerifierError: The process that judges ended prematurely.
            Stopped: The work was cancelled.
        """
        with _start_process(self._job) as process, step("judging again", len(self._job.items), "items") as advance:
            while (body := read(cast("BinaryIO", process.stdout))) is not None:
                match _MESSAGE.decode(body):
                    case Beat():
                        raise_if_cancelled()
                    case RejudgingNotice(text):
                        _log.warning("%s", text)
                    case Over(calls=calls, trouble=trouble):
                        self.calls, self.trouble = calls, trouble
                        return
                    case Rejudged(item, verdict):
                        advance(1)
                        if verdict is None:
                            self.missing.append(item)
                        else:
                            yield item, verdict
        raise VerifierError(f"The process that judges with {self._job.kind!r} has ended.", "Try again.")


def asking(project: Project, variant: Variant, items: Sequence[int], *, trust: bool) -> Rejudging:
    """Judge with a variant, and call servers for missing replies, within the limits of a run of the variant.

    Raises:
        UsageError: The name is bound to another configuration, or the verifier calls no server.
        NotTrustedError: The user has not approved the servers or the template.
    """
    if not variant.calls_servers:
        raise UsageError(f"{variant.of!r} asks no model server.", f"Leave {opt.ask} out: nothing is missing.")
    require_trust(project, variant.verifier, variant.options, accept=trust)
    with project.database.write() as connection:
        run = bound_run(connection, variant.name, variant.verifier, variant.options)
    return Rejudging(project, variant, items, calls_of=run)


def estimate_missing_calls(project: Project, variant: Variant, missing: Sequence[int]) -> Estimate | None:
    """Return the maximum usage of the calls about the missing items; None without missing items."""
    if not missing:
        return None
    served = cast("ServedVerifier", variant.verifier)
    some = inputs(project.database, list(missing[:: math.ceil(len(missing) / _SAMPLE)]))
    return estimate_of(project, served, len(missing), some)


def start(project: Project, variant: Variant, *, trust: bool = False) -> RunInfo:
    """Bind the variant's name, and start its run on the items of the original run.

    Raises:
        UsageError: The name is bound to another configuration.
        NotTrustedError: The user has not approved the servers or the template.
        RunError: No runner starts.
    """
    row = run_row(project.database.reader(), variant.run)
    # The options come from the database: starting a kind with them is no approval by the user.
    require_trust(project, variant.verifier, variant.options, accept=trust)
    return verifying.start(project, variant.kind, variant.options, variant.name, row.selection, row.workers)


@contextmanager
def _start_process(job: RejudgingJob) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "workbench.runs.rejudging"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A separate session: Ctrl-C is passed on once its calls have ended.
            start_new_session=True,
        )
    except OSError as error:
        raise VerifierError(f"The process that judges can't start: {error.strerror}.") from error
    with process:
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(msgspec.msgpack.encode(job))
                process.stdin.close()
            process.stdin = None
            yield process
        finally:
            process.terminate()
            try:
                # Its output is not read in the meantime.
                process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


# -- In that process: it writes verdicts to its stdout, one item at a time, and stores none. SIGTERM ends it, once the
# calls in flight, which are journalled under a run, have ended or timed out.


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

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        for item, verdict in results:
            self.put(Rejudged(item, verdict))

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

        before, trouble = calls.count(database.reader(), job.calls_of), None
        with claim_runner(database) as lease:
            try:
                servers = servers_of(database, job.calls_of, served)
                judge_on_servers(database, lease, servers, served, chunks, answers.check, answers.record)
            except (Halt, Stopped, LeaseLost) as error:
                why = str(error) or "Another process has become the database's runner."
                trouble = f"{why} Received replies are stored; ask again to continue."
        return Over(calls=calls.count(database.reader(), job.calls_of) - before, trouble=trouble)
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
