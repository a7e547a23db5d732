"""Verifiers against each other."""

from __future__ import annotations

from workbench.model.comparison import FamilyPair, FamilyReport
from workbench.render.columns import p_value
from workbench.reports.contents import Contents
from workbench.reports.document import Block, Cell, Group, Head, Paragraph, Row, Section, Table
from workbench.reports.figures import difference, percentage
from workbench.reports.sections.common import interval

_MOST_PAIRS = 40
"""Rows of pairs above which they are folded away."""

_PAIR_HEADS = (
    "A",
    "B",
    "n",
    "Only A",
    "Only B",
    "A − B",
    "95 % interval",
    "McNemar p",
    "Permutation p",
    "Holm p",
    "Detectable",
)


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
    rows = [
        Row(
            (
                Cell(member.verifier),
                Cell(f"{member.n:,}"),
                Cell(percentage(member.accuracy)),
                Cell(interval(member.ci)),
                *([Cell(member.letters)] if lettered else []),
            )
        )
        for member in found.members
    ]
    heads = ("Verifier", "n", "Accuracy", "95 % interval", *(["Letters"] if lettered else []))
    return Table(
        caption=f"Verifiers by accuracy (%). Protocol {found.protocol}, gold {found.gold_choice}.",
        head=(tuple(map(Head, heads)),),
        rows=tuple(rows),
        notes=("Verifiers that share a letter can’t be told apart on these items.",) if lettered else (),
    )


def _pairs(found: FamilyReport) -> Table:
    return Table(
        caption="Accuracy of A less that of B in points, on the items both have judged.",
        head=(tuple(map(Head, _PAIR_HEADS)),),
        rows=tuple(map(_pair, found.family)),
        left=2,
        notes=(
            "Intervals are clustered by question. McNemar’s exact test takes items as independent; the permutation "
            "test swaps A and B in all items of a question at once.",
            "Detectable: the true difference in points that such data would show in four of five cases.",
        ),
    )


def _pair(pair: FamilyPair) -> Row:
    low, high = (difference(end) for end in pair.ci)
    cells = (
        pair.a,
        pair.b,
        f"{pair.n:,}",
        f"{pair.only_a:,}",
        f"{pair.only_b:,}",
        difference(pair.difference),
        f"{low} to {high}",
        *map(p_value, (pair.mcnemar_p, pair.permutation_p, pair.holm_p)),
        percentage(pair.detectable),
    )
    return Row(tuple(map(Cell, cells)))
