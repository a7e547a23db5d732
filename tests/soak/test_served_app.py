"""Two annotators label in browser windows and a trainer requests rewards, while disks fill up and processes die.

The short forms are tests/unit/app/web/test_away.py, tests/tui/test_full_disk.py, tests/web/test_browser.py and
tests/unit/app/web/reward/test_faults.py.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.background import PATIENCE_S
from tests.commands import run
from tests.full_disk import SmallDisk, small_disk
from tests.helpers import make_project, numbered
from tests.rewarding import Launched, launched, post_reward
from tests.served_app import at_hand, log_of, server_process
from tests.served_windows import Notice, Window
from tests.servers import faulty
from tests.web.test_browser import chromium, opened
from workbench.care.backups import diagnosis
from workbench.core.project import Project, open_project
from workbench.labelling import ledger
from workbench.labelling.people import assign

__all__ = ["chromium"]
pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

NAMES = ("ann", "ben")
ITEMS = 150
KILLS = 4


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with small_disk(tmp_path) as found:
        (found.path / "data").mkdir()
        yield found


@pytest.fixture
def project(disk: SmallDisk) -> Iterator[Project]:
    rows = [
        row | {"completion_id": f"c{place}", "question_id": f"q{place}", "question": f"Question number {place}?"}
        for place, row in enumerate(numbered(ITEMS, subtype="A1"))
    ]
    made = make_project(disk.path / "data", rows)
    assign(made, list(NAMES), per_item=2)
    yield made
    disk.empty()
    made.close()


class Served:
    """A server, its windows, and a folder for screenshots."""

    def __init__(self, project: Project, stack: AsyncExitStack, pictures: Path) -> None:
        self.project = project
        self.path = project.path
        self.windows: list[Window] = []
        self._stack = stack
        self._pictures = pictures
        self._port = "0"
        self.process: asyncio.subprocess.Process

    async def start(self, chromium: Any | None = None) -> None:
        """Start the server, and a browser with a window for every annotator."""
        running = server_process(self.project, "--port", self._port)
        self.process, address, links = await self._stack.enter_async_context(running)
        self._port = str(address.port)
        if chromium is not None:
            for name in NAMES:
                page = await opened(chromium, f"{address.url}/enter#{links[name]}")
                self.windows.append(Window(page, name))
                await at_hand(self.project, name)

    async def restart(self) -> None:
        """Start the server again; the windows reconnect."""
        before = [window.opened for window in self.windows]
        await self.start()
        for window, opened_before in zip(self.windows, before, strict=True):
            await window.until(lambda now=window, then=opened_before: now.opened > then, "the app")  # type: ignore[misc]
            await window.until(lambda now=window: now.at is not None, "an item")  # type: ignore[misc]

    async def kill(self) -> None:
        """Kill the server, and wait until the apps have noticed and ended."""
        apps = self.apps()
        self.process.kill()
        await self.process.wait()
        await asyncio.to_thread(psutil.wait_procs, apps, 30)

    def apps(self, name: str = "") -> list[psutil.Process]:
        """Return the processes of all apps, or of one annotator's."""
        own = psutil.Process(self.process.pid).children()
        return [one for one in own if any(part.startswith(f"--as={name}") for part in one.cmdline())]

    async def picture(self, name: str) -> None:
        """Take screenshots of all windows."""
        await asyncio.sleep(0.5)
        for window in self.windows:
            await window.page.page.screenshot(path=self._pictures / f"{name}-{window.name}.png")

    async def label(self, how: str, times: int = 2) -> None:
        """Let every annotator label until ``times`` labels got this notice."""
        for window in self.windows:
            for _ in range(40):
                if (await window.label()).how == how:
                    times_left = times - 1
                    break
            else:
                raise AssertionError(f"{window.name}: nothing was {how}")
            for _ in range(times_left):
                assert (await window.label()).how == how

    def notices(self) -> list[Notice]:
        """Return the notices of all windows."""
        return [notice for window in self.windows for notice in window.notices]

    def check(self, project: Project | None = None) -> Counter[str]:
        """Check that exactly the labels reported as saved are stored, each once, with its annotator and time."""
        notices = self.notices()
        rows = (
            (project or self.project)
            .database.reader()
            .execute(
                "SELECT a.name, c.key, e.verdict, e.created_at, e.uuid FROM label_events AS e JOIN annotators AS a "
                "ON a.id = e.annotator_id JOIN completions AS c ON c.id = e.subject "
                "WHERE e.kind = 'label' AND e.task = 'correctness'"
            )
            .fetchall()
        )
        stored = {(name, int(key[1:])): (verdict, at) for name, key, verdict, at, _ in rows}
        assert len(stored) == len(rows)
        reported = {(one.name, one.question): one for one in notices if one.how != "not saved"}
        assert stored.keys() == reported.keys()
        for key, notice in reported.items():
            verdict, at = stored[key]
            assert verdict == notice.verdict
            assert notice.after <= at.replace("Z", "+00:00") <= notice.before, (notice, at)
        return Counter(notice.how for notice in notices)

    def check_files(self) -> None:
        """Check that the database is sound and no window shows a traceback."""
        checked = open_project(self.path)
        assert [finding for finding in diagnosis(checked.path) if not finding.ok and finding.name != "free disk"] == []
        assert ledger.states_differ(checked) == 0
        checked.close()
        assert "Traceback" not in log_of(self.project)
        for window in self.windows:
            assert "Traceback" not in window.page.drawn
            assert "Something went wrong" not in window.page.drawn
            assert [text for text in window.page.trouble if "WebSocket" not in text and "ERR_" not in text] == []


