"""Downstream scores: both file formats, and rejected lines with line and field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from workbench.core.errors import FormatError
from workbench.measuring.downstream_scores import read_downstream
from workbench.statistics.records.combined import DownstreamLine

LINE = DownstreamLine(verifier="rules", benchmark="sums", score=0.5, step=200, seed=1, n=500)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"verifier": "rules", "benchmark": "sums", "score": 0.5, "step": 200, "seed": 1, "n": 500}\n'),
        ("a.csv", "verifier,benchmark,score,step,seed,n\nrules,sums,0.5,200,1,500\n"),
        ("a.tsv", "score\tverifier\tbenchmark\tn\tstep\tseed\tnote\n.5\trules\tsums\t500\t200.0\t1.0\tmine\n"),
    ],
)
def test_both_formats_give_the_same_scores(tmp_path: Path, name: str, text: str) -> None:
    found = read_downstream(written(tmp_path, name, text))
    assert (found.lines, found.refused) == ([LINE], [])


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"verifier": "rules", "benchmark": "sums", "score": 1}\n'))
    assert read_downstream(path).lines == [DownstreamLine(verifier="rules", benchmark="sums", score=1)]


def test_empty_cells_are_missing_values(tmp_path: Path) -> None:
    table = written(tmp_path, "a.csv", "verifier,benchmark,score,step\nrules,sums,-3, \n7,sums,1e2,\n")
    assert read_downstream(table).lines == [
        DownstreamLine(verifier="rules", benchmark="sums", score=-3),
        DownstreamLine(verifier="7", benchmark="sums", score=100),
    ]


@pytest.mark.parametrize(
    ("line", "field", "code", "words"),
    [
        ({"benchmark": "sums", "score": 1}, "verifier", "missing_field", "A line is"),
        ({"verifier": "", "benchmark": "sums", "score": 1}, "verifier", "wrong_type", "not a name"),
        ({"verifier": "a", "benchmark": 7, "score": 1}, "benchmark", "wrong_type", "not a name"),
        ({"verifier": "a", "benchmark": "sums"}, "score", "missing_field", "A line is"),
        ({"verifier": "a", "benchmark": "sums", "score": None}, "score", "missing_field", "A line is"),
        ({"verifier": "a", "benchmark": "sums", "score": "0.5"}, "score", "wrong_type", "not a number"),
        ({"verifier": "a", "benchmark": "sums", "score": True}, "score", "wrong_type", "not a number"),
        ({"verifier": "a", "benchmark": "sums", "score": 1, "step": 1.5}, "step", "wrong_type", "whole number"),
        ({"verifier": "a", "benchmark": "sums", "score": 1, "n": 0}, "n", "wrong_type", "from 1"),
        ({"verifier": "a", "benchmark": "sums", "score": 1, "seed": 10**30}, "seed", "wrong_type", "whole number"),
        ([1], None, "wrong_type", "a list"),
    ],
)
def test_a_line_is_rejected_with_its_field(
    tmp_path: Path, line: object, field: str | None, code: str, words: str
) -> None:
    good = json.dumps({"verifier": "rules", "benchmark": "sums", "score": 1})
    found = read_downstream(written(tmp_path, "a.jsonl", f"{good}\n{json.dumps(line)}\n"))
    assert len(found.lines) == 1
    (refused,) = found.refused
    assert (refused.line, refused.field, refused.code) == (2, field, code)
    assert words in refused.message


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "-1e308", "60 %", "1,5"])
def test_a_cell_that_is_no_finite_number_is_rejected(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "a.csv", f'verifier,benchmark,score\nrules,sums,"{cell}"\n')
    (refused,) = read_downstream(path).refused
    assert (refused.line, refused.field) == (2, "score")


def test_broken_lines_are_rejected_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'nonsense\n{"verifier": "\xff", "benchmark": "b", "score": 1}\n{"score": NaN}\n' + b"[" * 10_000)
    found = read_downstream(path)
    assert [line.line for line in found.refused] == [1, 2, 3, 4]
    assert found.lines == []


def test_duplicate_scores_are_rejected_unless_seed_or_step_differ(tmp_path: Path) -> None:
    text = "verifier,benchmark,score,step,seed\na,b,1,,\na,b,2,,1\na,b,3,5,1\na,b,4,5,1\n"
    found = read_downstream(written(tmp_path, "a.csv", text))
    assert [line.score for line in found.lines] == [1, 2, 3]
    (refused,) = found.refused
    assert (refused.line, refused.code) == (5, "duplicate_key")
    assert "line 4" in refused.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        read_downstream(tmp_path / "none.jsonl")
