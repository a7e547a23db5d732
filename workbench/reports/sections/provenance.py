"""Versions and hashes: what it takes to make the same figures again."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.reports.contents import Contents, RunFacts
from workbench.reports.document import Cell, Facts, Head, Row, Section, Table


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
    told = any(run.identity for run in runs)
    heads = ("Verifier", "Kind", "Version", "Configuration", *(["What it is"] if told else []), "Completed")
    return Table(
        caption=caption,
        head=(tuple(map(Head, (*heads, "Run", "Verdicts"))),),
        rows=tuple(_run(run, told) for run in runs),
        left=len(heads),
    )


def _run(run: RunFacts, told: bool) -> Row:
    identity = ", ".join(f"{key} {value}" for key, value in run.identity.items())
    completed = run.completed_at.replace("T", " ")[:19]
    words = (run.verifier, run.kind, run.version, run.config_hash, *([identity] if told else []), completed)
    return Row(tuple(map(Cell, (*words, str(run.run), f"{run.items:,}"))))
