"""Schema version 8: answers to flags, who has read which guidelines, how a batch's items were chosen, and who wrote a
problem's reference solution.

``label_events`` is made anew with one more kind of event (SQLite can't change a CHECK); its rows are carried over by
the migration, and the view that reads it is made again.
"""

from __future__ import annotations

from workbench.core.database import schema_labelling
from workbench.core.database.schema_views import VIEWS

REBUILT = ("label_events",)
"""Tables that version 8 makes anew."""

VIEWS_MADE_AGAIN = ("current_labels",)
"""Views that read them."""

REBUILDING: tuple[str, ...] = (
    *(
        statement.replace("'reopen', 'exclusion')", "'reopen', 'exclusion', 'answer')")
        for statement in schema_labelling.REBUILDING
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
