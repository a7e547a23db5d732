"""Computes the data card of a project, or of a selection of its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from workbench.core.database.events import Connection
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.taxonomy import SUBTYPES, UNTYPED
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice
from workbench.data.store import licences
from workbench.measuring import notes
from workbench.measuring.columns import Columns, columns
from workbench.measuring.records.documents import (
    COUNTS,
    CountOf,
    CountRow,
    CountsTable,
    DataCard,
    LengthRow,
    NamedCount,
)
from workbench.measuring.scores import unpaired_in_words
from workbench.measuring.store import overview
from workbench.measuring.store.overview import TextHashes

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, IntArray


# -- Contents of a part of the data: counts of items with gold, and whether its questions are pairs.


_SWAPPED = "{}: the two fields of the answer type were swapped, and were read correctly."
CountKey = tuple[CountOf, str | None]
"""The counted unit, and the answer type or domain of the count."""


class GoldItems(Struct, frozen=True, kw_only=True, eq=False):
    """The items with gold in a part of the data, as arrays with one value for each.

    Attributes:
        rows: The items' positions among all items (int64).
        question: Row ids of the items' questions.
        gold: 1 correct, 0 incorrect.
        without_gold: Number of items without gold in the part.
    """

    rows: IntArray
    question: IntArray
    gold: IntArray
    without_gold: int

    @classmethod
    def of(
        cls, everything: Columns, gold: GoldChoice, kept: BoolArray | None = None, *, dataset: str | None = None
    ) -> GoldItems:
        import numpy as np

        truth = everything.gold(gold)
        members = np.ones(len(truth), dtype=bool) if kept is None else kept
        if dataset is not None:
            groups = everything.groups("dataset")
            members = members & (groups.code == (groups.names.index(dataset) if dataset in groups.names else -1))
        rows = np.flatnonzero(members & (truth >= 0))
        return cls(
            rows=rows, question=everything.question[rows], gold=truth[rows], without_gold=int(members.sum()) - len(rows)
        )


class PartCounts(Struct, frozen=True, kw_only=True):
    """Counts of a part of the data.

    Attributes:
        counts: What is counted, and the type or domain -> number with gold; types and domains without gold are left
            out.
        without_gold: Number of completions without gold.
    """

    counts: dict[CountKey, int]
    without_gold: int

    @property
    def items(self) -> int:
        return self.counts[("completions", None)] + self.without_gold


def count_part(everything: Columns, part: GoldItems) -> PartCounts:
    from workbench.statistics.intervals import distinct

    counts: dict[CountKey, int] = {
        ("questions", None): distinct(part.question),
        ("completions", None): len(part.rows),
        ("correct", None): int((part.gold == 1).sum()),
        ("wrong", None): int((part.gold == 0).sum()),
    }
    fields: tuple[CountOf, ...] = ("type", "domain")
    for field in fields:
        counts |= {(field, name): number for name, number in everything.groups(field).count(part.rows).items()}
    return PartCounts(counts=counts, without_gold=part.without_gold)


def unpaired(part: GoldItems) -> str:
    """Explain why the questions of a part don't have one correct and one incorrect completion each; "" if they do."""
    import numpy as np

    from workbench.statistics.intervals import distinct
    from workbench.statistics.scores import pair_up

    found = pair_up(np.zeros(len(part.rows)), part.gold, part.question)
    questions = distinct(part.question)
    if questions and len(found.row) == questions:
        return ""
    return (
        f"{len(found.row):,} of {questions:,} questions with gold have exactly one correct and one incorrect "
        f"completion ({unpaired_in_words(found.unpaired)})."
    )


def has_scores(everything: Columns, run: int | None, part: GoldItems) -> bool:
    import numpy as np

    score = everything.score(run)
    return score is not None and bool(np.isfinite(score[part.rows]).any())


