"""Recover the readable rows of a damaged database, and all label events from its journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from workbench.care.store.rescuing import TABLE, Connection, Rescue, RescueOutcome, empty_source
from workbench.core.database import journal, migrations
from workbench.core.database.backup import check, put_in_place
from workbench.core.database.failures import go_back
from workbench.core.database.looking import opened_read_only
from workbench.core.database.place import require_local, require_nothing
from workbench.core.errors import StoreError
from workbench.core.files import part_folder
from workbench.core.health import Rescued, TableRescued
from workbench.core.progress import step
from workbench.core.project import opened_project
from workbench.core.text.figures import Narration, counted
from workbench.data.formats.source import path_text
from workbench.labelling.ledger import recompute


def rescue(path: Path, target: Path) -> Rescued:
    """Copy everything readable of a database into a new one; it appears whole or not at all.

    Label events are also read from the journal, and kept even if their items are lost. States are derived from them
    again.

    Raises:
        StoreError: Nothing is readable, a newer program wrote the database, or the new one can't be written.
    """
    require_nothing(target)
    require_local(target.parent)
    with part_folder(target) as part:
        temporary = part / target.name
        found = copy_readable(path, temporary, target)
        with step("checking the new database"):
            check(temporary)
        require_nothing(target)
        put_in_place(temporary, target)
    return found


def copy_readable(path: Path, temporary: Path, target: Path) -> Rescued:
    """Copy everything readable into a new database at ``temporary``; the caller moves it to ``target``."""
    labels, unread = journal.read(path), ""
    with ExitStack() as held:
        try:
            source = held.enter_context(_opened(path))
        except StoreError as error:
            if not labels.lines:
                raise
            unread = error.message
            source = held.enter_context(closing(empty_source()))
        version: int = source.execute("PRAGMA user_version").fetchone()[0]
        report = Rescue(source, labels).write(temporary)
    with opened_project(temporary) as project:
        recompute(project)
    return Rescued(
        database=path_text(target),
        source=path_text(path),
        schema=version or migrations.latest_version(),
        tables=report.tables,
        changed_questions=report.changed_questions,
        changed_items=report.changed_items,
        changed_labels=report.changed_labels,
        notes=[
            *([f"{unread} Only its label events are there, from {journal.path_of(path).name}"] if unread else []),
            *_loss_notes(report),
        ],
    )


@contextmanager
def _opened(path: Path) -> Iterator[Connection]:
    if not path.is_file():
        what = "it is not a file" if path.exists() else "there is no such file"
        raise StoreError(f"{path}: {what}.", "Name the damaged database.")
    if not path.stat().st_size:
        raise StoreError(f"{path} is empty.", f"Nothing in it is readable. {go_back(path)}")
    with opened_read_only(path) as database, closing(database.open()) as source:
        # A partly damaged list of tables is read as far as possible; invalid UTF-8 is replaced.
        source.execute("PRAGMA writable_schema = ON")
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        migrations.require_known(str(path), source.execute("PRAGMA user_version").fetchone()[0])
        yield source


def _loss_notes(written: RescueOutcome) -> list[str]:
    by_name = {table.table: table for table in written.tables}
    notes = []
    for name, meaning in TABLE["losses"].items():
        table = by_name.get(name)
        if table is not None and not table.is_whole:
            notes.append(f"{_lack_text(table)}: {meaning}")
    if written.changed_questions or written.changed_items:
        notes.append(
            f"{len(written.changed_questions):,} questions and {len(written.changed_items):,} items differ from "
            "their import (a text, gold, model or type): they are kept as they can be read"
        )
    if written.changed_labels:
        notes.append(
            f"{len(written.changed_labels):,} label events differ from what was given (a value, note, person, "
            "time or round): they are kept as they can be read; a backup may have the originals"
        )
    if written.from_journal:
        notes.append(
            f"{written.from_journal:,} label events are from the journal alone: the database lost or damaged them, or "
            "it is a backup from before they were given"
        )
    if not written.keeps_secret:
        notes.append("the database's secret is lost: calls with fenced prompts are repeated")
    if written.foreign:
        notes.append(f"foreign tables were left out: {', '.join(written.foreign)}")
    return notes


def _lack_text(table: TableRescued) -> str:
    missing = None if table.missing is None else max(table.missing, table.stand_ins)
    return f"{table.table} lacks {'an unknown number of rows' if missing is None else counted(missing, 'row')}"


def rescued_lines(found: Rescued) -> Iterator[str]:
    for table in found.tables:
        if table.rows or not table.is_whole:
            yield (
                f"{table.table}: {counted(table.rows, 'row')}"
                f"{_missing_text(table.missing, table.stand_ins, table.dropped)}"
            )
    for note in found.notes:
        yield Narration(note)
    yield f"{found.database}: {'every row is there' if found.is_whole else 'something is missing, see above'}"


def _missing_text(missing: int | None, stand_ins: int, dropped: int) -> str:
    told = []
    if missing is None:
        told.append("an unknown number missing")
    elif missing:
        told.append(f"{missing:,} missing")
    if stand_ins:
        told.append(f"{stand_ins:,} are placeholders for lost ones")
    if dropped:
        told.append(f"{dropped:,} dropped because their parent rows are lost")
    return "".join(f"; {words}" for words in told)
