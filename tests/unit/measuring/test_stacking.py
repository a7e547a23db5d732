"""A simulated stack equals the stack that is run: each item, metric and call."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.served_runs import here_on
from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.accuracy import accuracy
from workbench.measuring.stacking import StackItems, read_stages, simulate, stack_items, stage_rows
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "tuples.jsonl"
REFUSAL = Scripted(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})
VERIFIERS = ("rules", "math-verify", "exact", "cheap", "dear", "graded")
STACKS = (
    "rules",
    "cheap, dear",
    "rules:correct, cheap, dear",
    "rules:correct, cheap:incorrect@A/B2, dear:correct@C/D, math-verify",
    "exact:correct, math-verify:correct, cheap:both@A, cheap:incorrect@B, dear",
    "graded:score>=3/score<=1, rules:correct, dear",
    "graded:incorrect/score>=4@A, cheap:correct, graded",
    "dear:both@B5",
    "cheap:correct, rules, cheap",
)


def answering(completions: list[str], seed: str, wrong: float) -> Any:
    """A judge that says the same of a completion in whichever project: yes, no, nothing readable, or fails."""
    known = sorted(set(completions), key=len, reverse=True)

    def answer(got: Received) -> str | Scripted:
        text = "\n".join(message["content"] for message in got.body["messages"])
        said = next((one for one in known if one in text), "")
        draw = int.from_bytes(hashlib.sha256(f"{seed}{said}".encode()).digest()[:4]) / 2**32
        if draw < 0.05:
            return REFUSAL
        if draw < 0.12:
            return "I would rather not say."
        if seed == "graded":
            return f"{int(draw * 5)}"
        return "Yes" if draw < 0.12 + wrong else "No"

    return answer


@contextmanager
def judges(completions: list[str]) -> Iterator[dict[str, ScriptedServer]]:
    with (
        scripted(answering(completions, "cheap", 0.4)) as cheap,
        scripted(answering(completions, "dear", 0.5)) as dear,
        scripted(answering(completions, "graded", 0.5)) as graded,
    ):
        yield {"cheap": cheap, "dear": dear, "graded": graded}


def configure(project: Project, servers: dict[str, ScriptedServer]) -> None:
    """Write the judges into the settings file; what is graded has scores of 0 to 1 by thresholds of ICE-Score."""
    kinds = {"cheap": 'strategy = "vanilla"', "dear": 'strategy = "vanilla"', "graded": 'strategy = "ice-score"'}
    text = "".join(
        f'[verifiers.{name}]\nkind = "llm-judge"\n{kinds[name]}\nbase_url = "{server.url}"\nmodel = "{name}"\n'
        for name, server in servers.items()
    )
    project.path.with_name("workbench.toml").write_text(text)


def made(folder: Path, file: Path) -> Project:
    folder.mkdir()
    project = open_project(folder / "p.db", create=True)
    import_files(project, plan_import([file]), dataset="items")
    return project


def texts(project: Project) -> list[str]:
    from workbench.runs.store.verifier_inputs import inputs

    reader = project.database.reader()
    found = [item for (item,) in reader.execute("SELECT id FROM completions ORDER BY id")]
    return [one.completion for one in inputs(project.database, found)]


@pytest.fixture(params=["sample", pytest.param("real", marks=pytest.mark.soak)])
def file(request: pytest.FixtureRequest) -> Path:
    return SAMPLE if request.param == "sample" else request.getfixturevalue("real_file")


@pytest.mark.soak
def test_a_simulation_equals_the_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    known = made(tmp_path / "known", file)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    shutil.copy(known.path, fresh / "p.db")
    with judges(texts(known)) as servers, here_on(known) as runs:
        configure(known, servers)
        for name in VERIFIERS:
            runs.claim()
            assert runs.work(start(known, name, trust=True).run).state == "complete"
        simulated = {text: (simulate(known, text), items_of(known, text)) for text in STACKS}
        for text, (report, items) in simulated.items():
            shutil.copy(fresh / "p.db", tmp_path / "p.db")
            real = open_project(tmp_path / "p.db")
            configure(real, servers)
            before = {name: len(server.received) for name, server in servers.items()}
            with here_on(real) as others:
                run = others.work(start(real, "stack", {"stages": text}, "s", trust=True).run)
                assert run.state == "complete"
                said = {line.completion_id: (line.verdict, line.rule) for line in verdict_lines(real, "s")}
                assert {key: value for key, value in said.items() if key in items} == items
                assert worth(report.figures) == worth(accuracy(real, verifiers=("s",)).rows[0])
                made_calls = {name: len(server.received) - before[name] for name, server in servers.items()}
                assert made_calls == calls_of(known, text)
            for path in tmp_path.glob("p.db*"):
                path.unlink()


def worth(row: Any) -> dict[str, Any]:
    names = (
        "n",
        "questions",
        "accuracy",
        "ci",
        "balanced_accuracy",
        "mcc",
        "fpr",
        "fnr",
        "coverage",
        "abstain",
        "error",
    )
    return {name: getattr(row, name) for name in names}


def items_of(project: Project, text: str) -> dict[str, tuple[str, str | None]]:
    """Completion -> verdict and rule, as simulated."""
    from workbench.core.verdict import OutcomeCode

    found = read_stages(text)
    names = tuple(dict.fromkeys(stage.name for stage in found))
    items = stack_items(project, names, "final", Selection())
    said = items.through(found)
    keys = dict(project.database.reader().execute("SELECT id, key FROM completions").fetchall())
    assert (said.outcome >= 0).all()
    return {
        keys[item]: (OutcomeCode(outcome).word, None if stage < 0 else f"stage.{found[stage].name}")
        for item, outcome, stage in zip(items.item.tolist(), said.outcome.tolist(), said.stage.tolist(), strict=True)
    }


def calls_of(project: Project, text: str) -> dict[str, int]:
    """Requests that a stack makes: one an item that a judge is asked about, with gold or without; equal ones once."""
    from workbench.runs.store.verifier_inputs import inputs

    found = read_stages(text)
    names = tuple(dict.fromkeys(stage.name for stage in found))
    items = stack_items(project, names, "final", Selection())
    asked = dict(zip(items.names, items.through(found).asked, strict=True))
    none = np.zeros(len(items.item), dtype=np.bool_)
    counts = {}
    for name in ("cheap", "dear", "graded"):
        rows = inputs(project.database, items.item[asked.get(name, none)].tolist())
        counts[name] = len({(one.question, one.reference, one.completion) for one in rows})
    return counts


def test_items_not_judged_by_a_stage_are_excluded_and_counted(tmp_path: Path) -> None:
    project = made(tmp_path / "p", SAMPLE)
    with here_on(project) as runs:
        runs.work(start(project, "rules").run)
        runs.claim()
        runs.work(start(project, "exact").run)
        with project.database.write() as connection:
            connection.execute("DELETE FROM verdict_evidence WHERE run_id = 2 AND completion_id % 2 = 0")
            connection.execute("DELETE FROM verdicts WHERE run_id = 2 AND completion_id % 2 = 0")
        whole = simulate(project, "rules")
        report = simulate(project, "rules:correct, exact")
        assert report.items + report.lacking == whole.items
        assert report.lacking > 0
        with pytest.raises(UsageError, match="No complete run of 'nobody'"):
            simulate(project, "rules, nobody")
        with pytest.raises(UsageError, match="--stages: 'x' decides nothing"):
            simulate(project, "rules:x")


def test_rates_of_a_stage_are_relative_to_its_items() -> None:
    """By hand: the first stage decides three of eight, one wrongly; the second decides the other five."""
    codes = np.zeros(8, dtype=np.int64)
    items = StackItems(
        names=("one", "two"),
        item=np.arange(8),
        question=np.arange(8),
        gold=np.array([1, 1, 0, 0, 0, 0, 1, 1], dtype=np.int8),
        outcomes=(
            np.array([1, 1, 1, 0, 0, 2, 0, 0], dtype=np.int8),
            np.array([0, 0, 1, 1, 0, 0, 1, 0], dtype=np.int8),
        ),
        scores=(None, None),
        took=(np.zeros((5, 8)), np.zeros((5, 8))),
        type=codes,
        types=("A",),
        subtype=codes,
        subtypes=("A1",),
    )
    found = read_stages("one:correct, two")
    rows = [row for row in stage_rows(found, items, items.through(found)) if row.group is None]
    assert [
        (row.reached, row.wrong, row.right, row.accepted, row.accepted_wrong, row.refused_right) for row in rows
    ] == [
        (8, 4, 4, 3, 1, 0),
        (5, 3, 2, 2, 1, 1),
    ]
    assert [(row.fpr, row.fnr) for row in rows] == [(1 / 4, 0.0), (1 / 3, 1 / 2)]
