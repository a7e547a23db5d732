"""Triage: assigns causes to the wrong verdicts of a cell or a queue, case by case, and summarises the causes in a
paragraph.

A cause is a mark on a verdict, stored by `deciding`; a custom cause is a mark of the category ``other`` whose note is
its name. This module never decides whether two answers are equal.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, structs

from workbench.core.errors import UsageError
from workbench.core.final_answer import FinalAnswer
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import counted, percent
from workbench.core.verdict import OutcomeWord
from workbench.data.records import BrowseQuery, ItemDetail, ItemVerdict
from workbench.measuring import browsing
from workbench.measuring.accuracy_items import AccuracyCell, JudgedItems
from workbench.measuring.judged import BASELINE
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory, GoldWord, Queue, Review, RunVote
from workbench.measuring.reviewing import deciding
from workbench.measuring.reviewing.differences import LONGEST, DifferenceKind, Differences, differences
from workbench.measuring.reviewing.queues import ReviewQueue, queue
from workbench.measuring.store import reviews
from workbench.tables.document import Table
from workbench.tables.table import Column, Columns, count, table, text, word

if TYPE_CHECKING:
    from workbench.measuring.briefing import ProjectFacts
    from workbench.statistics.records.report import AccuracyRow


class TriageScope(NamedTuple):
    """The items and verifiers of a triage.

    Attributes:
        words: A description of the items: ``type C``, ``queue verifier-gold``.
        verifiers: The verifiers whose errors are triaged.
        items: Row ids of the items on which one of these verifiers contradicts gold, in order of display.
        judged: Number of items from which they were chosen; None if unknown.
        protocol: How undecided verdicts were counted; empty if not applicable.
        queue: The queue of the items, if any.
    """

    words: str
    verifiers: tuple[str, ...]
    items: array[int]
    judged: int | None = None
    protocol: str = ""
    queue: Queue | None = None


class Cause(NamedTuple):
    """The cause of an error: a category of the taxonomy, or a reviewer's custom one.

    Attributes:
        own: The name of a custom cause, whose category is ``other``; empty for a category of the taxonomy.
    """

    category: ErrorCategory
    own: str = ""

    @property
    def name(self) -> str:
        return self.own or self.category


class TriageCase(Struct, frozen=True, kw_only=True):
    """One item as a triage card shows it; texts are cut to fit the card.

    Attributes:
        id: The completion's row id.
        reference: The reference's final answer; empty if none was found.
        reference_found: How it was found.
        reference_end: The reference's end, if no final answer was found.
        answer: The completion's final answer; empty if none was found.
        answer_found: How it was found.
        before: The text before the completion's final answer, within its sentence.
        after: The text after the completion's final answer, within its sentence.
        erring: The triaged verdicts that contradict gold; undecided verdicts only if none of them is decided.
        read: The answers that the first of the erring verdicts compared, if they differ from the card's; else None.
        reason: The reason code of the first of the erring verdicts; empty without one.
        reviews: Reviews of the item that are not retracted, the newest last.
        is_code: Whether reference and completion are programs, shown instead of final answers; differences are not
            named.
    """

    id: int
    completion_id: str
    subtype: str
    question: str
    reference: str
    reference_found: str
    reference_end: str
    answer: str
    answer_found: str
    before: str
    after: str
    differences: Differences
    gold: GoldWord
    votes: tuple[RunVote, ...]
    erring: tuple[RunVote, ...]
    read: tuple[str, str] | None = None
    reason: str = ""
    reviews: tuple[Review, ...] = ()
    is_code: bool = False

    @property
    def likeness(self) -> tuple[tuple[DifferenceKind, ...], GoldWord, int]:
        """Return the key that similar cases share: the kinds of differences, and gold. Programs are never similar."""
        return self.differences.kinds, self.gold, self.id if self.is_code else 0

    @property
    def verdict(self) -> OutcomeWord:
        return self.erring[0].verdict


class CauseMark(NamedTuple):
    completion: int
    verifier: str
    type: str
    subtype: str
    cause: Cause


class TriageTally(NamedTuple):
    """The progress of a triage.

    Attributes:
        marks: The causes that are not retracted, in the order in which they were given.
        done: Row ids of items with a cause.
        sent_back: Row ids of items without a cause that were sent back to annotators.
    """

    scope: TriageScope
    marks: tuple[CauseMark, ...]
    done: frozenset[int]
    sent_back: frozenset[int]

    @property
    def left(self) -> int:
        return len(self.scope.items) - len(self.done) - len(self.sent_back)


class TriageLine(Struct, frozen=True, kw_only=True):
    """The number of a verifier's errors with one cause.

    Attributes:
        cause: The cause's name; None for all causes together.
        counts: Type or subtype -> number of errors.
        n: Number of errors with this cause.
        share: ``n`` divided by the number of the verifier's errors with any cause; None without such errors.
    """

    verifier: str
    cause: str | None
    counts: dict[str, int]
    n: int
    share: float | None


class OpenCases(NamedTuple):
    """The number of a verifier's wrong verdicts that have no cause yet.

    Attributes:
        left: Number of verdicts without a cause.
        wrong: Number of wrong verdicts.
    """

    verifier: str
    left: int
    wrong: int


_MAX_QUESTION = 4_000
"""Most characters of a question's end on a card; the end usually asks the question."""
_MAX_BEFORE, _MAX_AFTER = 240, 120
"""Most characters around the final answer on a card."""
_MAX_CODE = 8_000
"""Most characters of a program on a card."""
_PROGRAM = "program"
_SENTENCE_ENDS = (". ", "? ", "! ", "。", "\n\n")

