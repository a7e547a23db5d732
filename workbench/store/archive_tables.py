"""Which tables, and which of their rows, an archive holds.

Row ids are kept: the order of import, pseudonyms and everything that refers to a row follow from them.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple, cast

from workbench.model.archive import ColumnType


class Part(NamedTuple):
    """What becomes one file of an archive.

    Attributes:
        texts: A table with the same key whose columns stand on the same lines.
        rows: SQL condition: which rows of the table; all of them where it is empty.
    """

    name: str
    table: str
    texts: str | None = None
    rows: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that its lines are from."""
        return (self.table,) if self.texts is None else (self.table, self.texts)


PARTS: Final[tuple[Part, ...]] = (
    Part("datasets", "datasets"),
    Part("sources", "sources"),
    Part("models", "models"),
    Part("questions", "questions", "question_text"),
    Part("items", "completions", "completion_text"),
    Part("imports", "imports", rows="state = 'complete'"),
    Part("quarantine", "quarantine", rows="import_id IN (SELECT id FROM imports WHERE state = 'complete')"),
    Part("annotators", "annotators"),
    Part("guidelines", "guidelines"),
    Part("guideline_readings", "guideline_readings"),
    Part("labels", "label_events", rows="kind NOT IN ('adjudication', 'exclusion')"),
    Part("adjudications", "label_events", rows="kind = 'adjudication'"),
    Part("exclusions", "label_events", rows="kind = 'exclusion'"),
    Part("batches", "batches"),
    Part("batch_annotators", "batch_annotators"),
    Part("assignments", "assignments"),
    Part("skips", "skips"),
    Part("drafts", "drafts"),
    Part("checks", "check_items"),
    Part("reviews", "reviews"),
    Part("curation", "curation"),
    Part("verifiers", "verifiers"),
    Part("runs", "runs"),
    Part("run_usage", "run_usage"),
    Part("provenance", "provenance"),
    Part("verdicts", "verdicts"),
    Part("evidence", "verdict_evidence"),
    Part("traces", "verdict_traces"),
    Part("requests", "requests"),
    Part("responses", "responses"),
    Part("attempts", "attempts"),
    Part("verdict_calls", "verdict_calls"),
    Part("probe_runs", "probe_runs"),
    Part("probe_results", "probe_results"),
    Part("proposed_types", "proposed_types"),
    Part("selection_judges", "selection_judges"),
    Part("code_problems", "code_problems"),
    Part("code_solutions", "code_solutions"),
    Part("suites", "suites"),
    Part("tests", "tests"),
    Part("solution_tests", "solution_tests"),
    Part("test_results", "test_results"),
    Part("evolutions", "evolutions"),
    Part("evolution_steps", "evolution_steps"),
    Part("sets", "sets"),
    Part("set_items", "set_items"),
    Part("set_questions", "set_questions"),
    Part("set_runs", "set_runs"),
)
"""In the order in which they stand in an archive."""

EVENTS: Final = ("labels", "adjudications", "exclusions")
"""Parts of one table, which are read back together in the order in which events arrived."""

CALLS: Final = ("requests", "responses", "attempts", "verdict_calls")
"""Parts that hold calls to model servers: by far the most bytes where judges have run."""

NEVER: Final[dict[str, str]] = {
    "secrets": "the database's secret never leaves it; a database that is read back draws its own",
    "admissions": "logins from a browser are secrets",
    "runner": "which process is at work",
    "changes": "what copies of the figures are kept by",
    "task_states": "derived from the label events",
    "item_states": "derived from the label events",
    "verdict_cache": "what verifiers in workers find anew",
    "bundles": "a bundle is sealed with the secret, and comes home to no other database",
    "bundle_items": "as bundles",
    "bundle_pass": "what an archive of a bundle holds is no bundle any more",
    "event_seals": "as bundle_pass",
    "generation": "which copy of the database a file is",
    "_sqlite_migrations": "made with the tables",
}
"""Tables that no archive holds, and why."""


def columns(connection: sqlite3.Connection, part: Part) -> dict[str, ColumnType]:
    """The columns of a part's lines, in their order; nothing for a table that is not there."""
    found: dict[str, ColumnType] = {}
    for table in part.tables:
        for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
            found.setdefault(name, cast("ColumnType", kind))
    return found


def own_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns of one table, in their order."""
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def key(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table's primary key, in their order."""
    rows = sorted((row[5], row[1]) for row in connection.execute(f"PRAGMA table_info({table})") if row[5])
    return [name for _, name in rows]
