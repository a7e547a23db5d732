"""Caveats to read before quoting an accuracy table, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Selection, split_grouping
from workbench.core.sets import SetName
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.emphasis import explain_marks
from workbench.core.text.figures import counted, percent
from workbench.data.store.reading import dataset_id
from workbench.labelling.agreement.text import ceiling_in_words
from workbench.measuring.columns import Columns
from workbench.measuring.entries import CONSTANTS, MAJORITY, Entries, Entry, Measured, TypeField
from workbench.measuring.judged import model_of, nothing_measured, plain_name
from workbench.measuring.store import figures
from workbench.runs.store import runs
from workbench.statistics.records.agreement import Ceiling
from workbench.statistics.records.comparison import LEVEL, PairedFigures
from workbench.statistics.records.report import AccuracyReport, AccuracyRow

if TYPE_CHECKING:
    from workbench.measuring.store.curation import UnknownTypes, Untyped
    from workbench.statistics.compare import ComparisonPower


NO_TYPES: Final[dict[TypeField, str]] = {"type": "no answer type: ", "subtype": "no subtype: "}
"""Beginnings of the sentence about the values that files have instead."""
_MAX_NAMED = 5
"""Most names in a sentence."""


_UNEVEN_RATIO = 5
"""Ratio of questions to effective questions from which a note is added."""


def notes_for(
    report: AccuracyReport,
    entries: Entries,
    ceilings: Sequence[Ceiling],
    known: Callable[[Sequence[int]], Untyped],
    shown: Mapping[str, Sequence[int]],
) -> tuple[str, ...]:
    """Return the notes on a report.

    Args:
        known: Returns details of the untyped questions among some items; called only if the report has untyped items.
        shown: Verifier -> row ids of items shown to it as examples.
    """
    everything = [row for row in report.rows if row.group is None]
    verifiers = [row for row in everything if row.kind == "verifier" and row.n]
    if not entries.items:
        if not any(report.gold.values()):
            return ("There are no such items.",)
        return (f"None of these items has gold by “{report.gold_choice}”: there are no metrics.",)
    return (
        *_failure_notes(everything, report.protocol),
        *_own_gold_notes(everything, entries.own),
        *_constant_notes(everything, verifiers, entries),
        *_detectable_notes(verifiers, entries),
        *cells_in_words(report),
        *_ceiling_notes(ceilings, verifiers),
        *_coverage_notes(verifiers, report, entries),
        *_example_notes(verifiers, entries, shown),
        *_too_few_notes(report.rows),
        *_uneven_question_notes(verifiers),
        *explain_marks([row.verifier for row in verifiers if row.selection_judge]),
        *_majority_notes(everything, entries.tied),
        *_best_at_notes(report),
        *_untyped_notes(report, entries, known),
    )


def judged(row: AccuracyRow, protocol: str) -> int:
    return row.n + (row.abstain + row.error if protocol == "decided" else 0)


def _failure_notes(everything: Sequence[AccuracyRow], protocol: str) -> Iterator[str]:
    for row in everything:
        if not row.error:
            continue
        if not row.n:
            yield from nothing_measured({row.verifier: row.error})
            continue
        whole = judged(row, protocol)
        how = {"forced": "They count as “incorrect”.", "strict": "They count as wrong."}.get(
            protocol, "They are left out."
        )
        share = percent(row.error / whole)
        yield f"{row.verifier} failed on {row.error:,} of {counted(whole, 'item')} ({share} %). {how}"


def _constant_notes(
    everything: Sequence[AccuracyRow], verifiers: Sequence[AccuracyRow], entries: Entries
) -> Iterator[str]:
    from workbench.statistics.subgroups import holm

    shares = {row.verifier: row.accuracy for row in everything if row.verifier in CONSTANTS}
    known = {name: share for name, share in shares.items() if share is not None}
    if not known:
        return
    constant = max(known, key=lambda name: known[name])
    rivals = [row.verifier for row in verifiers if row.verifier not in CONSTANTS]
    found = _baseline_differences(constant, rivals, entries)
    n = next(row.n for row in everything if row.verifier == constant)
    fewer = any(one.n < n for one in found.values())
    sentence = f"{constant} is right on {percent(known[constant])} % of items"
    if fewer and len(found) == 1:
        (one,) = found.values()
        share = (one.both_right + one.only_b) / one.n
        sentence, fewer = f"{constant} is right on {percent(share)} % of the {counted(one.n, 'item')} of both", False
    if not found:
        yield f"{sentence}."
        return
    above = [name for name, one in found.items() if one.difference > 0]
    if above:
        more = f"{len(above)} of {counted(len(rivals), 'verifier')} {_is_or_are(len(above))} right more often"
    else:
        more = f"{rivals[0] if len(rivals) == 1 else 'no verifier'} is {'not ' * (len(rivals) == 1)}right more often"
    both, tested = " on the items of both" if fewer else "", ""
    if above:
        chances = holm([one.permutation_p for one in found.values()])
        surely = [name for name, p in zip(found, chances, strict=True) if found[name].difference > 0 and p < LEVEL]
        sure = f"{len(surely)} significantly ({_names_text(surely)})" if surely else "none significantly"
        tested = f", {sure}; paired by item, tested by question"
    yield f"{sentence}; {more}{both}{tested}."


def _baseline_differences(constant: str, rivals: Sequence[str], entries: Entries) -> dict[str, PairedFigures]:
    found, b = {}, entries.named[constant]
    for name in rivals:
        a = entries.named[name]
        one = entries.remembered("constant", (a, b), partial(_compare_entries, a, b, entries))
        if one is not None:
            found[name] = one
    return found


def _detectable_notes(verifiers: Sequence[AccuracyRow], entries: Entries) -> Iterator[str]:
    ranked = sorted(verifiers, key=lambda row: row.accuracy or 0.0, reverse=True)
    if len(ranked) < 2:
        return
    a, b = (row.verifier for row in ranked[:2])
    tied = any(row.accuracy == ranked[1].accuracy for row in ranked[2:])
    one, other = entries.named[a], entries.named[b]
    found = entries.remembered("power", (one, other), lambda: _paired_power(one, other, entries))
    if found is None or not found.discordance:
        return
    of = "two of " if tied else ""
    yield (
        f"{a} and {b}, {of}the most accurate, differ in who is right on {percent(found.discordance)} % of "
        f"{counted(found.n, 'item')}. {could_be_seen(found.detectable)}"
    )


def could_be_seen(difference: float | None) -> str:
    if difference is None:
        return "Too few questions, or too few on which they differ, to compute the minimum detectable effect."
    return f"The minimum detectable effect is {percent(difference)} points (power 80 %)."


def _paired_power(a: Entry, b: Entry, entries: Entries) -> ComparisonPower | None:
    from workbench.statistics.compare import power

    one, other = (Measured(entries, entry, None) for entry in (a, b))
    return power(one.graded(), other.graded(), one.columns.question)


def _compare_entries(a: Entry, b: Entry, entries: Entries) -> PairedFigures | None:
    from workbench.statistics.compare import compare_counted, compare_graded

    one = Measured(entries, a, None)
    if b.kind == "baseline":
        return compare_counted(one.counts.paired_counts(CONSTANTS[b.name], entries.asked.protocol))
    return compare_graded(one.graded(), Measured(entries, b, None).graded(), one.columns.question)


def cells_in_words(report: AccuracyReport) -> Iterator[str]:
    """Name the significant groups, or say that no group is significant."""
    if report.tests is None:
        return
    low = [row for row in report.rows if row.is_significant and (row.delta or 0.0) < 0]
    high = [row for row in report.rows if row.is_significant and (row.delta or 0.0) > 0]
    tested = f"{counted(report.tests.hypotheses, 'test')} of a group against its parent group"
    if not low and not high:
        yield f"Of {tested}, none has q < {LEVEL:g}: no group differs significantly."
        return
    worst = [f"{row.verifier} on {row.group}" for row in sorted(low, key=lambda row: row.q or 0.0)]
    named = f" ({_names_text(worst)})" if worst else ""
    below, above = counted(len(low), "cell"), counted(len(high), "cell")
    yield f"Significant at q < {LEVEL:g}, over {tested}: {below} below{named}, {above} above."


def _ceiling_notes(ceilings: Sequence[Ceiling], verifiers: Sequence[AccuracyRow]) -> Iterator[str]:
    for found in ceilings:
        at = [row.verifier for row in verifiers if row.accuracy is not None and row.accuracy >= found.highest_ci[0]]
        yield ceiling_in_words(found) + (f" So high: {_names_text(at)}." if at else "")


def _own_gold_notes(everything: Sequence[AccuracyRow], own: Mapping[str, int]) -> Iterator[str]:
    for name, items in ((row.verifier, own.get(row.verifier, 0)) for row in everything):
        if items:
            yield f"{name} is not measured on {counted(items, 'item')}: their gold was read from its column."


def _coverage_notes(verifiers: Sequence[AccuracyRow], report: AccuracyReport, entries: Entries) -> Iterator[str]:
    items, own, protocol = entries.items, entries.own, report.protocol
    lacking = {row.verifier: items - judged(row, protocol) - own.get(row.verifier, 0) for row in verifiers}
    first, *others = [f"{name} has no verdict on {number:,}" for name, number in lacking.items() if number] or [""]
    if first:
        of = f" of {counted(items, 'item')} with gold"
        yield f"{_names_text([first + of, *others])}."


def _example_notes(
    verifiers: Sequence[AccuracyRow], entries: Entries, shown: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    for name in (row.verifier for row in verifiers if row.verifier in shown):
        among = entries.counted_among(entries.named[name], shown[name])
        if among:
            them = "each was judged without those of its own question"
            there = f"{counted(among, 'item')} of these {_is_or_are(among)}"
            yield f"{there} shown to {name} as examples with gold: {them}."


def _too_few_notes(rows: Sequence[AccuracyRow]) -> Iterator[str]:
    lacking = [row for row in rows if row.n and row.ci is None and row.kind == "verifier"]
    if any(row.group is None for row in lacking):
        yield "Too few questions for an interval of accuracy: items are clustered by question."
    elif lacking:
        yield f"Too few questions for an interval of accuracy: {counted(len(lacking), 'cell')} without an interval."


def _uneven_question_notes(verifiers: Sequence[AccuracyRow]) -> Iterator[str]:
    heavy = [row for row in verifiers if row.ci is not None and row.effective_questions < row.questions / _UNEVEN_RATIO]
    if heavy:
        row = min(heavy, key=lambda one: one.effective_questions)
        yield (
            f"Questions differ strongly in size: {counted(row.questions, 'question')} give an interval "
            f"as wide as {row.effective_questions:.1f} of equal size would. Intervals account for that."
        )


def _majority_notes(everything: Sequence[AccuracyRow], tied: Sequence[str]) -> Iterator[str]:
    if any(row.verifier == MAJORITY and row.kind == "baseline" for row in everything):
        ties = f" Tied types, predicted as incorrect: {_names_text(tied)}." if tied else ""
        yield f"{MAJORITY} uses the gold it is evaluated on: it predicts the majority class of each type.{ties}"


def _best_at_notes(report: AccuracyReport) -> Iterator[str]:
    if report.best_at:
        stretches = [
            f"{one.verifier} from {percent(one.low)} to {percent(one.high)} % correct" for one in report.best_at
        ]
        yield f"Highest expected accuracy: {'; '.join(stretches)}."


def _names_text(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def unknown_words(found: UnknownTypes, items: int, field: TypeField) -> str:
    says = f"{found.column} says" if found.column else "their files say"
    by = f" Break down by it: column:{found.column}." if found.column else ""
    return f"{counted(items, 'item')} {'has' if items == 1 else 'have'} {NO_TYPES[field]}{says} {found.examples}.{by}"


def _untyped_notes(
    report: AccuracyReport, entries: Entries, known: Callable[[Sequence[int]], Untyped]
) -> Iterator[str]:
    fields = split_grouping(report.by) if report.by is not None else ()
    if not {"type", "subtype"} & set(fields) or not any(UNTYPED in row.groups and row.n for row in report.rows):
        return
    field: TypeField = "subtype" if "subtype" in fields else "type"
    items = entries.lacking(field)
    found = known(items)
    if found.unknown is not None:
        yield unknown_words(found.unknown, len(items), field)
    sentences = [
        f"{words} {count:,}"
        for words, count in (
            ("one person gave a type of", found.alone),
            ("annotators disagree on", found.disputed),
            ("a model proposed one of", found.proposed),
        )
        if count
    ]
    if sentences:
        settle = "; accept them in the pool's types" if found.alone or found.proposed else ""
        questions = counted(found.questions, "question")
        yield f"Untyped: of {questions} without a type that counts {', '.join(sentences)}{settle}."


# -- Selection judges: verifiers that helped to choose a data set. Every table marks their rows.


_MAX_NAME = 200


def judges(project: Project) -> dict[str, list[str]]:
    return figures.every(project.database.reader())


def chosen_with(project: Project) -> dict[str, list[str]]:
    """Map verifiers to the data sets that they helped to choose, themselves or through their model; other verifiers
    are left out."""
    known, found = judges(project), {}
    for verifier in runs.verifiers(project.database.reader()) if known else ():
        own = _names_behind(verifier)
        if datasets := [dataset for dataset, names in known.items() if not own.isdisjoint(map(plain_name, names))]:
            found[verifier.name] = datasets
    return found


def among(project: Project, verifiers: Iterable[str], selection: Selection | None, known: Columns) -> list[str]:
    """Return those of the given verifiers, in order, that helped to choose the selected items, themselves or through
    their model.

    Raises:
        UsageError: The selection names something unknown.
    """
    kept = known.chosen(selection or Selection())
    chose = choosers(project, selection or Selection(), known.datasets(slice(None) if kept is None else kept))
    return [name for name in dict.fromkeys(verifiers) if name in chose]


def choosers(project: Project, selection: Selection, datasets: set[str]) -> set[str]:
    """Return the verifiers that helped to choose a selection's benchmarks or data sets, themselves or through their
    model.

    Raises:
        UsageError: A benchmark does not exist.
    """
    chosen = {name for name, its in chosen_with(project).items() if not datasets.isdisjoint(its)}
    return chosen | of_sets(project, selection)


def of_sets(project: Project, selection: Selection) -> set[str]:
    """Return the verifiers that helped to choose a selection's benchmarks, themselves or through their model.

    Raises:
        UsageError: A benchmark does not exist.
    """
    reader, numbers = project.database.reader(), set[int]()
    for one in selection.conditions:
        if one.field == "set" and one.operator == "=":
            numbers |= set(sets.require(reader, SetName.parse(one.value)).runs)
    if not numbers:
        return set()
    chose = {name for run in runs.every(reader) if run.id in numbers for name in _names_behind(run.verifier)}
    return {verifier.name for verifier in runs.verifiers(reader) if chose & _names_behind(verifier)}


def _names_behind(verifier: ConfiguredVerifier) -> set[str]:
    return {plain_name(name) for name in (verifier.name, model_of(verifier)) if name}


def add_selection_judges(project: Project, dataset: str, names: tuple[str, ...]) -> int:
    """Record the verifiers that helped to choose a data set (selection judges), by their name or their model's. Return
    how many were new.

    Raises:
        UsageError: The data set does not exist, or a name is empty or too long.
    """
    for name in names:
        if not name.strip() or len(name) > _MAX_NAME:
            raise UsageError("A judge's name has 1 to 200 characters.", "Name its verifier or its model.")
    with project.database.write() as connection:
        return figures.add(connection, dataset_id(connection, dataset), names)


def remove_selection_judges(project: Project, dataset: str, names: tuple[str, ...]) -> int:
    """Remove selection judges of a data set; return how many had been recorded.

    Raises:
        UsageError: The data set does not exist.
    """
    with project.database.write() as connection:
        return figures.remove(connection, dataset_id(connection, dataset), names)
