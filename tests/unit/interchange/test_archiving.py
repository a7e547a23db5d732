"""An archive restores an equal database: rows, states, metrics and files; and the data it never contains."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from tests.helpers import add_items, make_project, numbered
from tests.unit.labelling.recording import Record
from tests.unit.labelling.test_merging import add, copy, history
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.publishing import publish
from workbench.core.database import sets
from workbench.core.errors import FormatError, StoreError, UsageError
from workbench.core.label import LabelEvent
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.core.sets import ItemMember, NewSet, SetReport
from workbench.interchange.exporting import ExportFormat, ExportOptions, Table, export, write_archive
from workbench.interchange.importing import import_files, plan_import
from workbench.interchange.store import archiving
from workbench.labelling.agreement.measuring import agreement
from workbench.labelling.checks import add_checks
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.briefing import status
from workbench.runs.verdict_files import import_verdicts

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data"
DERIVED = ("task_states", "item_states")
NEVER = {
    "secrets": "the database's secret never leaves it; an archive draws its own",
    "admissions": "logins from a browser are secrets",
    "changes": "what copies of the figures are kept by",
    "task_states": "derived from the label events",
    "item_states": "derived from the label events",
    "bundles": "a bundle comes home to the database that made it, and to no other",
    "bundle_items": "as bundles",
    "bundle_pass": "what an archive of a bundle holds is not a bundle any more",
}
"""Tables that are never archived, with reasons."""


def tables(project: Project) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables that two equal databases share, derived ones too."""
    reader = project.database.reader()
    names = [name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    own = (set(NEVER) - set(DERIVED)) | {"sqlite_sequence"}
    return {name: reader.execute(f"SELECT * FROM {name}").fetchall() for name in names if name not in own}


def archived(project: Project, folder: Path, **options: Any) -> Project:
    write_archive(project, folder / "a.db", force=True, **options)
    return open_project(folder / "a.db")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data with its labels, two verifiers and a set."""
    project = open_project(tmp_path_factory.mktemp("home") / "p.db", create=True)
    import_files(project, plan_import([SAMPLE / "tuples.jsonl"]), dataset="sample")
    import_labels(project, SAMPLE / "labels.jsonl")
    items = project.database.reader().execute("SELECT id, key FROM completions").fetchall()
    lines = [
        {"completion_id": key, "verifier": name, "verdict": "correct" if number % step else "incorrect", "score": 0.5}
        for name, step in (("ours", 2), ("theirs", 3))
        for number, key in items
    ]
    path = project.path.with_name("verdicts.jsonl")
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    import_verdicts(project, path)
    freeze(project, [number for number, _ in items[:9]])
    project.close()
    return project.path


def freeze(project: Project, items: list[int]) -> None:
    """Put items into a set ``s``."""
    report = SetReport(
        name="s", version=1, kind="hard", questions=8, tuples=9, strata=(), shortfall=(), excluded={}, seed=1
    )
    new = NewSet(
        name="s",
        kind="hard",
        seed=1,
        config="{}",
        report=msgspec.json.encode(report).decode(),
        items=tuple(ItemMember(item=number, stratum="A", gold=True, gold_from="agreed") for number in items),
        runs=(1,),
    )
    with project.database.write() as connection:
        sets.put(connection, new)


@pytest.fixture
def home(labelled: Path, tmp_path: Path) -> Project:
    return open_project(shutil.copyfile(labelled, tmp_path / "home.db"))


def metrics_and_exports(project: Project, folder: Path) -> dict[str, bytes]:
    """Return the metrics and exports of a project."""
    with project.database.reading() as reader:
        found: dict[str, bytes] = {"sets": msgspec.json.encode(sets.all_sets(reader))}
    found["accuracy"] = msgspec.json.encode(accuracy(project, by="type"))
    found["agreement"] = msgspec.json.encode(agreement(project))
    found["status"] = msgspec.json.encode(status(project))
    formats: tuple[ExportFormat, ...] = ("verifybench", "jsonl", "csv", "sft", "pairs", "labels", "label-studio")
    for format in formats:
        export(project, ExportOptions(file=folder / "out", format=format, force=True))
        found[format] = (folder / "out").read_bytes()
    publish(project, PublishOptions(sets=("s",), folder=folder / "published", force=True))
    found |= {path.name: path.read_bytes() for path in (folder / "published").rglob("*") if path.is_file()}
    others: tuple[Table, ...] = ("labels", "verdicts")
    for table in others:
        export(project, ExportOptions(file=folder / "out", format="csv", table=table, force=True))
        found[f"table of {table}"] = (folder / "out").read_bytes()
    return found


def test_metrics_and_files_regenerate_identically(home: Project, tmp_path: Path) -> None:
    back = archived(home, tmp_path)

    assert tables(back) == tables(home)
    assert metrics_and_exports(back, tmp_path) == metrics_and_exports(home, tmp_path)
    set_items = Selection((parse_condition("set=s"),))
    assert accuracy(back, selection=set_items) == accuracy(home, selection=set_items)


def test_released_lines_survive_an_archive_byte_for_byte(tmp_path: Path, real_file: Path) -> None:
    project = open_project(tmp_path / "real.db", create=True)
    import_files(project, plan_import([real_file]), dataset="hard")

    back = archived(project, tmp_path)

    export(back, ExportOptions(file=tmp_path / "out.jsonl", format="verifybench"))
    assert (tmp_path / "out.jsonl").read_bytes() == real_file.read_bytes()


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_row = st.fixed_dictionaries(
    {"question": _text, "reference": _text, "completion": _text, "gold": st.sampled_from([True, False, None])},
    optional={
        "dataset": st.sampled_from(["sample", "other"]),
        "model": _text,
        "source": _text,
        "domain": _text,
        "subtype": st.sampled_from(["A1", "Z9", None]),
        "extra": st.just('{"a":1e999,"b":"\\u2028"}'),
    },
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("empty"), numbered(6))
    project.close()
    return project


@settings(max_examples=6)
@given(made=history(), rows=st.lists(_row, max_size=5), checks=st.sets(st.integers(1, 6), max_size=2))
def test_any_project_round_trips(
    empty: Project,
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[str, LabelEvent]],
    rows: list[dict[str, Any]],
    checks: set[int],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    project = copy(empty, folder / "home")
    add_items(project.database, [{**row, "question_id": f"x{n}"} for n, row in enumerate(rows)])
    add(project, *made)
    with project.database.write() as connection:
        connection.executemany(
            "INSERT INTO check_items (completion_id, verdict, added_at) VALUES (?, 'correct', '')",
            [(number,) for number in checks],
        )

    back = archived(project, folder, checks=True)

    assert tables(back) == tables(project)
    project.close()
    back.close()


def test_a_later_label_of_an_adjudicator_keeps_its_order(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    record = Record(project)
    record.say("ann", 1, "c")
    record.say("bob", 1, "i")
    ruling = record.say("eve", 1, "c", kind="adjudication")
    record.say("eve", 1, "", kind="retraction", supersedes=ruling)
    record.say("eve", 1, "i")

    assert tables(archived(project, tmp_path)) == tables(project)


def test_no_secret_is_ever_in_it(home: Project, tmp_path: Path) -> None:
    with home.database.write() as connection:
        secrets = [connection.execute("SELECT secret FROM secrets").fetchone()[0], b"0123456789abcdef"]
        connection.execute(
            "INSERT INTO admissions (hash, kind, annotator_id, created_at, expires_at) VALUES (?, 'login', 1, '', 9e9)",
            (secrets[1],),
        )
    back = archived(home, tmp_path, checks=True)

    whole = (tmp_path / "a.db").read_bytes()
    assert not any(secret in whole for secret in secrets)
    reader = back.database.reader()
    assert reader.execute("SELECT secret FROM secrets").fetchone()[0] != secrets[0]
    assert reader.execute("SELECT count(*) FROM admissions").fetchone() == (0,)


@pytest.fixture
def checked(tmp_path: Path) -> Project:
    """Make six items in three questions; c0 (of q0) and both of q2 are checks, one of them answered."""
    project = make_project(tmp_path, numbered(6, model="m"))
    record = Record(project)
    for person in ("ann", "bob"):
        for subject in (2, 3, 4):
            record.say(person, subject, "c")
    add_checks(project, Selection((parse_condition("completion_id=c0"),)))
    add_checks(project, Selection((parse_condition("question_id=q2"),)))
    record.say("ann", 1, "i", kind="check")
    record.say("ann", 1, "A1", kind="check", task="type")
    (tmp_path / "v.jsonl").write_text(
        "".join(f'{{"completion_id":"c{n}","verifier":"v","verdict":"correct"}}\n' for n in range(6))
    )
    import_verdicts(project, tmp_path / "v.jsonl")
    return project


def test_checks_are_omitted_with_all_their_traces(checked: Project, tmp_path: Path) -> None:
    report = write_archive(checked, tmp_path / "a.db")

    assert report.left_out == {"checks": 3}
    with closing(sqlite3.connect(tmp_path / "a.db")) as found:
        assert found.execute("SELECT key FROM completions").fetchall() == [("c1",), ("c2",), ("c3",)]
        assert found.execute("SELECT key FROM questions").fetchall() == [("q0",), ("q1",)]
        for table in ("label_events WHERE task = 'correctness'", "verdicts", "completion_text"):
            column = {"v": "completion_id", "c": "id"}.get(table[0], "subject")
            assert set(found.execute(f"SELECT {column} FROM {table}")) == {(2,), (3,), (4,)}
        assert found.execute("PRAGMA foreign_key_check").fetchall() == []


def test_metrics_are_the_same_with_and_without_checks(checked: Project, tmp_path: Path) -> None:
    for checks in (True, False):
        back = archived(checked, tmp_path, checks=checks)
        assert (tables(back) == tables(checked)) is checks
        assert accuracy(back).rows == accuracy(checked).rows
        found, wanted = asdict(agreement(back)), asdict(agreement(checked))
        # How people answered checks is all that may be missing; checks of one question give no ceiling.
        differing = {name for name in wanted if found[name] != wanted[name]}
        assert differing == (set() if checks else {"per_annotator"})
        back.close()


@pytest.mark.parametrize("name", ["a.db.gz", "p.db", "taken"])
def test_an_archive_goes_to_a_new_file(checked: Project, tmp_path: Path, name: str) -> None:
    (tmp_path / "taken").write_text("mine")

    with pytest.raises((FormatError, StoreError, UsageError)):
        write_archive(checked, tmp_path / name)
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_archive_holds_one_moment(checked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Concurrent writes are not in it."""

    def rows_and_writes(*given: Any) -> Any:
        with closing(sqlite3.connect(checked.path)) as other, other:
            other.execute("INSERT OR IGNORE INTO annotators (id, name, created_at) VALUES (77, 'late', '')")
        return rows(*given)

    rows = archiving.rows
    monkeypatch.setattr(archiving, "rows", rows_and_writes)
    late = "SELECT id FROM annotators WHERE name = 'late'"
    with closing(archived(checked, tmp_path)) as found:
        assert found.database.reader().execute(late).fetchall() == []
    assert checked.database.reader().execute(late).fetchall() == [(77,)]
