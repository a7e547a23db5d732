"""Blinding holds at SQLite: whatever is asked, nothing of other people, verifiers, models or gold comes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.helpers import add_items, make_project
from workbench.services.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.services.labelling.people import assign
from workbench.services.project import Project
from workbench.store import blind, events, people
from workbench.store.connection import open_connection

MARK = "ZQXMARK"
SHOWN = {"question": "What is 6 times 7?", "reference": r"\boxed{42}", "completion": r"It is \boxed{42}."}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Items whose every field but the three texts carries a mark; so do peers' labels, verdicts and evidence."""
    made = make_project(tmp_path)
    add_items(
        made.database,
        [
            {
                "completion_id": f"c{number}",
                "question_id": f"q{number}",
                "types": "labelled",
                "gold": number % 2 == 0,
                "model": f"{MARK}-model",
                "source": f"{MARK}-source",
                "domain": f"{MARK}-domain",
                "type": f"{MARK}-type",
                "subtype": f"{MARK}-subtype",
                "extra": f"{MARK}-extra",
                **SHOWN,
            }
            for number in range(6)
        ],
    )
    assign(made, ["amira", f"{MARK}-ben", f"{MARK}-chen"], per_item=3)
    with made.database.write() as connection:
        connection.execute("UPDATE question_text SET type_text = ?1, subtype_text = ?1", (f"{MARK}-type-text",))
    label_as_peers(made)
    judge(made)
    yield made
    made.close()


def label_as_peers(project: Project) -> None:
    for name, verdict in ((f"{MARK}-ben", "correct"), (f"{MARK}-chen", "unsuitable")):
        session = AnnotationSession(project, name)
        while (item := session.next(beside=(1,))) is not None:
            session.keep_draft(item, f"{MARK}-draft")
            if item.completion == 1:
                continue
            session.flag(item, True)
            session.submit(
                item,
                msgspec.convert(
                    {
                        "verdict": verdict,
                        "reason": "other",
                        "subtype": f"{MARK}-B",
                        "note": f"{MARK}-note",
                        "view": MARK,
                    },
                    Answer,
                ),
            )
        session.close()


def judge(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES (?1, ?1, ?1, ?1, ?1)",
            (f"{MARK}-verifier",),
        )
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at, completed_at) "
            "VALUES (1, ?1, ?1, 1, 'complete', 6, ?1, ?1)",
            (MARK,),
        )
        for item in range(1, 7):
            connection.execute("INSERT INTO verdicts VALUES (1, ?, 0, 1, 0.5, ?, 1.0)", (item, MARK))
            connection.execute(
                "INSERT INTO verdict_evidence (run_id, completion_id, reference_final, candidate_final, span_start, "
                "span_end, detail, rule) VALUES (1, ?1, ?2, ?2, 0, 1, ?2, ?2)",
                (item, MARK),
            )


def labels_of_peers(project: Project) -> int:
    count: int = (
        project.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'label'").fetchone()[0]
    )
    return count


@pytest.fixture
def session(project: Project) -> Iterator[AnnotationSession]:
    made = AnnotationSession(project, "amira")
    yield made
    made.close()


def test_peers_have_labelled(project: Project) -> None:
    assert labels_of_peers(project) >= 10


CALLS: dict[str, Callable[[AnnotationSession, AnnotationItem], object]] = {
    "next": lambda session, item: [session.next(), session.next(beside=(item.completion,))],
    "open": lambda session, item: session.open(item.completion),
    "submit": lambda session, item: session.submit(item, Answer(verdict="correct", subtype="A1")),
    "undo": lambda session, item: session.undo(),
    "skip": lambda session, item: session.skip(item),
    "release": lambda session, item: session.release(item.completion),
    "flag": lambda session, item: session.flag(item, True),
    "keep_draft": lambda session, item: session.keep_draft(item, "mine"),
    "heartbeat": lambda session, item: session.heartbeat(),
    "history": lambda session, item: session.history(),
    "progress": lambda session, item: session.progress(),
    "close": lambda session, item: session.close(),
}


def test_every_method_of_a_session_is_called_here() -> None:
    public = {name for name, value in vars(AnnotationSession).items() if callable(value) and not name.startswith("_")}
    assert public == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_no_method_returns_what_the_annotator_must_not_know(session: AnnotationSession, name: str) -> None:
    item = session.next()
    assert item is not None
    found = CALLS[name](session, item)
    assert MARK not in repr(item)
    assert MARK not in repr(found)
    assert MARK.encode() not in msgspec.json.encode(found if found is not None else {})


@pytest.fixture
def connection(project: Project) -> Iterator[sqlite3.Connection]:
    opened = blind.open_blind(project.path, people.find(project.database, "amira").id)
    yield opened
    opened.close()


def tables(project: Project) -> list[str]:
    plain = open_connection(project.path)
    names = [row[0] for row in plain.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    plain.close()
    return names


def test_every_other_table_and_column_is_denied(project: Project, connection: sqlite3.Connection) -> None:
    names = [*tables(project), "sqlite_master", "sqlite_temp_master"]
    assert {"label_events", "verdicts", "models", "gold", "task_states", "annotators"} <= set(names)
    plain = open_connection(project.path)
    for table in names:
        columns = [row[1] for row in plain.execute(f"PRAGMA table_info({table})")] or ["name"]
        for column in columns:
            query = f"SELECT {column} FROM {table}"
            if column in blind.READABLE.get(table, ()):
                assert MARK not in repr(connection.execute(query).fetchall())
                continue
            with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized|no such"):
                connection.execute(query).fetchall()
    plain.close()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM label_events",
        "SELECT count(*) FROM verdicts WHERE outcome = 1",
        "SELECT 1 FROM completions WHERE imported_gold = 1",
        "SELECT id FROM completions ORDER BY model_id",
        "SELECT id FROM questions GROUP BY subtype",
        "WITH own_events AS (SELECT * FROM main.label_events) SELECT * FROM own_events",
        "SELECT * FROM (SELECT * FROM label_events) AS own_events",
        "SELECT (SELECT max(note) FROM label_events) FROM own_events",
        "SELECT * FROM own_slots AS s JOIN label_events AS e ON e.subject = s.subject",
        "SELECT * FROM pragma_table_list",
        "PRAGMA table_list",
        "PRAGMA query_only = OFF",
        "ATTACH ':memory:' AS other",
        "CREATE TEMP VIEW mine AS SELECT 1",
        "DELETE FROM drafts",
        "UPDATE assignments SET annotator_id = 1",
    ],
)
def test_no_way_around(connection: sqlite3.Connection, query: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
        connection.execute(query).fetchall()


def test_own_rows_are_there(project: Project, session: AnnotationSession, connection: sqlite3.Connection) -> None:
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="incorrect", note="mine"))
    session.keep_draft(item, "draft")
    assert connection.execute("SELECT verdict, note FROM own_events").fetchall() == [("incorrect", "mine")]
    assert connection.execute("SELECT note FROM own_drafts").fetchall() == [("draft",)]
    for view in ("own_events", "own_slots", "own_drafts"):
        assert MARK not in repr(connection.execute(f"SELECT * FROM {view}").fetchall())
    assert events.current_of(project.database.reader(), "correctness", item.completion, session.person.id) is not None