@pytest.fixture
async def served(project: Project, tmp_path: Path, chromium: Any) -> AsyncIterator[Served]:
    pictures = Path(os.environ.get("WORKBENCH_PICTURES", tmp_path))
    async with AsyncExitStack() as stack:
        made = Served(project, stack, pictures)
        await made.start(chromium)
        await made.label("saved")
        yield made


async def test_full_disk(served: Served, disk: SmallDisk) -> None:
    ann, ben = served.windows
    for _ in range(2):
        disk.fill()
        await served.label("not saved", 1)
        await served.picture("full")
        for window in served.windows:
            assert "disk is full" in " ".join(window.look().replace("▌", "").split())
        # A newly opened window reports the full disk, too; the other one keeps its item.
        at = ann.at
        await ben.reload()
        await ben.shows("disk is full")
        assert "Nothing is left" not in ben.look()
        await served.picture("full-opened")
        # A process that dies reports nothing about a label that it couldn't save.
        served.apps("ann")[0].kill()
        await ann.until_dialog("Every label is saved, except any that was shown as not saved.")
        await served.picture("full-killed")
        disk.empty()
        await ann.open_again()
        await served.label("saved")
        assert any(notice.question == at and notice.how == "saved" for notice in ann.notices)
    print(served.check())
    await served.kill()
    served.check_files()


async def test_apps_and_servers_are_killed(served: Served) -> None:
    ann, ben = served.windows
    for turn in range(KILLS):
        victim, other = (ann, ben) if turn % 2 else (ben, ann)
        at = other.at
        served.apps(victim.name)[0].kill()
        await victim.until_dialog("The app has ended.")
        await served.picture("app-killed")
        assert (other.at, await other.dialog()) == (at, None)
        assert (await other.label()).how == "saved"
        before = victim.notices[-1]
        await victim.open_again()
        await served.label("saved")
        assert len({notice.question for notice in victim.notices}) == len(victim.notices), before
    for _ in range(KILLS):
        places = [window.at for window in served.windows]
        await served.kill()
        for window in served.windows:
            await window.until_dialog("The connection is lost.")
        await served.picture("server-killed")
        await served.restart()
        assert [window.at for window in served.windows] == places
        await served.label("saved")
    print(served.check())
    await served.kill()
    served.check_files()


