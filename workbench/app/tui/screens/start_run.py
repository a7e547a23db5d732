"""Starting a verifier: choose it, fill in its options, try it on a few items, then judge the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.choices import Choice, PickMenu
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.server_test import ServerTestScreen
from workbench.app.tui.trusting import trusting
from workbench.core.errors import OptionError, UsageError
from workbench.core.final_answer import FinalAnswer
from workbench.core.project import Project
from workbench.core.reasons import explain_verdict
from workbench.core.run import VerdictLine, VerifierInfo
from workbench.core.selection import Selection
from workbench.core.text.excerpt import abbreviate_ids, short_answer
from workbench.core.text.figures import NONE, counted
from workbench.data.records import ItemDetail
from workbench.measuring import browsing
from workbench.runs import configuring
from workbench.runs.trying import TRIED, VerifierTrial, try_out

# -- Choosing a verifier.


class ChosenVerifier(NamedTuple):
    """A kind of verifier, and the name to run it under: the kind's own name, or a configured verifier's."""

    kind: VerifierInfo
    name: str

    @property
    def is_configured(self) -> bool:
        """Tell whether its options are in workbench.toml or the database."""
        return self.name != self.kind.name


_ASKED_FOR: Final = "llm-judge"
"""The kind offered next after the default and the configured verifiers."""


def choices(kinds: list[VerifierInfo]) -> list[ChosenVerifier]:
    """Return the default, the project's own verifiers, a judge, then every kind; unusable ones come last."""
    own = [
        ChosenVerifier(kind, name)
        for kind in kinds
        for name in dict.fromkeys([*(one.name for one in kind.written), *(one.name for one in kind.configured)])
        if name != kind.name
    ]
    first, *rest = [ChosenVerifier(kind, kind.name) for kind in kinds]
    rest.sort(key=lambda one: one.name != _ASKED_FOR)
    return sorted([first, *own, *rest], key=lambda one: one.kind.broken is not None)


def verifier_menu(listed: Iterable[ChosenVerifier]) -> PickMenu[str]:
    return PickMenu("Start a verifier", list(map(_menu_line, listed)), wide=True)


def _menu_line(one: ChosenVerifier) -> Choice[str]:
    about = f"{one.kind.name} as configured" if one.is_configured else one.kind.description
    if one.kind.broken is not None:
        about = f"not installed: {one.kind.broken}"
    return Choice(one.name, f"{printable(one.name)}  {printable(about)}", disabled=one.kind.broken is not None)


# -- What it asks.


class StartRequest(Struct, frozen=True, kw_only=True):
    """A request to start a verifier.

    Attributes:
        asks_server: Whether it calls a model server.
        in_batches: Whether its calls are sent in batches.
    """

    kind: str
    options: dict[str, str]
    name: str | None
    selection: Selection
    asks_server: bool = False
    in_batches: bool = False

    @property
    def run(self) -> tuple[str, dict[str, str], str | None, Selection]:
        """Return what identifies the run: verifier, options, name and items."""
        return self.kind, self.options, self.name, self.selection


_WHERE = "items"
_NAME = "name"
_BATCH = "batch"
_BATCHES = {"no": "single calls, answered at once", "yes": "batches, within a day, at half the price"}


class StartOffer(NamedTuple):
    """A kind or name of a verifier, and the initial values of its form: options, and its ``name``."""

    kind: str
    values: Mapping[str, str]