def data_card(
    project: Project,
    selection: Selection,
    gold: GoldChoice,
    *,
    known: Columns | None = None,
    together: str | None = None,
    texts: TextHashes | None = None,
) -> DataCard:
    """Describe the data of a project in numbers.

    Args:
        known: Columns with gold that differs from the current gold; None to read the current columns.
        together: Count all items in one column of this name; None for one column for each data set.
        texts: The hashes of all completions, if already read; None to read them.

    Raises:
        UsageError: The selection names something unknown.
    """
    reader = project.database.reader()
    everything = known or columns(project)
    kept = everything.chosen(selection)
    part = GoldItems.of(everything, gold, kept)
    counts = counts_table(everything, gold, kept)
    files = [file for file in overview.imported_files(reader) if file.dataset in counts.datasets]
    texts = overview.text_hashes(reader) if texts is None else texts
    sources, known_licences = _counts_by_name(everything, part, "source"), licences.known(reader)
    swapped = [_SWAPPED.format(file.name) for file in files if file.swapped_types]
    return DataCard(
        counts=counts if together is None else counts_of({together: count_part(everything, part)}, gold),
        crossing=_type_domain_counts(everything, part),
        gold=everything.gold_counts(gold, kept),
        sources=[structs.replace(row, licence=known_licences.get(row.name)) for row in sources],
        models=_counts_by_name(everything, part, "model"),
        lengths=_length_rows(everything.characters[part.rows], part.gold),
        exclusions=overview.exclusions(reader),
        files=files,
        quarantined=overview.quarantined(reader),
        selection_judges=notes.judges(project),
        quirks=[*swapped, *_odd_items(everything, part), *_odd_texts(reader, everything, kept, texts)],
    )


def counts_table(everything: Columns, gold: GoldChoice, kept: BoolArray | None = None) -> CountsTable:
    """Return the paper's table 1 of the data sets, counting only the items in the mask ``kept`` if it is given."""
    names = sorted(everything.groups("dataset").names)
    found = {name: count_part(everything, GoldItems.of(everything, gold, kept, dataset=name)) for name in names}
    return counts_of({name: counts for name, counts in found.items() if counts.items}, gold)


def counts_of(found: Mapping[str, PartCounts], gold: GoldChoice) -> CountsTable:
    from workbench.statistics.accuracy import group_order

    keys = {key for counts in found.values() for key in counts.counts}
    rows = [
        CountRow(of=of, group=group, counts={name: counts.counts.get((of, group), 0) for name, counts in found.items()})
        for of, group in sorted(keys, key=lambda key: (COUNTS.index(key[0]), group_order(key[1] or "")))
    ]
    without = {name: counts.without_gold for name, counts in found.items()}
    return CountsTable(datasets=list(found), gold_choice=gold, rows=rows, without_gold=without)


def _type_domain_counts(everything: Columns, part: GoldItems) -> dict[tuple[str, str], int]:
    import numpy as np

    groups = everything.groups("type,domain")
    found = np.bincount(groups.code[part.rows], minlength=len(groups.names)).tolist()
    return {(kind, domain): number for (kind, domain), number in zip(groups.parts, found, strict=True) if number}


def _counts_by_name(everything: Columns, part: GoldItems, field: str) -> list[NamedCount]:
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


def _length_rows(characters: IntArray, gold: IntArray) -> list[LengthRow]:
    import numpy as np

    rows = []
    for name, value in (("correct", 1), ("incorrect", 0)):
        known = characters[(gold == value) & (characters >= 0)]
        if len(known):
            low, median, high = np.quantile(known, (0.25, 0.5, 0.75)).tolist()
            rows.append(LengthRow(gold=name, items=len(known), low=low, median=median, high=high))
    return rows


def _odd_items(everything: Columns, part: GoldItems) -> list[str]:
    from workbench.statistics.intervals import distinct

    found = []
    for name, number in everything.groups("subtype").count(part.rows).items():
        if name not in SUBTYPES:
            words = (
                "have no answer subtype" if name == UNTYPED else f"have the subtype {name}, which is not one of ours"
            )
            found.append(f"{counted(number, 'item')} {words}.")
    items, questions = len(part.gold), distinct(part.question)
    if questions < items:
        found.append(f"{items:,} items belong to {questions:,} questions: intervals are clustered by question.")
    if part.without_gold:
        found.append(f"{counted(part.without_gold, 'item')} without gold are in no table.")
    return found


def _odd_texts(reader: Connection, everything: Columns, kept: BoolArray | None, texts: TextHashes) -> list[str]:
    items, found = None, []
    if kept is not None:
        items, texts = everything.item[kept].tolist(), texts.of(everything.item[kept])
    if number := overview.long_references(reader, items):
        found.append(
            f"{counted(number, 'reference')} above {overview.LONG_REFERENCE:,} characters: whole solutions, "
            "of which only the final answer is compared."
        )
    if number := overview.repeated_completions(texts):
        found.append(
            f"{counted(number, 'completion')} repeat another one of the same question, character by character."
        )
    return found
