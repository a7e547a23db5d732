"""Everything a data card says of a set, counted by what every other table is counted by."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct, structs

from workbench.benchmarks.building.comparing import set_diff
from workbench.benchmarks.building.described import report_of
from workbench.benchmarks.card.contents import GuidelineVersion, SetContents
from workbench.benchmarks.publication import Differing
from workbench.benchmarks.publishing.annotations import SubjectAnnotations, counted_annotations
from workbench.benchmarks.publishing.frozen import FrozenSet, frozen_columns, selection_of
from workbench.benchmarks.publishing.leaderboard import Board, board_of
from workbench.benchmarks.set_views import SetDiff
from workbench.benchmarks.store import building, published
from workbench.core.database import sets
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.sets import SetName, SetReport, StoredSet
from workbench.core.verdict import Protocol3
from workbench.data.store import licences
from workbench.data.store.exporting import annotator_names
from workbench.labelling import labelling_guidelines
from workbench.labelling.agreement.measuring import agreement
from workbench.measuring.columns import Columns
from workbench.measuring.records.card import DataCard, NamedCount
from workbench.measuring.report.card import data_card
from workbench.measuring.report.contents import Contents, RunFacts
from workbench.measuring.report.gathering import run_facts, software
from workbench.measuring.report.people import renamed
from workbench.statistics.records.agreement import AgreementReport


class PublishingOptions(Struct, frozen=True, kw_only=True):
    """How sets are published.

    Attributes:
        protocol: What an abstention and an error count as on the leaderboard.
        names: Annotators' names instead of pseudonyms.
    """

    protocol: Protocol3 = "forced"
    names: bool = False


def gather(
    project: Project,
    frozen: FrozenSet,
    config: str,
    said: Sequence[SubjectAnnotations],
    people: dict[int, str],
    asked: PublishingOptions,
) -> SetContents:
    """Count everything about one set.

    Args:
        config: What the set is called in the folder.
        said: What people said of its items.
        people: What each of them is called in the files.

    Raises:
        StoreError: The report the set was frozen with can't be read.
    """
    stored, reader = frozen.stored, project.database.reader()
    report = report_of(stored)
    known = frozen_columns(project, frozen)
    board = board_of(project, frozen, known, asked.protocol)
    called = {name: people[person] for person, name in annotator_names(reader).items()}
    annotated, drawn = published.annotated_in(reader, stored), published.drawn_from(reader, stored)
    judges = [run_facts(project, run) for run in stored.runs]
    return SetContents(
        config=config,
        stored=stored,
        report=report,
        contents=_contents(project, frozen, known, board, report, judges, called, drawn),
        types=_agreement(project, frozen.selection, "type", called),
        pool=_pool(project, frozen, annotated, called),
        made_of=[(one, report_of(one)) for one in (annotated, drawn) if one is not None],
        judges=judges,
        annotations=counted_annotations(said, stored.created_at),
        guideline=None if stored.guideline is None else _guideline(project, stored.guideline),
        leaderboard=board.lines,
        undecided=board.undecided,
        differing=_differing(project, frozen),
        changes=_changes(project, frozen),
        qualified=frozen.qualified,
    )


def _differing(project: Project, frozen: FrozenSet) -> Differing:
    """How many items people say something else of today."""
    found = building.changed(project.database.reader(), frozen.stored.id, frozen.stored.gold)
    return Differing(gold=found.gold, types=found.subtype)


def _changes(project: Project, frozen: FrozenSet) -> SetDiff | None:
    """The version before against this one; None for a first version."""
    before = SetName(frozen.stored.name, frozen.stored.version - 1)
    if sets.find(project.database.reader(), before) is None:
        return None
    return set_diff(project, str(before), str(frozen.name))


def _contents(
    project: Project,
    frozen: FrozenSet,
    known: Columns,
    board: Board,
    report: SetReport,
    judges: list[RunFacts],
    called: dict[str, str],
    drawn: StoredSet | None,
) -> Contents:
    stored, selection = frozen.stored, frozen.selection
    card = data_card(project, selection, "final", known=known, together=frozen.title)
    chose = sorted({run.verifier for run in judges})
    return Contents(
        database=frozen.title,
        selection=str(selection),
        protocol=board.overall.protocol,
        gold_choice=stored.gold or "final",
        generated_at=stored.created_at,
        card=structs.replace(
            card,
            sources=_drawn(project, card, drawn),
            exclusions=report.excluded,
            selection_judges=card.selection_judges | ({frozen.title: chose} if chose else {}),
        ),
        overall=board.overall,
        by={},
        confusions=[],
        family=None,
        scores=[],
        validity=None,
        agreement=_agreement(project, selection, "correctness", called),
        errors=[],
        examples=0,
        runs=board.runs,
        software=software(project, None),
    )


def _drawn(project: Project, card: DataCard, drawn: StoredSet | None) -> list[NamedCount]:
    """The sources with how many questions each gave to choose from; those that gave the set nothing come last."""
    reader = project.database.reader()
    given, known = published.questions_by_source(reader, None if drawn is None else drawn.id), licences.known(reader)
    there = {row.name for row in card.sources}
    unused = [
        NamedCount(name=name, items=0, questions=0, correct=0, licence=known.get(name))
        for name in sorted(given.keys() - there)
    ]
    return [structs.replace(row, drawn=given.get(row.name, 0)) for row in (*card.sources, *unused)]


def _agreement(project: Project, selection: Selection, task: Task, called: dict[str, str]) -> AgreementReport | None:
    """How far people agree on the chosen items, with intervals; None where no item has two labels."""
    found = agreement(project, task, selection=selection)
    return renamed(found.with_intervals(), called) if found.report.paired else None


def _pool(
    project: Project, frozen: FrozenSet, annotated: StoredSet | None, called: dict[str, str]
) -> tuple[str, AgreementReport] | None:
    """Agreement on all items that the set was made of, whatever became of them."""
    selection = _made_of(frozen.stored, annotated)
    found = _agreement(project, selection, "correctness", called)
    if found is None or len(chosen_ids(project.database.reader(), selection)) == frozen.stored.items:
        return None
    return str(selection), found


def _made_of(stored: StoredSet, annotated: StoredSet | None) -> Selection:
    """The set that was labelled, else the items that the plan names, else all."""
    if annotated is not None:
        return selection_of(annotated)
    try:
        where = msgspec.json.decode(stored.config, type=_PlannedItems).where
    except msgspec.MsgspecError:
        where = ()
    return Selection(tuple(map(parse_condition, where)))


class _PlannedItems(Struct):
    """What a plan says of the items to choose from."""

    where: tuple[str, ...] = ()


def _guideline(project: Project, version: str) -> GuidelineVersion:
    try:
        return GuidelineVersion(version=version, text=labelling_guidelines.of_version(project, version).text)
    except UsageError:
        return GuidelineVersion(version=version, text=None)
