"""``-`` is standard input wherever a file is read."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.commands import Call, in_process

TABLE = "completion_id,question,answer,completion\nc1,1+1?,2,It is 2.\nc2,1+2?,,It is 3.\n"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


@pytest.fixture
def give(tmp_path: Path) -> Iterator[Callable[[bytes], None]]:
    """Makes bytes the standard input of this process."""
    before = os.dup(0)

    def give(content: bytes) -> None:
        file = tmp_path / "given"
        file.write_bytes(content)
        with file.open("rb") as source:
            os.dup2(source.fileno(), 0)

    yield give
    os.dup2(before, 0)
    os.close(before)


def test_an_import_reads_it_and_reads_it_again(call: Call, give: Callable[[bytes], None]) -> None:
    for imported in (1, 0):
        give(TABLE.encode())
        code, out, _ = call("import", "p.db", "-", "--json")
        report = json.loads(out)
        assert (code, report["imported"], report["quarantined"]) == (3, imported, 1)
        assert [(row["line"], row["field"]) for row in report["quarantine"]] == [(3, "answer")]
    assert report["dataset"] == "standard input"
    assert "1 row in quarantine" in call("status", "p.db")[1] or "1 rows in quarantine" in call("status", "p.db")[1]


def test_a_spreadsheet_can_be_imported(call: Call, give: Callable[[bytes], None]) -> None:
    book = io.BytesIO()
    pd.DataFrame({"question": ["q"], "answer": [2], "completion": ["2"]}).to_excel(book)
    give(book.getvalue())
    assert json.loads(call("import", "p.db", "-", "--json")[1])["imported"] == 1


def test_labels_and_verdicts_can_be_imported(call: Call, give: Callable[[bytes], None]) -> None:
    give(TABLE.encode())
    call("import", "p.db", "-")
    give(b"completion_id;ann\nc1;correct\n")
    assert call("labels", "p.db", "import", "-")[1].startswith("1 imported")
    give(b'{"completion_id": "c1", "annotator": "ben", "verdict": "correct"}\n')
    assert call("labels", "p.db", "import", "-")[1].startswith("1 imported")
    give(b"completion_id\tgrader\nc1\tyes\n")
    assert call("verdicts", "p.db", "import", "-")[1].startswith("1 imported")


def test_a_file_of_that_name_is_named_with_its_folder(call: Call, tmp_path: Path) -> None:
    (tmp_path / "-").write_text(TABLE)
    assert json.loads(call("import", "p.db", "./-", "--json")[1])["imported"] == 1


def test_nothing_is_rescued_to_it(call: Call, give: Callable[[bytes], None]) -> None:
    give(TABLE.encode())
    call("import", "p.db", "-")
    code, _, error = call("rescue", "p.db", "-")
    assert (code, "name a file" in error) == (2, True)
