"""Judging probes on model servers: each call is journalled and stored as a run's are, the verdicts are not.

The process that probes is the database's runner meanwhile, so nobody else counts attempts or asks for the same replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from workbench.core.database.connection import Database
from workbench.core.errors import RunError
from workbench.llm.dialects import reread
from workbench.llm.records import Halt
from workbench.runs.journal import RunJournal, Waiter
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.probing import Collector, Subject
from workbench.runs.serving import judge_on_servers, work_on
from workbench.runs.standing_in import standing_in
from workbench.runs.store import usage
from workbench.runs.store.verdict_calls import MadeCall
from workbench.verifiers.base import Judged, ServedVerifier


class _ProbeJournal(RunJournal):
    """Keeps a run's calls; verdicts go to the collector."""

    def __init__(self, database: Database, lease: Lease, run: int, collector: Collector) -> None:
        super().__init__(database, lease, run)
        self._collector = collector

    def land(self, item: int, judged: Judged, made: Sequence[MadeCall]) -> Waiter:
        """Hand over a verdict with the replies it rests on, once they are committed."""
        return asyncio.ensure_future(self._hand_over(item, judged, made))

    async def _hand_over(self, item: int, judged: Judged, made: Sequence[MadeCall]) -> None:
        await self.flush()
        replies = [reread(stored).text for call in made if (stored := self.recall(call.key)) is not None]
        self._collector.take(item, judged.verdict, tuple(replies))


def judge_by_servers(
    database: Database, run: int, verifier: ServedVerifier, subjects: Iterable[Subject], collector: Collector
) -> int:
    """Judge with a verifier that asks model servers; returns how many calls were sent.

    Args:
        run: The verifier's run, which the calls are counted in: its limits hold for probes, too.

    Raises:
        RunError: Another process is at work on the database, or no call can succeed now; what was answered is stored.
    """
    before = _calls(database, run)
    with standing_in(database) as lease:
        journal = partial(_ProbeJournal, database, lease, run, collector)
        work = work_on(database, verifier, collector.inputs(subjects), journal, collector.look_up)
        try:
            judge_on_servers(work)
        except Halt as halt:
            raise RunError(halt.message, "What was answered is stored; probe again to go on.") from halt
        except LeaseLost as lost:
            raise RunError("Another process has taken over the database's runs.", "Probe again.") from lost
    return _calls(database, run) - before


def _calls(database: Database, run: int) -> int:
    used = usage.get(database.reader(), run)
    return 0 if used is None else used.calls
