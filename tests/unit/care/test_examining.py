"""``doctor`` on damaged files: correct findings, no writes, and repairs of derived data."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.damage import KINDS, PAGE, false_words, hurt, owners, rich_project, without_a_row
from workbench.care.doctor import NotRepairedError, examine, repair
from workbench.care.rescuing import rescue


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich_project(tmp_path_factory.mktemp("rich"), items=60)


def wrong(path: Path) -> dict[str, str]:
    return {finding.name: finding.remedy for finding in examine(path) if not finding.ok}


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
@pytest.mark.parametrize(
    "what", ["label_events", "completion_text", "sqlite_autoindex_label_events_1", "sqlite_schema"]
)
def test_a_database_that_passes_doctor_is_intact(rich: Path, tmp_path: Path, kind: object, what: str) -> None:
    pages = [page for page, name in owners(rich).items() if name == what]
    draw = random.Random(f"{kind.__name__} {what}")  # type: ignore[attr-defined]
    hurt(rich, tmp_path / "hurt.db", draw.choice(pages), kind, draw.random())  # type: ignore[arg-type]
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    assert false_words(rich, tmp_path / "hurt.db", examine(tmp_path / "hurt.db")) == []

    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_an_index_is_rebuilt_and_the_old_file_kept(rich: Path, tmp_path: Path) -> None:
    pages = [page for page, name in owners(rich).items() if name == "label_events_subject"]
    hurt(rich, tmp_path / "p.db", pages[0], KINDS[3], 1)
    before = (tmp_path / "p.db").read_bytes()
    assert wrong(tmp_path / "p.db") == {"integrity": "repair"}

    repaired = repair(tmp_path / "p.db")

    assert repaired.kept == [str(tmp_path / "p.db.before-repair-1")]
    assert (tmp_path / "p.db.before-repair-1").read_bytes() == before
    assert wrong(tmp_path / "p.db") == {}
    assert repair(tmp_path / "p.db").done == []


def test_leftovers_of_a_killed_repair_are_removed_by_the_next(rich: Path, tmp_path: Path) -> None:
    shutil.copy(rich, tmp_path / "p.db")
    left = tmp_path / f".p.db.{'0' * 16}.part"
    left.mkdir()
    (left / "p.db").write_bytes(b"half")

    assert repair(tmp_path / "p.db").done == []

    assert not left.exists()


def test_pages_of_another_index_hurt_the_index_and_not_its_table(rich: Path, tmp_path: Path) -> None:
    data, page = bytearray(rich.read_bytes()), {name: number for number, name in owners(rich).items()}
    one, other = (
        slice((page[name] - 1) * PAGE, page[name] * PAGE) for name in ("questions_key", "label_events_annotator")
    )
    data[one], data[other] = data[other], data[one]
    (tmp_path / "p.db").write_bytes(data)

    assert wrong(tmp_path / "p.db") == {"integrity": "repair"}
    repair(tmp_path / "p.db")
    assert wrong(tmp_path / "p.db") == {}


def test_rows_found_only_in_an_index_are_not_dropped_by_a_repair(rich: Path, tmp_path: Path) -> None:
    without_a_row(rich, tmp_path / "p.db")
    assert wrong(tmp_path / "p.db") == {"integrity": "repair"}
    with pytest.raises(NotRepairedError, match="rows of models are lost"):
        repair(tmp_path / "p.db")


def test_nothing_is_repaired_where_a_label_is_lost(rich: Path, tmp_path: Path) -> None:
    pages = [page for page, name in owners(rich).items() if name == "label_events"]
    hurt(rich, tmp_path / "p.db", pages[-1], KINDS[3], 1)
    before = (tmp_path / "p.db").read_bytes()
    with pytest.raises(NotRepairedError, match="label_events") as refused:
        repair(tmp_path / "p.db")
    assert "rescue" in refused.value.hint
    assert refused.value.exit_code == 3
    assert os.listdir(tmp_path) == ["p.db"]
    assert (tmp_path / "p.db").read_bytes() == before


def test_a_changed_note_is_reported(rich: Path, tmp_path: Path) -> None:
    data = rich.read_bytes()
    assert b"because because" in data
    (tmp_path / "p.db").write_bytes(data.replace(b"because because", b"because recause", 1))

    assert wrong(tmp_path / "p.db") == {"labels": "rescue"}
    found = rescue(tmp_path / "p.db", tmp_path / "rescued.db")
    assert (len(found.changed_labels), found.is_whole) == (1, False)
    assert any("differ from what was given" in note for note in found.notes)
    # The changed label is stored as it can be read.
    assert not wrong(tmp_path / "rescued.db")


def test_a_changed_text_is_reported(rich: Path, tmp_path: Path) -> None:
    data = rich.read_bytes()
    (tmp_path / "p.db").write_bytes(data.replace(b"Question q3?", b"Question q8?", 1))
    assert wrong(tmp_path / "p.db") == {"texts": "rescue"}


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0" + bytes(100), bytes(8192), b"\xff" * 9000])
def test_other_files_are_reported_as_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.db").write_bytes(content)
    found = [finding for finding in examine(tmp_path / "p.db") if not finding.ok]
    assert [finding.name for finding in found] == ["file"]
    assert "doctor" not in found[0].message
    assert os.listdir(tmp_path) == ["p.db"]


def test_the_log_of_a_killed_process_is_read_and_left(rich: Path, tmp_path: Path) -> None:
    (tmp_path / "p.db").write_bytes(rich.read_bytes())
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute(\"UPDATE question_text SET text = 'another' WHERE id = 1\"); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "p.db")], check=False)
    for gone in ((), ("p.db-shm",)):
        for name in gone:
            (tmp_path / name).unlink()
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        assert "p.db-wal" in before
        # Changes that are only in the WAL are seen.
        assert wrong(tmp_path / "p.db") == {"texts": "rescue"}
        after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        assert after == before


def test_a_newer_version_is_named(rich: Path, tmp_path: Path) -> None:
    (tmp_path / "p.db").write_bytes(rich.read_bytes())
    with closing(sqlite3.connect(tmp_path / "p.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA user_version = 99")
    (found,) = (finding for finding in examine(tmp_path / "p.db") if not finding.ok)
    assert (found.name, "newer workbench" in found.message) == ("file", True)


@pytest.mark.soak
def test_an_undecodable_schema_is_reported_as_damaged(rich: Path, tmp_path: Path) -> None:
    data = rich.read_bytes()
    (tmp_path / "p.db").write_bytes(data.replace(b"CREATE TABLE models", b"CREATE TABLE mo\xffels", 1))
    assert wrong(tmp_path / "p.db")
    for words in (["doctor"], ["doctor", "--repair"], ["status"], ["backup"], ["rescue"]):
        more = [str(tmp_path / "out.db")] if words[0] in ("backup", "rescue") else []
        done = run(words[0], tmp_path / "p.db", *more, *words[1:])
        assert "Traceback" not in done.stderr, done.stderr
        # The rest of the schema table is read as far as possible.
        assert done.returncode or words == ["rescue"], words
