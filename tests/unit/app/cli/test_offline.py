"""Bundles and their merge on the command line."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.core.errors import AnnotationError
from workbench.core.project import open_project
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.answers import Answer


def run(*arguments: object) -> Result:
    return CliRunner().invoke(root, list(map(str, arguments)))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    project = make_project(tmp_path, numbered(6))
    project.close()
    assert run("assign", project.path, "--annotators", "ann,bob,eve", "--per-item", "2").exit_code == 0
    return project.path


def test_labels_of_a_bundle_are_merged(database: Path, tmp_path: Path) -> None:
    bundles = [tmp_path / "ann.db", tmp_path / "bob.db"]
    for path in bundles:
        done = run("bundle", database, path, "--for", path.stem, "--limit", "3", "--json")
        found = json.loads(done.stdout)
        assert (found["written"], found["annotator"], found["file"]) == (3, path.stem, str(path))
        with closing(open_project(path)) as bundled, closing(AnnotationSession(bundled, path.stem)) as session:
            item = session.next()
            assert item is not None
            session.submit(item, Answer(verdict="correct", subtype="A1"))
    done = run("merge", database, *bundles, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert {key: found[key] for key in ("events_new", "unchanged", "refused", "heads", "surplus", "reopened")} == {
        "events_new": 4,
        "unchanged": 0,
        "refused": [],
        "heads": [],
        "surplus": [],
        "reopened": [],
    }
    assert [file["people"] for file in found["files"]] == [{"ann": 2}, {"bob": 2}]
    again = run("merge", database, bundles[0])
    first, second = again.stdout.splitlines()
    assert first == f"{bundles[0]}: 0 new events, 2 here already, 0 rejected"
    assert second.startswith("  bundle of ann, made 20")
    assert second.endswith(", 3 items")


def test_a_bundle_can_be_recalled_and_times_are_readable(database: Path, tmp_path: Path) -> None:
    said = run("bundle", database, tmp_path / "ann.db", "--for", "ann", "--limit", "3").stdout
    assert re.search(r"^They are reserved for ann until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$", said, re.MULTILINE)
    assert "ann: 0 labelled, " in (before := run("status", database).stdout)
    assert ", 3 in a bundle, " in before
    done = run("bundle", database, "--for", "ann", "--recall")
    assert done.stdout == "3 items released. Labels by ann can still be merged.\n"
    assert "in a bundle" not in run("status", database).stdout
    assert json.loads(run("bundle", database, "--for", "ann", "--recall", "--json").stdout) == {"recalled": 0}


@pytest.mark.parametrize("arguments", [("--for", "ann"), ("x.db", "--for", "ann", "--recall")])
def test_a_bundle_is_written_or_recalled(database: Path, arguments: tuple[str, ...]) -> None:
    done = run("bundle", database, *arguments)
    assert "Give one of FILE and" in str(done.exception)


def test_rejected_events_are_listed_and_set_the_exit_code(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "ann.db"
    run("bundle", database, path, "--for", "ann")
    with closing(open_project(path)) as bundled, closing(AnnotationSession(bundled, "ann")) as session:
        item = session.next()
        assert item is not None
        (uuid,) = session.submit(item, Answer(verdict="correct"))
    with closing(sqlite3.connect(path)) as connection, connection:
        text = "SELECT sql FROM sqlite_master WHERE name = 'label_events_no_update'"
        (trigger,) = connection.execute(text).fetchone()
        connection.execute("DROP TRIGGER label_events_no_update")
        connection.execute("UPDATE label_events SET created_at = char(27) || 'now'")
        connection.execute(trigger)
    done = run("merge", database, path)
    assert done.exit_code == 3
    assert f"{uuid}: created_at: " in done.stderr
    assert "\x1b" not in done.output


def test_an_empty_bundle_is_not_written(database: Path, tmp_path: Path) -> None:
    run("annotators", database, "add", "zoe")
    done = run("bundle", database, tmp_path / "zoe.db", "--for", "zoe")
    assert isinstance(done.exception, AnnotationError)
    assert not (tmp_path / "zoe.db").exists()
