"""Versions and hashes: what it takes to make the same figures again."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.reports.contents import Contents, RunFacts
from workbench.reports.document import Facts, Section, Table
from workbench.reports.table import Columns, count, table, text, word


def provenance_section(contents: Contents) -> Section:
    """The software, the data's content, and every run."""
    software = contents.software
    facts = (
        ("workbench", software.workbench),
        ("Python", software.python),
        ("numpy, scipy", f"{software.numpy}, {software.scipy}"),
        ("Database", f"{contents.database}, tables of version {software.schema}"),
        ("Content (BLAKE2b-128 of texts, gold and verdicts)", software.content_hash),
        ("Made", contents.generated_at),
    )
    caption = "Runs the figures come from, with the BLAKE2b of their verifiers' configurations."
    return Section("provenance", "Versions and hashes", (Facts(facts), runs_table(contents.runs, caption)))


def runs_table(runs: Sequence[RunFacts], caption: str) -> Table:
    """Runs with what identifies their verifiers."""
    columns: Columns[RunFacts] = (
        word("Verifier", lambda run: run.verifier),
        word("Kind", lambda run: run.kind),
        word("Version", lambda run: run.version),
        word("Configuration", lambda run: run.config_hash),
        word("What it is", _identity, there=any(run.identity for run in runs)),
        word("Completed", lambda run: run.completed_at.replace("T", " ")[:19]),
        text("Run", lambda run: str(run.run)),
        count("Verdicts", lambda run: run.items),
    )
    return table(caption, columns, runs)


def _identity(run: RunFacts) -> str:
    return ", ".join(f"{key} {value}" for key, value in run.identity.items())
