"""The data card of a project, or of a selection of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.database.events import Connection
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.taxonomy import SUBTYPES, UNTYPED
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice
from workbench.data.store import licences
from workbench.measuring import selected_by
from workbench.measuring.columns import Columns, columns
from workbench.measuring.records.card import DataCard, ImportedFile, LengthRow, NamedCount
from workbench.measuring.records.paper import CountRow, CountsTable
from workbench.measuring.report.counting import GoldItems, PartCounts, count_order, count_part
from workbench.measuring.store import describing
from workbench.measuring.store.describing import TextHashes

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray


def data_card(
    project: Project,
    selection: Selection,
    gold: GoldChoice,
    *,
    known: Columns | None = None,
    together: str | None = None,
    texts: TextHashes | None = None,
) -> DataCard:
    """Count what is there.

    Args:
        known: The columns, where gold is another than today's.
        together: Count the items in one column of this name, not in one a data set.
        texts: The hashes of all completions, where they have been read already.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    everything = known or columns(project)
    kept = everything.chosen(selection)
    part = GoldItems.of(everything, gold, kept)
    counts = counts_table(everything, gold, kept)
    files = [file for file in describing.imported_files(reader) if file.dataset in counts.datasets]
    texts = describing.text_hashes(reader) if texts is None else texts
    return DataCard(
        counts=counts if together is None else _counts({together: count_part(everything, part)}, gold),
        crossing=_crossing(everything, part),
        gold=everything.gold_counts(gold, kept),
        sources=_with_licences(reader, _named(everything, part, "source")),
        models=_named(everything, part, "model"),
        lengths=_lengths(everything.characters[part.rows], part.gold),
        exclusions=describing.exclusions(reader),
        files=files,
        quarantined=describing.quarantined(reader),
        selection_judges=selected_by.judges(project),
        quirks=[*_odd_files(files), *_odd_items(everything, part), *_odd_texts(reader, everything, kept, texts)],
    )


def counts_table(
    everything: Columns, gold: GoldChoice, kept: BoolArray | None = None, datasets: tuple[str, ...] = ()
) -> CountsTable:
    """The paper's table 1.

    Args:
        kept: Only these items.
        datasets: Only these, in this order.
    """
    names = datasets or tuple(sorted(everything.groups("dataset").names))
    found = {name: count_part(everything, GoldItems.of(everything, gold, kept, dataset=name)) for name in names}
    if not datasets:
        found = {name: counts for name, counts in found.items() if counts.items}
    return _counts(found, gold)


def _counts(found: dict[str, PartCounts], gold: GoldChoice) -> CountsTable:
    rows = [
        CountRow(of=of, group=group, counts={name: counts.counts.get((of, group), 0) for name, counts in found.items()})
        for of, group in count_order(key for counts in found.values() for key in counts.counts)
    ]
    without = {name: counts.without_gold for name, counts in found.items()}
    return CountsTable(datasets=list(found), gold_choice=gold, rows=rows, without_gold=without)


def _crossing(everything: Columns, part: GoldItems) -> dict[tuple[str, str], int]:
    import numpy as np

    groups = everything.groups("type,domain")
    found = np.bincount(groups.code[part.rows], minlength=len(groups.names)).tolist()
    return {(kind, domain): number for (kind, domain), number in zip(groups.parts, found, strict=True) if number}


def _named(everything: Columns, part: GoldItems, field: str) -> list[NamedCount]:
    """Items by source or model, the most frequent first."""
    import numpy as np

    from workbench.statistics.intervals import clusters

    groups = everything.groups(field)
    code, size = groups.code[part.rows], len(groups.names)
    items, correct = np.bincount(code, minlength=size), np.bincount(code, weights=part.gold, minlength=size)
    questions = np.bincount(clusters(part.question, code, size).group, minlength=size)
    rows = [
        NamedCount(name=name, items=int(items[place]), questions=int(questions[place]), correct=int(correct[place]))
        for place, name in enumerate(groups.names)
        if items[place]
    ]
    return sorted(rows, key=lambda row: (-row.items, row.name))


def _with_licences(reader: Connection, rows: list[NamedCount]) -> list[NamedCount]:
    known = licences.known(reader)
    return [structs.replace(row, licence=known.get(row.name)) for row in rows]


def _lengths(characters: IntArray, gold: IntArray) -> list[LengthRow]:
    import numpy as np

    rows = []
    for name, value in (("correct", 1), ("incorrect", 0)):
        known = characters[(gold == value) & (characters >= 0)]
        if len(known):
            low, median, high = np.quantile(known, (0.25, 0.5, 0.75)).tolist()
            rows.append(LengthRow(gold=name, items=len(known), low=low, median=median, high=high))
    return rows


def _odd_files(files: list[ImportedFile]) -> list[str]:
    return [
        f"{file.name}: the two fields of the answer type stood the wrong way round, and were taken the right way."
        for file in files
        if file.swapped_types
    ]


def _odd_items(everything: Columns, part: GoldItems) -> list[str]:
    import numpy as np

    from workbench.statistics.intervals import distinct

    found = []
    groups = everything.groups("subtype")
    sizes = np.bincount(groups.code[part.rows], minlength=len(groups.names)).tolist()
    for name, number in zip(groups.names, sizes, strict=True):
        if number and name not in SUBTYPES:
            words = "have no answer subtype" if name == UNTYPED else f"have the subtype {name}, which is none of ours"
            found.append(f"{counted(number, 'item')} {words}.")
    items, questions = len(part.gold), distinct(part.question)
    if questions < items:
        found.append(f"{items:,} items belong to {questions:,} questions: intervals are clustered by question.")
    if part.without_gold:
        found.append(f"{counted(part.without_gold, 'item')} without gold are in no table.")
    return found


def _odd_texts(reader: Connection, everything: Columns, kept: BoolArray | None, texts: TextHashes) -> list[str]:
    """What is odd about the texts of the kept items, or of all."""
    items, found = None, []
    if kept is not None:
        items, texts = everything.item[kept].tolist(), texts.of(everything.item[kept])
    if number := describing.long_references(reader, items):
        found.append(
            f"{counted(number, 'reference')} above {describing.LONG_REFERENCE:,} characters: whole solutions, "
            "of which only the final answer is compared."
        )
    if number := describing.repeated_completions(texts):
        found.append(
            f"{counted(number, 'completion')} repeat another one of the same question, character by character."
        )
    return found
