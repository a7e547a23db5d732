"""Schema version 5: what has changed and when, reviews of disagreements, judges a set was selected with, lengths."""

from __future__ import annotations

from workbench.core.database.schema_views import VIEWS

FIRST_CHANGE = "INSERT INTO changes (run_id, first_id, last_id) VALUES (NULL, 0, 9223372036854775807)"

_CHANGES = (
    # What of the figures' columns has changed, in order: ``run_id`` NULL stands for the items themselves (their gold,
    # types and states). Copies of the columns carry the version they were made at; the token tells one history from
    # another that has the same number of changes, such as that of a backup.
    """CREATE TABLE changes (
        version INTEGER PRIMARY KEY AUTOINCREMENT,
        token BLOB NOT NULL DEFAULT (randomblob(8)),
        run_id INTEGER,
        first_id INTEGER NOT NULL,
        last_id INTEGER NOT NULL
    ) STRICT""",
    # Whoever is further behind than this reads everything anew.
    """CREATE TRIGGER changes_forgotten AFTER INSERT ON changes WHEN NEW.version % 10000 = 0
        BEGIN DELETE FROM changes WHERE version <= NEW.version - 20000; END""",
    FIRST_CHANGE,
    """CREATE TRIGGER item_states_noted AFTER INSERT ON item_states
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END""",
    """CREATE TRIGGER item_states_changed AFTER UPDATE ON item_states
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END""",
    """CREATE TRIGGER item_states_cleared AFTER DELETE ON item_states
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.completion_id, OLD.completion_id); END""",
    """CREATE TRIGGER check_items_noted AFTER INSERT ON check_items
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END""",
    """CREATE TRIGGER check_items_cleared AFTER DELETE ON check_items
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.completion_id, OLD.completion_id); END""",
    # An import that begins hides what it adds; rows of its own come and go unnoted, below and above.
    """CREATE TRIGGER imports_begun AFTER INSERT ON imports
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.first_completion_id, 9223372036854775807); END""",
    """CREATE TRIGGER imports_shown AFTER UPDATE OF state ON imports WHEN NEW.state = 'complete'
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.first_completion_id, 9223372036854775807); END""",
    """CREATE TRIGGER imports_given_up AFTER DELETE ON imports
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.first_completion_id, 9223372036854775807); END""",
    """CREATE TRIGGER completions_changed AFTER UPDATE OF question_id, model_id, imported_gold ON completions
        WHEN NEW.id < (SELECT completion_id FROM horizon)
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.id, NEW.id); END""",
    """CREATE TRIGGER completions_removed AFTER DELETE ON completions
        WHEN OLD.id < (SELECT completion_id FROM horizon)
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.id, OLD.id); END""",
    """CREATE TRIGGER questions_changed AFTER UPDATE ON questions
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END""",
    """CREATE TRIGGER datasets_renamed AFTER UPDATE OF name ON datasets
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END""",
    """CREATE TRIGGER sources_changed AFTER UPDATE ON sources
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END""",
    """CREATE TRIGGER models_renamed AFTER UPDATE ON models
        BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END""",
)

_REVIEWS = (
    # What a reviewer decided of an item on which verifiers or people disagree; append-only, like labels.
    """CREATE TABLE reviews (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('confirmed', 'reannotate', 'error', 'retraction')),
        completion_id INTEGER NOT NULL REFERENCES completions (id),
        run_id INTEGER REFERENCES runs (id),
        category TEXT,
        gold TEXT CHECK (gold IN ('correct', 'incorrect', 'none')),
        queue TEXT,
        note TEXT,
        reviewer_id INTEGER NOT NULL REFERENCES annotators (id),
        supersedes TEXT,
        created_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX reviews_completion ON reviews (completion_id)",
    """CREATE TRIGGER reviews_no_update BEFORE UPDATE ON reviews
        BEGIN SELECT raise(ABORT, 'reviews is append-only'); END""",
    """CREATE TRIGGER reviews_no_delete BEFORE DELETE ON reviews
        BEGIN SELECT raise(ABORT, 'reviews is append-only'); END""",
    """CREATE TRIGGER reviews_no_replace BEFORE INSERT ON reviews
        WHEN EXISTS (SELECT 1 FROM reviews WHERE uuid = NEW.uuid OR id = NEW.id)
        BEGIN SELECT raise(ABORT, 'reviews is append-only'); END""",
)

_MORE = (
    # Judges whose verdicts decided what belongs to a data set, by the name of the verifier or of its model.
    """CREATE TABLE selection_judges (
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        PRIMARY KEY (dataset_id, name)
    ) STRICT, WITHOUT ROWID""",
    # The completion's length in characters (Unicode code points).
    "ALTER TABLE completions ADD COLUMN characters INTEGER",
)

VERSION_5: tuple[str, ...] = (*_CHANGES, *_REVIEWS, *_MORE, *VIEWS)

LENGTHS = """UPDATE completions SET characters = (
    SELECT length(t.text) FROM completion_text AS t WHERE t.id = completions.id)"""
"""Fills the new column of a database that has items already."""

TRIGGERS: tuple[str, ...] = tuple(
    statement for statement in (*_CHANGES, *_REVIEWS) if statement.startswith("CREATE TRIGGER")
)
"""What notes changes, and what keeps reviews as they are."""
