"""Evolution, representatives and duplicates from scripts: JSON documents, lines, files and exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.evolving import ActingSandbox, own_project
from tests.evolving_served import answering, own_tests
from tests.servers.scripted import ScriptedServer, scripted
from workbench.coding import problems as coding_problems
from workbench.core.code import Provenance

PROVENANCE = Provenance(
    interpreter="CPython", flags=(), packages="", hash_seed=0, level="L3", limits={}, extractor="fence-1"
)


class Sandbox(ActingSandbox):
    def provenance(self) -> Provenance:
        return PROVENANCE


@contextmanager
def opened(*_: object, **__: object) -> Iterator[Sandbox]:
    yield Sandbox()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Run ``workbench code …`` in this process; gives exit code, stdout and stderr."""
    monkeypatch.setattr(coding_problems, "opened_sandbox", opened)
    return partial(in_process(monkeypatch, capfd), "code")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answering(own_tests(2))) as made:
        yield made


@pytest.fixture
def database(tmp_path: Path) -> Path:
    own_project(tmp_path, 2).close()
    return tmp_path / "p.db"


def evolve(call: Call, database: Path, server: ScriptedServer, *more: object) -> tuple[int, str, str]:
    return call(
        *("evolve", database, "--name", "grown", "--model", "m", "-o", f"base_url={server.url}", "--rounds", 2), *more
    )


def test_an_evolution_is_run_shown_written_and_exported(
    call: Call,
    database: Path,
    server: ScriptedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    page, lines = tmp_path / "grown.html", tmp_path / "grown.jsonl"
    code, out, err = evolve(call, database, server, "--json", "--export", lines)
    assert (code, err) == (0, f"2 problems written to {lines}\n")
    report = json.loads(out)
    assert (report["problems"], report["finished"]) == (2, 2)
    assert report["settings"]["model"] == "m"
    shares = [one["pass_at"]["1"] for one in report["rounds"]]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < shares[0]
    assert json.loads(call("evolve", database, "--name", "grown", "--show", "--json")[1]) == report
    assert [json.loads(line)["task_id"] for line in lines.read_text().splitlines()] == ["own/10", "own/11"]
    assert in_process(monkeypatch, capfd)("report", database, "-o", page)[0] == 0
    html = page.read_text()
    assert all(f"figure {number}" in html for number in (4, 5, 6))
    assert "http" not in re.sub(r"http-equiv", "", html)
    assert [one["level"] for one in report["provenance"]] == ["L3"]


def test_text_has_the_tables_and_plots(call: Call, database: Path, server: ScriptedServer) -> None:
    code, out, _ = evolve(call, database, server)
    assert code == 0
    assert out.startswith("grown: 2 of 2 problems of own are finished.\n\nThe set after each round.")
    for words in ("figure 4", "figure 5", "figure 6", "table 2", "wrong: the reference solution fails it", "████"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 110


def test_only_some_problems_evolve(call: Call, database: Path, server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text('{"task_id": "own/11"}\n')
    code, out, _ = evolve(call, database, server, "--only", tmp_path / "kept.jsonl", "--json")
    assert code == 0
    assert json.loads(out)["problems"] == 1
    assert all("clip11" in body["messages"][-1]["content"] for body in server.bodies)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--name", "x"), "Name the model that writes the tests"),
        (("--name", "x", "--show"), "There is no evolution 'x'"),
        (("--name", "x", "--model", "m"), "base_url: it is missing"),
        (("--name", "base", "--model", "m", "-o", "base_url=http://localhost:1/v1"), "suite 'base' already"),
        (("--name", "x", "--model", "m", "-o", "colour=1"), "no option 'colour'"),
        (("--name", "x", "--model", "m", "--rounds", "0"), "--rounds"),
        (("--name", "x", "--model", "m", "--dataset", "d", "-o", "base_url=http://localhost:1/v1"), "No data set 'd'"),
    ],
    ids=["no-model", "none", "no-server", "taken", "option", "rounds", "dataset"],
)
def test_invalid_usage_is_reported_and_starts_nothing(
    call: Call, database: Path, more: tuple[str, ...], message: str
) -> None:
    code, out, err = call("evolve", database, *more)
    assert (code, out) == (2, "")
    assert message in err


def test_representatives_are_lines_and_bad_cases_are_rejected(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    cases: list[Any] = [
        {"name": "a", "vectors": ["111", "111", "110", "000"]},
        {"vectors": ["1x"]},
        {"vectors": ["10", "1"]},
        {"vectors": []},
        "[",
        {"vectors": 3},
    ]
    path.write_text("".join(f"{case if isinstance(case, str) else json.dumps(case)}\n" for case in cases))
    code, out, err = call("representatives", "--from", path, "--mode", "discriminative")
    assert code == 3
    found = [json.loads(line) for line in out.splitlines()]
    assert [(line["name"], line["selected"]) for line in found] == [("a", [0, 1, 2, 3])]
    assert [line.split(":")[1] for line in err.splitlines()] == ["2", "3", "4", "5", "6"]
    assert "Expected `array`" in err


def test_named_cases_in_one_document_are_read_and_seeded(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"some": {"vectors": ["1" * 10] * 8}}, indent=1))
    found = {
        seed: json.loads(call("representatives", "--from", path, "--mode", "adversarial", "--seed", seed)[1])
        for seed in range(6)
    }
    assert found[0] == {
        "name": "some",
        "selected": found[0]["selected"],
        "mode": "adversarial",
        "objective": "released",
        "seed": 0,
        "solutions": 8,
    }
    assert len({tuple(line["selected"]) for line in found.values()}) > 1


@pytest.mark.real_data
def test_the_shared_cases_give_the_released_results(call: Call, shared_data: Path) -> None:
    path = shared_data / "code/evolve_select_cases.json"
    cases = json.loads(path.read_text())
    for mode in ("adversarial", "discriminative"):
        code, out, _ = call("representatives", "--from", path, "--mode", mode)
        assert code == 0
        for line in map(json.loads, out.splitlines()):
            if line["name"].startswith(mode):
                assert line["selected"] == cases[line["name"]]["selected"], line["name"]


def test_duplicates_of_a_file_are_a_document_and_a_file_of_the_rest(call: Call, tmp_path: Path) -> None:
    path, kept = tmp_path / "vectors.jsonl", tmp_path / "kept.jsonl"
    rows = [{"task_id": name, "vector": vector} for name, vector in (("a", [1, 0]), ("b", [9, 1]), ("c", [0, 1]))]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, out, _ = call("duplicates", "--from", path, "--json", "--output", kept)
    assert code == 0
    assert json.loads(out)["kept"] == 2
    assert len(kept.read_text().splitlines()) == 2
    code, out, _ = call("duplicates", "--from", path, "--threshold", 0.999)
    assert code == 0
    assert "all          3      3  100.0" in out
    assert call("duplicates", "--from", path, "--local", "x")[0] == 2
    assert call("duplicates", tmp_path / "p.db")[0] == 2
