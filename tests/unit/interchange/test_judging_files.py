"""Judging files without a database: the verdicts of a run, each row once, bad rows separate."""

from __future__ import annotations

import gzip
import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.background import install_plugin
from tests.coding import ran
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import open_project
from workbench.interchange import judging_files
from workbench.interchange.importing import import_files, plan_import
from workbench.interchange.judging_files import JudgedFiles, judge_files
from workbench.runs import executor, runner
from workbench.runs.verdict_files import verdict_lines

NEW = ("verdict", "score", "reason")


def rows(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Numbers, sets that only algebra compares, and letters; a third wrong."""
    found = []
    for number in range(first, first + count):
        right = number % 3 > 0
        answer, said = (f"{number}", f"{number if right else number + 1}")
        if number % 4 == 1:
            answer, said = f"x^2 - {number}x", f"x(x - {number})" if right else f"x(x + {number})"
        found.append(
            {
                "completion_id": f"c{number}",
                "question_id": f"q{number}",
                "question": f"What is {number}?",
                "answer": rf"\boxed{{{answer}}}",
                "completion": rf"So it is \boxed{{{said}}}.",
                "ü": [number, None],
            }
        )
    return found


def lines(path: Path, some: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in some))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [json.loads(line) for line in text.splitlines()]


def judge(source: Path, target: Path, **said: Any) -> JudgedFiles:
    return judge_files(source, target, workers=2, **said)


def watch_held_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of how many rows are in memory whenever one is added."""
    most: list[int] = []

    class Watched(deque[Any]):
        def append(self, row: Any) -> None:
            super().append(row)
            most.append(len(self))

    monkeypatch.setattr(judging_files, "deque", Watched)
    monkeypatch.setattr(judging_files, "_GROUP_ROWS", 7)
    return most


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_the_verdicts_are_those_of_a_run(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    some, source = rows(30), tmp_path / f"in{ending}"
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(some), source)
    elif ending == ".jsonl.gz":
        source.write_bytes(gzip.compress("".join(f"{json.dumps(one)}\n" for one in some).encode()))
    else:
        lines(source, some)
    report = judge(source, tmp_path / f"out{ending}")
    with closing(open_project(tmp_path / "p.db", create=True)) as project:
        import_files(project, plan_import([source]), dataset="d")
        ran(project, "rules", "rules")
        stored = {one.completion_id: (one.verdict, one.score, one.reason) for one in verdict_lines(project, "rules")}
    found = read(tmp_path / f"out{ending}")
    assert {one["completion_id"]: tuple(one[name] for name in NEW) for one in found} == stored
    assert {"correct", "incorrect"} <= {one["verdict"] for one in found}
    # The columns of a row keep their values and order.
    assert [{name: one[name] for name in one if name not in NEW} for one in found] == some
    assert [*found[0]] == [*some[0], *NEW]
    assert (report.rows, report.refused, sum(report.verdicts.values())) == (30, 0, 30)
    assert sorted(path.name for path in tmp_path.glob("*out*")) == [f"out{ending}"]


def test_a_rows_own_text_stays_as_it_was_spelled(tmp_path: Path) -> None:
    own = (
        r'{"question": "a", "answer": "\\boxed{1}", "completion": "\u00e9=2",  "n": 1.50e400, '
        r'"big": 123456789012345678901 }'
    )
    source = lines(tmp_path / "in.jsonl", [own, ""])
    judge(source, tmp_path / "out.jsonl")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert line.startswith(own.rstrip(" }"))
    assert line.endswith(',"verdict":"incorrect","score":null,"reason":"number"}')


def test_types_and_nested_columns_of_parquet_stay(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("question", pa.large_string()),
            pa.field("answer", pa.dictionary(pa.int32(), pa.string())),
            pa.field("completion", pa.string(), metadata={"a": "b"}),
            pa.field("at", pa.timestamp("ms")),
            pa.field("deep", pa.list_(pa.struct([("x", pa.int16())]))),
        ],
        metadata={"made": "here"},
    )
    some = [
        {"question": "q", "answer": "1", "completion": str(number % 2), "at": number, "deep": [{"x": number}]}
        for number in range(700)
    ]
    source = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(some, schema=schema), source, row_group_size=300)
    judge(source, tmp_path / "out.parquet")
    before, after = pq.read_table(source), pq.read_table(tmp_path / "out.parquet")
    assert after.select(before.column_names).cast(before.schema).equals(before)
    assert after.schema.field("deep").type == schema.field("deep").type
    assert after.schema.field("at").type == schema.field("at").type
    assert after.schema.metadata[b"made"] == b"here"


BAD: list[tuple[object, str | None, str]] = [
    ("no json", None, "bad_json"),
    ('["a list"]', None, "wrong_type"),
    ({"question": "q", "answer": "1"}, "completion", "missing_field"),
    ({"question": "q", "answer": [1], "completion": "1"}, "answer", "wrong_type"),
    ({"question": "q", "answer": "1", "completion": "a\0b"}, "completion", "nul"),
    ('{"question": "q", "answer": "1", "completion": "\\ud800"}', None, "bad_utf8"),
    ({"question": "q", "answer": "1", "completion": "NaN"}, "completion", "missing_field"),
]


