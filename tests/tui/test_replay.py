"""A judge without a shell: the app serves recorded replies, and the server ends with the app in every case."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.helpers import make_project, numbered
from tests.replaying import write_lines
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, text_of
from workbench.app.tui.app import DescribedCommands, WorkbenchApp
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.replays import ReplayServer
from workbench.app.tui.screens.add_judge import AddJudgeScreen
from workbench.app.tui.screens.replay import ReplayScreen
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, numbered(2))


def field(app: WorkbenchApp, name: str) -> OptionField:
    return app.screen.query_one(f"#option-{name}", OptionField)


def listens(server: ReplayServer) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", server.port)) == 0


async def start_server(pilot: Pilot[None], app: WorkbenchApp) -> ReplayServer:
    """Start a server of the sample's replies by keys alone."""
    await press(pilot, *":n", "enter", "f7")
    assert field(app, "file").value.endswith("sample_data/judge_replies.jsonl")
    await press(pilot, "f4")
    (server,) = app.replays
    return server


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_judge_works_without_a_shell(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":n", "enter")
        assert "f7" in {key.name for key in app.screen.query_one(Footer).keys}
        await press(pilot, "escape")
        server = await start_server(pilot, app)
        screen_of(app, AddJudgeScreen)
        assert (field(app, "base_url").value, field(app, "model").value) == (server.told.base_url, "sample-judge")
        assert field(app, "name").value == "sample-judge"
        assert "while this app runs" in notices(app)[-1]
        assert "79 recordings" in notices(app)[-1]
        await press(pilot, "f5")
        message = text_of(app, ".form-tested")
        assert message.startswith("✓")
        assert "!" not in message
        assert "✗" not in message
        # The same server is listed again, and can be stopped.
        await press(pilot, "f7")
        assert server.told.base_url in text_of(app, "#replay-served")
        await press(pilot, "f4")
        assert [one.told.base_url for one in app.replays] == [server.told.base_url]
        await press(pilot, "f7", "f8")
        assert text_of(app, "#replay-served") == "Nothing is served now."
        assert not listens(server)


@pytest.mark.soak
async def test_server_ends_with_the_app_which_says_so(project: Project) -> None:
    async with opened(project) as (app, pilot):
        server = await start_server(pilot, app)
        assert listens(server)
        words = app.replays.words()
    assert f"port {server.port} again" in words
    assert "A run that asks it pauses" in words
    assert server.process.poll() is not None
    assert not listens(server)


@pytest.mark.soak
async def test_refused_connection_leads_to_replay_on_the_same_port(project: Project) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        field(app, "base_url").value = f"http://127.0.0.1:{port}/v1"
        field(app, "model").value = field(app, "name").value = "my own"
        await press(pilot, "f5")
        assert "nothing listens there" in text_of(app, ".form-tested")
        assert "replay lets recorded replies answer" in text_of(app, ".form-tested")
        await press(pilot, "f7")
        assert field(app, "port").value == str(port)
        await press(pilot, "f4", "f5")
        assert (field(app, "model").value, field(app, "name").value) == ("sample-judge", "my own")
        assert text_of(app, ".form-tested").startswith("✓")


@pytest.mark.few(3)
@pytest.mark.parametrize("typed", ["replay", "sample", "recorded"])
async def test_palette_finds_replay(project: Project, typed: str) -> None:
    async with opened(project) as (app, pilot):
        hits = {str(hit.text): hit async for hit in DescribedCommands(app.screen).search(typed)}
        assert "Replay …" in hits
        app.open_verb("replay")
        await settle(pilot)
        assert screen_of(app, ReplayScreen).query(Static)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("file", "/nowhere/[bold].jsonl", "[bold].jsonl"),
        ("file", "", "A value is required."),
        ("port", "x", "'x' is not a valid integer"),
        ("port", "70000", "70000 is not in the range"),
    ],
)
async def test_invalid_file_is_reported_at_its_field(project: Project, name: str, value: str, message: str) -> None:
    async with opened(project) as (app, pilot):
        app.open_verb("replay")
        await settle(pilot)
        field(app, name).value = value
        await press(pilot, "f4")
        assert message in field(app, name).wrong
        assert not list(app.replays)


@pytest.mark.soak
async def test_port_in_use_and_file_without_replies_are_reported(project: Project, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with opened(project) as (app, pilot):
            app.open_verb("replay")
            await settle(pilot)
            field(app, "port").value = str(taken.getsockname()[1])
            await press(pilot, "f4")
            number = taken.getsockname()[1]
            another = "Leave “port” out for a free one."
            assert field(app, "port").wrong == f"Port {number} is in use by another program. {another}"
            # Skipped lines are reported before the error.
            some = str(write_lines(tmp_path / "s.jsonl", [{"match": "x"}, {"match": "x", "raw": "y"}]))
            field(app, "file").value = some
            await press(pilot, "f4")
            assert "is in use by another" in field(app, "port").wrong
            assert not field(app, "file").wrong
            field(app, "port").value = ""
            field(app, "file").value = str(tmp_path / "nofile.jsonl")
            await press(pilot, "f4")
            assert field(app, "file").wrong == f"File '{tmp_path / 'nofile.jsonl'}' does not exist."
            field(app, "file").value = str(write_lines(tmp_path / "r.jsonl", [{"match": "x"}]))
            await press(pilot, "f4")
            message = field(app, "file").wrong
            assert message.startswith(f"{tmp_path / 'r.jsonl'} holds no recorded reply. Line 1: ")
            assert message.count('A line is {"request"') == 1
            field(app, "file").value = str(
                write_lines(tmp_path / "s.jsonl", [{"match": "x"}, {"match": "x", "raw": "y"}])
            )
            await press(pilot, "f4")
            assert "1 line of s.jsonl left out" in notices(app)[-1]
            assert "model recorded" in text_of(app, "#replay-served")


@pytest.mark.soak
async def test_port_used_by_an_own_server_is_reported_with_its_key(project: Project, tmp_path: Path) -> None:
    async with opened(project) as (app, pilot):
        server = await start_server(pilot, app)
        await press(pilot, "f7")
        field(app, "file").value = str(write_lines(tmp_path / "r.jsonl", [{"match": "x", "raw": "y"}]))
        field(app, "port").value = str(server.port)
        await press(pilot, "f4")
        wrong = field(app, "port").wrong
        assert wrong.startswith(f"Port {server.port} is in use: judge_replies.jsonl is served there. f8 ends it.")
        await press(pilot, "f8", "f4")
        assert [one.port for one in app.replays] == [server.port]


BEGINNER = """
import sys, time
from pathlib import Path
from workbench.app.tui.replays import ReplayServers
servers = ReplayServers()
print(servers.start(Path(sys.argv[1])).process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.soak
def test_killed_app_leaves_no_server_behind(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.jsonl", [{"match": "x", "raw": "y"}])
    with subprocess.Popen([sys.executable, "-c", BEGINNER, str(file)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        # A file descriptor of the process shows when it has ended, although it is not a child of this process.
        watched = os.pidfd_open(server)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert select.select([watched], [], [], 60)[0] == [watched]
    os.close(watched)
