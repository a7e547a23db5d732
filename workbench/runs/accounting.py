"""Adding up what a run has asked of model servers."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.run import RunUsage
from workbench.llm.journal import RunUsed
from workbench.llm.records import FailureCode, Usage
from workbench.runs.store.calls import AttemptOutcome
from workbench.runs.store.verdict_calls import MadeCall

_UNSURE: frozenset[FailureCode] = frozenset({"timeout", "transport", "malformed"})
"""Failures after which a call may have been paid for all the same."""


def add_outcome(used: RunUsage, found: AttemptOutcome) -> None:
    """Count what became of an attempt that was counted as a call."""
    if found.state == "done":
        used.answered += 1
        return
    code = found.code or ""
    used.errors[code] = used.errors.get(code, 0) + 1
    if found.state == "unsent":
        used.calls -= 1
        used.unsent += 1
    else:
        used.failed += 1
        used.unsure += code in _UNSURE


def add_reply(used: RunUsage, found: Usage) -> None:
    """Count the tokens and the money of a reply; what isn't known counts as nothing, but is told apart for money."""
    used.prompt_tokens += found.prompt_tokens or 0
    used.cached_tokens += found.cached_tokens or 0
    used.completion_tokens += found.completion_tokens or 0
    used.reasoning_tokens += found.reasoning_tokens or 0
    if found.cost is not None:
        used.cost = (used.cost or 0.0) + found.cost
    used.unpriced += found.cost is None


def add_item(used: RunUsage, made: Iterable[MadeCall]) -> None:
    """Count the replies that an item was judged by without a call."""
    reused = [call.reused for call in made]
    used.reused += sum(reused)
    used.items_reused += bool(reused) and all(reused)


def spent(used: RunUsage) -> RunUsed:
    """The sums as the client's budgets need them."""
    return RunUsed(
        calls=used.calls,
        possibly_paid=used.open + used.unsure,
        tokens=used.prompt_tokens + used.completion_tokens,
        cost=used.cost or 0.0,
    )
