"""Why verifiers err, as reviewers gave it in triage."""

from __future__ import annotations

from workbench.core.text.figures import percent
from workbench.measuring.records.triage import TriageLine
from workbench.measuring.report.contents import Contents
from workbench.tables.document import Section
from workbench.tables.table import Column, Columns, count, table, text, word


def causes_section(contents: Contents) -> Section | None:
    """The causes of each verifier by answer type; nothing where none was given."""
    if not contents.causes:
        return None
    groups = sorted({group for line in contents.causes for group in line.counts})

    def of_group(group: str) -> Column[TriageLine]:
        return count(group, lambda line: line.counts.get(group, 0))

    columns: Columns[TriageLine] = (
        word("verifier", lambda line: line.verifier),
        word("cause", lambda line: line.cause or ""),
        *map(of_group, groups),
        count("n", lambda line: line.n),
        text("%", lambda line: percent(line.share)),
    )
    caption = "Causes of verifiers' errors over all items, as reviewers gave them case by case, by answer type"
    return Section("causes", "Causes of errors", (table(caption, columns, contents.causes),))
