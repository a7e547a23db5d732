"""Renders the leaderboard as a table, and the sections of a data card."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from workbench.benchmarks.card.contents import Conflicts, SetContents, title_of
from workbench.benchmarks.records import DiffRow, LeaderboardLine, SetDiff
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.sets import SetKind, SetReport, Shortfall, StoredSet, Stratum
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import counted
from workbench.measuring.report.common import decimal, interval, other_metrics, selected_by_note, share, verifier_name
from workbench.measuring.report.people import PROTOCOLS, agreement_blocks, data_section, methods_section, runs_table
from workbench.statistics.records.agreement import AgreementReport
from workbench.tables.document import Block, Case, Facts, Group, Paragraph, Passage, Section, Table, percentage
from workbench.tables.table import Column, Columns, count, ends, table, word


def leaderboard_table(name: str, lines: Sequence[LeaderboardLine]) -> Table:
    def of_type(kind: str) -> Column[LeaderboardLine]:
        return share(type_display(kind), lambda line: line.types[kind].accuracy if kind in line.types else None)

    columns: Columns[LeaderboardLine] = (
        word("Verifier", verifier_name),
        *map(of_type, dict.fromkeys(kind for line in lines for kind in line.types)),
        share("AVG", lambda line: line.accuracy),
        ends(lambda line: line.ci, interval),
        count("n", lambda line: line.n),
        *other_metrics(lines),
    )
    first = lines[0]
    return table(
        f"Accuracy on {name} (%; MCC as it is). Protocol {first.protocol}: {PROTOCOLS[first.protocol]}. "
        f"AVG is the mean over items (micro). Gold: {first.gold}.",
        columns,
        lines,
        notes=_leaderboard_notes(lines),
        kind=lambda line: "aside" if line.kind == "baseline" else "",
    )


def _leaderboard_notes(lines: Sequence[LeaderboardLine]) -> list[str]:
    said = [
        "Intervals: Wilson’s, with n divided by the design effect of clustering by question. Baselines, which look at "
        "no completion, come last; majority-by-type knows the gold it is measured on.",
        *selected_by_note(lines),
    ]
    for line in lines:
        if line.chose_by_these:
            said.append(
                f"{line.verifier}: the same verdicts selected the items, so they don’t measure it. Run it again."
            )
        elif line.flip_rate is not None:
            said.append(f"{line.verifier}: {percentage(line.flip_rate)} % of verdicts differ from those that chose.")
    return said


# -- The sections of a data card: each answers one question of a reader.


_FOLDED = 12
_NAMED = 20
KINDS: Final[dict[SetKind, str]] = {
    "draw": "questions, so many an answer type",
    "picks": "completions of each question, to be labelled",
    "queue": "completions on which judges are split, to be labelled",
    "balanced": "as many questions of each answer type as its plan says, each with exactly one correct and one "
    "incorrect completion",
    "hard": "completions on which judges were split, drawn by domain and source, as labelled by annotators",
}
"""The contents of a benchmark of each kind."""


def data(found: SetContents) -> Section:
    return data_section(found.contents)


def choice(found: SetContents) -> Section:
    blocks: list[Block] = [
        Paragraph(f"{found.name} is a {found.stored.kind} set: {KINDS[found.stored.kind]}."),
        *_selection_blocks(found.stored, found.report),
    ]
    if found.judges:
        blocks.append(runs_table(found.judges, "Runs whose verdicts selected the items of the set."))
    for stored, report in found.made_of:
        kind = Paragraph(f"A {stored.kind} set, frozen on {stored.created_at[:10]}: {KINDS[stored.kind]}.")
        blocks.append(Group(title=f"Made of {title_of(stored)}", blocks=(kind, *_selection_blocks(stored, report))))
    return Section("choice", "How it was chosen", tuple(blocks))


def _selection_blocks(stored: StoredSet, report: SetReport) -> Iterator[Block]:
    yield Facts(tuple(_plan_facts(stored, report)))
    if report.splits:
        caption = "Number of judges on each side of an item; items without a verdict of every judge don't count."
        yield _counts_table(caption, "Split", report.splits)
    if report.stages:
        yield _counts_table("Number of items left after each step.", "Step", report.stages)
    if report.strata:
        caption = "Strata that members were chosen from: available, wanted, chosen."
        yield Group(title="", blocks=(table(caption, _STRATA, report.strata),), folded=len(report.strata) > _FOLDED)
    yield _shortfall_block(report)
    if report.excluded:
        said = {EXCLUSION_REASONS.get(code, code): number for code, number in report.excluded.items()}
        yield _counts_table("Number of items left out, by reason.", "Reason", said)


def _plan_facts(stored: StoredSet, report: SetReport) -> Iterator[tuple[str, str]]:
    yield "Seed", str(stored.seed)
    yield "Questions, completions", f"{stored.questions:,}, {stored.items:,}"
    config = json.loads(stored.config or "{}")
    named = config.items() if isinstance(config, dict) else [("config", config)]
    yield from ((f"Plan: {name}", _value_text(value)) for name, value in named)
    if report.missing_models:
        yield "Models it has no completion of", ", ".join(report.missing_models)


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _counts_table(caption: str, title: str, counts: dict[str, int]) -> Table:
    columns: Columns[str] = (word(title, str), count("Number", counts.__getitem__))
    return table(caption, columns, counts)


_STRATA: Columns[Stratum] = (
    word("Stratum", lambda one: one.name),
    count("There", lambda one: one.population),
    count("Wanted", lambda one: one.quota),
    count("Taken", lambda one: one.taken),
)
_SHORTFALL: Columns[Shortfall] = (
    word("Stratum", lambda one: one.stratum or "whole set"),
    word("Of", lambda one: one.of),
    word("Why", lambda one: one.why),
    count("Wanted", lambda one: one.wanted),
    count("There", lambda one: one.available),
    count("Taken", lambda one: one.taken),
)


def _shortfall_block(report: SetReport) -> Block:
    if not report.shortfall:
        return Paragraph("Nothing is missing.")
    return table("Missing items; it was not replaced.", _SHORTFALL, report.shortfall)


def labels(found: SetContents) -> Section:
    blocks: list[Block] = [Facts(tuple(_label_facts(found)))]
    correctness = found.contents.agreement
    if correctness is not None:
        blocks.append(Group(title="Correctness", blocks=agreement_blocks(correctness)))
    if found.types is not None:
        blocks.append(Group(title="Answer subtype", blocks=agreement_blocks(found.types)))
    if found.pool is not None:
        name, pool = found.pool
        said = Paragraph(
            f"All labels on the items that the set was chosen from, resolved or not, in the set or not: {name}."
        )
        blocks.append(Group(title="Correctness before the selection", blocks=(said, *agreement_blocks(pool))))
    if found.guideline is not None and found.guideline.text is not None:
        asked = Passage("Instructions to annotators", found.guideline.text)
        blocks.append(Case(title=f"Guidelines, version {found.guideline.version}", facts=(), passages=(asked,)))
    return Section("labels", "Labels and agreement", tuple(blocks))


def _label_facts(found: SetContents) -> Iterator[tuple[str, str]]:
    said = found.annotations
    origins = {name: number for name, number in found.contents.card.gold.items() if number}
    yield "Gold", ", ".join(f"{number:,} {name}" for name, number in origins.items())
    yield "Published labels", f"{counted(said.lines, 'line')} of {people(said.people)}"
    if said.guidelines:
        versions = ", ".join(
            f"{number:,} under {name or 'no known version'}" for name, number in said.guidelines.items()
        )
        yield "Guidelines of the lines", versions
    if found.stored.guideline is not None:
        yield "Guidelines in force when the set was frozen", f"version {found.stored.guideline}"
    for conflicts in said.conflicts:
        yield f"Conflicts, {conflicts.task}", _conflicts_text(conflicts)


def people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _conflicts_text(found: Conflicts) -> str:
    what = "item" if found.task == "correctness" else "question"
    said = f"{found.disputed:,} of {counted(found.labelled, what)} with two people's blind labels or more"
    ended = [f"{number:,} resolved as {value}" for value, number in found.settled.items()]
    if found.unsettled:
        ended.append(f"{found.unsettled:,} without a decision by a third person")
    return f"{said}: {', '.join(ended)}" if ended else said


def leaderboard(found: SetContents) -> Section:
    if all(line.kind == "baseline" for line in found.leaderboard):
        note: tuple[Block, ...] = (Paragraph("No verifier has judged these items yet."),)
    else:
        note = tuple(map(Paragraph, found.contents.overall.notes))
    runs = found.contents.runs
    made = (runs_table(runs, "Runs behind the metrics."),) if runs else ()
    blocks: list[Block] = [leaderboard_table(found.name, found.leaderboard), *note, *made]
    if found.undecided:
        blocks.append(Paragraph(f"Without any decided verdict, and so in no row: {', '.join(found.undecided)}."))
    return Section("leaderboard", "Leaderboard", tuple(blocks))


def limits(found: SetContents) -> Section:
    return Section("limits", "Known limits", (Facts(tuple(_limit_facts(found))),))


def _limit_facts(found: SetContents) -> Iterator[tuple[str, str]]:
    card, differing = found.contents.card, found.differing
    yield ("Type fields", "in the files of the released schema the two fields of the answer type are swapped")
    if differing.gold or differing.types:
        yield (
            "Changed since",
            f"the gold of {counted(differing.gold, 'item')} and the answer type of {counted(differing.types, 'item')} "
            "are not what they were when the set was frozen; the files have the values of the freezing",
        )
    if imported := card.gold.get("imported", 0):
        yield ("Gold from elsewhere", f"{imported:,} of {counted(found.stored.items, 'item')} have the imported label")
    unknown = [source for source in card.sources if source.items and not source.licence]
    if unknown:
        items = sum(source.items for source in unknown)
        yield (
            "Unknown licences",
            f"{counted(len(unknown), 'source')} with {counted(items, 'item')} have no known licence",
        )
    if found.annotations.later:
        yield "Later labels", f"{counted(found.annotations.later, 'label')} came after the set was frozen"
    if not found.annotations.lines:
        yield "No labels", "the database holds no labels of people for these items"
    if found.report.shortfall:
        yield "Shortfall", f"{counted(len(found.report.shortfall), 'part')} of it gave fewer items than wanted"
    if found.qualified:
        yield "Ids", "its data sets share ids, so that each id has its data set before it"
    if found.judges:
        names = ", ".join(dict.fromkeys(judge.verifier for judge in found.judges))
        yield "Selection", f"the set was chosen by verdicts of {names}: it is harder for them than for others"


def changes(found: SetContents) -> Section | None:
    since = found.changes
    if since is None:
        return None
    said: Block = (
        Facts(tuple(_change_facts(since)))
        if since.only_old or since.only_new or since.gold or since.subtypes or since.settings
        else Paragraph("Items, gold and types are the same.")
    )
    return Section("changes", f"Changes since version {found.stored.version - 1}", (said,))


def _change_facts(found: SetDiff) -> Iterator[tuple[str, str]]:
    for name, (old, new) in found.settings.items():
        yield f"Plan: {name}", f"{_value_text(old)}, now {_value_text(new)}"
    parts = {"Added": found.only_new, "Removed": found.only_old, "Other gold": found.gold, "Other type": found.subtypes}
    for name, rows in parts.items():
        if rows:
            more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
            yield name, f"{counted(len(rows), 'item')}: {', '.join(map(_diff_row_text, rows[:_NAMED]))}{more}"


def _diff_row_text(found: DiffRow) -> str:
    named = found.completion_id or found.question_id
    return named if found.before == found.after else f"{named} ({found.before}, now {found.after})"


def methods(found: SetContents) -> Section:
    measured = methods_section(found.contents)
    return Section("methods", "Methods", (Paragraph(" ".join(_origin_sentences(found))), *measured.blocks))


def _origin_sentences(found: SetContents) -> Iterator[str]:
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
        yield f"The verdicts of {names} selected its items; abstentions and errors were no votes."
    yield from _labelling_sentences(found)
    if missing := len(found.report.shortfall):
        yield f"{counted(missing, 'part')} of it gave fewer items than wanted; they were not replaced."


def _labelling_sentences(found: SetContents) -> Iterator[str]:
    agreement = found.contents.agreement
    if agreement is None:
        yield "The database holds no two people's blind labels of an item of it."
        return
    known = ", ".join(version for version in found.annotations.guidelines if version)
    under = f" under guidelines {known}" if known else ""
    yield (
        f"{people(agreement.annotators)} labelled its items{under}; labels of people who had seen gold, verdicts or "
        "others' labels don't count."
    )
    yield f"They agree on correctness on {_agreement_text(agreement)}."
    if found.pool is not None:
        yield f"On all items it was selected from, resolved or not, they agree on {_agreement_text(found.pool[1])}."
    if found.types is not None:
        yield f"On the answer subtype of questions they agree on {_agreement_text(found.types)}."
    for conflicts in found.annotations.conflicts:
        settled = sum(conflicts.settled.values())
        yield (
            f"On {conflicts.task} they differed on {conflicts.disputed:,} of {conflicts.labelled:,}; a third person "
            f"resolved {settled:,}."
        )


def _agreement_text(found: AgreementReport) -> str:
    return (
        f"{percentage(found.percent_agreement)} % of {found.paired:,} (Krippendorff's alpha "
        f"{decimal(found.krippendorff_alpha)}, Gwet's AC1 {decimal(found.gwet_ac1)})"
    )


SECTIONS: Final[tuple[Callable[[SetContents], Section | None], ...]] = (
    data,
    choice,
    labels,
    leaderboard,
    limits,
    changes,
)
"""The sections in reading order."""
