"""A form that adds a verifier which asks a model server: filled in, tried on an item, kept in workbench.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from workbench.app.tui.actions import Action
from workbench.app.tui.finding import FindingScreen, finding_actions
from workbench.app.tui.form import FormScreen
from workbench.app.tui.kit.call_text import REQUEST, planned_text
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.prompt_bar import PromptBar
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.confirm import ConfirmScreen
from workbench.app.tui.screens.option_section import OptionSection
from workbench.core.errors import OptionError
from workbench.core.text.figures import counted
from workbench.runs import configuring
from workbench.runs.configuring import VerifierForm, preview
from workbench.runs.previewing import PreviewedCall

_ITEM = "item"


class PreviewScreen(FindingScreen):
    """One request after the other, as text or to the byte.

    Args:
        kind: The kind of verifier.
        options: Its options.
        calls: What it would ask about the first item.
    """

    TITLE_TEXT = "Preview"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("preview.next", "right_square_bracket", "next", "Next call", "Go to the next request."),
        Action("preview.raw", "r", "raw", "Raw", "Show the bodies to the byte, and back."),
        Action("preview.item", "i", "item", "Item", "Show the requests about another item."),
        *finding_actions("preview"),
    )

    def __init__(self, kind: str, options: Mapping[str, str], calls: list[PreviewedCall]) -> None:
        super().__init__()
        self._kind, self._options = kind, options
        self._calls = calls
        self._item = ""
        self._raw = False

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar(self.TITLE_TEXT, "")
        yield Reader(id="preview-text")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show what is there."""
        self.reader.focus()
        self._show()

    def _show(self) -> None:
        item = printable(self._item) or "the first item"
        self.say(f"{item} · {counted(len(self._calls), 'call')}, one a step · nothing is sent")
        self.reader.set_title("to the byte" if self._raw else "as text")
        self.reader.show(planned_text(self._calls, raw=self._raw))

    def action_next(self) -> None:
        """Go to the next request."""
        self.reader.jump(REQUEST)

    def action_raw(self) -> None:
        """Text or bytes."""
        self._raw = not self._raw
        self._show()

    def action_item(self) -> None:
        """Ask for an item's id."""
        self.ask(_ITEM, "id of the item", self._item)

    def answered(self, asked: str, text: str) -> bool:
        """Read what would be asked about that item."""
        if asked != _ITEM:
            return super().answered(asked, text)
        work = partial(preview, self.project, self._kind, self._options, text or None)
        self.in_background(work, partial(self._read, text), group="preview")
        return False

    def _read(self, item: str, calls: list[PreviewedCall]) -> None:
        self._item, self._calls = item, calls
        self.close_prompt()
        self._show()


_NAME = "name"
_KIND = "kind"
_STRATEGY = "strategy"
_KEY_VARIABLE = "api_key_env"
_NAME_ABOUT = "what tables, commands and workbench.toml call it"
_KIND_ABOUT = "a judge that is asked for a verdict, a model that gives a score …"


class AddJudgeScreen(FormScreen):
    """One field an option, in sections; what is wrong stands at its field."""

    CSS_PATH = "add_judge.tcss"
    TITLE_TEXT = "Add a judge"
    AUTO_FOCUS: ClassVar[str] = "#option-name Input"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("judge.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: the one before)."),
        Action(
            "judge.preview", "f3,ctrl+t", "preview", "Preview", "Show the exact request for an item.", priority=True
        ),
        Action("judge.save", "f4,ctrl+r", "save", "Save", "Keep it in workbench.toml.", priority=True),
        Action("judge.close", "escape", "close", "Close", "Leave without saving."),
    )

    def __init__(self) -> None:
        super().__init__()
        self._forms: dict[str, VerifierForm] = {}

    def compose(self) -> ComposeResult:
        """The name; the rest comes when the kinds are known."""
        yield TitleBar(self.TITLE_TEXT, "the key itself is never asked for, only the variable that holds it")
        with VerticalScroll(id="judge-form", can_focus=False):
            yield OptionField(_NAME, _NAME_ABOUT)
            yield Vertical(id="judge-kind")
            yield Vertical(id="judge-sections")
        yield Static(classes="form-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read which kinds there are and what they take."""
        self.in_background(configuring.forms, self._show_kinds, group="forms")

    # -- the form ----------------------------------------------------------------------------------

    def _show_kinds(self, forms: list[VerifierForm]) -> None:
        self._forms = {form.kind: form for form in forms}
        if not forms:
            self.complain("No kind of verifier that asks a server is installed.")
            return
        kinds = [Choice(form.kind, f"{form.kind}: {form.description}") for form in forms]
        self.query_one("#judge-kind").mount(OptionField(_KIND, _KIND_ABOUT, kinds))
        self._show_sections(forms[0])

    def _show_sections(self, form: VerifierForm) -> None:
        """The sections of a kind; what was typed under the same names stays."""
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
        """Only what the chosen strategy uses is there."""
        values = self.values()
        for section in self._sections:
            section.show_used(values)

    def values(self) -> dict[str, str]:
        """What has been filled in, by option."""
        return {name: value for section in self._sections for name, value in section.values().items()}

    def _given(self) -> dict[str, str]:
        """What has been filled in and is used."""
        values = self.values()
        options = {option.name: option for section in self._sections for option in section.section.options}
        return {name: value for name, value in values.items() if options[name].is_used(values)}

    @property
    def chosen_kind(self) -> str | None:
        """The kind of verifier; None until the kinds are known."""
        found = self.query(f"#option-{_KIND}").results(OptionField)
        return next((field.value for field in found), None)

    @property
    def typed_name(self) -> str:
        """What it is to be called."""
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
        """A field in a section that is folded is shown first."""
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
        """Show what would be sent about the first item; the preview goes on to others."""
        if (kind := self.chosen_kind) is not None:
            options = self._given()
            work = partial(configuring.preview, self.project, kind, options, None)
            self.in_background(work, partial(self._show_preview, kind, options), group="judge")

    def _show_preview(self, kind: str, options: dict[str, str], calls: list[PreviewedCall]) -> None:
        if self.is_current:
            self.app.push_screen(PreviewScreen(kind, options, calls))

    def action_save(self) -> None:
        """Check it and keep it."""
        if (kind := self.chosen_kind) is not None:
            work = partial(configuring.save, self.project, self.typed_name, kind, self._given())
            self.in_background(work, self._saved, group="judge")

    def _saved(self, path: Path) -> None:
        self.notify(
            f"It stands in {path}. Start it in Verifiers & runs.",
            title=f"{printable(self.typed_name)} saved",
            markup=False,
        )
        self.app.pop_screen()

    def action_close(self) -> None:
        """Leave, after a question where something would be lost."""

        def answered(leave: bool | None) -> None:
            if leave:
                self.app.pop_screen()

        if self.typed_name or self.values():
            self.app.push_screen(ConfirmScreen("Leave without saving?", "What you have typed is lost."), answered)
        else:
            self.app.pop_screen()
