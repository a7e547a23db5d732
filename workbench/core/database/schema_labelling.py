"""Schema version 4: rounds, exclusions, checks, repeats, caps, pauses and versions of the guidelines.

``label_events``, ``assignments`` and ``task_states`` are made anew with more columns (SQLite can't change a CHECK);
their rows are carried over by the migration.
"""

from __future__ import annotations

REBUILT = ("label_events", "assignments", "task_states")
"""Tables that version 4 makes anew."""

_EVENTS = (
    """CREATE TABLE label_events (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('label', 'adjudication', 'retraction', 'flag', 'reveal', 'repeat', 'check',
                                           'reopen', 'exclusion')),
        task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
        subject INTEGER NOT NULL,
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        round INTEGER NOT NULL DEFAULT 1 CHECK (round > 0),
        verdict TEXT CHECK (verdict IN ('correct', 'incorrect', 'unsuitable')),
        exclusion_reason TEXT,
        subtype TEXT,
        unsure INTEGER NOT NULL DEFAULT 0,
        flagged INTEGER NOT NULL DEFAULT 0,
        tags TEXT,
        partial REAL CHECK (partial BETWEEN 0 AND 1),
        note TEXT,
        supersedes TEXT,
        seen TEXT,
        unblinded INTEGER NOT NULL DEFAULT 0,
        guideline TEXT,
        schema INTEGER NOT NULL,
        content_hash BLOB,
        open_ms INTEGER,
        focused_ms INTEGER,
        wait_ms INTEGER,
        keys INTEGER,
        view TEXT,
        created_at TEXT NOT NULL,
        merged INTEGER NOT NULL DEFAULT 0 CHECK (merged IN (0, 1))
    ) STRICT""",
    "CREATE INDEX label_events_subject ON label_events (task, subject, annotator_id)",
    "CREATE INDEX label_events_annotator ON label_events (annotator_id, id)",
    """CREATE TRIGGER label_events_no_update BEFORE UPDATE ON label_events
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    """CREATE TRIGGER label_events_no_delete BEFORE DELETE ON label_events
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    """CREATE TRIGGER label_events_no_replace BEFORE INSERT ON label_events
        WHEN EXISTS (SELECT 1 FROM label_events WHERE uuid = NEW.uuid OR id = NEW.id)
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    # What came from another database by merge is kept whatever it says: there the states leave a ruling out whose
    # maker also labelled.
    """CREATE TRIGGER label_events_third_person BEFORE INSERT ON label_events
        WHEN NEW.merged = 0 AND NEW.kind IN ('label', 'adjudication') AND EXISTS (
            SELECT 1 FROM label_events AS e
            WHERE e.task = NEW.task AND e.subject = NEW.subject AND e.round = NEW.round
              AND e.annotator_id = NEW.annotator_id
              AND e.kind = CASE NEW.kind WHEN 'label' THEN 'adjudication' ELSE 'label' END
              AND NOT EXISTS (SELECT 1 FROM label_events AS l
                              WHERE l.task = e.task AND l.subject = e.subject
                                AND l.annotator_id = e.annotator_id AND l.supersedes = e.uuid))
        BEGIN SELECT raise(ABORT, 'the adjudicator is none of the annotators of the item'); END""",
)

TRIGGERS: tuple[str, ...] = tuple(statement for statement in _EVENTS if statement.startswith("CREATE TRIGGER"))
"""What keeps label events as they are."""

_SLOTS = (
    # ``quota`` slots make up an item's overlap; ``check`` and ``repeat`` slots are opened for one person at a claim.
    # A slot of an earlier round is ``past``. ``opened_at`` stands where own labels given before it are not shown.
    # One that is ``away`` was taken along in a bundle: its person's, but they are not served it here.
    """CREATE TABLE assignments (
        id INTEGER PRIMARY KEY,
        batch_id INTEGER REFERENCES batches (id),
        task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
        subject INTEGER NOT NULL,
        round INTEGER NOT NULL DEFAULT 1,
        purpose TEXT NOT NULL DEFAULT 'quota' CHECK (purpose IN ('quota', 'check', 'repeat')),
        slot INTEGER NOT NULL,
        position INTEGER NOT NULL,
        meant_for INTEGER REFERENCES annotators (id),
        annotator_id INTEGER REFERENCES annotators (id),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'leased', 'away', 'done', 'past')),
        opened_at TEXT,
        claimed_at REAL,
        expires_at REAL
    ) STRICT""",
    "CREATE UNIQUE INDEX assignments_slot ON assignments (task, subject, purpose, round, slot)",
    """CREATE UNIQUE INDEX assignments_person ON assignments (annotator_id, task, subject, purpose)
        WHERE annotator_id IS NOT NULL AND state <> 'past'""",
    # The queue: what is open in a batch, by whom it is meant for, in its order.
    "CREATE INDEX assignments_open ON assignments (state, task, batch_id, meant_for, position)",
    "CREATE INDEX assignments_state ON assignments (state, task, subject, batch_id)",
)

_STATES = (
    # Derived from the events by annotation/states.py; one row a task and subject that has events.
    """CREATE TABLE task_states (
        task TEXT NOT NULL,
        subject INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('unlabelled', 'labelled', 'conflict', 'final', 'excluded')),
        verdict TEXT,
        subtype TEXT,
        reason TEXT,
        decided_by TEXT CHECK (decided_by IN ('agreed', 'adjudicated', 'coordinator')),
        round INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (task, subject)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX task_states_state ON task_states (state, task)",
)

_MORE = (
    # Items whose answer is known, mixed in silently; they are part of no benchmark.
    """CREATE TABLE check_items (
        completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
        verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'incorrect', 'unsuitable')),
        added_at TEXT NOT NULL
    ) STRICT""",
    "DROP VIEW gold",
    """CREATE VIEW gold AS
        SELECT c.id AS completion_id,
               CASE WHEN i.state IN ('conflict', 'excluded') OR k.completion_id IS NOT NULL THEN NULL
                    WHEN i.gold_from IS NOT NULL THEN i.gold ELSE c.imported_gold END AS gold,
               CASE WHEN i.state IN ('conflict', 'excluded') OR k.completion_id IS NOT NULL THEN NULL
                    WHEN i.gold_from IS NOT NULL THEN i.gold_from
                    WHEN c.imported_gold IS NOT NULL THEN 'imported' END AS gold_from
        FROM completions AS c LEFT JOIN item_states AS i ON i.completion_id = c.id
        LEFT JOIN check_items AS k ON k.completion_id = c.id
        WHERE c.id < (SELECT completion_id FROM horizon)""",
    """CREATE TABLE guidelines (
        version TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        author_id INTEGER NOT NULL REFERENCES annotators (id),
        created_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # Links that let a person in from a browser once, and the logins they became: hashes, never the secrets.
    """CREATE TABLE admissions (
        hash BLOB PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('link', 'login')),
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        created_at TEXT NOT NULL,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "ALTER TABLE annotators ADD COLUMN paused_at TEXT",
    "ALTER TABLE annotators ADD COLUMN paused_why TEXT",
    "ALTER TABLE annotators ADD COLUMN resumed_at TEXT",
    "ALTER TABLE batch_annotators ADD COLUMN cap INTEGER CHECK (cap > 0)",
    "ALTER TABLE batches ADD COLUMN ordering TEXT NOT NULL DEFAULT 'random'",
)

REBUILDING: tuple[str, ...] = (*_EVENTS, *_SLOTS, *_STATES)
"""What replaces the tables of `REBUILT`."""

VERSION_4: tuple[str, ...] = (*REBUILDING, *_MORE)