# -- The scope of a triage.


def of_cell(project: Project, cell: AccuracyCell, words: str) -> TriageScope:
    """Return the wrong verdicts of a cell of the accuracy table.

    Raises:
        UsageError: See `JudgedItems`.
    """
    found = JudgedItems(project, cell)
    where = "all items" if cell.group is None and not cell.conditions else words
    return TriageScope(where, (cell.verifier,), found.ids("wrong"), len(found), found.protocol)


def of_queue(found: ReviewQueue, order: array[int]) -> TriageScope:
    """Return the items of a queue on which a verifier contradicts gold, in the given order."""
    return TriageScope(
        f"the queue {found.name}", found.verifiers, _keep_members(found.against_gold(), order), queue=found.name
    )


def _keep_members(items: array[int], others: array[int]) -> array[int]:
    import numpy as np

    found = np.asarray(items)
    return array("q", found[np.isin(found, np.asarray(others))].tobytes())


def of_items(project: Project, asked: BrowseQuery) -> TriageScope:
    """Return the items listed on the screen Browse on which a verifier contradicts gold.

    Raises:
        UsageError: No verifier has a complete run.
    """
    found = queue(project, "verifier-gold", selection=Selection(asked.conditions))
    words = " ".join([*map(str, asked.conditions), *([f"/{asked.search}"] if asked.search else [])])
    ids = _keep_members(found.ids, browsing.ItemTable(project, asked).ids()) if asked.search else found.ids
    return TriageScope(words or "all items", found.verifiers, ids, queue=found.name)


def of_verifier(project: Project, verifier: str) -> TriageScope:
    """Return all wrong verdicts of a verifier.

    Raises:
        UsageError: See `JudgedItems`.
    """
    return of_cell(project, AccuracyCell(verifier=verifier), "all items")


def verifiers(project: Project) -> list[AccuracyRow]:
    return [row for row in _project_facts(project).measured if row.accuracy != 1]


def open_cases(project: Project) -> list[OpenCases]:
    scopes = ((row.verifier, of_verifier(project, row.verifier)) for row in verifiers(project))
    counted = (OpenCases(name, tally(project, scope).left, len(scope.items)) for name, scope in scopes)
    return sorted((one for one in counted if one.left), key=lambda one: -one.left)


def weakest_cell(project: Project) -> TriageScope:
    """Return the wrong verdicts of the most accurate verifier that errs, in its weakest cell.

    If no group is weak, or each case of that cell has a cause, return the wrong verdicts on all items.

    Raises:
        UsageError: No verifier has metrics.
    """
    from workbench.measuring.briefing import KINDS

    facts = _project_facts(project)
    if facts.best is None:
        raise UsageError("No verifier has been measured yet.", "Run one on items with gold.")
    about = next((matter.about for matter in KINDS["weakest-cell"].find(facts) if "group" in matter.about), None)
    if about is None:
        return of_verifier(project, facts.best.verifier)
    by, group = str(about["by"]), str(about["group"])
    cell = AccuracyCell(verifier=str(about["verifier"]), by=by, group=group)
    scope = of_cell(project, cell, type_display(group))
    return scope if tally(project, scope).left else of_verifier(project, cell.verifier)


def _project_facts(project: Project) -> ProjectFacts:
    from workbench.measuring.briefing import ProjectFacts, status
    from workbench.runs.run_status import runs

    return ProjectFacts(project, status(project), runs(project))


# -- One case.


