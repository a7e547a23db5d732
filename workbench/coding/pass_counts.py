"""Files of what passed, for pass@k: a problem's counts a line, or what came of one solution a line or several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from workbench.coding.records.figures import PassCount
from workbench.core.item import Refusal
from workbench.data.formats.records import read_checked

_MOST: Final = 10**12
"""Of solutions or tests, so that sums of them stay whole numbers of 64 bits."""

_DECODER = msgspec.json.Decoder(PassCount)


def read(path: Path) -> Iterator[PassCount | Refusal]:
    """The lines of a file, each with ``n`` and ``c`` or with ``passed`` and ``total``; true is 1 of 1.

    Raises:
        FormatError: The file can't be read.
    """
    for _, found in read_checked(path, _DECODER, _fault):
        if isinstance(found, PassCount) and isinstance(found.passed, bool):
            yield msgspec.structs.replace(found, passed=int(found.passed), total=1)
        else:
            yield found


def _fault(one: PassCount) -> tuple[str, str] | None:
    if (one.n is None) != (one.c is None):
        return ("n" if one.n is None else "c"), "n and c go together."
    large = next((name for name in ("n", "total") if (getattr(one, name) or 0) > _MOST), None)
    if large is not None:
        return large, f"{large} is more than {_MOST:,}."
    if one.n is not None and one.c is not None:
        return None if 0 <= one.c <= one.n else ("c", f"c is {one.c}, and not from 0 to n, which is {one.n}.")
    if one.passed is None:
        return "passed", "Neither n and c nor passed is there."
    if isinstance(one.passed, bool):
        return None
    if one.total is None:
        return "total", "passed is a number: say of how many tests, in total."
    if not 0 <= one.passed <= one.total:
        return "passed", f"passed is {one.passed}, and not from 0 to total, which is {one.total}."
    if one.total == 0 and one.solution_id is None:
        return "total", "total is 0: without tests nothing passes or fails."
    return None
