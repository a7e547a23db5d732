"""One option of a form: its name and value, its purpose, and its error; and options in sections."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import Suggester
from textual.widgets import Collapsible, Input, Static
from textual.widgets.collapsible import CollapsibleTitle
from textual.widgets.input import Selection

from workbench.app.tui.keymap import Action, bindings, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, ManyMenu, choose, following
from workbench.app.tui.kit.title_bar import Line

if TYPE_CHECKING:
    from workbench.runs.configuring import FormOption, FormSection


class Chooser(Static, can_focus=True):
    """Shows a value that is chosen from a list.

    Attributes:
        value: The chosen value.
    """

    class Changed(Message):
        """Another value was chosen."""

    value: reactive[str] = reactive("")

    def watch_value(self) -> None:
        self.post_message(self.Changed())

    @abstractmethod
    def action_list(self) -> None:
        """Show the list."""

    def on_click(self) -> None:
        self.action_list()


_LIST: Final = Action("pick-many.list", "enter", "list", "List", "Choose from a list.", False)


class PickMany(Chooser):
    """Several names selected from a list; enter opens the list.

    Attributes:
        value: The selected names, separated by spaces; a name with spaces is quoted as in a shell.
        withheld: Names that can't be selected now, each with the form field in which it is already used.

    Args:
        title: The question.
        names: Names to select from.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings((_LIST,))]

    withheld: reactive[Mapping[str, str]] = reactive({})

    def __init__(self, title: str, names: Sequence[str]) -> None:
        super().__init__(markup=False)
        self._title, self._names = title, names

    def render(self) -> Content:
        taken = self.taken
        which = printable(", ".join(taken)) or f"({key_of(_LIST.id)}: choose)"
        left_out = "; ".join(
            f"{name} is {why}" for name, why in self.withheld.items() if name in shlex.split(self.value)
        )
        told = f"  {which}" + (f"  ({printable(left_out)})" if left_out else "")
        many = f"{len(taken)} selected of {len(self._selectable_names)}"
        return Content.assemble((many, "bold"), (told, "$text-muted"))

    @property
    def _selectable_names(self) -> list[str]:
        return [name for name in self._names if name not in self.withheld]

    @property
    def taken(self) -> list[str]:
        return [name for name in shlex.split(self.value) if name not in self.withheld]

    def action_list(self) -> None:
        def chosen(names: tuple[str, ...]) -> None:
            self.value = shlex.join([*names, *(name for name in shlex.split(self.value) if name in self.withheld)])

        choose(self, ManyMenu(self._title, self._selectable_names, self.taken), chosen)


DEFAULT: Final = ""
"""The value of an option that is not set."""


_MAX_VALUE = 10_000
"""Maximum characters of an option's value."""


