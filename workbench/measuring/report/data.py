"""The data card."""

from __future__ import annotations

from workbench.core.label import EXCLUSION_REASONS
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.measuring.paper import counts_table
from workbench.measuring.records.card import DataCard, ImportedFile, NamedCount
from workbench.measuring.report.common import best_constant, share
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.agreement import Ceiling
from workbench.tables.document import Block, Facts, Group, Section, Table
from workbench.tables.figures import percentage
from workbench.tables.table import Column, Columns, count, table, text, word

_MOST_NAMES = 60


def data_section(contents: Contents) -> Section:
    """What is in the data, where it comes from, and what is odd about it."""
    card = contents.card
    blocks: list[Block] = [
        counts_table(card.counts, "Items with gold; completions by answer type and domain."),
        Facts(tuple(_facts(contents))),
    ]
    if len(card.crossing) > 1:
        blocks.append(_crossing(card))
    named = [(title, rows) for title, rows in (("Source", card.sources), ("Model", card.models)) if rows]
    tables = tuple(_named(title, rows) for title, rows in named)
    blocks.append(Group(title="Sources and models", blocks=tables, folded=any(len(rows) > 12 for _, rows in named)))
    if card.files:
        caption = "Files the items came from, with the BLAKE2b-128 of their bytes."
        blocks.append(table(caption, _FILES, card.files))
    return Section("data", "Data card", tuple(blocks))


def _facts(contents: Contents) -> list[tuple[str, str]]:
    card = contents.card
    gold = ", ".join(f"{number:,} {name}" for name, number in card.gold.items() if number)
    rows = [("Gold from", gold or "nothing")]
    if (found := best_constant(contents.overall.rows)) is not None:
        said = found.verifier.removeprefix("always-")
        rows.append((f"Accuracy of always “{said}”", f"{percentage(found.accuracy)}\u00a0%"))
    for name, judges in card.selection_judges.items():
        rows.append((f"Judges that chose {name}", ", ".join(judges)))
    for length in card.lengths:
        quarters = f"{length.low:,.0f} / {length.median:,.0f} / {length.high:,.0f} characters"
        rows.append((f"Length where gold is {length.gold}", f"quartiles {quarters}"))
    rows.append(("Excluded", _listed({EXCLUSION_REASONS.get(code, code): n for code, n in card.exclusions.items()})))
    if card.quarantined:
        rows.append(("Rows refused at import", _listed(card.quarantined)))
    rows.append(("Label noise", _noise(contents)))
    rows += [("Known quirk", quirk) for quirk in card.quirks]
    return rows


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "none"


def _noise(contents: Contents) -> str:
    """The ceiling that people's errors put on accuracy."""
    ceilings = contents.agreement.ceiling if contents.agreement is not None else []
    if not ceilings:
        return "The data holds no two people's labels of an item, so the ceiling it puts on accuracy can't be told."
    return " ".join(map(_ceiling, ceilings))


def _ceiling(one: Ceiling) -> str:
    source = "people’s agreement" if one.source == "agreement" else "items with a known answer"
    low, high = (percentage(end, 2) for end in one.highest_ci)
    return (
        f"From {source}: one person alone is right on {percentage(one.annotator_accuracy)} %, two and a third leave "
        f"{percentage(one.wrong, 2)} % of labels wrong, and no verifier can be measured above "
        f"{percentage(one.highest_accuracy, 2)} % ({low}–{high})."
    )


def _crossing(card: DataCard) -> Table:
    def of_domain(domain: str) -> Column[str]:
        return count(domain or "no domain", lambda kind: card.crossing.get((kind, domain), 0))

    domains = dict.fromkeys(domain for _, domain in sorted(card.crossing, key=lambda key: key[1]))
    columns: Columns[str] = (word("Answer type", type_display), *map(of_domain, domains))
    caption = "Completions with gold by answer type and domain."
    return table(caption, columns, dict.fromkeys(kind for kind, _ in sorted(card.crossing)))


def _named(title: str, rows: list[NamedCount]) -> Table:
    left = rows[_MOST_NAMES:]
    drawn = any(row.drawn is not None for row in rows)
    licensed = drawn or any(row.licence for row in rows)
    columns: Columns[NamedCount] = (
        word(title, lambda one: one.name or "(none)"),
        word("Licence", lambda one: one.licence or "unknown", there=licensed),
        text("Questions drawn", lambda one: NONE if one.drawn is None else f"{one.drawn:,}", there=drawn),
        count("Questions", lambda one: one.questions),
        count("Completions", lambda one: one.items),
        share("Correct (%)", lambda one: one.correct / one.items if one.items else None),
    )
    more = f"{len(left):,} more with {counted(sum(row.items for row in left), 'item')}."
    caption = f"Items with gold by {title.lower()}."
    return table(caption, columns, rows[:_MOST_NAMES], notes=(more,) if left else ())


_FILES: Columns[ImportedFile] = (
    word("File", lambda file: file.name),
    word("Data set", lambda file: file.dataset),
    word("BLAKE2b-128", lambda file: file.blake2b or NONE),
    word("Format", lambda file: file.format),
    count("Rows", lambda file: file.read),
    count("Taken", lambda file: file.imported + file.unchanged),
)