class SetUpRunScreen(ServerTestScreen):
    """One field per option that the verifier declares; nothing runs until the user starts it.

    Args:
        chosen: The verifier.
        then: Called with the request once this screen has closed.
        filled: Initial values of the fields, by name.
    """

    TITLE_TEXT, FORM, SECTIONS = "Start a verifier", "set-up-run", "set-up-sections"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-up-run.start", "f4,ctrl+r", "start", "Start", "Judge all these items.", priority=True),
        Action("set-up-run.try", "f3,ctrl+t", "try", f"Try on {TRIED}", "Judge a few items; show why.", priority=True),
        Action("set-up-run.test", "f5", "test", "Test server", "Test what the server can do.", priority=True),
        Action("set-up-run.replay", "f7", "replay", "Replay", "Replace the server by recorded replies.", priority=True),
        Action("set-up-run.save", "f6", "save", "Save", "Save the verifier under its name.", priority=True),
        Action("set-up-run.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
    )

    def __init__(
        self, chosen: ChosenVerifier, then: Callable[[StartRequest], None], filled: Mapping[str, str] = {}
    ) -> None:
        super().__init__()
        self.chosen = chosen
        self._then, self._filled = then, filled

    def heading(self) -> tuple[str, str]:
        return f"Start {printable(self.chosen.name)}", self._about

    def fields(self) -> ComposeResult:
        about = "items to judge: conditions such as type=A state=final; empty: all"
        yield OptionField(_WHERE, about, value=self._filled.get(_WHERE, ""))
        if not self.chosen.is_configured:
            about = f"name of the verifier in tables; empty: {self.chosen.name}. Other options need another name"
            yield OptionField(_NAME, about, value=self._filled.get(_NAME, ""))
        else:
            start, tried, test = (key_of(f"set-up-run.{verb}") for verb in ("start", "try", "test"))
            server = f", {test} asks its server" if self.asks_server else ""
            ready = f"is ready: {start} starts it on these items, {tried} tries it on {TRIED} first{server}."
            yield Static(f"{printable(self.chosen.name)} {ready}", id="set-up-ready", markup=False)
        if self.asks_server:
            about = "how calls are sent; OpenAI, Anthropic, Gemini and Mistral accept batches"
            yield OptionField(_BATCH, about, _BATCHES, "no")
        yield Vertical(id="set-up-sections")

    @property
    def _about(self) -> str:
        return printable(self.chosen.kind.description)

    @property
    def asks_server(self) -> bool:
        return self.chosen.kind.isolation == "served"

    def on_mount(self) -> None:
        if not self.chosen.is_configured:
            work = partial(configuring.form_of, self.chosen.kind.name)
            self.in_background(work, lambda found: self.show_sections(found, self._filled), group="set-up-form")

    @property
    def kind(self) -> str:
        return self.chosen.name

    @on(OptionField.Changed)
    def _changed(self) -> None:
        self.hide_unused()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("test", "replay") and not self.asks_server:
            return False
        return not self.chosen.is_configured if action == "save" else super().check_action(action, parameters)

    # -- what is filled in -------------------------------------------------------------------------

    def request(self, project: Project) -> StartRequest:
        """Return the request; runs in a thread.

        Raises:
            OptionError: The conditions or an option can't be parsed.
        """
        try:
            conditions = browsing.read_conditions(self.typed(_WHERE), browsing.field_values(project)["verdict:"])
        except UsageError as error:
            raise OptionError(_WHERE, str(error)) from None
        if not self.chosen.is_configured:
            configuring.require_options(project, self.chosen.kind.name, self.values())
            configuring.require_free_name(project, self.chosen.name, self.values(), self.typed(_NAME) or None)
        in_batches = self.typed(_BATCH) == "yes"
        if in_batches:
            configuring.require_batches(project, self.chosen.name, self.values())
        return StartRequest(
            kind=self.chosen.name,
            options=self.values(),
            name=self.typed(_NAME) or None,
            selection=Selection(tuple(conditions)),
            asks_server=self.asks_server,
            in_batches=in_batches,
        )

    def show_error(self, error: BaseException | None) -> None:
        self.say(self._about)
        super().show_error(error)

    # -- actions -----------------------------------------------------------------------------------

    def action_start(self) -> None:
        self.in_background(partial(self.request, self.project), self._verifier_chosen, group="set-up")

    def _verifier_chosen(self, request: StartRequest) -> None:
        self.workbench.action_go_back()
        self._then(request)

    def action_try(self) -> None:
        self.complain("")
        self.say(f"trying it on {TRIED} items …")
        trusting(self, partial(_tried, self, self.project), self._show_trial, group="set-up-try")

    def _show_trial(self, trial: ShownTrial) -> None:
        self.say(self._about)
        if self.is_current:
            self.app.push_screen(TrialScreen(self.chosen.name, trial, self.action_start))

    def action_save(self) -> None:
        name, kind, options = self.typed(_NAME), self.chosen.kind.name, self.values()
        work = partial(configuring.save, self.project, name, kind, options)
        self.in_background(work, partial(self._saved, name), group="set-up-save")

    def _saved(self, name: str, path: Path) -> None:
        self.notify(f"Saved to {path}. {key_of('set-up-run.start')} starts it.", title=f"{printable(name)} saved")


