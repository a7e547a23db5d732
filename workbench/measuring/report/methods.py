"""How the figures were made, in words that follow from them, and what it takes to make the same again."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring.report.contents import Contents, RunFacts
from workbench.tables.document import Facts, Paragraph, Section, Table
from workbench.tables.table import Columns, count, table, text, word

_PROTOCOLS: dict[Protocol3, str] = {
    "forced": "an abstention or an error counts as the verdict “incorrect”",
    "strict": "an abstention or an error counts as wrong, whatever gold is",
    "decided": "abstentions and errors are left out",
}
_GOLDS: dict[GoldChoice, str] = {
    "final": "the adjudicated label, else the one annotators agree on, else the one the data came with",
    "people": "the adjudicated label, else the one annotators agree on",
    "imported": "the label the data came with",
}


def methods_section(contents: Contents) -> Section:
    """A paragraph that can be quoted."""
    parts = [_items(contents), _verdicts(contents), _intervals(), *_tests(contents), *_people(contents)]
    return Section("methods", "Methods", (Paragraph(" ".join(parts)),))


def _items(contents: Contents) -> str:
    counts = {row.of: sum(row.counts.values()) for row in contents.card.counts.rows if row.group is None}
    return (
        f"The figures are of {counts.get('completions', 0):,} completions of {counts.get('questions', 0):,} questions, "
        f"{counts.get('correct', 0):,} of them correct (items: {contents.selection}). Gold is "
        f"{_GOLDS[contents.gold_choice]}; items in conflict, excluded items and checks have none."
    )


def _verdicts(contents: Contents) -> str:
    return (
        "Each verifier’s newest complete run counts. Under the protocol "
        f"{contents.protocol}, {_PROTOCOLS[contents.protocol]}. “Correct” is the positive class; MCC is 0 where it "
        "has no denominator; averages are over items (micro) unless they say otherwise. Baselines are verifiers "
        "that look at no completion."
    )


def _intervals() -> str:
    return (
        "Intervals have a nominal coverage of 95 %: Wilson’s, with the number of items divided by the design effect of "
        "clustering by question."
    )


def _tests(contents: Contents) -> list[str]:
    said = []
    tested = [report.tests for report in contents.by.values() if report.tests is not None]
    if tested:
        said.append(
            f"A group is tested against the rest of its type or of all items by {tested[0].method}; q-values are "
            "Benjamini and Hochberg’s over all cells of the table."
        )
    if contents.family is not None and contents.family.family:
        said.append(
            "Two verifiers are compared on the items that count for both: difference with Agresti and Min’s "
            "interval for effective counts, McNemar’s exact test, and the exact paired permutation test by "
            "question with Holm’s correction over all pairs."
        )
    return said


def _people(contents: Contents) -> list[str]:
    found = contents.agreement
    if found is None:
        return []
    return [
        f"Agreement is of first-pass labels given blind; its bootstrap draws {found.interval_by}s "
        f"({found.bootstrap:,} samples, seed {found.seed})."
    ]


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
