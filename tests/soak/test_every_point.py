"""Kill commands at every point that changes files: all or nothing is left, and the next command sweeps leftovers.

See `tests.killed_points` for what a point is.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.damage import KINDS, hurt, owners, rich_project
from tests.killed_points import Killer, killer
from tests.newer_schema import newer_events
from tests.publishing import SAMPLE, freeze, sample_project
from tests.soak.test_restore_kills import outcome as restored
from tests.soak.test_restore_kills import scene as restore_scene
from tests.soak.test_restore_kills import set_up as set_up_restore
from workbench.core.database import events, migrations
from workbench.core.database.connection import Database
from workbench.core.project import open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling import ledger
from workbench.labelling.labels import import_labels
from workbench.labelling.people import assign

scene = restore_scene

MORE, RICH = 1_000, 60


class Case(NamedTuple):
    """A command.

    Attributes:
        words: The arguments of the command.
        outcome: Returns what the command left; fails unless it is all or nothing.
        done: The outcome of a command that finished.
        again: The arguments of the next command, which sweeps; None for the same.
    """

    words: str
    outcome: Callable[[Path], str]
    done: str = "new"
    again: str | None = None


def items(path: Path) -> int:
    """Return the number of items in an intact database."""
    with closing(Database(path)) as database:
        reader = database.reader()
        assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
        assert list(events.changed_events(reader)) == []
        found: tuple[int] = reader.execute(
            "SELECT count(*) FROM completions WHERE id < (SELECT completion_id FROM horizon)"
        ).fetchone()
        return found[0]


def count(path: Path, what: str) -> int:
    with closing(Database(path)) as database:
        found: tuple[int] = database.reader().execute(f"SELECT count(*) FROM {what}").fetchone()
        return found[0]


def imported(folder: Path) -> str:
    return {0: "old", MORE: "new"}[items(folder / "p.db") - items(folder / "other.db")]


def imported_anew(folder: Path) -> str:
    """A database created for an import exists empty before it."""
    return {0: "old", MORE: "new"}[items(folder / "new.db") if (folder / "new.db").exists() else 0]


def published(folder: Path) -> str:
    out = folder / "out"
    if not out.exists():
        return "old"
    lines = [line.split(maxsplit=1) for line in (out / "checksums.txt").read_text(encoding="utf-8").splitlines()]
    for digest, name in lines:
        assert hashlib.sha256((out / name.lstrip("*")).read_bytes()).hexdigest() == digest
    assert lines
    return "new"


def bundled(folder: Path) -> str:
    away = count(folder / "p.db", "assignments WHERE state = 'away'")
    assert away == count(folder / "p.db", "bundle_items")
    if not (folder / "f.db").exists():
        assert not away, "a recorded bundle is missing"
        return "old"
    assert items(folder / "f.db")
    assert count(folder / "f.db", "bundle_pass") == 1
    return "new" if away else "not recorded"


def merged(folder: Path) -> str:
    """Items are merged one after the other, each completely."""
    with closing(open_project(folder / "p.db")) as project:
        assert ledger.states_differ(project) == 0
    items(folder / "p.db")
    found, whole = count(folder / "p.db", "label_events"), count(folder / "other.db", "label_events")
    assert found <= whole
    return "new" if found == whole else "old"


def labelled(folder: Path) -> str:
    with closing(open_project(folder / "p.db")) as project:
        assert ledger.states_differ(project) == 0
    return "new" if count(folder / "p.db", "label_events") else "old"


def rescued(folder: Path) -> str:
    assert items(folder / "p.db") == RICH
    if not (folder / "r.db").exists():
        return "old"
    assert items(folder / "r.db") == RICH
    assert count(folder / "r.db", "label_events") == count(folder / "p.db", "label_events")
    return "new"


def repaired(folder: Path) -> str:
    with closing(Database(folder / "p.db")) as database:
        try:
            ok = database.reader().execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        except sqlite3.DatabaseError:
            ok = False
    assert not ok or (folder / "p.db.before-repair-1").exists()
    return "new" if ok else "old"


def migrated(folder: Path) -> str:
    latest = migrations.latest_version() + 1
    version = int.from_bytes((folder / "p.db").read_bytes()[60:64])
    backup = folder / f"p.db.before-version-{latest}"
    assert version != latest or backup.exists()
    if backup.exists():
        assert int.from_bytes(backup.read_bytes()[60:64]) == latest - 1
    with pytest.MonkeyPatch.context() as patch:
        newer_events(patch)
        assert items(folder / "p.db") == RICH
    return "new"


CASES = {
    "import new": Case("import new.db more.jsonl", imported_anew),
    "import": Case("import p.db more.jsonl --dataset more", imported),
    "publish": Case("publish p.db small out --force", published),
    "bundle": Case("bundle p.db f.db --for amira", bundled, again="bundle p.db g.db --for amira"),
    "merge": Case("merge p.db other.db --whole", merged),
    "labels": Case("labels p.db import labels.jsonl", labelled),
    "rescue": Case("rescue p.db r.db", rescued, again="rescue p.db r2.db"),
    "repair": Case("doctor p.db --repair", repaired),
    "migrate": Case("migrate p.db", migrated),
    "restore": Case("restore p.db copy.db", lambda folder: restored(folder, "restore")),
    "restore over a crash": Case("restore p.db copy.db", lambda folder: restored(folder, "restore over a crash")),
    "restore an archive": Case(
        "restore new.db a.db", lambda folder: restored(folder, "restore an archive"), again="restore newer.db a.db"
    ),
    "backup": Case("backup p.db copy.db --force", lambda folder: restored(folder, "backup")),
    "archive": Case("export p.db a.db --format workbench --force", lambda folder: restored(folder, "archive")),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a project of the sample with labels, a frozen set, open slots, and files to read."""
    folder = tmp_path_factory.mktemp("given")
    with closing(sample_project(folder / "p.db")) as project:
        freeze(project)
        assign(project, ["amira"], per_item=1)
    shutil.copyfile(folder / "p.db", folder / "other.db")
    shutil.copyfile(SAMPLE / "labels.jsonl", folder / "labels.jsonl")
    rows = [
        {"question_id": f"n{n}", "completion_id": f"n{n}", "question": f"{n}?", "answer": "1", "completion": "x" * 900}
        for n in range(MORE)
    ]
    (folder / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich_project(tmp_path_factory.mktemp("rich"), RICH)


@pytest.fixture(scope="module")
def run() -> Iterator[Killer]:
    with killer() as found:
        yield found


@pytest.fixture
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that creates a folder for running a command."""

    def make(name: str) -> Path:
        folder = tmp_path / "place"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if ("--force" in CASES[name].words and name != "publish") or "restore" in name:
            set_up_restore(request.getfixturevalue("scene"), folder, name)
        elif name in ("rescue", "repair", "migrate"):
            _put_rich(request.getfixturevalue("rich"), folder / "p.db", name)
        else:
            shutil.copytree(request.getfixturevalue("template"), folder, dirs_exist_ok=True)
            if name in ("labels", "merge"):
                _without_labels(folder)
        return folder

    return make


def _put_rich(rich: Path, path: Path, name: str) -> None:
    if name == "repair":
        index = next(page for page, owner in owners(rich).items() if owner == "label_events_subject")
        hurt(rich, path, index, KINDS[3], 1)
    else:
        shutil.copyfile(rich, path)


def _without_labels(folder: Path) -> None:
    """Replace ``p.db`` by a project without labels, and put a copy of it with labels next to it."""
    for part in ("p.db", "p.db.labels.jsonl"):
        (folder / part).unlink()
    with closing(open_project(folder / "p.db", create=True)) as project:
        import_files(project, plan_import([SAMPLE / "tuples.jsonl"]), dataset="sample")
    shutil.copyfile(folder / "p.db", folder / "other.db")
    with closing(open_project(folder / "other.db")) as other:
        import_labels(other, SAMPLE / "labels.jsonl")


def require_swept(folder: Path) -> None:
    left = [file.name for file in folder.iterdir() if file.name.startswith(".")]
    assert left == []


def kill_at(run: Killer, fresh: Callable[[str], Path], name: str, point: int) -> str:
    """Kill a command at a point, check what it left, and check that the next one sweeps; return the outcome."""
    case, folder = CASES[name], fresh(name)
    done = run.run(folder, *case.words.split(), point=point)
    # A run may pass fewer points than the one that counted them.
    assert done.killed or len(done.points) < point
    found = case.outcome(folder)
    ended = run.run(folder, *(case.again or case.words).split())
    assert not ended.killed
    if case.again is None:
        assert case.outcome(folder) == case.done, "the same, not killed"
    require_swept(folder)
    return found


def passed(run: Killer, fresh: Callable[[str], Path], name: str) -> list[str]:
    """Return the points of a command that finishes."""
    case, folder = CASES[name], fresh(name)
    done = run.run(folder, *case.words.split())
    assert (done.killed, done.code) == (False, 0), name
    assert case.outcome(folder) == case.done
    require_swept(folder)
    return done.points


@pytest.mark.soak
@pytest.mark.parametrize("name", ["restore over a crash", pytest.param("migrate", marks=pytest.mark.soak)])
def test_kill_next_to_a_rename_leaves_all_or_nothing(run: Killer, fresh: Callable[[str], Path], name: str) -> None:
    points = passed(run, fresh, name)
    named = max(number for number, point in enumerate(points, 1) if point in ("rename", "replace", "link"))
    for point in (named, named + 1):
        kill_at(run, fresh, name, point)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", CASES)
def test_kill_at_any_point_leaves_all_or_nothing(
    run: Killer, fresh: Callable[[str], Path], name: str, record_property: Callable[[str, object], None]
) -> None:
    points = passed(run, fresh, name)
    found = Counter(kill_at(run, fresh, name, point) for point in range(1, len(points) + 1))
    record_property(name, dict(found))
    print(f"{name}: {len(points)} kills, {dict(Counter(points))}: {dict(found)}")
    assert found["old"] or name == "migrate"
