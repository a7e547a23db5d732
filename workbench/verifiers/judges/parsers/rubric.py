"""Rubrics: weighted criteria, each of which a judge finds met or not met.

Source: Arora et al., "HealthBench: Evaluating Large Language Models Towards Improved Human Health" (arXiv 2505.08775):
the score is the weight of met criteria over the total weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Annotated, Final

from msgspec import Meta, Struct

from workbench.verifiers.judges.parsers.base import DOUBT, Parser, Reading, verdict_in

PARSER: Final = "rubric"
_VERSION: Final = 1
_ENOUGH: Final = 0.5


class Criterion(Struct, frozen=True, forbid_unknown_fields=True):
    """One requirement on a completion.

    Attributes:
        name: Its name, with which the judge begins the line about it.
        asks: The requirement.
        weight: Its weight in the score, relative to the others.
        required: Whether the score is 0 if it is not met.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
    asks: Annotated[str, Meta(min_length=1, max_length=4000)]
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    required: bool = False


def criterion_answers(criteria: Sequence[Criterion], lines: Sequence[str]) -> dict[str, bool | None]:
    """Return for each criterion whether the judge's last line about it says Yes or No; None for neither or both."""
    about = [next((one.name for one in criteria if _line_pattern(one.name).match(line)), None) for line in lines]
    return {one.name: _criterion_answer(one.name, lines, about) for one in criteria}


def rubric(criteria: Sequence[Criterion]) -> Parser:
    """Return a parser for these criteria; a criterion without an answer leaves the item undecided."""
    read = partial(_reading_of, tuple(criteria))
    return Parser(PARSER, _VERSION, strict=read, labelled=read)


def _reading_of(criteria: Sequence[Criterion], lines: Sequence[str]) -> Reading:
    found = criterion_answers(criteria, lines)
    label = ", ".join(f"{name} {'–' if word is None else 'yes' if word else 'no'}" for name, word in found.items())
    if None in found.values():
        return Reading("abstain", label=label, reason="unparsed")
    met = sum(one.weight for one in criteria if found[one.name]) / sum(one.weight for one in criteria)
    score = met if all(found[one.name] for one in criteria if one.required) else 0.0
    return Reading("correct" if score >= _ENOUGH else "incorrect", score=score, label=label)


def _criterion_answer(name: str, lines: Sequence[str], about: Sequence[str | None]) -> bool | None:
    own = [line for line, criterion in zip(lines, about, strict=True) if criterion in (name, None)]
    return {"yes": True, "no": False}.get(verdict_in(own, partial(_criterion_word, name)) or "")


def _criterion_word(name: str, line: str) -> str | None:
    if (found := _line_pattern(name).match(line)) is None:
        return None
    word, rest = found[1].lower(), line[found.end() :]
    other = _OTHER.get(word)
    return DOUBT if other is None or other.search(rest) else word


_OTHER: Final = {
    "yes": re.compile(r"\bno\b(?![ \t]+[^\W_]|-)", re.IGNORECASE),
    "no": re.compile(r"\byes\b", re.IGNORECASE),
}
"""Patterns of the opposite verdict in a line; "no" before a noun negates the noun."""


@lru_cache(maxsize=256)
def _line_pattern(name: str) -> re.Pattern[str]:
    around = r"[ \t*_`\"'#+,{-]{0,12}"
    spelled = re.escape(name).replace("_", "[_ ]")
    return re.compile(
        rf"{around}(?:\d{{1,3}}[.)][ \t]{{0,4}})?{around}{spelled}{around}[:：]{around}(\w*)", re.IGNORECASE
    )
