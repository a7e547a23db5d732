"""The coordinator's answers to a person's flags, as a box from which an item is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.app.tui.kit.choices import BoxScreen
from workbench.app.tui.kit.matrix import printable
from workbench.core.text.figures import time_to_minute
from workbench.labelling.annotating import OwnAnswer


class AnswersBox(BoxScreen[int | None]):
    """The coordinator's answers to the person's flags, newest first; returns the row id of the chosen item."""

    DEFAULT_CSS = "AnswersBox OptionList { width: 100; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,d", "dismiss", "Close")]

    def __init__(self, answers: Sequence[OwnAnswer]) -> None:
        super().__init__()
        self._answers = list(reversed(answers))

    def compose(self) -> ComposeResult:
        listing = OptionList(*(Option(_answer_lines(answer)) for answer in self._answers), markup=False)
        listing.border_title = Content("The coordinator's answers")
        listing.border_subtitle = Content("enter: open the item · escape: close")
        yield listing

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].completion)


def _answer_lines(answer: OwnAnswer) -> Content:
    when = time_to_minute(answer.answered_at)
    mark = ("  ", "") if answer.heard else ("● ", "bold $text-success")
    asked = printable(answer.asked) or "flagged, without a question"
    return Content.assemble(mark, (f"{when}  {asked}", "$text-muted"), "\n", f"  {printable(answer.answer)}", "\n")
