"""Schema version 6: code. A problem is a question and a solution a completion; what is new is tests and outcomes."""

from __future__ import annotations

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
