"""How a set was made and measured, as a paragraph that can be quoted; every value is one the card shows elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.agreement import AgreementReport
from workbench.render.bars import counted
from workbench.reports.card.contents import SetContents, title_of
from workbench.reports.card.sections import KINDS, people
from workbench.reports.document import Paragraph, Section
from workbench.reports.figures import percentage
from workbench.reports.sections.common import decimal
from workbench.reports.sections.methods import methods_section


def methods(found: SetContents) -> Section:
    """What was done to make the set, then what was done to measure verifiers on it."""
    measured = methods_section(found.contents)
    return Section("methods", "Methods", (Paragraph(" ".join(_made(found))), *measured.blocks))


def _made(found: SetContents) -> Iterator[str]:
    stored = found.stored
    yield (
        f"{found.name} was frozen on {stored.created_at[:10]} (seed {stored.seed}): "
        f"{counted(stored.items, 'completion')} of {counted(stored.questions, 'question')}, {found.correct:,} of them "
        f"correct ({percentage(found.correct / stored.items)} %). It is a {stored.kind} set: {KINDS[stored.kind]}."
    )
    if found.made_of:
        yield f"It was made of {' and '.join(title_of(stored) for stored, _ in found.made_of)}."
    if found.judges:
        names = ", ".join(dict.fromkeys(judge.verifier for judge in found.judges))
        yield f"The verdicts of {names} decided what belongs to it; a verdict that was none was no vote."
    yield from _labelled(found)
    if missing := len(found.report.shortfall):
        yield f"{counted(missing, 'part')} of it gave less than was wanted; nothing stands in its place."


def _labelled(found: SetContents) -> Iterator[str]:
    agreement = found.contents.agreement
    if agreement is None:
        yield "The database holds no two people's labels of its items."
        return
    known = ", ".join(version for version in found.annotations.guidelines if version)
    under = f" under guidelines {known}" if known else ""
    yield (
        f"{people(agreement.annotators)} labelled its items{under}; labels of people who had seen gold, verdicts or "
        "others' labels don't count."
    )
    yield f"They agree on correctness on {_agreed(agreement)}."
    if found.pool is not None:
        yield f"On all items it was made of, settled or not, they agree on {_agreed(found.pool[1])}."
    if found.types is not None:
        yield f"On the answer subtype of questions they agree on {_agreed(found.types)}."
    for conflicts in found.annotations.conflicts:
        settled = sum(conflicts.settled.values())
        yield (
            f"On {conflicts.task} they differed on {conflicts.disputed:,} of {conflicts.labelled:,}; a third person "
            f"settled {settled:,}."
        )


def _agreed(found: AgreementReport) -> str:
    return (
        f"{percentage(found.percent_agreement)} % of {found.paired:,} (Krippendorff's alpha "
        f"{decimal(found.krippendorff_alpha)}, Gwet's AC1 {decimal(found.gwet_ac1)})"
    )
