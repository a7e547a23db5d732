"""Imported verdict files: one run per verifier, no duplicates, nothing overwritten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project, batches
from workbench.measuring.accuracy import accuracy
from workbench.runs import verdict_files, verifying
from workbench.runs.verdict_files import import_verdicts, verdict_lines


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(6))


def write(tmp_path: Path, lines: Iterable[Any], name: str = "v.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def verdict_row(item: int, verdict: str | None = "correct", **more: Any) -> dict[str, Any]:
    return {"completion_id": f"c{item}", "verifier": "theirs", "verdict": verdict, **more}


def test_each_verifier_of_a_file_gets_a_complete_run(project: Project, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [
            *(
                verdict_row(n, "correct" if n % 2 == 0 else "incorrect", reason="own_code", detail="why")
                for n in range(6)
            ),
            *({"completion_id": f"c{n}", "verifier": "Org/model-1", "score": n / 10} for n in range(4)),
        ],
    )
    report = import_verdicts(project, path)
    assert (report.imported, report.unchanged, report.refused) == (10, 0, 0)
    assert {row.verifier: (row.accuracy, row.coverage) for row in accuracy(project).rows if row.group is None}[
        "theirs"
    ] == (1.0, 1.0)
    (first, *_) = verdict_lines(project, "theirs")
    assert (first.verdict, first.reason, first.detail) == ("correct", "own_code", "why")
    assert [(line.verdict, line.score, line.reason) for line in verdict_lines(project, "Org/model-1")] == [
        ("abstain", n / 10, "no_threshold") for n in range(4)
    ]


def test_repeated_or_partial_imports_give_the_same_result(project: Project, tmp_path: Path) -> None:
    first, rest = write(tmp_path, map(verdict_row, range(4)), "a"), write(tmp_path, map(verdict_row, range(6)), "b")
    import_verdicts(project, first)
    again = import_verdicts(project, rest)
    assert (again.imported, again.unchanged) == (2, 4)
    before = [*verdict_lines(project, "theirs")]
    third = import_verdicts(project, rest)
    assert (third.imported, third.unchanged, [*verdict_lines(project, "theirs")]) == (0, 6, before)


def test_a_conflicting_verdict_is_rejected_unless_of_another_version(project: Project, tmp_path: Path) -> None:
    import_verdicts(project, write(tmp_path, [verdict_row(0)]))
    other = write(tmp_path, [verdict_row(0, "incorrect"), verdict_row(1), verdict_row(1, "incorrect")])
    report = import_verdicts(project, other)
    assert (report.imported, report.refused) == (1, 2)
    assert [refusal.line for refusal in report.refusals] == [1, 3]
    newer = import_verdicts(project, write(tmp_path, [verdict_row(0, "incorrect")]), version="2")
    assert newer.refused == 0
    assert [line.verdict for line in verdict_lines(project, "theirs")] == ["incorrect"]


def test_invalid_lines_are_named_and_the_others_imported(project: Project, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [
            verdict_row(0),
            "{not json",
            verdict_row(99),
            verdict_row(1, None),
            verdict_row(1, "maybe"),
            {"completion_id": "c2", "verdict": "correct"},
            {**verdict_row(3), "verifier": "rules"},
            {**verdict_row(3), "verifier": "a b; DROP TABLE runs"},
            '{"completion_id": "c4", "verifier": "theirs", "score": NaN}',
            '{"completion_id": "c4", "verifier": "theirs", "score": 1e999}',
            {**verdict_row(4), "ms": -1},
            verdict_row(5),
        ],
    )
    report = import_verdicts(project, path)
    assert (report.imported, report.refused) == (2, 10)
    fields = {refusal.line: refusal.field for refusal in report.refusals}
    assert [fields[line] for line in (3, 4, 5, 6, 7, 8, 11)] == [
        "completion_id",
        "verdict",
        "verdict",
        "verifier",
        "verifier",
        "verifier",
        "ms",
    ]


def test_an_id_in_two_datasets_needs_a_dataset(tmp_path: Path) -> None:
    rows = numbered(2)
    project = make_project(tmp_path, [*rows, *({**row, "dataset": "other"} for row in rows)])
    path = write(tmp_path, [verdict_row(0), verdict_row(1, dataset="other")])
    report = import_verdicts(project, path)
    assert (report.imported, report.refused) == (1, 1)
    assert import_verdicts(project, path, dataset="sample").imported == 1


def test_an_imported_verifier_cannot_be_run(project: Project, tmp_path: Path) -> None:
    run = import_verdicts(project, write(tmp_path, [verdict_row(0)])).verifiers["theirs"]
    with pytest.raises(UsageError, match="were imported from a file; it can't be run here"):
        verifying.start(project, "theirs")
    with pytest.raises(UsageError, match="were imported from a file; it can't be run here"):
        verifying.resume(project, run)


def test_a_name_of_a_local_verifier_is_rejected(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="runs here"):
        import_verdicts(project, write(tmp_path, [verdict_row(0)]), name="rules")


def test_a_confusable_name_is_rejected(project: Project, tmp_path: Path) -> None:
    assert import_verdicts(project, write(tmp_path, [verdict_row(0)])).imported == 1
    for name in ("rul\u0435s", "Rules", "Theirs", "\uff54heirs"):
        (refused,) = import_verdicts(project, write(tmp_path, [verdict_row(0, verifier=name)])).refusals
        assert refused.field == "verifier"
        with pytest.raises(UsageError, match="look"):
            import_verdicts(project, write(tmp_path, [verdict_row(0)]), name=name)
    assert import_verdicts(project, write(tmp_path, [verdict_row(0, verifier="theirs-2")])).imported == 1


def test_hints_name_existing_options(project: Project, tmp_path: Path) -> None:
    nobodys = write(tmp_path, [{"completion_id": "c1", "verdict": "correct"}])
    (refused,) = import_verdicts(project, nobodys).refusals
    with pytest.raises(UsageError) as named_so:
        import_verdicts(project, nobodys, name="a b")
    for hint in (refused.message, named_so.value.hint):
        (option,) = re.findall("--[a-z-]+", hint)
        assert option in CliRunner().invoke(root, ["verdicts", "--help"]).output


def test_an_interrupted_import_is_finished_by_the_next(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, map(verdict_row, range(6)))
    with monkeypatch.context() as patch:
        patch.setattr(verdict_files, "_store", _failing_after(verdict_files._store, 1))
        patch.setattr(verdict_files, "batches", partial(batches, most=3))
        with pytest.raises(ZeroDivisionError):
            import_verdicts(project, path)
    # Half of it is there, and in no table.
    assert "theirs" not in {row.verifier for row in accuracy(project).rows}
    report = import_verdicts(project, path)
    assert (report.imported, report.unchanged) == (3, 3)
    assert "theirs" in {row.verifier for row in accuracy(project).rows}


def _failing_after(store: Any, times: int) -> Any:
    calls = iter(range(times))

    def attempt(*args: Any) -> None:
        if next(calls, None) is None:
            raise ZeroDivisionError
        store(*args)

    return attempt


def test_the_output_of_the_command_can_be_imported(project: Project, tmp_path: Path) -> None:
    runner = CliRunner()
    import_verdicts(project, write(tmp_path, [verdict_row(n, "abstain", reason="unclear") for n in range(3)]))
    printed = runner.invoke(root, ["verdicts", str(project.path), "--verifier", "theirs"])
    (tmp_path / "out.jsonl").write_text(printed.stdout)
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6))
    taken = runner.invoke(root, ["verdicts", str(other.path), "import", str(tmp_path / "out.jsonl"), "--json"])
    assert (taken.exit_code, json.loads(taken.stdout)["imported"]) == (0, 3)
    again = runner.invoke(root, ["verdicts", str(other.path), "--verifier", "theirs"])
    assert [json.loads(line)["reason"] for line in again.stdout.splitlines()] == ["unclear"] * 3


@pytest.mark.parametrize(
    "arguments", [["import"], ["print", "v.jsonl"], ["import", "v.jsonl", "--evidence"], ["--dataset", "x"], []]
)
def test_incompatible_arguments_are_rejected(project: Project, arguments: list[str]) -> None:
    assert CliRunner().invoke(root, ["verdicts", str(project.path), *arguments]).exit_code == 2


@pytest.fixture(scope="module")
def one_item(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("any"), numbered(1))


@given(st.binary(max_size=200))
def test_any_invalid_bytes_are_rejected_with_a_message(one_item: Project, content: bytes) -> None:
    path = one_item.path.with_name("v.jsonl")
    path.write_bytes(content)
    with suppress(FormatError):
        assert import_verdicts(one_item, path, name="x").imported == 0