async def test_lost_database_is_restored_from_a_backup(served: Served) -> None:
    copy = served.path.with_name("copy.db")
    assert run("backup", str(served.path), str(copy)).returncode == 0
    served.project.close()
    for end in ("", "-wal", "-shm"):
        Path(f"{served.path}{end}").unlink(missing_ok=True)
    await served.label("not saved", 1)
    await served.picture("deleted")
    for window in served.windows:
        await window.shows("was")
        assert "was moved, deleted or replaced" in " ".join(window.look().replace("▌", " ").split())
    await served.kill()
    done = run("restore", str(served.path), str(copy))
    assert done.returncode == 0, done.stderr
    back = open_project(served.path)
    served.project = back
    await served.restart()
    await served.label("saved")
    await served.picture("restored")
    print(served.check(back))
    await served.kill()
    back.close()
    served.check_files()


class Trainer:
    """Request rewards continuously, retry on request, and record the errors."""

    def __init__(self, server: Launched) -> None:
        self.server = server
        self.counts: Counter[str] = Counter()
        self.errors: set[str] = set()
        self.waited: list[float] = []
        self.rewards: dict[str, float | None] = {}
        self._number = 0

    @asynccontextmanager
    async def at_work(self, clients: int = 4) -> AsyncIterator[None]:
        """Send requests during the block."""
        tasks = [asyncio.create_task(self._ask()) for _ in range(clients)]
        yield
        for task in tasks:
            task.cancel()
        for found in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(found, asyncio.CancelledError), found

    async def gets(self, kind: str, more: int = 5) -> None:
        """Wait until more requests have ended this way."""
        goal = self.counts[kind] + more
        async with asyncio.timeout(PATIENCE_S):
            while self.counts[kind] < goal:
                await asyncio.sleep(0.02)

    async def _ask(self) -> None:
        while True:
            self._number += 1
            name = f"answer {self._number}"
            body = json.dumps({"question": "q", "reference": "r", "completion": name, "id": name}).encode()
            while name not in self.rewards:
                try:
                    async with asyncio.timeout(30):
                        answer = await post_reward(self.server.port, body)
                except (OSError, asyncio.IncompleteReadError):
                    self.counts["cut off"] += 1
                    await asyncio.sleep(0.1)
                    continue
                self.waited.append(answer.seconds)
                self.counts[str(answer.status)] += 1
                if answer.status == 200:
                    assert (answer.document["id"], answer.document["verdict"]) == (name, "correct")
                    self.rewards[name] = answer.document["reward"]
                else:
                    assert (answer.status, "retry-after" in answer.headers) == (503, True), answer
                    self.errors.add(answer.document["error"])
                    await asyncio.sleep(0.1)


async def test_reward_server_on_a_full_disk_is_killed(disk: SmallDisk, tmp_path: Path) -> None:
    made = make_project(disk.path / "data")
    made.close()
    place = made.path
    with faulty.launched(latency=0.05) as model:
        options = ["--verifier", "llm-judge", "-o", f"base_url={model.url}", "-o", "model=m"]
        with launched(tmp_path, place, *options) as server:
            trainer = Trainer(server)
            async with trainer.at_work():
                for _ in range(3):
                    await trainer.gets("200")
                    trainer.errors.clear()
                    disk.fill()
                    await trainer.gets("503", 20)
                    assert all("full" in errors for errors in trainer.errors), trainer.errors
                    health = httpx.get(f"{server.url}/health", headers={"Host": "localhost"})
                    assert (health.status_code, health.json()["state"]) == (503, "waiting")
                    disk.empty()
                await trainer.gets("200", 20)
            assert (server.process.poll(), trainer.counts["cut off"]) == (None, 0)
            counts = model.counts()
            assert counts["repeated"] == 0
            server.process.kill()
        at_kill = counts["requests"]
        with launched(tmp_path, place, "--port", server.port, *options) as again:
            trainer.server = again
            async with trainer.at_work():
                await trainer.gets("200", 20)
            again.process.terminate()
            assert await asyncio.to_thread(again.process.wait, 30) == 0
            assert "Traceback" not in again.log.read_text()
    print(trainer.counts, model, at_kill, "longest wait", round(max(trainer.waited), 2))
    assert set(trainer.rewards.values()) == {1.0}
