"""Common to every screen: actions, slow work in threads, and errors as messages instead of crashes."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Paste, Resize
from textual.message import Message
from textual.screen import Screen
from textual.visual import VisualType
from textual.widgets import Static
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.app.tui.allocating import release_worker_after
from workbench.app.tui.keymap import Action, bindings
from workbench.app.tui.kit.choices import choose, index_of
from workbench.app.tui.kit.copies import ActingWidget
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.prompt_line import PromptLine
from workbench.app.tui.kit.table_messages import CountsRequested, ExportRequested
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.core.errors import StoreError, UsageError, WorkbenchError
from workbench.core.progress import Listener, Stopped, listening_with
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.app.tui.app import WorkbenchApp
    from workbench.app.tui.kit.copies import Copyable

LOG = logging.getLogger("workbench.tui")
Result = TypeVar("Result")

_STYLES = Path(__file__).with_name("screens")
SHORT = 24
"""Screen lines below which the focused pane gets most of the space."""
BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (100, "-wide")]
"""For ``HORIZONTAL_BREAKPOINTS``: below 100 columns panes are stacked."""


@dataclass
class Done(Message):
    """Posted when slow work has finished.

    Attributes:
        then: Receives the result on the app's own thread; usually a method of the screen.
    """

    then: Callable[[Any], None]
    result: Any


class WorkbenchScreen(Screen[None]):
    """Base class of all screens.

    ``ACTIONS`` declares the screen's actions. Styles are in ``screens``, in a file named like the class: those of
    ``AddJudgeScreen`` in ``add_judge.tcss``. Slow work goes through ``in_background``: it runs in a thread, never
    touches a widget, and hands its result back as a message. A failure becomes a notice and a line in the log.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = ()
    TITLE_TEXT: ClassVar[str] = ""
    REMARK: ClassVar[str] = "reading …"
    PALETTE: ClassVar[bool] = False
    PREFIX: ClassVar[str] = ""
    """Prefix of the ids of its parts: ``PREFIX-table``, ``PREFIX-caption`` …"""
    BINDINGS: ClassVar[list[Any]] = []
    WORDS: ClassVar[Mapping[str, str]] = {}
    """Term on the screen -> its explanation in the help."""
    is_jump = False
    """Whether the screen was opened by name: the path in its title then leaves out the screens below it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        name = re.sub("(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Screen")).lower()
        if (styles := _STYLES / f"{name}.tcss").is_file():
            cls.CSS_PATH = str(styles)
        if "ACTIONS" in cls.__dict__:
            own: list[Binding] = bindings(cls.ACTIONS)
            cls.BINDINGS = [*cls.__dict__.get("BINDINGS", []), *own]
        super().__init_subclass__(**kwargs)

    def compose(self) -> ComposeResult:
        yield TitleBar(*self.heading())
        yield from self.content()
        yield Footer(show_command_palette=self.PALETTE)

    def heading(self) -> tuple[str, str]:
        """Return the title and the first remark next to it."""
        return self.TITLE_TEXT, self.REMARK

    def content(self) -> ComposeResult:
        """Yield the widgets between the title and the footer."""
        return ()

    def on_mount(self) -> None:
        # What comes last is drawn last: notices over the keys.
        for rack in self.query_children("ToastRack"):
            self.move_child(rack, after=-1)

    def on_resize(self, event: Resize) -> None:
        if self.is_attached:
            self.call_after_refresh(self.redraw)

    def redraw(self) -> None:
        """Draw again what depends on the size of the screen."""

    @property
    def workbench(self) -> WorkbenchApp:
        from workbench.app.tui.app import WorkbenchApp

        assert isinstance(self.app, WorkbenchApp)
        return self.app

    @property
    def project(self) -> Project:
        return self.workbench.project

    def texts(self, *names: str) -> Iterator[Static]:
        return (Static(id=f"{self.PREFIX}-{name}", markup=False) for name in names)

    def put(self, name: str, text: VisualType, *, layout: bool = True) -> None:
        self.query_one(f"#{self.PREFIX}-{name}", Static).update(text, layout=layout)

    def say(self, remark: str) -> None:
        self.query_one(TitleBar).say(remark)

    def in_background(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], None],
        *,
        group: str,
        failed: Callable[[Exception], None] | None = None,
        exclusive: bool = True,
        stops: bool = False,
    ) -> None:
        """Run ``work`` in a thread and pass its result to ``then``; a newer call replaces an older one of its group.

        Args:
            failed: Receives the error if the work fails, before the error is shown.
            stops: Whether the work only reads: then it stops at its next step when it is replaced or the screen is
                closed. Other work runs to its end.
        """

        def task() -> None:
            worker = get_current_worker()
            with listening_with(Listener(lambda: stops and worker.is_cancelled)), suppress(Stopped):
                try:
                    result = work()
                except Exception as error:
                    if failed is not None and not worker.is_cancelled and not isinstance(error, Stopped):
                        self.post_message(Done(failed, error))
                    raise
                if not worker.is_cancelled:
                    self.post_message(Done(then, result))

        self.run_worker(release_worker_after(task), thread=True, exclusive=exclusive, exit_on_error=False, group=group)

    def on_done(self, message: Done) -> None:
        message.stop()
        if self.is_attached:
            message.then(message.result)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and self.shows_errors_of(event.worker.group):
            self.show_error(event.worker.error)

    def shows_errors_of(self, group: str) -> bool:
        """Tell whether errors of a group's work are shown; other work is retried before its result is needed."""
        return True

    def show_error(self, error: BaseException | None) -> None:
        """Show a notice; log the traceback of an unexpected error. After the user has quit, do nothing."""
        if self.workbench.leaving:
            return
        error = self.project.database.explain(error)
        if is_away := isinstance(error, StoreError) and error.is_away:
            # Every read of the database then fails with this error: one notice is enough.
            if self.workbench.reported_away == str(error):
                return
            self.workbench.reported_away = str(error)
        if isinstance(error, UsageError):
            # "Usage error" is no title for a screen: the error says what is not there yet, or no longer.
            self.notify(str(error), severity="warning")
            return
        if isinstance(error, WorkbenchError):
            self.notify(str(error), title=error.title, severity="error", timeout=30 if is_away else None)
            return
        LOG.error("background work failed", exc_info=error)
        self.notify(f"{type(error).__name__}: {error}", title="Something went wrong", severity="error", timeout=10)

    def on_paste(self, event: Paste) -> None:
        if event.text:
            self.notify("Nothing was pasted: open an input line first.", severity="warning")

    def show_index_progress(self) -> None:
        """Show the progress of the text index: called when it has grown or is complete."""

    def ask_line(
        self, title: str, about: Hashable, then: Callable[[str], object], proposal: str = "", *, empty: bool = False
    ) -> None:
        """Ask for a line of text; a line typed before for the same title and ``about`` reappears unless it was stored.

        Args:
            then: Called with the line; after storing it, call `line_stored`.
            proposal: The initial text if nothing was typed before.
            empty: An empty line is an answer, too.
        """
        given = self.workbench.unstored_lines

        def answered(said: str) -> None:
            if said:
                given[title, about] = said
            if said or empty:
                then(said)

        choose(self, PromptLine(title, given.get((title, about), proposal)), answered)

    def line_stored(self, title: str, about: Hashable) -> None:
        self.workbench.unstored_lines.pop((title, about), None)

    @property
    def open_line(self) -> PromptLine | None:
        """Return the line to type into that is over this screen; None if there is none."""
        return self.app.screen if isinstance(self.app.screen, PromptLine) else None

    def clear_restriction(self) -> bool:
        """Remove the most specific restriction of the list; return False if there is none."""
        return False

    def action_back(self) -> None:
        if not self.clear_restriction():
            self.workbench.action_go_back()

    def neighbour(self, ids: Sequence[int], present: int, step: int, noun: str) -> int | None:
        """Return the id after or before ``present`` in a list; at the list's ends, show a notice and return None."""
        place = index_of(ids, present)
        if place is not None and 0 <= place + step < len(ids):
            return ids[place + step]
        self.notify(f"This is the last {noun}." if step > 0 else f"This is the first {noun}.")
        return None

    def on_screen_resume(self) -> None:
        self.workbench.fit_keymap(self.ACTIONS)

    def own_actions(self) -> tuple[Action, ...]:
        return self.ACTIONS

    @property
    def item_here(self) -> int | None:
        """Return the row id of the item under the cursor; None if the screen shows no items."""
        return None

    def copies(self) -> Iterator[Copyable]:
        if self.acting:
            yield from self.acting.copies()
        if (item := self.item_here) is not None and self.workbench.annotator is None:
            from workbench.app.tui.copying import of_item
            from workbench.measuring import browsing

            read = partial(browsing.read, self.project, item)
            look = partial(browsing.detail, self.project, item, self.workbench.names_worked_under)
            yield from of_item(self.project, read, look=look)

    @on(CountsRequested)
    def _counts_requested(self, event: CountsRequested) -> None:
        from workbench.app.tui.screens.counts import CountsScreen

        self.app.push_screen(CountsScreen(event))

    @on(ExportRequested)
    def _export_requested(self, event: ExportRequested) -> None:
        from workbench.app.tui.sharing import share_list

        share_list(self, event, self.further_exports())

    def further_exports(self) -> Mapping[str, Callable[[], None]]:
        return {}

    @property
    def acting(self) -> ActingWidget | None:
        """Return the focused widget if it has actions of its own."""
        return self.focused if isinstance(self.focused, ActingWidget) else None

    def all_actions(self) -> Iterator[Action]:
        """Yield this screen's actions, those of the focused widget, then those that work everywhere."""
        yield from self.own_actions()
        yield from self.acting.ACTIONS if self.acting else ()
        yield from self.workbench.actions_everywhere()

    def target_of_action(self, action: Action) -> WorkbenchApp | WorkbenchScreen | ActingWidget:
        if action in self.workbench.EVERYWHERE:
            return self.workbench
        return self.acting if self.acting and action in self.acting.ACTIONS else self
