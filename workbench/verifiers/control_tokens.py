"""Control tokens in untrusted texts: they are broken, so that no tokenizer reads a part of a text as the end of a turn.

Chat formats mark turns, thoughts and tool calls by strings that their tokenizers read as one token wherever they occur.
`control_tokens.json` lists those of known model families, with the source of each; ``<|…|>`` is a token in any family.
Everything else is sent byte for byte. A broken token has a thin space after its first character: a model
still reads the text, a reader sees the gap, and nothing that strips invisible characters, folds widths or unescapes
HTML closes it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

BREAK: Final = "\u2009"
"""The character inserted into a broken token: a thin space, which no vocabulary has inside a token."""


class _TokenFamily(Struct, frozen=True, forbid_unknown_fields=True):
    family: str
    source: str
    tokens: tuple[str, ...]


class _NameContext(Struct, frozen=True, forbid_unknown_fields=True):
    first: str
    before: str
    behind: str
    examples: tuple[str, ...]


class _Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """The tokens by model family; `#` is a placeholder for a number.

    Attributes:
        ambiguous: Tokens that are names in code as well, such as `<s>` and `[PAD]`.
        names_in_code: The context that makes such a token a name in code, by its first character.
    """

    ambiguous: frozenset[str]
    names_in_code: tuple[_NameContext, ...]
    families: tuple[_TokenFamily, ...]


_VOCABULARY = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=_Vocabulary)
_NAMES = [
    (one.first, re.compile(rf"{one.before}\Z", re.ASCII), re.compile(one.behind, re.ASCII))
    for one in _VOCABULARY.names_in_code
]
# DeepSeek's wide bars are read as narrow ones.
_TOKENS: Final = frozenset(token.replace("｜", "|") for family in _VOCABULARY.families for token in family.tokens)
_NUMBER = re.compile(r"\d+")
# <|im_end|> <|"|>; not <||x||>, whose bars are a norm's.
_SHAPE = re.compile(r"<\|(?!\|)(?=[^<>]*[\w\"])[^\s<>\\]+\|>")

# Each alternative begins with a literal, so that `re` skips to the next possible first character.
_FORMS: Final = r"<[^\s<>]{1,80}>|\[[^\s\[\]]{1,80}\]"
_CANDIDATE = re.compile(
    "|".join([_FORMS, *map(re.escape, sorted(one for one in _TOKENS if not re.fullmatch(_FORMS, one)))])
)
_SEAM: Final = 256
"""Characters on either side of a seam that are searched for a token formed by two parts of a text."""

_LOOK_BACK: Final = 40
"""Maximum distance of the preceding context that makes an ambiguous token a name in code."""

# Characters that lenient tokenizers may interpret differently: entities, control characters, and non-ASCII except for
# common
# characters that no tokenizer folds or drops.
_ODD = re.compile(
    r"[^\t\n\r -%'-~°±·×÷À-ÖØ-öø-ÿΑ-ΡΣ-ώА-я–—‘-”•←-⋿─-◿、。ぁ-ゔァ-ヺ一-鿯가-힣]"
    r"(?:(?<=&)(?:[aA][mM][pP];?)*(?:\#\d{1,7};?|\#[xX][\da-fA-F]{1,6};?|[lLgG][tT];?|[a-zA-Z]{2,24};))?"
)
# Default_Ignorable_Code_Point beyond the category C; the replacement character is dropped by some tokenizers, too.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufffd\U000e0100-\U000e01ef]"
)
_KEPT = {"\t", "\n", "\r"}


def neutralised(text: str) -> str:
    """Return a text with its control tokens broken by `BREAK`; unchanged without any.

    The result contains no token, even if tokens are nested or overlapping, contain invisible characters, or are written
    in full-width letters or as HTML entities.
    """
    return _insert_breaks(text, [place for _, place, _ in _token_positions(text)])


def join_parts(parts: Sequence[tuple[str, bool]]) -> str:
    """Join a text of several parts, breaking control tokens that an untrusted part forms with its neighbours.

    Args:
        parts: Each part with whether it is untrusted; untrusted parts are results of `neutralised`.
    """
    text = "".join(part for part, _ in parts)
    ends = list(accumulate(len(part) for part, _ in parts))
    seams = {
        place
        for end, (part, is_foreign) in zip(ends, parts, strict=True)
        for place in (end - len(part), end)
        if is_foreign and part and 0 < place < len(text) and "\n" not in text[place - 1 : place + 1]
    }
    places: set[int] = set()
    for seam in seams:
        start = max(0, seam - _SEAM)
        found = _token_positions(text[start : seam + _SEAM])
        places |= {start + place for begin, place, end in found if start + begin < seam < start + end}
    return _insert_breaks(text, sorted(places))


def count_breaks(text: str) -> int:
    whole = text.replace(BREAK, "")
    if len(whole) == len(text):
        return 0
    at = accumulate(map(len, text.split(BREAK)))
    return len({place for _, place, _ in _token_positions(whole)}.intersection(at))


def _insert_breaks(text: str, places: Iterable[int]) -> str:
    return BREAK.join(text[start:end] for start, end in pairwise([0, *places, len(text)]))


def _token_positions(text: str) -> list[tuple[int, int, int]]:
    plain, anchors = _fold(text)

    def end_of(place: int) -> int:
        start, end = anchors[bisect_right(anchors, place, key=itemgetter(0)) - 1]
        return end + place - start

    return [(end_of(start - 1) if start else 0, end_of(start), end_of(end - 1)) for start, end in _find_tokens(plain)]


def _find_tokens(plain: str) -> list[tuple[int, int]]:
    found, at = [], 0
    while (candidate := _CANDIDATE.search(plain, at)) is not None:
        at = candidate.start() + 1
        if _is_token(candidate[0]):
            found.append(candidate.span())
    unsure = {(start, end) for start, end in found if _NUMBER.sub("#", plain[start:end]) in _VOCABULARY.ambiguous}
    names = {token for token in unsure if _is_name_in_code(plain, *token)}
    tags = {token for token in unsure - names if plain[token[0]] == "<"}
    sure = {*found} - tags - names
    # An ambiguous token next to an unambiguous one is a token, too.
    for one, other in (*pairwise(found), *pairwise(found[::-1])):
        if one in sure and not plain[min(one[1], other[1]) : max(one[0], other[0])].strip():
            sure.add(other)
    tags -= sure
    counts = Counter(plain[start:end] for start, end in tags)
    sure |= {(start, end) for start, end in tags if not _is_paired_tag(plain[start:end], counts, plain)}
    return [token for token in found if token in sure]


def _is_token(text: str) -> bool:
    return text in _TOKENS or _SHAPE.fullmatch(text) is not None or _NUMBER.sub("#", text) in _TOKENS


def _is_name_in_code(plain: str, start: int, end: int) -> bool:
    look_back = max(0, start - _LOOK_BACK)
    return not plain.startswith("</", start) and any(
        plain[start] == first and before.search(plain, look_back, start) and behind.match(plain, end)
        for first, before, behind in _NAMES
    )


def _is_paired_tag(token: str, counts: Counter[str], plain: str) -> bool:
    name = token.strip("</>")
    begun = counts[f"<{name}>"] + plain.count(f"<{name} ")
    return begun == counts[f"</{name}>"] > 0


def _fold(text: str) -> tuple[str, list[tuple[int, int]]]:
    anchors = [(0, 1)]

    def fold(odd: re.Match[str]) -> str:
        read = _normalise(odd[0])
        if len(read) != odd.end() - odd.start():
            place, end = anchors[-1]
            plain, end = place + odd.start() + 1 - end, odd.end()
            anchors.extend((plain + number, end) for number in range(len(read)))
            anchors.append((plain + len(read), end + 1))
        return read

    return _ODD.sub(fold, text), anchors


@lru_cache(maxsize=4096)
def _normalise(unit: str) -> str:
    while unit != (read := html.unescape(unit)):
        unit = read
    return "".join(
        one if one in _KEPT else unicodedata.normalize("NFKC", one)
        for one in unit
        if one in _KEPT or not (unicodedata.category(one).startswith("C") or _INVISIBLE.match(one))
    )
