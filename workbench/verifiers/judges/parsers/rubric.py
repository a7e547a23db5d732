"""Rubrics: weighted criteria, each of which a judge finds met or not.

Source: Arora et al., "HealthBench: Evaluating Large Language Models Towards Improved Human Health" (arXiv 2505.08775):
the score is the weight of what is met over all weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Annotated, Final

from msgspec import Meta, Struct

from workbench.verifiers.judges.parsers.base import Parser, Reading, own_text

PARSER: Final = "rubric"
_VERSION: Final = 1
_ENOUGH: Final = 0.5
_LONGEST: Final = 64 * 1024


class Criterion(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that is asked of a completion.

    Attributes:
        name: What the judge's line about it begins with.
        asks: What has to be so.
        weight: Its share in the score, against the others'.
        required: Nothing is correct without it: the score is 0.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
    asks: Annotated[str, Meta(min_length=1, max_length=4000)]
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    required: bool = False


def words(criteria: Sequence[Criterion], raw: str, delimiter: str | None = None) -> dict[str, bool | None]:
    """Criterion -> whether the last line about it says Yes or No; None where it says neither."""
    text = own_text(raw, delimiter)[-_LONGEST:]
    return {one.name: _word(_line(one.name).findall(text)) for one in criteria}


def rubric(criteria: Sequence[Criterion]) -> Parser:
    """What reads a reply by these criteria; one without an answer leaves the item open."""
    read = partial(_read, tuple(criteria))
    return Parser(PARSER, _VERSION, read, read)


def _read(criteria: Sequence[Criterion], raw: str, delimiter: str | None = None) -> Reading:
    found = words(criteria, raw, delimiter)
    label = ", ".join(f"{name} {'–' if word is None else 'yes' if word else 'no'}" for name, word in found.items())
    if None in found.values():
        return Reading("abstain", label=label, reason="unparsed")
    met = sum(one.weight for one in criteria if found[one.name]) / sum(one.weight for one in criteria)
    score = met if all(found[one.name] for one in criteria if one.required) else 0.0
    return Reading("correct" if score >= _ENOUGH else "incorrect", score=score, label=label)


def _word(said: Sequence[str]) -> bool | None:
    return {"yes": True, "no": False}.get(said[-1].lower()) if said else None


@lru_cache(maxsize=256)
def _line(name: str) -> re.Pattern[str]:
    """A line, or a field of a JSON object, that says something of a criterion; "Yes or No" is an echo and says none."""
    around = r"[ \t*_`\"'#>+-]{0,12}"
    return re.compile(
        rf"(?:^|[{{,]){around}(?:\d{{1,3}}[.)][ \t]{{0,4}})?{around}{re.escape(name)}{around}[:：]{around}"
        r"((?:\w+(?!\w)(?![ \t]{0,4}(?:[/|]|or\b)))?)",
        re.IGNORECASE | re.MULTILINE,
    )
