"""A form that serves recorded replies in place of a model server, for as long as the app runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.app.demo import sample_folder
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.replays import ReplayServer
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.screens.verb import VerbFormScreen
from workbench.app.tui.verb_forms import VerbForm
from workbench.app.verbs import verb_named
from workbench.core.errors import FormatError
from workbench.core.text.figures import counted

if TYPE_CHECKING:
    from workbench.app.cli.servers import ReplayOptions

_ABOUT: Final = {
    "file": 'JSON lines with a "match" and a "raw" reply, or a "request" and its "response"',
    "port": "port on this machine; empty: any free one. An existing judge needs the same port as before",
}
"""The options asked for -> their explanations."""
_LIFE: Final = (
    "A server runs until it is stopped here or this app ends. A run that uses it then pauses; it can be resumed when "
    "the file is served at the same port again."
)


class ReplayScreen(VerbFormScreen):
    """A file, and the port that serves it.

    Args:
        then: Called with the server once this screen has closed; None: the screen stays open.
        port: The initial port.
    """

    TITLE_TEXT, FORM = "Replay", "replay-form"
    REMARK = "recorded replies replace a model server; no model is called"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("replay.serve", "f4,ctrl+r", "run", "Serve", "Serve the recorded replies.", priority=True),
        Action("replay.stop", "f8", "stop", "Stop", "Stop serving.", priority=True),
        Action("replay.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
    )

    def __init__(self, then: Callable[[ReplayServer], None] | None = None, port: str = "") -> None:
        super().__init__(verb_named("replay"), {"file": _sample(), "port": port})
        self._then = then

    heading = WorkbenchScreen.heading

    def read_form(self) -> VerbForm:
        return super().read_form().only(_ABOUT)

    def below(self) -> ComposeResult:
        yield Static(_LIFE, id="replay-life", markup=False)
        yield Static(id="replay-served", markup=False)

    def on_mount(self) -> None:
        self._show_served()

    def _show_served(self) -> None:
        lines = [
            f"● {ready.base_url}  {counted(ready.replies, 'recording')} of {file.name}, model {', '.join(ready.models)}"
            for file, _, ready in self.workbench.replays
        ]
        text = "\n".join(map(printable, lines)) if lines else "Nothing is served now."
        self.query_one("#replay-served", Static).update(Content(text))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return any(self.workbench.replays)
        return super().check_action(action, parameters)

    def entered(self, field: OptionField) -> None:
        if (file := self.field("file")) is not None:
            self.complete(file, self.action_run)

    def action_run(self) -> None:
        if self.form is not None and (options := self.attempt(partial(self.form.record, self.values()))) is not None:
            asked = cast("ReplayOptions", options)
            work = partial(self.workbench.replays.start, asked.file, asked.port)
            self.in_background(work, self._served, group="replay")

    def _served(self, server: ReplayServer) -> None:
        self._show_served()
        if refused := server.told.refused:
            left_out = f"{counted(refused, 'line')} of {server.file.name} left out: they are not recorded replies."
            self.notify(printable(left_out), severity="warning")
        if self._then is not None and self.is_current:
            self.app.pop_screen()
            self._then(server)

    def action_stop(self) -> None:
        self.in_background(self.workbench.replays.stop, lambda _: self._show_served(), group="replay")


def _sample() -> str:
    try:
        return str(sample_folder() / "judge_replies.jsonl")
    except FormatError:
        return ""
