"""Builds picks: for each question, equal numbers of completions that a judge calls correct and incorrect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.benchmarks.building.candidates import (
    CandidateRows,
    chosen,
    composition,
    count_unanswered,
    counted,
    drawn_types,
    judging_run,
    questions,
    together,
    type_code,
)
from workbench.benchmarks.building.freezing import conditions, encoded, freeze_with_report
from workbench.benchmarks.capping import LACKS, Lack, Question, picked, shortage
from workbench.benchmarks.options import PicksOptions
from workbench.core.errors import Command
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Selection, selection_of
from workbench.core.sets import ItemMember, NewSet, SetReport, Shortfall, Stratum
from workbench.core.verdict import OutcomeCode
from workbench.measuring.columns import Columns, columns

if TYPE_CHECKING:
    from workbench.statistics.confusion import IntArray

_STEP: Final = "picks"


def build_picks(project: Project, options: PicksOptions) -> SetReport:
    """Freeze the completions that annotators are to label (VerifyBench, section 3.1): two correct and two incorrect
    ones of each question, by the judge's verdicts.

    An abstention, an error and a missing verdict count as neither. A question without enough of both kinds is left out
    and counted.

    Raises:
        UsageError: The judge has no such run; the selection names something unknown; nothing can be picked; or a
            benchmark of this name exists and differs.
    """
    judge, each, seed, selection = options.judge, options.each, options.seed, selection_of(options.where)
    number = judging_run(project, judge, options.run)

    def drawn(heard: CandidateRows) -> list[int]:
        return picked(heard.names, heard.correct, each, seed, (_STEP, heard.dataset, heard.key))

    judged = _judged_questions(project, selection, number, drawn, each)
    new = NewSet(
        name=options.name,
        kind="picks",
        seed=seed,
        config=encoded({"where": conditions(project, selection), "judges": {judge: number}, "each": each}),
        items=tuple(_item_members(judged)),
        runs=(number,),
    )
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=_strata(judged.types, judged.lacking),
        shortfall=_shortfall(judged.types, judged.lacking),
        excluded=together(judged.out, counted(filter(None, judged.lacking)), {"no_completions": judged.bare}),
        stages=_stage_counts(judged),
        judges={judge: number},
        next=Command("assign DB", where=f"set={options.name}", annotators="A,B").shell(),
        **composition(judged.known, new.items),
    )
    return freeze_with_report(
        project, new, report, dry_run=options.dry_run, new_version=options.new_version, judges=(judge,)
    )


class _PickedQuestions(Struct, frozen=True, eq=False):
    """Questions with their picked completions; a question with too few has all those that could be picked.

    Attributes:
        types: Each question's type: the one by which it was drawn, else its current type.
        lacking: Why each question can't be used; None if it can.
        said: The judge's outcomes on all completions.
        out: Reason -> number of items that no benchmark can contain.
        bare: Number of questions without completions.
    """

    known: Columns
    questions: list[Question]
    types: list[str]
    lacking: list[Lack | None]
    said: IntArray
    out: dict[str, int]
    bare: int


def _judged_questions(
    project: Project, selection: Selection, run: int, kept: Callable[[CandidateRows], Iterable[int]], each: int
) -> _PickedQuestions:
    known = columns(project)
    among = chosen(project, known, selection)
    said = known.outcome(run)[among.rows]
    found = questions(project, known, among.rows, said, kept)
    drawn = drawn_types(project, selection)
    types = [drawn.get(question.id, question.type) for question in found]
    lacking = [shortage(question, each) for question in found]
    return _PickedQuestions(known, found, types, lacking, said, among.out, count_unanswered(project, selection))


def _item_members(judged: _PickedQuestions) -> Iterator[ItemMember]:
    for question, stratum, why in zip(judged.questions, judged.types, judged.lacking, strict=True):
        if why is None:
            for one in question.completions:
                yield ItemMember(item=one.item, stratum=stratum, subtype=type_code(question.subtype, question.type))


def _strata(typed: Sequence[str], lacking: Sequence[Lack | None]) -> tuple[Stratum, ...]:
    population = Counter(typed)
    taken = Counter(type_ for type_, why in zip(typed, lacking, strict=True) if why is None)
    return tuple(
        Stratum(name=name, population=population[name], quota=population[name], taken=taken[name])
        for name in sorted(population)
    )


def _shortfall(typed: Sequence[str], lacking: Sequence[Lack | None]) -> tuple[Shortfall, ...]:
    told = []
    for stratum in _strata(typed, lacking):
        if stratum.taken == stratum.population:
            continue
        own = counted(why for type_, why in zip(typed, lacking, strict=True) if why and type_ == stratum.name)
        told.append(
            Shortfall(
                stratum=stratum.name,
                of="questions",
                wanted=stratum.population,
                available=stratum.taken,
                taken=stratum.taken,
                why="; ".join(f"{LACKS[why]}: {count:,}" for why, count in own.items()),
            )
        )
    return tuple(told)


def _stage_counts(judged: _PickedQuestions) -> dict[str, int]:
    words: dict[str, int] = {outcome.word: int((judged.said == outcome).sum()) for outcome in OutcomeCode}
    return {
        "questions": len(judged.questions) + judged.bare,
        "completions": len(judged.said),
        **words,
        "not_judged": len(judged.said) - sum(words.values()),
        "picked": judged.lacking.count(None),
    }
