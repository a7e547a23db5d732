"""What a run has asked of model servers, in words: calls, tokens, money, errors, warnings."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.core.calls import Amount, Estimate, RunCosts
from workbench.core.reasons import title
from workbench.core.run import RunUsage
from workbench.core.text.figures import compact_count, counted, dollars

_ERRORS_SHOWN = 4


def money(usage: RunUsage) -> str:
    """What is known to be spent, and how much of it nobody knows."""
    if usage.cost is None:
        return "cost unknown: no price in workbench.toml"
    spent = dollars(usage.cost)
    return f"{spent} and {usage.unpriced:,} replies without a price" if usage.unpriced else f"{spent} spent"


def unsure(usage: RunUsage) -> int:
    """Calls that may have been paid for although there is no reply."""
    return usage.open - usage.in_flight + usage.unsure


def sentence(usage: RunUsage) -> Content:
    """Calls, tokens and money; then errors by class and the first warning, where there are any."""
    words = [
        f"{usage.calls:,} calls",
        f"{usage.reused:,} replies reused" if usage.reused else "",
        _flight(usage),
        f"{compact_count(usage.prompt_tokens)}→{compact_count(usage.completion_tokens)} tokens",
        money(usage),
        f"{unsure(usage):,} possibly paid" if unsure(usage) > 0 else "",
    ]
    troubles = _troubles(usage)
    return Content.assemble(" · ".join(word for word in words if word), "\n" if troubles else "", troubles)


def estimate_text(expected: Estimate) -> str:
    """What a run is about to use, in lines."""
    if not expected.items:
        return "Every item has its verdict already: nothing will be asked."
    said, told = compact_count(expected.prompt_tokens), compact_count(expected.completion_tokens)
    cost = "unknown: a model has no price in workbench.toml" if expected.cost is None else dollars(expected.cost)
    return "\n".join(
        (
            f"items   {expected.items:,} to judge; {expected.stored:,} have their verdict already",
            f"calls   about {expected.calls:,}, less those whose replies are stored",
            f"tokens  about {said} in, at most {told} out",
            f"money   {cost}" if expected.cost is None else f"money   at most about {cost}",
        )
    )


def details(usage: RunUsage, costs: RunCosts) -> Iterator[Content]:
    """Everything about a run's calls, a line each."""
    thought = f", {usage.reasoning_tokens:,} of them thought" if usage.reasoning_tokens else ""
    cached = f", {usage.cached_tokens:,} of them cached there" if usage.cached_tokens else ""
    perhaps, left = costs.possibly_spent, costs.to_finish
    facts = {
        "calls": f"{usage.calls:,}: {usage.answered:,} answered, {usage.failed:,} failed, {_flight(usage)}",
        "reused": f"{usage.reused:,} replies were there already; {usage.items_reused:,} items needed no call",
        "in": f"{usage.prompt_tokens:,} tokens{cached}",
        "out": f"{usage.completion_tokens:,} tokens{thought}",
        "spent": money(usage),
        "perhaps": f"{_amount(perhaps)} more, without a reply but perhaps paid" if perhaps.calls else "",
        "to finish": f"about {_amount(left)}" if left is not None and left.calls else "",
    }
    for name, text in facts.items():
        if text:
            yield _fact(name, text)
    for code, count in sorted(usage.errors.items(), key=lambda pair: (-pair[1], pair[0])):
        yield _fact("failed", f"{count:,} × {_class(code)}", "$text-error")
    for warning in usage.warnings:
        yield _fact("warning", printable(warning), "$text-warning")


def _fact(name: str, text: str, style: str = "") -> Content:
    return Content.assemble((f"{name:<10}", "bold"), (text, style))


def _amount(amount: Amount) -> str:
    cost = "" if amount.cost is None else f", {dollars(amount.cost)}"
    return f"{counted(amount.calls, 'call')}, {compact_count(amount.tokens)} tokens{cost}"


def _class(code: str) -> str:
    """An error's class, with its title where it has one."""
    words = title(code)
    return f"{printable(code)} ({words})" if words else printable(code)


def _flight(usage: RunUsage) -> str:
    if not usage.in_flight:
        return "none in flight"
    return f"{usage.in_flight:,} of {usage.at_once:,} in flight" if usage.at_once else f"{usage.in_flight:,} in flight"


def _troubles(usage: RunUsage) -> Content:
    errors = sorted(usage.errors.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{printable(code)} {count:,}" for code, count in errors[:_ERRORS_SHOWN]]
    left = len(errors) - len(parts)
    failed = f"failed attempts: {', '.join(parts)}" + (f" and {left} more" if left else "") if parts else ""
    more = f" (and {len(usage.warnings) - 1} more)" if len(usage.warnings) > 1 else ""
    warning = f"! {printable(usage.warnings[0])}{more}" if usage.warnings else ""
    between = "\n" if failed and warning else ""
    return Content.assemble((failed, "$text-error"), between, (warning, "$text-warning"))
