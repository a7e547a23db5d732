"""Schema version 7: pools of questions and their curation, and frozen sets of questions or items.

A question may stand without completions. What curation decides of it is append-only, as labels are; a set is written
whole, in one transaction, and never again.
"""

from __future__ import annotations

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
