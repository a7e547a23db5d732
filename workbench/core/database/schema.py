"""The tables, one statement each: schema version 1, then what each later version adds.

Long text stands apart from the columns that are scanned. ``label_events`` is append-only: triggers refuse
UPDATE, DELETE and the REPLACE that would delete without firing them. States are derived from events and may
be recomputed at any time.
"""

from __future__ import annotations

from workbench.core.database.schema_added import VERSION_3, VERSION_4, VERSION_5
from workbench.core.database.schema_amended import VERSION_6, VERSION_7, VERSION_8, VERSION_9

_DATA = (
    """CREATE TABLE datasets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        types TEXT NOT NULL DEFAULT 'trusted' CHECK (types IN ('trusted', 'labelled')),
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE imports (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        path TEXT NOT NULL,
        file_hash BLOB,
        format TEXT NOT NULL,
        mapping TEXT NOT NULL DEFAULT '{}',
        state TEXT NOT NULL CHECK (state IN ('running', 'complete')),
        first_completion_id INTEGER NOT NULL,
        first_question_id INTEGER NOT NULL,
        pid INTEGER,
        rows_read INTEGER NOT NULL DEFAULT 0,
        imported INTEGER NOT NULL DEFAULT 0,
        unchanged INTEGER NOT NULL DEFAULT 0,
        quarantined INTEGER NOT NULL DEFAULT 0,
        started_at TEXT NOT NULL,
        finished_at TEXT
    ) STRICT""",
    """CREATE TABLE quarantine (
        id INTEGER PRIMARY KEY,
        import_id INTEGER NOT NULL REFERENCES imports (id),
        line INTEGER NOT NULL,
        code TEXT NOT NULL,
        field TEXT,
        message TEXT NOT NULL,
        raw BLOB NOT NULL
    ) STRICT""",
    "CREATE INDEX quarantine_import ON quarantine (import_id)",
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, domain TEXT) STRICT",
    "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    """CREATE TABLE questions (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        key TEXT NOT NULL,
        source_id INTEGER REFERENCES sources (id),
        type TEXT,
        subtype TEXT,
        hash BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE question_text (
        id INTEGER PRIMARY KEY REFERENCES questions (id),
        text TEXT NOT NULL,
        reference TEXT NOT NULL,
        type_text TEXT,
        subtype_text TEXT
    ) STRICT""",
    """CREATE TABLE completions (
        id INTEGER PRIMARY KEY,
        question_id INTEGER NOT NULL REFERENCES questions (id),
        key TEXT NOT NULL,
        model_id INTEGER REFERENCES models (id),
        imported_gold INTEGER CHECK (imported_gold IN (0, 1)),
        hash BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE completion_text (
        id INTEGER PRIMARY KEY REFERENCES completions (id),
        text TEXT NOT NULL,
        extra TEXT,
        layout TEXT
    ) STRICT""",
    # An import that is still running owns every id from its first ones on; nobody sees them until it is complete.
    """CREATE VIEW horizon AS
        SELECT coalesce(min(first_completion_id), 9223372036854775807) AS completion_id,
               coalesce(min(first_question_id), 9223372036854775807) AS question_id
        FROM imports WHERE state = 'running'""",
)

DATA_INDEXES = {
    "questions_key": "CREATE UNIQUE INDEX questions_key ON questions (dataset_id, key)",
    "questions_subtype": "CREATE INDEX questions_subtype ON questions (subtype)",
    "completions_key": "CREATE UNIQUE INDEX completions_key ON completions (key, question_id)",
    "completions_question": "CREATE INDEX completions_question ON completions (question_id)",
}
"""Indexes of the data tables; the first import builds them after its rows, which is faster."""

_PEOPLE = (
    """CREATE TABLE annotators (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL DEFAULT 'annotator' CHECK (role IN ('annotator', 'coordinator')),
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE batches (
        id INTEGER PRIMARY KEY,
        per_item INTEGER NOT NULL CHECK (per_item > 0),
        adjudicator_id INTEGER REFERENCES annotators (id),
        selection TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE batch_annotators (
        batch_id INTEGER NOT NULL REFERENCES batches (id),
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        PRIMARY KEY (batch_id, annotator_id)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE assignments (
        id INTEGER PRIMARY KEY,
        batch_id INTEGER NOT NULL REFERENCES batches (id),
        task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
        subject INTEGER NOT NULL,
        slot INTEGER NOT NULL,
        position INTEGER NOT NULL,
        annotator_id INTEGER REFERENCES annotators (id),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'leased', 'done')),
        claimed_at REAL,
        expires_at REAL,
        UNIQUE (task, subject, slot)
    ) STRICT""",
    """CREATE UNIQUE INDEX assignments_person ON assignments (annotator_id, task, subject)
        WHERE annotator_id IS NOT NULL""",
    "CREATE INDEX assignments_open ON assignments (task, state, position)",
    """CREATE TABLE skips (
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        skipped_at REAL NOT NULL,
        PRIMARY KEY (annotator_id, completion_id)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE drafts (
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        note TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, completion_id)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE label_events (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('label', 'adjudication', 'retraction', 'flag', 'reveal')),
        task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
        subject INTEGER NOT NULL,
        annotator_id INTEGER NOT NULL REFERENCES annotators (id),
        round INTEGER NOT NULL DEFAULT 1,
        verdict TEXT CHECK (verdict IN ('correct', 'incorrect', 'unsuitable')),
        exclusion_reason TEXT,
        subtype TEXT,
        unsure INTEGER NOT NULL DEFAULT 0,
        flagged INTEGER NOT NULL DEFAULT 0,
        note TEXT,
        supersedes TEXT,
        seen TEXT,
        unblinded INTEGER NOT NULL DEFAULT 0,
        guideline TEXT,
        schema INTEGER NOT NULL,
        content_hash BLOB,
        open_ms INTEGER,
        focused_ms INTEGER,
        view TEXT,
        created_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX label_events_subject ON label_events (task, subject)",
    "CREATE INDEX label_events_annotator ON label_events (annotator_id, id)",
    """CREATE TRIGGER label_events_no_update BEFORE UPDATE ON label_events
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    """CREATE TRIGGER label_events_no_delete BEFORE DELETE ON label_events
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    """CREATE TRIGGER label_events_no_replace BEFORE INSERT ON label_events
        WHEN EXISTS (SELECT 1 FROM label_events WHERE uuid = NEW.uuid OR id = NEW.id)
        BEGIN SELECT raise(ABORT, 'label_events is append-only'); END""",
    """CREATE TRIGGER label_events_third_person BEFORE INSERT ON label_events
        WHEN NEW.kind IN ('label', 'adjudication') AND EXISTS (
            SELECT 1 FROM label_events AS e
            WHERE e.task = NEW.task AND e.subject = NEW.subject AND e.round = NEW.round
              AND e.annotator_id = NEW.annotator_id
              AND e.kind = CASE NEW.kind WHEN 'label' THEN 'adjudication' ELSE 'label' END
              AND NOT EXISTS (SELECT 1 FROM label_events AS l
                              WHERE l.task = e.task AND l.subject = e.subject
                                AND l.annotator_id = e.annotator_id AND l.supersedes = e.uuid))
        BEGIN SELECT raise(ABORT, 'the adjudicator is none of the annotators of the item'); END""",
    # Derived from the events by annotation/states.py; one row a task and subject that has events.
    """CREATE TABLE task_states (
        task TEXT NOT NULL,
        subject INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('unlabelled', 'labelled', 'conflict', 'final', 'excluded')),
        verdict TEXT,
        subtype TEXT,
        reason TEXT,
        decided_by TEXT CHECK (decided_by IN ('agreed', 'adjudicated')),
        PRIMARY KEY (task, subject)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX task_states_state ON task_states (state, task)",
    # Both tasks taken together, one row a completion that people have touched.
    """CREATE TABLE item_states (
        completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
        state TEXT NOT NULL CHECK (state IN ('unlabelled', 'labelled', 'conflict', 'final', 'excluded')),
        gold INTEGER CHECK (gold IN (0, 1)),
        gold_from TEXT CHECK (gold_from IN ('agreed', 'adjudicated')),
        subtype TEXT,
        reason TEXT
    ) STRICT""",
    "CREATE INDEX item_states_state ON item_states (state)",
    """CREATE VIEW gold AS
        SELECT c.id AS completion_id,
               CASE WHEN i.state IN ('conflict', 'excluded') THEN NULL
                    WHEN i.gold_from IS NOT NULL THEN i.gold ELSE c.imported_gold END AS gold,
               CASE WHEN i.state IN ('conflict', 'excluded') THEN NULL
                    WHEN i.gold_from IS NOT NULL THEN i.gold_from
                    WHEN c.imported_gold IS NOT NULL THEN 'imported' END AS gold_from
        FROM completions AS c LEFT JOIN item_states AS i ON i.completion_id = c.id
        WHERE c.id < (SELECT completion_id FROM horizon)""",
)

_RUNS = (
    """CREATE TABLE verifiers (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        config TEXT NOT NULL,
        config_hash TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        verifier_id INTEGER NOT NULL REFERENCES verifiers (id),
        version TEXT NOT NULL,
        selection TEXT NOT NULL,
        workers INTEGER NOT NULL CHECK (workers > 0),
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'paused', 'cancelled', 'complete', 'failed')),
        request TEXT CHECK (request IN ('pause', 'cancel')),
        items INTEGER NOT NULL,
        message TEXT,
        created_at TEXT NOT NULL,
        started_at TEXT,
        finished_at TEXT,
        completed_at TEXT,
        UNIQUE (verifier_id, version)
    ) STRICT""",
    """CREATE TABLE runner (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        pid INTEGER NOT NULL,
        pid_started REAL NOT NULL,
        heartbeat REAL NOT NULL
    ) STRICT""",
    """CREATE TABLE verdicts (
        run_id INTEGER NOT NULL REFERENCES runs (id),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        sample INTEGER NOT NULL DEFAULT 0,
        outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
        score REAL,
        reason TEXT,
        ms REAL NOT NULL,
        PRIMARY KEY (run_id, completion_id, sample)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE verdict_evidence (
        run_id INTEGER NOT NULL,
        completion_id INTEGER NOT NULL,
        sample INTEGER NOT NULL DEFAULT 0,
        reference_final TEXT,
        candidate_final TEXT,
        span_start INTEGER,
        span_end INTEGER,
        detail TEXT,
        PRIMARY KEY (run_id, completion_id, sample),
        FOREIGN KEY (run_id, completion_id, sample) REFERENCES verdicts (run_id, completion_id, sample)
    ) STRICT, WITHOUT ROWID""",
)

VERSION_1: tuple[str, ...] = (*_DATA, *DATA_INDEXES.values(), *_PEOPLE, *_RUNS)

VERSION_2: tuple[str, ...] = (
    "ALTER TABLE verdict_evidence ADD COLUMN rule TEXT",
    "ALTER TABLE verdict_evidence ADD COLUMN reference_start INTEGER",
    "ALTER TABLE verdict_evidence ADD COLUMN reference_end INTEGER",
    # What workers found, by a hash of what they compared; ``run_id`` is the run that asked for it first.
    """CREATE TABLE verdict_cache (
        key BLOB PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES runs (id),
        outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
        score REAL,
        reason TEXT,
        rule TEXT,
        detail TEXT
    ) STRICT, WITHOUT ROWID""",
)
"""The rule that fired and where the reference's final answer stands; verdicts by what was compared."""

STATEMENTS = (
    *VERSION_1, *VERSION_2, *VERSION_3, *VERSION_4, *VERSION_5, *VERSION_6, *VERSION_7, *VERSION_8, *VERSION_9
)  # fmt: skip
"""All that a new database is made with, in order."""
