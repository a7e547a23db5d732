"""Choosing a verifier to run, over all items or some, with options."""

from __future__ import annotations

import shlex
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.actions import Action, bindings
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.line import Line
from workbench.core.errors import UsageError, WorkbenchError
from workbench.core.run import VerifierInfo
from workbench.core.selection import Selection
from workbench.measuring.browsing import read_conditions

_FIELDS = (
    ("where", "items", "all; or FIELD=VALUE …, such as type=A state=final"),
    ("options", "options", "none; or key=value …"),
    ("name", "name", "the verifier's own; another one for other options"),
)


class StartRequest(Struct, frozen=True, kw_only=True):
    """What is to be run.

    Attributes:
        asks_server: Its verifier asks a model server.
    """

    kind: str
    options: dict[str, str]
    name: str | None
    selection: Selection
    asks_server: bool = False


class StartRunScreen(ModalScreen[StartRequest | None]):
    """Ends with a request, or None. Enter starts the chosen verifier, over all items unless something is typed."""

    CSS_PATH = "start_run.tcss"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("start-run.start", "ctrl+r", "start", "Start (or enter)", "Start the chosen verifier."),
        Action("start-run.next", "tab", "app.focus_next", "Next field", "Go to the next field."),
        Action("start-run.close", "escape", "dismiss", "Close", "Start nothing."),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ACTIONS)]

    def __init__(self, kinds: list[VerifierInfo]) -> None:
        super().__init__()
        self._kinds = kinds
        self._configured = [known.name for kind in kinds for known in kind.configured]
        self._choices = _choices(kinds)

    def compose(self) -> ComposeResult:
        """Lay out."""
        with Vertical(id="start-box") as box:
            box.border_title = Content("Start a verifier")
            yield OptionList(*map(self._option, range(len(self._choices))), id="start-kinds", markup=False)
            yield Static(id="start-about", markup=False)
            for name, title, hint in _FIELDS:
                with Horizontal(classes="start-field"):
                    yield Static(title, markup=False)
                    yield Line(placeholder=hint, id=f"start-{name}", compact=True)
            yield Static(id="start-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def _option(self, place: int) -> Option:
        kind, name = self._choices[place]
        about = f"cannot be used: {kind.broken}" if kind.broken else kind.description
        if name != kind.name:
            about = f"{kind.name} as configured"
        prompt = Content.assemble((printable(name), "bold"), ("  " + printable(about), "$foreground-muted"))
        return Option(prompt, id=f"kind-{place}", disabled=kind.broken is not None)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        kind, name = self._choices[event.option_index]
        known = {one.name: one.options for one in kind.configured} | {one.name: one.options for one in kind.written}
        options = "; ".join(f"{key}: {text}" for key, text in (known.get(name) or kind.options).items()) or "none"
        version = f" · version {kind.version}" if kind.version else ""
        self.query_one("#start-about", Static).update(Content(printable(f"options: {options}{version}")))

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def action_start(self) -> None:
        """End with what was chosen, or say what is wrong with it."""
        place = self.query_one(OptionList).highlighted
        if place is None:
            self._complain("There is no verifier to choose.")
            return
        kind, name = self._choices[place]
        try:
            request = StartRequest(
                kind=name,
                options=read_options(self._typed("options")),
                name=self._typed("name") or None,
                selection=Selection(read_conditions(self._typed("where"), self._configured)),
                asks_server=kind.isolation == "served",
            )
            _require_options(kind, request.options)
        except WorkbenchError as error:
            self._complain(str(error))
        else:
            self.dismiss(request)

    def _typed(self, name: str) -> str:
        return self.query_one(f"#start-{name}", Input).value.strip()

    def _complain(self, text: str) -> None:
        self.query_one("#start-trouble", Static).update(Content(f"! {printable(text)}"))


def _choices(kinds: list[VerifierInfo]) -> list[tuple[VerifierInfo, str]]:
    """The default, the project's own verifiers, then every kind."""
    own = [
        (kind, name)
        for kind in kinds
        for name in dict.fromkeys([*(one.name for one in kind.written), *(one.name for one in kind.configured)])
        if name != kind.name
    ]
    return [*((kind, kind.name) for kind in kinds[:1]), *own, *((kind, kind.name) for kind in kinds[1:])]


def read_options(text: str) -> dict[str, str]:
    """Options as typed: ``key=value`` with blanks between them.

    Raises:
        UsageError: It is not a list of options.
    """
    found = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}.", "Close every quote.") from error
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise UsageError(f"{word!r} is no option.", "Write key=value.")
        found[key] = value
    return found


def _require_options(kind: VerifierInfo, options: dict[str, str]) -> None:
    unknown = sorted(options.keys() - kind.options.keys())
    if unknown:
        known = ", ".join(sorted(kind.options)) or "it has none"
        raise UsageError(f"{kind.name} has no option {unknown[0]!r}.", f"Its options: {known}.")
