"""Describes runs in words: calls to model servers and their cost, isolation of programs, cluster nodes, timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from workbench.core.code import Level, Provenance
from workbench.core.run import ACTIVE, Amount, ClusterUse, Estimate, RunCosts, RunInfo, RunUsage
from workbench.core.text.figures import NONE, compact_count, counted, dollars, time_to_minute
from workbench.core.text.inert import inert

LEVELS: Final[dict[Level, str]] = {
    "L3": "namespaces, Landlock and seccomp",
    "L2": "Landlock and seccomp",
    "L1": "limits alone",
}
"""Isolation mechanisms at each level."""


def isolation_lines(run: RunInfo) -> Iterator[str]:
    if run.isolations:
        counts = (f"{level} {count:,} ({LEVELS[level]})" for level, count in run.isolations.items())
        yield f"isolation: {', '.join(counts)}"
    for found in run.provenance:
        yield from _provenance_lines(found)


def _provenance_lines(found: Provenance) -> Iterator[str]:
    yield f"interpreter: {' '.join((found.interpreter, *found.flags))}"
    yield f"PYTHONHASHSEED={found.hash_seed}, packages {found.packages[:12]}, code of replies by {found.extractor}"
    limits = ", ".join(f"{name} {limit:,.12g}" for name, limit in found.limits.items())
    if limits:
        yield f"limits: {limits}"


def node_lines(cluster: ClusterUse | None) -> Iterator[str]:
    for node in [] if cluster is None else cluster.nodes:
        if node.refused:
            yield f"node {node.name}: rejected: {node.refused}"
            continue
        rate = "–" if node.rate is None else f"{node.rate:,.1f}"
        yield (
            f"node {node.name}: {counted(node.workers, 'worker')}, {node.judged:,} results, {rate} a second; "
            f"died {counted(node.deaths, 'time')}, {node.lost:,} repeated on other nodes"
        )


def timeout_words(counts: Mapping[str, int]) -> str:
    """Describe the number of timeouts and their kinds; "" if there are none.

    Args:
        counts: Number of timeouts by kind of limit: ``cpu``, ``wall`` or ``unknown``.
    """
    whole = sum(counts.values())
    if not whole:
        return ""
    parts = ", ".join(f"{count:,} {cause}" for cause, count in counts.items())
    return f"timeouts: {counted(whole, 'item')} had no more time ({parts})"


def usage_words(used: RunUsage) -> list[str]:
    """Return calls, tokens, money and failed attempts by class."""
    words = [counted(used.calls, "call")]
    if used.reused:
        words.append(f"{used.reused:,} replies reused")
    if used.prompt_tokens or used.completion_tokens:
        words.append(tokens(used.prompt_tokens, used.completion_tokens))
    if used.cost is not None:
        words.append(dollars(used.cost))
    if used.unpriced:
        words.append(f"{used.unpriced:,} without a known price")
    if used.errors:
        failed = sorted(used.errors.items(), key=lambda pair: (-pair[1], pair[0]))
        words.append("failed: " + ", ".join(f"{count:,} {code}" for code, count in failed))
    return words


def tokens(prompt: int, completion: int) -> str:
    return f"{compact_count(prompt)} tokens in, {compact_count(completion)} out"


def amount(found: Amount) -> str:
    """Return a number of calls with their tokens and cost."""
    cost = "cost unknown" if found.cost is None else dollars(found.cost)
    return f"{counted(found.calls, 'call')}, {compact_count(found.tokens)} tokens, {cost}"


def estimate_words(found: Estimate) -> str:
    cost = "cost unknown: no price in workbench.toml" if found.cost is None else f"at most {dollars(found.cost)}"
    return (
        f"About {counted(found.calls, 'call')} for {counted(found.items, 'item')}: "
        f"{compact_count(found.prompt_tokens)} tokens in, at most {compact_count(found.completion_tokens)} out, {cost}."
        + "".join(f" Note: {note}." for note in found.notes)
    )


def run_lines(run: RunInfo, costs: RunCosts, *, after_timeouts: str = "", after_errors: str = "") -> Iterator[str]:
    """Yield the verdicts, reasons, errors, isolation, nodes and costs of a run.

    Args:
        after_timeouts: What can be done about timeouts.
        after_errors: What can be done about errors.
    """
    if run.trouble:
        yield run.trouble
    for title, counts in () if run.writes else (("verdicts", run.verdicts), ("reasons", run.reasons)):
        yield f"{title}: " + (", ".join(f"{n} {word}" for word, n in (counts or {}).items()) or "–")
    if run.timeouts:
        yield timeout_words(run.timeouts) + after_timeouts
    yield from (f"error: {words}" for words in run.failures)
    if run.failures and after_errors:
        yield after_errors
    yield from isolation_lines(run)
    yield from node_lines(run.cluster)
    if run.usage is not None:
        yield from _cost_lines(run.usage, costs)


def _cost_lines(used: RunUsage, costs: RunCosts) -> Iterator[str]:
    yield f"spent: {amount(costs.spent)}"
    yield f"possibly spent in addition: {amount(costs.possibly_spent)}"
    if costs.to_finish is not None:
        yield f"to finish: about {amount(costs.to_finish)}"
    for batch in costs.batches:
        how = f"{batch.status or 'sent'}, since {time_to_minute(batch.sent_at or NONE)} UTC"
        yield f"batch {batch.name or '–'}: {batch.calls:,} calls, {how}"
    yield from (f"warning: {warning}" for warning in used.warnings)


def run_line(info: RunInfo) -> str:
    done = "writes texts" if info.writes else f"{info.done:,} of {info.items:,}"
    words = [f"run {info.run}", info.verifier, info.version, info.state, done]
    if info.recorded:
        words.append("depends on recorded replies")
    if info.request:
        words.append(f"requested: {info.request}")
    if info.state in ACTIVE and not info.alive:
        # One that can't be seen from here may live.
        died = "its runner has died" if info.pid is not None else "no process works on it"
        words.append(f"{info.waiting or died}: resume it")
    elif info.pid is not None:
        words.append(f"pid {info.pid}")
    if info.alive and info.waiting:
        words.append(info.waiting)
    if info.usage is not None:
        words.extend(usage_words(info.usage))
    if info.message:
        words.append(info.message)
    return inert("  ".join(words))
