"""A judge's template as text: edited, previewed on an item, saved next to the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Final

from msgspec import structs
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.events import Paste
from textual.timer import Timer
from textual.widgets import Static, TextArea

from workbench.app.tui.form import FormScreen
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable, show_line
from workbench.app.tui.screens.add_judge import show_preview
from workbench.app.tui.screens.confirm import confirm
from workbench.core.errors import WorkbenchError
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.data.records import ItemDetail
from workbench.runs import own_templates
from workbench.runs.own_templates import MAX_BYTES, TemplateDraft, TemplateShape

_FILE: Final = "file next to the database"
_PAUSE_S: Final = 0.3


class TemplateScreen(FormScreen):
    """The template's text, and below it a summary of its requests, or the error.

    Args:
        kind: The kind of verifier.
        options: Its options.
        verifier: Its name.
        item: The initial item of the preview; None for the first item.
        then: Called with the name of the saved file.
    """

    TITLE_TEXT = "Template"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("template.preview", "ctrl+t,f3", "preview", "Preview", "Show the resulting request.", priority=True),
        Action("template.save", "ctrl+r,f4", "save", "Save", "Save the template as a file, and try it.", priority=True),
        Action("template.back", "escape", "back", "Back", "Leave without saving."),
    )

    def __init__(
        self, kind: str, options: Mapping[str, str], verifier: str, item: ItemDetail | None, then: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._kind, self._options, self._verifier = kind, options, verifier
        self._item, self._then = item, then
        self._draft: TemplateDraft | None = None
        self._check_later: Timer | None = None

    def heading(self) -> tuple[str, str]:
        return self.TITLE_TEXT, printable(self._verifier)

    def content(self) -> ComposeResult:
        yield TextEditor(MAX_BYTES, id="template-text")
        yield Static(id="template-shape", markup=False)
        yield Static(classes="form-trouble", markup=False)

    def on_mount(self) -> None:
        self.editor.read_only = True
        work = partial(own_templates.draft_of, self.project, self._kind, self._options, self._verifier)
        self.in_background(work, self._show, group="template")

    @property
    def editor(self) -> TextEditor:
        return self.query_one(TextEditor)

    @property
    def draft(self) -> TemplateDraft | None:
        """Return the current template; None until it was read."""
        return None if self._draft is None else structs.replace(self._draft, text=self.editor.text)

    def _show(self, draft: TemplateDraft) -> None:
        self._draft = draft
        self.say(f"{printable(self._verifier)} · {printable(draft.file)}")
        self.editor.read_only = False
        self.editor.text = draft.text
        self.editor.focus()

    # -- what it would ask, or what is wrong -------------------------------------------------------

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self.complain("")
        if self._check_later is not None:
            self._check_later.stop()
        self._check_later = self.set_timer(_PAUSE_S, self._check)

    def _check(self) -> None:
        if (draft := self.draft) is not None:
            work = partial(own_templates.shape_of, draft.text, draft.file)
            self.in_background(work, self._show_shape, group="template-shape")

    def _show_shape(self, shape: TemplateShape) -> None:
        lacks = f" · without {' and '.join(shape.lacks)}" if shape.lacks else ""
        said = f"{counted(shape.calls, 'call')} per item · parsed by {printable(shape.parser)}{lacks}"
        self._put_shape(said)

    def _put_shape(self, said: str) -> None:
        show_line(self.query_one("#template-shape", Static), said)

    def show_error(self, error: BaseException | None) -> None:
        if isinstance(error, WorkbenchError):
            self._put_shape("")
        super().show_error(error)

    # -- actions -----------------------------------------------------------------------------------

    def action_preview(self) -> None:
        if (draft := self.draft) is not None:
            preview = partial(own_templates.preview, self.project, self._kind, self._options, draft)
            show_preview(self, self._kind, self._options, preview, self._item)

    def action_save(self) -> None:
        if self._draft is not None:
            self.ask_line(_FILE, self._verifier, self._save, self._draft.file)

    def _save(self, name: str) -> None:
        if (draft := self.draft) is not None:
            work = partial(own_templates.save_template, self.project, draft, name)
            self.in_background(work, self._saved, group="template-save")

    def _saved(self, file: str) -> None:
        self.line_stored(_FILE, self._verifier)
        self.app.pop_screen()
        self._then(file)

    def action_back(self) -> None:
        leave = self.workbench.action_go_back
        if (draft := self.draft) is not None and draft != self._draft:
            confirm(self, "Leave without saving?", "What you have written is lost.", leave)
        else:
            leave()


_STEERS = re.compile(r"[^\t\x20-\x7e]")


class TextEditor(TextArea):
    """A text area with a maximum length; the rest of a longer pasted text is dropped with a notice.

    Args:
        longest: Maximum number of characters.
    """

    def __init__(self, longest: int, *, id: str | None = None) -> None:
        super().__init__(id=id, show_line_numbers=True, placeholder="reading …")
        self._longest = longest

    def get_line(self, line_index: int) -> Text:
        """Return a line for drawing: each invisible or control character is replaced by a sign of its own width."""
        return Text(_STEERS.sub(_visible_sign, self.document.get_line(line_index)), end="", no_wrap=True)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        # Textual would paste too.
        event.prevent_default()
        room = max(self._longest - len(self.text) + len(self.selected_text), 0)
        text = event.text[:room].replace("\r\n", "\n").replace("\r", "\n")
        if self.read_only:
            return
        self.replace(text, *self.selection, maintain_selection_offset=False)
        if len(event.text) > room:
            said = f"A text may have {self._longest:,} characters: the rest of the pasted text was dropped."
            self.notify(said, title="Cut", severity="warning")


def _visible_sign(match: re.Match[str]) -> str:
    return match[0] if (shown := inert(match[0])) == match[0] else shown if len(shown) == 1 else "␚"
