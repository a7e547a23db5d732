"""What versions 3 to 5 added: calls and probes, rounds and checks, changes and reviews; and views for people."""

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


# -- Schema version 4: rounds, exclusions, checks, repeats, caps, pauses and versions of the guidelines.


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


# -- Views for people who open the database in Datasette, the sqlite3 shell or a notebook: names instead of codes.


VIEWS: tuple[str, ...] = (
    # One row a completion, with everything that is short.
    """CREATE VIEW items AS
        SELECT c.id AS item, d.name AS dataset, q.key AS question_id, c.key AS completion_id, c.question_id AS question,
               coalesce(substr(i.subtype, 1, 1), q.type, 'untyped') AS type,
               coalesce(i.subtype, q.subtype, 'untyped') AS subtype,
               s.domain, s.name AS source, m.name AS model, c.characters,
               coalesce(i.state, 'unlabelled') AS state, CAST(g.gold AS INTEGER) AS gold,
               g.gold_from
        FROM completions AS c
        JOIN questions AS q ON q.id = c.question_id
        JOIN datasets AS d ON d.id = q.dataset_id
        JOIN gold AS g ON g.completion_id = c.id
        LEFT JOIN sources AS s ON s.id = q.source_id
        LEFT JOIN models AS m ON m.id = c.model_id
        LEFT JOIN item_states AS i ON i.completion_id = c.id""",
    """CREATE VIEW item_texts AS
        SELECT c.id AS item, qt.text AS question, qt.reference, ct.text AS completion
        FROM completions AS c
        JOIN question_text AS qt ON qt.id = c.question_id
        JOIN completion_text AS ct ON ct.id = c.id
        WHERE c.id < (SELECT completion_id FROM horizon)""",
    # The run whose verdicts every table counts: a verifier's newest that has been complete.
    """CREATE VIEW counted_runs AS
        SELECT r.id AS run, v.name AS verifier, v.kind, r.version, r.items, r.completed_at
        FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id
        WHERE r.completed_at IS NOT NULL AND r.id = (
            SELECT max(o.id) FROM runs AS o WHERE o.verifier_id = r.verifier_id AND o.completed_at IS NOT NULL)""",
    """CREATE VIEW run_verdicts AS
        SELECT x.run_id AS run, v.name AS verifier, x.completion_id AS item,
               CASE x.outcome WHEN 0 THEN 'incorrect' WHEN 1 THEN 'correct' WHEN 2 THEN 'abstain' ELSE 'error' END
                   AS verdict,
               x.score, x.reason, e.rule, e.reference_final, e.candidate_final, x.ms
        FROM verdicts AS x
        JOIN runs AS r ON r.id = x.run_id
        JOIN verifiers AS v ON v.id = r.verifier_id
        LEFT JOIN verdict_evidence AS e
            ON e.run_id = x.run_id AND e.completion_id = x.completion_id AND e.sample = x.sample
        WHERE x.sample = 0 AND x.completion_id < (SELECT completion_id FROM horizon)""",
    # Counted verdicts beside gold; the three last columns are the three protocols, NULL where a row doesn't count.
    """CREATE VIEW judged AS
        SELECT n.verifier, i.*,
               CASE x.outcome WHEN 0 THEN 'incorrect' WHEN 1 THEN 'correct' WHEN 2 THEN 'abstain' ELSE 'error' END
                   AS verdict,
               x.score, x.reason,
               CAST(CASE WHEN x.outcome < 2 THEN x.outcome = i.gold ELSE i.gold = 0 END AS INTEGER) AS right_forced,
               CAST(CASE WHEN x.outcome < 2 THEN x.outcome = i.gold ELSE 0 END AS INTEGER) AS right_strict,
               CAST(CASE WHEN x.outcome < 2 THEN x.outcome = i.gold END AS INTEGER) AS right_decided
        FROM counted_runs AS n
        JOIN verdicts AS x ON x.run_id = n.run AND x.sample = 0
        JOIN items AS i ON i.item = x.completion_id
        WHERE i.gold IS NOT NULL""",
    # What each person says now: no other event of theirs supersedes it, in the round under way.
    """CREATE VIEW current_labels AS
        SELECT e.task, CASE e.task WHEN 'correctness' THEN e.subject END AS item,
               CASE e.task WHEN 'type' THEN e.subject END AS question,
               a.name AS annotator, e.kind, e.verdict, e.exclusion_reason AS reason, e.subtype, e.note, e.unsure,
               e.unblinded, e.round, e.created_at
        FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id
        WHERE e.kind IN ('label', 'adjudication', 'exclusion')
          AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.task = e.task AND x.subject = e.subject
                          AND x.annotator_id = e.annotator_id AND x.supersedes = e.uuid)
          AND e.round = coalesce((SELECT max(r.round) FROM label_events AS r
                                  WHERE r.task = e.task AND r.subject = e.subject AND r.kind = 'reopen'), 1)""",
    # What stands decided: not taken back, and the newest of its kind on the item (marks: on the same verifier).
    """CREATE VIEW current_reviews AS
        SELECT w.completion_id AS item, w.kind, v.name AS verifier, w.run_id AS run, w.category, w.gold, w.queue,
               w.note, a.name AS reviewer, w.created_at
        FROM reviews AS w
        JOIN annotators AS a ON a.id = w.reviewer_id
        LEFT JOIN runs AS r ON r.id = w.run_id
        LEFT JOIN verifiers AS v ON v.id = r.verifier_id
        WHERE w.kind <> 'retraction'
          AND NOT EXISTS (SELECT 1 FROM reviews AS t WHERE t.completion_id = w.completion_id
                          AND t.supersedes = w.uuid AND t.kind = 'retraction')
          AND NOT EXISTS (SELECT 1 FROM reviews AS s WHERE s.completion_id = w.completion_id
                          AND s.kind <> 'retraction' AND (s.created_at, s.uuid) > (w.created_at, w.uuid)
                          AND (s.kind = 'error') = (w.kind = 'error')
                          AND (SELECT o.verifier_id FROM runs AS o WHERE o.id = s.run_id) IS r.verifier_id
                          AND NOT EXISTS (SELECT 1 FROM reviews AS t WHERE t.completion_id = s.completion_id
                                          AND t.supersedes = s.uuid AND t.kind = 'retraction'))""",
)


# -- Schema version 5: what has changed and when, reviews of disagreements, judges a set was selected with, lengths.


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
_ANALYSIS_COLUMNS = (
    # Judges whose verdicts decided what belongs to a data set, by the name of the verifier or of its model.
    """CREATE TABLE selection_judges (
        dataset_id INTEGER NOT NULL REFERENCES datasets (id),
        name TEXT NOT NULL,
        PRIMARY KEY (dataset_id, name)
    ) STRICT, WITHOUT ROWID""",
    # The completion's length in characters (Unicode code points).
    "ALTER TABLE completions ADD COLUMN characters INTEGER",
)
VERSION_5: tuple[str, ...] = (*_CHANGES, *_REVIEWS, *_ANALYSIS_COLUMNS, *VIEWS)
LENGTHS = """UPDATE completions SET characters = (
    SELECT length(t.text) FROM completion_text AS t WHERE t.id = completions.id)"""
"""Fills the new column of a database that has items already."""
ANALYSIS_TRIGGERS: tuple[str, ...] = tuple(
    statement for statement in (*_CHANGES, *_REVIEWS) if statement.startswith("CREATE TRIGGER")
)
"""What notes changes, and what keeps reviews as they are."""
