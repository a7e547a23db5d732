"""Views for people who open the database in Datasette, the sqlite3 shell or a notebook: names instead of codes.

`docs/sql.md` documents them. The program itself reads the tables. A CAST gives a computed number the type by which
Datasette's filters, which compare with text, find it.
"""

from __future__ import annotations

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
