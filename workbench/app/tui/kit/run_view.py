"""Runs as table cells and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.overview import RUN_MARKS, calls_words, share
from workbench.core.reasons import title
from workbench.core.run import ACTIVE, Amount, Estimate, RunCosts, RunInfo, RunUsage
from workbench.core.text.figures import NONE, bar, compact_count, counted, dollars, percent, time_to_minute, verb_wait
from workbench.core.text.run_words import isolation_lines, node_lines, timeout_words
from workbench.tables.document import Tone
from workbench.tables.table import Column, Columns, column, text, word

# -- A run's calls to model servers, in words: calls, tokens, cost, errors, warnings.


_MAX_ERRORS = 4


def money(usage: RunUsage) -> str:
    """Return the known cost, and the number of replies whose cost is unknown."""
    if usage.cost is None:
        return "cost unknown: no price in workbench.toml"
    spent = dollars(usage.cost)
    return f"{spent} and {usage.unpriced:,} replies without a price" if usage.unpriced else f"{spent} spent"


def count_possibly_charged(usage: RunUsage) -> int:
    """Return the number of calls that may have been charged although no reply arrived."""
    return usage.open - usage.in_flight + usage.unsure


def _tokens_text(usage: RunUsage) -> str:
    known = usage.prompt_tokens or usage.completion_tokens
    return f"{compact_count(usage.prompt_tokens)}→{compact_count(usage.completion_tokens)} tokens" if known else ""


def usage_sentence(usage: RunUsage) -> Content:
    words = [
        f"{usage.calls:,} calls",
        f"{usage.reused:,} replies reused" if usage.reused else "",
        _in_flight_text(usage),
        _tokens_text(usage),
        money(usage),
        f"{count_possibly_charged(usage):,} possibly paid" if count_possibly_charged(usage) > 0 else "",
    ]
    troubles = _errors_and_warnings(usage)
    return Content.assemble(" · ".join(word for word in words if word), "\n" if troubles else "", troubles)


def estimate_text(expected: Estimate, *, in_batches: bool = False) -> str:
    if not expected.items:
        return "Every item already has its verdict: no calls will be made."
    outcome_column, told = compact_count(expected.prompt_tokens), compact_count(expected.completion_tokens)
    cost = "unknown: a model has no price in workbench.toml" if expected.cost is None else dollars(expected.cost)
    return "\n".join(
        (
            f"items   {expected.items:,} to judge; {expected.stored:,} already have their verdict",
            f"calls   about {expected.calls:,}, less those whose replies are stored",
            f"tokens  about {outcome_column} in, at most {told} out",
            f"money   {cost}" if expected.cost is None else f"money   at most about {cost}",
            *(["batch   answered within a day; sent calls are charged even if the run is cancelled"] * in_batches),
        )
    )


def usage_details(usage: RunUsage, costs: RunCosts) -> Iterator[Content]:
    thought = f", {usage.reasoning_tokens:,} of them thoughts" if usage.reasoning_tokens else ""
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    perhaps, left = costs.possibly_spent, costs.to_finish
    facts = {
        "calls": f"{usage.calls:,}: {usage.answered:,} answered, {usage.failed:,} failed, {_in_flight_text(usage)}",
        "reused": f"{usage.reused:,} replies were reused; {usage.items_reused:,} items needed no call",
        "in": f"{usage.prompt_tokens:,} tokens{cached}",
        "out": f"{usage.completion_tokens:,} tokens{thought}",
        "spent": money(usage),
        "perhaps": f"{_amount_text(perhaps)} more, without a reply but possibly charged" if perhaps.calls else "",
        "to finish": f"about {_amount_text(left)}" if left is not None and left.calls else "",
    }
    for name, outcome_column in facts.items():
        if outcome_column:
            yield _fact_line(name, outcome_column)
    for batch in costs.batches:
        how = (batch.status or "sent") + (f", since {time_to_minute(batch.sent_at)}" if batch.sent_at else "")
        yield _fact_line("batch", printable(f"{batch.name or NONE}: {counted(batch.calls, 'call')}, {how}"))
    for code, count in sorted(usage.errors.items(), key=lambda pair: (-pair[1], pair[0])):
        yield _fact_line("failed", f"{count:,} × {_reason_words(code)}", "$text-error")
    for warning in usage.warnings:
        yield _fact_line("warning", printable(warning), "$text-warning")


def _fact_line(name: str, text: str, style: str = "") -> Content:
    return Content.assemble((f"{name:<10}", "bold"), (text, style))


def _amount_text(amount: Amount) -> str:
    cost = "" if amount.cost is None else f", {dollars(amount.cost)}"
    return f"{counted(amount.calls, 'call')}, {compact_count(amount.tokens)} tokens{cost}"


def _in_flight_text(usage: RunUsage) -> str:
    if not usage.in_flight:
        return "none in flight"
    return f"{usage.in_flight:,} of {usage.at_once:,} in flight" if usage.at_once else f"{usage.in_flight:,} in flight"


def _errors_and_warnings(usage: RunUsage) -> Content:
    errors = sorted(usage.errors.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{count:,} {printable(code)}" for code, count in errors[:_MAX_ERRORS]]
    left = len(errors) - len(parts)
    failed = f"failed attempts: {', '.join(parts)}" + (f" and {left} more" if left else "") if parts else ""
    more = f" (and {len(usage.warnings) - 1} more)" if len(usage.warnings) > 1 else ""
    warning = f"! {printable(usage.warnings[0])}{more}" if usage.warnings else ""
    between = "\n" if failed and warning else ""
    return Content.assemble((failed, "$text-error"), between, (warning, "$text-warning"))


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
    asked = () if run.usage is None else (usage_sentence(run.usage), "\n")
    selection = "texts that models write" if run.writes else printable(run.selection)
    judged = Content.assemble(f"{percent(share(run.done, run.items))} %  ", *_verdict_counts(run), "\n")
    return Content.assemble(
        (printable(run.verifier), "bold"),
        f" #{run.run} · {printable(run.kind)} version {printable(run.version)} · {selection} · {process(run)}\n",
        "" if run.writes else judged,
        *asked,
        _status_message(run),
    )


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


def _reason_words(code: str) -> str:
    words = title(code)
    return f"{printable(code)} ({words})" if words else printable(code)


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
    state, _ = state_words(run)
    judging = {
        "items": printable(run.selection),
        "done": f"{run.done:,} of {run.items:,} ({percent(share(run.done, run.items))} %)",
    }
    facts = {
        "verifier": f"{printable(run.verifier)} ({printable(run.kind)} {printable(run.version)})",
        "state": f"{state} (complete before they were added)"
        if run.new
        else f"{state}, {process(run)}"
        if run.state in ACTIVE
        else state,
        **({} if run.writes else judging),
        "created": run.created_at,
        "started": run.started_at or NONE,
        "finished": run.finished_at or NONE,
        "message": printable(run.message or NONE),
        **({"trouble": printable(run.trouble)} if run.trouble else {}),
        "log": printable(log),
    }
    lines = [Content.assemble((f"{name:<10}", "bold"), Content(text)) for name, text in facts.items()]
    if run.usage is not None:
        lines += [Content(""), Content.styled("Calls to model servers", "bold $text-accent")]
        lines += usage_details(run.usage, costs)
    if isolation := [*isolation_lines(run)]:
        lines += [Content(""), Content.styled("Sandbox", "bold $text-accent")]
        lines += [Content(printable(line)) for line in isolation]
    if nodes := [*node_lines(run.cluster)]:
        lines += [Content(""), Content.styled("Nodes", "bold $text-accent")]
        lines += [Content(printable(line)) for line in nodes]
    if run.writes:
        return Content("\n").join(lines)
    lines += [Content(""), Content.styled("Verdicts", "bold $text-accent"), Content.assemble(*_verdict_counts(run))]
    if run.timeouts:
        lines.append(Content.styled(timeout_words(run.timeouts), "$text-warning"))
    if run.failures:
        lines += [Content(""), Content.styled("Errors", "bold $text-accent")]
        lines += [Content(printable(words)) for words in run.failures]
    if run.untested:
        lines += [Content(""), Content.styled(f"! {printable(run.untested)}", "$text-warning")]
    lines += [Content(""), Content.styled("Reasons", "bold $text-accent")]
    reasons = sorted((run.reasons or {}).items(), key=lambda pair: (-pair[1], pair[0]))
    whole = sum((run.verdicts or {}).values())
    for reason, count in reasons:
        lines.append(Content(f"{count:>10,}  {percent(share(count, whole)):>5} %  {_reason_words(reason)}"))
    return Content("\n").join(lines if reasons else [*lines, Content("none")])
