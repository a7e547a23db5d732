"""The right answers a reference lists: "any two of: a, b, c", "a or b (either is accepted)", "a (also b)"."""

from __future__ import annotations

import re
from itertools import combinations

from workbench.verifiers.rules.structure import split_list

_ANY_OF = re.compile(
    r"any(?:\s+(?P<count>one|two|three|four|[1-4]))?\s+of\s*:?\s*(?P<members>.+)", re.DOTALL | re.IGNORECASE
)
_JSON = re.compile(r"\[(\s*\"[^\[\]]+\"\s*)\]", re.DOTALL)
_BETWEEN = re.compile(r"\s*;\s*|\"\s*,\s*\"")
_ACCEPTED = re.compile(
    r"(.+?)[\s.;,]*\(?\b(?:either|any|both|each|one)\b[^()]{0,40}\b(?:accept\w*|acceptable|fine|ok|correct|enough|suffic\w+)[^()]{0,20}\)?",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"([^\d()=]+?)\s*\((?:also(?:\s+(?:known\s+as|called|accepted:?))?|or|aka|a\.k\.a\.)\s+([^\d()=]+)\)", re.IGNORECASE
)
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
