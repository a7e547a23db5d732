"""Verifiers against each other."""

from __future__ import annotations

from workbench.core.text.columns import p_value
from workbench.measuring.report.common import interval
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.comparison import FamilyMember, FamilyPair, FamilyReport
from workbench.tables.document import Block, Group, Paragraph, Section, Table
from workbench.tables.figures import difference, percentage
from workbench.tables.table import Columns, column, count, ends, table, text, word

_MOST_PAIRS = 40
"""Rows of pairs above which they are folded away."""


def comparison_section(contents: Contents) -> Section | None:
    """Who can be told apart, then every pair."""
    found = contents.family
    if found is None or not found.family:
        return None
    blocks: list[Block] = [Paragraph(_verdict(found)), _members(found)]
    pairs = _pairs(found)
    blocks.append(Group(title="Every pair", blocks=(pairs,), folded=len(found.family) > _MOST_PAIRS))
    return Section("comparison", "Comparison", tuple(blocks))


def _verdict(found: FamilyReport) -> str:
    apart = sum(pair.holm_p < found.level for pair in found.family)
    total = len(found.family)
    return (
        f"{apart} of {total} pairs differ: their p-value of the paired permutation test by question is below "
        f"{found.level} after Holm’s correction over all pairs. {found.common:,} items count for every verifier."
    )


def _members(found: FamilyReport) -> Table:
    lettered = any(member.letters for member in found.members)
    columns: Columns[FamilyMember] = (
        word("Verifier", lambda member: member.verifier),
        count("n", lambda member: member.n),
        column("Accuracy", lambda member: member.accuracy, percentage),
        ends(lambda member: member.ci, interval),
        text("Letters", lambda member: member.letters, there=lettered),
    )
    caption = f"Verifiers by accuracy (%). Protocol {found.protocol}, gold {found.gold_choice}."
    note = "Verifiers that share a letter can’t be told apart on these items."
    return table(caption, columns, found.members, notes=(note,) if lettered else ())


_PAIRS: Columns[FamilyPair] = (
    word("A", lambda pair: pair.a),
    word("B", lambda pair: pair.b),
    count("n", lambda pair: pair.n),
    count("Only A", lambda pair: pair.only_a),
    count("Only B", lambda pair: pair.only_b),
    column("A − B", lambda pair: pair.difference, difference),
    text("95 % interval", lambda pair: " to ".join(map(difference, pair.ci))),
    column("McNemar p", lambda pair: pair.mcnemar_p, p_value),
    column("Permutation p", lambda pair: pair.permutation_p, p_value),
    column("Holm p", lambda pair: pair.holm_p, p_value),
    column("Detectable", lambda pair: pair.detectable, percentage),
)


def _pairs(found: FamilyReport) -> Table:
    caption = "Accuracy of A less that of B in points, on the items both have judged."
    notes = (
        "Intervals are clustered by question. McNemar’s exact test takes items as independent; the permutation "
        "test swaps A and B in all items of a question at once.",
        "Detectable: the true difference in points that such data would show in four of five cases.",
    )
    return table(caption, _PAIRS, found.family, notes=notes)
