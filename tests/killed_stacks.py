"""Compare a stack's run that is killed and resumed with an uninterrupted one: verdicts and the servers' call counts.

Rules decide some items, a cheap judge some of the others, an expensive one the rest; each judge rejects one item.
Every run of a scenario sends the same requests to the same servers, each from a separate project.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.background import until
from tests.helpers import make_project
from tests.killed_runner import NEVER, Commit, Runners, Working, runners
from tests.served_runs import check_sums
from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from workbench.core.project import Project, opened_project
from workbench.core.run import RunInfo
from workbench.runs.lease import Lease, is_alive
from workbench.runs.run_status import run_costs, run_info
from workbench.runs.transcripts import transcripts_of
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import pause, resume, start

BY_RULES, ASKED = 2, 12
CHEAP, DEAR = 11, 8
"""The numbers of calls of an uninterrupted run."""
AT_ONCE = 3
_ACCEPTED = {"cheap": {0, 1, 2}, "dear": {3, 4}}
_REFUSED = {"cheap": {5}, "dear": {6}}
_IS = re.compile(r"It is (\d+)\.")
_REFUSAL = Scripted(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})

Item = tuple[Any, ...]
Call = tuple[int, str]
"""The port of a server, and the item of the request; each server gets one request per item."""


class Outcome(NamedTuple):
    """The outcome of a run.

    Attributes:
        items: For each item its verdict, the votes of the stages, and the calls behind it.
        requests: How often each request reached a server.
    """

    info: RunInfo
    items: dict[str, Item]
    requests: Counter[Call]


class Place(NamedTuple):
    """The number of a call to a server, counted from the start of a runner."""

    server: str
    call: int


class Server:
    """A judge that counts its calls and can run a function when a certain call arrives."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.at: dict[int, Callable[[], None]] = {}
        self.count = 0
        self.real: ScriptedServer

    def answer(self, received: Received) -> str | Scripted:
        self.count += 1
        if (act := self.at.get(self.count)) is not None:
            act()
        body = str(received.body)
        if _is_of(_REFUSED[self.name], body):
            return _REFUSAL
        return "Yes" if _is_of(_ACCEPTED[self.name], body) else "No"


def _is_of(numbers: set[int], body: str) -> bool:
    return int(_IS.findall(body)[-1]) in numbers


class Trial:
    """One run of the stack in a separate project.

    Args:
        limits: Settings of the expensive judge.
        options: Options of the stack.
    """

    def __init__(
        self, scenario: Scenario, folder: Path, limits: str = "", options: dict[str, str] | None = None
    ) -> None:
        folder.mkdir()
        self._scenario = scenario
        self._before = {server.name: len(server.real.received) for server in scenario.servers}
        for server in scenario.servers:
            server.count, server.at = 0, {}
        self.project = make_project(folder, _items())
        self._options = {"stages": "rules:correct, cheap:correct, dear", **(options or {})}
        self.kills = 0
        # Request -> how often it had arrived when its answer was found stored after a kill.
        self.stored: dict[Call, int] = {}
        self.configure(limits)
        with self._held():
            self.run = start(self.project, "stack", self._options, "s", trust=True).run

    def configure(self, limits: str) -> None:
        """Write the judges' settings."""
        text = "".join(
            f'[verifiers.{one.name}]\nkind = "llm-judge"\nstrategy = "vanilla"\nmodel = "m-{one.name}"\n'
            f'base_url = "{one.real.url}"\nconcurrency = {2 if one.name == "cheap" else 1}\n'
            f"{limits if one.name == 'dear' else ''}\n"
            for one in self._scenario.servers
        )
        self.project.path.with_name("workbench.toml").write_text(text)

    def work(
        self,
        commit: Commit = NEVER,
        killed: Place | None = None,
        paused: Place | None = None,
    ) -> int | None:
        """Let a runner continue; return the number of its commits, or None if it was killed.

        Args:
            commit: The commit at which it is killed.
            killed: The call at which it is killed.
            paused: The call at which a pause is requested.
        """
        working: list[Working] = []

        def kill() -> None:
            until(lambda: working)
            os.kill(working[0].pid, signal.SIGKILL)

        def ask() -> None:
            with opened_project(self.project.path) as project:
                pause(project, self.run)

        for server in self._scenario.servers:
            server.at = {}
            for place, act in ((killed, kill), (paused, ask)):
                if place is not None and place.server == server.name:
                    server.at[server.count + place.call] = act
        working.append(self._scenario.runners.begin(self.project.path, commit))
        commits = working[0].end()
        if commits is None:
            self.kills += 1
            until(lambda: not self._lives())
            self._keep()
        return commits

    def resume(self, *, retry_errors: bool = False) -> None:
        """Queue the run again, as `resume` does."""
        with self._held():
            resume(self.project, self.run, retry_errors=retry_errors)

    def start_again(self) -> None:
        """Queue the run again with its current settings."""
        with self._held():
            assert start(self.project, "stack", self._options, "s", trust=True).run == self.run

    def requests(self) -> Counter[Call]:
        """Return how often each request arrived."""
        return Counter(
            (server.real.port, f"c{_IS.findall(str(one.body))[-1]}")
            for server in self._scenario.servers
            for one in self._received(server)
        )

    def count(self, name: str) -> int:
        """Return the number of calls that a server received."""
        return next(len(self._received(server)) for server in self._scenario.servers if server.name == name)

    def outcome(self) -> Outcome:
        """Return the outcome; check that no stored call was repeated and that every possible repeat is listed."""
        info = run_info(self.project, self.run)
        requests = self.requests()
        assert {call: requests[call] for call in self.stored} == self.stored
        listed = _calls(self.project, "sent")
        assert all(times <= 1 + listed[call] for call, times in requests.items())
        assert requests.total() - len(requests) <= self.kills * AT_ONCE
        assert len(run_costs(self.project, info).ambiguous) == listed.total() <= self.kills * AT_ONCE
        check_sums(self.project, info)
        return Outcome(info, _judged(self.project), requests)

    def _received(self, server: Server) -> Sequence[Received]:
        return server.real.received[self._before[server.name] :]

    def _keep(self) -> None:
        now, requests = _calls(self.project, "done", "failed"), self.requests()
        assert self.stored.keys() <= now.keys()
        self.stored = {call: requests[call] for call in now}

    def _lives(self) -> bool:
        return is_alive(self.project.path)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the runner's lease in this process, so that no runner is started."""
        lease = Lease.acquire(self.project.database)
        assert lease is not None
        try:
            yield
        finally:
            lease.end()


