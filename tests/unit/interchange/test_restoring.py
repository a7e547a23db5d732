"""Archives of anyone's making: what isn't as we write it is refused, and nothing of it is left lying about."""

from __future__ import annotations

import json
import os
import sqlite3
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import msgspec
import pytest
from msgspec import structs

from tests.helpers import make_project, numbered
from tests.older import newer
from tests.unit.labelling.said import Record
from workbench.care import backups
from workbench.care.backups import restore
from workbench.core.database import events, hashes, migrations, sets
from workbench.core.errors import FormatError, StoreError
from workbench.core.project import open_project
from workbench.core.sets import ItemMember, NewSet, SetReport
from workbench.interchange import archive as unpacking
from workbench.interchange.archive import write_archive

Files = dict[str, bytes]
Change = Callable[[Files], None]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    project = make_project(folder, numbered(4, model="m", source="s"))
    record = Record(project)
    for person in ("ann", "bob"):
        record.say(person, 1, "c")
    record.say("eve", 1, "i", kind="adjudication")
    with project.database.write() as connection:
        made = SetReport(
            name="two", version=None, kind="picks", questions=2, tuples=2, strata=(), shortfall=(), excluded={}, seed=0
        )
        report = msgspec.json.encode(made).decode()
        members = (ItemMember(item=1, stratum="A"), ItemMember(item=2, stratum="A"))
        sets.put(connection, NewSet(name="two", kind="picks", seed=0, config="{}", report=report, items=members))
    write_archive(project, folder / "a.zip")
    return folder / "a.zip"


def changed(archive: Path, folder: Path, change: Change, packing: int = ZIP_DEFLATED) -> Path:
    """An archive whose files were changed by hand, and whose manifest says so as far as it can be told."""
    with ZipFile(archive) as file:
        files = {name: file.read(name) for name in file.namelist()}
    change(files)
    path = folder / "changed.zip"
    with ZipFile(path, "w", packing) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def signed(change: Change) -> Change:
    """The change, with the manifest's lengths and hashes brought in line, as whoever means harm would."""

    def both(files: Files) -> None:
        change(files)
        manifest = json.loads(files["manifest.json"])
        for member in manifest["members"]:
            content = files[f"{member['name']}.jsonl"]
            said = {"bytes": len(content), "lines": content.count(b"\n"), "sha256": sha256(content).hexdigest()}
            member.update(said)
        files["manifest.json"] = json.dumps(manifest).encode()

    return both


def manifest(**values: Any) -> Change:
    def change(files: Files) -> None:
        files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | values).encode()

    return change


def line(member: str, /, **values: Any) -> Change:
    """The first line of a member says something else."""

    def change(files: Files) -> None:
        first, *others = files[f"{member}.jsonl"].splitlines(keepends=True)
        files[f"{member}.jsonl"] = b"".join([json.dumps(json.loads(first) | values).encode() + b"\n", *others])

    return signed(change)


def said(**values: Any) -> Change:
    """The first label says something else, and its digest fits."""

    def change(files: Files) -> None:
        event = json.loads(files["labels.jsonl"].splitlines()[0]) | values
        told = [event[name] for name in events.COLUMNS.split(", ")]
        line("labels", **values, digest=b64encode(hashes.digest(told) or b"").decode())(files)

    return change


def content(name: str, put: bytes) -> Change:
    return signed(lambda files: files.update({f"{name}.jsonl": put}))


def twice(files: Files) -> None:
    files["models.jsonl"] *= 2


def without(name: str) -> Change:
    return lambda files: (files.pop(name), None)[1]


def in_another_form(files: Files) -> None:
    """The first label has the second one's uuid."""
    _, second = map(json.loads, files["labels.jsonl"].splitlines())
    said(uuid=second["uuid"].upper())(files)


def anothers(files: Files) -> None:
    """The first label takes the second one back, which is another person's."""
    _, second = map(json.loads, files["labels.jsonl"].splitlines())
    said(supersedes=second["uuid"])(files)


