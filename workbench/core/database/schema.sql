-- The tables, views and triggers of a database, as the newest version has them; `schema.py` reads this.
--
-- A table that differs in an older database is made anew from here, with its rows; triggers, views and missing indexes
-- are made anew too.
--
-- Long text stands apart from the columns that are scanned. States are derived from events, and may be recomputed at
-- any time. What people said, decided and froze is append-only: triggers refuse UPDATE, DELETE and the REPLACE that
-- would delete without firing them.

-- == Data: questions with their references, completions, and the files they came from.

CREATE TABLE datasets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    types TEXT NOT NULL DEFAULT 'trusted' CHECK (types IN ('trusted', 'labelled')),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE imports (
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
    , process TEXT
) STRICT;

CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    import_id INTEGER NOT NULL REFERENCES imports (id),
    line INTEGER NOT NULL,
    code TEXT NOT NULL,
    field TEXT,
    message TEXT NOT NULL,
    raw BLOB NOT NULL
) STRICT;
CREATE INDEX quarantine_import ON quarantine (import_id);

CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    domain TEXT
    , licence TEXT
) STRICT;

CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE questions (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES datasets (id),
    key TEXT NOT NULL,
    source_id INTEGER REFERENCES sources (id),
    type TEXT,
    subtype TEXT,
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX questions_key ON questions (dataset_id, key);
CREATE INDEX questions_subtype ON questions (subtype);

CREATE TABLE question_text (
    id INTEGER PRIMARY KEY REFERENCES questions (id),
    text TEXT NOT NULL,
    reference TEXT NOT NULL,
    type_text TEXT,
    subtype_text TEXT
    , extra TEXT
) STRICT;

CREATE TABLE completions (
    id INTEGER PRIMARY KEY,
    question_id INTEGER NOT NULL REFERENCES questions (id),
    key TEXT NOT NULL,
    model_id INTEGER REFERENCES models (id),
    imported_gold INTEGER CHECK (imported_gold IN (0, 1)),
    hash BLOB NOT NULL
    , characters INTEGER
) STRICT;
CREATE UNIQUE INDEX completions_key ON completions (key, question_id);
CREATE INDEX completions_question ON completions (question_id);

CREATE TABLE completion_text (
    id INTEGER PRIMARY KEY REFERENCES completions (id),
    text TEXT NOT NULL,
    extra TEXT,
    layout TEXT
) STRICT;

-- An import that is still running owns every id from its first ones on; nobody sees them until it is complete.
CREATE VIEW horizon AS
    SELECT coalesce(min(first_completion_id), 9223372036854775807) AS completion_id,
           coalesce(min(first_question_id), 9223372036854775807) AS question_id
    FROM imports WHERE state = 'running';

-- Judges whose verdicts decided what belongs to a data set, by the name of the verifier or of its model.
CREATE TABLE selection_judges (
    dataset_id INTEGER NOT NULL REFERENCES datasets (id),
    name TEXT NOT NULL,
    PRIMARY KEY (dataset_id, name)
) STRICT, WITHOUT ROWID;


-- == People: who labels what, and what they have said.

CREATE TABLE annotators (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL DEFAULT 'annotator' CHECK (role IN ('annotator', 'coordinator')),
    created_at TEXT NOT NULL
    , paused_at TEXT
    , paused_why TEXT
    , resumed_at TEXT
) STRICT;

CREATE TABLE batches (
    id INTEGER PRIMARY KEY,
    per_item INTEGER NOT NULL CHECK (per_item > 0),
    adjudicator_id INTEGER REFERENCES annotators (id),
    selection TEXT NOT NULL,
    created_at TEXT NOT NULL
    , ordering TEXT NOT NULL DEFAULT 'random'
    , sample TEXT NOT NULL DEFAULT 'all' CHECK (sample IN ('all', 'drawn', 'quota', 'order', 'first'))
    , seed INTEGER
) STRICT;

CREATE TABLE batch_annotators (
    batch_id INTEGER NOT NULL REFERENCES batches (id),
    annotator_id INTEGER NOT NULL REFERENCES annotators (id)
    , cap INTEGER CHECK (cap > 0)
    , PRIMARY KEY (batch_id, annotator_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE skips (
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    skipped_at REAL NOT NULL,
    PRIMARY KEY (annotator_id, completion_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE drafts (
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    note TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (annotator_id, completion_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE label_events (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN (
        'label', 'adjudication', 'retraction', 'flag', 'reveal', 'repeat', 'check', 'reopen', 'exclusion'
        , 'answer'
    )),
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
    , digest BLOB
) STRICT;
CREATE INDEX label_events_subject ON label_events (task, subject, annotator_id);
CREATE INDEX label_events_annotator ON label_events (annotator_id, id);
CREATE TRIGGER label_events_no_delete BEFORE DELETE ON label_events
    BEGIN SELECT raise(ABORT, 'label_events is append-only'); END;
CREATE TRIGGER label_events_no_replace BEFORE INSERT ON label_events
    WHEN EXISTS (SELECT 1 FROM label_events WHERE uuid = NEW.uuid OR id = NEW.id)
    BEGIN SELECT raise(ABORT, 'label_events is append-only'); END;
-- What came from another database by merge is kept whatever it says: there the states leave a ruling out whose
-- maker also labelled.
CREATE TRIGGER label_events_third_person BEFORE INSERT ON label_events
    WHEN NEW.merged = 0 AND NEW.kind IN ('label', 'adjudication') AND EXISTS (
        SELECT 1 FROM label_events AS e
        WHERE e.task = NEW.task AND e.subject = NEW.subject AND e.round = NEW.round
          AND e.annotator_id = NEW.annotator_id
          AND e.kind = CASE NEW.kind WHEN 'label' THEN 'adjudication' ELSE 'label' END
          AND NOT EXISTS (SELECT 1 FROM label_events AS l
                          WHERE l.task = e.task AND l.subject = e.subject
                            AND l.annotator_id = e.annotator_id AND l.supersedes = e.uuid))
    BEGIN SELECT raise(ABORT, 'the adjudicator is none of the annotators of the item'); END;
-- Flags and their answers are few among labels; Home, Browse and the queue look for them.
CREATE INDEX label_events_flags ON label_events (subject, annotator_id, id) WHERE kind IN ('flag', 'answer');
CREATE TRIGGER label_events_no_update BEFORE UPDATE ON label_events
    BEGIN SELECT raise(ABORT, 'label_events is append-only'); END;

-- Derived from the events by `core/states.py`; one row a task and subject that has events.
CREATE TABLE task_states (
    task TEXT NOT NULL,
    subject INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unlabelled', 'labelled', 'conflict', 'final', 'excluded')),
    verdict TEXT,
    subtype TEXT,
    reason TEXT,
    decided_by TEXT CHECK (decided_by IN ('agreed', 'adjudicated', 'coordinator')),
    round INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (task, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_states_state ON task_states (state, task);

-- Both tasks taken together, one row a completion that people have touched.
CREATE TABLE item_states (
    completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
    state TEXT NOT NULL CHECK (state IN ('unlabelled', 'labelled', 'conflict', 'final', 'excluded')),
    gold INTEGER CHECK (gold IN (0, 1)),
    gold_from TEXT CHECK (gold_from IN ('agreed', 'adjudicated')),
    subtype TEXT,
    reason TEXT
) STRICT;
CREATE INDEX item_states_state ON item_states (state);

-- ``quota`` slots make up an item's overlap; ``check`` and ``repeat`` slots are opened for one person at a claim.
-- A slot of an earlier round is ``past``. ``opened_at`` stands where own labels given before it are not shown.
-- One that is ``away`` was taken along in a bundle: its person's, but they are not served it here.
CREATE TABLE assignments (
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
) STRICT;
CREATE UNIQUE INDEX assignments_slot ON assignments (task, subject, purpose, round, slot);
CREATE UNIQUE INDEX assignments_person ON assignments (annotator_id, task, subject, purpose)
    WHERE annotator_id IS NOT NULL AND state <> 'past';
-- The queue: what is open in a batch, by whom it is meant for, in its order.
CREATE INDEX assignments_open ON assignments (state, task, batch_id, meant_for, position);
CREATE INDEX assignments_state ON assignments (state, task, subject, batch_id);

-- Items whose answer is known, mixed in silently; they are part of no benchmark.
CREATE TABLE check_items (
    completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
    verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'incorrect', 'unsuitable')),
    added_at TEXT NOT NULL
) STRICT;

-- Adjudicated, else agreed, else imported. The program composes the same of `GOLD` in `selection.py`: beside what else
-- it asks of items, the view would be a second look at each, and a scan of a million take twice as long.
CREATE VIEW gold AS
    SELECT c.id AS completion_id,
           CASE WHEN i.state IN ('conflict', 'excluded') OR k.completion_id IS NOT NULL THEN NULL
                WHEN i.gold_from IS NOT NULL THEN i.gold ELSE c.imported_gold END AS gold,
           CASE WHEN i.state IN ('conflict', 'excluded') OR k.completion_id IS NOT NULL THEN NULL
                WHEN i.gold_from IS NOT NULL THEN i.gold_from
                WHEN c.imported_gold IS NOT NULL THEN 'imported' END AS gold_from
    FROM completions AS c LEFT JOIN item_states AS i ON i.completion_id = c.id
    LEFT JOIN check_items AS k ON k.completion_id = c.id
    WHERE c.id < (SELECT completion_id FROM horizon);

CREATE TABLE guidelines (
    version TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES annotators (id),
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A fact beside the labels, which name the version themselves: it is neither merged nor carried by a bundle.
CREATE TABLE guideline_readings (
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    version TEXT NOT NULL,
    read_at TEXT NOT NULL,
    PRIMARY KEY (annotator_id, version)
) STRICT, WITHOUT ROWID;

-- Links that let a person in from a browser once, and the logins they became: hashes, never the secrets.
CREATE TABLE admissions (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'login')),
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    created_at TEXT NOT NULL,
    expires_at REAL NOT NULL
) STRICT, WITHOUT ROWID;


-- == Bundles: items that people take along.

-- At home: which bundles were made, for whom, and of which items; merging goes by this.
CREATE TABLE bundles (
    id TEXT PRIMARY KEY,
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    made_at TEXT NOT NULL,
    expires_at REAL
) STRICT, WITHOUT ROWID;

CREATE TABLE bundle_items (
    bundle_id TEXT NOT NULL REFERENCES bundles (id),
    task TEXT NOT NULL CHECK (task IN ('correctness', 'type')),
    subject INTEGER NOT NULL,
    PRIMARY KEY (bundle_id, task, subject)
) STRICT, WITHOUT ROWID;

-- In a bundle, one row: its id and whose it is.
CREATE TABLE bundle_pass (
    bundle_id TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    made_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;


-- == Runs: verifiers, their verdicts, and what these rest on.

CREATE TABLE verifiers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    config TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
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
    completed_at TEXT
    , asked_after INTEGER
    , trouble TEXT
    , in_batches INTEGER NOT NULL DEFAULT 0 CHECK (in_batches IN (0, 1))
    , cluster TEXT
    , UNIQUE (verifier_id, version)
) STRICT;

CREATE TABLE verdicts (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    sample INTEGER NOT NULL DEFAULT 0,
    outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
    score REAL,
    reason TEXT,
    ms REAL NOT NULL,
    PRIMARY KEY (run_id, completion_id, sample)
) STRICT, WITHOUT ROWID;
-- Few runs take samples: one without any is not read through to find none.
CREATE INDEX verdicts_samples ON verdicts (run_id, completion_id, outcome) WHERE sample > 0;

CREATE TABLE verdict_evidence (
    run_id INTEGER NOT NULL,
    completion_id INTEGER NOT NULL,
    sample INTEGER NOT NULL DEFAULT 0,
    reference_final TEXT,
    candidate_final TEXT,
    span_start INTEGER,
    span_end INTEGER,
    detail TEXT
    , rule TEXT
    , reference_start INTEGER
    , reference_end INTEGER
    , PRIMARY KEY (run_id, completion_id, sample)
    , FOREIGN KEY (run_id, completion_id, sample) REFERENCES verdicts (run_id, completion_id, sample)
) STRICT, WITHOUT ROWID;


-- == Calls to model servers: what was asked and answered, every attempt, what a run has used, what a verdict rests on.

-- Requests by the hash of their canonical form: samples of one request share its bytes.
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    profile TEXT NOT NULL,
    model TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- Successful responses as they came, by request and sample; failures are never kept here.
CREATE TABLE responses (
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
    , server TEXT
    , unread_by TEXT
) STRICT;

-- Written before a request is sent; one that stays 'sent' may have been paid for. ``lost``: its runner is gone.
-- One that was made for a probe, or for a text that is about no item, belongs to no completion.
CREATE TABLE attempts (
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
) STRICT;
CREATE INDEX attempts_open ON attempts (run_id) WHERE state = 'sent';

-- Calls that a provider answers together: written down with their batch before it hears of them. 'gathered': nothing was
-- sent. 'sent': it may have been made, and is looked for there. 'open': its name there is known. What its calls may take
-- counts as spent until it has ended.
CREATE TABLE call_batches (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    role TEXT NOT NULL,
    base_url TEXT NOT NULL,
    server TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('gathered', 'sent', 'open', 'ended')),
    calls INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    input_file TEXT,
    name TEXT,
    status TEXT,
    sent_at REAL,
    look_at REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX call_batches_run ON call_batches (run_id) WHERE state <> 'ended';

CREATE TABLE batched_calls (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    batch_id INTEGER NOT NULL REFERENCES call_batches (id),
    request_id INTEGER NOT NULL REFERENCES requests (id),
    key BLOB NOT NULL,
    sample INTEGER NOT NULL
) STRICT;
CREATE INDEX batched_calls_key ON batched_calls (key);
CREATE INDEX batched_calls_batch ON batched_calls (batch_id);

-- What a run has used: sums that are brought up to date with each transaction.
CREATE TABLE run_usage (
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
) STRICT;

-- The calls a verdict rests on, in their order, and how it came about (a tree, a list of tests).
CREATE TABLE verdict_calls (
    run_id INTEGER NOT NULL,
    completion_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    response_id INTEGER NOT NULL REFERENCES responses (id),
    step TEXT NOT NULL,
    role TEXT NOT NULL,
    reused INTEGER NOT NULL CHECK (reused IN (0, 1)),
    PRIMARY KEY (run_id, completion_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict_traces (
    run_id INTEGER NOT NULL,
    completion_id INTEGER NOT NULL,
    trace TEXT NOT NULL,
    PRIMARY KEY (run_id, completion_id)
) STRICT, WITHOUT ROWID;

-- What came of probing a verifier, and each probe that it accepted; probes are no items.
CREATE TABLE probe_runs (
    id INTEGER PRIMARY KEY,
    verifier_id INTEGER NOT NULL REFERENCES verifiers (id),
    report TEXT NOT NULL
) STRICT;

CREATE TABLE probe_results (
    probe_run_id INTEGER NOT NULL REFERENCES probe_runs (id),
    position INTEGER NOT NULL,
    accepted TEXT NOT NULL,
    PRIMARY KEY (probe_run_id, position)
) STRICT, WITHOUT ROWID;


-- == Reviews of items on which verifiers or people disagree.

-- What a reviewer decided of an item on which verifiers or people disagree; append-only, like labels.
CREATE TABLE reviews (
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
) STRICT;
CREATE INDEX reviews_completion ON reviews (completion_id);
CREATE TRIGGER reviews_no_update BEFORE UPDATE ON reviews
    BEGIN SELECT raise(ABORT, 'reviews is append-only'); END;
CREATE TRIGGER reviews_no_delete BEFORE DELETE ON reviews
    BEGIN SELECT raise(ABORT, 'reviews is append-only'); END;
CREATE TRIGGER reviews_no_replace BEFORE INSERT ON reviews
    WHEN EXISTS (SELECT 1 FROM reviews WHERE uuid = NEW.uuid OR id = NEW.id)
    BEGIN SELECT raise(ABORT, 'reviews is append-only'); END;


-- == Code. A problem is a question and a solution a completion; what is new is tests and outcomes.

-- What is run around a solution; the prompt and the reference solution are the question's texts.
CREATE TABLE code_problems (
    question_id INTEGER PRIMARY KEY REFERENCES questions (id),
    entry_point TEXT,
    setup TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT 'python',
    seconds REAL,
    extra TEXT
    , reference_by TEXT NOT NULL DEFAULT 'human' CHECK (reference_by IN ('human', 'model'))
) STRICT;

-- What a solution's text is; one without a row here is a whole program or a reply with code in it.
CREATE TABLE code_solutions (
    completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
    form TEXT NOT NULL CHECK (form IN ('program', 'continuation', 'reply')),
    ground_truth INTEGER NOT NULL DEFAULT 0 CHECK (ground_truth IN (0, 1))
) STRICT;

-- ``about``: how a suite was made (the model, the prompt, how many were asked for), as JSON.
CREATE TABLE suites (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES datasets (id),
    name TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('imported', 'generated', 'evolved')),
    about TEXT NOT NULL DEFAULT '{}',
    created_at TEXT NOT NULL,
    UNIQUE (dataset_id, name)
) STRICT;

-- A question's tests in a suite are written once, all together.
CREATE TABLE tests (
    question_id INTEGER NOT NULL REFERENCES questions (id),
    suite_id INTEGER NOT NULL REFERENCES suites (id),
    position INTEGER NOT NULL,
    form TEXT NOT NULL CHECK (form IN ('expression', 'statement', 'program', 'stdio')),
    source TEXT NOT NULL,
    expected TEXT,
    PRIMARY KEY (question_id, suite_id, position)
) STRICT, WITHOUT ROWID;

-- Tests that were written for one solution, by a writer who saw it: in this suite they stand for its question's.
CREATE TABLE solution_tests (
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    suite_id INTEGER NOT NULL REFERENCES suites (id),
    position INTEGER NOT NULL,
    form TEXT NOT NULL CHECK (form IN ('expression', 'statement', 'program', 'stdio')),
    source TEXT NOT NULL,
    expected TEXT,
    PRIMARY KEY (completion_id, suite_id, position)
) STRICT, WITHOUT ROWID;

-- Tests that people set apart or let count again, with who and why; a test's newest row is in force.
CREATE TABLE test_exclusions (
    id INTEGER PRIMARY KEY,
    question_id INTEGER NOT NULL REFERENCES questions (id),
    suite_id INTEGER NOT NULL REFERENCES suites (id),
    position INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('exclude', 'restore')),
    reason TEXT,
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX test_exclusions_test ON test_exclusions (question_id, suite_id, position);
CREATE TRIGGER test_exclusions_no_update BEFORE UPDATE ON test_exclusions
    BEGIN SELECT raise(ABORT, 'test_exclusions is append-only'); END;
CREATE TRIGGER test_exclusions_no_delete BEFORE DELETE ON test_exclusions
    BEGIN SELECT raise(ABORT, 'test_exclusions is append-only'); END;

-- The tests that are set apart.
CREATE VIEW tests_apart AS
    SELECT x.question_id, s.name AS suite, x.position, x.reason, a.name AS person, x.created_at
    FROM test_exclusions AS x JOIN suites AS s ON s.id = x.suite_id JOIN annotators AS a ON a.id = x.annotator_id
    WHERE x.kind = 'exclude' AND x.id = (
        SELECT max(o.id) FROM test_exclusions AS o
        WHERE o.question_id = x.question_id AND o.suite_id = x.suite_id AND o.position = x.position);

-- One letter a test (`core/code.py`: OUTCOMES); ``ms`` is the mean time of a test, ``failures`` JSON.
CREATE TABLE test_results (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    suite TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    isolation INTEGER NOT NULL CHECK (isolation BETWEEN 1 AND 3),
    forgeable INTEGER NOT NULL,
    ms REAL NOT NULL,
    failures TEXT,
    PRIMARY KEY (run_id, completion_id, suite)
) STRICT, WITHOUT ROWID;

-- The same with the letter of a test that counts for nobody in the place of each that was set apart since.
CREATE VIEW counted_results AS
    SELECT t.run_id, t.completion_id, t.suite,
           CASE WHEN EXISTS (SELECT 1 FROM test_exclusions) THEN (
               WITH RECURSIVE places AS (
                   SELECT row_number() OVER (ORDER BY x.position) AS n, x.position AS place
                   FROM completions AS c JOIN tests_apart AS x ON x.question_id = c.question_id
                   WHERE c.id = t.completion_id AND x.suite = t.suite AND x.position < length(t.outcomes)
               ), counted AS (
                   SELECT 0 AS n, t.outcomes AS letters
                   UNION ALL
                   SELECT p.n, substr(f.letters, 1, p.place) || 'b' || substr(f.letters, p.place + 2)
                   FROM counted AS f JOIN places AS p ON p.n = f.n + 1
               )
               SELECT letters FROM counted ORDER BY n DESC LIMIT 1
           ) ELSE t.outcomes END AS outcomes,
           t.isolation, t.forgeable, t.ms, t.failures
    FROM test_results AS t;

-- What a run's outcomes depend on besides the texts (`core/code.py`: Provenance), as JSON.
CREATE TABLE provenance (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id),
    document TEXT NOT NULL
) STRICT;

-- Test suites that grow harder by rounds; each step of a problem is written once, and never again.
CREATE TABLE evolutions (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES datasets (id),
    name TEXT NOT NULL,
    config TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (dataset_id, name)
) STRICT;

CREATE TABLE evolution_steps (
    evolution_id INTEGER NOT NULL REFERENCES evolutions (id),
    question_id INTEGER NOT NULL REFERENCES questions (id),
    position INTEGER NOT NULL,
    step TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (evolution_id, question_id, position)
) STRICT, WITHOUT ROWID;


-- == Pools of questions and their curation.

-- What was decided of a question of a pool; its newest row is in force.
CREATE TABLE curation (
    id INTEGER PRIMARY KEY,
    question_id INTEGER NOT NULL REFERENCES questions (id),
    kind TEXT NOT NULL CHECK (kind IN ('exclude', 'restore')),
    reason TEXT,
    duplicate_of INTEGER REFERENCES questions (id),
    similarity REAL,
    note TEXT,
    annotator_id INTEGER NOT NULL REFERENCES annotators (id),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX curation_question ON curation (question_id);
CREATE TRIGGER curation_no_update BEFORE UPDATE ON curation
    BEGIN SELECT raise(ABORT, 'curation is append-only'); END;
CREATE TRIGGER curation_no_delete BEFORE DELETE ON curation
    BEGIN SELECT raise(ABORT, 'curation is append-only'); END;

-- The answer type that a model proposes for a question; a proposal is no label, and annotators don't see it.
CREATE TABLE proposed_types (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    question_id INTEGER NOT NULL REFERENCES questions (id),
    subtype TEXT,
    reason TEXT,
    PRIMARY KEY (run_id, question_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposed_types_question ON proposed_types (question_id);


-- == Frozen sets of questions or items.

-- ``config`` is what was asked for, ``report`` what came of it (both JSON), ``digest`` a hash of the members.
CREATE TABLE sets (
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
) STRICT;
CREATE TRIGGER sets_no_update BEFORE UPDATE ON sets
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;
CREATE TRIGGER sets_no_delete BEFORE DELETE ON sets
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;

-- Items as they stood when the set was frozen.
CREATE TABLE set_items (
    set_id INTEGER NOT NULL REFERENCES sets (id),
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    stratum TEXT NOT NULL,
    gold INTEGER CHECK (gold IN (0, 1)),
    gold_from TEXT CHECK (gold_from IN ('agreed', 'adjudicated', 'imported')),
    subtype TEXT,
    PRIMARY KEY (set_id, completion_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER set_items_no_update BEFORE UPDATE ON set_items
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;
CREATE TRIGGER set_items_no_delete BEFORE DELETE ON set_items
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;

-- Members of a set of questions, all of whose completions belong to it.
CREATE TABLE set_questions (
    set_id INTEGER NOT NULL REFERENCES sets (id),
    question_id INTEGER NOT NULL REFERENCES questions (id),
    stratum TEXT NOT NULL,
    subtype TEXT,
    PRIMARY KEY (set_id, question_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER set_questions_no_update BEFORE UPDATE ON set_questions
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;
CREATE TRIGGER set_questions_no_delete BEFORE DELETE ON set_questions
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;

-- Runs whose verdicts decided what belongs to a set.
CREATE TABLE set_runs (
    set_id INTEGER NOT NULL REFERENCES sets (id),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    PRIMARY KEY (set_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER set_runs_no_update BEFORE UPDATE ON set_runs
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;
CREATE TRIGGER set_runs_no_delete BEFORE DELETE ON set_runs
    BEGIN SELECT raise(ABORT, 'a set is frozen'); END;


-- == The file itself: its secret, and what has changed in it.

-- From it follow the delimiters around untrusted text; it never leaves the file.
CREATE TABLE secrets (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    secret BLOB NOT NULL
) STRICT;

-- What of the figures' columns has changed, in order: ``run_id`` NULL stands for the items themselves (their gold,
-- types and states). Copies of the columns carry the version they were made at; the token tells one history from
-- another that has the same number of changes, such as that of a backup.
CREATE TABLE changes (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    token BLOB NOT NULL DEFAULT (randomblob(8)),
    run_id INTEGER,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL
) STRICT;
-- Whoever is further behind than this reads everything anew.
CREATE TRIGGER changes_forgotten AFTER INSERT ON changes WHEN NEW.version % 10000 = 0
    BEGIN DELETE FROM changes WHERE version <= NEW.version - 20000; END;

CREATE TRIGGER item_states_noted AFTER INSERT ON item_states
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END;
CREATE TRIGGER item_states_changed AFTER UPDATE ON item_states
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END;
CREATE TRIGGER item_states_cleared AFTER DELETE ON item_states
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.completion_id, OLD.completion_id); END;
CREATE TRIGGER check_items_noted AFTER INSERT ON check_items
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.completion_id, NEW.completion_id); END;
CREATE TRIGGER check_items_cleared AFTER DELETE ON check_items
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.completion_id, OLD.completion_id); END;
-- An import that begins hides what it adds; rows of its own come and go unnoted, below and above.
CREATE TRIGGER imports_begun AFTER INSERT ON imports
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.first_completion_id, 9223372036854775807); END;
CREATE TRIGGER imports_shown AFTER UPDATE OF state ON imports WHEN NEW.state = 'complete'
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.first_completion_id, 9223372036854775807); END;
CREATE TRIGGER imports_given_up AFTER DELETE ON imports
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.first_completion_id, 9223372036854775807); END;
CREATE TRIGGER completions_changed AFTER UPDATE OF question_id, model_id, imported_gold ON completions
    WHEN NEW.id < (SELECT completion_id FROM horizon)
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (NEW.id, NEW.id); END;
CREATE TRIGGER completions_removed AFTER DELETE ON completions
    WHEN OLD.id < (SELECT completion_id FROM horizon)
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (OLD.id, OLD.id); END;
CREATE TRIGGER questions_changed AFTER UPDATE ON questions
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END;
CREATE TRIGGER datasets_renamed AFTER UPDATE OF name ON datasets
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END;
CREATE TRIGGER sources_changed AFTER UPDATE ON sources
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END;
CREATE TRIGGER models_renamed AFTER UPDATE ON models
    BEGIN INSERT INTO changes (first_id, last_id) VALUES (0, 9223372036854775807); END;


-- == Views for people who open the database in Datasette, the sqlite3 shell or a notebook: names instead of codes.

-- One row a completion, with everything that is short.
CREATE VIEW items AS
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
    LEFT JOIN item_states AS i ON i.completion_id = c.id;

CREATE VIEW item_texts AS
    SELECT c.id AS item, qt.text AS question, qt.reference, ct.text AS completion
    FROM completions AS c
    JOIN question_text AS qt ON qt.id = c.question_id
    JOIN completion_text AS ct ON ct.id = c.id
    WHERE c.id < (SELECT completion_id FROM horizon);

-- The run whose verdicts every table counts: a verifier's newest that has been complete.
CREATE VIEW counted_runs AS
    SELECT r.id AS run, v.name AS verifier, v.kind, r.version, r.items, r.completed_at
    FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id
    WHERE r.completed_at IS NOT NULL AND r.id = (
        SELECT max(o.id) FROM runs AS o WHERE o.verifier_id = r.verifier_id AND o.completed_at IS NOT NULL);

CREATE VIEW run_verdicts AS
    SELECT x.run_id AS run, v.name AS verifier, x.completion_id AS item,
           CASE x.outcome WHEN 0 THEN 'incorrect' WHEN 1 THEN 'correct' WHEN 2 THEN 'abstain' ELSE 'error' END
               AS verdict,
           x.score, x.reason, e.rule, e.reference_final, e.candidate_final, x.ms
    FROM verdicts AS x
    JOIN runs AS r ON r.id = x.run_id
    JOIN verifiers AS v ON v.id = r.verifier_id
    LEFT JOIN verdict_evidence AS e
        ON e.run_id = x.run_id AND e.completion_id = x.completion_id AND e.sample = x.sample
    WHERE x.sample = 0 AND x.completion_id < (SELECT completion_id FROM horizon);

-- Counted verdicts beside gold; the three last columns are the three protocols, NULL where a row doesn't count.
CREATE VIEW judged AS
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
    WHERE i.gold IS NOT NULL;

-- What each person says now: no other event of theirs supersedes it, in the round under way.
CREATE VIEW current_labels AS
    SELECT e.task, CASE e.task WHEN 'correctness' THEN e.subject END AS item,
           CASE e.task WHEN 'type' THEN e.subject END AS question,
           a.name AS annotator, e.kind, e.verdict, e.exclusion_reason AS reason, e.subtype, e.note, e.unsure,
           e.unblinded, e.round, e.created_at
    FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id
    WHERE e.kind IN ('label', 'adjudication', 'exclusion')
      AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.task = e.task AND x.subject = e.subject
                      AND x.annotator_id = e.annotator_id AND x.supersedes = e.uuid)
      AND e.round = coalesce((SELECT max(r.round) FROM label_events AS r
                              WHERE r.task = e.task AND r.subject = e.subject AND r.kind = 'reopen'), 1);

-- What stands decided: not taken back, and the newest of its kind on the item (marks: on the same verifier).
CREATE VIEW current_reviews AS
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
                                      AND t.supersedes = s.uuid AND t.kind = 'retraction'));

-- One row a flag: what was asked, and the newest answer to it.
CREATE VIEW flags AS
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
        AND o.annotator_id = f.annotator_id AND (o.created_at, o.uuid) > (f.created_at, f.uuid));