def _tried(screen: SetUpRunScreen, project: Project, trust: bool) -> ShownTrial:
    request, also = screen.request(project), screen.workbench.names_worked_under
    trial = try_out(project, request.kind, request.options, request.selection, trust=trust)
    return ShownTrial(trial, [browsing.detail(project, one.item, also) for one in trial.evidence])


# -- A few items, and why they were judged as they were.


class ShownTrial(NamedTuple):
    trial: VerifierTrial
    items: list[ItemDetail]


class TrialScreen(WorkbenchScreen):
    """A verifier's verdicts on a few items, shown before it judges all.

    Args:
        name: The verifier.
        shown: The results.
        then: Starts judging all items, once this screen has closed.
    """

    TITLE_TEXT = "Tried"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("trial.start", "f4,ctrl+r", "start", "Start on all", "Judge all the items with these options."),
    )

    def __init__(self, name: str, shown: ShownTrial, then: Callable[[], None]) -> None:
        super().__init__()
        self.shown = shown
        self._verifier, self._then = name, then

    def heading(self) -> tuple[str, str]:
        return f"{printable(self._verifier)}, tried", f"{_right(self.shown)}; these verdicts are not stored"

    def content(self) -> ComposeResult:
        with VerticalScroll(id="trial"):
            yield Static(trial_text(self.shown), markup=False)

    def action_start(self) -> None:
        self.workbench.action_go_back()
        self._then()


_NO_GOLD: Final = "none"
_LINE_CELLS: Final = 74
"""Width of a line in cells."""
_MAX_TEXT: Final = 2000
"""Maximum characters of a text in a line."""


def _right(shown: ShownTrial) -> str:
    pairs = zip(shown.trial.evidence, shown.items, strict=True)
    known = [one.line.verdict == item.gold for one, item in pairs if item.gold != _NO_GOLD]
    said = f", {sum(known)} of {len(known)} as gold says" if known else ""
    return f"{counted(len(shown.items), 'item')}{said}"


def trial_text(shown: ShownTrial) -> Content:
    """Return, for each item, the question, the verdict with gold, both final answers, and the verdict's evidence."""
    trial = shown.trial
    parts = [Content.styled(f"! {printable(trial.message)}", "$text-warning")] if trial.message else []
    short = abbreviate_ids([one.line.completion_id for one in trial.evidence])
    for one, item in zip(trial.evidence, shown.items, strict=True):
        parts.append(_judged(one.line, item, trial.replies.get(one.item, ""), short[one.line.completion_id]))
    return Content("\n").join(parts) if parts else Content("No item was judged.")


def _judged(line: VerdictLine, item: ItemDetail, reply: str, short_id: str) -> Content:
    mark, gold = OUTCOME_MARKS[line.verdict][0], OUTCOME_MARKS[item.gold][0]
    wrong = item.gold not in (_NO_GOLD, line.verdict)
    reference, completion = map(_answer, (line.reference_final, line.candidate_final), browsing.final_answers(item))
    return Content.assemble(
        (f"{mark} {line.verdict}", "bold"),
        (f" · gold {gold} {item.gold}", "bold $text-error" if wrong else ""),
        (f"  {printable(short_id)}\n", "$foreground-muted"),
        f"  {_in_a_line(item.question)}\n  reference {reference} │ completion {completion}",
        *((f"\n  {text}", style) for text, style in _why(line, reply) if text),
    )


def _answer(compared: str | None, found: FinalAnswer) -> str:
    text = short_answer(compared) or (short_answer(found.text) if found.found else "")
    return printable(text) or NONE


def _why(line: VerdictLine, reply: str) -> Iterator[tuple[str, str]]:
    codes = (line.rule, line.reason, None if line.score is None else f"score {line.score:g}")
    said = (
        explain_verdict(line.verdict, line.reason, line.rule, short_answer(line.reference_final)) or line.detail or ""
    )
    yield "" if said.strip() == reply.strip() else printable(said), ""
    yield f"it says: {_in_a_line(reply, end=True)}" if reply else "", ""
    yield printable(" · ".join(filter(None, codes))) if not reply else "", "$foreground-muted"


def _in_a_line(text: str, *, end: bool = False) -> str:
    words = " ".join((text[-_MAX_TEXT:] if end else text[:_MAX_TEXT]).split())
    shown = printable(f"…{words[-_LINE_CELLS + 12 :]}" if end and len(words) > _LINE_CELLS - 12 else words)
    return fit(shown, _LINE_CELLS).rstrip()
