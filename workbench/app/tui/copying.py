"""Copyable parts of an item: its texts exactly as stored, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from workbench.app.tui.kit.copies import Copyable, in_line
from workbench.app.tui.kit.evidence import evidence
from workbench.app.tui.kit.matrix import as_typed
from workbench.core.errors import Command
from workbench.core.project import Project
from workbench.data.records.browse import ItemDetail
from workbench.labelling.annotating import AnnotationItem, FinalAnswer, card_of
from workbench.measuring import browsing


def of_item(project: Project, read: Callable[[], ItemDetail], *, look: Callable[[], ItemDetail]) -> Iterator[Copyable]:
    """Yield the parts of an item that the coordinator can copy.

    Args:
        read: Returns the item.
        look: The same, recorded as a look at labels and verdicts.
    """
    yield Copyable("i", "the id", lambda: read().completion_id)
    yield Copyable("u", "the question", lambda: read().question)
    yield Copyable("a", "both final answers", lambda: _answers(*browsing.final_answers(read())))
    yield Copyable("f", "the reference", lambda: read().reference)
    yield Copyable("p", "the completion", lambda: read().completion)
    yield Copyable("e", "gold, labels and verdicts with their evidence", lambda: evidence(look(), raw=True).text)
    yield Copyable("m", "all of it, as Markdown", lambda: _document(look()))
    yield Copyable("d", "the command that opens it", lambda: _command(project, read()))


def of_card(item: AnnotationItem) -> Iterator[Copyable]:
    card = card_of(item)
    yield Copyable("u", "the question", lambda: item.question_text)
    yield Copyable("a", "both final answers", partial(_answers, card.reference, card.completion))
    yield Copyable("f", "the reference", lambda: item.reference)
    yield Copyable("p", "the completion", lambda: item.completion_text)


def _answers(reference: FinalAnswer, completion: FinalAnswer) -> str:
    return f"reference: {reference.text}\ncompletion: {completion.text}\n"


def _document(item: ItemDetail) -> str:
    reference, completion = browsing.final_answers(item)
    parts = (
        ("Question", item.question),
        ("Final answers", _answers(reference, completion)),
        ("Reference", item.reference),
        ("Completion", item.completion),
        ("Gold, labels and verdicts", evidence(item, raw=True).text),
    )
    texts = (f"## {title}\n\n{_fenced(text)}\n" for title, text in parts)
    return f"# {in_line(item.completion_id)}\n\n" + "\n".join(texts)


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}\n"


def _command(project: Project, item: ItemDetail) -> str:
    return Command(f"open {as_typed(str(project.path))} {as_typed(item.completion_id)}").shell()
