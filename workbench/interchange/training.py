"""Files to train with: conversations that verifiers call correct, and pairs of correct and incorrect completions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from workbench.core.item import StoredItem
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice
from workbench.data.alike import in_drawn_order
from workbench.data.formats.source import path_text
from workbench.data.formats.writing import write_lines
from workbench.data.store import reading as store
from workbench.interchange.records import ExportReport, Message, PairLine, PairsReport, SftLine, SftReport

# -- What an export is asked for.


Table = Literal["items", "labels", "verdicts"]


class Request(Struct, frozen=True, kw_only=True):
    """All that a writer may need; see `workbench.interchange.exporting.export`."""

    project: Project
    path: Path
    format: str
    table: Table = "items"
    selection: Selection = Selection()
    gold: GoldChoice = "final"
    names: bool = False
    sighted: bool = False
    force: bool = False
    system: str | None = None
    per_question: int | None = None
    seed: int = 0
    checks: bool = False
    calls: bool = True

    def report(self, written: int, **more: Any) -> ExportReport:
        """The report of so many rows."""
        return ExportReport(
            written=written,
            file=path_text(self.path),
            format=self.format,
            table=self.table,
            **more,
        )


def sft(request: Request) -> ExportReport:
    """Rejection sampling (VerifyBench, section 5.2): a conversation a completion, none twice in a question."""
    kept = _SftLines(request)
    written = write_lines(request.path, kept.lines(), force=request.force)
    return request.report(written, sft=kept.report())


def pairs(request: Request) -> ExportReport:
    """A line a question that has exactly one correct and one incorrect completion."""
    found = _Paired()
    written = write_lines(request.path, found.lines(_by_question(request)), force=request.force)
    return request.report(written, pairs=PairsReport(paired=written, **asdict(found.counts)))


def _by_question(request: Request) -> Iterator[list[StoredItem]]:
    """The chosen items, a question's completions together."""
    reader = request.project.database.reader()
    items = store.stream_items(reader, request.selection, request.gold, by_question=True)
    return (list(found) for _, found in groupby(items, key=lambda item: (item.dataset, item.question_key)))


class _SftLines:
    """The lines of ``sft``, and what was left out on the way."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._chosen = self._duplicates = self._beyond = self._questions = 0
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
        for items in _by_question(self._request):
            different = _different(items)
            drawn = self._drawn(different)
            self._chosen += len(items)
            self._duplicates += len(items) - len(different)
            self._beyond += len(different) - len(drawn)
            self._questions += 1
            yield from map(self._line, drawn)

    def report(self) -> SftReport:
        request, reader = self._request, self._request.project.database.reader()
        return SftReport(
            candidates=store.count_items(reader, self._open),
            verdicts={name: store.count_verdicts(reader, self._open, name) for name in self._judges},
            chosen=self._chosen,
            duplicates=self._duplicates,
            beyond=self._beyond,
            per_question=request.per_question,
            seed=None if request.per_question is None else request.seed,
            questions=self._questions,
        )

    def _drawn(self, items: list[StoredItem]) -> list[StoredItem]:
        """At most so many of a question's completions, in the order of import."""
        if self._request.per_question is None:
            return items
        order = in_drawn_order(items, self._request.seed, _known_by)
        chosen = {item.completion_key for item in order[: self._request.per_question]}
        return [item for item in items if item.completion_key in chosen]

    def _line(self, item: StoredItem) -> SftLine:
        system = self._request.system
        said = [Message("user", item.question), Message("assistant", item.completion)]
        return SftLine(
            messages=tuple(said if system is None else [Message("system", system), *said]),
            dataset=item.dataset,
            question_id=item.question_key,
            completion_id=item.completion_key,
            model=item.model or "",
            source=item.source or "",
            reference=item.reference,
            verifiers=self._accepted,
        )


def _different(items: list[StoredItem]) -> list[StoredItem]:
    """The first item of each text."""
    found: dict[str, StoredItem] = {}
    for item in items:
        found.setdefault(item.completion, item)
    return list(found.values())


def _known_by(item: StoredItem) -> tuple[str, ...]:
    return item.dataset, item.question_key, item.completion_key


class _ExportCounts(Struct):
    questions: int = 0
    one_kind: int = 0
    several: int = 0
    without_gold: int = 0


class _Paired:
    """The lines of ``pairs``, and why other questions have none."""

    def __init__(self) -> None:
        self.counts = _ExportCounts()

    def lines(self, questions: Iterable[list[StoredItem]]) -> Iterator[PairLine]:
        for items in questions:
            correct = [item for item in items if item.gold is True]
            incorrect = [item for item in items if item.gold is False]
            self.counts.questions += 1
            self.counts.without_gold += not correct and not incorrect
            self.counts.one_kind += bool(correct) is not bool(incorrect)
            self.counts.several += bool(correct and incorrect) and len(correct) + len(incorrect) > 2
            if len(correct) == len(incorrect) == 1:
                yield _pair(correct[0], incorrect[0])


def _pair(chosen: StoredItem, rejected: StoredItem) -> PairLine:
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
    )
