"""Balanced sets: so many questions of each answer type, each with one correct and one incorrect completion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbench.benchmarks.building.candidates import (
    Labels,
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
from workbench.benchmarks.building.freezing import conditions, encoded, settle
from workbench.benchmarks.capping import LACKS, Lack, Question, lack
from workbench.benchmarks.quotas import Balanced, Quotas, preset, read_quotas, undivided
from workbench.config.file import read_toml
from workbench.core.errors import UsageError
from workbench.core.label import ExcludedItem
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.sets import Fill, FinalGold, ItemMember, NewSet, Preset, SetReport, Shortfall, Stratum
from workbench.core.taxonomy import UNTYPED
from workbench.measuring.columns import Columns, columns

if TYPE_CHECKING:
    from workbench.benchmarks.capping import Chosen


PER_TYPE = 250
"""Questions of each type in VerifyBench."""


class BalancedTargets(Struct, frozen=True, kw_only=True):
    """What a balanced set is to have.

    Attributes:
        per_type: Questions of each type; None for `PER_TYPE`, and where a file says it.
        quota: How they are divided among subtypes; None for not at all.
        file: A TOML file that says how many of each subtype, or of a type as a whole; instead of both.
        cap_source: The most questions of one source; None for any number.
        cap_model: The most completions of one model; None for any number.
        fill: Who gives more where a subtype is short.
        gold: Whose labels count.
    """

    per_type: int | None = None
    quota: Preset | None = None
    file: Path | None = None
    cap_source: int | None = None
    cap_model: int | None = None
    fill: Fill = "none"
    gold: FinalGold = "people"


def build_balanced(
    project: Project,
    wanted: BalancedTargets,
    *,
    name: str = "balanced",
    selection: Selection | None = None,
    seed: int = 0,
    dry_run: bool = False,
    new_version: bool = False,
) -> SetReport:
    """Freeze a balanced set (VerifyBench, section 3.1): of each type as many questions as wanted, or a shortfall.

    Each question has exactly one correct and one incorrect completion. A question's type is the one in force. What is
    missing is never taken from elsewhere unless `BalancedTargets.fill` says so.

    Args:
        selection: Which items, such as the picks that people have labelled.

    Raises:
        UsageError: The quotas can't be read; the selection names something unknown; nothing is left; or a set of that
            name differs.
    """
    from workbench.benchmarks.capping import Caps
    from workbench.benchmarks.quotas import balance

    selection = selection or Selection()
    pool = _gathered(project, selection, wanted.gold)
    able = pool.able()
    quotas = _quotas(wanted, able)
    found = balance(able, quotas, Caps(wanted.cap_source, wanted.cap_model), wanted.fill, seed)
    new = NewSet(
        name=name,
        kind="balanced",
        seed=seed,
        config=encoded({"where": conditions(project, selection), **_settings(wanted, quotas)}),
        report="",
        gold=wanted.gold,
        guideline=guideline(project, wanted.gold),
        items=_members(found.chosen, quotas, pool.label),
    )
    report = _report(pool, quotas, found, new, left_out(project, selection))
    return settle(project, new, report, dry_run=dry_run, new_version=new_version)


class _QuestionPool(Struct, frozen=True, eq=False):
    """What a balanced set can be built from.

    Attributes:
        questions: All of them.
        lacking: Question that has a type -> why it can't be taken; None if it can.
        label: The gold of their completions.
        out: Reason -> items that are no part of any set.
    """

    known: Columns
    questions: list[Question]
    lacking: dict[int, Lack | None]
    label: Labels
    out: dict[str, int]

    def typed(self) -> list[Question]:
        """Those that have a type."""
        return [one for one in self.questions if one.id in self.lacking]

    def able(self) -> list[Question]:
        """Those that have a type, a correct and an incorrect completion."""
        return [one for one in self.typed() if self.lacking[one.id] is None]


def _gathered(project: Project, selection: Selection, gold: FinalGold) -> _QuestionPool:
    known = columns(project)
    among = chosen(project, known, selection)
    label = labels(project, known, among.rows, gold)
    found = questions(project, known, among.rows, label.said)
    lacking = {one.id: lack(one, 1) for one in found if one.type != UNTYPED}
    return _QuestionPool(known, found, lacking, label, among.out)


def _report(
    pool: _QuestionPool, quotas: Quotas, found: Balanced, new: NewSet, people_took_out: tuple[ExcludedItem, ...]
) -> SetReport:
    # GONE

    typed = pool.typed()
    ledger = Ledger(typed, pool.lacking, quotas, found)
    untyped = {"untyped": len(pool.questions) - len(typed)}
    return SetReport(
        name=new.name,
        version=None,
        kind="balanced",
        seed=new.seed,
        gold=new.gold,
        strata=ledger.strata(),
        shortfall=ledger.shortfall(),
        excluded=together(pool.out, pool.label.out, counted(filter(None, pool.lacking.values())), untyped),
        stages={
            "completions": len(pool.label.said),
            "labelled": int((pool.label.said >= 0).sum()),
            "questions": len(pool.questions),
            "with_both": len(pool.able()),
            "chosen": len(found.chosen),
        },
        left_out=people_took_out,
        next=f"workbench publish DB {new.name} FOLDER",
        **composition(pool.known, new.items),
    )


def _quotas(wanted: BalancedTargets, able: list[Question]) -> Quotas:
    if wanted.file is not None:
        if wanted.per_type is not None or wanted.quota is not None:
            raise UsageError("A file of quotas says all: how many questions of what.", "Leave the other options out.")
        try:
            return read_quotas(read_toml(wanted.file), str(wanted.file))
        except FileNotFoundError:
            raise UsageError(f"There is no file {wanted.file}.", "A file of quotas is TOML: docs/building.md") from None
    there: dict[str, Counter[str]] = {}
    for question in able:
        there.setdefault(question.type, Counter())
        if question.subtype != UNTYPED:
            there[question.type][question.subtype] += 1
    per_type = PER_TYPE if wanted.per_type is None else wanted.per_type
    if wanted.quota is None:
        return undivided(per_type, set(there))
    return preset(wanted.quota, per_type, there)


def _settings(wanted: BalancedTargets, quotas: Quotas) -> dict[str, Any]:
    """What the choice depends on besides the data; the numbers of a file rather than its name."""
    return {
        "quota": quotas.wanted if wanted.file is not None else wanted.quota,
        "per_type": PER_TYPE if wanted.per_type is None and wanted.file is None else wanted.per_type,
        "cap_source": wanted.cap_source,
        "cap_model": wanted.cap_model,
        "fill": wanted.fill,
        "gold": wanted.gold,
    }


def _members(balanced: Chosen, quotas: Quotas, label: Labels) -> tuple[ItemMember, ...]:
    return tuple(
        ItemMember(
            item=one.item,
            stratum=quotas.stratum(question),
            gold=one.correct,
            gold_from=label.of[one.item][1],
            subtype=type_code(question.subtype, question.type),
        )
        for question, both in balanced
        for one in both
    )


# -- What a balanced set was to have of each type and subtype, what it has, and why it hasn't more.


class Ledger:
    """The strata of a balanced set and what is missing in them.

    Args:
        questions: All that have a type.
        lacking: Question -> why it can't be taken; None if it can.
        quotas: What was wanted.
        found: What was chosen.
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
        """Every stratum, those that nothing was wanted of too; in questions."""
        return tuple(
            Stratum(name=name, population=self._population[name], quota=quota, taken=self._found.taken[name])
            for type_ in sorted(self._types)
            for name, quota in sorted(self._types[type_].items())
        )

    def shortfall(self) -> tuple[Shortfall, ...]:
        """Types that have fewer questions than wanted, then subtypes."""
        return (*self._of_types(), *self._of_subtypes())

    def _of_types(self) -> Iterator[Shortfall]:
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
                why=self._why(type_, type_, wanted) if type_ in strata else f"short of {', '.join(short)}",
            )

    def _of_subtypes(self) -> Iterator[Shortfall]:
        for type_, strata in sorted(self._types.items()):
            for name, quota in sorted(strata.items()):
                if name != type_ and self._found.taken[name] < quota:
                    yield Shortfall(
                        stratum=name,
                        of="questions",
                        wanted=quota,
                        available=self._available(type_, name),
                        taken=self._found.taken[name],
                        why=self._why(type_, name, quota),
                    )

    def _available(self, type_: str, name: str) -> int:
        return self._found.available.get(type_, {}).get(name, 0)

    def _why(self, type_: str, name: str, wanted: int) -> str:
        population, available = self._population[name], self._available(type_, name)
        told = []
        if available < wanted:
            told.append(f"{available:,} of {population:,} questions have a correct and an incorrect completion")
            told += [f"{LACKS[why]}: {count:,}" for why, count in sorted(self._lacking.get(name, Counter()).items())]
        if self._found.taken[name] < min(available, wanted):
            told.append("the caps let in no more")
        return "; ".join(told)
