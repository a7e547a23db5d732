"""What the coordinator has answered to a person's flags; one that is chosen opens its item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.services.labelling.annotating import OwnAnswer
from workbench.tui.widgets.cells import printable


class AnswersBox(ModalScreen[int | None]):
    """The answers, newest first; returns the row id of the item that was chosen."""

    DEFAULT_CSS = """
    AnswersBox { align: center middle; }
    AnswersBox OptionList {
        width: 100;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        border: round $primary;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,F", "dismiss", "Close")]

    def __init__(self, answers: Sequence[OwnAnswer]) -> None:
        super().__init__()
        self._answers = list(reversed(answers))

    def compose(self) -> ComposeResult:
        """Lay out."""
        listing = OptionList(*(Option(_words(answer)) for answer in self._answers), markup=False)
        listing.border_title = Content("The coordinator's answers")
        listing.border_subtitle = Content("enter: open the item · escape: close")
        yield listing

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].completion)


def _words(answer: OwnAnswer) -> Content:
    when = answer.answered_at[:16].replace("T", " ")
    mark = ("  ", "") if answer.heard else ("● ", "bold $text-success")
    asked = printable(answer.asked) or "flagged, without a question"
    return Content.assemble(mark, (f"{when}  {asked}", "$text-muted"), "\n", f"  {printable(answer.answer)}", "\n")
