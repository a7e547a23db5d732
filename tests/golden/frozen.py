"""What was frozen: a digest of every piece, and the texts themselves, to show what is not as it was."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping
from difflib import unified_diff
from functools import cache
from hashlib import blake2b
from pathlib import Path

DIGESTS = Path(__file__).with_name("frozen.json")
TEXTS = Path(__file__).with_name("texts.json.xz")

_PIECES, _LINES, _WIDTH = 5, 30, 200
"""How much of a difference is shown."""


@cache
def digests() -> dict[str, dict[str, str]]:
    """Part -> piece -> digest."""
    found: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return found


@cache
def texts() -> dict[str, dict[str, str]]:
    """Part -> piece -> text; of real data there is none."""
    found: dict[str, dict[str, str]] = json.loads(lzma.decompress(TEXTS.read_bytes()))
    return found


def digest(text: str) -> str:
    """What stands for a text."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def freeze(shown: Mapping[str, Mapping[str, str]], unseen: Mapping[str, Mapping[str, str]], real: set[str]) -> None:
    """Freeze what is shown.

    Args:
        unseen: Digests of parts that can't be made here: they stay.
        real: Parts whose texts are not kept.
    """
    found = {part: {name: digest(text) for name, text in pieces.items()} for part, pieces in shown.items()}
    DIGESTS.write_text(json.dumps({**found, **unseen}, indent=1) + "\n", encoding="utf-8")
    kept = {part: pieces for part, pieces in shown.items() if part not in real}
    TEXTS.write_bytes(lzma.compress(json.dumps(kept, ensure_ascii=False).encode(), preset=9))


def others(part: str, shown: Mapping[str, str]) -> list[str]:
    """Pieces that are not as they were, new ones and those that are gone among them."""
    was = digests().get(part, {})
    now = {name: digest(text) for name, text in shown.items()}
    return sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))


def told(part: str, shown: Mapping[str, str], folder: Path) -> str:
    """What is not as it was, in words; empty where nothing is. Whole texts are written into the folder."""
    names = others(part, shown)
    if not names:
        return ""
    before = texts().get(part)
    for when, held in (("was", before or {}), ("is", shown)):
        write({name: held[name] for name in names if name in held}, folder / when)
    lines = [f"{len(names)} pieces of {part} are not as they were:", *(f"  {name}" for name in names)]
    if before is None:
        lines.append("Of real data no text is kept: python -m tests.golden FOLDER at an older commit writes what was.")
    else:
        for name in names[:_PIECES]:
            lines += _difference(before.get(name, ""), shown.get(name, ""), name)
    lines.append(f"All of it: diff -r {folder / 'was'} {folder / 'is'}")
    return "\n".join([*lines, "If that is meant: python -m tests.golden FOLDER"])


def write(pieces: Mapping[str, str], folder: Path) -> None:
    """Texts as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pieces.items():
        plain = re.sub(r"[^\w=.-]+", "_", name)
        (folder / f"{plain}.txt").write_text(text, encoding="utf-8")


def _difference(was: str, now: str, name: str) -> list[str]:
    before, after = was.splitlines(), now.splitlines()
    lines = [line[:_WIDTH] for line in unified_diff(before, after, f"was/{name}", f"is/{name}", n=1, lineterm="")]
    more = [f"… and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
    return lines[:_LINES] + more