def in_another_order(files: Files) -> None:
    """Two columns of labels have changed places in the manifest; every line has both."""
    members = json.loads(files["manifest.json"])["members"]
    for member in members:
        if member["name"] == "labels":
            places = {"note": "view", "view": "note"}
            member["columns"] = {places.get(name, name): kind for name, kind in member["columns"].items()}
    manifest(members=members)(files)


UNSIGNED: dict[str, Change] = {
    "no manifest": without("manifest.json"),
    "a member is missing": without("items.jsonl"),
    "one more member": lambda files: files.update({"../../evil.jsonl": b"{}\n"}),
    "an absolute name": lambda files: files.update({"/tmp/evil": b""}),
    "other bytes of the same length": lambda files: files.update(
        {"models.jsonl": files["models.jsonl"].replace(b'"m"', b'"n"')}
    ),
    "one line more": twice,
    "manifest is not valid JSON": lambda files: files.update({"manifest.json": b"{"}),
    "manifest is a list": lambda files: files.update({"manifest.json": b"[]"}),
    "manifest is deep": lambda files: files.update({"manifest.json": b"[" * 100_000}),
    "manifest is long": lambda files: files.update({"manifest.json": b" " * (1 << 20) + files["manifest.json"]}),
    "manifest of something else": manifest(format="coco"),
    "a newer kind of archive": manifest(version=99),
    "newer tables": manifest(schema=99),
    "older than the first archive": manifest(schema=3),
    "no members": manifest(members=[]),
    "tables that were never released": manifest(schema=15),
    "a member by the name of a path": manifest(members=[{"name": "../x", "columns": {}, "lines": 0, "bytes": 0}]),
}
SIGNED: dict[str, Change] = {
    "no JSON": content("models", b"{\n"),
    "no object": content("models", b"[1]\n"),
    "deep": content("models", b"[" * 100_000 + b"\n"),
    "no UTF-8": content("models", b'{"id": 1, "name": "\xff"}\n'),
    "another column": line("models", evil=1),
    "a column is missing": content("models", b'{"id": 1}\n'),
    "text for a number": line("models", id="1"),
    "a number that is none": line("questions", id=float("nan")),
    "a number too large": line("models", id=2**70),
    "a hash that is no base64": line("items", hash="!"),
    "null where there must be something": line("models", name=None),
    "a word that is none": line("labels", verdict="yes"),
    "the same key twice": signed(twice),
    "a reference to nothing": line("items", question_id=77),
    "a row without a number": line("models", id=None),
    "a label without a number": line("labels", id=None),
    "a label of nothing": line("labels", subject=77),
    "a label of nobody": line("labels", annotator_id=77),
    "a label that saw no list": said(seen="x"),
    "a label with another verdict": line("labels", verdict="incorrect"),
    "a label of somebody else": line("labels", annotator_id=2),
    "a label that takes another back": line("labels", supersedes=str(UUID(int=1))),
    "a label that takes another person's back": signed(anothers),
    "a label without a digest": line("labels", digest=None),
    "a label that is there in another form of its uuid": signed(in_another_form),
    "a type that is none": said(task="type", verdict=None, subtype="equation"),
    "a reason that is none": said(verdict="unsuitable", exclusion_reason="because"),
    "a verdict with a reason": said(exclusion_reason="proof"),
    "a tag that is none": said(tags='["evil"]'),
    "a label of some time": said(created_at="yesterday"),
    "a label whose uuid is none": said(uuid="mine"),
    "a label that was flagged often": said(flagged=7),
    "a note with a NUL": said(note="a\0b"),
    "further fields of an item that are none": line("items", extra="[1"),
    "further fields of a question that are a list": line("questions", extra="[1]"),
    "a set by the name of a path": line("sets", name="../x"),
    "a set whose settings are a list": line("sets", config="[1]"),
    "a set whose settings are deep": line("sets", config="[" * 100_000),
    "a set whose report is none": line("sets", report="{}"),
    "a set whose report is not valid JSON": line("sets", report="x"),
    "a name of a table": signed(
        lambda files: (
            files.update(
                {"manifest.json": files["manifest.json"].replace(b'"name": "models"', b'"name": "sqlite_master"')}
            )
            or files.update({"sqlite_master.jsonl": files.pop("models.jsonl")})
        )
    ),
    "columns in another order": in_another_order,
    "other columns": signed(
        lambda files: files.update(
            {"manifest.json": files["manifest.json"].replace(b'"version": "TEXT"', b'"v": "TEXT"')}
        )
    ),
}


