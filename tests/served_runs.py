"""Helpers for tests of runs on model servers: a calling verifier, a runner in this process, and server counts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.background import install_plugin
from tests.helpers import add_items, make_project
from tests.servers.faulty import Launched
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_costs, run_info
from workbench.runs.runner import Runner
from workbench.runs.verifying import resume, start

VERIFIER = "asker"


def rows(count: int, **fields: Any) -> list[dict[str, Any]]:
    """Return items whose requests all differ."""
    return [
        {"question_id": f"q{n}", "completion_id": f"c{n}", "completion": f"It is {n}.", **fields} for n in range(count)
    ]


def options(url: str, **more: object) -> dict[str, str]:
    """Return options of the calling verifier, as text."""
    return {"base_url": url, "model": "m", **{name: str(value) for name, value in more.items()}}


class HereRunner:
    """A project whose runner works in this process on demand."""

    def __init__(self, project: Project, lease: Lease) -> None:
        self.project = project
        self._lease: Lease | None = lease

    def start(self, url: str, name: str | None = None, selection: Selection | None = None, **more: object) -> RunInfo:
        """Start a run and carry it out; return its state afterwards."""
        self.claim()
        run = start(self.project, VERIFIER, options(url, **more), name, selection or Selection())
        return self.work(run.run)

    def ask_again(
        self, url: str, name: str | None = None, selection: Selection | None = None, **more: object
    ) -> RunInfo:
        """Do the same with ``ask_again``: request all replies again."""
        self.claim()
        chosen = selection or Selection()
        return self.work(start(self.project, VERIFIER, options(url, **more), name, chosen, ask_again=True).run)

    def resume(self, run: int, *, retry_errors: bool = False, retry_unread: bool = False) -> RunInfo:
        """Resume a run and carry it out."""
        self.claim()
        resume(self.project, run, retry_errors=retry_errors, retry_unread=retry_unread)
        return self.work(run)

    def work(self, run: int) -> RunInfo:
        """Process everything queued."""
        Runner(self.project.database, self.claim()).work()
        self._lease = None
        return run_info(self.project, run)

    def claim(self) -> Lease:
        """Hold the runner's lease in this process, so that no front end starts a runner."""
        if self._lease is None:
            self._lease = Lease.acquire(self.project.database)
        assert self._lease is not None
        return self._lease

    def sql(self, statement: str, *parameters: object) -> list[Any]:
        return self.project.database.reader().execute(statement, parameters).fetchall()

    def add(self, *completions: str) -> None:
        add_items(
            self.project.database,
            [
                {"dataset": "more", "question_id": text, "completion_id": text, "completion": text}
                for text in completions
            ],
        )


@contextmanager
def here(folder: Path, count: int) -> Iterator[HereRunner]:
    """Create a project with so many items; see `HereRunner`."""
    with pytest.MonkeyPatch.context() as patch:
        install_plugin(folder, patch)
        with here_on(make_project(folder, rows(count))) as runs:
            yield runs


@contextmanager
def here_on(project: Project) -> Iterator[HereRunner]:
    """Do the same for an existing project; it is closed at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_IDLE_S", 0.0)
        lease = Lease.acquire(project.database)
        assert lease is not None
        try:
            yield HereRunner(project, lease)
        finally:
            project.close()


def stored_requests(project: Project) -> set[str]:
    """Return the hashes of requests with stored responses, as the stub server computes them."""
    bodies = project.database.reader().execute(
        "SELECT q.body FROM responses AS r JOIN requests AS q ON q.id = r.request_id"
    )
    return {hashlib.sha256(body).hexdigest() for (body,) in bodies}


def ambiguous_requests(project: Project) -> Counter[str]:
    """Return the hashes of calls that may have been billed without a reply."""
    bodies = project.database.reader().execute(
        "SELECT q.body FROM attempts AS a JOIN responses AS r ON r.key = a.key "
        "JOIN requests AS q ON q.id = r.request_id WHERE a.state = 'sent'"
    )
    return Counter(hashlib.sha256(body).hexdigest() for (body,) in bodies)


def check_kills(project: Project, run: int, stub: Launched, stored_counts: Mapping[str, int], most: int) -> None:
    """Check after kills that no stored call was repeated and every repeated call is listed.

    Args:
        stored_counts: How often the server had seen each request when its response was found stored after a kill.
        most: The maximum number of calls in flight, summed over all kills.
    """
    counts = stub.counts()
    seen: dict[str, int] = counts["requests_by_hash"]
    assert {request: seen[request] for request in stored_counts} == dict(stored_counts)
    listed = ambiguous_requests(project)
    assert all(times <= 1 + listed[request] for request, times in seen.items())
    assert counts["requests"] - len(seen) <= most
    info = run_info(project, run)
    assert len(run_costs(project, info).ambiguous) == sum(listed.values()) <= most
    check_sums(project, info)


def check_sums(project: Project, info: RunInfo) -> None:
    """Check that a run's totals are the sums of its rows."""
    assert info.usage is not None
    reader = project.database.reader()
    states = dict(
        reader.execute("SELECT state, count(*) FROM attempts WHERE run_id = ? GROUP BY state", (info.run,)).fetchall()
    )
    used = info.usage
    found = {"done": used.answered, "failed": used.failed, "sent": used.open, "unsent": used.unsent}
    assert {state: count for state, count in found.items() if count} == states
    assert sum(used.errors.values()) == used.failed + used.unsent
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
