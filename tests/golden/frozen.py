"""Frozen outputs: a file of values and a file of wording for each group of pieces, for people to read and compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Final, Literal, get_args

from tests.golden.projections import Projections, digest, project

Kind = Literal["values", "wording"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

FOLDER = Path(__file__).parent

_HEADER = "≡≡≡ "
_SHOWN_PIECES, _SHOWN_LINES, _WIDTH = 5, 30, 200


def file_of(group: str, kind: Kind, folder: Path = FOLDER) -> Path:
    """Return the file of a group."""
    return folder / kind / f"{group}.txt"


def read(group: str, kind: Kind, folder: Path = FOLDER) -> dict[str, str]:
    """Return piece -> its values or its wording; empty if the group was never frozen."""
    file = file_of(group, kind, folder)
    if not file.exists():
        return {}
    _, *pieces = re.split(rf"^{_HEADER}", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text for name, _, text in (piece.partition("\n") for piece in pieces)}


def freeze(
    group: str, shown: Mapping[str, str], kind: Kind, folder: Path = FOLDER, *, as_digests: bool = False
) -> None:
    """Write a group's values or its wording.

    Args:
        as_digests: Store digests instead of texts.
    """
    before = read(group, kind, folder)
    file = file_of(group, kind, folder)
    file.parent.mkdir(exist_ok=True)
    now = projected(shown, kind, as_digests=as_digests)
    # Line breaks are not values: values that did not change keep their lines.
    kept = {name: before[name] if _same(before.get(name), text, kind) else text for name, text in now.items()}
    file.write_text("".join(f"{_HEADER}{name}\n{text}" for name, text in kept.items()), encoding="utf-8")


def projected(shown: Mapping[str, str], kind: Kind, *, as_digests: bool = False) -> dict[str, str]:
    """Return piece -> its values or its wording, as written to a file."""
    found = {name: _of(project(text), kind) for name, text in shown.items()}
    if as_digests:
        return {name: digest(text) + "\n" for name, text in found.items()}
    return {name: text for name, text in found.items() if text}


def differences(
    group: str, shown: Mapping[str, str], folder: Path = FOLDER, *, as_digests: bool = False
) -> dict[Kind, list[str]]:
    """Return kind -> pieces that have changed, were added or are gone."""
    found: dict[Kind, list[str]] = {}
    for kind in KINDS:
        old, now = read(group, kind, folder), projected(shown, kind, as_digests=as_digests)
        names = [name for name in {**old, **now} if not _same(old.get(name), now.get(name), kind)]
        if names:
            found[kind] = names
    return found


def report(group: str, shown: Mapping[str, str], folder: Path = FOLDER, *, as_digests: bool = False) -> str:
    """Describe the changes, values first; empty if nothing has changed."""
    lines: list[str] = []
    for kind, names in differences(group, shown, folder, as_digests=as_digests).items():
        lines.append(f"{kind.upper()} of {group}: {len(names)} pieces are not as they were:")
        lines += [f"  {name}" for name in names]
        old, now = read(group, kind, folder), projected(shown, kind, as_digests=as_digests)
        for name in names[:_SHOWN_PIECES]:
            before, after = old.get(name, ""), now.get(name, "")
            if kind == "values" and Counter(before.split()) == Counter(after.split()):
                lines.append("The same values in another order:")
            lines += _difference(before, after, name)
    if lines:
        lines.append(f"If that is meant: python -m tests.golden {group} [--values | --wording]")
    return "\n".join(lines)


def _of(found: Projections, kind: Kind) -> str:
    text = found.values if kind == "values" else found.wording
    assert not re.search(rf"^{_HEADER}", text, re.MULTILINE)
    # Blank lines alone say nothing.
    return text if text.strip() else ""


def _same(old: str | None, now: str | None, kind: Kind) -> bool:
    if kind == "wording" or old is None or now is None:
        return old == now
    return old.split() == now.split()


def _difference(old: str, now: str, name: str) -> list[str]:
    before, after = old.splitlines(), now.splitlines()
    lines = [line[:_WIDTH] for line in unified_diff(before, after, f"was/{name}", f"is/{name}", n=1, lineterm="")]
    more = [f"… and {len(lines) - _SHOWN_LINES} lines more"] if len(lines) > _SHOWN_LINES else []
    return lines[:_SHOWN_LINES] + more
