"""Descriptions of reason codes and rules, which explain a verifier's verdict."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple


class Reason(NamedTuple):
    """The description of a reason code.

    Attributes:
        title: A few words that are shown next to the code.
        correct: A sentence that explains a verdict "correct" with this code; "" if there is no such verdict.
        incorrect: A sentence that explains a verdict "incorrect" with this code; "" if there is no such verdict.
        undecided: A sentence that explains an abstention or an error with this code.
    """

    title: str
    correct: str = ""
    incorrect: str = ""
    undecided: str = ""


_TABLE: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))
REASONS: Final = {code: Reason(**sentences) for code, sentences in _TABLE["reasons"].items()}
RULES: Final[dict[str, dict[str, str]]] = _TABLE["rules"]
"""Sentences that explain "correct" and "incorrect", by rule or by the first part of a rule's name. They are more
specific than those of the reason.
"""


def title(code: str) -> str:
    """Return a reason code in a few words; "" for an unknown code."""
    return REASONS[code].title if code in REASONS else ""


def code_with_title(code: str) -> str:
    """Return a reason code with its title: ``"letter - compared as option letters"``."""
    words = title(code)
    return f"{code} - {words}" if words else code


def explain_verdict(outcome: str, reason: str | None, rule: str | None = None, value: str = "") -> str:
    """Explain a verdict in a sentence; "" if its codes are unknown.

    Args:
        outcome: The verdict, such as ``"correct"``.
        reason: Its reason code.
        rule: The rule that fired.
        value: The reference's final answer if it is short enough for a sentence; else "".
    """
    known = REASONS.get(reason or "", Reason(""))
    if outcome not in ("correct", "incorrect"):
        return known.undecided
    rule = rule or ""
    general = known.correct if outcome == "correct" else known.incorrect
    for name in (rule, rule.partition(".")[0]):
        found = RULES.get(name, {}).get(outcome)
        if found and (value or "{value}" not in found):
            return found.replace("{value}", value)
    return general
