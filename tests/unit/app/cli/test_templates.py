"""``workbench template``: built-in templates printed, custom ones checked before use."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process

call = pytest.fixture(in_process)


def test_a_built_in_template_is_printed_and_passes_the_check(call: Call, tmp_path: Path) -> None:
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


def test_a_released_prompt_is_recognised_by_its_bytes(call: Call, tmp_path: Path) -> None:
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


def test_errors_are_reported_with_their_line(call: Call, tmp_path: Path) -> None:
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
    assert "'asess' is not a valid role" in said


def test_the_suggested_options_can_be_typed_as_printed(
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


PAPERS = [
    ("tests", "{question}", ["question"], {"temperature": 1.0}, "code write-tests DB --template FILE"),
    (
        "tests",
        "{question}{solution}",
        ["question", "solution"],
        {"temperature": 1.0},
        "--with-solution --template FILE",
    ),
    ("correct", "{input}", ["question"], {"temperature": 1.0}, "code write-solutions DB --template correct=FILE"),
    ("incorrect", "{question}", ["question"], {"temperature": 1.0}, "write-solutions DB --template incorrect=FILE"),
    (
        "with-reference",
        "{instruction} {program}",
        ["question", "solution"],
        {"temperature": 0.6, "top_p": 0.95, "max_tokens": 8192},
        "code refine DB --template with-reference=FILE",
    ),
    (
        "without-reference",
        "<<instruction>>",
        ["question"],
        {"temperature": 0.6, "top_p": 0.95, "max_tokens": 8192},
        "code refine DB --template without-reference=FILE",
    ),
    (
        "adversarial",
        "{question}{program1}{eval_tests}",
        ["eval_tests", "program1", "question"],
        {"temperature": 0.6, "top_p": 0.95, "max_tokens": 8192},
        "code evolve DB --template adversarial=FILE",
    ),
    ("types", "{question} {answer}", ["answer", "question"], None, "curate DB types --template FILE"),
]


@pytest.mark.parametrize(("asked", "text", "put_in", "sampling", "command"), PAPERS)
def test_a_prompt_without_a_verdict_is_checked_for_its_own_output(
    asked: str, text: str, put_in: list[str], sampling: dict[str, Any] | None, command: str, call: Call, tmp_path: Path
) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(text)
    status, said, error = call("template", "check", prompt, "--for", asked, "--json")
    assert status == 0, error
    found = json.loads(said)
    (request,) = found["calls"]
    assert (request["roles"], request["placeholders"]) == (["user"], put_in)
    assert sampling is None or request["sampling"] == sampling
    assert found["sha256"] == sha256(text.encode()).hexdigest()
    assert (found["fence"], bool(found["parser"])) == (False, True)
    status, said, _ = call("template", "check", prompt, "--for", asked)
    assert command.replace("FILE", str(prompt)) in said


@pytest.mark.parametrize(
    ("asked", "lacks"), [("with-reference", "{solution}"), ("types", "{question}"), ("tests", "{q")]
)
def test_a_template_that_lacks_a_text_is_rejected(asked: str, lacks: str, call: Call, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{question}" if asked == "with-reference" else "nothing")
    status, _, said = call("template", "check", prompt)
    assert status == 2
    assert "--for" in said
    status, _, said = call("template", "check", prompt, "--for", asked)
    assert status == 2
    assert lacks in said