def case(project: Project, scope: TriageScope, completion: int) -> TriageCase | None:
    """Return an item as its card shows it; None if no verifier contradicts gold any more.

    Callers that show it record the view with `browsing.reveal`.

    Raises:
        UsageError: The item does not exist.
    """
    item = browsing.read(project, completion)
    erring = _erring_verdicts(item, scope.verifiers)
    if not erring:
        return None
    shown = record_from(
        TriageCase,
        item,
        question=_question_end(item.question),
        reference=item.reference[:_MAX_CODE],
        reference_found=_PROGRAM,
        reference_end="",
        answer=item.completion[:_MAX_CODE],
        answer_found=_PROGRAM,
        before="",
        after="",
        differences=Differences((), ()),
        votes=tuple(record_from(RunVote, verdict) for verdict in item.verdicts if verdict.verifier != BASELINE),
        erring=tuple(record_from(RunVote, verdict) for verdict in erring),
        reason=erring[0].reason or "",
        reviews=tuple(deciding.reviews_of(project, completion)),
        is_code=reviews.is_code(project.database.reader(), completion),
    )
    return shown if shown.is_code else _with_answers(shown, item, erring[0])


def _with_answers(case: TriageCase, item: ItemDetail, erring: ItemVerdict) -> TriageCase:
    reference, answer = browsing.final_answers(item)
    before, after = _sentence_around(item.completion, answer)
    return structs.replace(
        case,
        reference=reference.text[:LONGEST],
        reference_found=browsing.origin(reference),
        reference_end="" if reference.found else item.reference[-_MAX_BEFORE:],
        answer=answer.text[:LONGEST],
        answer_found=browsing.origin(answer),
        before=before,
        after=after,
        differences=differences(reference.text, answer.text),
        read=_answers_read(erring, reference, answer),
    )


def _question_end(question: str) -> str:
    return question if len(question) <= _MAX_QUESTION else f"… {question[-_MAX_QUESTION:].partition(' ')[2]}"


def _erring_verdicts(item: ItemDetail, verifiers: Sequence[str]) -> list[ItemVerdict]:
    asked = [verdict for verdict in item.verdicts if verdict.verifier in verifiers]
    against = [verdict for verdict in asked if item.gold not in ("none", verdict.verdict)]
    return [verdict for verdict in against if verdict.verdict in ("correct", "incorrect")] or against


def _answers_read(verdict: ItemVerdict, reference: FinalAnswer, answer: FinalAnswer) -> tuple[str, str] | None:
    read = verdict.reference_final, verdict.candidate_final
    if None in read or read == (reference.text, answer.text):
        return None
    return (read[0] or "")[:LONGEST], (read[1] or "")[:LONGEST]


def _sentence_around(completion: str, answer: FinalAnswer) -> tuple[str, str]:
    before = completion[max(answer.start - _MAX_BEFORE, 0) : answer.start]
    begins = max(
        (
            0 if answer.start <= _MAX_BEFORE else before.find(" ") + 1,
            *(before.rstrip().rfind(end) + len(end) for end in _SENTENCE_ENDS if end in before.rstrip()),
        )
    )
    after = completion[answer.end : answer.end + _MAX_AFTER]
    ends = min((after.find(end) + 1 for end in _SENTENCE_ENDS if end in after), default=len(after))
    return before[begins:].lstrip(), after[:ends].rstrip()


# -- Causes.


def give_cause(
    project: Project, cases: Sequence[TriageCase], cause: Cause, scope: TriageScope, *, by: str
) -> tuple[Review, ...]:
    """Mark the wrong verdicts of some cases with one cause in one transaction.

    Raises:
        UsageError: See `deciding.mark_error`.
    """
    verdicts = [(one.id, vote.run or 0) for one in cases for vote in one.erring]
    return deciding.mark_errors(project, verdicts, cause.category, by=by, queue=scope.queue, note=cause.own)


def last_marks(project: Project, scope: TriageScope, *, by: str) -> tuple[Review, ...]:
    own = [
        review
        for review in reviews.every(project.database.reader(), only_standing=True)
        if review.kind == "error" and review.reviewer == by and review.verifier in scope.verifiers
    ]
    items = _decided_in_scope(scope, (review.completion for review in own))
    own = [review for review in own if review.completion in items]
    return tuple(one for one in own if one.created_at == own[-1].created_at)


def tally(project: Project, scope: TriageScope) -> TriageTally:
    reader = project.database.reader()
    given, standing = reviews.marks(reader), reviews.every(reader, only_standing=True)
    sent_back = [one for one in standing if one.kind == "reannotate"]
    items = _decided_in_scope(scope, [*(one.completion for one in given), *(one.completion for one in sent_back)])
    marks = tuple(
        CauseMark(mark.completion, mark.verifier, mark.type, mark.subtype, cause_of(mark.category, mark.note))
        for mark in given
        if mark.completion in items and mark.verifier in scope.verifiers and not mark.outdated
    )
    done = frozenset(mark.completion for mark in marks)
    return TriageTally(scope, marks, done, frozenset({one.completion for one in sent_back} & items - done))


