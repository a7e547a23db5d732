"""Returned bundles: only events of their annotator, on their items, since their creation are accepted."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.helpers import make_project, merge, numbered
from tests.unit.labelling.canonical import canonical
from workbench.core.database import events, people
from workbench.core.database.values import timestamp_of
from workbench.core.errors import StoreError
from workbench.core.label import LabelEvent
from workbench.core.project import Project, open_project
from workbench.labelling import coordinating, ledger
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.answers import Answer
from workbench.labelling.bundling import bundle
from workbench.labelling.coordinating import exclude
from workbench.labelling.guidelines import add_version
from workbench.labelling.labels import import_labels
from workbench.labelling.merging import Merged, merge_all
from workbench.labelling.people import assign

Forge = Callable[["Scene"], object]


class Scene:
    """A project, Ann's bundle with two labels of hers, and Bob's; Bob has labelled at home, and Dora excluded an item.

    Attributes:
        ann: Ann's bundle, where forgers are at work.
        bob: Bob's bundle.
        honest: uuids of what Ann has said in her bundle.
    """

    def __init__(self, folder: Path) -> None:
        self.home = make_project(folder, numbered(12, types="labelled"))
        self.ann, self.bob = folder / "ann.db", folder / "bob.db"
        assign(self.home, ["ann", "bob"], per_item=2)
        with closing(AnnotationSession(self.home, "ann")) as session:
            item = session.next()
            assert item is not None
            session.submit(item, Answer(subtype="B1"))
            session.flag(item, True, "Which one?")
            session.release(item.completion)
        label(self.home.path, "bob", 2)
        exclude(self.home, [12], reason="proof", by="dora")
        bundle(self.home, self.ann, annotator="ann", limit=5)
        bundle(self.home, self.bob, annotator="bob", limit=5)
        self.honest = label(self.ann, "ann", 2)
        self.at = timestamp_of(datetime.now(UTC).timestamp())

    def merge(self, path: Path | None = None, **options: Any) -> Merged:
        report = merge(self.home, path or self.ann, **options)
        assert ledger.states_differ(self.home) == 0
        return report

    def says(self, **fields: Any) -> LabelEvent:
        """Store an event as a forger with the program would, including the seal."""
        with closing(open_project(self.ann)) as project, project.database.write() as connection:
            maker = people.add(connection, fields.pop("by", "ann"), fields.pop("role", "annotator"))
            event = LabelEvent(
                **{
                    "uuid": events.new_uuid(),
                    "kind": "label",
                    "task": "correctness",
                    "subject": 4,
                    "annotator": maker,
                    "created_at": self.at,
                    "verdict": "incorrect",
                    **fields,
                }
            )
            ledger.record(connection, event)
        return event

    def write(self, *statements: str, path: Path | None = None) -> None:
        """Change the database by hand as a forger would."""
        with closing(sqlite3.connect(path or self.ann, isolation_level=None)) as connection:
            guards = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'label_events_no_%'"
            ).fetchall()
            for name, _ in guards:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            # A forger leaves no such trace.
            for _, guard in guards:
                connection.execute(guard)

    def read(self, query: str, path: Path | None = None) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(path or self.home.path)) as connection:
            return connection.execute(query).fetchall()


def label(path: Path, name: str, count: int) -> list[str]:
    made: list[str] = []
    with closing(open_project(path)) as project, closing(AnnotationSession(project, name)) as session:
        for _ in range(count):
            item = session.next()
            assert item is not None
            made += session.submit(item, Answer(verdict="correct", subtype="A1" if item.wants_type else None))
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    scene = Scene(tmp_path_factory.mktemp("scene"))
    scene.home.close()
    return scene


@pytest.fixture
def scene(made: Scene, tmp_path: Path) -> Scene:
    """A copy of the one that was made."""
    copied = object.__new__(Scene)
    for file in ("p.db", "ann.db", "bob.db"):
        shutil.copyfile(made.home.path.with_name(file), tmp_path / file)
    copied.home = open_project(tmp_path / "p.db")
    copied.ann, copied.bob, copied.honest, copied.at = tmp_path / "ann.db", tmp_path / "bob.db", made.honest, made.at
    return copied


def theirs(scene: Scene, kind: str, name: str) -> str:
    """Return the uuid of an event at home, which another person may have learned."""
    query = "SELECT e.uuid FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
    return str(scene.read(f"{query} WHERE e.kind = '{kind}' AND a.name = '{name}' AND task = 'correctness'")[0][0])


def in_days(days: float) -> str:
    return timestamp_of((datetime.now(UTC) + timedelta(days=days)).timestamp())


def an_own_event(scene: Scene) -> str:
    return str(scene.read("SELECT uuid FROM label_events WHERE kind = 'label'", scene.ann)[0][0])


def item_of_bob(scene: Scene, *, renamed: bool) -> int:
    """Put an item into Ann's bundle that is not in it: by its own names, or as Bob's bundle calls it."""
    names = {row[0] for row in scene.read("SELECT key FROM completions", scene.ann)}
    key, text = next(
        row
        for row in scene.read(
            "SELECT c.key, t.text FROM completions AS c JOIN completion_text AS t USING (id)", scene.bob
        )
        if row[0] not in names
    )
    with closing(sqlite3.connect(scene.ann)) as connection, connection:
        if not renamed:
            key, text = "c10", r"So \boxed{7}."
        row = connection.execute(
            "INSERT INTO completions (question_id, key, hash) VALUES (1, ?, x'00')", (key,)
        ).lastrowid
        connection.execute("INSERT INTO completion_text (id, text) VALUES (?, ?)", (row, text))
    assert row is not None
    return row


SAID: dict[str, tuple[Forge, str]] = {
    "another person's label": (lambda s: s.says(by="bob"), "annotator"),
    "a coordinator who is made up": (lambda s: s.says(by="eve", role="coordinator"), "annotator"),
    "on an item of others": (lambda s: s.says(subject=item_of_bob(s, renamed=False)), "subject"),
    "on an item of another bundle": (lambda s: s.says(subject=item_of_bob(s, renamed=True)), "subject"),
    "a ruling": (lambda s: s.says(kind="adjudication"), "kind"),
    "an exclusion": (lambda s: s.says(kind="exclusion", verdict="unsuitable", exclusion_reason="proof"), "kind"),
    "a new round": (lambda s: s.says(kind="reopen", round=2, verdict=None), "kind"),
    "an answer to a check": (lambda s: s.says(kind="check"), "kind"),
    "an answer to a flag": (
        lambda s: s.says(kind="answer", verdict=None, note="so", seen=(theirs(s, "flag", "ann"),)),
        "kind",
    ),
    "from before it was made": (lambda s: s.says(created_at=in_days(-1)), "created_at"),
    "from before, as a day": (lambda s: s.says(created_at=in_days(-2)[:10]), "created_at"),
    "from the future": (lambda s: s.says(created_at=in_days(1)), "created_at"),
    "from the end of time": (lambda s: s.says(created_at="9999-12-31T23:59:59Z"), "created_at"),
    "of a round that never was": (lambda s: s.says(round=7), "round"),
    "a uuid that another item has": (lambda s: s.says(uuid=theirs(s, "label", "bob")), "uuid"),
    "takes back another's label": (
        lambda s: s.says(kind="retraction", verdict=None, supersedes=theirs(s, "label", "bob")),
        "supersedes",
    ),
    "takes back an exclusion": (
        lambda s: s.says(kind="retraction", verdict=None, supersedes=theirs(s, "exclusion", "dora")),
        "supersedes",
    ),
    "repeats another's label": (lambda s: s.says(seen=(theirs(s, "label", "bob"),)), "seen"),
    "guidelines": (lambda s: forge_guidelines(s), "version"),
}
"""What a forger has the program store in a bundle, and the field that is refused."""


def forge_guidelines(scene: Scene) -> None:
    with closing(open_project(scene.ann)) as project:
        add_version(project, "Everything is correct.", by="ann")


@pytest.mark.few(4)
@pytest.mark.parametrize("forgery", SAID)
def test_unauthorised_events_are_rejected_and_the_others_merged(scene: Scene, forgery: str) -> None:
    forge, field = SAID[forgery]
    before = {row[0] for row in scene.read("SELECT uuid FROM label_events")}
    forge(scene)
    report = scene.merge()
    assert [row.field for row in report.refused] == [field]
    assert report.refused[0].message
    if field != "version":
        assert report.refused[0].annotator
        assert report.refused[0].kind
    assert report.people == {"ann": len(scene.honest)}
    assert {row[0] for row in scene.read("SELECT uuid FROM label_events")} - before == set(scene.honest)
    assert scene.read("SELECT name FROM annotators ORDER BY name") == [("ann",), ("bob",), ("dora",)]
    assert scene.read("SELECT count(*) FROM guidelines") == [(0,)]
    again = scene.merge()
    assert (again.events_new, [row.field for row in again.refused]) == (0, [field])


WRITTEN: dict[str, tuple[str, str]] = {
    "no uuid": ("UPDATE label_events SET uuid = '{0}x' WHERE uuid = '{0}'", "uuid"),
    "names changed about": (
        "CREATE TEMP TABLE names AS SELECT id, key FROM completions WHERE id IN (1, 2); "
        "UPDATE completions SET key = key || 'x' WHERE id IN (1, 2); "
        "UPDATE completions SET key = (SELECT key FROM names WHERE id = 3 - completions.id) WHERE id IN (1, 2)",
        "subject",
    ),
    "another text": ("UPDATE completion_text SET text = text || ' ' WHERE id IN (1, 2)", "subject"),
    "another question": ("UPDATE question_text SET reference = '8' WHERE id = 1", "subject"),
}
"""What is written into a bundle by hand, where {0} is a label in it, and the field that is refused."""


@pytest.mark.parametrize("edit", WRITTEN)
def test_handwritten_events_are_rejected(scene: Scene, edit: str) -> None:
    statement, field = WRITTEN[edit]
    verdict = scene.read("SELECT uuid FROM label_events WHERE task = 'correctness' AND kind = 'label'", scene.ann)[-1][
        0
    ]
    scene.write(*statement.format(verdict).split("; "))
    report = scene.merge()
    assert field in {row.field for row in report.refused}
    assert {row.annotator for row in report.refused} == {"ann"}
    assert report.events_new < len(scene.honest)
    assert report.events_new + report.unchanged + len(report.refused) == len(scene.honest) + 2


def test_a_changed_earlier_event_keeps_its_original_content(scene: Scene) -> None:
    own = theirs(scene, "flag", "ann")
    before = scene.read(f"SELECT * FROM label_events WHERE uuid = '{own}'")
    scene.write(f"UPDATE label_events SET note = 'changed' WHERE uuid = '{own}'")
    report = scene.merge()
    assert [(row.what, row.field, row.annotator) for row in report.refused] == [(own, "uuid", "ann")]
    assert scene.read(f"SELECT * FROM label_events WHERE uuid = '{own}'") == before


PASSES: dict[str, str] = {
    "of another id": "UPDATE bundle_pass SET bundle_id = 'another'",
    "of an id that is none": "UPDATE bundle_pass SET bundle_id = char(27) || '[31m'",
    "twice": "INSERT INTO bundle_pass SELECT 'x', annotator, made_at FROM bundle_pass",
    "none": "DELETE FROM bundle_pass",
}


@pytest.mark.parametrize("kind", PASSES)
def test_an_unrecorded_bundle_is_rejected(scene: Scene, kind: str) -> None:
    scene.write(PASSES[kind])
    before = canonical(scene.home)
    report = scene.merge()
    assert (report.events_new, report.unchanged, report.bundle) == (0, 0, None)
    assert "this database" in report.not_believed
    assert "\x1b" not in report.not_believed
    assert sum(row.events for row in report.refused) == scene.read("SELECT count(*) FROM label_events", scene.ann)[0][0]
    assert canonical(scene.home) == before


def test_owner_and_creation_time_of_a_bundle_come_from_home(scene: Scene) -> None:
    scene.write("UPDATE bundle_pass SET annotator = 'bob', made_at = '2001-01-01T00:00:00.000000Z'")
    scene.says(by="bob")
    scene.says(created_at=in_days(-1))
    report = scene.merge()
    assert report.bundle is not None
    assert report.bundle.annotator == "ann"
    assert [row.field for row in report.refused] == ["annotator", "created_at"]
    assert report.people == {"ann": len(scene.honest)}


def test_swapped_bundles_are_rejected(scene: Scene) -> None:
    """Bob's id in Ann's file."""
    with closing(sqlite3.connect(scene.ann, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS bob", (str(scene.bob),))
        connection.execute("DELETE FROM bundle_pass")
        connection.execute("INSERT INTO bundle_pass SELECT * FROM bob.bundle_pass")
    report = scene.merge()
    assert report.bundle is not None
    assert (report.bundle.annotator, report.events_new) == ("bob", 0)
    assert {row.field for row in report.refused} == {"annotator"}


def test_a_second_merge_changes_nothing(scene: Scene) -> None:
    first = scene.merge()
    after = canonical(scene.home)
    second = scene.merge()
    assert (first.events_new, second.events_new, second.unchanged) == (len(scene.honest), 0, len(scene.honest) + 2)
    assert (second.refused, canonical(scene.home)) == ([], after)


@pytest.mark.parametrize("newer_first", [True, False])
def test_an_older_copy_does_not_override_a_newer_one(scene: Scene, tmp_path: Path, newer_first: bool) -> None:
    older = shutil.copyfile(scene.ann, tmp_path / "older.db")
    with closing(open_project(scene.ann)) as project, closing(AnnotationSession(project, "ann")) as session:
        assert session.undo() is not None
    for path in (scene.ann, older) if newer_first else (older, scene.ann):
        assert scene.merge(path).refused == []
    with closing(make_copy(scene, tmp_path / "other")) as other:
        for path in (older, scene.ann) if newer_first else (scene.ann, older):
            merge(other, path)
        assert canonical(other) == canonical(scene.home)


def make_copy(scene: Scene, folder: Path) -> Project:
    folder.mkdir()
    scene.home.database.write_back()
    with closing(sqlite3.connect(scene.home.path)) as connection:
        connection.execute("VACUUM INTO ?", (str(folder / "p.db"),))
    return open_project(folder / "p.db")


def test_two_bundles_of_one_annotator_merge_in_any_order(scene: Scene, tmp_path: Path) -> None:
    """The first bundle expires, its items are bundled again, and then both return."""
    with scene.home.database.write() as connection:
        connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'away'")
    bundle(scene.home, tmp_path / "second.db", annotator="ann")
    label(tmp_path / "second.db", "ann", 4)
    assert scene.merge(tmp_path / "second.db").refused == []
    report = scene.merge()
    assert report.refused == []
    assert report.events_new == len(scene.honest)


def test_a_bundle_of_another_project_is_rejected(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    other = Scene(tmp_path / "apart")
    assert "did not make" in scene.merge(other.ann).not_believed
    report = scene.merge(other.ann, whole=True)
    assert report.events_new == 0
    assert {row.field for row in report.refused} == {"subject"}


@pytest.mark.parametrize("damage", ["cut", "cut at a page", "a page", "header"])
def test_a_damaged_bundle_merges_only_intact_events(scene: Scene, damage: str) -> None:
    raw = bytearray(scene.ann.read_bytes())
    before = canonical(scene.home)
    if damage.startswith("cut"):
        del raw[len(raw) // 8 if damage == "cut" else 4096 * 3 :]
    elif damage == "header":
        raw[:100] = b"\0" * 100
    else:
        raw[4096:] = bytes(255 - byte for byte in raw[4096:])
    scene.ann.write_bytes(raw)
    with pytest.raises(StoreError):
        scene.merge()
    assert canonical(scene.home) == before
    reports = merge_all(scene.home, [scene.ann, scene.bob])
    assert [bool(report.not_believed) for report in reports] == [True, False]


@pytest.mark.soak
def test_damaged_bytes_are_never_read_as_labels(scene: Scene, tmp_path: Path) -> None:
    """Every byte of every stored verdict, note and time is changed, one at a time."""
    whole = scene.ann.read_bytes()
    spots = [start for start in range(len(whole)) if whole[start : start + 7] == b"correct"]
    assert len(spots) >= 2
    clean = scene.read("SELECT count(*) FROM label_events")
    for spot in spots:
        raw = bytearray(whole)
        raw[spot : spot + 2] = b"xx"
        (tmp_path / "damaged.db").write_bytes(raw)
        with closing(make_copy(scene, tmp_path / str(spot))) as home:
            try:
                report = merge(home, tmp_path / "damaged.db")
            except StoreError:
                continue
            values = home.database.reader().execute("SELECT DISTINCT verdict FROM label_events").fetchall()
            assert set(values) <= {("correct",), ("unsuitable",), (None,)}
            assert report.events_new + len(report.refused) >= len(scene.honest) or report.not_believed
    assert scene.read("SELECT count(*) FROM label_events") == clean


def test_without_a_record_labels_need_the_coordinators_consent(scene: Scene) -> None:
    """As after restoring an older backup."""
    scene.write("DELETE FROM bundle_items", "DELETE FROM bundles", path=scene.home.path)
    assert "did not make" in scene.merge().not_believed
    report = scene.merge(whole=True)
    assert (report.people, report.refused) == ({"ann": len(scene.honest)}, [])


def test_an_implausible_number_of_events_is_not_read(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.labelling.believing.MOST_EVENTS", 0)
    monkeypatch.setattr("workbench.labelling.believing.TrustedBundle.most", 3)
    report = scene.merge()
    assert "more than 3 events" in report.not_believed
    assert report.events_new == 0


def test_a_whole_database_is_merged_only_with_the_option(scene: Scene, tmp_path: Path) -> None:
    with closing(make_copy(scene, tmp_path / "other")) as other:
        add_version(other, "Be kind.", by="zoe")
        label(other.path, "bob", 1)
        with other.database.write() as connection:
            zoe = people.add(connection, "zoe", people.COORDINATOR)
            first = next(event for event in events.all_events(connection) if event.kind == "label")
            ledger.record(connection, replace(first, uuid=events.new_uuid(), annotator=zoe, created_at=in_days(1)))
            ledger.record(connection, replace(first, uuid=events.new_uuid(), annotator=zoe))
    path = tmp_path / "other" / "p.db"
    before = canonical(scene.home)
    report = scene.merge(path)
    assert "not a bundle" in report.not_believed
    assert canonical(scene.home) == before
    told: list[Any] = []
    report = scene.merge(path, whole=True, tell=lambda _, trusted: told.append((canonical(scene.home), trusted)))
    assert told[0][0] == before
    assert report.trusted is not None
    assert told[0][1] == report.trusted
    assert (report.trusted.guidelines, report.trusted.people["zoe"]) == (1, 1)
    assert [row.field for row in report.refused] == ["created_at"]
    assert report.trusted.people == report.people
    assert report.trusted.kinds == report.kinds


def test_flags_are_counted_as_new_events(scene: Scene) -> None:
    with closing(open_project(scene.ann)) as project, closing(AnnotationSession(project, "ann")) as session:
        item = session.next()
        assert item is not None
        session.flag(item, True, "And this?")
    report = scene.merge()
    assert report.kinds == {"flag": 1, "label": len(scene.honest)}
    assert len(coordinating.flags(scene.home)) == 2


def test_contradicting_tags_are_counted(scene: Scene, tmp_path: Path) -> None:
    scene.says(tags=("reasoning_wrong", "reasoning_right"), verdict="correct")
    assert scene.merge().contradicting == 1
    assert scene.merge().contradicting == 0
    lines = [
        {"completion_id": "c7", "annotator": "eve", "verdict": "correct", "tags": ["reasoning_right"]},
        {"completion_id": "c8", "annotator": "eve", "verdict": "correct", "tags": ["reasoning_wrong"]},
    ]
    (tmp_path / "eve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    imported = import_labels(scene.home, tmp_path / "eve.jsonl")
    assert (imported.imported, imported.contradicting) == (2, 1)
    assert import_labels(scene.home, tmp_path / "eve.jsonl").contradicting == 0


def test_future_and_copied_labels_in_files_are_rejected(scene: Scene, tmp_path: Path) -> None:
    of_bob = theirs(scene, "label", "bob")
    line = {"completion_id": "c7", "annotator": "eve", "verdict": "correct"}
    lines = [
        {**line, "created_at": in_days(1)},
        {**line, "kind": "label", "task": "correctness", "seen": [of_bob], "uuid": events.new_uuid()},
        {**line, "created_at": in_days(0)},
    ]
    (tmp_path / "eve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    imported = import_labels(scene.home, tmp_path / "eve.jsonl")
    assert [(row["line"], row["field"]) for row in imported.refusals] == [(1, "created_at"), (2, "seen")]


def test_a_copied_label_never_restores_the_original(scene: Scene) -> None:
    """An earlier version of the program accepted and stored it."""
    home = scene.home
    with closing(AnnotationSession(home, "bob")) as session:
        item = session.open(session.history()[0].completion)
        session.submit(item, Answer(verdict="incorrect"))
        (edited,) = [
            e for e in events.events_of(home.database.reader(), "correctness", item.completion) if e.supersedes
        ]
    with home.database.write() as connection:
        ann = people.find(home.database, "ann").id
        forged = replace(
            edited, uuid=events.new_uuid(), annotator=ann, supersedes=None, seen=(edited.uuid,), created_at=scene.at
        )
        ledger.record(connection, forged)
    with closing(AnnotationSession(home, "ann")) as session:
        session.undo()
    made = [event for event in events.all_events(home.database.reader()) if event.supersedes == forged.uuid]
    assert [(event.kind, event.annotator) for event in made] == [("retraction", ann)]