@pytest.mark.parametrize("change", [*UNSIGNED.values(), *SIGNED.values()], ids=[*UNSIGNED, *SIGNED])
def test_what_is_not_as_we_write_it_is_refused(archive: Path, tmp_path: Path, change: Change) -> None:
    path = changed(archive, tmp_path, change)

    with pytest.raises((FormatError, StoreError)) as refused:
        restore(path, tmp_path / "new.db")

    assert refused.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["changed.zip"]


def test_an_archive_changed_by_hand_is_read_if_it_says_so(archive: Path, tmp_path: Path) -> None:
    restore(changed(archive, tmp_path, line("models", name="n")), tmp_path / "new.db")

    with sqlite3.connect(tmp_path / "new.db") as connection:
        assert connection.execute("SELECT name FROM models").fetchall() == [("n",)]


def test_a_member_of_the_wrong_row_is_named_with_its_line(archive: Path, tmp_path: Path) -> None:
    def third(files: Files) -> None:
        files["items.jsonl"] = files["items.jsonl"].replace(b'"id":3', b'"id":2')

    with pytest.raises(FormatError, match=r"items\.jsonl:3: UNIQUE constraint failed"):
        restore(changed(archive, tmp_path, signed(third)), tmp_path / "new.db")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (said(task="type", verdict=None, subtype="equation"), "subtype: 'equation' is not a valid subtype code"),
        (said(tags='["evil"]'), "tags: there is no tag 'evil'"),
        (line("labels", verdict="incorrect"), "digest: it is not what was given"),
    ],
)
def test_what_is_no_label_is_named_with_its_line(archive: Path, tmp_path: Path, change: Change, why: str) -> None:
    with pytest.raises(FormatError, match=rf"labels\.jsonl:1: {why}"):
        restore(changed(archive, tmp_path, change), tmp_path / "new.db")


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"note": "a\0b"}, "note: it contains a NUL"), ({"uuid": str(UUID(int=10)).upper()}, "uuid: ")],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, changed: dict[str, str], why: str) -> None:
    """Older versions took such labels."""
    with closing(make_project(tmp_path, numbered(1))) as project:
        Record(project).say("ann", 1, "c")
        with project.database.write() as connection:
            (given,) = events.all_events(connection)
            events.append(connection, structs.replace(given, **{"uuid": events.new_uuid()} | changed))
        with pytest.raises(StoreError, match=f"the label event in row 2 can't be archived: {why}"):
            write_archive(project, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize(("person", "item"), [("bob", 1), ("ann", 2)])
def test_who_takes_back_what_is_not_theirs_is_not_written(tmp_path: Path, person: str, item: int) -> None:
    """No way of ours leads there; a database may have been changed by hand."""
    with closing(make_project(tmp_path, numbered(2))) as project:
        record = Record(project)
        record.say("ann", 1, "c")
        record.say(person, item, "i")
        with project.database.write() as connection:
            given, other = events.all_events(connection)
            events.append(connection, structs.replace(other, uuid=events.new_uuid(), supersedes=given.uuid))
        with pytest.raises(StoreError, match="row 3 retracts another person's event, or one on another item"):
            write_archive(project, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize("kept", [0, 1, 200, -200, -1])
def test_a_file_cut_off_anywhere_is_refused(archive: Path, tmp_path: Path, kept: int) -> None:
    (tmp_path / "cut.zip").write_bytes(archive.read_bytes()[:kept])

    with pytest.raises(FormatError):
        restore(tmp_path / "cut.zip", tmp_path / "new.db")
    assert [file.name for file in tmp_path.iterdir()] == ["cut.zip"]


def test_no_flipped_byte_goes_unnoticed(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    restore(archive, tmp_path / "good.db")
    good = _dump(tmp_path / "good.db")
    for place in range(30, len(whole), len(whole) // 8):
        (tmp_path / "bad.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            restore(tmp_path / "bad.zip", tmp_path / "bad.db")
        except (FormatError, StoreError):
            continue
        # Only what says nothing, such as the times in the zip's directory, may differ.
        assert _dump(tmp_path / "bad.db") == good
        (tmp_path / "bad.db").unlink()


def _dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        lines = list(connection.iterdump())
    own = ('"secrets"', '"changes"', '"generation"', '"_sqlite_migrations"', '"sqlite_sequence"')
    return [text for text in lines if not any(name in text for name in own)]


def test_a_bomb_is_refused_before_it_goes_off(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_RATIO_LIMIT", (1 << 16, 300))
    path = changed(archive, tmp_path, content("models", b" " * (1 << 20)))

    with pytest.raises(FormatError, match="hundreds of times"):
        restore(path, tmp_path / "new.db")


def test_a_member_longer_than_the_manifest_says_is_not_begun(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"models\.jsonl: it has 40 bytes and the manifest says 20"):
        restore(changed(archive, tmp_path, twice), tmp_path / "new.db")


def test_a_line_has_a_longest_length(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_LINE", 1_000)
    path = changed(archive, tmp_path, line("models", name="n" * 2_000))

    with pytest.raises(FormatError, match="longer"):
        restore(path, tmp_path / "new.db")


def test_no_more_is_read_than_the_disk_has_room_for(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 100}))

    with pytest.raises(StoreError, match="Free some space"):
        restore(archive, tmp_path / "new.db")


def test_other_packing_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="unsupported method"):
        restore(changed(archive, tmp_path, lambda _: None, ZIP_BZIP2), tmp_path / "new.db")


def test_two_files_of_one_name_are_refused(archive: Path, tmp_path: Path) -> None:
    path = changed(archive, tmp_path, lambda _: None)
    with pytest.warns(UserWarning, match="Duplicate name"), ZipFile(path, "a") as file:
        file.writestr("models.jsonl", b"")

    with pytest.raises(FormatError, match="two files of the same name"):
        restore(path, tmp_path / "new.db")


@pytest.mark.parametrize("there", [b"", b"something"])
def test_nothing_is_written_over(archive: Path, tmp_path: Path, there: bytes) -> None:
    (tmp_path / "new.db").write_bytes(there)

    with pytest.raises(StoreError, match="exists"):
        restore(archive, tmp_path / "new.db")
    assert (tmp_path / "new.db").read_bytes() == there


def test_what_another_made_meanwhile_is_not_written_over(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "check", lambda _: (tmp_path / "new.db").write_bytes(b"mine"))

    with pytest.raises(StoreError, match="exists"):
        restore(archive, tmp_path / "new.db")

    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("new.db", b"mine")]


def test_a_disk_that_fails_is_said(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(migrations, "make", full)

    with pytest.raises(StoreError, match="disk I/O error"):
        restore(archive, tmp_path / "new.db")

    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_no_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(FormatError, match="not a regular file"):
        restore(tmp_path / "pipe", tmp_path / "new.db")


def test_there_must_be_a_folder_and_an_archive(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        restore(archive, tmp_path / "no" / "new.db")
    for path in (tmp_path, tmp_path / "no.zip", Path(__file__)):
        with pytest.raises(FormatError):
            restore(path, tmp_path / "new.db")


def test_an_archive_of_older_tables_is_migrated(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = "CREATE TABLE models (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL UNIQUE\n"
    more = "{}\nCREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;\n"
    newer(monkeypatch, models, f"{more}{models}    , maker TEXT DEFAULT 'us'  {{}}\n")

    restored = restore(archive, tmp_path / "new.db")

    project = open_project(tmp_path / "new.db")
    assert restored.schema == migrations.latest_version() - 1
    assert project.database.reader().execute("SELECT name, maker FROM models").fetchall() == [("m", "us")]
    assert project.database.reader().execute("PRAGMA user_version").fetchone()[0] == migrations.latest_version()
    project.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.db"]
