"""Work in several transactions on a disk that fills up: the stored part is reported, and the work can be resumed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.full_disk import SmallDisk, small_disk
from tests.helpers import make_project, numbered
from workbench.core.project import Parts

ITEMS = 1_200
NOTE = "because " * 20


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    make_project(folder, numbered(ITEMS)).close()
    verdicts = [{"completion_id": f"c{n}", "verifier": "theirs", "verdict": "correct"} for n in range(ITEMS)]
    labels = [one | {"annotator": "kim", "note": NOTE} for one in verdicts]
    for name, lines in (("verdicts", verdicts), ("labels", labels)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    shutil.copy(folder / "p.db", folder / "other.db")
    assert run("labels", folder / "other.db", "import", folder / "labels.jsonl").returncode == 0
    return folder


@pytest.mark.parametrize(
    ("words", "table", "what"),
    [
        ("verdicts DB import IN/verdicts.jsonl", "verdicts", "lines"),
        ("labels DB import IN/labels.jsonl", "label_events", "lines"),
        ("merge DB IN/other.db --whole", "label_events", "events"),
    ],
    ids=["verdicts", "labels", "merge"],
)
def test_a_full_disk_reports_the_stored_part_and_resumes(
    template: Path, disk: SmallDisk, words: str, table: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.empty()
    path = disk.path / "p.db"
    for file in disk.path.glob("p.db*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    shutil.copy(template / "p.db", path)
    command = [str(path) if word == "DB" else word.replace("IN", str(template)) for word in words.split()]
    storing = Parts.storing

    def full_from_the_second_on(parts: Parts, count: int) -> AbstractContextManager[None]:
        if parts._done:
            disk.fill()
        return storing(parts, count)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "storing", full_from_the_second_on)
        failed = run(*command)
    disk.empty()
    assert failed.returncode == 1, failed.stderr
    stored = count(path, table)
    assert 0 < stored < ITEMS
    assert f"The data of the first {stored:,} {what} is stored; the rest is not." in failed.stderr
    assert "Run the same command again for the rest." in failed.stderr
    assert run(*command).returncode == 0
    assert count(path, table) == ITEMS


def count(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        where = " WHERE kind = 'label'" if table == "label_events" else ""
        return int(connection.execute(f"SELECT count(*) FROM {table}{where}").fetchone()[0])
