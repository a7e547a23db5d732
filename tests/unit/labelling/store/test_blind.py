"""Blinding in SQLite: no query returns other annotators, verifiers, models or gold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from tests.helpers import add_items, make_project
from workbench.config.settings import AnnotationPolicy
from workbench.core.database import events, people
from workbench.core.database.connection import open_connection
from workbench.core.label import EventKind, LabelEvent
from workbench.core.project import Project
from workbench.labelling import guidelines
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.labelling.coordinating import exclude, lift, reopen
from workbench.labelling.people import assign
from workbench.labelling.rulings import first_screen
from workbench.labelling.store import blind
from workbench.labelling.waiting import own_work

MARK = "ZQXMARK"
OWN_MARK = "ZQXOWN"
VIEWS = ("own_events", "own_slots", "own_drafts", "own_answers")
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
    coordinate(made)
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
                        "reason": "other" if verdict == "unsuitable" else None,
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


def coordinate(project: Project) -> None:
    """Everything else that others do: checks, repeats, decisions, guidelines, pauses; each with a mark."""
    boss = f"{MARK}-dora"
    with project.database.write() as connection:
        connection.execute("INSERT INTO check_items VALUES (6, 'unsuitable', ?)", (MARK,))
        ben = people.add(connection, f"{MARK}-ben")
        kinds: tuple[EventKind, ...] = ("repeat", "check", "flag", "reveal", "adjudication", "answer")
        flag_on = {subject: events.new_uuid() for subject in (3, 4, 6)}
        for kind, subject in product(kinds, flag_on):
            flag = flag_on[subject]
            event = LabelEvent(
                uuid=flag if kind == "flag" else events.new_uuid(),
                kind=kind,
                task="correctness",
                subject=subject,
                annotator=ben,
                created_at=people.now(),
                verdict="correct",
                tags=(MARK,),
                partial=0.25,
                note=f"{MARK}-{kind}",
                flagged=kind == "flag",
                seen=(flag,) if kind == "answer" else (),
                guideline=MARK,
                view=MARK,
                merged=True,
            )
            events.append(connection, event)
        people.pause(connection, ben, f"{MARK}-why")
    reopen(project, [5], reason=f"{MARK}-reopened", by=boss)
    exclude(project, [2], reason="other", note=f"{MARK}-excluded", by=boss)
    lift(project, [2], note=f"{MARK}-lifted", by=boss)
    exclude(project, [4], reason="other", note=f"{MARK}-excluded", by=boss)
    guidelines.add_version(project, "Judge the final answer.", by=boss)


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


def test_other_annotators_have_done_everything(project: Project) -> None:
    assert labels_of_peers(project) >= 10
    reader = project.database.reader()
    kinds = {kind for (kind,) in reader.execute("SELECT DISTINCT kind FROM label_events")}
    assert kinds == set(get_args(EventKind))
    empty = {name for name in tables(project) if not reader.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()}
    assert not empty & {"label_events", "check_items", "guidelines", "verdicts", "task_states", "models", "drafts"}


CALLS: dict[str, Callable[[AnnotationSession, AnnotationItem], object]] = {
    "next": lambda session, item: [session.next(), session.next(beside=(item.completion,))],
    "open": lambda session, item: session.open(item.completion),
    "submit": lambda session, item: session.submit(item, Answer(verdict="correct", subtype="A1")),
    "undo": lambda session, item: session.undo(),
    "skip": lambda session, item: session.skip(item),
    "release": lambda session, item: session.release(item.completion),
    "flag": lambda session, item: session.flag(item, True),
    "answers": lambda session, item: session.answers(),
    "mark_answer_read": lambda session, item: list(map(session.mark_answer_read, session.answers())),
    "keep_draft": lambda session, item: session.keep_draft(item, "mine"),
    "heartbeat": lambda session, item: session.heartbeat(),
    "history": lambda session, item: session.history(),
    "progress": lambda session, item: session.progress(),
    "paused": lambda session, item: session.paused(),
    "close": lambda session, item: session.close(),
}


def test_every_session_method_is_covered() -> None:
    public = {name for name, value in vars(AnnotationSession).items() if callable(value) and not name.startswith("_")}
    assert public == set(CALLS)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CALLS)
def test_no_session_method_returns_hidden_data(session: AnnotationSession, name: str) -> None:
    item = session.next()
    assert item is not None
    found = CALLS[name](session, item)
    assert MARK not in repr(item)
    assert MARK not in repr(found)
    assert MARK.encode() not in msgspec.json.encode(found if found is not None else {})


READS: dict[str, Callable[[Project], object]] = {
    "Home": lambda project: own_work(project, "amira"),
    "conflicts left": lambda project: AdjudicationSession(project, "amira").count_open(),
    "guidelines": lambda project: guidelines.current(project),
    "own decisions": lambda project: AdjudicationSession(project, "amira").history(),
    "where to begin": lambda project: first_screen(project, "amira"),
}
"""Queries of an annotator's app outside the session (History and Annotate use only the session)."""


