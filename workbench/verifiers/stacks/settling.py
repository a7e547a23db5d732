"""Rules that decide an item in a stack: ``rules:correct``, ``qwen:score>=0.9/score<=0.1@A/B2``, ``gpt``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from msgspec import Struct

from workbench.core.verdict import Outcome, Verdict

STAGES = "stages"
"""The option with a stack's stages."""
MAX_STAGES = 20
_WORDS = {
    "correct": (Outcome.CORRECT,),
    "incorrect": (Outcome.INCORRECT,),
    "both": (Outcome.CORRECT, Outcome.INCORRECT),
}
_SCORE = re.compile(r"score\s*(>=|<=)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_TYPE = re.compile(r"[A-Z]\d{0,2}")
_SETTLES = "correct, incorrect, both, score>=NUMBER or score<=NUMBER, several with /"


class Stage(Struct, frozen=True, kw_only=True):
    """A verifier in a stack.

    Attributes:
        name: The verifier's name.
        outcomes: The verifier's verdicts that decide an item.
        least: Minimum score at which an item is correct, whatever the verdict; None without one.
        most: Maximum score at which an item is incorrect, whatever the verdict; None without one.
        types: Answer types or subtypes that the stage is called for; empty for all items.
    """

    name: str
    outcomes: frozenset[Outcome] = frozenset()
    least: float | None = None
    most: float | None = None
    types: tuple[str, ...] = ()

    def is_for(self, subtype: str | None) -> bool:
        """Return whether the stage is called for items of a subtype; a stage with types ignores untyped items.

        The type ``A`` includes the subtype ``A1``.
        """
        return not self.types or (subtype is not None and not {subtype, subtype[:1]}.isdisjoint(self.types))

    def settled(self, verdict: Verdict) -> Outcome | None:
        """Return the stack's outcome by this stage's verdict; None if the item is passed on to the next stage."""
        if verdict.outcome is Outcome.ERROR:
            return None
        score = verdict.score
        if score is not None and self.least is not None and score >= self.least:
            return Outcome.CORRECT
        if score is not None and self.most is not None and score <= self.most:
            return Outcome.INCORRECT
        return verdict.outcome if verdict.outcome in self.outcomes else None

    def __str__(self) -> str:
        found = [word for word, outcomes in _WORDS.items() if self.outcomes == frozenset(outcomes)]
        found += [f"score>={_format_score(self.least)}"] if self.least is not None else []
        found += [f"score<={_format_score(self.most)}"] if self.most is not None else []
        return f"{self.name}:{'/'.join(found)}{'@' if self.types else ''}{'/'.join(self.types)}"


def _format_score(score: float) -> str:
    short = f"{score:g}"
    return short if float(short) == score else repr(float(score))


def stages(text: str) -> tuple[Stage, ...]:
    """Parse the stages of an option, in their order.

    Raises:
        ValueError: No stage is given, or one has another format.
    """
    found = tuple(_parse_stage(part.strip()) for part in text.split(",") if part.strip())
    if not found:
        raise ValueError(f"{STAGES}: it is missing")
    if len(found) > MAX_STAGES:
        raise ValueError(f"{STAGES}: {MAX_STAGES} at most, not {len(found)}")
    return found


def format_stages(found: Iterable[Stage]) -> str:
    return ", ".join(map(str, found))


def _parse_stage(text: str) -> Stage:
    name, colon, rule = text.partition(":")
    if not name.strip():
        raise ValueError(f"{STAGES}: {text!r} doesn't name a verifier")
    said, at, types = rule.partition("@")
    conditions = [part.strip() for part in said.split("/")] if said.strip() else []
    if colon and not conditions and not at:
        raise ValueError(f"{STAGES}: {text!r}: write the deciding rule after the colon: {_SETTLES}")
    stage = Stage(name=name.strip(), types=_parse_types(text, types) if at else ())
    outcomes: frozenset[Outcome] = frozenset()
    least, most = None, None
    for condition in conditions or ["both"]:
        if condition in _WORDS:
            outcomes |= frozenset(_WORDS[condition])
        elif scored := _SCORE.fullmatch(condition):
            number = _parse_score(text, scored[2])
            if (least if scored[1] == ">=" else most) is not None:
                raise ValueError(f"{STAGES}: {text!r} has two conditions with {scored[1]}; give one of them")
            least, most = (number, most) if scored[1] == ">=" else (least, number)
        else:
            raise ValueError(f"{STAGES}: {condition!r} decides nothing; write {_SETTLES}")
    if least is not None and most is not None and most >= least:
        raise ValueError(
            f"{STAGES}: {text!r}: a score from {most:g} down can't be incorrect and from {least:g} up correct"
        )
    return Stage(name=stage.name, outcomes=outcomes, least=least, most=most, types=stage.types)


def _parse_score(text: str, written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{STAGES}: {text!r}: {written} is too large")
    return number


def _parse_types(text: str, written: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(part.strip() for part in written.split("/")))
    for one in found:
        if not _TYPE.fullmatch(one):
            raise ValueError(f"{STAGES}: {text!r}: write answer types after @, such as A/B2")
    return found
