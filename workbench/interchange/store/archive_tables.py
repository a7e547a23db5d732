"""Which tables, and which of their rows, an archive holds.

Row ids are kept: the order of import, pseudonyms and everything that refers to a row follow from them.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple, cast

from workbench.interchange.model_archive import ColumnType


class ArchiveTable(NamedTuple):
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


PARTS: Final[tuple[ArchiveTable, ...]] = (
    ArchiveTable("datasets", "datasets"),
    ArchiveTable("sources", "sources"),
    ArchiveTable("models", "models"),
    ArchiveTable("questions", "questions", "question_text"),
    ArchiveTable("items", "completions", "completion_text"),
    ArchiveTable("imports", "imports", rows="state = 'complete'"),
    ArchiveTable("quarantine", "quarantine", rows="import_id IN (SELECT id FROM imports WHERE state = 'complete')"),
    ArchiveTable("annotators", "annotators"),
    ArchiveTable("guidelines", "guidelines"),
    ArchiveTable("guideline_readings", "guideline_readings"),
    ArchiveTable("labels", "label_events", rows="kind NOT IN ('adjudication', 'exclusion')"),
    ArchiveTable("adjudications", "label_events", rows="kind = 'adjudication'"),
    ArchiveTable("exclusions", "label_events", rows="kind = 'exclusion'"),
    ArchiveTable("batches", "batches"),
    ArchiveTable("batch_annotators", "batch_annotators"),
    ArchiveTable("assignments", "assignments"),
    ArchiveTable("skips", "skips"),
    ArchiveTable("drafts", "drafts"),
    ArchiveTable("checks", "check_items"),
    ArchiveTable("reviews", "reviews"),
    ArchiveTable("curation", "curation"),
    ArchiveTable("verifiers", "verifiers"),
    ArchiveTable("runs", "runs"),
    ArchiveTable("run_usage", "run_usage"),
    ArchiveTable("provenance", "provenance"),
    ArchiveTable("verdicts", "verdicts"),
    ArchiveTable("evidence", "verdict_evidence"),
    ArchiveTable("traces", "verdict_traces"),
    ArchiveTable("requests", "requests"),
    ArchiveTable("responses", "responses"),
    ArchiveTable("attempts", "attempts"),
    ArchiveTable("verdict_calls", "verdict_calls"),
    ArchiveTable("probe_runs", "probe_runs"),
    ArchiveTable("probe_results", "probe_results"),
    ArchiveTable("proposed_types", "proposed_types"),
    ArchiveTable("selection_judges", "selection_judges"),
    ArchiveTable("code_problems", "code_problems"),
    ArchiveTable("code_solutions", "code_solutions"),
    ArchiveTable("suites", "suites"),
    ArchiveTable("tests", "tests"),
    ArchiveTable("solution_tests", "solution_tests"),
    ArchiveTable("test_results", "test_results"),
    ArchiveTable("evolutions", "evolutions"),
    ArchiveTable("evolution_steps", "evolution_steps"),
    ArchiveTable("sets", "sets"),
    ArchiveTable("set_items", "set_items"),
    ArchiveTable("set_questions", "set_questions"),
    ArchiveTable("set_runs", "set_runs"),
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


def columns(connection: sqlite3.Connection, part: ArchiveTable) -> dict[str, ColumnType]:
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
