"""A database or settings file of another user sends no request until this user trusts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import kill, runner_ends, runner_pid
from tests.helpers import add_items, make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.runs.previewing import check_servers, preview_calls
from workbench.runs.run_status import wait
from workbench.runs.trust import NotTrustedError
from workbench.runs.verifying import kinds, resume, settings_problems, start

ITEMS = 4


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(lambda received: "Final Judgment: Yes") as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with runner_ends(make_project(tmp_path, numbered(ITEMS))) as made:
        yield made


def other_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Become another user, who has accepted nothing."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder / "somebody-else"))


def configure(project: Project, server: ScriptedServer, extra: str = "") -> None:
    text = f'[verifiers.judge]\nkind = "llm-judge"\nbase_url = "{server.url}"\nmodel = "m"\n{extra}'
    project.path.with_name("workbench.toml").write_text(text)


def by_hand(server: ScriptedServer) -> dict[str, str]:
    return {"base_url": server.url, "model": "m"}


def ended(project: Project, info: RunInfo) -> str:
    return wait(project, info.run).state


@pytest.mark.soak
def test_a_settings_file_needs_trust(project: Project, server: ScriptedServer) -> None:
    configure(project, server)
    with pytest.raises(NotTrustedError, match=server.url):
        start(project, "judge")
    with pytest.raises(NotTrustedError):
        start(project, "judge", {"temperature": "0.5"})
    with pytest.raises(NotTrustedError):
        check_servers(project, "judge", {})
    assert server.received == []
    assert ended(project, start(project, "judge", trust=True)) == "complete"
    assert len(server.received) == ITEMS
    assert start(project, "judge").reused == ITEMS


def test_typed_options_are_trusted_and_remembered(project: Project, server: ScriptedServer) -> None:
    assert ended(project, start(project, "llm-judge", by_hand(server), "named")) == "complete"
    assert start(project, "named").reused == ITEMS


def test_a_typed_address_does_not_trust_the_key_of_the_file(project: Project, server: ScriptedServer) -> None:
    configure(project, server, 'api_key_env = "AWS_SECRET_ACCESS_KEY"\n')
    start(project, "llm-judge", by_hand(server), "named")
    with pytest.raises(NotTrustedError, match="AWS_SECRET_ACCESS_KEY"):
        start(project, "judge", {"base_url": server.url})


def test_a_foreign_database_sends_nothing(
    project: Project, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(project, "llm-judge", by_hand(server), "theirs")
    assert ended(project, run) == "complete"
    asked = len(server.received)
    other_user(tmp_path, monkeypatch)
    with pytest.raises(NotTrustedError, match=server.url):
        start(project, "theirs")
    with pytest.raises(NotTrustedError, match=server.url):
        resume(project, run.run)
    assert len(server.received) == asked
    assert resume(project, run.run, trust=True).state == "complete"
    start(project, "theirs")


def test_a_runner_skips_an_untrusted_queued_run(
    project: Project, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(project, "llm-judge", by_hand(server), "theirs")
    ended(project, run)
    if (pid := runner_pid(project)) is not None:
        kill(pid)
    add_items(project.database, [{"completion_id": "late"}])
    with project.database.write() as connection:
        connection.execute("UPDATE runs SET state = 'queued'")
    asked = len(server.received)
    other_user(tmp_path, monkeypatch)
    own = start(project, "exact")
    assert ended(project, own) == "complete"
    theirs = wait(project, run.run)
    assert theirs.state == "paused"
    assert server.url in (theirs.message or "")
    assert len(server.received) == asked


def test_a_settings_file_cannot_rename_a_kind(project: Project, server: ScriptedServer) -> None:
    path = project.path.with_name("workbench.toml")
    path.write_text(f'[verifiers.exact]\nkind = "llm-judge"\nbase_url = "{server.url}"\nmodel = "m"\n')
    assert wait(project, start(project, "exact").run).kind == "exact"
    assert ["name of a kind" in problem.message for problem in settings_problems(project)] == [True]


def test_wrong_entries_are_listed_and_the_others_work(project: Project, server: ScriptedServer) -> None:
    extra = '[verifiers.a]\nkind = "llm-judge"\napi_key = "sk-secret"\n[verifiers.b]\nkind = "none"\n[verifiers.c]\n'
    configure(project, server, extra)
    problems = [str(problem) for problem in settings_problems(project)]
    assert [text.partition("workbench.toml:")[2].split()[0].rstrip(":") for text in problems] == [
        "verifiers.a.api_key",
        "verifiers.b.kind",
        "verifiers.c.kind",
    ]
    assert not any("secret" in text for text in problems)
    (judge,) = [kind for kind in kinds(project) if kind.name == "llm-judge"]
    assert [entry.name for entry in judge.written] == ["judge"]


def test_a_wrong_value_is_named_by_file_and_field(project: Project, server: ScriptedServer) -> None:
    configure(project, server, "max_calls = -1\n")
    with pytest.raises(UsageError, match=r"workbench\.toml:verifiers\.judge\.max_calls: ") as caught:
        start(project, "judge")
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError) as caught:
        start(project, "judge", {"max_calls": "x"})
    assert "workbench.toml" not in caught.value.message


@pytest.mark.soak
def test_a_preview_needs_no_trust_and_no_network(project: Project, server: ScriptedServer) -> None:
    configure(project, server)
    (call,) = preview_calls(project, "judge", {}, "c1")
    assert server.received == []
    start(project, "judge", trust=True)
    wait(project, 1)
    assert bytes(call.body) in [received.raw for received in server.received]
    assert call.url == f"{server.url}/chat/completions"
    assert any("So \\boxed{8}." in line for line in call.lines())
    with pytest.raises(UsageError, match="no completion 'c99'"):
        preview_calls(project, "judge", {}, "c99")
    with pytest.raises(UsageError, match="asks no model server"):
        preview_calls(project, "exact", {}, "c1")
