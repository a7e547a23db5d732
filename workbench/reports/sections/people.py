"""How far the people who labelled agree."""

from __future__ import annotations

from workbench.model.agreement import AgreementReport, Ends
from workbench.reports.contents import Contents
from workbench.reports.document import Block, Cell, Head, Paragraph, Row, Section, Table
from workbench.reports.figures import percentage
from workbench.reports.sections.common import decimal, interval


def people_section(contents: Contents) -> Section | None:
    """Agreement on correctness, over all and by pair."""
    found = contents.agreement
    if found is None:
        return None
    blocks: list[Block] = [Paragraph(_sentence(found)), _figures(found)]
    if found.cohen_kappa:
        blocks.append(_pairs(found))
    return Section("people", "Agreement between people", tuple(blocks))


def _sentence(found: AgreementReport) -> str:
    shares = found.prevalence or {}
    said = ", ".join(f"{name} {percentage(share)} %" for name, share in sorted(shares.items(), key=lambda one: -one[1]))
    return (
        f"{found.annotators} people gave {found.labels:,} first-pass labels that count on {found.items:,} items; "
        f"{found.paired:,} items have two or more. They said: {said or 'nothing yet'}. {found.unblinded:,} labels "
        "of people who had seen gold, verdicts or others’ labels are left out."
    )


def _figures(found: AgreementReport) -> Table:
    rows = (
        ("Observed agreement (%)", percentage(found.percent_agreement), interval(found.percent_ci)),
        ("Krippendorff’s alpha", decimal(found.krippendorff_alpha), _ends(found.alpha_ci)),
        ("Gwet’s AC1", decimal(found.gwet_ac1), _ends(found.ac1_ci)),
        ("Fleiss’ kappa", decimal(found.fleiss_kappa), _ends(found.fleiss_ci)),
        ("PABAK", decimal(found.pabak), ""),
    )
    return Table(
        caption=f"Agreement on correctness over {found.paired:,} items.",
        head=((Head("Figure"), Head("Value"), Head("95 % interval")),),
        rows=tuple(Row(tuple(map(Cell, row))) for row in rows),
        notes=(
            f"Observed agreement: Wilson, clustered; the others: bootstrap over {found.interval_by}s, "
            f"{found.bootstrap:,} samples, seed {found.seed}.",
        ),
    )


def _pairs(found: AgreementReport) -> Table:
    return Table(
        caption="Every two people with items in common.",
        head=((Head("A"), Head("B"), Head("n"), Head("Agree (%)"), Head("Cohen’s kappa"), Head("95 % interval")),),
        rows=tuple(
            Row(
                (
                    Cell(_alias(pair.pair[0], found)),
                    Cell(_alias(pair.pair[1], found)),
                    Cell(f"{pair.n:,}"),
                    Cell(percentage(pair.agreement)),
                    Cell(decimal(pair.kappa)),
                    Cell(_ends(pair.ci)),
                )
            )
            for pair in found.cohen_kappa
        ),
        left=2,
    )


def _alias(name: str, found: AgreementReport) -> str:
    """A number in place of a person's name: the report goes to readers."""
    names = [row.name for row in found.per_annotator]
    return f"annotator {names.index(name) + 1}" if name in names else "annotator"


def _ends(ci: Ends | None) -> str:
    return "" if ci is None else f"{decimal(ci[0])} to {decimal(ci[1])}"