class Pick(Chooser):
    """One value out of a few: the arrow keys step through them, enter lists them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "Before", show=False, id="pick.before"),
        Binding("right", "step(1)", "Next", show=False, id="pick.next"),
        Binding("enter", "list", "List", show=False, id="pick.list"),
    ]

    def __init__(self, title: str, choices: Sequence[Choice[str]]) -> None:
        super().__init__(markup=False)
        self._title = title
        self._choices = choices
        self.set_reactive(Chooser.value, choices[0].value)

    def render(self) -> Content:
        text = next((choice.text for choice in self._choices if choice.value == self.value), self.value)
        name, colon, about = printable(text).partition(": ")
        return Content.assemble(("‹ ", "$text-muted"), (name, "bold"), (f"{colon}{about} ›", "$text-muted"))

    def action_step(self, step: int) -> None:
        values = tuple(choice.value for choice in self._choices)
        self.value = following(self.value, values if step > 0 else values[::-1])

    def action_list(self) -> None:
        choose(self, ChoiceMenu(self._title, self._choices), partial(setattr, self, "value"))


class OptionField(Vertical):
    """A field of a form, with a sentence that explains the option and, if the value is wrong, one that says why.

    Args:
        name: The option's name.
        about: Its purpose.
        choices: Its possible values -> their meanings; empty if the value is typed.
        value: Its initial value.
        several: Whether several choices can be selected; `value` separates them by spaces.
        suggester: Completes the typed text when the right arrow is pressed.

    Attributes:
        line: The widget that holds the value.
        wrong: The error that is shown; empty if there is none.
    """

    DEFAULT_CSS = """
    OptionField {
        height: auto;
        & > Horizontal { height: 1; }
        & .name { width: 18; text-style: bold; }
        & Input, & Chooser { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & Chooser:focus { background: $block-cursor-background; color: $block-cursor-foreground; }
        & > .about { height: auto; padding-left: 2; color: $foreground-muted; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", "Field above", show=False, id="option-field.above"),
        Binding("down", "go(1)", "Field below", show=False, id="option-field.below"),
    ]

    @dataclass
    class Changed(Message):
        field: OptionField

    @dataclass
    class Left(Message):
        """The field has lost the focus."""

        field: OptionField

    def __init__(
        self,
        name: str,
        about: str,
        choices: Mapping[str, str] = {},
        value: str = DEFAULT,
        *,
        several: bool = False,
        suggester: Suggester | None = None,
    ) -> None:
        super().__init__(id=f"option-{name}")
        self.option = name
        self.wrong = ""
        self._about = about
        self.line: Chooser | Input
        if several:
            self.line = PickMany(name, list(choices))
        elif choices:
            texts = (": ".join(filter(None, one)) or "none" for one in choices.items())
            self.line = Pick(name, list(map(Choice, choices, texts)))
        else:
            self.line = Line(
                value,
                placeholder="not set",
                compact=True,
                select_on_focus=False,
                max_length=_MAX_VALUE,
                suggester=suggester,
            )
        if choices and value:
            self.line.value = value

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(Content(printable(self.option)), classes="name")
            yield self.line
        yield Static(Content(printable(self._about)), classes="about")

    @property
    def value(self) -> str:
        """Return the typed value, stripped; "" if there is none."""
        return self.line.value.strip()

    @value.setter
    def value(self, value: str) -> None:
        self.line.value = value

    def action_go(self, step: int) -> None:
        fields = [field for field in self.screen.query(OptionField) if field.display]
        to = fields.index(self) + step
        if 0 <= to < len(fields):
            fields[to].line.focus()

    def withhold(self, names: Mapping[str, str]) -> None:
        if isinstance(self.line, PickMany):
            self.line.withheld = names

    def hint(self, text: str) -> None:
        if isinstance(self.line, Input):
            self.line.placeholder = text

    def select(self) -> None:
        if isinstance(self.line, Input):
            self.line.selection = Selection(0, len(self.line.value))

    def clear(self) -> None:
        with self.line.prevent(Input.Changed, Chooser.Changed):
            self.line.value = DEFAULT

    def complain(self, text: str) -> None:
        if text != self.wrong:
            self.wrong = text
            self.set_class(bool(text), "-wrong")
            between = "\n" if self._about else ""
            complaint = (f"{between}! {printable(text)}", "$text-error") if text else ""
            self.query_one(".about", Static).update(Content.assemble(printable(self._about), complaint))

    def on_descendant_blur(self) -> None:
        self.post_message(self.Left(self))

    @on(Input.Changed)
    @on(Chooser.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.complain("")
        self.post_message(self.Changed(self))


# -- Options that belong together, under a heading that folds them.


class OptionSection(Collapsible):
    """A heading with one field per option; fields are created when they are first unfolded."""

    DEFAULT_CSS = """
    OptionSection { padding: 0; border: none; background: transparent; }
    OptionSection > CollapsibleTitle { padding: 0; color: $text-accent; text-style: bold; }
    OptionSection > Contents { padding: 0; }
    """

    def __init__(self, section: FormSection, values: Mapping[str, str]) -> None:
        self.section = section
        self._values = {option.name: values[option.name] for option in section.options if option.name in values}
        self._made = not section.folded or bool(self._values)
        super().__init__(*(self._new_fields() if self._made else ()), title=section.title, collapsed=not self._made)

    def _new_fields(self) -> Iterator[OptionField]:
        for option in self.section.options:
            yield field_of(option, self._values.get(option.name, DEFAULT))

    def watch_collapsed(self, collapsed: bool) -> None:
        if not collapsed and not self._made:
            self._made = True
            self.query_one(Collapsible.Contents).mount_all(self._new_fields())

    def on_key(self, event: Key) -> None:
        """Write what is typed on the heading into the next field."""
        if event.is_printable and event.character and isinstance(self.screen.focused, CollapsibleTitle):
            event.stop()
            event.prevent_default()
            field = self.screen.focus_next(Input)
            if isinstance(field, Input):
                field.insert_text_at_cursor(event.character)

    def values(self) -> dict[str, str]:
        return {field.option: field.value for field in self.query(OptionField) if field.value}

    def show_used(self, values: Mapping[str, str]) -> None:
        """Hide fields that have no effect with these values of the whole form."""
        used = {option.name for option in self.section.options if option.is_used(values)}
        self.display = bool(used)
        for field in self.query(OptionField):
            field.display = field.option in used


def field_of(option: FormOption, value: str) -> OptionField:
    default = {DEFAULT: "default"} if option.choices and not option.required else {}
    return OptionField(option.name, option.about, {**default, **option.choices}, value)
