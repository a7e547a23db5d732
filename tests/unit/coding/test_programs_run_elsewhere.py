"""Programs that need a scratch folder or packages, as in BigCodeBench: every command that runs code provides them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.commands import in_process
from tests.servers.scripted import scripted
from tests.servers.wire import Received
from tests.unit.verifiers.execution.conftest import missing
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import open_project
from workbench.runs.store.runs import of_run

Call = Callable[..., tuple[int, str, str]]

SIGNATURE = "def kept(text):"
WRITES = (
    f"{SIGNATURE}\n    with open('kept.txt', 'w') as file:\n        file.write(text)\n"
    "    return open('kept.txt').read()\n"
)
WRONG = WRITES.replace("file.write(text)", "file.write(text[:1])")
TESTS = [f"assert kept({text!r}) == {text!r}" for text in ("a", "ab", "abc", "", "b")]
NEW = [f"assert kept({text!r}) == {text!r}" for text in ("xyz", "q", "longer", "r", "st", "u")]
PROBLEM = {
    "task_id": "own/1",
    "prompt": f"{SIGNATURE}\n    ...\n",
    "canonical_solution": WRITES,
    "entry_point": "kept",
    "tests": TESTS,
}
FOLDER = ("--scratch", "2MB")


@pytest.fixture(autouse=True)
def _needs_namespaces() -> None:
    if why := missing("L3"):
        pytest.skip(why)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def done(call: Call) -> Callable[..., Any]:
    def run(*words: object) -> Any:
        code, out, err = call(*words)
        assert code == 0, err
        return json.loads(out) if "--json" in words else out

    return run


def imported(folder: Path, done: Callable[..., Any], solutions: tuple[str, ...]) -> Path:
    (folder / "problems.jsonl").write_text(json.dumps(PROBLEM))
    lines = [json.dumps({"task_id": "own/1", "solution": f"{one}# {n}"}) + "\n" for n, one in enumerate(solutions)]
    (folder / "solutions.jsonl").write_text("".join(lines))
    for name in ("problems", "solutions"):
        done("import", folder / "p.db", folder / f"{name}.jsonl", "--dataset", "own")
    return folder / "p.db"


def reply(received: Received) -> str:
    said = json.dumps({"question": "Keep a text.", "entry_point": "kept", "solution": WRITES, "tests": NEW})
    return f"```python\n{WRITES}```\n```json\n{said}\n```"


def limits_of(path: Path, run: int) -> list[float | None]:
    with closing(open_project(path)) as project:
        return [one.limits.get("scratch_bytes") for one in of_run(project.database.reader(), run)]


@pytest.mark.soak
def test_tests_evolve_against_solutions_that_write(tmp_path: Path, done: Callable[..., Any], call: Call) -> None:
    path = imported(tmp_path, done, (WRITES, WRONG))
    with scripted(reply) as server:
        words = ("code", "evolve", path, "--model", "m", "-o", f"base_url={server.url}", "--rounds", 1, "--json")
        closed = done(*words, "--name", "closed")
        opened = done(*words, "--name", "opened", *FOLDER)
        code, _, err = call(*words, "--name", "opened")
    assert (closed["rounds"][0]["mean_score"], opened["rounds"][0]["mean_score"]) == (None, pytest.approx(0.8))
    assert (closed["steps"][0]["taken"], opened["steps"][0]["taken"]) == (0, 6), (
        "by its reference every new test is right"
    )
    assert opened["settings"]["scratch"] == 2
    assert code == 2
    assert "scratch" in err, "the same name with another folder would mix outcomes"


def test_solutions_that_write_are_scored_with_a_folder(tmp_path: Path, done: Callable[..., Any]) -> None:
    path = imported(tmp_path, done, (WRONG,))
    with scripted(reply) as server:
        words = ("code", "write-solutions", path, "--model", "m", "-o", f"base_url={server.url}", "--rounds", 1)
        options = ("--kinds", "correct", "--suite", "base", "--json")
        closed = done(*words, *options, "--name", "closed")
        opened = done(*words, *options, "--name", "opened", *FOLDER)
    assert [one["scores"] for one in closed["problems"]] == [[]]
    assert [one["scores"] for one in opened["problems"]] == [[1.0, 0.6]]
    assert [limits_of(path, one["run"]) for one in (closed, opened)] == [[None], [2 << 20]]


def test_a_rewritten_problem_may_write_files(tmp_path: Path, done: Callable[..., Any]) -> None:
    path = imported(tmp_path, done, ())
    with scripted(reply) as server:
        words = ("code", "refine", path, "--model", "m", "-o", f"base_url={server.url}", "--functions", "--json")
        closed = done(*words, "--output", tmp_path / "closed.jsonl")
        opened = done(*words, "--output", tmp_path / "opened.jsonl", *FOLDER)
    assert [(one["passed_tests"], one["tests"]) for one in (closed, opened)] == [(0, 6), (6, 6)]


def test_an_invalid_size_is_rejected_before_any_request(tmp_path: Path, done: Callable[..., Any], call: Call) -> None:
    path = imported(tmp_path, done, (WRITES, WRONG))
    with scripted(reply) as server:
        for verb in (
            ("evolve", "--name", "n"),
            ("write-solutions", "--name", "n"),
            ("refine", "--functions", "--output", tmp_path / "new.jsonl"),
        ):
            words = ("code", verb[0], path, *verb[1:], "--model", "m", "-o", f"base_url={server.url}")
            for value in ("16 GB", "1009"):
                code, _, err = call(*words, "--scratch", value)
                assert code == 2, err
                assert "scratch" in err
        assert server.received == []


PACKAGED = f"import msgspec\n{SIGNATURE}\n    return msgspec.json.decode(msgspec.json.encode(text))\n"
ROOMY = f"{SIGNATURE}\n    return text if len(bytearray(1200 << 20)) else None\n"


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("reference", "options"),
    [
        (PACKAGED, ("-o", f"python={sys.executable}", "-o", "memory=4096")),
        (ROOMY, ("-o", "memory=2048", "-o", "timeout=30")),
        (WRITES, ("-o", "scratch=2MB")),
    ],
    ids=["packages", "memory", "folder"],
)
def test_a_reference_is_run_as_the_solutions_were(
    reference: str, options: tuple[str, ...], tmp_path: Path, done: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROBLEM, "canonical_solution", reference)
    path = imported(tmp_path, done, (f"{SIGNATURE}\n    return text[:1]\n", f"{SIGNATURE}\n    return 'a'\n"))
    done("verify", path, "execution", *options)
    (line,) = map(json.loads, done("code", "select", path).splitlines())
    assert (line["selected"][0], line["ground_truth_from"]) == ("reference", "reference")
    assert line["scores"][:2] == [1.0, 0.6]


def test_each_suite_of_a_reference_is_run_as_its_own_run_was(tmp_path: Path, done: Callable[..., Any]) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({**PROBLEM, "plus_tests": ["assert kept('zz') == 'zz'"]}))
    (tmp_path / "s.jsonl").write_text(
        json.dumps({"task_id": "own/1", "solution": f"{SIGNATURE}\n    return text[:1]\n"})
    )
    for name in ("p", "s"):
        done("import", tmp_path / "p.db", tmp_path / f"{name}.jsonl", "--dataset", "own")
    done("verify", tmp_path / "p.db", "execution", "--name", "one", "-o", "scratch=2MB")
    done("verify", tmp_path / "p.db", "execution", "--name", "two", "-o", "suite=plus")
    (line,) = map(json.loads, done("code", "select", tmp_path / "p.db").splitlines())
    # Five of six: the second run has no scratch folder.
    assert (line["selected"][0], line["scores"]) == ("reference", [0.83, 0.5])


def test_selecting_needs_trust_in_the_interpreter_of_a_run(
    tmp_path: Path, done: Callable[..., Any], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROBLEM, "canonical_solution", PACKAGED)
    path = imported(tmp_path, done, (f"{SIGNATURE}\n    return text[:1]\n",))
    done("verify", path, "execution", "-o", f"python={sys.executable}", "-o", "memory=4096")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "somebody-else"))
    code, out, err = call("code", "select", path)
    assert (code, out) == (2, "")
    assert "interpreter" in err
    assert json.loads(done("code", "select", path, "--trust"))["scores"] == [1.0, 0.6]
