"""Judging by a verifier that asks model servers, for many who wait at once, in one event loop.

The calls are a run's: journalled, within its budget, and never made twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, cast

from workbench.core.errors import UsageError
from workbench.core.project import Project, opened_project
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.answering import VerifierSession, answering
from workbench.runs.binding import bound_run
from workbench.runs.generation import GO_ON, Identity, require_free
from workbench.runs.standing_in import standing_in
from workbench.runs.store import runs as stored_runs
from workbench.training.choosing import RewardVerifier
from workbench.training.line import WaitingItems, all_of
from workbench.training.records import Readiness
from workbench.verifiers.base import ServedVerifier

PREFIX: Final = "rewards/"
"""What the names of these runs begin with; the verifier's name follows."""


class AskingJudge:
    """A verifier for an event loop; made by `asking`."""

    def __init__(self, answers: VerifierSession, line: WaitingItems) -> None:
        self._answers = answers
        self._line = line

    @property
    def state(self) -> Readiness:
        """Whether items are taken."""
        if self._answers.trouble is not None:
            return "failed"
        return "ready" if self._answers.waits_for is None else "waiting"

    @property
    def trouble(self) -> str | None:
        """Why none are answered; None while they are."""
        trouble = self._answers.trouble or self._answers.waits_for
        return None if trouble is None else str(trouble)

    @property
    def waiting(self) -> int:
        """Items that wait."""
        return self._line.count

    async def verdicts(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
        """The verdicts on items, in their order, and that they were not had at once.

        Raises:
            UsageError: They are more than ever wait at a time.
            Busy: There is no room for them now; none of them waits.
            RunError: No call can succeed now, or nothing can be stored.
        """
        self._line.require_fit(items)
        with self._line.room(items):
            return await all_of([self._answers.verdict(item) for item in items]), False

    async def close(self) -> None:
        """Judge nothing more; whoever waits hears that there will be no answer."""
        await self._answers.end(at_once=self._line.count > 0 or self._answers.waits_for is not None)


@asynccontextmanager
async def asking(chosen: RewardVerifier, line: WaitingItems, timeout: float | None) -> AsyncIterator[AskingJudge]:
    """Have a verifier judge as long as the context; this process is the database's runner meanwhile.

    Args:
        timeout: See `answering`.

    Raises:
        UsageError: What was asked for rewards under this name was asked with another configuration.
        RunError: Another process is at work on the database.
        StoreError: The database can't be opened.
    """
    assert chosen.database is not None
    verifier = cast("ServedVerifier", chosen.verifier)
    with opened_project(chosen.database) as project, standing_in(project.database) as lease:
        run = _begun(project, chosen, verifier)
        async with answering(project.database, lease, run, verifier, timeout) as answers:
            yield AskingJudge(answers, line)
        with project.database.write() as connection:
            if answers.trouble is None:
                stored_runs.settle(connection, run, "complete")
            else:
                stored_runs.settle(connection, run, "paused", str(answers.trouble))


def _begun(project: Project, chosen: RewardVerifier, verifier: ServedVerifier) -> int:
    """The run that counts the calls, made if need be; it is paused until the server has ended well."""
    name = PREFIX + chosen.name
    require_free(name)
    identity = Identity({**verifier.config(), "verifier": chosen.kind}, verifier.version)
    with project.database.write() as connection:
        try:
            run = bound_run(connection, name, identity, {})
        except UsageError as error:
            raise UsageError(error.message, "Name this one in workbench.toml: [verifiers.NAME]") from error
        stored_runs.settle(connection, run, "paused", GO_ON)
    return run
