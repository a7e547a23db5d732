"""Runs as table cells and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.overview import RUN_MARKS, calls_words, share
from workbench.core.run import ACTIVE, RunCosts, RunInfo, RunUsage
from workbench.core.text.figures import NONE, bar, compact_count, counted, percent, verb_wait
from workbench.core.text.run_words import run_lines, usage_words
from workbench.tables.document import Tone
from workbench.tables.table import Column, Columns, column, text, word

_BAR = 14


def columns(*, wide: bool) -> Columns[RunInfo]:
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
        column("ETA", lambda run: run.eta, lambda eta: NONE if eta is None else duration(eta), room=6),
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


def duration(seconds: float) -> str:
    """Format a time in at most six characters: ``45s``, ``3m20s``, ``1h02m``, ``4d``."""
    whole = max(0, round(seconds))
    minutes, left = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if whole < 60:
        return f"{whole}s"
    if hours == 0:
        return f"{minutes}m{left:02}s"
    return f"{hours}h{minutes_left:02}m" if hours < 100 else f"{hours // 24}d"


def with_counts(run: RunInfo, counted: Mapping[int, RunInfo]) -> RunInfo:
    """Return the run with its latest known counts by verdict and reason, and its progress when they were counted."""
    known = counted.get(run.run)
    return (
        run
        if known is None
        else structs.replace(
            run,
            done=known.done,
            verdicts=known.verdicts,
            reasons=known.reasons,
            failures=known.failures,
            untested=known.untested,
        )
    )


def sentence(run: RunInfo) -> Content:
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
    parts = []
    for outcome, count in run.verdicts.items():
        mark, style = OUTCOME_MARKS[outcome]
        parts.append((f"{mark} {count:,} {outcome}  ", f"$text-{style}"))
    return parts


def _status_message(run: RunInfo) -> Content:
    if run.message and run.writes:
        return Content.styled(f"‖ {printable(run.message)}", "$text-warning")
    if run.message and run.state == "paused":
        return Content.styled(f"‖ {printable(run.message)} {key_of('runs.resume')} continues the run.", "$text-warning")
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


def details(run: RunInfo, costs: RunCosts, log: str) -> Content:
    """Return all that is known of a run: its times, and the lines of the command line."""
    facts = {
        "verifier": f"{run.verifier} ({run.kind} {run.version})",
        "state": f"{state_words(run)[0]}, {process(run)}" if run.state in ACTIVE else state_words(run)[0],
        "items": "" if run.writes else f"{run.selection}: {run.done:,} of {run.items:,} done",
        "calls": "" if run.usage is None else "; ".join(usage_words(run.usage)),
        "created": run.created_at,
        "started": run.started_at,
        "finished": run.finished_at,
        "message": run.message,
        "note": run.untested,
        "log": log,
    }
    lines = [Content.assemble((f"{name:<10}", "bold"), printable(text)) for name, text in facts.items() if text]
    return Content("\n").join([*lines, Content(""), *(Content(printable(line)) for line in run_lines(run, costs))])
