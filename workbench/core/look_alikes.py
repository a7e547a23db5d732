"""Names that a reader can't tell apart: one person is one, however a file spells the name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_LETTERS: Final = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""Scripts whose letters look like one another's."""

_BOTH: Final = "аa вb еe кk мm оo рp сc тt хx ѕs іi јj ԁd һh ԛq ԝw ӏl βb κk οo τt χx ϲc ϳj ıi ɡg ɑa"
_SMALL: Final = f"{_BOTH} уy гr пn αa γy ιi νv ρp υu ωw ηn"
_LARGE: Final = f"{_BOTH} уy нh αa εe ζz ηh ιi μm νn ρp υy"
"""What letters of other scripts look like, in lower case: some have one look as small letters, another as capitals."""

_WORD: Final = re.compile(r"[^\W\d_]+")


def looks_like(name: str, others: Iterable[str]) -> str | None:
    """The other name that this one looks like without being it; None where there is none."""
    own = _looks(name)
    return next((other for other in others if other != name and own & _looks(other)), None)


def is_mixed(name: str) -> bool:
    """Whether a word of the name has letters of several scripts that look alike, as no language writes them."""
    return any(len(_scripts(word)) > 1 for word in _WORD.findall(unicodedata.normalize("NFKC", name)))


def _scripts(word: str) -> set[str]:
    firsts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
    return firsts.intersection(_LETTERS)


def _looks(name: str) -> set[str]:
    """How a name looks in small letters and in capitals, whatever its case and its blanks."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    looks = {plain, plain.translate(_table(_SMALL)), plain.translate(_table(_LARGE))}
    return {unicodedata.normalize("NFC", look) for look in looks} - {""}


def _table(pairs: str) -> dict[int, str]:
    return {ord(pair[0]): pair[1] for pair in pairs.split()}
