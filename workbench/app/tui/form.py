"""Screens with form fields, and with one searchable text; errors are shown at their field, or below all fields."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import ClassVar, TypeVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widgets import Input, Static

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.path_suggester import PathSuggester, ambiguous_name_message, possible_names
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.errors import OptionError, WorkbenchError

Made = TypeVar("Made")
_WORK = "form-work"


class FormField(Struct, frozen=True, kw_only=True):
    """A field of a form.

    Attributes:
        about: Explanation of the field.
        value: Its initial value.
        choices: Value -> its meaning; empty if the value is typed.
        several: Whether any number of choices can be selected.
        is_path: Whether the value is a file name; it is then completed.
        later: Whether the field is shown only with all options.
    """

    name: str
    about: str
    value: str = ""
    choices: Mapping[str, str] = {}
    several: bool = False
    is_path: bool = False
    later: bool = False


def option_field(field: FormField) -> OptionField:
    suggester = PathSuggester() if field.is_path else None
    return OptionField(field.name, field.about, field.choices, field.value, several=field.several, suggester=suggester)


class FormScreen(WorkbenchScreen):
    """Has `OptionField` lines, and one `Static` of the class ``form-trouble`` below them.

    A form with ``kept_as`` reappears with the values typed before, until it has been run; see `take_up` and `forget`.

    Attributes:
        FORM: The id of the box of fields.
        STOPPED: The notice after its work was stopped.

    Args:
        kept_as: Key under which typed values are kept; None to keep none.
    """

    DEFAULT_CSS = """
    FormScreen .form-trouble {
        display: none;
        height: auto;
        max-height: 4;
        padding: 0 1;
        color: $text-error;
    }
    """

    FORM: ClassVar[str]
    STOPPED: ClassVar[str] = ""
    _clock: Timer | None = None

    def __init__(self, kept_as: Hashable = None) -> None:
        super().__init__()
        self._kept_as = kept_as
        self._fresh: dict[str, str] = {}
        self._as_left: dict[str, str] = {}

    def content(self) -> ComposeResult:
        with VerticalScroll(id=self.FORM, can_focus=False):
            yield from self.fields()
        yield from self.below()
        yield Static(classes="form-trouble", markup=False)

    def fields(self) -> ComposeResult:
        """Yield what is known of the form when the screen opens; its first field gets the focus."""
        return ()

    def below(self) -> ComposeResult:
        """Yield the widgets between the fields and the errors."""
        return ()

    def on_mount(self) -> None:
        for first in self.query(OptionField).results():
            first.line.focus()
            break

    def field(self, name: str | None) -> OptionField | None:
        return next(iter(self.query(f"#option-{name}").results(OptionField)), None)

    def values(self) -> dict[str, str]:
        return {field.option: field.value for field in self.query(OptionField)}

    def take_up(self, fields: Iterable[OptionField]) -> None:
        """Restore the values typed before the form was closed into new fields, and track changes from now on."""
        self._as_left = self._as_left or self.workbench.left_forms.get(self._kept_as, {})
        for field in fields:
            self._fresh[field.option] = field.value
            if (typed := self._as_left.get(field.option)) is not None:
                field.value = typed

    def complete(self, field: OptionField, go_on: Callable[[], None]) -> None:
        """Complete the typed file name if one file matches; report an error if several match.

        Args:
            go_on: Called if the typed file exists, or no file matches.
        """
        typed = field.value

        def taken(found: list[str]) -> None:
            if field.value != typed:
                return
            if len(found) == 1:
                field.value = found[0]
            elif found:
                field.complain(ambiguous_name_message(found))
            else:
                go_on()

        self.in_background(partial(possible_names, typed), taken, group="form-name")

    def keep(self) -> None:
        typed = {name: value for name, value in self.values().items() if value != self._fresh.get(name, value)}
        if self._fresh:
            self.workbench.left_forms[self._kept_as] = typed

    def forget(self) -> None:
        self._as_left = {}
        self.workbench.left_forms.pop(self._kept_as, None)

    def complain(self, text: str) -> None:
        show_line(self.query_one(".form-trouble", Static), f"! {printable(text)}" if text else "")

    def show_error(self, error: BaseException | None) -> None:
        self.rest()
        if isinstance(error, OptionError) and self.complain_at(error):
            return
        if isinstance(error, WorkbenchError):
            self.complain(str(error))
        else:
            super().show_error(error)

    def attempt(self, make: Callable[[], Made]) -> Made | None:
        """Return what is made of the fields; None if they are wrong, which is shown then."""
        try:
            return make()
        except WorkbenchError as error:
            self.show_error(error)
            return None

    def complain_at(self, error: OptionError) -> bool:
        """Show an error at its field; return False if the field is not visible."""
        field = self.field_of(error)
        if field is None:
            return False
        self.call_after_refresh(self._show_complaint, field, error.wrong)
        return True

    def field_of(self, error: OptionError) -> OptionField | None:
        """Return the field of an option; None if it is not shown."""
        field = self.field(error.option)
        return field if field is not None and field.display else None

    def _show_complaint(self, field: OptionField, text: str) -> None:
        field.complain(text)
        field.line.focus(scroll_visible=False)
        # The error adds lines to the field: scroll only after the new layout, so that all of it is visible.
        field.call_after_refresh(field.scroll_visible, animate=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        for field in self.query(OptionField):
            if field.line is event.input:
                self.entered(field)

    def entered(self, field: OptionField) -> None:
        """Continue after enter in a field."""
        self.focus_next()

    @on(OptionField.Changed)
    def _something_changed(self) -> None:
        self.complain("")
        self.keep()

    # -- what it is for: work that takes its time, and can be stopped ------------------------------

    @property
    def is_at_work(self) -> bool:
        return self._clock is not None

    def begin(
        self, work: Callable[[], Made], then: Callable[[Made], None], tell: Callable[[], None], every_s: float = 1
    ) -> None:
        """Work in the background, and call ``tell`` at intervals until `rest`; `action_back` stops it."""
        self._clock = self.set_interval(every_s, tell)
        tell()
        self.in_background(work, then, group=_WORK, stops=True)

    def rest(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
            self.say(self.heading()[1])

    def action_back(self) -> None:
        if self.is_at_work:
            self.workers.cancel_group(self, _WORK)
            self.rest()
            self.notify(self.STOPPED)
        else:
            self.workbench.action_go_back()


# -- Screens with one reader, in which a text can be found.


def finding_actions(screen: str) -> tuple[Action, ...]:
    return (
        Action(f"{screen}.find", "/", "find", "Find", "Find a text."),
        Action(f"{screen}.find-next", "n", "find_next(1)", "Next hit", "Go to the next hit.", False),
        Action(f"{screen}.find-previous", "N", "find_next(-1)", "Previous hit", "Go to the previous hit.", False),
        Action(f"{screen}.back", "escape,q", "back", "Back", "Go back."),
    )


class FindingScreen(WorkbenchScreen):
    """Finds a text in the reader that has the focus, or in the first one."""

    @property
    def reader(self) -> Reader:
        return self.focused if isinstance(self.focused, Reader) else self.query(Reader).first()

    def action_find(self) -> None:
        self.reader.ask_text()

    def action_find_next(self, step: int) -> None:
        self.reader.find_next(step)