def _decided_in_scope(scope: TriageScope, decided: Iterable[int]) -> set[int]:
    return set(_keep_members(array("q", set(decided)), scope.items))


def cause_of(category: str, note: str | None) -> Cause:
    known = _known_category(category)
    return Cause(known, " ".join((note or "").split()) if known == "other" else "")


def cause_called(name: str) -> Cause:
    return cause_of(_known_category(name.strip().casefold()), name)


def _known_category(name: str) -> ErrorCategory:
    return next((one for one in ERROR_CATEGORIES if one == name), "other")


def own_causes(project: Project) -> list[Cause]:
    found = Counter(cause_of(mark.category, mark.note) for mark in reviews.marks(project.database.reader()))
    return [cause for cause, _ in found.most_common() if cause.own]


# -- The paragraph for a paper.


def cause_lines(project: Project, verifiers: Collection[str]) -> list[TriageLine]:
    """Count the current causes of these verifiers' errors, over all items and by type, the most common first.

    Marks on verdicts that now agree with gold are left out.
    """
    found = [one for one in reviews.marks(project.database.reader()) if not one.outdated and one.verifier in verifiers]
    lines = []
    for verifier in sorted({mark.verifier for mark in found}):
        own = [(cause_of(mark.category, mark.note).name, mark.type) for mark in found if mark.verifier == verifier]
        for cause, n in Counter(cause for cause, _ in own).most_common():
            counts = Counter(type_ for name, type_ in own if name == cause)
            lines.append(TriageLine(verifier=verifier, cause=cause, counts=dict(counts), n=n, share=n / len(own)))
    return lines


def paragraph(found: TriageTally) -> str:
    scope, marked = found.scope, len(found.done)
    names, differs = ", ".join(scope.verifiers), "differs" if len(scope.verifiers) == 1 else "differ"
    of = f"{len(scope.items):,} of {scope.judged:,} items" if scope.judged else counted(len(scope.items), "item")
    how = f" (protocol {scope.protocol})" if scope.protocol else ""
    sentences = [f"On {scope.words}, {names} {differs} from gold on {of}{how}."]
    if not marked:
        return f"{sentences[0]} None of them has a cause yet."
    counts = Counter(mark.cause.name for mark in found.marks).most_common()
    causes = [f"{cause} {n:,} ({percent(n / len(found.marks))} %)" for cause, n in counts]
    was = "was" if marked == 1 else "were"
    sentences.append(f"{marked:,} of these {was} read and given a cause: {'; '.join(causes)}.")
    if found.sent_back:
        sentences.append(f"{counted(len(found.sent_back), 'item')} went back to be labelled again.")
    if found.left:
        sentences.append(f"{counted(found.left, 'item')} {'has' if found.left == 1 else 'have'} yet to be read.")
    return " ".join(sentences)


def triage_lines(found: TriageTally) -> list[TriageLine]:
    by = "type" if len({mark.type for mark in found.marks}) > 1 else "subtype"
    lines = []
    for verifier in found.scope.verifiers:
        marks = [mark for mark in found.marks if mark.verifier == verifier]
        causes = [cause for cause, _ in Counter(mark.cause.name for mark in marks).most_common()]
        for cause in (*causes, None):
            own = [mark for mark in marks if cause in (None, mark.cause.name)]
            counts = Counter(getattr(mark, by) for mark in own)
            share = len(own) / len(marks) if marks else None
            lines.append(TriageLine(verifier=verifier, cause=cause, counts=dict(counts), n=len(own), share=share))
    return lines


def cause_columns(lines: Sequence[TriageLine], *, named: bool) -> Columns[TriageLine]:
    def of_group(group: str) -> Column[TriageLine]:
        return count(group, lambda line: line.counts.get(group, 0))

    return (
        word("verifier", lambda line: line.verifier, there=named),
        word("cause", lambda line: line.cause or "all"),
        *map(of_group, sorted({group for line in lines for group in line.counts})),
        count("n", lambda line: line.n),
        text("%", lambda line: percent(line.share)),
    )


def triage_table(found: TriageTally) -> Table:
    lines = triage_lines(found)
    return table(
        f"Causes of errors of {', '.join(found.scope.verifiers)} on {found.scope.words}, as given case by case",
        cause_columns(lines, named=len(found.scope.verifiers) > 1),
        lines,
        notes=(paragraph(found),),
        kind=lambda line: "total" if line.cause is None else "",
    )


_CAUSES: Final = tuple(Cause(category) for category in ERROR_CATEGORIES if category != "other")
KEYED, UNKEYED = _CAUSES[:9], _CAUSES[9:]
"""The causes of the taxonomy that have a digit key, and the others."""
