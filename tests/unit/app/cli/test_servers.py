"""``models``, ``preview``, ``transcripts``, ``correlate`` and ``--trust`` from scripts; keys are never shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.replaying import replay
from tests.servers.scripted import ScriptedServer, scripted
from workbench.app.cli import root
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import WorkbenchError
from workbench.core.project import Project

KEY = "sk-never-to-be-shown"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(lambda received: "4" if "c0" in str(received.body) else "3") as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    rows = [{**row, "completion": f"answer {row['completion_id']}"} for row in numbered(2)]
    with runner_ends(make_project(tmp_path, rows)) as made:
        text = f'base_url = "{server.url}"\nmodel = "m"\napi_key_env = "JUDGE_KEY"\nstrategy = "ice-score"\n'
        made.path.with_name("workbench.toml").write_text(f'[verifiers.ice]\nkind = "llm-judge"\n{text}')
        yield made


def call(project: Project, verb: str, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(root, [verb, os.fspath(project.path), *arguments])
    code, err = done.exit_code, done.stderr
    if isinstance(done.exception, WorkbenchError):
        code, err = done.exception.exit_code, f"{err}{done.exception}"
    elif not isinstance(done.exception, SystemExit | None):
        raise done.exception
    assert KEY not in done.stdout + err
    return code, done.stdout, err


def document(project: Project, verb: str, *arguments: str) -> Any:
    code, out, err = call(project, verb, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.few(2)
@pytest.mark.parametrize("command", [("verify", "ice"), ("models", "ice")])
def test_without_a_terminal_trust_needs_the_option(
    project: Project, server: ScriptedServer, command: tuple[str, str]
) -> None:
    code, out, err = call(project, *command)
    assert (code, out) == (2, "")
    assert f"the server {server.url} with the key in JUDGE_KEY" in err
    assert "--trust" in err
    assert server.received == []
    assert call(project, *command, "--trust")[0] == 0
    assert call(project, *command)[0] == 0
    assert {received.headers["authorization"] for received in server.received} == {f"Bearer {KEY}"}


def test_a_template_is_shown_before_it_is_trusted(project: Project) -> None:
    template = (
        'id = "own"\nversion = 1\nparser = "verifybench"\n[[calls]]\nname = "judge"\n'
        '[[calls.messages]]\nrole = "user"\ncontent = "Send {completion} to \\u001b[31mme"\n'
    )
    project.path.with_name("own.toml").write_text(template)
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write(
            '[verifiers.own]\nkind = "llm-judge"\nbase_url = "http://h/v1"\nmodel = "m"\nprompt = "own.toml"\n'
        )
    code, _, err = call(project, "verify", "own")
    assert code == 2
    assert '    | content = "Send {completion} to \\u001b[31mme"' in err


def test_models_describes_problems(project: Project, server: ScriptedServer) -> None:
    (found,) = document(project, "models", "ice", "--trust")
    assert found["roles"] == ["judge"]
    assert any(finding["level"] == "good" for finding in found["findings"])
    unknown = "http://127.0.0.1:1/v1"
    code, out, _ = call(project, "models", "llm-judge", "-o", f"base_url={unknown}", "-o", "model=m")
    assert code == 1
    assert unknown in out
    code, out, _ = call(project, "models", "ice", "-o", "api_key_env=NO_SUCH_KEY", "--trust")
    assert code == 1
    assert "NO_SUCH_KEY" in out
    code, _, err = call(project, "models", "exact")
    assert code == 2
    assert "asks no model server" in err


def test_models_sends_the_requests_of_the_judge(project: Project, server: ScriptedServer) -> None:
    given = ("-o", f"base_url={server.url}", "-o", "model=m", "-o", "strategy=codejudge", "-o", "max_tokens=100")
    options = (*given, "-o", "call_max_tokens=summary:64", "-o", 'extra_body={"min_p": 0.1}', "-o", "temperature=none")
    document(project, "models", "llm-judge", *options)
    tried = [received.body for received in server.received if received.method == "POST"]
    assert [(body["max_tokens"], body["min_p"], "temperature" in body) for body in tried] == [
        (100, 0.1, False),
        (64, 0.1, False),
    ]
    server.received.clear()
    call(project, "verify", "llm-judge", "--name", "code", *options)
    shapes = {
        json.dumps(received.body | {"messages": [one["role"] for one in received.body["messages"]]})
        for received in server.received
    }
    assert shapes == {json.dumps(body | {"messages": [one["role"] for one in body["messages"]]}) for body in tried}


def test_models_shows_the_verdict_of_a_reply(project: Project, server: ScriptedServer) -> None:
    options = ("-o", f"base_url={server.url}", "-o", "model=m")
    (found,) = document(project, "models", "llm-judge", *options)
    assert any(
        "The question has a right answer, of which that says:" in finding["text"] for finding in found["findings"]
    )


def test_a_preview_equals_the_request(project: Project, server: ScriptedServer) -> None:
    (planned,) = document(project, "preview", "ice", "--item", "c1")
    assert server.received == []
    code, out, _ = call(project, "preview", "ice", "--item", "c1")
    assert code == 0
    assert f"POST {server.url}/chat/completions" in out
    assert "answer c1" in out
    call(project, "verify", "ice", "--trust")
    assert planned["body"] in [received.body for received in server.received]
    assert call(project, "preview", "ice", "--item", "zz")[0] == 2


@pytest.mark.soak
def test_transcripts_can_be_replayed_in_another_database(
    project: Project, server: ScriptedServer, tmp_path: Path
) -> None:
    call(project, "verify", "ice", "--trust")
    code, out, err = call(project, "transcripts", "--verifier", "ice")
    assert (code, err, len(out.splitlines())) == (0, "", 2)
    file = tmp_path / "recorded.jsonl"
    file.write_text(out)
    (tmp_path / "b").mkdir()
    rows = [{**row, "completion": f"answer {row['completion_id']}"} for row in numbered(2)]
    with runner_ends(make_project(tmp_path / "b", rows)) as other, replay(file) as running:
        options = ("-o", f"base_url={running.url}", "-o", "model=m", "-o", "strategy=ice-score")
        assert document(other, "verify", "llm-judge", *options)["verdicts"]["error"] == 0
        again = call(other, "transcripts", "--verifier", "llm-judge")[1]
    assert [json.loads(line)["origin"] for line in again.splitlines()] == ["recorded.jsonl"] * 2
    assert len(server.received) == 2


@pytest.mark.soak
def test_correlations_are_reported_with_how_many_questions_have_one(project: Project) -> None:
    call(project, "verify", "ice", "--trust")
    report = document(project, "correlate", "ice")
    assert (report["verifier"], report["n"], report["unscored"], report["gold_choice"]) == ("ice", 2, 0, "final")
    assert [row["method"] for row in report["rows"]] == ["kendall", "pearson", "spearman"]
    assert report["rows"][0] == {"method": "kendall", "corpus": 1.0, "per_question": 1.0, "defined": 1, "questions": 1}
    code, out, _ = call(project, "correlate", "ice")
    assert (code, "1 of 1" in out) == (0, True)
    call(project, "verify", "exact")
    for name in ("exact", "nobody"):
        assert call(project, "correlate", name)[0] == 2


def test_verifiers_lists_entries_of_the_file_and_their_errors(project: Project) -> None:
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write(f'[verifiers.bad]\nkind = "llm-judge"\napi_key_env = "{KEY}"\n[verifiers.worse]\nkey = "{KEY}"\n')
    code, out, err = call(project, "verifiers")
    assert code == 0
    assert "as ice in workbench.toml: -o base_url=" in out
    assert [line.partition("verifiers.")[2].split()[0] for line in err.splitlines()] == [
        "bad.api_key_env",
        "worse.kind",
    ]
    kinds = json.loads(call(project, "verifiers", "--json")[1])
    assert [one["name"] for kind in kinds for one in kind["written"]] == ["ice"]
