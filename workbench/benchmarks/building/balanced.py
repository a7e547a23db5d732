"""Builds balanced benchmarks: a number of questions of each answer type, each with one correct and one incorrect
completion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from workbench.benchmarks.building.candidates import (
    chosen,
    composition,
    counted,
    guideline,
    labels,
    left_out,
    questions,
    together,
    type_code,
)
from workbench.benchmarks.building.freezing import conditions, encoded, freeze_with_report
from workbench.benchmarks.capping import LACKS, Caps, Lack, Question, shortage
from workbench.benchmarks.options import BalancedOptions
from workbench.benchmarks.quotas import Balanced, Quotas, balance, preset, read_quotas, undivided
from workbench.config.file import read_toml
from workbench.core.errors import Command, UsageError
from workbench.core.installed import find_page
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.sets import ItemMember, NewSet, Preset, SetReport, Shortfall, Stratum
from workbench.core.taxonomy import UNTYPED
from workbench.measuring.columns import columns

PER_TYPE = 250
"""Questions of each type in VerifyBench."""


def build_balanced(project: Project, options: BalancedOptions) -> SetReport:
    """Freeze a balanced benchmark (VerifyBench, section 3.1), with the requested number of questions of each type. The
    report lists types with too few questions (shortfalls).

    Each question has exactly one correct and one incorrect completion. A question's type is its current type. A
    shortfall is filled from other strata only if `BalancedOptions.fill` allows it.

    Raises:
        UsageError: The quotas can't be read; the selection names something unknown; nothing is left; or a benchmark of
            this name exists and differs.
    """
    selection, caps = selection_of(options.where), Caps(options.cap_source, options.cap_model)
    known = columns(project)
    among = chosen(project, known, selection)
    label = labels(project, known, among.rows, options.gold)
    pool = questions(project, known, among.rows, label.said)
    typed = [one for one in pool if one.type != UNTYPED]
    lacking = {one.id: shortage(one, 1) for one in typed}
    able = [one for one in typed if lacking[one.id] is None]
    quotas = _quotas(options, able)
    found = balance(able, quotas, caps, options.fill, options.seed)
    new = NewSet(
        name=options.name,
        kind="balanced",
        seed=options.seed,
        config=encoded({"where": conditions(project, selection), **_settings(options, quotas)}),
        gold=options.gold,
        guideline=guideline(project, options.gold),
        items=tuple(
            ItemMember(
                item=one.item,
                stratum=quotas.stratum(question),
                gold=one.correct,
                gold_from=label.of[one.item][1],
                subtype=type_code(question.subtype, question.type),
            )
            for question, both in found.chosen
            for one in both
        ),
    )
    ledger = Ledger(typed, lacking, quotas, found)
    untyped = {"untyped": len(pool) - len(typed)}
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=ledger.strata(),
        shortfall=ledger.shortfall(),
        excluded=together(among.out, label.out, counted(filter(None, lacking.values())), untyped),
        stages={
            "completions": len(label.said),
            "labelled": int((label.said >= 0).sum()),
            "questions": len(pool),
            "with_both": len(able),
            "chosen": len(found.chosen),
        },
        left_out=left_out(project, selection),
        next=Command(f"publish DB {new.name} FOLDER").shell(),
        **composition(known, new.items),
    )
    return freeze_with_report(project, new, report, dry_run=options.dry_run, new_version=options.new_version)


def _quotas(options: BalancedOptions, able: list[Question]) -> Quotas:
    if options.file is not None:
        if options.per_type is not None:
            raise UsageError("A file of quotas sets all numbers of questions.", "Leave the other options out.")
        try:
            return read_quotas(read_toml(options.file), str(options.file))
        except FileNotFoundError:
            raise UsageError(
                f"There is no file {options.file}.", f"A file of quotas is TOML: {find_page('building')}"
            ) from None
    there: dict[str, Counter[str]] = {}
    for question in able:
        there.setdefault(question.type, Counter())
        if question.subtype != UNTYPED:
            there[question.type][question.subtype] += 1
    per_type = PER_TYPE if options.per_type is None else options.per_type
    if options.quota is None:
        return undivided(per_type, set(there))
    return preset(cast("Preset", options.quota), per_type, there)


def _settings(options: BalancedOptions, quotas: Quotas) -> dict[str, Any]:
    return {
        "quota": quotas.wanted if options.file is not None else options.quota,
        "per_type": PER_TYPE if options.per_type is None and options.file is None else options.per_type,
        **{name: getattr(options, name) for name in ("cap_source", "cap_model", "fill", "gold")},
    }


# -- The strata of a balanced benchmark: requested and chosen numbers, and the reasons for shortfalls.


class Ledger:
    """The strata of a balanced benchmark and their shortfalls.

    Args:
        questions: All questions with a type.
        lacking: Question -> why it can't be chosen; None if it can.
        quotas: The requested numbers.
        found: The chosen questions.
    """

    def __init__(
        self, questions: Sequence[Question], lacking: Mapping[int, Lack | None], quotas: Quotas, found: Balanced
    ) -> None:
        self._quotas, self._found = quotas, found
        self._population = Counter(map(quotas.stratum, questions))
        self._lacking: dict[str, Counter[Lack]] = {}
        self._types: dict[str, dict[str, int]] = {type_: dict(strata) for type_, strata in quotas.wanted.items()}
        for question in questions:
            name = quotas.stratum(question)
            self._types.setdefault(question.type, {}).setdefault(name, 0)
            if (why := lacking[question.id]) is not None:
                self._lacking.setdefault(name, Counter())[why] += 1

    def strata(self) -> tuple[Stratum, ...]:
        return tuple(
            Stratum(name=name, population=self._population[name], quota=quota, taken=self._found.taken[name])
            for type_ in sorted(self._types)
            for name, quota in sorted(self._types[type_].items())
        )

    def shortfall(self) -> tuple[Shortfall, ...]:
        return (*self._type_shortfalls(), *self._subtype_shortfalls())

    def _type_shortfalls(self) -> Iterator[Shortfall]:
        for type_, strata in sorted(self._types.items()):
            wanted, taken = sum(strata.values()), sum(self._found.taken[name] for name in strata)
            if taken >= wanted:
                continue
            short = [name for name, quota in sorted(strata.items()) if self._found.taken[name] < quota]
            yield Shortfall(
                stratum=type_,
                of="questions",
                wanted=wanted,
                available=sum(self._available(type_, name) for name in strata),
                taken=taken,
                why=self._shortfall_reason(type_, type_, wanted) if type_ in strata else f"short of {', '.join(short)}",
            )

    def _subtype_shortfalls(self) -> Iterator[Shortfall]:
        for type_, strata in sorted(self._types.items()):
            for name, quota in sorted(strata.items()):
                if name != type_ and self._found.taken[name] < quota:
                    yield Shortfall(
                        stratum=name,
                        of="questions",
                        wanted=quota,
                        available=self._available(type_, name),
                        taken=self._found.taken[name],
                        why=self._shortfall_reason(type_, name, quota),
                    )

    def _available(self, type_: str, name: str) -> int:
        return self._found.available.get(type_, {}).get(name, 0)

    def _shortfall_reason(self, type_: str, name: str, wanted: int) -> str:
        population, available = self._population[name], self._available(type_, name)
        reasons = []
        if available < wanted:
            reasons.append(f"{available:,} of {population:,} questions have a correct and an incorrect completion")
            reasons += [f"{LACKS[why]}: {count:,}" for why, count in sorted(self._lacking.get(name, Counter()).items())]
        if self._found.taken[name] < min(available, wanted):
            reasons.append("the caps let in no more")
        return "; ".join(reasons)
