"""A form that serves recorded replies in place of a model server, for as long as the app runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench.app.demo import sample_folder
from workbench.app.tui.form import FormField, FormScreen, option_field
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.replays import ReplayServer
from workbench.core.errors import FormatError, OptionError
from workbench.core.text.figures import counted

_FILE: Final = "file"
_PORT: Final = "port"
_ABOUT: Final = {
    _FILE: 'JSON lines with a "match" and a "raw" reply, or a "request" and its "response"',
    _PORT: "port on this machine; empty: any free one. An existing judge needs the same port as before",
}
_LIFE: Final = (
    "A server runs until it is stopped here or this app ends. A run that uses it then pauses; it can be resumed when "
    "the file is served at the same port again."
)


class ReplayScreen(FormScreen):
    """A file, and the port that serves it.

    Args:
        then: Called with the server once this screen has closed; None: the screen stays open.
        port: The initial port.
    """

    CSS_PATH = "replay.tcss"
    TITLE_TEXT, FORM = "Replay", "replay-form"
    REMARK = "recorded replies replace a model server; no model is called"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("replay.serve", "f4,ctrl+r", "serve", "Serve", "Serve the recorded replies.", priority=True),
        Action("replay.stop", "f8", "stop", "Stop", "Stop serving.", priority=True),
        Action("replay.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
    )

    def __init__(self, then: Callable[[ReplayServer], None] | None = None, port: str = "") -> None:
        super().__init__()
        self._then, self._port = then, port

    def fields(self) -> ComposeResult:
        yield option_field(FormField(name=_FILE, about=_ABOUT[_FILE], value=_sample(), is_path=True))
        yield option_field(FormField(name=_PORT, about=_ABOUT[_PORT], value=self._port))
        yield Static(_LIFE, id="replay-life", markup=False)
        yield Static(id="replay-served", markup=False)

    def on_mount(self) -> None:
        self._show_served()

    def _show_served(self) -> None:
        lines = [
            f"● {one.url}  {counted(one.replies, 'recording')} of {one.file.name}, model {', '.join(one.models)}"
            for one in self.workbench.replays
        ]
        text = "\n".join(map(printable, lines)) if lines else "Nothing is served now."
        self.query_one("#replay-served", Static).update(Content(text))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return any(self.workbench.replays)
        return super().check_action(action, parameters)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.complete(self.query_one(f"#option-{_FILE}", OptionField), self.action_serve)

    def action_serve(self) -> None:
        values = self.values()
        self.in_background(partial(self._serve, values[_FILE], values[_PORT]), self._served, group="replay")

    def _serve(self, file: str, port: str) -> ReplayServer:
        if not file:
            raise OptionError(_FILE, "A value is required.")
        number = int(port) if port.isascii() and port.isdigit() else None if port else 0
        if number is None or number > 65_535:
            raise OptionError(_PORT, f"{port!r} is not a port: write a number up to 65535.")
        return self.workbench.replays.start(Path(file).expanduser(), number)

    def _served(self, server: ReplayServer) -> None:
        self._show_served()
        if server.refused:
            left_out = (
                f"{counted(server.refused, 'line')} of {server.file.name} left out: they are not recorded replies."
            )
            self.notify(printable(left_out), severity="warning", markup=False)
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
