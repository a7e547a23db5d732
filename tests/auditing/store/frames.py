"""Items, verdicts and labels as pandas frames; the rules about what counts are implemented again, in pandas."""

from __future__ import annotations

import sqlite3
from typing import Any

Frame = Any
"""A pandas DataFrame."""


def _read(connection: sqlite3.Connection, statement: str) -> Frame:
    import pandas

    return pandas.read_sql_query(statement, connection)


def items(connection: sqlite3.Connection) -> Frame:
    """Return one row per item: its groups, its state, and gold as 1, 0 or NaN."""
    found = _read(connection, "SELECT id AS item, question_id AS question, model_id, imported_gold FROM completions")
    horizon = connection.execute("SELECT completion_id FROM horizon").fetchone()[0]
    found = found[found["item"] < horizon]
    questions = _read(
        connection,
        "SELECT id AS question, type AS imported_type, subtype AS imported_subtype, dataset_id FROM questions",
    )
    states = _read(connection, "SELECT completion_id AS item, state, gold AS said, gold_from, subtype FROM item_states")
    models = _read(connection, "SELECT id AS model_id, name AS model FROM models")
    datasets = _read(connection, "SELECT id AS dataset_id, name AS dataset FROM datasets")
    for other, key in ((questions, "question"), (states, "item"), (models, "model_id"), (datasets, "dataset_id")):
        found = found.merge(other, on=key, how="left")
    found["check"] = found["item"].isin(_read(connection, "SELECT completion_id AS item FROM check_items")["item"])
    found["problem"] = found["question"].isin(
        _read(connection, "SELECT question_id AS question FROM code_problems")["question"]
    )
    flagged = _read(connection, "SELECT completion_id AS item FROM code_solutions WHERE ground_truth = 1")["item"]
    found["reference_solution"] = found["item"].isin(flagged)
    found["gold"] = found["imported_gold"].astype(float)
    by_people = found["gold_from"].notna()
    found.loc[by_people, "gold"] = found.loc[by_people, "said"].astype(float)
    found.loc[found["state"].isin(["conflict", "excluded"]) | found["check"], "gold"] = float("nan")
    own = found["subtype"].notna()
    found["type"] = found["imported_type"].where(~own, found["subtype"].str[:1]).fillna("untyped")
    found["subtype"] = found["subtype"].where(own, found["imported_subtype"]).fillna("untyped")
    found["model"] = found["model"].fillna("")
    return found.sort_values("item").reset_index(drop=True)


def verdicts(connection: sqlite3.Connection, verifier: str) -> Frame:
    """Return a verifier's newest complete run: item, outcome (0 incorrect, 1 correct, 2 abstain, 3 error), score."""
    runs = _read(
        connection,
        "SELECT r.id AS run, v.name AS verifier, r.completed_at "
        "FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id",
    )
    runs = runs[(runs["verifier"] == verifier) & runs["completed_at"].notna()]
    run = int(runs["run"].max())
    return _read(
        connection,
        f"SELECT completion_id AS item, outcome, score FROM verdicts WHERE sample = 0 AND run_id = {run}",
    )


def judged(connection: sqlite3.Connection, known: Frame, verifier: str) -> Frame:
    """Return all items with a verifier's outcome, NaN where it has none."""
    return known.merge(verdicts(connection, verifier), on="item", how="left")


def labels(connection: sqlite3.Connection, task: str) -> Frame:
    """Return first-pass labels that count: blind, current, of this round, not checks; subject, annotator, value."""
    events = _read(connection, "SELECT * FROM label_events").query("task == @task", local_dict={"task": task})
    value = "verdict" if task == "correctness" else "subtype"
    rounds = events[events["kind"] == "reopen"].groupby("subject")["round"].max()
    later = events[events["supersedes"].notna()][["subject", "annotator_id", "supersedes"]]
    superseded = set(later.itertuples(index=False, name=None))
    counted = events[(events["kind"] == "label") & events[value].notna()]
    counted = counted[counted["round"] == counted["subject"].map(rounds).fillna(1)]
    own = counted[["subject", "annotator_id", "uuid"]].apply(tuple, axis=1) if len(counted) else counted["uuid"]
    counted = counted[~own.isin(superseded)]
    checks = _read(connection, "SELECT completion_id FROM check_items")["completion_id"]
    if task == "correctness":
        counted = counted[~counted["subject"].isin(checks)]
    else:
        others = _read(connection, "SELECT id, question_id FROM completions")
        counted = counted[counted["subject"].isin(others[~others["id"].isin(checks)]["question_id"])]
    counted = counted.sort_values(["created_at", "uuid"]).groupby(["subject", "annotator_id"], as_index=False).last()
    counted = counted[counted["unblinded"] == 0]
    people = _read(connection, "SELECT id AS annotator_id, name AS person FROM annotators")
    return counted.merge(people, on="annotator_id").rename(columns={value: "value"})[["subject", "person", "value"]]
