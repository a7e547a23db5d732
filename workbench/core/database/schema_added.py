"""The tables of version 3: calls to model servers, what verdicts rest on, probes."""

from __future__ import annotations

SECRET = "INSERT INTO secrets (id, secret) VALUES (1, randomblob(32))"

VERSION_3: tuple[str, ...] = (
    # From it follow the delimiters around untrusted text; it never leaves the file.
    "CREATE TABLE secrets (id INTEGER PRIMARY KEY CHECK (id = 1), secret BLOB NOT NULL) STRICT",
    SECRET,
    # Requests by the hash of their canonical form: samples of one request share its bytes.
    """CREATE TABLE requests (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        profile TEXT NOT NULL,
        model TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT""",
    # Successful responses as they came, by request and sample; failures are never kept here.
    """CREATE TABLE responses (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        request_id INTEGER NOT NULL REFERENCES requests (id),
        sample INTEGER NOT NULL,
        task TEXT NOT NULL,
        body BLOB NOT NULL,
        prompt_tokens INTEGER,
        cached_tokens INTEGER,
        completion_tokens INTEGER,
        reasoning_tokens INTEGER,
        cost REAL,
        ms REAL NOT NULL,
        origin TEXT,
        created_at TEXT NOT NULL
    ) STRICT""",
    # Written before a request is sent; one that stays 'sent' may have been paid for. ``lost``: its runner is gone.
    # One that was made for a probe, or for a text that is about no item, belongs to no completion.
    """CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES runs (id),
        completion_id INTEGER REFERENCES completions (id),
        key BLOB NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('unsent', 'sent', 'failed', 'done')),
        lost INTEGER NOT NULL DEFAULT 0 CHECK (lost IN (0, 1)),
        url TEXT NOT NULL,
        sent_at TEXT NOT NULL,
        status INTEGER,
        code TEXT,
        detail TEXT
    ) STRICT""",
    "CREATE INDEX attempts_open ON attempts (run_id) WHERE state = 'sent'",
    # What a run has used: sums that are brought up to date with each transaction.
    """CREATE TABLE run_usage (
        run_id INTEGER PRIMARY KEY REFERENCES runs (id),
        calls INTEGER NOT NULL,
        answered INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        unsent INTEGER NOT NULL,
        unsure INTEGER NOT NULL,
        reused INTEGER NOT NULL,
        items_reused INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        cost REAL,
        unpriced INTEGER NOT NULL,
        errors TEXT NOT NULL,
        warnings TEXT NOT NULL,
        in_flight INTEGER NOT NULL,
        at_once INTEGER
    ) STRICT""",
    # The calls a verdict rests on, in their order, and how it came about (a tree, a list of tests).
    """CREATE TABLE verdict_calls (
        run_id INTEGER NOT NULL,
        completion_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        response_id INTEGER NOT NULL REFERENCES responses (id),
        step TEXT NOT NULL,
        role TEXT NOT NULL,
        reused INTEGER NOT NULL CHECK (reused IN (0, 1)),
        PRIMARY KEY (run_id, completion_id, position)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE verdict_traces (
        run_id INTEGER NOT NULL,
        completion_id INTEGER NOT NULL,
        trace TEXT NOT NULL,
        PRIMARY KEY (run_id, completion_id)
    ) STRICT, WITHOUT ROWID""",
    # What came of probing a verifier, and each probe that it accepted; probes are no items.
    """CREATE TABLE probe_runs (
        id INTEGER PRIMARY KEY,
        verifier_id INTEGER NOT NULL REFERENCES verifiers (id),
        report TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE probe_results (
        probe_run_id INTEGER NOT NULL REFERENCES probe_runs (id),
        position INTEGER NOT NULL,
        accepted TEXT NOT NULL,
        PRIMARY KEY (probe_run_id, position)
    ) STRICT, WITHOUT ROWID""",
)
"""Calls to model servers: what was asked and answered, every attempt, what a run has used, what a verdict rests on."""