class Scenario:
    """Servers and runners shared by trials."""

    def __init__(self, folder: Path, servers: Sequence[Server], runners: Runners) -> None:
        self.folder, self.servers, self.runners = folder, servers, runners
        self._count = 0

    @contextmanager
    def trial(self, limits: str = "", **options: str) -> Iterator[Trial]:
        """Create a run that waits for its runner."""
        self._count += 1
        trial = Trial(self, self.folder / str(self._count), limits, options)
        try:
            yield trial
        finally:
            trial.project.close()

    def uninterrupted(self) -> tuple[Outcome, int]:
        """Return the outcome of an uninterrupted run and the number of its commits."""
        with self.trial() as trial:
            commits = trial.work()
            assert commits is not None
            outcome = trial.outcome()
        assert (outcome.info.state, len(outcome.items)) == ("complete", BY_RULES + ASKED)
        assert set(outcome.requests.values()) == {1}
        return outcome, commits


@contextmanager
def scenario(folder: Path) -> Iterator[Scenario]:
    """Start the servers and prepare to start runners."""
    with ExitStack() as exits:
        servers = [Server("cheap"), Server("dear")]
        for server in servers:
            server.real = exits.enter_context(scripted(server.answer, latency_s=0.004))
        yield Scenario(folder, servers, exits.enter_context(runners()))


def check_same(found: Outcome, expected: Outcome) -> None:
    """Check that a killed and resumed run has the same items and requests as an uninterrupted one."""
    assert found.info.state == "complete"
    assert found.items == expected.items
    assert found.requests.keys() == expected.requests.keys()


def check_killed(
    setup: Scenario,
    expected: Outcome,
    commit: Commit = NEVER,
    killed: Place | None = None,
    again: int = 0,
) -> int:
    """Kill a run, and its resumption at commit ``again``; return how often it was killed."""
    with setup.trial() as trial:
        if trial.work(commit, killed) is None:
            trial.resume()
            if trial.work(Commit(again)) is None:
                trial.resume()
                assert trial.work() is not None
        check_same(trial.outcome(), expected)
        return trial.kills


def check_budget(setup: Scenario, expected: Outcome, call: int) -> None:
    """Check that a stage's budget survives kills and pauses the run, and that a raised budget completes it."""
    with setup.trial("max_calls = 3\n") as trial:
        assert trial.work(killed=Place("dear", call)) is None
        for _ in range(2):
            trial.resume()
            assert trial.work() is not None
            info = run_info(trial.project, trial.run)
            assert info.state == "paused"
            assert (info.message or "").startswith("dear: The budget is used up: 3 of 3 calls were made")
            assert trial.count("dear") == 3
        assert _judged(trial.project).items() <= expected.items.items()
        trial.configure("max_calls = 20\n")
        trial.start_again()
        assert trial.work() is not None
        check_same(trial.outcome(), expected)


def check_pause(setup: Scenario, expected: Outcome, call: int, later: int) -> None:
    """Check that a run killed ``later`` calls after a pause was requested (or paused by then) completes as usual."""
    with setup.trial() as trial:
        ended = trial.work(killed=Place("dear", call + later), paused=Place("dear", call))
        if ended is not None:
            assert run_info(trial.project, trial.run).state == "paused"
        assert _judged(trial.project).items() <= expected.items.items()
        trial.resume()
        assert trial.work() is not None
        check_same(trial.outcome(), expected)


def _items() -> list[dict[str, Any]]:
    by_rules = [
        {"question_id": f"r{n}", "completion_id": f"r{n}", "reference": r"\boxed{7}", "completion": r"So \boxed{7}."}
        for n in range(BY_RULES)
    ]
    requests = [
        {"question_id": f"q{n}", "completion_id": f"c{n}", "completion": f"It is {n}.", "reference": r"\boxed{7}"}
        for n in range(ASKED)
    ]
    return by_rules + requests


def _judged(project: Project) -> dict[str, Item]:
    found = {}
    for line in verdict_lines(project, "s"):
        (one,) = transcripts_of(project, "s", line.completion_id)
        votes = tuple((vote.by, vote.verdict, vote.reason) for vote in one.votes)
        calls = tuple(sorted(call.role for call in one.calls))
        found[line.completion_id] = (line.verdict, line.rule, line.reason, line.score, line.detail, votes, calls)
    return found


def _calls(project: Project, *states: str) -> Counter[tuple[int, str]]:
    """Return the calls in some states, by the port they went to and the item."""
    found = project.database.reader().execute(
        "SELECT a.url, c.key FROM attempts AS a JOIN completions AS c ON c.id = a.completion_id "
        f"WHERE a.state IN ({', '.join('?' * len(states))})",
        states,
    )
    return Counter((urlsplit(url).port or 0, key) for url, key in found)
