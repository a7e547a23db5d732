"""An item made ready to be read: its texts rendered and wrapped, away from the app's own thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from workbench.model.browse import ItemDetail
from workbench.render.document import RenderedText
from workbench.render.text import render, render_raw
from workbench.services.browsing import final_answers, origin
from workbench.tui.widgets.evidence import evidence
from workbench.tui.widgets.wrapping import Wrapped, prepare

PANES: Final = ("question", "reference", "completion", "evidence")


class View(NamedTuple):
    """How texts are shown.

    Attributes:
        raw: The stored text itself.
        fold: ``<think>`` blocks as one line.
        reading: Whose reading of the completion's answer is marked: 0 is the workbench's own, then each verifier's.
    """

    raw: bool = False
    fold: bool = True
    reading: int = 0


class Pane(NamedTuple):
    """One text, ready for a reader."""

    title: str
    text: Wrapped | RenderedText


class ReadyItem(NamedTuple):
    """An item and its panes by name."""

    item: ItemDetail
    view: View
    panes: dict[str, Pane]


class Reading(NamedTuple):
    """Where someone found the completion's final answer."""

    title: str
    span: tuple[int, int] | None


def readings(item: ItemDetail) -> list[Reading]:
    """Our own reading of the completion's answer, then those of verifiers that say where they found it."""
    _, answer = final_answers(item)
    own = Reading(f"answer: {origin(answer)}", (answer.start, answer.end) if answer.found else None)
    others = (
        Reading(f"answer as {verdict.verifier} read it", verdict.candidate_span)
        for verdict in item.verdicts
        if verdict.candidate_span is not None
    )
    return [own, *others]


def ready(item: ItemDetail, view: View, widths: Mapping[str, int]) -> ReadyItem:
    """Render all texts of an item and wrap them; slow for long ones.

    Args:
        widths: Pane -> cells to wrap to; those without are wrapped by their reader.
    """
    panes = {}
    for name, title, text in _texts(item, view):
        width = widths.get(name, 0)
        panes[name] = Pane(title, prepare(text, width) if width > 0 else text)
    return ReadyItem(item, view, panes)


def _texts(item: ItemDetail, view: View) -> Iterator[tuple[str, str, RenderedText]]:
    reference, _ = final_answers(item)
    found = readings(item)
    reading = found[view.reading % len(found)]
    yield "question", "Question", _render(item.question, None, view)
    span = (reference.start, reference.end) if reference.found else None
    yield "reference", f"Reference · answer: {origin(reference)}", _render(item.reference, span, view)
    yield "completion", f"Completion · {reading.title}", _render(item.completion, reading.span, view)
    yield "evidence", "Labels and verdicts", evidence(item)


def _render(text: str, span: tuple[int, int] | None, view: View) -> RenderedText:
    return render_raw(text, span) if view.raw else render(text, fold_think=view.fold, answer_span=span)
