"""A form that adds a verifier with a model server: filled in, tried on an item, saved in workbench.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from workbench.app.tui.form import FindingScreen, finding_actions
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.evidence import REQUEST, planned_text
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.option_field import DEFAULT, OptionField
from workbench.app.tui.kit.prompt_bar import PromptBar
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.confirm import confirm
from workbench.app.tui.server_test import ServerTestScreen
from workbench.core.errors import OptionError
from workbench.core.text.figures import counted
from workbench.measuring import browsing
from workbench.runs import configuring
from workbench.runs.configuring import FormOption, FormSection, VerifierForm
from workbench.runs.previewing import PreviewedCall

# -- Options that belong together, under a heading that folds them.


_NOT_GIVEN = Choice(DEFAULT, "default")


class Heading(Static, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "fold", "Fold", show=False, id="section.fold")]

    class Folded(Message):
        """It is to be folded, or unfolded."""

    def __init__(self, title: str) -> None:
        super().__init__(markup=False)
        self._title = title

    def tell(self, folded: bool) -> None:
        self.update(Content(f"{'▶' if folded else '▼'} {self._title}"))

    def action_fold(self) -> None:
        self.post_message(self.Folded())

    def on_click(self) -> None:
        self.action_fold()

    def on_key(self, event: Key) -> None:
        if event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            field = self.screen.focus_next(Input)
            if isinstance(field, Input):
                field.insert_text_at_cursor(event.character)


class OptionSection(Vertical):
    """A heading with one field per option; fields are created when they are first unfolded.

    Attributes:
        folded: Only the heading is shown.
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
        yield Heading(self.section.title)
        with Vertical(classes="options"):
            yield from self._fields() if self._made else ()

    def on_mount(self) -> None:
        self.query_one(Heading).tell(self.folded)

    def _fields(self) -> Iterator[OptionField]:
        for option in self.section.options:
            yield _field(option, self._values.get(option.name, DEFAULT))

    @property
    def fields(self) -> list[OptionField]:
        return [child for child in self.query_one(".options").children if isinstance(child, OptionField)]

    def values(self) -> dict[str, str]:
        return {field.option: field.value for field in self.fields if field.value}

    def show_used(self, values: Mapping[str, str]) -> None:
        """Hide fields that have no effect with these values of the whole form."""
        used = {option.name for option in self.section.options if option.is_used(values)}
        self.display = bool(used)
        for field in self.fields:
            field.display = field.option in used

    @on(Heading.Folded)
    def _fold(self, event: Heading.Folded) -> None:
        event.stop()
        self.folded = not self.folded

    def watch_folded(self, folded: bool) -> None:
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


_ITEM = "item"


class PreviewScreen(FindingScreen):
    """One request after the other, as text or to the byte.

    Args:
        look: Returns the requests for an item by its id, or for the first one; runs in a thread.
        calls: The requests for an item.
        item: The id of that item; empty for the first one.
    """

    TITLE_TEXT = "Preview"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("preview.next", "right_square_bracket", "next", "Next call", "Go to the next request."),
        Action("preview.raw", "o", "raw", "Raw", "Show bodies byte for byte, or formatted."),
        Action("preview.item", "i", "item", "Item", "Show the requests about another item."),
        *finding_actions("preview"),
    )

    def __init__(
        self, look: Callable[[str | None], list[PreviewedCall]], calls: list[PreviewedCall], item: str = ""
    ) -> None:
        super().__init__()
        self._look = look
        self._calls = calls
        self._item = item
        self._raw = False

    def compose(self) -> ComposeResult:
        yield TitleBar(self.TITLE_TEXT, "")
        yield Reader(id="preview-text")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.reader.focus()
        self._show()

    def _show(self) -> None:
        item = printable(self._item) or "the first item"
        self.say(f"{item} · {counted(len(self._calls), 'call')}, one per step · nothing is sent")
        self.reader.set_title("to the byte" if self._raw else "as text")
        self.reader.show(planned_text(self._calls, raw=self._raw))

    def action_next(self) -> None:
        self.reader.jump(REQUEST)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self._show()

    def action_item(self) -> None:
        self.ask(_ITEM, "id of the item", self._item)

    def answered(self, asked: str, text: str) -> bool:
        if asked != _ITEM:
            return super().answered(asked, text)
        self.in_background(partial(self._look, text or None), partial(self._read, text), group="preview")
        return False

    def _read(self, item: str, calls: list[PreviewedCall]) -> None:
        self._item, self._calls = item, calls
        self.close_prompt()
        self._show()


_NAME = "name"
_KIND = "kind"
_STRATEGY = "strategy"
_KEY_VARIABLE = "api_key_env"
_NAME_ABOUT = "its name in tables, commands and workbench.toml"
_KIND_ABOUT = "a judge that returns a verdict, a model that returns a score …"


