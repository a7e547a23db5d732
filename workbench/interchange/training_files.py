"""Write training files: conversations with correct completions, and pairs of a correct and an incorrect completion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import lcm
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct, structs

from workbench.core.database.selection import count_items
from workbench.core.errors import UsageError, opt
from workbench.core.item import StoredItem
from workbench.core.selection import Selection
from workbench.core.text.figures import counted
from workbench.data.alike import in_drawn_order
from workbench.data.store import reading as store
from workbench.interchange.records import Message, PairLine, PairsReport, SftLine, SftReport

if TYPE_CHECKING:
    from workbench.interchange.exporting import Request

T = TypeVar("T")
_GOLD: Final = {True: "correct", False: "incorrect", None: "none"}


def _items_by_question(request: Request, judges: tuple[str, ...] = ()) -> Iterator[list[StoredItem]]:
    reader = request.project.database.reader()
    items = store.stream_items(reader, request.selection, request.options.gold, by_question=True, judges=judges)
    return (list(found) for _, found in groupby(items, key=lambda item: (item.dataset, item.question_key)))


class SftLines:
    """The lines of the format ``sft``, and counts of omitted completions."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._chosen = self._duplicates = self._beyond = self._questions = 0
        self._gold = Counter[str]()
        conditions = request.selection.conditions
        judged = [condition for condition in conditions if condition.field.startswith("verdict:")]
        self._open = Selection(tuple(condition for condition in conditions if condition not in judged))
        names = [condition.field.removeprefix("verdict:") for condition in judged]
        self._judges = list(dict.fromkeys(names))
        self._accepted = tuple(
            dict.fromkeys(
                name
                for name, condition in zip(names, judged, strict=True)
                if (condition.operator, condition.value) == ("=", "correct")
            )
        )

    def lines(self) -> Iterator[SftLine]:
        """Yield the lines.

        Raises:
            UsageError: There are no lines.
        """
        for items in _items_by_question(self._request):
            different = _distinct_texts(items)
            drawn = self._draw_limited(different)
            self._chosen += len(items)
            self._duplicates += len(items) - len(different)
            self._beyond += len(different) - len(drawn)
            self._questions += 1
            self._gold.update(_GOLD[item.gold] for item in drawn)
            yield from map(self._line, drawn)
        if not self._chosen:
            raise self._nothing()

    def _nothing(self) -> UsageError:
        found = self.report()
        reasons = "; ".join(
            f"{name} on them: {', '.join(f'{number} {word}' for word, number in words.items())}"
            for name, words in found.verdicts.items()
        )
        of = f"{counted(found.candidates, 'candidate')} {'is' if found.candidates == 1 else 'are'} there"
        return UsageError(f"No completion is selected: nothing is written. {of}{f'; {reasons}' if reasons else ''}.")

    def report(self) -> SftReport:
        request, reader = self._request, self._request.project.database.reader()
        return SftReport(
            candidates=count_items(reader, self._open),
            verdicts={name: store.count_verdicts(reader, self._open, name) for name in self._judges},
            chosen=self._chosen,
            duplicates=self._duplicates,
            beyond=self._beyond,
            per_question=request.options.per_question,
            seed=None if request.options.per_question is None else request.options.seed,
            questions=self._questions,
            gold={word: self._gold[word] for word in _GOLD.values()},
        )

    def _draw_limited(self, items: list[StoredItem]) -> list[StoredItem]:
        if self._request.options.per_question is None:
            return items
        order = in_drawn_order(items, self._request.options.seed, _draw_key)
        chosen = {item.completion_key for item in order[: self._request.options.per_question]}
        return [item for item in items if item.completion_key in chosen]

    def _line(self, item: StoredItem) -> SftLine:
        system = self._request.options.system
        messages = [Message("user", item.question), Message("assistant", item.completion)]
        return SftLine(
            messages=tuple(messages if system is None else [Message("system", system), *messages]),
            dataset=item.dataset,
            question_id=item.question_key,
            completion_id=item.completion_key,
            model=item.model or "",
            source=item.source or "",
            reference=item.reference,
            verifiers=self._accepted,
        )


def _distinct_texts(items: Iterable[StoredItem]) -> list[StoredItem]:
    found: dict[str, StoredItem] = {}
    for item in items:
        found.setdefault(item.completion, item)
    return list(found.values())


def _draw_key(item: StoredItem) -> tuple[str, ...]:
    return item.dataset, item.question_key, item.completion_key


# -- Pairs.


class _PairCounts(Struct):
    questions: int = 0
    paired: int = 0
    possible: int = 0
    one_kind: int = 0
    undecided: int = 0
    both: int = 0


