"""Judge probes as a run judges items, without storing their verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.core.database.connection import Database
from workbench.core.errors import RunError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.dialects import reread
from workbench.llm.records import Halt
from workbench.runs.lease import LeaseLost, claim_runner
from workbench.runs.local import ResultSink
from workbench.runs.store import calls
from workbench.runs.store.calls import MadeCall
from workbench.verifiers.base import Judged, ServedVerifier
from workbench.verifiers.probes.building import Companion, Probe, verifier_input

if TYPE_CHECKING:
    from workbench.runs.journal import RunJournal, Waiter


_CHUNK = 64
Subject = Probe | Companion
Watch = Callable[[int, int | None], None]
"""Called with the number of judged completions, and with that of calls in flight while the work ends (else None)."""


class JudgedSubject(Struct, frozen=True, kw_only=True):
    """A completion and its verdict.

    Attributes:
        subject: The probe, control or carrier; its text is kept only if it was accepted.
        replies: The servers' replies; empty if it was rejected.
    """

    subject: Subject
    verdict: Verdict
    replies: tuple[str, ...] = ()


class Collector(ResultSink):
    """Receives verdicts as a runner does, and keeps them in memory.

    Attributes:
        judged: Verdicts in the order of arrival.
        skipped: Probes without a completion, which are not judged.
        slowest_ms: The longest time of one completion in milliseconds.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.judged: list[JudgedSubject] = []
        self.skipped: list[Probe] = []
        self.slowest_ms = 0.0
        self._watch = watch
        self._waiting: dict[int, Subject] = {}

    def inputs(self, subjects: Iterable[Subject]) -> Iterator[list[VerifierInput]]:
        """Yield the completions to judge in chunks; probes without a completion are added to ``skipped``."""
        chunk: list[VerifierInput] = []
        for subject in subjects:
            if isinstance(subject, Probe) and subject.completion is None:
                self.skipped.append(subject)
                continue
            item = verifier_input(subject)
            self._waiting[item.item] = subject
            chunk.append(item)
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = {}) -> None:
        for item, verdict in results:
            self.take(item, verdict)

    def take(self, item: int, verdict: Verdict, replies: tuple[str, ...] = ()) -> None:
        self.slowest_ms = max(self.slowest_ms, verdict.ms)
        subject = self._waiting.pop(item)
        if verdict.outcome is Outcome.CORRECT:
            self.judged.append(JudgedSubject(subject=subject, verdict=verdict, replies=replies))
        else:
            bare = Verdict(outcome=verdict.outcome, score=verdict.score)
            self.judged.append(JudgedSubject(subject=structs.replace(subject, completion=""), verdict=bare))

    def record(self, journal: RunJournal, item: int, judged: Judged, made: Sequence[MadeCall]) -> Waiter:
        """Keep a verdict and the servers' replies it is based on, once the replies are committed."""

        async def collect() -> None:
            await journal.flush()
            replies = [reread(stored).text for call in made if (stored := journal.recall(call.key)) is not None]
            self.take(item, judged.verdict, tuple(replies))

        return asyncio.ensure_future(collect())

    def check(self) -> None:
        if self._watch is not None:
            self._watch(len(self.judged), None)

    def ending(self, calls: int) -> None:
        if self._watch is not None:
            self._watch(len(self.judged), calls)


# -- Judging probes on model servers: calls are journalled and stored as in a run, verdicts are not.


def judge_by_servers(
    database: Database, run: int, verifier: ServedVerifier, subjects: Iterable[Subject], collector: Collector
) -> int:
    """Judge with a verifier that calls model servers; return how many calls were sent.

    Args:
        run: The verifier's run, which counts the calls: its limits apply to probes, too.

    Raises:
        RunError: Another process is working on the database, or no call can succeed now; replies received are stored.
    """
    # Only verifiers that call servers need the client's libraries.
    from workbench.runs.serving import judge_on_servers, servers_of

    before = count_calls(database, run)
    with claim_runner(database) as lease:
        try:
            servers = servers_of(database, run, verifier)
            inputs = collector.inputs(subjects)
            judge_on_servers(
                database, lease, servers, verifier, inputs, collector.check, collector.record, collector.ending
            )
        except Halt as halt:
            raise RunError(halt.message, "Received replies are stored; probe again to continue.") from halt
        except LeaseLost as lost:
            raise RunError("Another process has become the database's runner.", "Probe again.") from lost
    return count_calls(database, run) - before


def count_calls(database: Database, run: int) -> int:
    used = calls.get(database.reader(), run)
    return 0 if used is None else used.calls
