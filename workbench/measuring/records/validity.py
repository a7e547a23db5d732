"""Records of bias checks: whether verdicts depend on what they should not depend on, such as a completion's length."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.verdict import GoldChoice

Check = Literal[
    "length",
    "own-model",
    "first-option",
    "boxed",
    "thinking",
    "other-script",
    "flips-samples",
    "flips-runs",
    "undecided",
    "undecided-by-gold",
    "selection",
    "ceiling",
]

CHECKS: Final[dict[Check, str]] = {
    "length": "completions longer than the median of equal gold and type, compared with the others",
    "own-model": "completions by the judge's own model, compared with others of equal gold and type",
    "first-option": "completions that choose the first option, compared with those that choose another, of equal gold",
    "boxed": "completions with a boxed answer, compared with those without, of equal gold and type",
    "thinking": "completions that show their thinking, compared with those that don't, of equal gold and type",
    "other-script": "completions with Chinese, Japanese or Korean text, compared with others of equal gold and type",
    "flips-samples": "items whose verdict differs between samples of one run",
    "flips-runs": "items whose verdict differs between the two newest runs",
    "undecided": "items without a decision: abstentions and errors",
    "undecided-by-gold": "correct completions left undecided against incorrect ones, of equal type",
    "selection": "judges whose verdicts selected the items of the data",
    "ceiling": "highest accuracy that can be measured, given the labels' errors",
}
"""Checks: code -> description."""

COMPARING: Final[tuple[Check, ...]] = (
    "length",
    "own-model",
    "first-option",
    "boxed",
    "thinking",
    "other-script",
    "undecided-by-gold",
)
"""Checks whose estimate is a difference of shares; other checks estimate a share."""


class ValidityFinding(Struct, frozen=True, kw_only=True):
    """The result of one check of one verifier.

    Attributes:
        verifier: The verifier's name; None for a finding about labels.
        n: Number of items behind the estimate.
        estimate: A share, or for checks in `COMPARING` a difference of shares (positive: more of the first kind is
            accepted, or left undecided); None with too little data.
        ci: Its 95 % interval, clustered by question; None without an interval.
        counts: Name of a number behind the estimate -> the number.
        sentence: The finding as a sentence.
        stands_out: Whether the interval excludes zero; for shares, whether the share is above zero.
    """

    check: Check
    verifier: str | None
    n: int
    estimate: float | None = None
    ci: tuple[float, float] | None = None
    counts: dict[str, int] = {}
    sentence: str
    stands_out: bool = False


class ValidityReport(Struct, frozen=True, kw_only=True):
    """All checks of all verifiers.

    Attributes:
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        texts: Number of completions whose texts were read for the checks of form.
        compared: Number of differences with an interval; about one in twenty is significant by chance.
        notes: Notes that apply to all findings.
    """

    gold: dict[str, int]
    gold_choice: GoldChoice
    texts: int
    compared: int
    findings: list[ValidityFinding]
    notes: tuple[str, ...] = ()
