"""What a run on model servers uses, in the words of the command line."""

from __future__ import annotations

from workbench.core.calls import Amount, Estimate
from workbench.core.run import RunUsage
from workbench.core.text.figures import compact_count, counted, dollars


def usage_words(used: RunUsage) -> list[str]:
    """Calls, tokens, money and failed attempts by class."""
    words = [counted(used.calls, "call"), tokens(used.prompt_tokens, used.completion_tokens)]
    if used.reused:
        words.insert(1, f"{used.reused:,} replies reused")
    if used.cost is not None:
        words.append(dollars(used.cost))
    if used.unpriced:
        words.append(f"{used.unpriced:,} without a known price")
    if used.errors:
        failed = sorted(used.errors.items(), key=lambda pair: (-pair[1], pair[0]))
        words.append("failed: " + ", ".join(f"{count:,} {code}" for code, count in failed))
    return words


def tokens(prompt: int, completion: int) -> str:
    """Tokens in and out."""
    return f"{compact_count(prompt)} tokens in, {compact_count(completion)} out"


def amount(found: Amount) -> str:
    """Some calls with what they take."""
    cost = "cost unknown" if found.cost is None else dollars(found.cost)
    return f"{counted(found.calls, 'call')}, {compact_count(found.tokens)} tokens, {cost}"


def estimate_words(found: Estimate) -> str:
    """What a run is about to use, in a sentence."""
    cost = "cost unknown: no price in workbench.toml" if found.cost is None else f"at most {dollars(found.cost)}"
    return (
        f"About {counted(found.calls, 'call')} for {counted(found.items, 'item')}: "
        f"{compact_count(found.prompt_tokens)} tokens in, at most {compact_count(found.completion_tokens)} out, {cost}."
    )
