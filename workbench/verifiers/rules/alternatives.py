"""The right answers a reference lists: "any two of: a, b, c", "a or b (either is accepted)", "a (also b)"."""

from __future__ import annotations

import re
from itertools import combinations

from workbench.verifiers.rules.lexicon import Lexicon
from workbench.verifiers.rules.structure import split_list

_DATA = Lexicon("alternatives")
_ANY_OF = _DATA.pattern("any_of")
_JSON = re.compile(r"\[(\s*\"[^\[\]]+\"\s*)\]", re.DOTALL)
_BETWEEN = re.compile(r"\s*;\s*|\"\s*,\s*\"")
_ACCEPTED = _DATA.pattern("accepted")
_ALSO = _DATA.pattern("also")
_OR = re.compile(r",?\s+or\s+|\s*[,;/]\s*")
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}


def alternatives_of(text: str) -> list[str]:
    """Return the answers that a reference lists as right, each by itself; empty if it lists no alternatives."""
    if (json := _JSON.fullmatch(text)) is not None:
        return _BETWEEN.split(json[1])
    if (counted := _ANY_OF.fullmatch(text)) is not None:
        count = counted["count"] or ""
        if not count:
            return _BETWEEN.split(counted["members"])
        members = split_list(counted["members"].rstrip(" ."))
        return [", ".join(some) for some in combinations(members, _COUNTS[count.lower()])]
    if (accepted := _ACCEPTED.fullmatch(text)) is not None:
        return _OR.split(accepted[1])
    return [also[1], also[2]] if (also := _ALSO.fullmatch(text)) is not None else []
