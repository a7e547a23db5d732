"""A form that adds a verifier with a model server: filled in, tried on an item, saved in workbench.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.app.tui.form import FindingScreen, finding_actions
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.evidence import REQUEST, planned_text
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.confirm import confirm
from workbench.app.tui.server_test import ServerTestScreen
from workbench.core.text.figures import counted
from workbench.data.records import ItemDetail
from workbench.measuring import browsing
from workbench.runs import configuring
from workbench.runs.configuring import VerifierForm
from workbench.runs.previewing import PreviewedCall


class PreviewScreen(FindingScreen):
    """The requests to a model server about an item, formatted or byte for byte.

    Args:
        look: Returns the requests about the item with this id (None: the first item); runs in a thread.
        calls: The initially shown requests about an item.
        item: The id of that item; empty for the first one.
    """

    TITLE_TEXT, REMARK = "Preview", ""
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("preview.next", "]", "next", "Next call", "Go to the next request."),
        Action("preview.raw", "o", "raw", "Raw", "Show request bodies byte for byte, or formatted."),
        Action("preview.item", "i", "item", "Item", "Show the requests about another item."),
        *finding_actions("preview"),
    )

    def __init__(
        self, look: Callable[[str | None], list[PreviewedCall]], calls: list[PreviewedCall], item: str = ""
    ) -> None:
        super().__init__()
        self._look, self._calls, self._item = look, calls, item
        self._raw = False

    def content(self) -> ComposeResult:
        yield Reader(id="preview-text")

    def on_mount(self) -> None:
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
        self.app.push_screen(PromptLine("id of the item", self._item, entered=self._read_item))

    def _read_item(self, text: str) -> bool:
        self.in_background(partial(self._look, text or None), partial(self._show_item, text), group="preview")
        return False

    def _show_item(self, item: str, calls: list[PreviewedCall]) -> None:
        self._item, self._calls = item, calls
        if self.open_line is not None:
            self.open_line.dismiss(item)
        self._show()


def show_preview(
    screen: WorkbenchScreen,
    kind: str,
    options: Mapping[str, str],
    preview: Callable[[str | int | None], list[PreviewedCall]],
    item: ItemDetail | None = None,
) -> None:
    """Show a verifier's requests about an item, or the first one; examples that a prompt shows count as looked at.

    Args:
        preview: Returns the requests; runs in a thread.
    """
    project, names = screen.project, screen.workbench.names_worked_under

    def look(which: str | int | None) -> list[PreviewedCall]:
        found = preview(which)
        browsing.reveal_examples(project, kind, options, names)
        return found

    def show(calls: list[PreviewedCall]) -> None:
        if screen.is_current:
            screen.app.push_screen(PreviewScreen(look, calls, "" if item is None else item.completion_id))

    screen.in_background(partial(look, None if item is None else item.id), show, group="preview")


_NAME = "name"
_KIND = "kind"
_STRATEGY = "strategy"
_NAME_ABOUT = "name of the judge in tables, commands and workbench.toml"
_KIND_ABOUT = "a judge that returns a verdict, a model that returns a score …"


class AddJudgeScreen(ServerTestScreen):
    """One field per option, in sections; errors are shown at their field."""

    TITLE_TEXT = "Add a judge"
    SECTIONS = "judge-sections"
    REMARK, FORM = "the key itself is never asked for, only the variable that holds it", "judge-form"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("judge.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
        Action("judge.preview", "f3,ctrl+t", "preview", "Preview", "Show an item's exact request.", priority=True),
        Action("judge.test", "f5", "test", "Test server", "Test what the server can do.", priority=True),
        Action("judge.replay", "f7", "replay", "Replay", "Replace the server by recorded replies.", priority=True),
        Action("judge.save", "f4,ctrl+r", "save", "Save", "Save the judge in workbench.toml.", priority=True),
        Action("judge.close", "escape,q", "close", "Close", "Leave without saving."),
    )

    _forms: Mapping[str, VerifierForm] = {}

    def fields(self) -> ComposeResult:
        yield OptionField(_NAME, _NAME_ABOUT)
        yield Vertical(id="judge-kind")
        yield Vertical(id="judge-sections")

    def on_mount(self) -> None:
        self.in_background(configuring.forms, self._show_kinds, group="forms")

    # -- the form ----------------------------------------------------------------------------------

    def _show_kinds(self, forms: list[VerifierForm]) -> None:
        self._forms = {form.kind: form for form in forms}
        if not forms:
            self.complain("No kind of verifier that uses a server is installed.")
            return
        kinds = {form.kind: form.description for form in forms}
        self.query_one("#judge-kind").mount(OptionField(_KIND, _KIND_ABOUT, kinds))
        self.show_sections(forms[0].sections, self.values())

    @property
    def kind(self) -> str | None:
        """Return the kind of verifier; None until the kinds are known."""
        return self.typed(_KIND) or None

    @on(OptionField.Changed)
    def _changed(self, event: OptionField.Changed) -> None:
        if event.field.option == _KIND:
            self.show_sections(self._forms[event.field.value].sections, self.values())
        elif event.field.option == _STRATEGY:
            self.hide_unused()

    # -- actions -----------------------------------------------------------------------------------

    def action_preview(self) -> None:
        if (kind := self.kind) is not None:
            given = self.filled_in()
            show_preview(self, kind, given, partial(configuring.preview, self.project, kind, given))

    def action_save(self) -> None:
        if (kind := self.kind) is not None:
            work = partial(configuring.save, self.project, self.typed(_NAME), kind, self.filled_in())
            self.in_background(work, self._saved, group="judge")

    def _saved(self, path: Path) -> None:
        name = self.typed(_NAME)
        self.notify(f"Saved to {path}.", title=f"{printable(name)} saved")
        self.app.pop_screen()
        self.workbench.action_start_verifier(name)

    def action_close(self) -> None:
        if self.typed(_NAME) or self.values():
            confirm(self, "Leave without saving?", "What you have typed is lost.", self.app.pop_screen)
        else:
            self.app.pop_screen()