class AddJudgeScreen(ServerTestScreen):
    """One field per option, in sections; errors are shown at their field."""

    CSS_PATH = "add_judge.tcss"
    TITLE_TEXT = "Add a judge"
    AUTO_FOCUS: ClassVar[str] = "#option-name Input"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("judge.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
        Action("judge.preview", "f3,ctrl+t", "preview", "Preview", "Show an item's exact request.", priority=True),
        Action("judge.test", "f5", "test", "Test server", "See what the server can do.", priority=True),
        Action("judge.replay", "f7", "replay", "Replay", "Serve recorded replies instead.", priority=True),
        Action("judge.save", "f4,ctrl+r", "save", "Save", "Save it in workbench.toml.", priority=True),
        Action("judge.close", "escape,q", "close", "Close", "Leave without saving."),
    )

    def __init__(self) -> None:
        super().__init__()
        self._forms: dict[str, VerifierForm] = {}

    def compose(self) -> ComposeResult:
        yield TitleBar(self.TITLE_TEXT, "the key itself is never asked for, only the variable that holds it")
        with VerticalScroll(id="judge-form", can_focus=False):
            yield OptionField(_NAME, _NAME_ABOUT)
            yield Vertical(id="judge-kind")
            yield Vertical(id="judge-sections")
        yield Static(classes="form-tested", markup=False)
        yield Static(classes="form-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.in_background(configuring.forms, self._show_kinds, group="forms")

    # -- the form ----------------------------------------------------------------------------------

    def _show_kinds(self, forms: list[VerifierForm]) -> None:
        self._forms = {form.kind: form for form in forms}
        if not forms:
            self.complain("No kind of verifier that uses a server is installed.")
            return
        kinds = [Choice(form.kind, f"{form.kind}: {form.description}") for form in forms]
        self.query_one("#judge-kind").mount(OptionField(_KIND, _KIND_ABOUT, kinds))
        self._show_sections(forms[0])

    def _show_sections(self, form: VerifierForm) -> None:
        self.run_worker(self._build(form, self.values()), group="judge-form", exclusive=True)

    async def _build(self, form: VerifierForm, typed: dict[str, str]) -> None:
        box = self.query_one("#judge-sections")
        await box.remove_children()
        for section in form.sections:
            shown = OptionSection(section, typed)
            async with self.batch():
                await box.mount(shown)
                shown.show_used({**typed, **self.values()})

    @property
    def _sections(self) -> list[OptionSection]:
        return [child for child in self.query_one("#judge-sections").children if isinstance(child, OptionSection)]

    def _hide_unused(self) -> None:
        values = self.values()
        for section in self._sections:
            section.show_used(values)

    def values(self) -> dict[str, str]:
        return {name: value for section in self._sections for name, value in section.values().items()}

    def _filled_in(self) -> dict[str, str]:
        values = self.values()
        options = {option.name: option for section in self._sections for option in section.section.options}
        return {name: value for name, value in values.items() if options[name].is_used(values)}

    @property
    def chosen_kind(self) -> str | None:
        """Return the kind of verifier; None until the kinds are known."""
        found = self.query(f"#option-{_KIND}").results(OptionField)
        return next((field.value for field in found), None)

    @property
    def typed_name(self) -> str:
        return self.query_one(f"#option-{_NAME}", OptionField).value

    @on(OptionField.Changed)
    def _changed(self, event: OptionField.Changed) -> None:
        if event.field.option == _KIND:
            self._show_sections(self._forms[event.field.value])
        elif event.field.option == _STRATEGY:
            self._hide_unused()

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    def complain_at(self, error: OptionError) -> bool:
        field = self.field_of(error)
        if field is None:
            return False
        if error.option == _KEY_VARIABLE:
            # What was typed may be the key itself: it goes from the screen.
            field.clear()
        for box in field.ancestors:
            if isinstance(box, OptionSection):
                box.folded = False
        return super().complain_at(error)

    # -- actions -----------------------------------------------------------------------------------

    def action_preview(self) -> None:
        if (kind := self.chosen_kind) is not None:
            look = partial(self._preview, kind, self._filled_in(), self.workbench.names_worked_under)
            self.in_background(partial(look, None), partial(self._show_preview, look), group="judge")

    def _preview(
        self, kind: str, given: dict[str, str], names: tuple[str, ...], item: str | None
    ) -> list[PreviewedCall]:
        found = configuring.preview(self.project, kind, given, item)
        browsing.reveal_examples(self.project, kind, given, names)
        return found

    def _show_preview(self, look: Callable[[str | None], list[PreviewedCall]], calls: list[PreviewedCall]) -> None:
        if self.is_current:
            self.app.push_screen(PreviewScreen(look, calls))

    def action_test(self) -> None:
        if (kind := self.chosen_kind) is not None:
            self.ask_server(kind, self._filled_in())

    def action_save(self) -> None:
        if (kind := self.chosen_kind) is not None:
            work = partial(configuring.save, self.project, self.typed_name, kind, self._filled_in())
            self.in_background(work, self._saved, group="judge")

    def _saved(self, path: Path) -> None:
        name = self.typed_name
        self.notify(f"Saved to {path}.", title=f"{printable(name)} saved", markup=False)
        self.app.pop_screen()
        self.workbench.action_start_verifier(name)

    def action_close(self) -> None:
        if self.typed_name or self.values():
            confirm(self, "Leave without saving?", "What you have typed is lost.", self.app.pop_screen)
        else:
            self.app.pop_screen()
