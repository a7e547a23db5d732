"""Malicious files: rejected with a message, nothing imported, no file created next to the database."""

from __future__ import annotations

import base64
import gzip
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.helpers import make_project, numbered


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


class _Planted:
    """Unpickled, it makes a file."""

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return (os.mkdir, ("planted",))


def zipped(*members: tuple[str, bytes]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


ROW = {"question": "q", "reference": "1", "completion": "c"}
LIVE = {
    **dict.fromkeys(("question_title", "question_content", "platform", "contest_id", "starter_code"), "x"),
    "question_id": "1",
    "contest_date": "2024-01-01T00:00:00",
    "difficulty": "easy",
    "metadata": "{}",
    "public_test_cases": "[]",
}


def live(tests: bytes) -> bytes:
    return json.dumps({**LIVE, "private_test_cases": base64.b64encode(zlib.compress(tests)).decode()}).encode()


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nested": ("a.jsonl", lambda: b'{"question":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "a number without end": (
        "a.jsonl",
        lambda: b'{"question":"q","reference":' + b"9" * 300_000 + b',"completion":"c"}',
    ),
    "not a number": ("a.jsonl", lambda: b'{"question":"q","reference":NaN,"completion":"c"}'),
    "half a character": ("a.jsonl", lambda: b'{"question":"\\ud800","reference":"1","completion":"c"}'),
    "another encoding": ("a.jsonl", lambda: json.dumps(ROW).encode("utf-7") + b"\xff"),
    "a bomb": ("a.jsonl.gz", lambda: gzip.compress(b'{"question":"' + b"a" * (40 << 20) + b'"}')),
    "packed twice": ("a.jsonl.gz", lambda: gzip.compress(gzip.compress(json.dumps(ROW).encode()))),
    "NUL in a table": ("a.csv", lambda: b"question,reference,completion\na\0b,1,c\n"),
    "a field without end": ("a.csv", lambda: b'question,reference,completion\n"' + b"a,b\n" * 1_000),
    "two columns of a name": ("a.csv", lambda: b"question,question,reference,completion\na,b,1,c\n"),
    "a footer that lies": ("a.parquet", lambda: b"PAR1" + b"\xff" * 100 + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"),
    "a footer before the file": ("a.parquet", lambda: b"PAR1" + b"\x15\x00" * 20 + struct.pack("<i", -5) + b"PAR1"),
    "an archive": ("a.zip", lambda: zipped(("../../planted", b"x"), ("manifest.json", b"{}"))),
    "a pickle": ("a.jsonl", lambda: live(pickle.dumps(_Planted()))),
    "a pickle in a pickle": ("a.jsonl", lambda: live(pickle.dumps([_Planted(), "x"]))),
    "tests that are a bomb": ("a.jsonl", lambda: live(b"[" * (300 << 20))),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FILES)
def test_a_malicious_file_is_rejected_with_a_message(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file, made = FILES[name]
    data = made()
    (tmp_path / file).write_bytes(data)
    maps = [] if b"private_test" in data else [f"--map={field}={field}" for field in ROW]
    code, out, error = call("import", "p.db", file, *maps)
    assert code in (1, 2, 3), (out, error)
    assert "Traceback" not in error
    assert not (set(out + error) - {"\n", "\r"}) & {chr(code) for code in range(32)}
    assert len(error) < 2_000
    assert not (tmp_path / "planted").exists()
    assert not (tmp_path.parent.parent / "planted").exists()


LABELS: dict[str, object] = {
    "from the future": {"created_at": "2999-01-01T00:00:00Z"},
    "of the year 0": {"created_at": "0000-01-01T00:00:00Z"},
    "of a zone that is none": {"created_at": "2025-01-01T00:00:00+99:99"},
    "of a name that moves the cursor": {"annotator": "\x1b[2Jben"},
    "of a name that turns round": {"annotator": "amira\u202e"},
    "of a name with nothing in it": {"annotator": "ami\u200bra"},
    "of nobody": {"annotator": ""},
    "of another word": {"verdict": "CORRECT\0"},
    "of deep tags": {"tags": [[[[]]]]},
    "of a type that is SQL": {"answer_subtype": "A1'; DROP TABLE label_events;--"},
    "of another data set": {"dataset": "nope"},
    "of an item that is none": {"completion_id": "c1' OR 1=1 --"},
    "of a list": [1, 2],
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", LABELS)
def test_a_malicious_label_is_rejected(call: Call, tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path, numbered(2))
    key, dataset = (
        project.database.reader()
        .execute(
            "SELECT c.key, d.name FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
            "JOIN datasets AS d ON d.id = q.dataset_id"
        )
        .fetchone()
    )
    wrong = LABELS[name]
    right = {"completion_id": key, "annotator": "ben", "verdict": "correct", "dataset": dataset}
    row = {**right, **wrong} if isinstance(wrong, dict) else wrong
    (tmp_path / "l.jsonl").write_text(json.dumps(row))
    code, out, error = call("labels", str(project.path), "import", str(tmp_path / "l.jsonl"))
    assert code == 3
    assert not set(out + error) & {"\x1b", "\u202e", "\u200b", "\0"}
    assert project.database.reader().execute("SELECT count(*) FROM label_events").fetchone() == (0,)
    (tmp_path / "l.jsonl").write_text(json.dumps(right))
    assert call("labels", str(project.path), "import", str(tmp_path / "l.jsonl"))[0] == 0
    project.close()
