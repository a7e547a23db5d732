"""The terminal application: a project, its user, and the screens."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import Hit, Hits, Provider
from textual.css.query import NoMatches
from textual.filter import LineFilter, Monochrome, NoColor
from textual.reactive import reactive
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widget import MountError
from textual.worker import WorkerFailed

from workbench.app.tui.allocating import Garbage, configure_memory
from workbench.app.tui.destinations import ANNOTATOR_DESTINATIONS, DESTINATIONS, Destination
from workbench.app.tui.key_order import KeyOrder, age_of
from workbench.app.tui.keymap import Action, bindings, key_names, key_of, keymap_over_widgets, move_keys
from workbench.app.tui.pace import AtWork, Pace
from workbench.app.tui.replays import ReplayServers
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.themes import OWN_THEMES, legible
from workbench.app.verbs import Verb, every_verb, in_app, verb_named
from workbench.config import FILE_NAME, Settings
from workbench.core.errors import StoreError, UsageError, WorkbenchError, set_front_end
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.rulings import Role


_LOWEST_SCORE = 0.01
"""Score of a match in the description alone: it ranks after all matches in titles."""


class DescribedCommands(SystemCommandsProvider):
    """Commands whose titles match come first, then those whose titles and descriptions contain every typed word."""

    async def search(self, query: str) -> Hits:
        matcher, words = self.matcher(query), query.casefold().split()
        for title, about, run, *_ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), run, help=about)
            elif all(word in f"{title} {about}".casefold() for word in words):
                yield Hit(_LOWEST_SCORE, title, run, help=about)


LOG = logging.getLogger("workbench.tui")
_REST_S = 0.5
"""Maximum pause, in seconds, between two steps of building the text index."""
_REPLACED_COMMANDS = {"Keys", "Quit"}
"""Textual's commands that the app replaces."""
_NOT_SERVED = {"Screenshot"}
"""Commands not offered in a browser: they write files to this machine, and the user is at another one."""
_GONE_S = (0.1, 0.4, 2.0)
"""Seconds after closing a screen at which its memory may be freed; the last value is the slowest timer's interval."""