@pytest.mark.parametrize("name", READS)
def test_no_other_query_of_the_app_returns_hidden_data(project: Project, name: str) -> None:
    found = READS[name](project)
    assert MARK not in repr(found)
    assert MARK.encode() not in msgspec.json.encode(found)


def test_a_walk_over_every_item_shows_no_hidden_data(project: Project, session: AnnotationSession) -> None:
    """From the first item to the last, with a look back, an edit and an undo at each."""
    walked = []
    while (item := session.next()) is not None:
        walked.append(item.completion)
        mine = Answer(verdict="incorrect", subtype="A1" if item.asks_type else None, note="mine")
        session.submit(item, mine)
        seen = [item, session.open(item.completion), session.history(), session.progress(), session.paused()]
        session.submit(session.open(item.completion), Answer(verdict="correct"))
        seen += [session.undo(), session.history()]
        session.submit(session.open(item.completion), mine)
        assert MARK not in repr(seen)
    assert len(walked) >= 4


def test_a_check_looks_like_any_other_item(project: Project, connection: sqlite3.Connection) -> None:
    session = AnnotationSession(project, "amira", policy=AnnotationPolicy(check_rate=1.0, check_minimum=1_000))
    shown, kinds = [], set()
    for _ in range(3):
        item = session.next()
        assert item is not None
        shown.append(item)
        session.submit(item, Answer(verdict="incorrect", subtype="A1" if item.asks_type else None))
    stored = project.database.reader().execute(
        "SELECT DISTINCT kind FROM label_events WHERE annotator_id = ? AND task = 'correctness'", (session.person.id,)
    )
    assert {"check", "label"} <= {kind for (kind,) in stored}
    kinds = {kind for (kind,) in connection.execute("SELECT kind FROM own_events")}
    assert kinds == {"label"}
    columns = {view: [row[0] for row in connection.execute(f"SELECT * FROM {view}").description] for view in VIEWS}
    assert not {"purpose", "meant_for", "opened_at", "batch_id", "round"} & set(columns["own_slots"])
    slots = connection.execute("SELECT * FROM own_slots WHERE task = 'correctness'").fetchall()
    assert {row[2] for row in slots} == {"done"}
    session.close()


def test_a_repeated_item_hides_its_earlier_label(project: Project, connection: sqlite3.Connection) -> None:
    first = AnnotationSession(project, "amira", policy=AnnotationPolicy(check_rate=0, repeat_share=0))
    item = first.next()
    assert item is not None
    first.submit(item, Answer(verdict="incorrect", subtype="A1", note=OWN_MARK, tags=("guessed",)))
    first.flag(item, True)
    assert OWN_MARK in repr([first.history(), first.open(item.completion)])
    always = AnnotationPolicy(check_rate=0, repeat_share=1.0, repeat_after_hours=0)
    again = AnnotationSession(project, "amira", policy=always)
    repeated = again.next()
    assert repeated is not None
    assert repeated.completion == item.completion
    seen = [repeated, again.open(item.completion), again.history(), again.progress()]
    assert OWN_MARK not in repr(seen)
    assert (repeated.verdict, repeated.tags, repeated.unsure) == (None, (), False)
    for view in VIEWS:
        assert OWN_MARK not in repr(connection.execute(f"SELECT * FROM {view}").fetchall())
    again.submit(repeated, Answer(verdict="correct"))
    both = connection.execute("SELECT verdict FROM own_events WHERE kind = 'label' AND task = 'correctness'")
    assert set(both.fetchall()) == {("correct",), ("incorrect",)}, "now both may be seen"
    first.close()
    again.close()


@pytest.fixture
def connection(project: Project) -> Iterator[sqlite3.Connection]:
    opened = blind.open_blind(project.database, people.find(project.database, "amira").id)
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