def test_bad_rows_are_listed_with_file_line_and_field(tmp_path: Path) -> None:
    good = rows(len(BAD) + 1)
    mixed: list[object] = [good[0]]
    for (bad, _, _), one in zip(BAD, good[1:], strict=True):
        mixed += [bad, one]
    source = lines(tmp_path / "in.jsonl", mixed)
    report = judge(source, tmp_path / "out.jsonl")
    assert [one["completion_id"] for one in read(tmp_path / "out.jsonl")] == [one["completion_id"] for one in good]
    refused = read(tmp_path / "_out.jsonl.refused.jsonl")
    assert [(one["file"], one["line"], one["field"], one["code"]) for one in refused] == [
        (str(source), 2 + 2 * number, field, code) for number, (_, field, code) in enumerate(BAD)
    ]
    assert all(one["message"] and one["raw"] for one in refused)
    assert (report.rows, report.refused) == (len(mixed), len(BAD))
    assert report.refusals == [str(tmp_path / "_out.jsonl.refused.jsonl")]
    # Judged again without them, they are no longer mentioned.
    lines(source, good)
    judge(source, tmp_path / "out.jsonl", force=True)
    assert not (tmp_path / "_out.jsonl.refused.jsonl").exists()


def test_a_file_of_bad_rows_alone_is_an_empty_one(tmp_path: Path) -> None:
    table = pa.table({"question": ["q"] * 5, "answer": ["1"] * 5, "completion": pa.array([None] * 5, pa.string())})
    pq.write_table(table, tmp_path / "in.parquet")
    report = judge(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert (report.rows, report.refused) == (5, 5)
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["question", "answer", "completion", *NEW]


class Killed(BaseException):
    """Ends the work wherever it is."""


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_work_that_was_ended_leaves_nothing(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows(40)), source, row_group_size=16)
    else:
        lines(source, [*rows(20), "no row", *rows(20, 20)])
    made = judging_files._input

    def ending_at(item: Any, number: int) -> Any:
        if number == 30:
            raise Killed
        return made(item, number)

    monkeypatch.setattr(judging_files, "_GROUP_ROWS", 5)
    monkeypatch.setattr(judging_files, "_input", ending_at)
    with pytest.raises(Killed):
        judge(source, target)
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
    monkeypatch.setattr(judging_files, "_input", made)
    assert judge(source, target).rows == (41 if ending == ".jsonl" else 40)
    assert [one["completion_id"] for one in read(target)] == [f"c{number}" for number in range(40)]


def test_a_column_name_clash_is_reported(tmp_path: Path) -> None:
    taken = lines(tmp_path / "in.jsonl", [*rows(3), {**rows(1)[0], "score": 3}])
    with pytest.raises(UsageError, match="'score'"):
        judge(taken, tmp_path / "out.jsonl")
    judge(taken, tmp_path / "out.jsonl", prefix="rules_")
    assert read(tmp_path / "out.jsonl")[3]["rules_verdict"]
    pq.write_table(pa.Table.from_pylist([{**one, "verdict": 1} for one in rows(3)]), tmp_path / "in.parquet")
    with pytest.raises(UsageError, match="'verdict'"):
        judge(tmp_path / "in.parquet", tmp_path / "out.parquet")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: (lines(folder / "in.jsonl", rows(1)), folder / "out.parquet"), "is JSON Lines"),
        (lambda folder: (lines(folder / "in.jsonl", rows(1)), folder / "in.jsonl"), "is the input itself"),
        (lambda folder: (lines(folder / "in.jsonl", rows(1)), folder / "p.db"), "is not a name for a file of rows"),
        (lambda folder: (lines(folder / "in.jsonl", rows(1)), lines(folder / "out.jsonl", [])), "exists"),
        (lambda folder: (lines(folder / "in.jsonl", rows(1)), folder / "d.jsonl"), "is a folder"),
        (lambda folder: (lines(folder / "i" / "in.jsonl", rows(1)).parent, folder / "i" / "o"), "is a folder"),
        (lambda folder: (folder / "missing.jsonl", folder / "out.jsonl"), "No such file"),
        (lambda folder: (lines(folder / "in.csv", ["question,answer,completion", "a,b,c"]), folder / "o.jsonl"), "csv"),
        (
            lambda folder: (lines(folder / "in.jsonl", [{"question": "a", "answer": "b"}]), folder / "o.jsonl"),
            "questions",
        ),
    ],
)
def test_files_that_cannot_be_judged_are_reported(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]], words: str
) -> None:
    (tmp_path / "d.jsonl").mkdir()
    with pytest.raises(FormatError, match=words):
        judge(*make(tmp_path))


def test_verifiers_that_ask_model_servers_are_rejected(tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", rows(1))
    with pytest.raises(UsageError, match="asks a model server"):
        judge(
            source, tmp_path / "out.jsonl", kind="llm-judge", options={"base_url": "http://127.0.0.1:9", "model": "m"}
        )


@pytest.mark.few(2)
@pytest.mark.parametrize("workers", [1, 2])
def test_slow_rows_do_not_increase_the_rows_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """All rows behind one that hangs wait for it, though their own verdicts are had at once."""
    install_plugin(tmp_path, monkeypatch)
    some = rows(600)
    for place in (3, 150):
        some[place]["completion"] = "later hang"
    size = len(json.dumps(some[5]))
    monkeypatch.setattr(judging_files, "_CHUNK_BYTES", 4 * size)
    monkeypatch.setattr(judging_files, "_MAX_HELD_BYTES", 20 * size)
    monkeypatch.setattr(executor, "BATCH_ITEMS", 4)
    most = watch_held_rows(monkeypatch)
    source, target = lines(tmp_path / "in.jsonl", some), tmp_path / "out.jsonl"
    report = judge_files(source, target, "staged", workers=workers)
    assert (report.rows, report.verdicts) == (600, {"correct": 598, "abstain": 2})
    assert [row["reason"] for row in read(target)].count("timeout") == 2
    # At most the queued rows, a chunk, and the batches of two workers and of this process.
    assert 20 <= max(most) <= 20 + 7 + 4 + 3 * 4
