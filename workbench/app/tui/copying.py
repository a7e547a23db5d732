"""Copyable parts of an item: its texts exactly as stored, and its labels and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from shlex import quote

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.copies import Copyable, in_line
from workbench.app.tui.kit.evidence import evidence
from workbench.core.errors import Command
from workbench.core.project import Project
from workbench.data.records import ItemDetail
from workbench.labelling.annotating import AnnotationItem, FinalAnswer, card_of
from workbench.measuring import browsing


def of_item(project: Project, read: Callable[[], ItemDetail], *, look: Callable[[], ItemDetail]) -> Iterator[Copyable]:
    """Yield the parts of an item that the coordinator can copy.

    Args:
        read: Returns the item.
        look: Returns the item, and records that its labels and verdicts were seen.
    """

    def open_command() -> str:
        words = (str(project.path), read().completion_id)
        return Command(f"open {' '.join(printable(quote(word)) for word in words)}").shell()

    yield Copyable("i", "the id", lambda: read().completion_id)
    yield Copyable("u", "the question", lambda: read().question)
    yield Copyable("a", "both final answers", lambda: _final_answers_text(*browsing.final_answers(read())))
    yield Copyable("f", "the reference", lambda: read().reference)
    yield Copyable("p", "the completion", lambda: read().completion)
    yield Copyable("e", "gold, labels and verdicts with their evidence", lambda: evidence(look(), raw=True).text)
    yield Copyable("m", "all of it, as Markdown", lambda: _item_document(look()))
    yield Copyable("d", "the command that opens it", open_command)


def copyable_card_texts(item: AnnotationItem) -> Iterator[Copyable]:
    card = card_of(item)
    yield Copyable("u", "the question", lambda: item.question_text)
    yield Copyable("a", "both final answers", partial(_final_answers_text, card.reference, card.completion))
    yield Copyable("f", "the reference", lambda: item.reference)
    yield Copyable("p", "the completion", lambda: item.completion_text)


def _final_answers_text(reference: FinalAnswer, completion: FinalAnswer) -> str:
    return f"reference: {reference.text}\ncompletion: {completion.text}\n"


def _item_document(item: ItemDetail) -> str:
    reference, completion = browsing.final_answers(item)
    parts = (
        ("Question", item.question),
        ("Final answers", _final_answers_text(reference, completion)),
        ("Reference", item.reference),
        ("Completion", item.completion),
        ("Gold, labels and verdicts", evidence(item, raw=True).text),
    )
    texts = (f"## {title}\n\n{_fence(text)}\n" for title, text in parts)
    return f"# {in_line(item.completion_id)}\n\n" + "\n".join(texts)


def _fence(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}\n"
