"""Verifiers & runs: start, watch, pause, cancel, resume. The work itself runs in another process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import run_view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.screens.confirm import confirm
from workbench.app.tui.screens.start_run import (
    ChosenVerifier,
    SetUpRunScreen,
    StartOffer,
    StartRequest,
    choices,
    verifier_menu,
)
from workbench.app.tui.screens.transcript import WrittenScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.app.tui.trusting import trusting
from workbench.core.run import ACTIVE, Estimate, RunCosts, RunInfo, VerifierInfo
from workbench.core.text.figures import counted
from workbench.core.text.run_words import estimate_words
from workbench.runs import run_status, verifying
from workbench.runs.lease import log_path
from workbench.runs.run_status import estimate, run_costs, run_info


class RunDetailScreen(LiveScreen):
    """The facts of one run, kept up to date while it is active."""

    CSS_PATH = "run_detail.tcss"
    TITLE_TEXT, PALETTE = "Run", True

    def __init__(self, run: int) -> None:
        super().__init__()
        self.run_number = run
        self._info: RunInfo | None = None

    def heading(self) -> tuple[str, str]:
        return self.TITLE_TEXT, str(self.run_number)

    def content(self) -> ComposeResult:
        with VerticalScroll(id="run-detail"):
            yield Static("…", markup=False)

    def read(self) -> tuple[RunInfo, RunCosts]:
        info = run_info(self.project, self.run_number)
        return info, run_costs(self.project, info)

    def show(self, data: tuple[RunInfo, RunCosts]) -> None:
        self._info, costs = data
        text = run_view.details(self._info, costs, str(log_path(self.project.path)))
        self.query_one("#run-detail Static", Static).update(text)

    def must_read(self) -> bool:
        return self._info is not None and self._info.state in ACTIVE


_NO_RUNS = "No verifier has been run yet. Start one: it runs in a separate process."


class RunsScreen(TableScreen, LiveScreen):
    """A table of runs that follows the database, and a sentence about the run under the cursor.

    Runs are first loaded without counts by verdict; these counts follow, one run at a time.

    Args:
        run: The initial run; None for the newest.
        starting: Begin by starting a verifier.
        offer: The verifier to start and its options; None to ask for it.
    """

    CSS_PATH = "runs.tcss"
    TITLE_TEXT = "Verifiers & runs"
    PREFIX, BELOW, WIDE = "runs", ("run",), 116
    LOOK_S: ClassVar[float] = 0.5
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("runs.start", "a", "start", "Start", "Start a verifier."),
        Action("runs.add", "A", "app.open_screen('add_judge')", "Add judge", "Add a judge on a model server."),
        Action("runs.pause", "space", "pause", "Pause", "Stop the run after its current verdicts, to resume later."),
        Action("runs.resume", "ctrl+r,f4", "resume", "Resume", "Resume a run that has stopped."),
        Action("runs.retry", "l", "retry", "Retry", "Judge failed and timed-out items again."),
        Action("runs.cancel", "x", "cancel", "Cancel", "Stop the run; its verdicts stay."),
        Action("runs.transcript", "T", "transcript", "Calls", "Show requests and replies, call by call."),
        Action("runs.details", "d", "details", "Details", "Show the run's reasons, message and log."),
    )

    def __init__(self, run: int | None = None, *, starting: bool = False, offer: StartOffer | None = None) -> None:
        super().__init__()
        self._first = run
        self._starting, self._to_begin = starting, offer
        self.runs: list[RunInfo] = []
        self._watch: run_status.Watch | None = None
        self._counted: dict[int, RunInfo] = {}

    def on_mount(self) -> None:
        if self._starting:
            self.start(self._to_begin)

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> list[RunInfo]:
        if self._watch is None:
            self._watch = run_status.Watch(self.project)
        return self._watch.runs()[::-1]

    def must_read(self) -> bool:
        return any(run.state in ACTIVE for run in self.runs)

    def show(self, data: list[RunInfo]) -> None:
        self.runs = data
        active = sum(run.state in ACTIVE for run in data)
        self.say(f"{printable(self.project.path.name)} · {counted(len(data), 'run')}, {active} active")
        self.fill()
        if self._first is not None:
            self.table.jump_to_id(self._first)
            self._first = None

    def fill(self) -> None:
        runs = ((run.run, run_view.with_counts(run, self._counted)) for run in self.runs)
        self.table.show_records(run_view.columns(wide=self.wide), runs)
        self._describe()

    def _describe(self) -> None:
        run = self.chosen
        text = run_view.sentence(run_view.with_counts(run, self._counted)) if run else _NO_RUNS
        self.put("run", text)

    @property
    def chosen(self) -> RunInfo | None:
        selected = self.table.selected_id
        found = next((run for run in self.runs if run.run == selected), None)
        return found or (self.runs[0] if self.runs else None)

    def highlighted(self, row: int) -> None:
        self._describe()

    # -- counting by word --------------------------------------------------------------------------

    def late(self) -> Callable[[], RunInfo] | None:
        known = {number: one.done for number, one in self._counted.items()}
        stale = [run.run for run in self.runs if known.get(run.run) != run.done]
        run = next((run for run in stale if run not in known), next(iter(stale), None))
        return None if run is None else partial(run_status.run_info, self.project, run)

    def show_late(self, data: RunInfo) -> None:
        self._counted[data.run] = data
        self.fill()

    # -- actions -----------------------------------------------------------------------------------

    def action_start(self) -> None:
        self.start(None)

    def start(self, offer: StartOffer | None) -> None:
        self._to_begin = offer
        self.in_background(partial(verifying.kinds, self.project), self._choose_verifier, group="kinds")

    def _choose_verifier(self, kinds: list[VerifierInfo]) -> None:
        if not self.is_current:
            return
        offer, self._to_begin = self._to_begin, None
        listed = {one.name: one for one in choices(kinds)}
        offered = None if offer is None else listed.get(offer.kind)
        if offer is None or offered is None:
            menu = verifier_menu(listed.values())
            self.app.push_screen(menu, lambda name: self._open_setup(listed.get(name or "")))
        else:
            self.app.push_screen(SetUpRunScreen(offered, self._verifier_chosen, offer.values))

    def _open_setup(self, chosen: ChosenVerifier | None) -> None:
        if chosen is not None:
            self.app.push_screen(SetUpRunScreen(chosen, self._verifier_chosen))
        elif self._starting:
            self.workbench.action_go_back()
        self._starting = False

    def _verifier_chosen(self, request: StartRequest) -> None:
        if not request.asks_server:
            self._request_change(partial(self._report_started, request))
            return
        work = partial(estimate, self.project, *request.run, in_batches=request.in_batches)
        self.in_background(work, partial(self._confirm, request), group="estimate")

    def _confirm(self, request: StartRequest, expected: Estimate | None) -> None:
        start = partial(self._request_change, partial(self._report_started, request))
        if expected is None:
            start()
            return
        text = estimate_words(expected) if expected.items else "Every item already has its verdict."
        batches = " Batches are answered within a day; sent calls are charged even if the run is cancelled."
        text += batches * request.in_batches
        confirm(self, f"Start {printable(request.name or request.kind)}?", printable(text), start)

    def _report_started(self, request: StartRequest, trust: bool) -> RunInfo:
        return verifying.start(self.project, *request.run, trust=trust, in_batches=request.in_batches)

    def action_pause(self) -> None:
        if (run := self.chosen) is not None:
            self._request_change(lambda _: verifying.pause(self.project, run.run))

    def action_resume(self) -> None:
        if (run := self.chosen) is not None:
            self._request_change(lambda trust: verifying.resume(self.project, run.run, trust=trust))

    def action_retry(self) -> None:
        if (run := self.chosen) is not None:
            self._request_change(
                lambda trust: verifying.resume(
                    self.project, run.run, trust=trust, retry_errors=True, retry_timeouts=True
                )
            )

    def action_cancel(self) -> None:
        run = self.chosen
        if run is None:
            return
        if run.state not in (*ACTIVE, "paused"):
            self.notify(f"Run {run.run} is {run.state}: there is nothing to cancel.", markup=False)
            return
        text = f"{printable(run.verifier)}, run {run.run}: {run.done:,} of {run.items:,} done. Its verdicts stay."
        cancel = partial(verifying.cancel, self.project, run.run)
        confirm(self, "Cancel this run?", text, lambda: self._request_change(lambda _: cancel()))

    def _request_change(self, ask: Callable[[bool], RunInfo]) -> None:
        trusting(self, ask, self._report_state, group="ask")

    def _report_state(self, run: RunInfo) -> None:
        state, _ = run_view.state_words(run)
        had = f" · {run.reused:,} of {run.selected:,} items already have a verdict" if run.reused else ""
        self.notify(f"{state}{had}", title=f"{printable(run.verifier)}, run {run.run}", markup=False)
        self.table.jump_to_id(run.run)
        self.read_again()

    def opened(self, row: int) -> None:
        self.action_details()

    def action_transcript(self) -> None:
        run = self.chosen
        if run is not None and run.writes:
            self.app.push_screen(WrittenScreen(run.run))
        elif run is not None:
            self.notify(f"Open one of its items: {key_of('item.transcript')} shows a verdict's calls.", markup=False)

    def action_details(self) -> None:
        if (run := self.chosen) is not None:
            self.app.push_screen(RunDetailScreen(run.run))
