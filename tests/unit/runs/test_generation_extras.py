"""Reasoning effort and provider fields: they reach every generating call, distinguish names, or are rejected."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.evolving import own_project
from tests.evolving_served import answering, need_a_sandbox, own_tests
from tests.helpers import make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from workbench.core.project import Project, opened_project
from workbench.runs.generation import models_from

EXTRA = {"chat_template_kwargs": {"enable_thinking": False}, "min_p": 0.05}
COMMANDS = {
    "code write-tests": ("--suite", "utg"),
    "code write-solutions": ("--name", "more", "--rounds", "1"),
    "code pool": ("--samples", "1"),
    "code evolve": ("--name", "grown", "--rounds", "1"),
    "code refine": ("--functions", "--output", "refined.jsonl"),
    "code scale": ("--n", "5"),
    "complete": ("--samples", "1", "--dataset", "own"),
    "curate types": (),
}
ANSWER = answering(own_tests(1))


def reply(received: Received) -> str:
    said = json.dumps(received.body)
    tests = ANSWER(received) if "clip10" in said and "discriminat" in said else ""
    return f"{tests}```python\ndef clip10(x):\n    return x\n```<assertion>assert clip10(1) == 1</assertion>"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    own_project(tmp_path, 1).close()
    return tmp_path / "p.db"


def questions(folder: Path) -> Project:
    (folder / "questions").mkdir()
    return make_project(folder / "questions", numbered(2))


def command(database: Path, server: ScriptedServer, words: str, *options: str) -> list[str]:
    first, *rest = words.split()
    place = [first, *rest, os.fspath(database)] if first == "code" else [first, os.fspath(database), *rest]
    given = ("model" not in words and ["--model", "m"]) or []
    return [*place, *given, "-o", f"base_url={server.url}", *options, *COMMANDS[words]]


def bodies(server: ScriptedServer) -> list[dict[str, Any]]:
    return [one.body for one in server.received if "messages" in one.body]


@pytest.mark.few(8)
@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_that_writes_sends_them(call: Call, tmp_path: Path, database: Path, words: str) -> None:
    need_a_sandbox()
    if not words.startswith("code"):
        database = questions(tmp_path).path
    if words == "code scale":
        call("verify", database, "execution")
    options = ("-o", "reasoning_effort=low", "-o", f"extra_body={json.dumps(EXTRA)}")
    with scripted(reply) as server:
        given = command(database, server, words, *options)
        if words == "complete":
            given[given.index("own")] = "sample"
        _, _, err = call(*given)
        assert bodies(server), err
    for body in bodies(server):
        assert body["reasoning_effort"] == "low"
        assert {name: body[name] for name in EXTRA} == EXTRA


@pytest.mark.parametrize("server_kind", [("anthropic", "output_config"), ("openrouter", "reasoning")])
def test_effort_is_in_the_field_of_the_server_kind(
    call: Call, database: Path, server_kind: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, field = server_kind
    monkeypatch.setenv("OPENROUTER_API_KEY", "k" * 20)
    with scripted(reply) as server:
        call(*command(database, server, "code pool", "-o", f"server={kind}", "-o", "reasoning_effort=high"))
        assert [body[field] for body in bodies(server)] == [{"effort": "high"}]


CONTINUED = ("code write-tests", "code pool", "code evolve")
CHANGES = ("reasoning_effort=high", 'extra_body={"min_p": 0.1}', "fold_system=true")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("words", "change"),
    [
        pytest.param(words, change, marks=() if place == other else pytest.mark.soak)
        for place, words in enumerate(CONTINUED)
        for other, change in enumerate(CHANGES)
    ],
)
def test_a_name_resumes_only_with_the_same_settings(call: Call, database: Path, words: str, change: str) -> None:
    """All texts of a name are requested in the same way; otherwise a suite would have two writers."""
    need_a_sandbox()
    with scripted(reply) as server:
        call(*command(database, server, words, "-o", "reasoning_effort=low"))
        asked = len(server.received)
        code, _, err = call(*command(database, server, words, "-o", "reasoning_effort=low", "-o", change))
        assert (code, len(server.received)) == (2, asked), err
        assert "another" in err or "other" in err
        assert call(*command(database, server, words, "-o", "reasoning_effort=low"))[0] in (0, 3)


def test_an_older_name_resumes_without_settings(call: Call, database: Path) -> None:
    with opened_project(database) as project:
        config = models_from(project, ["m"], {"base_url": "http://localhost:1/v1"}).config()
    assert config["m"].keys() == {"server", "model", "sampling"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("reasoning_effort=very high", "one word"),
        ('extra_body={"messages": []}', "'messages'"),
        ("extra_body=[1]", "JSON object"),
        ("server=anthropic", "top_k|seed|max_tokens_field"),
    ],
)
def test_invalid_settings_are_rejected_before_any_request(call: Call, database: Path, option: str, says: str) -> None:
    more = ("-o", "max_tokens_field=x") if option == "server=anthropic" else ()
    with scripted(reply) as server:
        code, out, err = call(*command(database, server, "code write-tests", "-o", option, *more))
        assert (code, out, server.received) == (2, "", [])
    assert any(word in err for word in says.split("|"))


@pytest.mark.parametrize("option", ["reasoning_effort=low", "max_tokens_field=max_x", "fold_system=true"])
def test_embeddings_reject_chat_settings(call: Call, database: Path, option: str) -> None:
    with scripted(reply) as server:
        code, _, err = call(
            *("code", "duplicates", database, "--model", "m", "-o", f"base_url={server.url}", "-o", option)
        )
        assert (code, server.received) == (2, [])
    assert "this option is for chat" in err


def test_two_models_that_differ_only_in_effort_both_complete(call: Call, tmp_path: Path) -> None:
    project = questions(tmp_path)
    with scripted(lambda _: "4") as server:
        common = f'base_url = "{server.url}"\nmodel = "q"\nsamples = 1\ntemperature = 0.5\n'
        plan = tmp_path / "plan.toml"
        plan.write_text(
            'dataset = "sample"\n'
            f'[[models]]\nname = "thinks"\n{common}reasoning_effort = "high"\n'
            f'[[models]]\nname = "does-not"\n{common}reasoning_effort = "none"\n'
        )
        code, _, err = call("complete", project.path, plan, "--trust")
        assert code == 0, err
        assert sorted(body["reasoning_effort"] for body in bodies(server)) == ["high", "none"]
        plan.write_text(plan.read_text().replace('"none"', '"high"'))
        assert "in the same way" in call("complete", project.path, plan, "--trust")[2]
