"""Find phrasings that suddenly become frequent among accepted completions: exploits repeat themselves, answers don't.

A phrasing is three consecutive words, with digits separated. For each phrasing the test counts the questions of a step
with an accepted completion that contains it. The null hypothesis: its share is at most one in a hundred, at most twice
the earlier share, and at most twice the share among questions with a rejected completion, so that a style that spreads
everywhere raises no alarm. The evidence is an e-detector (Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric
framework for sequential change detection", New England Journal of Statistics in Data Science 2, 2024): M = (M + 1) L
with a likelihood ratio L of mean at most 1 under the hypothesis. Each phrasing gets a share of 1 by the order of its
first occurrence (a union bound); an alarm is raised when M times the share reaches `STEPS`, so that the mean time to a
false alarm is
at least that many steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import exp, log, log1p, pi
from typing import Final, NamedTuple

from msgspec import Struct

from workbench.core.text.wordings import Wording, word_trigrams

STEPS: Final = 20_000
"""Minimum mean number of steps to a false alarm."""
LEARNING_STEPS: Final = 5
"""Number of first steps in which the initial phrasings are learnt and nothing is tested."""
_FLOOR: Final = 0.01
_TIMES: Final = 2.0
_MIN_QUESTIONS: Final = 3
"""Minimum questions of a step with a phrasing for it to be tested."""
_MEMORY: Final = 1 / 50
_PIECE_PHRASINGS: Final = 16
"""Number of phrasings tested before other work may run; testing them takes some tens of microseconds."""
_RISING: Final = log(100.0)
_DEAD: Final = -20.0
_RATIOS: Final = (3.0, 10.0, 30.0)
"""Tested ratios of a phrasing's frequency to that under the hypothesis; at most half way to 1."""


class Alarm(NamedTuple):
    """A phrasing that suddenly became frequent.

    Attributes:
        wording: The three words; ``^`` and ``$`` are beginning and end.
        example: A completion with the phrasing.
        before: Its earlier share of the questions with an accepted completion.
        accepted: The same share at this step.
        rejected: Its share of the questions with a rejected completion; None without such questions.
        evidence: The logarithm of M times the phrasing's share of 1.
    """

    step: int
    wording: str
    example: str
    before: float
    accepted: float
    rejected: float | None
    evidence: float


class _PhrasingState(Struct, array_like=True):
    """The state of one phrasing.

    Attributes:
        number: Its position in the order of first occurrence, from 1.
        rate: Its usual share of the questions with an accepted completion.
        evidence: The logarithm of M; None without evidence.
    """

    number: int
    rate: float = 0.0
    evidence: float | None = None

    @property
    def weight(self) -> float:
        return float("-inf") if self.evidence is None else self.evidence


class KnownWordings(Struct, frozen=True):
    """The state of a `WordingWatch`; a watch that is started with it continues as if it had never ended.

    Attributes:
        steps: Number of steps seen.
        numbers: Number of phrasings seen.
        known: The state of each phrasing that is not rare.
        raised: Phrasings that an alarm was raised for.
    """

    steps: int = 0
    numbers: int = 0
    known: list[tuple[Wording, _PhrasingState]] = []
    raised: list[Wording] = []


class _QuestionsOfVerdict:
    def __init__(self) -> None:
        self.of: dict[object, set[Wording]] = {}
        self.counts: Counter[Wording] = Counter()

    def add(self, question: object, found: set[Wording]) -> set[Wording]:
        known = self.of.setdefault(question, set())
        new = found - known
        known |= new
        self.counts.update(new)
        return new

    def share(self, wording: Wording) -> float:
        return self.counts[wording] / len(self.of) if self.of else 0.0


