"""What a balanced set was to have of each type and subtype, what it has, and why it hasn't more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from workbench.benchmarks.balancing import Balanced
from workbench.benchmarks.questions import LACKS, Lack, Question
from workbench.benchmarks.quotas import Quotas
from workbench.core.sets import Shortfall, Stratum


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
