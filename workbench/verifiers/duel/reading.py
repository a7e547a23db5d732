"""What a comparison of two examinations says, and what both orders of them say together."""

from __future__ import annotations

import re
from functools import partial
from typing import Final, Literal, get_args

from workbench.statistics.records.study import Dimension, Winner
from workbench.verifiers.judges.parsers.reply import last_found, own_lines

DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)

Place = Literal["first", "second", "tie"]
"""Which of the two examinations of a request is preferred."""

_WINS: dict[tuple[Place, Place], Winner] = {("first", "second"): "a", ("second", "first"): "b"}
_PLACES: dict[str, Place] = {"1": "first", "2": "second", "tie": "tie"}
_LINE = {
    dimension: re.compile(
        rf"[\s*_#>-]*{dimension}[ \t*_]*:[ \t*_`]*(?:examination[ \t]+)?(1|2|tie)(?!\w|\.\d)", re.IGNORECASE
    )
    for dimension in DIMENSIONS
}


def preferences(reply: str, fence: str | None = None) -> dict[Dimension, Place | None]:
    """The preferred place by dimension: what the last line of that form says, None without one.

    Args:
        reply: As recorded.
        fence: The delimiter around texts in the request: what stands before its last echo is not the model's own.
    """
    lines = own_lines(reply, fence)
    return {dimension: last_found(lines, partial(_place, pattern)) for dimension, pattern in _LINE.items()}


def winner(as_first: Place | None, as_second: Place | None) -> Winner | None:
    """Who wins when A stood first and when A stood second: a win counts only in both orders, else it is a tie.

    None where one of the two says nothing. Source: MCTS-Judge, section 4.4, has win rates; that order matters to
    judges, and how to ask for both, is from Zheng et al., "Judging LLM-as-a-Judge", NeurIPS 2023, section 3.4.
    """
    if as_first is None or as_second is None:
        return None
    return _WINS.get((as_first, as_second), "tie")


def _place(pattern: re.Pattern[str], line: str) -> Place | None:
    found = pattern.match(line)
    return _PLACES[found[1].lower()] if found else None
