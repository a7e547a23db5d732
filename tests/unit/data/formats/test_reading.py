"""Recognising files and rejecting rows."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import FormatError
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats import documents
from workbench.data.formats import lines as module
from workbench.data.formats.reading import plan_file, read_items

GOOD = {"question": "Two and two?", "answer": "4", "completion": "It is 4.", "gold_correct": True}


def _read(path: Path, **options: Any) -> list[ItemRecord | Refusal]:
    with read_items(plan_file(path, **options)) as (rows, _):
        return list(rows)


def _refused(folder: Path, line: bytes, **options: Any) -> Refusal:
    """Return the rejection of a line between two good ones, which are accepted."""
    path = folder / "f.jsonl"
    good = json.dumps(GOOD).encode()
    path.write_bytes(good + b"\n" + line + b"\n" + good + b"\n")
    before, refused, after = _read(path, **options)
    assert isinstance(before, ItemRecord)
    assert isinstance(after, ItemRecord)
    assert isinstance(refused, Refusal)
    assert refused.line == 2
    return refused


def _row(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


@pytest.mark.parametrize(
    ("line", "code", "field"),
    [
        (b'{"question": "a', "bad_json", None),
        (b'{"question": NaN, "answer": "", "completion": ""}', "missing_field", "question"),
        (b'{"question": Infinity, "answer": "", "completion": ""}', "bad_json", "question"),
        (b'{"question": Infinity, "answer": "", "comple', "bad_json", None),
        (b"[" * 100_000, "bad_json", None),
        (b'{"question": ' + b'{"a":' * 3_000 + b"}", "bad_json", None),
        (b"[1, 2]", "wrong_type", None),
        (b"7", "wrong_type", None),
        (_row(completion=None), "missing_field", "completion"),
        (b'{"question": "a", "completion": "b"}', "missing_field", "answer"),
        (_row(completion=42), "wrong_type", "completion"),
        (_row(answer=["4"]), "wrong_type", "answer"),
        (_row(gold_correct="perhaps"), "wrong_type", "gold_correct"),
        (_row(gold_correct=2), "wrong_type", "gold_correct"),
        (_row(gold_correct=[]), "wrong_type", "gold_correct"),
        (_row(question="a\0b"), "nul", "question"),
        (_row(completion_id="a\0b"), "nul", "completion_id"),
        (_row(completion="∞" * (1 << 16) + "\0"), "nul", "completion"),
        (b"\0\0", "nul", None),
        (_row(question_id=""), "missing_field", "question_id"),
        (_row(question="\ud800"), "bad_utf8", None),
        (_row(other="\udfff"), "bad_utf8", None),
        (b'{"question": "\xff", "answer": "", "completion": ""}', "bad_utf8", "question"),
        (b'{"question": "", "answer": "", "completion": "", "other": "\xff"}', "bad_utf8", "other"),
        (b'{"\xff": 1}', "bad_utf8", None),
    ],
)
def test_a_bad_row_is_rejected_and_the_others_are_taken(
    tmp_path: Path, line: bytes, code: str, field: str | None
) -> None:
    refused = _refused(tmp_path, line, columns={"completion_id": "completion_id"} if b"completion_id" in line else {})
    assert (refused.code, refused.field) == (code, field)
    assert refused.message.endswith((".", "COLUMN."))
    assert line.startswith(refused.raw)


def test_huge_numbers_in_unknown_keys_are_preserved(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    number = "1" * 6_000
    path.write_text(f'{{"question": "a", "answer": "b", "completion": "c", "n": {number}, "e": 1e999}}\n')
    (item,) = _read(path)
    assert isinstance(item, ItemRecord)
    assert item.extra == f'{{"n": {number}, "e": 1e999}}'


def test_a_long_line_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 4_096)
    refused = _refused(tmp_path, _row(completion="x" * 5_000))
    assert refused.code == "too_long"
    assert "Shorten it" in refused.message


def test_a_cut_off_last_line_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(_row() + b"\n" + _row()[:30])
    item, refused = _read(path)
    assert isinstance(item, ItemRecord)
    assert isinstance(refused, Refusal)
    assert (refused.line, refused.code) == (2, "truncated")


def test_a_complete_last_line_without_newline_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(_row() + b"\n" + _row())
    assert all(isinstance(row, ItemRecord) for row in _read(path))


def test_a_broken_gzip_is_read_up_to_the_break(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl.gz"
    lines = b"".join(_row(question=f"{number}?") + b"\n" for number in range(2_000))
    path.write_bytes(gzip.compress(lines)[:-2_000])
    *items, refused = _read(path)
    assert len(items) > 100
    assert all(isinstance(item, ItemRecord) for item in items)
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.line) == ("truncated", len(items) + 1)


def test_concatenated_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(gzip.compress(_row() + b"\n") + gzip.compress(_row() + b"\n") + b"\0" * 100)
    assert len(_read(path)) == 2


def test_a_byte_order_mark_and_crlf_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"\xef\xbb\xbfquestion,answer,completion\r\na,b,c\r\n")
    (item,) = _read(path)
    assert isinstance(item, ItemRecord)
    assert (item.question, item.completion) == ("a", "c")


def test_csv_cells_keep_line_ends_and_formulas(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes('question,answer,completion\n=1+1,@x,"a\r\nb\u2028c\n"\n'.encode())
    (item,) = _read(path)
    assert isinstance(item, ItemRecord)
    assert (item.question, item.reference, item.completion) == ("=1+1", "@x", "a\r\nb\u2028c\n")


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"a,b\n", "bad_csv"),
        (b"a,b,c,d\n", "bad_csv"),
        (b"a,b", "truncated"),
        (b'a,b,"c', "truncated"),
        (b"a,\xff,c\n", "bad_utf8"),
    ],
)
def test_bad_csv_rows_are_rejected(tmp_path: Path, row: bytes, code: str) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"question,answer,completion\na,b,c\n" + row)
    item, refused = _read(path)
    assert isinstance(item, ItemRecord)
    assert isinstance(refused, Refusal)
    assert (refused.line, refused.code) == (3, code)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("f.jsonl", b'{"prompt": "a", "answer": "b", "output": "c"}\n', "jsonl"),
        ("f.json", b'{"prompt": "a", "answer": "b", "output": "c"}\n{"prompt": 1}\n', "jsonl"),
        ("f.json", b' [{"prompt": "a", "answer": "b", "output": "c"}]', "json"),
        ("f.json", b'{"rows": [{"prompt": "a", "answer": "b", "output": "c"}]}', "json"),
        ("f.json", b'{\n "data": [\n{"prompt": "a", "answer": "b", "output": "c"}]\n}', "json"),
        ("f.tsv", b"prompt\tanswer\toutput\na\tb\tc\n", "tsv"),
        ("f", b"prompt\tanswer\toutput\na\tb\tc\n", "tsv"),
        ("f", b"prompt,answer,output\na,b,c\n", "csv"),
        ("f.csv", gzip.compress(b"prompt,answer,output\na,b,c\n", mtime=0), "csv"),
    ],
)
def test_formats_are_recognised(tmp_path: Path, name: str, content: bytes, format: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert plan_file(path).format == format
    item = _read(path)[0]
    assert isinstance(item, ItemRecord)
    assert (item.question, item.reference, item.completion) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.json", b"[1, 2"),
        ("f.json", b'{"a": 1,\n"b": 2}'),
        ("f.parquet", b"PAR1 and nothing else"),
        ("f.csv", b"a,a\n1,2\n"),
        ("f.csv", b"question,completion\n1,2\n"),
        ("f.jsonl", b'{"x": 1}\n'),
        ("f.csv", b""),
        ("f.json", b'{"rows": 5}'),
        ("f.json", b"[1, 2]"),
    ],
)
def test_a_file_that_is_nothing_of_ours_is_rejected_as_a_whole(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match="f\\."):
        _read(path)


def test_ids_that_are_absent_follow_from_the_content(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"".join(_row(**change) + b"\n" for change in ({}, {}, {"completion": "x"}, {"answer": "5"})))
    first, same, other, elsewhere = (row for row in _read(path) if isinstance(row, ItemRecord))
    assert (first.question_key, first.completion_key) == (same.question_key, same.completion_key)
    assert first.question_key == other.question_key
    assert first.completion_key != other.completion_key
    assert first.question_key != elsewhere.question_key
    assert len(first.question_key) == 32


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(_row(question_id=7) + b"\n")
    (item,) = _read(path)
    assert isinstance(item, ItemRecord)
    assert item.question_key == "7"


def test_what_is_no_regular_file_is_rejected_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(FormatError, match="not a regular file"):
            plan_file(path)


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.json", "f"])
def test_a_file_without_rows_is_named_by_its_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (question)")
    with pytest.raises(FormatError, match="an SQLite database"):
        plan_file(path)
    path.write_bytes(bytes.fromhex("89504e470d0a1a0a0000000d49484452000000") + b"\xff" * 100)
    with pytest.raises(FormatError, match="it is not text"):
        plan_file(path)
    folder = tmp_path / f"folder-{name}"
    folder.mkdir()
    with pytest.raises(FormatError, match=r"it is a folder|no log"):
        plan_file(folder)


def test_columns_of_a_table_are_known_before_a_row_is(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"question,answer,completion\n")
    assert _read(path) == []
    path.write_bytes(b"question,answer,completion\n" + b"ragged\n" * 2_000 + b"a,b,c\n")
    assert [type(row) for row in _read(path)] == [Refusal] * 2_000 + [ItemRecord]


def test_a_json_document_that_memory_may_not_hold_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 10**8 + b"]"))
    monkeypatch.setattr(documents, "_MAX_JSON_BYTES", 1 << 20)
    with pytest.raises(FormatError, match="1 MiB"):
        plan_file(path)


def test_a_table_of_very_many_columns_is_rejected_in_a_line(tmp_path: Path) -> None:
    """Two of a name are found in time in proportion to their number: this took minutes."""
    names = [f"c{number}" for number in range(9_000)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n")
    with pytest.raises(FormatError, match="and 8,960 more") as raised:
        plan_file(path)
    assert len(str(raised.value)) < 1_000
    path.write_text(",".join([*names, "c7"]) + "\n")
    with pytest.raises(FormatError, match="two columns are called 'c7'"):
        plan_file(path)
