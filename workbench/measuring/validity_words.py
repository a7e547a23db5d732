"""Findings in plain words, one by one and as a whole report."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING

from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.measuring.records.validity import Check, ValidityReport

if TYPE_CHECKING:
    from workbench.statistics.strata import Effect

_KINDS: dict[Check, tuple[str, str, str]] = {
    "length": ("longer completions", "shorter ones", "gold and type"),
    "own-model": ("completions by its own model", "others", "gold and type"),
    "first-option": ("completions that choose the first option", "those that choose another", "gold"),
    "boxed": ("completions with a boxed answer", "those without", "gold and type"),
    "thinking": ("completions that show their thinking", "those that don't", "gold and type"),
    "other-script": ("completions with Chinese, Japanese or Korean characters", "those without", "gold and type"),
    "undecided-by-gold": ("correct completions", "incorrect ones", "type"),
}
"""Check -> the kind in question, the others, and what is held equal."""

_MEANING: dict[Check, str] = {
    "length": "its verdicts follow length",
    "own-model": "its verdicts follow who wrote the completion",
    "first-option": "its verdicts follow the option's place",
    "boxed": "its verdicts follow the form of the answer",
    "thinking": "its verdicts follow what is shown before the answer",
    "other-script": "its verdicts follow the language",
    "undecided-by-gold": "accuracy on decided items alone would mislead",
}

_WIDTH = 100


def compared(check: Check, effect: Effect, exposed: int, others_in_all: int) -> str:
    """What an effect says.

    Args:
        exposed: Completions of the kind in question, whether or not others are like them in what is held equal.
        others_in_all: The others, likewise.
    """
    kind, others, equal = _KINDS[check]
    if effect.difference is None or effect.ci is None:
        return (
            f"Too few to tell: {exposed:,} {kind} ({others}: {others_in_all:,}); ten of each are needed that are alike "
            f"in {equal}."
        )
    low, high = effect.ci
    done = "left undecided" if check == "undecided-by-gold" else "accepted"
    points = 100 * effect.difference
    often = (
        "as often as"
        if round(points, 1) == 0
        else f"{abs(points):.1f} points {'more' if points > 0 else 'less'} often than"
    )
    sentence = f"Of equal {equal}, {kind} are {done} {often} {others} [{100 * low:+.1f}, {100 * high:+.1f}]"
    if low <= 0 <= high:
        return f"{sentence}: no more than chance may bring."
    return f"{sentence}: {_MEANING[check]}, or something that goes with it."


def flipped(differ: int, items: int, share: float, ci: tuple[float, float], between: str) -> str:
    """How often a verifier contradicts itself."""
    return f"{_percent(share, ci)} of items get another verdict {between}: {differ:,} of {items:,}."


def undecided(n: int, abstain: int, error: int, share: float, ci: tuple[float, float], reasons: list[str]) -> str:
    """How often there is no decision."""
    why = f" Most often: {', '.join(reasons)}." if reasons else ""
    counts = f"{counted(abstain, 'abstention')} and {counted(error, 'error')} of {n:,}"
    return f"{_percent(share, ci)} of items are left undecided: {counts}.{why}"


def selected(datasets: list[str]) -> str:
    """What it means that a judge chose the data."""
    return (
        f"Its verdicts helped to choose what belongs to {' and '.join(datasets)}: items were kept where such judges "
        "differed, so its accuracy there says little of it elsewhere."
    )


def ceiling(source: str, highest: float, ends: tuple[float, float], wrong: float) -> str:
    """What wrong labels leave."""
    whence = "people's agreement" if source == "agreement" else "people's answers on checks"
    return (
        f"By {whence}, {100 * wrong:.2f} % of labels that two people and a third have settled are wrong: no verifier "
        f"can be measured above {_percent(highest, ends, 2)}, less if people err alike."
    )


def _percent(share: float, ci: tuple[float, float], decimals: int = 1) -> str:
    low, high = (f"{100 * end:.{decimals}f}" for end in ci)
    return f"{100 * share:.{decimals}f} % [{low}, {high}]"


def validity_text(report: ValidityReport) -> str:
    """One sentence a check, by verifier; what stands out is marked."""
    sources = ", ".join(f"{number} {name}" for name, number in report.gold.items())
    lines = [f"gold {report.gold_choice} ({sources}); * a difference that stands out, a share above none"]
    for verifier, findings in groupby(report.findings, key=lambda finding: finding.verifier):
        lines += ["", inert(verifier or "labels")]
        for finding in findings:
            mark = "*" if finding.stands_out else " "
            lines.append(
                fill(
                    f"{finding.check}: {inert(finding.sentence)}",
                    _WIDTH,
                    initial_indent=f"{mark} ",
                    subsequent_indent="    ",
                    break_on_hyphens=False,
                )
            )
    return "\n".join([*lines, *(f"\n{fill(note, _WIDTH)}" for note in report.notes)]) + "\n"
