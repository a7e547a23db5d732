"""Builds picks: for each question, equal numbers of completions that a judge calls correct and incorrect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

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
from workbench.benchmarks.capping import LACKS, Lack, picked, shortage
from workbench.benchmarks.options import PicksOptions
from workbench.core.errors import Command
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.sets import ItemMember, NewSet, SetReport, Shortfall, Stratum
from workbench.core.verdict import OutcomeCode
from workbench.measuring.columns import columns

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

    known = columns(project)
    among = chosen(project, known, selection)
    outcomes = known.outcome(number)[among.rows]
    found = questions(project, known, among.rows, outcomes, drawn)
    by = drawn_types(project, selection)
    # Each question's type is the one by which it was drawn, else its current one.
    types = [by.get(question.id, question.type) for question in found]
    lacking = [shortage(question, each) for question in found]
    bare, strata = count_unanswered(project, selection), _strata(types, lacking)
    new = NewSet(
        name=options.name,
        kind="picks",
        seed=seed,
        config=encoded({"where": conditions(project, selection), "judges": {judge: number}, "each": each}),
        items=tuple(
            ItemMember(item=one.item, stratum=stratum, subtype=type_code(question.subtype, question.type))
            for question, stratum, why in zip(found, types, lacking, strict=True)
            if why is None
            for one in question.completions
        ),
        runs=(number,),
    )
    words: dict[str, int] = {outcome.word: int((outcomes == outcome).sum()) for outcome in OutcomeCode}
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=strata,
        shortfall=_shortfall(strata, types, lacking),
        excluded=together(among.out, counted(filter(None, lacking)), {"no_completions": bare}),
        stages={
            "questions": len(found) + bare,
            "completions": len(outcomes),
            **words,
            "not_judged": len(outcomes) - sum(words.values()),
            "picked": lacking.count(None),
        },
        judges={judge: number},
        next=Command("assign DB", where=f"set={options.name}", annotators="A,B").shell(),
        **composition(known, new.items),
    )
    return freeze_with_report(
        project, new, report, dry_run=options.dry_run, new_version=options.new_version, judges=(judge,)
    )


def _strata(typed: Sequence[str], lacking: Sequence[Lack | None]) -> tuple[Stratum, ...]:
    population = Counter(typed)
    taken = Counter(type_ for type_, why in zip(typed, lacking, strict=True) if why is None)
    return tuple(
        Stratum(name=name, population=population[name], quota=population[name], taken=taken[name])
        for name in sorted(population)
    )


def _shortfall(
    strata: Sequence[Stratum], typed: Sequence[str], lacking: Sequence[Lack | None]
) -> tuple[Shortfall, ...]:
    reasons = []
    for stratum in strata:
        if stratum.taken == stratum.population:
            continue
        own = counted(why for type_, why in zip(typed, lacking, strict=True) if why and type_ == stratum.name)
        reasons.append(
            Shortfall(
                stratum=stratum.name,
                of="questions",
                wanted=stratum.population,
                available=stratum.taken,
                taken=stratum.taken,
                why="; ".join(f"{LACKS[why]}: {count:,}" for why, count in own.items()),
            )
        )
    return tuple(reasons)
