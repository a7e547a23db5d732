"""Schema version 8: answers to flags, who has read which guidelines, how a batch's items were chosen, and who wrote a
problem's reference solution.

``label_events`` is made anew with one more kind of event (SQLite can't change a CHECK); its rows are carried over by
the migration, and the view that reads it is made again.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

from workbench.core.database import events, generation, schema_added
from workbench.core.database.schema_added import VIEWS

REBUILT = ("label_events",)
"""Tables that version 8 makes anew."""
VIEWS_MADE_AGAIN = ("current_labels",)
"""Views that read them."""
REBUILDING: tuple[str, ...] = (
    *(
        statement.replace("'reopen', 'exclusion')", "'reopen', 'exclusion', 'answer')")
        for statement in schema_added.REBUILDING
        if "label_events" in statement.partition("\n")[0]
    ),
    # Flags and their answers are few among labels; Home, Browse and the queue look for them.
    "CREATE INDEX label_events_flags ON label_events (subject, annotator_id, id) WHERE kind IN ('flag', 'answer')",
)
"""What replaces the tables of `REBUILT`."""
VERSION_8: tuple[str, ...] = (
    *REBUILDING,
    *(view for view in VIEWS if any(view.startswith(f"CREATE VIEW {name} ") for name in VIEWS_MADE_AGAIN)),
    # A fact beside the labels, which name the version themselves: it is neither merged nor carried by a bundle.
    """CREATE TABLE guideline_readings (
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        version TEXT NOT NULL,
        read_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, version)
    ) STRICT, WITHOUT ROWID""",
    # One row a flag: what was asked, and the newest answer to it.
    """CREATE VIEW flags AS
        SELECT f.subject AS item, a.name AS annotator, f.note AS question, f.created_at AS flagged_at,
               CASE WHEN r.uuid IS NULL THEN 'open' ELSE 'answered' END AS state,
               r.note AS answer, b.name AS answered_by, r.created_at AS answered_at
        FROM label_events AS f
        JOIN annotators AS a ON a.id = f.annotator_id
        LEFT JOIN label_events AS r ON r.id = (
            SELECT x.id FROM label_events AS x, json_each(x.seen) AS n
            WHERE x.kind = 'answer' AND x.subject = f.subject AND n.value = f.uuid
            ORDER BY x.created_at DESC, x.uuid DESC LIMIT 1)
        LEFT JOIN annotators AS b ON b.id = r.annotator_id
        WHERE f.kind = 'flag' AND f.flagged AND NOT EXISTS (
            SELECT 1 FROM label_events AS o WHERE o.kind = 'flag' AND o.subject = f.subject
            AND o.annotator_id = f.annotator_id AND (o.created_at, o.uuid) > (f.created_at, f.uuid))""",
    """ALTER TABLE batches ADD COLUMN sample TEXT NOT NULL DEFAULT 'all'
        CHECK (sample IN ('all', 'drawn', 'quota', 'order', 'first'))""",
    "ALTER TABLE batches ADD COLUMN seed INTEGER",
    # Few runs take samples: one without any is not read through to find none.
    "CREATE INDEX verdicts_samples ON verdicts (run_id, completion_id, outcome) WHERE sample > 0",
    # A limit used to keep the first items of an import.
    """UPDATE batches SET sample = CASE
        WHEN ordering LIKE 'disagreement%' OR ordering LIKE 'uncertainty%' THEN 'order'
        WHEN ordering LIKE '%at most % of a subtype%' THEN 'quota'
        WHEN ordering LIKE 'random, limit %' THEN 'drawn'
        WHEN selection GLOB 'limit [0-9]*' OR selection GLOB '* and limit [0-9]*' THEN 'first' ELSE 'all' END""",
    # Only what people wrote is an oracle.
    """ALTER TABLE code_problems ADD COLUMN reference_by TEXT NOT NULL DEFAULT 'human'
        CHECK (reference_by IN ('human', 'model'))""",
    # Problems written anew say how many tests their model proposed.
    """UPDATE code_problems SET reference_by = 'model'
        WHERE json_valid(extra) AND json_extract(extra, '$.proposed_tests') IS NOT NULL""",
)
"""In order."""


# -- Schema version 8, calls to model servers: stored replies belong to the server that gave them.


REPLIES_VERSION_8: tuple[str, ...] = (
    # The server's place: its name, or its address.
    "ALTER TABLE responses ADD COLUMN server TEXT",
    # Who could make nothing of it, so that it is asked for again; '*' where nobody is to use it.
    "ALTER TABLE responses ADD COLUMN unread_by TEXT",
    # Up to which response a run is to ask again.
    "ALTER TABLE runs ADD COLUMN asked_after INTEGER",
)
"""In order."""
_CALLS = ("/chat/completions", "/messages", "/embeddings", "/score", "/classify", "/pooling", "/rerank")


def give_to_servers(db: Any) -> None:
    """Give every stored reply to the server it came from."""
    db.conn.create_function("place_of_call", 1, _place, deterministic=True)
    db.conn.create_function("reply_key", 3, _key, deterministic=True)
    # SQLite takes the plain column from the row with the greatest value: an attempt that is done.
    db.execute(
        "CREATE TEMP TABLE asked_at AS SELECT key, place_of_call(url) AS place, max(state = 'done') AS answered "
        "FROM attempts WHERE state IN ('done', 'sent') GROUP BY key"
    )
    db.execute("CREATE INDEX temp.asked_at_key ON asked_at (key)")
    db.execute(
        "CREATE TEMP TABLE moved AS SELECT r.id, r.key AS old, a.place, reply_key(q.hash, a.place, r.sample) AS new "
        "FROM responses AS r JOIN asked_at AS a ON a.key = r.key JOIN requests AS q ON q.id = r.request_id"
    )
    db.execute("CREATE INDEX temp.moved_old ON moved (old)")
    db.execute("UPDATE responses SET server = m.place, key = m.new FROM moved AS m WHERE m.id = responses.id")
    db.execute("UPDATE attempts SET key = m.new FROM moved AS m WHERE m.old = attempts.key")
    db.execute("DROP TABLE moved")
    db.execute("DROP TABLE asked_at")


def _place(url: str) -> str:
    """As `llm.server.place_of` has it, of a call's whole address."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(call) for call in _CALLS if path.endswith(call)), path)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{path.rstrip('/').removesuffix('/v1').rstrip('/')}"


