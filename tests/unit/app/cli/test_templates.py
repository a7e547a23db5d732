"""``workbench template``: ours printed, a user's own checked before anybody is asked by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Call, in_process

call = pytest.fixture(in_process)


def test_ours_is_printed_and_checks_as_what_it_is(call: Call, tmp_path: Path) -> None:
    status, text, _ = call("template", "show", "-o", "strategy=codejudge")
    assert status == 0
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    status, text, _ = call("template", "check", mine, "--json")
    found = json.loads(text)
    assert (status, found["kind"], found["parser"], found["fence"], found["lacks"]) == (
        0,
        "template",
        "codejudge",
        True,
        [],
    )
    analysis, summary = found["calls"]
    assert analysis["placeholders"] == ["completion", "example", "question", "reference"]
    assert analysis["optional"] == ["example", "reference"]
    assert (summary["placeholders"], summary["sampling"]["max_tokens"]) == (["analysis"], 10)


def test_a_prompt_of_the_release_is_known_by_its_bytes(call: Call, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt" / "wo_ref.txt"
    prompt.parent.mkdir()
    prompt.write_text("{question}\n{completion}")
    status, text, _ = call("template", "check", prompt)
    assert status == 0
    assert "its bytes differ" in text
    assert "as they are, without a fence" in text
    assert f"-o published={tmp_path} -o reference=false" in text
    prompt.write_text("{question}")
    status, _, said = call("template", "check", prompt)
    assert status == 2
    assert "{completion} is missing" in said


def test_what_is_wrong_is_said_with_its_line(call: Call, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('id = "m"\nversion = 1\nparser = "verifybench"\n[[calls]]\nname = "cc"\n[[calls.messages]]\n')
    status, _, said = call("template", "check", mine)
    assert status == 2
    assert f"{mine}:6" in said, said
    status, _, said = call("template", "show", "-o", "strategy=chess")
    assert status == 2
    assert "strategy" in said


def test_the_roles_of_a_search_are_shown_and_checked(call: Call, tmp_path: Path) -> None:
    status, said, _ = call("template", "show", "-o", "strategy=mcts")
    assert status == 0
    assert all(f'name = "{role}"' in said for role in ("analyse", "assess", "compare"))
    (tmp_path / "assess.txt").write_text("<|user|>: {agent} after {history} on {code}?")
    (tmp_path / "notes.md").write_text("nothing of a role's")
    status, said, _ = call("template", "check", tmp_path)
    assert status == 0
    assert "put in: completion, done, title" in said
    assert "codejudge: Yes or No" in said
    assert f"-o strategy=mcts -o prompts={tmp_path}" in said
    (tmp_path / "asess.txt").write_text("x")
    status, _, said = call("template", "check", tmp_path)
    assert status == 2
    assert "'asess' is no role" in said


def test_what_it_says_to_ask_by_can_be_typed_as_it_stands(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = tmp_path / "VerifyBench" / "prompt" / "w_ref.txt"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("{question}{answer}{completion}")
    for folder, name, published in (
        (tmp_path, "VerifyBench/prompt/w_ref.txt", "VerifyBench"),
        (prompt.parent.parent, "prompt/w_ref.txt", "."),
        (prompt.parent, "w_ref.txt", str(prompt.parent.parent)),
        (prompt.parent, "./w_ref.txt", str(prompt.parent.parent)),
        (tmp_path, prompt, prompt.parent.parent),
    ):
        monkeypatch.chdir(folder)
        _, text, _ = call("template", "check", name)
        assert f"-o published={published}\n" in text, name
    elsewhere = tmp_path / "w_ref.txt"
    elsewhere.write_text("{question}{answer}{completion}")
    monkeypatch.chdir(tmp_path)
    _, text, _ = call("template", "check", "w_ref.txt")
    assert "-o published=FOLDER (once this file is FOLDER/prompt/w_ref.txt)" in text