class WordingWatch:
    """Watches the phrasings of a training, step by step.

    Args:
        learnt: The state of an earlier watch to continue.
    """

    def __init__(self, learnt: KnownWordings | None = None) -> None:
        learnt = learnt or KnownWordings()
        self.steps, self._numbers = learnt.steps, learnt.numbers
        self._known = dict(learnt.known)
        self._raised = set(learnt.raised)
        self._forget_rare()
        self._begin_step()

    @property
    def learnt(self) -> KnownWordings:
        return KnownWordings(self.steps, self._numbers, list(self._known.items()), sorted(self._raised))

    def _begin_step(self) -> None:
        self._accepted, self._rejected = _QuestionsOfVerdict(), _QuestionsOfVerdict()
        self._often: set[Wording] = set()
        self._examples: dict[Wording, str] = {}

    def add(self, question: object, completion: str, *, accepted: bool) -> bool:
        found = word_trigrams(completion)
        if not accepted:
            self._rejected.add(question, found)
            return False
        counts = self._accepted.counts
        for wording in self._accepted.add(question, found):
            if counts[wording] == _MIN_QUESTIONS:
                self._often.add(wording)
                self._examples[wording] = completion
        return not self._rising.isdisjoint(found)

    def close(self, step: int, give_way: Callable[[], None] = lambda: None) -> list[Alarm]:
        """End a step; return an alarm for each phrasing that became too frequent in it, the strongest evidence first.

        Args:
            give_way: Called before each piece of the work, to let other work run first.
        """
        alarms = list(self._test_phrasings(step, give_way))
        self.steps += 1
        self._begin_step()
        return sorted(alarms, key=lambda one: (-one.evidence, one.wording))

    def _test_phrasings(self, step: int, give_way: Callable[[], None]) -> Iterator[Alarm]:
        questions = len(self._accepted.of)
        if not questions:
            return
        for place, wording in enumerate([*self._known, *sorted(self._often - self._known.keys())]):
            if place % _PIECE_PHRASINGS == 0:
                give_way()
            known = self._known.get(wording)
            if known is None:
                self._numbers += 1
                known = self._known[wording] = _PhrasingState(self._numbers)
            now, before = self._accepted.share(wording), known.rate
            if self.steps >= LEARNING_STEPS and wording not in self._raised:
                bound = max(_FLOOR, _TIMES * before, _TIMES * self._rejected.share(wording))
                known.evidence = _next_evidence(known.weight, self._accepted.counts[wording], questions, bound)
                if known.weight >= log(STEPS) + _log_cost(known.number):
                    self._raised.add(wording)
                    yield Alarm(
                        step=step,
                        wording=" ".join(wording),
                        example=self._examples.get(wording, ""),
                        before=before,
                        accepted=now,
                        rejected=self._rejected.share(wording) if self._rejected.of else None,
                        evidence=known.weight - _log_cost(known.number),
                    )
            # The first steps count in full, so that usual phrasings are known after a few steps.
            known.rate += max(_MEMORY, 1 / (self.steps + 1)) * (now - before)
        self._forget_rare()

    def _forget_rare(self) -> None:
        self._rising = {wording for wording, known in self._known.items() if known.weight >= _RISING}
        self._rising |= self._raised
        gone = [wording for wording, known in self._known.items() if known.rate < _FLOOR / 10 and known.weight < _DEAD]
        for wording in gone:
            del self._known[wording]


def _log_cost(number: int) -> float:
    """Return minus the logarithm of the share of 1 of the phrasing with a number: 6 / (pi number)²."""
    return log(pi**2 / 6) + 2 * log(number)


def _next_evidence(evidence: float, count: int, questions: int, bound: float) -> float | None:
    """Return the logarithm of (M + 1) L after a step."""
    if bound >= 1:
        return None
    before = max(evidence, 0.0) + log1p(exp(-abs(evidence)))
    return before + _log_likelihood_ratio(count, questions, bound)


def _log_likelihood_ratio(count: int, questions: int, bound: float) -> float:
    rates = [min(times * bound, (1 + bound) / 2) for times in _RATIOS]
    found = [count * log(rate / bound) + (questions - count) * log((1 - rate) / (1 - bound)) for rate in rates]
    most = max(found)
    return most + log(sum(exp(one - most) for one in found) / len(found))
