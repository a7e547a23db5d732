"""Verifiers & runs: start, watch, pause, cancel, resume. The work itself runs in another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from msgspec import structs
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.overview import RUN_MARKS, calls_words, share
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.pace import about
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
from workbench.core.run import ACTIVE, Estimate, RunCosts, RunInfo, RunUsage, VerifierInfo
from workbench.core.text.figures import NONE, bar, compact_count, counted, percent, verb_wait
from workbench.core.text.run_words import estimate_words, run_lines, usage_words
from workbench.runs import run_status, verifying
from workbench.runs.lease import log_path
from workbench.runs.run_status import estimate, run_costs, run_info
from workbench.tables.document import Tone
from workbench.tables.table import Column, Columns, column, text, word

_BAR = 14
_COUNTED = ("done", "verdicts", "reasons", "failures", "untested")
"""Fields of a run that take long to count."""


def run_columns(*, wide: bool) -> Columns[RunInfo]:
    def tone(run: RunInfo) -> Tone:
        return state_words(run)[1]

    def outcome_column(word: str, mark: str, style: Tone) -> Column[RunInfo]:
        return text(
            mark, lambda run: _outcome_text(run, word), by=lambda run: _outcome_count(run, word), room=5, tone=style
        )

    return (
        word("verifier", lambda run: run.verifier, room=(9, 24), tone="bold"),
        column("#", lambda run: run.run, str, room=3),
        word("state", lambda run: state_words(run)[0], room=11, tone=tone),
        word("", lambda run: bar(share(run.done, run.items), _BAR), room=_BAR, tone=tone, there=wide),
        text("done", lambda run: _progress_text(run, wide), by=lambda run: run.done, room=17 if wide else 11),
        column("/s", lambda run: run.rate, lambda rate: NONE if rate is None else compact_count(round(rate)), room=5),
        column("ETA", lambda run: run.eta, lambda eta: NONE if eta is None else about(eta), room=6),
        *(outcome_column(word, mark, style) for word, (mark, style) in OUTCOME_MARKS.items() if word != "none"),
        word("version", lambda run: run.version, room=(6, 24), tone="dim", there=wide),
    )


def _progress_text(run: RunInfo, wide: bool) -> str:
    if run.writes:
        return calls_words(run)
    done = f"{compact_count(run.done)}/{compact_count(run.items)}"
    return f"{percent(share(run.done, run.items), 0)} % {done}" if wide else done


def _outcome_text(run: RunInfo, word: str) -> str:
    n = _outcome_count(run, word)
    return (NONE if run.writes else "…") if n is None else compact_count(n)


def _outcome_count(run: RunInfo, word: str) -> int | None:
    return None if run.writes or run.verdicts is None else dict[str, int](run.verdicts.items()).get(word, 0)


def state_words(run: RunInfo) -> tuple[str, Tone]:
    """Return a run's state with its symbol, and its colour; a pending pause or stop, or a dead process, is shown
    instead.
    """
    if run.request is not None and run.alive:
        return ("‖ pausing…", "warning") if run.request == "pause" else ("⊘ stopping…", "warning")
    if run.state in ACTIVE and not run.alive:
        return "! stopped", "error"
    if run.state in ACTIVE and run.waiting:
        return "… waiting", "warning"
    if run.new:
        return f"… {compact_count(run.new)} wait", "warning"
    mark, tone = RUN_MARKS[run.state]
    return f"{mark} {run.state}", tone


def with_counts(run: RunInfo, counted: Mapping[int, RunInfo]) -> RunInfo:
    """Return the run with its latest known counts by verdict and reason, and its progress when they were counted."""
    known = counted.get(run.run, run)
    return structs.replace(run, **{name: getattr(known, name) for name in _COUNTED})


def run_sentence(run: RunInfo) -> Content:
    selection = "texts that models write" if run.writes else printable(run.selection)
    judged = Content.assemble(f"{percent(share(run.done, run.items))} %  ", *_verdict_counts(run), "\n")
    return Content.assemble(
        (printable(run.verifier), "bold"),
        f" #{run.run} · {printable(run.kind)} version {printable(run.version)} · {selection} · {process(run)}\n",
        "" if run.writes else judged,
        *() if run.usage is None else (_usage_text(run.usage), "\n"),
        _status_message(run),
    )


def _usage_text(usage: RunUsage) -> Content:
    in_flight = [f"{usage.in_flight:,} in flight"] if usage.in_flight else []
    more = f" (and {len(usage.warnings) - 1} more)" if len(usage.warnings) > 1 else ""
    warning = f"\n! {printable(usage.warnings[0])}{more}" if usage.warnings else ""
    said = printable(" · ".join([*in_flight, *usage_words(usage)]))
    return Content.assemble(said, (warning, "$text-warning"))


def process(run: RunInfo) -> str:
    if run.state not in ACTIVE:
        return run.state
    if run.alive:
        workers = "" if run.usage else f", {run.workers} workers"
        life = f"process {run.pid} {run.waiting or 'alive'}"
        return f"{life}{workers}" if run.pid else "waiting for the runner"
    if run.waiting:
        return run.waiting
    return f"process {run.pid} is gone" if run.pid else "no process"


def reasons_text(run: RunInfo, limit: int) -> str:
    found = sorted((run.reasons or {}).items(), key=lambda pair: (-pair[1], pair[0]))
    texts = [f"{printable(reason)} {count:,}" for reason, count in found[:limit]]
    return ", ".join(texts) + (f" and {len(found) - limit} more" if len(found) > limit else "")


def _verdict_counts(run: RunInfo) -> list[tuple[str, str]]:
    if run.verdicts is None:
        return [("counting …", "$foreground-muted")]
    marked = ((outcome, count, *OUTCOME_MARKS[outcome]) for outcome, count in run.verdicts.items())
    return [(f"{mark} {count:,} {outcome}  ", f"$text-{style}") for outcome, count, mark, style in marked]


def _status_message(run: RunInfo) -> Content:
    if run.message and (run.writes or run.state == "paused"):
        again = "" if run.writes else f" {key_of('runs.resume')} continues the run."
        return Content.styled(f"‖ {printable(run.message)}{again}", "$text-warning")
    if run.message:
        return Content.styled(f"! {printable(run.message)}", "$text-error")
    if run.state in ACTIVE and not run.alive:
        who = f"Its process may have died: {run.waiting}." if run.waiting else "No process works on it."
        return Content.styled(f"! {printable(who)} Resume it to continue; no verdict is lost.", "$text-warning")
    if run.state in ACTIVE and run.waiting:
        words = f"… Its process is {run.waiting}. It then continues by itself; nothing is lost."
        return Content.styled(printable(words), "$text-warning")
    if run.failures:
        return Content.styled(f"! {printable(run.failures[0])}", "$text-error")
    if run.untested:
        return Content.styled(f"! {printable(run.untested)}", "$text-warning")
    if run.new:
        added = f"… {counted(run.new, 'item')} were added after it was complete and {verb_wait(run.new)}"
        words = f"{added}: {key_of('runs.resume')} judges them."
        return Content.styled(words, "$text-warning")
    reasons = reasons_text(run, 4)
    return Content.styled(f"reasons: {reasons}" if reasons else "", "$foreground-muted")


def run_details(run: RunInfo, costs: RunCosts, log: str) -> Content:
    """Return all that is known of a run: its sentence, its times, and the lines of the command line."""
    facts = {
        "items": "" if run.writes else f"{run.done:,} of {run.items:,} done",
        "created": run.created_at,
        "started": run.started_at,
        "finished": run.finished_at,
        "note": run.untested,
        "log": log,
    }
    lines = [Content.assemble((f"{name:<10}", "bold"), printable(text)) for name, text in facts.items() if text]
    known = (Content(printable(line)) for line in run_lines(run, costs))
    return Content("\n").join([run_sentence(run), Content(""), *lines, Content(""), *known])


class RunDetailScreen(LiveScreen):
    """The facts of one run, kept up to date while it is active."""

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
        text = run_details(self._info, costs, str(log_path(self.project.path)))
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
            self.action_start(self._to_begin)

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
        runs = ((run.run, with_counts(run, self._counted)) for run in self.runs)
        self.table.show_records(run_columns(wide=self.wide), runs)
        self._describe()

    def _describe(self) -> None:
        run = self.chosen
        self.put("run", run_sentence(with_counts(run, self._counted)) if run else _NO_RUNS)

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

    def action_start(self, offer: StartOffer | None = None) -> None:
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
            self.notify(f"Run {run.run} is {run.state}: there is nothing to cancel.")
            return
        text = f"{printable(run.verifier)}, run {run.run}: {run.done:,} of {run.items:,} done. Its verdicts stay."
        cancel = partial(verifying.cancel, self.project, run.run)
        confirm(self, "Cancel this run?", text, lambda: self._request_change(lambda _: cancel()))

    def _request_change(self, ask: Callable[[bool], RunInfo]) -> None:
        trusting(self, ask, self._report_state, group="ask")

    def _report_state(self, run: RunInfo) -> None:
        state, _ = state_words(run)
        had = f" · {run.reused:,} of {run.selected:,} items already have a verdict" if run.reused else ""
        self.notify(f"{state}{had}", title=f"{printable(run.verifier)}, run {run.run}")
        self.table.jump_to_id(run.run)
        self.read_again()

    def opened(self, row: int) -> None:
        self.action_details()

    def action_transcript(self) -> None:
        run = self.chosen
        if run is not None and run.writes:
            self.app.push_screen(WrittenScreen(run.run))
        elif run is not None:
            self.notify(f"Open one of its items: {key_of('item.transcript')} shows a verdict's calls.")

    def action_details(self) -> None:
        if (run := self.chosen) is not None:
            self.app.push_screen(RunDetailScreen(run.run))