class WorkbenchApp(App[None]):
    """The terminal app for one project.

    Attributes:
        project: The open project.
        annotator: The name given with ``--as``; None for the coordinator.
        working_as: Role -> the name the coordinator has chosen to work under in that role.
        at_work: Activity of the person at the terminal: keys and time.
        paces: Annotator -> labelling speed since the app started.
        leaving: Whether the user has quit; errors of threads that still run are then not shown.
        goes_on: Whether the user leaves this project to open another one.
        reported_away: The last message about a database file that was moved or deleted while open; "" for none.
        left_forms: Form -> option -> value, for forms that were closed before they were run.
        unstored_lines: (Title of the input line, object it is about) -> text that was typed but not yet stored.
        replays: Servers of recorded replies that this app has started.
        indexed: Share of the texts in the search index while it is built; None otherwise.
        garbage: Frees the memory of closed screens; None if the process does not only run the app.
    """

    TITLE = "workbench"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {DescribedCommands}

    EVERYWHERE: ClassVar[tuple[Action, ...]] = (
        Action("app.help", "?,f1", "help", "Keys", "Show the keys of this screen."),
        Action("app.go", ":", "go", "Go to", "Go to any screen by name, or to an item by its id."),
        Action("app.palette", "ctrl+p", "command_palette", "Commands", "Find a command by name.", False),
        Action("app.copy", "Y", "copy", "Copy", "Copy the cell, the row, or a text of the item.", False),
        Action("app.projects", "ctrl+n", "projects", "Projects", "Another project: own data, new, or demo.", False),
        Action("app.back", "escape,q", "go_back", "Back", "Go back to the previous screen."),
        Action("app.suspend", "ctrl+z", "suspend_process", "Suspend", "Back to the shell; fg continues.", False),
        Action("app.quit", "ctrl+q", "quit", "Quit", "Leave the app; runs continue."),
    )

    LETTERS: ClassVar[tuple[Action, ...]] = tuple(
        Action(f"app.letter-{name}", key, f"simulate_key('{name}')", label, f"{label}, unless the screen uses {key}.")
        for key, name, label in (
            ("h", "left", "Move left"),
            ("l", "right", "Move right"),
            ("g", "home", "Move to the beginning"),
            ("G", "end", "Move to the end"),
        )
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(EVERYWHERE),
        *(Binding(one.keys, one.run, one.label, show=False) for one in LETTERS),
        # It works above dialogs and input lines, too; a keymap that moves the action removes this binding.
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    indexed: reactive[float | None] = reactive(None, repaint=False, init=False)

    def __init__(
        self,
        project: Project,
        annotator: str | None = None,
        settings: Settings | None = None,
        begin_at: str = "home",
        items: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.project = project
        self.annotator = annotator
        self.working_as: dict[Role, str] = {}
        self.settings = settings or Settings()
        self.at_work = AtWork()
        self.key_order = KeyOrder(self, self._process_key)
        self.paces = defaultdict[str, Pace](Pace)
        self.leaving = self.goes_on = self._has_begun = False
        self.reported_away = ""
        self.left_forms: dict[Hashable, dict[str, str]] = {}
        self.unstored_lines: dict[tuple[str, Hashable], str] = {}
        self.replays = ReplayServers()
        self._begin_at = begin_at
        self._first_items = items
        self.garbage: Garbage | None = None
        # Over a network each frame of an animation is felt.
        self.animation_level = "none"

    def who(self, role: Role) -> str | None:
        """Return the name the user works under in a role; None until the coordinator has chosen one.

        Before one is chosen for the role "own" (a person's earlier labels), it is the last name chosen for another
        role.
        """
        if role == "own" and role not in self.working_as:
            return self.annotator or next(reversed(self.working_as.values()), None)
        return self.annotator or self.working_as.get(role)

    @property
    def names_worked_under(self) -> tuple[str, ...]:
        return tuple(sorted({*self.working_as.values()}))

    @property
    def screen_names(self) -> tuple[str, ...]:
        return ANNOTATOR_DESTINATIONS if self.annotator else tuple(DESTINATIONS)

    @property
    def places(self) -> list[Destination]:
        return [DESTINATIONS[name] for name in self.screen_names]

    def on_mount(self) -> None:
        for theme in OWN_THEMES:
            self.register_theme(theme)
        if self.settings.theme in self.available_themes:
            self.theme = self.settings.theme
        elif self.settings.theme:
            known = ", ".join(sorted(self.available_themes))
            self._report_settings_problems([f"There is no theme {self.settings.theme!r}. Themes: {known}."])
        move_keys(self.settings.keymap)
        set_front_end(in_app(key_of("app.palette")))
        if self.settings.keymap:
            self.set_keymap(self.settings.keymap)
            self.run_worker(self._check_keymap, thread=True, exit_on_error=False)
        self.open_screen("home")
        if self._begin_at != "home":
            self.open_screen(self._begin_at)
        if self._first_items:
            self._open_items(self._first_items)

    def on_unmount(self) -> None:
        self.replays.stop()

    def notify(self, message: str, *, title: str = "", **more: Any) -> None:
        """Show a message, which is never markup, in the last line, instead of the keys; the text above makes room for
        one of several lines.
        """
        said = f"{title}{' ' if title.endswith('.') else ': '}{message}" if title else message
        super().notify(said, **{**more, "markup": False})

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent) and not event.is_forwarded:
            self.at_work.touch()
            if isinstance(event, events.MouseDown):
                self.at_work.click(age_of(event))
                self.key_order.is_idle = self.key_order.follows_idle = False
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self.key_order.receive(event)
        else:
            await super().on_event(event)

    async def _process_key(self, key: events.Key) -> None:
        self.at_work.press(age_of(key))
        await super().on_event(key)

    async def on_key(self, event: events.Key) -> None:
        event.prevent_default()
        if not await self._check_bindings(event.key):
            self.key_order.is_idle = True

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Ignore the first blur in a browser: the driver sends it, and it may come after the page has reported its
        focus.
        """
        if self.is_web and not self._has_begun:
            event.prevent_default()
        self._has_begun = True

    def watch_app_focus(self, focused: bool) -> None:
        self.at_work.focus(focused)

    def fit_keymap(self, actions: Iterable[Action]) -> None:
        """Let keys that the keymap gives to a screen's actions reach the screen past the focused text or table."""
        if not self.settings.keymap:
            return
        from workbench.app.tui.kit.reader import Reader
        from workbench.app.tui.kit.virtual_table import VirtualTable
        from workbench.app.tui.registry import widget_bindings

        widgets = [*widget_bindings(Reader), *widget_bindings(VirtualTable)]
        self.set_keymap(keymap_over_widgets(self.settings.keymap, [*self.EVERYWHERE, *actions], widgets))

    def _check_keymap(self) -> None:
        from workbench.app.tui.registry import keymap_problems

        found = keymap_problems(self.settings.keymap, self.EVERYWHERE)
        self.call_from_thread(self._report_settings_problems, found)

    def watch_indexed(self) -> None:
        if isinstance(self.screen, WorkbenchScreen):
            self.screen.show_index_progress()

    def index_texts(self) -> None:
        if not any(worker.group == "app-index" and not worker.is_finished for worker in self.workers):
            self.run_worker(self._index_texts, thread=True, exit_on_error=False, group="app-index")

    def _index_texts(self) -> None:
        from workbench.data.searching import index_texts

        began = time.monotonic()
        try:
            for share in index_texts(self.project):
                if self.leaving:
                    return
                self.call_from_thread(setattr, self, "indexed", share)
                # Pause as long as this step took: labelling and judging need the processor.
                time.sleep(min(_REST_S, time.monotonic() - began))
                began = time.monotonic()
        except StoreError as error:
            if not error.is_away:
                self.call_from_thread(self.notify, str(error), timeout=15, markup=False)
        self.call_from_thread(setattr, self, "indexed", None)

    def _report_settings_problems(self, found: list[str]) -> None:
        path = self.project.path.with_name(FILE_NAME)
        for text in found:
            self.notify(text, title=str(path), severity="warning", timeout=15)

    def actions_everywhere(self) -> Iterator[Action]:
        yield from (one for one in self.EVERYWHERE if self.check_action(one.run, ()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "start_verifier":
            return "runs" in self.screen_names
        if action == "projects":
            return not (self.annotator or self.is_web)
        if action == "simulate_key":
            letters = {one.keys for one in self.LETTERS if str(parameters[0]) in one.run}
            used = (key for one in getattr(self.screen, "ACTIONS", ()) for key in key_names(one.keys))
            return letters.isdisjoint(used)
        if action == "suspend_process":
            return not self.is_web
        return super().check_action(action, parameters)

    def action_start_verifier(self, name: str = "") -> None:
        from workbench.app.tui.screens.runs import RunsScreen
        from workbench.app.tui.screens.start_run import StartOffer

        offer = StartOffer(name, {}) if name else None
        if "runs" not in self.screen_names:
            return
        if any(isinstance(screen, RunsScreen) for screen in self.screen_stack):
            self.open_screen("runs")
            if isinstance(self.screen, RunsScreen):
                self.screen.action_start(offer)
        else:
            self.push_screen(RunsScreen(starting=True, offer=offer))

    def open_screen(self, name: str, *arguments: object) -> None:
        if name not in self.screen_names:
            self.notify("This screen is the coordinator's.", severity="warning")
            return
        if DESTINATIONS[name].is_command:
            self.open_verb(name)
            return
        module = import_module(f"workbench.app.tui.screens.{name}")
        kind: Any = getattr(module, DESTINATIONS[name].screen)
        if not arguments and any(isinstance(screen, kind) for screen in self.screen_stack):
            while not isinstance(self.screen, kind):
                self.pop_screen()
            return
        self.push_screen(kind(*arguments))

    @property
    def verbs(self) -> list[Verb]:
        """Return the commands that the user may run from the app: none in a browser and for annotators."""
        if self.annotator or self.is_web:
            return []
        return [verb for verb in every_verb() if verb.why_not_in_app is None]

    def called(self, verb: Verb, *others: str) -> str:
        places = (place.title.casefold() for place in self.places if not place.is_command)
        alike = any(verb.title.casefold() in title for title in places) or verb.title in others
        return f"{verb.title}, as a command" if alike else verb.title

    def open_verb(self, name: str, /, **begin: str) -> None:
        """Open the form of a command-line verb.

        Args:
            begin: Option -> its initial value.
        """
        from workbench.app.tui.screens.import_data import ImportScreen
        from workbench.app.tui.screens.replay import ReplayScreen
        from workbench.app.tui.screens.verb import VerbScreen

        if any(verb.name == name for verb in self.verbs):
            own = {"import": ImportScreen, "replay": ReplayScreen}.get(name)
            self.push_screen(VerbScreen(verb_named(name), begin) if own is None else own())

    def run_verb(self, name: str, /, **begin: str) -> None:
        """Run a command-line verb, from its form with these values."""
        from workbench.app.tui.screens.verb import VerbScreen

        self.push_screen(VerbScreen(verb_named(name), begin, at_once=True))

    def open_training_file(self) -> None:
        self.open_verb("export", format="sft", where="verdict=correct")

    def pop_screen(self) -> AwaitComplete:
        if self.garbage:
            self.garbage.leave(self.screen)
            # Run in the app's own task: a timer started here would keep the closed screen alive as its context.
            self.call_later(self._schedule_collection, _GONE_S)
        return super().pop_screen()

    def _schedule_collection(self, times: tuple[float, ...]) -> None:
        def collect() -> None:
            if self.garbage and not self.garbage.collect(alone=len(self.screen_stack) <= 2):
                self._schedule_collection(times[1:])

        if times:
            self.set_timer(times[0], collect)

    def action_go(self) -> None:
        from workbench.app.tui.screens.go_to import GoToScreen

        if isinstance(self.screen, WorkbenchScreen):
            items = self._open_destination if self.annotator is None else None
            self.push_screen(GoToScreen(self.screen, self.places, items), self._open_destination)

    def _open_destination(self, found: str | list[int] | None) -> None:
        below = len(self.screen_stack)
        if isinstance(found, str):
            self.open_screen(found)
        elif found:
            self._open_items(found)
        if isinstance(self.screen, WorkbenchScreen) and len(self.screen_stack) > below:
            self.screen.is_jump = True

    def _open_items(self, items: Sequence[int]) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.push_screen(ItemScreen(items[0], items))

    def action_open_screen(self, name: str) -> None:
        self.open_screen(name)

    def action_go_back(self) -> None:
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.action_help_quit()

    def get_css_variables(self) -> dict[str, str]:
        return legible(super().get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters; with NO_COLOR, a theme of the terminal's palette is drawn in its default colours.

        Palette colours have no known grey value: converted to grey, both text and background would be black.
        """
        filters = super().get_line_filters()
        if self.no_color and self.native_ansi_color:
            return [NoColor() if isinstance(one, Monochrome) else one for one in filters]
        return filters

    def action_help_quit(self) -> None:
        self.notify(f"{key_of('app.quit')} leaves the app.")

    def deliver_screenshot(
        self, filename: str | None = None, path: str | None = None, time_format: str | None = None
    ) -> None:
        """Write the screen as SVG next to the database, and report the path or the error."""
        from workbench.tables.files import write_next_to

        try:
            written = write_next_to(self.project.path, "screen", ".svg", self.export_screenshot(title=self.TITLE))
        except WorkbenchError as error:
            self.notify(str(error), title=error.title, severity="error")
        else:
            self.notify(str(written.absolute()), title="Screenshot")

    async def action_projects(self) -> None:
        self.goes_on = True
        await self.action_quit()

    async def action_quit(self) -> None:
        self.leaving = True
        self.project.database.interrupt_readers()
        # It remains in the terminal afterwards.
        said = self.replays.words()
        self.exit(message=Text(said) if said else None)

    def action_copy(self) -> None:
        from workbench.app.tui.sharing import copy_menu

        if isinstance(self.screen, WorkbenchScreen):
            if offers := tuple(self.screen.copies()):
                copy_menu(self.screen, offers)
            else:
                self.notify("There is nothing to copy here.")

    def action_help(self) -> None:
        from workbench.app.tui.screens.help import HelpScreen

        if isinstance(self.screen, WorkbenchScreen):
            self.push_screen(HelpScreen(self.screen), self._press_or_open)

    def _press_or_open(self, found: str | None) -> None:
        from workbench.app.tui.screens.help import OPEN

        if found and found.startswith(OPEN):
            self.open_screen(found.removeprefix(OPEN))
        elif found:
            self.simulate_key(found)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        opening = {f"app.open_screen({name!r})" for name in self.screen_names}
        labels = []
        if isinstance(screen, WorkbenchScreen):
            for action in screen.all_actions():
                again = action in self.EVERYWHERE and action.label in labels
                if action.id != "app.palette" and action.run not in opening and not again:
                    labels.append(action.label)
                    run = partial(self.call_later, self.run_action, action.run, screen.target_of_action(action))
                    yield SystemCommand(action.label, action.help, run)
        for place in self.places:
            if not place.is_command:
                yield SystemCommand(f"Open {place.title}", place.text, partial(self.open_screen, place.name))
        for verb in self.verbs:
            title = self.called(verb, *labels)
            yield SystemCommand(f"{title} …", verb.about, partial(self.open_verb, verb.name))
        if self.verbs:
            about = "Export conversations (SFT), or chosen and rejected pairs (DPO), to train a model with."
            yield SystemCommand("Training file …", about, self.open_training_file)
        for command in super().get_system_commands(screen):
            if command.title not in _REPLACED_COMMANDS and not (self.is_web and command.title in _NOT_SERVED):
                yield command

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        ends = self.leaving or not self._running
        if not (ends and isinstance(cause, NoMatches | MountError)):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        LOG.critical("the app has stopped", exc_info=True)
        self.panic(Text(f"The app has stopped because of an error. Details are in {app_log(self.project)}"))


def run(
    project: Project, annotator: str | None, settings: Settings, begin_at: str = "home", items: Sequence[int] = ()
) -> bool:
    """Run the app until the user quits; problems are logged next to the database.

    Args:
        items: Row ids of the items to begin with, on top of the screen ``begin_at``.

    Returns:
        Whether the user left to open another project.

    Raises:
        UsageError: There is no screen ``begin_at``, or an annotator may not open it.
    """
    app = WorkbenchApp(project, annotator, settings, begin_at, items)
    if begin_at not in app.screen_names:
        raise UsageError(f"There is no screen {begin_at!r}.", f"Screens: {', '.join(app.screen_names)}.")
    log = logging.FileHandler(app_log(project), encoding="utf-8", delay=True)
    logging.basicConfig(handlers=[log], level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    app.garbage = configure_memory()
    try:
        app.run()
    finally:
        # The next project has a log of its own.
        logging.getLogger().removeHandler(log)
        log.close()
    return app.goes_on


def app_log(project: Project) -> Path:
    return project.path.with_name(f"{project.path.name}.app.log")
