"""Schema version 9: whom a database believes, and what it knows of its own file.

Bundles are recorded where they are made; in a bundle stand the pass it comes home with and a seal for every event.
"""

from __future__ import annotations

from workbench.core.database import generation

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