class PairLines:
    """The lines of the format ``pairs``, and counts of questions without pairs.

    Verdicts define correctness if verifiers are named, else gold. A question's pairs are the first ones of `crossed`,
    with correct and incorrect completions each in an order drawn by the seed: both are iterated in parallel and
    restarted at their ends, as by Pang et al. (Iterative Reasoning Preference Optimization, 2024).
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._judges = request.options.verifiers
        self._most = request.options.per_question or 1
        self._counts = _PairCounts()

    def lines(self) -> Iterator[PairLine]:
        """Yield the lines.

        Raises:
            UsageError: There are no lines.
        """
        counts = self._counts
        for items in _items_by_question(self._request, self._judges):
            counts.questions += 1
            right, wrong = ([item for item in items if item.gold is said] for said in (True, False))
            shared = {item.completion for item in right} & {item.completion for item in wrong}
            counts.both += len(shared)
            correct, incorrect = (
                in_drawn_order(
                    _distinct_texts(item for item in found if item.completion not in shared),
                    self._request.options.seed,
                    _draw_key,
                )
                for found in (right, wrong)
            )
            counts.undecided += not right and not wrong
            counts.one_kind += bool(right or wrong) and not (correct and incorrect)
            counts.possible += len(correct) * len(incorrect)
            counts.paired += bool(correct and incorrect)
            yield from (self._line(*pair) for pair in crossed(correct, incorrect, self._most))
        if not counts.paired:
            raise self._nothing()

    def _nothing(self) -> UsageError:
        counts, by = self._counts, f"the verdicts of {' and '.join(self._judges)}" if self._judges else "gold"
        hint = ""
        if any(condition.field.startswith("verdict:") for condition in self._request.selection.conditions):
            hint = f"Leave out {opt.where:verdict=…}: {opt.verifier} says which are correct."
        elif not self._judges:
            hint = f"Name the verifier that decides: {opt.verifier:NAME}"
        return UsageError(
            f"No pair can be made by {by}: nothing is written. Of {counted(counts.questions, 'question')} "
            f"{counts.one_kind} have only correct or only incorrect completions, {counts.undecided} none "
            "called either.",
            hint,
        )

    def report(self) -> PairsReport:
        return PairsReport(
            **structs.asdict(self._counts),
            per_question=self._most,
            seed=self._request.options.seed,
            verifiers=self._judges,
        )

    def _line(self, chosen: StoredItem, rejected: StoredItem) -> PairLine:
        return PairLine(
            question=chosen.question,
            reference=chosen.reference,
            chosen=chosen.completion,
            rejected=rejected.completion,
            dataset=chosen.dataset,
            question_id=chosen.question_key,
            chosen_id=chosen.completion_key,
            rejected_id=rejected.completion_key,
            chosen_model=chosen.model or "",
            rejected_model=rejected.model or "",
            source=chosen.source or "",
            verifiers=self._judges,
        )


def crossed(left: list[T], right: list[T], most: int) -> Iterator[tuple[T, T]]:
    """Yield distinct pairs: both lists in parallel, then with the second shifted by one, and so on."""
    count = len(left) * len(right)
    for place in range(min(most, count)):
        yield left[place % len(left)], right[(place + place // lcm(len(left), len(right))) % len(right)]


def sft_lines(report: SftReport) -> Iterator[str]:
    for verifier, verdicts in report.verdicts.items():
        said = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
        yield f"{verifier} on {report.candidates} candidates: {said}"
    yield (
        f"{report.chosen} completions of {report.questions} questions chosen; left out: {report.duplicates} with the "
        f"text of another, {report.beyond} beyond {opt.per_question}"
        + ("" if report.seed is None else f" (seed {report.seed})")
    )
    if wrong := report.gold["incorrect"]:
        yield (
            f"{wrong:,} of the {sum(report.gold.values()):,} written are incorrect by gold: "
            f"{opt.where:gold=correct} leaves these out."
        )


def pairs_lines(report: PairsReport) -> Iterator[str]:
    by = f"the verdicts of {' and '.join(report.verifiers)}" if report.verifiers else "gold"
    yield (
        f"{report.paired} of {report.questions} questions make pairs by {by}: at most {report.per_question} each "
        f"({opt.per_question}), drawn by seed {report.seed} of {report.possible:,} possible ones; {report.one_kind} "
        f"have only correct or only incorrect completions, {report.undecided} have none called either"
    )
    if report.both:
        yield f"{counted(report.both, 'text')} left out: called both correct and incorrect."
