"""Preparation of an item for reading: its texts rendered and wrapped in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs
from textual.content import Content

from workbench.app.tui.kit.card_texts import as_guess
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.pass_view import passed_words
from workbench.app.tui.kit.wrapping import Wrapped, prepare
from workbench.core.text.document import ANSWER_SIGN, RenderedText
from workbench.core.text.excerpt import render_answer
from workbench.core.text.figures import NONE
from workbench.core.text.markdown import render, render_raw
from workbench.data.records import ItemDetail, ItemVerdict
from workbench.labelling.annotating import FinalAnswer
from workbench.measuring.browsing import final_answers, origin
from workbench.measuring.judged import BASELINE
from workbench.measuring.records.review import Review

if TYPE_CHECKING:
    from workbench.coding.matrix import SolutionSummary

TEXTS: Final = ("question", "reference", "completion")
PANES: Final = (*TEXTS, "evidence")
DECIDED: Final = ("correct", "incorrect")


class View(NamedTuple):
    """The form in which texts are shown.

    Attributes:
        raw: Show the stored text, not the rendered one.
        fold: Show ``<think>`` blocks as one line.
        verifier: The verifier whose extracted final answers are marked; None for workbench's own extraction.
    """

    raw: bool = False
    fold: bool = True
    verifier: str | None = None


class Pane(NamedTuple):
    title: str
    text: Wrapped | RenderedText


class ReadyItem(NamedTuple):
    """An item and the panes of its texts by name.

    Attributes:
        solution: Test outcomes; None if it is not code.
        reviews: Reviewers' decisions, the newest last.
        why: Why the item is in the queue from which it was opened; empty if it was opened from elsewhere.
    """

    item: ItemDetail
    view: View
    panes: dict[str, Pane]
    solution: SolutionSummary | None
    reviews: tuple[Review, ...]
    why: str


class AnswerReading(NamedTuple):
    """The position of a final answer in its text (None if unknown), and a title that says who found it."""

    title: str
    span: tuple[int, int] | None
    guess: bool = False


def verdict_of(item: ItemDetail, verifier: str | None) -> ItemVerdict | None:
    return next((verdict for verdict in item.verdicts if verdict.verifier == verifier), None)


def answer_card(item: ItemDetail, width: int) -> Content:
    """Return one line: both final answers, gold, and every verifier's verdict; the baseline comes last."""
    answers = [fit(render_answer(one.text) if one.found else NONE, width // 4).rstrip() for one in final_answers(item)]
    return Content.assemble((answers[0], "bold"), " │ ", (answers[1], "bold"), "   ", _gold_and_verdicts(item))


def _gold_and_verdicts(item: ItemDetail) -> Content:
    verdicts = sorted(item.verdicts, key=lambda one: one.verifier == BASELINE)
    said = (Content.assemble(printable(one.verifier), " ", verdict_mark(one.verdict)) for one in verdicts)
    return Content(" · ").join([Content.assemble("gold ", verdict_mark(item.gold)), *said])


def solution_card(item: ItemDetail, solution: SolutionSummary) -> Content:
    """Return the summary of a solution: the called function, passed tests, then gold and verdicts."""
    ran = f"{passed_words(solution.outcomes)}{f' of suite {solution.suite}' if solution.suite else ''}"
    card = Content.assemble((printable(solution.entry_point or "a program"), "bold"), f"  {printable(ran)}   ")
    card += _gold_and_verdicts(item)
    if solution.failing is None:
        return card
    why = f": {solution.why}" if solution.why else ""
    source = "".join(solution.source.strip().splitlines()[:1])
    first = f"test {solution.failing + 1} fails first{why} · {source}"
    return card + Content.styled(f"\n{printable(first)}", "$text-error")


def verdict_mark(word: str) -> Content:
    sign, tone = OUTCOME_MARKS[word]
    return Content.styled(sign, f"bold $text-{tone}" if tone not in ("dim", "") else "$text-muted")


def against_gold(item: ItemDetail) -> list[ItemVerdict]:
    """Return the verdicts that contradict gold, decided ones first; empty without gold.

    The majority-class baseline is left out: it gives every item the same verdict, so its errors teach nothing.
    """
    found = (verdict for verdict in item.verdicts if verdict.verifier != BASELINE)
    against = [verdict for verdict in found if item.gold not in ("none", verdict.verdict)]
    return sorted(against, key=lambda verdict: verdict.verdict not in DECIDED)


def put_verifiers_first(item: ItemDetail, names: Sequence[str]) -> ItemDetail:
    """Return the item with these verifiers' verdicts before the others."""
    places = {name: place for place, name in enumerate(names)}
    order = sorted(item.verdicts, key=lambda verdict: places.get(verdict.verifier, len(places)))
    return structs.replace(item, verdicts=tuple(order))


def readings(
    item: ItemDetail, verifier: str | None = None, *, is_code: bool = False
) -> tuple[AnswerReading, AnswerReading]:
    """Return where a verifier found the final answers in reference and completion.

    workbench's own extraction is used if there is no verdict or the verdict gives no position; code has no final
    answer.
    """
    verdict = verdict_of(item, verifier)
    if is_code and (verdict is None or verdict.candidate_span is None):
        return AnswerReading("", None), AnswerReading("", None)
    reference, completion = final_answers(item)
    if verdict is None:
        return _extracted_reading(reference), _extracted_reading(completion)
    return (
        _verifier_reading(item.reference, verdict, verdict.reference_span, "no_reference_answer", reference),
        _verifier_reading(item.completion, verdict, verdict.candidate_span, "no_answer_found", completion),
    )


def _extracted_reading(answer: FinalAnswer, remark: str = "") -> AnswerReading:
    if not answer.found:
        return AnswerReading(origin(answer), None)
    said = f"{ANSWER_SIGN}answer: {origin(answer)}" if answer.marked else f"? {origin(answer)}"
    return AnswerReading(f"{said}{remark}", (answer.start, answer.end), guess=not answer.marked)


def _verifier_reading(
    text: str, verdict: ItemVerdict, span: tuple[int, int] | None, none_found: str, own: FinalAnswer
) -> AnswerReading:
    # Stored by a plug-in, offsets may be anything.
    if span is not None and 0 <= span[0] < span[1] <= len(text):
        read = f"answer as {verdict.verifier} read it"
        if span == verdict.candidate_span and verdict.candidate_final is None:
            read = f"{verdict.verifier} points here"
        return AnswerReading(f"{ANSWER_SIGN}{read}", span)
    if verdict.reason == none_found:
        return AnswerReading(f"{verdict.verifier} found no answer", None)
    return _extracted_reading(own, f" ({verdict.verifier} gives no position)")


def prepare_panes(item: ItemDetail, view: View, widths: Mapping[str, int], *, is_code: bool) -> dict[str, Pane]:
    """Render the texts of an item and wrap them; slow for long ones.

    Args:
        widths: Width in cells by pane name; a pane without a width is wrapped later, by its `Reader`.
    """
    panes = {}
    found = (AnswerReading("", None), *readings(item, view.verifier, is_code=is_code))
    for name, read in zip(TEXTS, found, strict=True):
        text, width = getattr(item, name), widths.get(name, 0)
        shown = render_raw(text, read.span) if view.raw else render(text, fold_think=view.fold, answer_span=read.span)
        shown = as_guess(shown) if read.guess else shown
        title = " · ".join(filter(None, (name.capitalize(), read.title)))
        panes[name] = Pane(title, prepare(shown, width) if width > 0 else shown)
    return panes
