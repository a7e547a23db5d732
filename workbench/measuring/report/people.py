"""How far the people who labelled agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from workbench.core.label import Task
from workbench.measuring.report.common import decimal, interval
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.agreement import AgreementReport, Ends, PairAgreement
from workbench.tables.document import Block, Paragraph, Section, Table, heads, row
from workbench.tables.figures import percentage
from workbench.tables.table import Columns, column, count, ends, table, word

_OF: Final[dict[Task, str]] = {"correctness": "correctness", "type": "the answer subtype"}


def people_section(contents: Contents) -> Section | None:
    """Agreement on correctness, over all and by pair."""
    found = contents.agreement
    if found is None:
        return None
    return Section("people", "Agreement between people", agreement_blocks(with_aliases(found)))


def agreement_blocks(found: AgreementReport) -> tuple[Block, ...]:
    """Figures over all and by pair, with people's names as they stand."""
    pairs = (_pairs(found),) if found.cohen_kappa else ()
    return Paragraph(_sentence(found)), _figures(found), *pairs


def with_aliases(found: AgreementReport) -> AgreementReport:
    """A number in place of each person's name: the report goes to readers."""
    return renamed(found, {row.name: f"annotator {number}" for number, row in enumerate(found.per_annotator, 1)})


def renamed(found: AgreementReport, names: Mapping[str, str]) -> AgreementReport:
    """Agreement with other names for its people."""

    def called(name: str) -> str:
        return names.get(name, "annotator")

    return structs.replace(
        found,
        cohen_kappa=[
            structs.replace(pair, pair=(called(pair.pair[0]), called(pair.pair[1]))) for pair in found.cohen_kappa
        ],
        confounded=[
            structs.replace(pair, pair=(called(pair.pair[0]), called(pair.pair[1]))) for pair in found.confounded
        ],
        per_annotator=[structs.replace(row, name=called(row.name)) for row in found.per_annotator],
    )


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
        row("Observed agreement (%)", percentage(found.percent_agreement), interval(found.percent_ci)),
        row("Krippendorff’s alpha", decimal(found.krippendorff_alpha), _ends(found.alpha_ci)),
        row("Gwet’s AC1", decimal(found.gwet_ac1), _ends(found.ac1_ci)),
        row("Fleiss’ kappa", decimal(found.fleiss_kappa), _ends(found.fleiss_ci)),
        row("PABAK", decimal(found.pabak), ""),
    )
    return Table(
        caption=f"Agreement on {_OF[found.task or 'correctness']} over {found.paired:,} items.",
        head=(heads("Figure", "Value", "95 % interval"),),
        rows=rows,
        notes=(
            f"Observed agreement: Wilson, clustered; the others: bootstrap over {found.interval_by}s, "
            f"{found.bootstrap:,} samples, seed {found.seed}.",
        ),
    )


def _pairs(found: AgreementReport) -> Table:
    columns: Columns[PairAgreement] = (
        word("A", lambda pair: pair.pair[0]),
        word("B", lambda pair: pair.pair[1]),
        count("n", lambda pair: pair.n),
        column("Agree (%)", lambda pair: pair.agreement, percentage),
        column("Cohen’s kappa", lambda pair: pair.kappa, decimal),
        ends(lambda pair: pair.ci, _ends),
    )
    return table("Every two people with items in common.", columns, found.cohen_kappa)


def _ends(ci: Ends | None) -> str:
    return "" if ci is None else f"{decimal(ci[0])} to {decimal(ci[1])}"