def _key(request: bytes, place: str, sample: int) -> bytes:
    """As `llm.lane.reply_key` has it."""
    return hashlib.sha256(b"\0".join((request, place.encode(), str(sample).encode()))).digest()


# -- Schema version 9: whom a database believes, and what it knows of its own file.


VERSION_9: tuple[str, ...] = (
    # At home: which bundles were made, for whom, and of which items. Nothing secret is kept of them: what they are
    # sealed with follows from the database's secret.
    """CREATE TABLE bundles (
        id TEXT PRIMARY KEY,
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        made_at TEXT NOT NULL,
        expires_at REAL,
        sealed INTEGER NOT NULL DEFAULT 1 CHECK (sealed IN (0, 1))
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE bundle_items (
        bundle_id TEXT NOT NULL REFERENCES bundles (id),
        task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
        subject INTEGER NOT NULL,
        PRIMARY KEY (bundle_id, task, subject)
    ) STRICT, WITHOUT ROWID""",
    # In a bundle, one row: whose it is and which items it has, sealed at home; and the key of its events' seals.
    """CREATE TABLE bundle_pass (
        bundle_id TEXT PRIMARY KEY,
        annotator TEXT NOT NULL,
        made_at TEXT NOT NULL,
        items TEXT NOT NULL,
        seal BLOB NOT NULL,
        key BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE event_seals (
        uuid TEXT PRIMARY KEY,
        seal BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # Which process is at work is told by the kernel; ``pid_started`` and ``heartbeat`` are what a program of version 8
    # goes by while it still runs. ``trouble``: what kept a run's runner from storing.
    "ALTER TABLE runner ADD COLUMN process TEXT",
    "ALTER TABLE runner ADD COLUMN beat REAL",
    "ALTER TABLE imports ADD COLUMN process TEXT",
    "ALTER TABLE runs ADD COLUMN trouble TEXT",
    # Bundles that earlier versions made were not recorded: what is away now is believed of whom it was given to.
    """INSERT INTO bundles (id, annotator_id, made_at, expires_at, sealed)
        SELECT 'unsealed-' || annotator_id, annotator_id,
               strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(min(claimed_at), 0), 'unixepoch'), max(expires_at), 0
        FROM assignments WHERE state = 'away' AND annotator_id IS NOT NULL GROUP BY annotator_id""",
    """INSERT INTO bundle_items (bundle_id, task, subject)
        SELECT DISTINCT 'unsealed-' || annotator_id, task, subject
        FROM assignments WHERE state = 'away' AND annotator_id IS NOT NULL""",
    generation.TABLE,
    generation.BEGIN,
)
"""In order."""


# -- Schema version 10: what a label event says carries a digest, and every transaction a state of its own.


_TOGETHER = 1_000
VERSION_10: tuple[str, ...] = (*generation.STATES, "ALTER TABLE label_events ADD COLUMN digest BLOB")


def give_digests(db: Any) -> None:
    """Take the digest of every event that stands there as it can be read now."""
    db.execute("DROP TRIGGER label_events_no_update")
    decoded, db.conn.text_factory = db.conn.text_factory, lambda raw: raw.decode("utf-8", "surrogateescape")
    last = 0
    while rows := db.execute(
        f"SELECT id, {events.COLUMNS} FROM label_events WHERE id > ? ORDER BY id LIMIT {_TOGETHER}", (last,)
    ).fetchall():
        last = rows[-1][0]
        db.conn.executemany(
            "UPDATE label_events SET digest = ? WHERE id = ?", [(events.digest(row[1:]), row[0]) for row in rows]
        )
    db.conn.text_factory = decoded
    for statement in schema_added.TRIGGERS:
        if "label_events_no_update" in statement:
            db.execute(statement)


# -- Schema version 6: code. A problem is a question and a solution a completion; what is new is tests and outcomes.


VERSION_6: tuple[str, ...] = (
    # What is run around a solution; the prompt and the reference solution are the question's texts.
    """CREATE TABLE code_problems (
        question_id INTEGER PRIMARY KEY REFERENCES questions (id),
        entry_point TEXT,
        setup TEXT NOT NULL DEFAULT '',
        language TEXT NOT NULL DEFAULT 'python',
        seconds REAL,
        extra TEXT
    ) STRICT""",
    # What a solution's text is; one without a row here is a whole program or a reply with code in it.
    """CREATE TABLE code_solutions (
        completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
        form TEXT NOT NULL CHECK (form IN ('program', 'continuation', 'reply')),
        ground_truth INTEGER NOT NULL DEFAULT 0 CHECK (ground_truth IN (0, 1))
    ) STRICT""",
    # ``about``: how a suite was made (the model, the prompt, how many were asked for), as JSON.
    """CREATE TABLE suites (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        origin TEXT NOT NULL CHECK (origin IN ('imported', 'generated', 'evolved')),
        about TEXT NOT NULL DEFAULT '{}',
        created_at TEXT NOT NULL,
        UNIQUE (dataset_id, name)
    ) STRICT""",
    # A question's tests in a suite are written once, all together.
    """CREATE TABLE tests (
        question_id INTEGER NOT NULL REFERENCES questions (id),
        suite_id INTEGER NOT NULL REFERENCES suites (id),
        position INTEGER NOT NULL,
        form TEXT NOT NULL CHECK (form IN ('expression', 'statement', 'program', 'stdio')),
        source TEXT NOT NULL,
        expected TEXT,
        PRIMARY KEY (question_id, suite_id, position)
    ) STRICT, WITHOUT ROWID""",
    # Tests that were written for one solution, by a writer who saw it: in this suite they stand for its question's.
    """CREATE TABLE solution_tests (
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        suite_id INTEGER NOT NULL REFERENCES suites (id),
        position INTEGER NOT NULL,
        form TEXT NOT NULL CHECK (form IN ('expression', 'statement', 'program', 'stdio')),
        source TEXT NOT NULL,
        expected TEXT,
        PRIMARY KEY (completion_id, suite_id, position)
    ) STRICT, WITHOUT ROWID""",
    # One letter a test (model/code.py); ``ms`` is the mean time of a test, ``failures`` JSON.
    """CREATE TABLE test_results (
        run_id INTEGER NOT NULL REFERENCES runs (id),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        suite TEXT NOT NULL,
        outcomes TEXT NOT NULL,
        isolation INTEGER NOT NULL CHECK (isolation BETWEEN 1 AND 3),
        forgeable INTEGER NOT NULL,
        ms REAL NOT NULL,
        failures TEXT,
        PRIMARY KEY (run_id, completion_id, suite)
    ) STRICT, WITHOUT ROWID""",
    # What a run's outcomes depend on besides the texts (model/code.py: Provenance), as JSON.
    "CREATE TABLE provenance (run_id INTEGER PRIMARY KEY REFERENCES runs (id), document TEXT NOT NULL) STRICT",
    # Test suites that grow harder by rounds; each step of a problem is written once, and never again.
    """CREATE TABLE evolutions (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        config TEXT NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (dataset_id, name)
    ) STRICT""",
    """CREATE TABLE evolution_steps (
        evolution_id INTEGER NOT NULL REFERENCES evolutions (id),
        question_id INTEGER NOT NULL REFERENCES questions (id),
        position INTEGER NOT NULL,
        step TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (evolution_id, question_id, position)
    ) STRICT, WITHOUT ROWID""",
)


# -- Schema version 7: pools of questions and their curation, and frozen sets of questions or items.


_POOL = (
    "ALTER TABLE sources ADD COLUMN licence TEXT",
    # Keys of a file of questions that we do not know, in their order and spelling.
    "ALTER TABLE question_text ADD COLUMN extra TEXT",
    # What was decided of a question of a pool; its newest row is in force.
    """CREATE TABLE curation (
        id INTEGER PRIMARY KEY,
        question_id INTEGER NOT NULL REFERENCES questions (id),
        kind TEXT NOT NULL CHECK (kind IN ('exclude', 'restore')),
        reason TEXT,
        duplicate_of INTEGER REFERENCES questions (id),
        similarity REAL,
        note TEXT,
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        created_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX curation_question ON curation (question_id)",
    """CREATE TRIGGER curation_no_update BEFORE UPDATE ON curation
        BEGIN SELECT raise(ABORT, 'curation is append-only'); END""",
    """CREATE TRIGGER curation_no_delete BEFORE DELETE ON curation
        BEGIN SELECT raise(ABORT, 'curation is append-only'); END""",
    # The answer type that a model proposes for a question; a proposal is no label, and annotators don't see it.
    """CREATE TABLE proposed_types (
        run_id INTEGER NOT NULL REFERENCES runs (id),
        question_id INTEGER NOT NULL REFERENCES questions (id),
        subtype TEXT,
        reason TEXT,
        PRIMARY KEY (run_id, question_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX proposed_types_question ON proposed_types (question_id)",
)
_SETS = (
    # ``config`` is what was asked for, ``report`` what came of it (both JSON), ``digest`` a hash of the members.
    """CREATE TABLE sets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        version INTEGER NOT NULL CHECK (version > 0),
        kind TEXT NOT NULL CHECK (kind IN ('draw', 'picks', 'queue', 'balanced', 'hard')),
        seed INTEGER NOT NULL,
        config TEXT NOT NULL,
        report TEXT NOT NULL,
        gold TEXT CHECK (gold IN ('final', 'people', 'imported')),
        guideline TEXT,
        code_version TEXT NOT NULL,
        digest BLOB NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (name, version)
    ) STRICT""",
    # Items as they stood when the set was frozen.
    """CREATE TABLE set_items (
        set_id INTEGER NOT NULL REFERENCES sets (id),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        stratum TEXT NOT NULL,
        gold INTEGER CHECK (gold IN (0, 1)),
        gold_from TEXT CHECK (gold_from IN ('agreed', 'adjudicated', 'imported')),
        subtype TEXT,
        PRIMARY KEY (set_id, completion_id)
    ) STRICT, WITHOUT ROWID""",
    # Members of a set of questions, all of whose completions belong to it.
    """CREATE TABLE set_questions (
        set_id INTEGER NOT NULL REFERENCES sets (id),
        question_id INTEGER NOT NULL REFERENCES questions (id),
        stratum TEXT NOT NULL,
        subtype TEXT,
        PRIMARY KEY (set_id, question_id)
    ) STRICT, WITHOUT ROWID""",
    # Runs whose verdicts decided what belongs to a set.
    """CREATE TABLE set_runs (
        set_id INTEGER NOT NULL REFERENCES sets (id),
        run_id INTEGER NOT NULL REFERENCES runs (id),
        PRIMARY KEY (set_id, run_id)
    ) STRICT, WITHOUT ROWID""",
    *(
        f"""CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table}
        BEGIN SELECT raise(ABORT, 'a set is frozen'); END"""
        for table in ("sets", "set_items", "set_questions", "set_runs")
        for verb in ("update", "delete")
    ),
)
VERSION_7: tuple[str, ...] = (*_POOL, *_SETS)
TRIGGERS: tuple[str, ...] = tuple(statement for statement in VERSION_7 if statement.startswith("CREATE TRIGGER"))
"""What keeps decisions of curation and sets as they are."""
