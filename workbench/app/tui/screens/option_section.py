"""Options that belong together, under a heading that folds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.option_field import DEFAULT, OptionField
from workbench.runs.configuring import FormOption, FormSection

_NOT_GIVEN = Choice(DEFAULT, "default")


class Heading(Static, can_focus=True):
    """The title of a section; enter folds and unfolds it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "fold", "Fold", show=False, id="section.fold"),
    ]

    class Folded(Message):
        """It is to be folded, or unfolded."""

    def __init__(self, title: str) -> None:
        super().__init__(markup=False)
        self._title = title

    def tell(self, folded: bool) -> None:
        """Show whether the options are there."""
        self.update(Content(f"{'▶' if folded else '▼'} {self._title}"))

    def action_fold(self) -> None:
        """Fold or unfold."""
        self.post_message(self.Folded())

    def on_click(self) -> None:
        """A click folds too."""
        self.action_fold()


class OptionSection(Vertical):
    """A heading and a field an option; fields are made when they are first unfolded.

    Attributes:
        folded: Only the heading is there.
    """

    DEFAULT_CSS = """
    OptionSection { height: auto; }
    OptionSection > Heading { height: 1; color: $text-accent; text-style: bold; }
    OptionSection > Heading:focus { background: $block-cursor-background; color: $block-cursor-foreground; }
    OptionSection > .options { height: auto; }
    """

    folded: reactive[bool] = reactive(True, init=False)

    def __init__(self, section: FormSection, values: Mapping[str, str]) -> None:
        super().__init__()
        self.section = section
        self._values = {option.name: values[option.name] for option in section.options if option.name in values}
        self._made = not section.folded or bool(self._values)
        self.set_reactive(OptionSection.folded, not self._made)

    def compose(self) -> ComposeResult:
        """The heading, and the fields where they are to be seen."""
        yield Heading(self.section.title)
        with Vertical(classes="options"):
            yield from self._fields() if self._made else ()

    def on_mount(self) -> None:
        """Show the heading."""
        self.query_one(Heading).tell(self.folded)

    def _fields(self) -> Iterator[OptionField]:
        for option in self.section.options:
            yield _field(option, self._values.get(option.name, DEFAULT))

    @property
    def fields(self) -> list[OptionField]:
        """The fields that have been made."""
        return [child for child in self.query_one(".options").children if isinstance(child, OptionField)]

    def values(self) -> dict[str, str]:
        """What has been filled in, by option."""
        return {field.option: field.value for field in self.fields if field.value}

    def show_used(self, values: Mapping[str, str]) -> None:
        """Hide what has no use beside these values of the whole form."""
        used = {option.name for option in self.section.options if option.is_used(values)}
        self.display = bool(used)
        for field in self.fields:
            field.display = field.option in used

    @on(Heading.Folded)
    def _fold(self, event: Heading.Folded) -> None:
        event.stop()
        self.folded = not self.folded

    def watch_folded(self, folded: bool) -> None:
        """Make the fields, show or hide them."""
        box = self.query_one(".options")
        if not folded and not self._made:
            self._made = True
            box.mount_all(self._fields())
        box.display = not folded
        self.query_one(Heading).tell(folded)


def _field(option: FormOption, value: str) -> OptionField:
    choices = [Choice(name, f"{name}: {about}" if about else name) for name, about in option.choices.items()]
    if choices and not option.required:
        choices.insert(0, _NOT_GIVEN)
    return OptionField(option.name, option.about, choices, value)