WAYS = (
    "SELECT {column} FROM {table}",
    "SELECT t.{column} FROM main.{table} AS t",
    "SELECT max({column}) FROM {table}",
    "SELECT (SELECT {column} FROM {table} LIMIT 1) FROM own_slots",
    "SELECT 1 FROM own_events WHERE EXISTS (SELECT 1 FROM {table} WHERE {column} IS NOT NULL)",
    "SELECT subject FROM own_slots ORDER BY (SELECT max({column}) FROM {table})",
    "WITH own_events AS (SELECT {column} FROM main.{table}) SELECT * FROM own_events",
    "WITH RECURSIVE own_slots AS (SELECT {column} FROM {table} UNION SELECT * FROM own_slots) SELECT * FROM own_slots",
    "SELECT * FROM (SELECT {column} FROM {table}) AS own_drafts",
    "SELECT id FROM completions UNION ALL SELECT {column} FROM {table}",
    "SELECT c.id FROM completions AS c JOIN {table} AS own_slots ON own_slots.{column} = c.id",
)
"""Shapes of a query that reads one column of a table, with names that might be mistaken for the person's own views."""


@pytest.mark.few(4)
@pytest.mark.parametrize("way", WAYS)
def test_hidden_columns_cannot_be_read_in_any_expression(
    project: Project, connection: sqlite3.Connection, way: str
) -> None:
    plain = open_connection(project.path)
    tried = 0
    for table in tables(project):
        for row in plain.execute(f"PRAGMA table_info({table})"):
            if row[1] in blind.READABLE.get(table, ()):
                continue
            with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
                connection.execute(way.format(table=table, column=row[1])).fetchall()
            tried += 1
    assert tried > 100
    plain.close()


@pytest.mark.few(6)
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
        "PRAGMA table_info(label_events)",
        "PRAGMA writable_schema = ON",
        "SELECT * FROM pragma_table_info('label_events')",
        "SELECT sql FROM sqlite_temp_master",
        "SELECT sql FROM temp.sqlite_master",
        "SELECT count(*) FROM check_items",
        "SELECT 1 FROM assignments WHERE purpose = 'check'",
        "SELECT verdict FROM check_items",
        "SELECT paused_why FROM annotators",
        "SELECT author_id FROM guidelines",
        "EXPLAIN SELECT * FROM label_events",
        "VACUUM INTO '/tmp/never'",
        "SAVEPOINT s",
        "CREATE TEMP TABLE copy AS SELECT * FROM label_events",
        "CREATE TEMP TRIGGER t AFTER INSERT ON drafts BEGIN SELECT 1; END",
        "DROP VIEW own_events",
        "DROP VIEW temp.own_events",
        "ATTACH ':memory:' AS other",
        "CREATE TEMP VIEW mine AS SELECT 1",
        "DELETE FROM drafts",
        "UPDATE assignments SET annotator_id = 1",
        "SELECT seq FROM sqlite_sequence",
        "SELECT file FROM pragma_database_list",
        "SELECT name FROM pragma_index_list('label_events')",
        "SELECT load_extension('x')",
        "SELECT rowid FROM label_events LIMIT 1",
        "SELECT oid FROM completions WHERE rowid IN (SELECT completion_id FROM verdicts)",
        "SELECT id FROM completions WHERE (id, 1) IN (SELECT id, imported_gold FROM completions)",
        "SELECT c.id FROM completions AS c NATURAL JOIN check_items",
        "SELECT count(*) FILTER (WHERE imported_gold) FROM completions",
        "WITH guard AS (SELECT note FROM label_events) SELECT * FROM guard, own_slots",
        "SELECT label_events.note FROM own_events AS label_events, label_events AS x",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM verdicts) THEN 1 END FROM own_slots",
        "SELECT EXISTS (SELECT 1 FROM drafts WHERE annotator_id <> 1)",
        "INSERT INTO drafts SELECT 1, 1, 'x' RETURNING (SELECT note FROM label_events)",
        "PRAGMA temp.table_info(own_events)",
        "PRAGMA main.journal_mode = OFF",
        "REINDEX",
        "ANALYZE",
        "DETACH main",
        "BEGIN EXCLUSIVE",
    ],
)
def test_blinding_cannot_be_bypassed(connection: sqlite3.Connection, query: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized|authorization denied"):
        connection.execute(query).fetchall()


def test_own_rows_are_visible(project: Project, connection: sqlite3.Connection) -> None:
    # An answer to a check is no label that counts.
    session = AnnotationSession(project, "amira", policy=AnnotationPolicy(check_rate=0, repeat_share=0))
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="incorrect", note="mine"))
    session.keep_draft(item, "draft")
    assert connection.execute("SELECT verdict, note FROM own_events").fetchall() == [("incorrect", "mine")]
    assert connection.execute("SELECT note FROM own_drafts").fetchall() == [("draft",)]
    for view in VIEWS:
        assert MARK not in repr(connection.execute(f"SELECT * FROM {view}").fetchall())
    assert events.current_of(project.database.reader(), "correctness", item.completion, session.person.id) is not None
