"""Describes how two final answers differ in writing, never whether they are equal.

Both answers are split into tokens (numbers, words, LaTeX macros, single signs). `difflib` finds the tokens that only
one of them has, and each such place is classified by its tokens. Tokens that only affect typesetting are a difference
of notation,
which is reported only if nothing else differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from workbench.verifiers.rules.units import unit

DifferenceKind = Literal[
    "no answer",
    "letter against text",
    "fraction against decimal",
    "figure against words",
    "other sentence",
    "order",
    "digits",
    "decimals",
    "sign",
    "relation",
    "bracket",
    "unit",
    "left side",
    "missing part",
    "added part",
    "letter",
    "words",
    "capitals",
    "punctuation",
    "form",
    "notation",
    "spacing",
]

DIFFERENCES: Final[dict[DifferenceKind, str]] = {
    "no answer": "one of them states no answer",
    "letter against text": "one is an option's letter, the other is not",
    "fraction against decimal": "one is a fraction, the other has decimals",
    "figure against words": "one has digits, the other words",
    "other sentence": "both are sentences, with few words in common",
    "order": "the same parts in a different order",
    "digits": "other numbers",
    "decimals": "the same number to more or fewer decimals",
    "sign": "plus, minus or both",
    "relation": "a different sign between two sides",
    "bracket": "other brackets",
    "unit": "a different unit, or a unit on one side only",
    "left side": "only one names the quantity",
    "missing part": "the completion omits something",
    "added part": "the completion adds something",
    "letter": "other letters",
    "words": "other words",
    "capitals": "the same letters in different case",
    "punctuation": "stops and commas",
    "form": "another form",
    "notation": "only the typesetting",
    "spacing": "only spaces",
}
"""The kinds of differences with descriptions, the most informative first."""

LONGEST: Final = 400
"""Characters of each answer that are compared."""

_TOKEN = re.compile(
    r"\\[A-Za-z]+|\\.|(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+(?:['’][^\W\d_]+)*|\S",
    re.DOTALL,
)
_SETTING = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it|sf)|left|right|boxed|fbox|displaystyle|quad|qquad|[,;:!\s()\[\]])"
    r"|[${}*`~]"
)
_SAME = {
    spelling: sign
    for sign, spellings in {
        "\\frac": "\\dfrac \\tfrac",
        "-": "− –",
        "±": "\\pm",
        "∓": "\\mp",
        "≤": "\\le \\leq \\leqslant",
        "≥": "\\ge \\geq \\geqslant",
        "<": "\\lt",
        ">": "\\gt",
        "≠": "\\ne \\neq",
        "≈": "\\approx",
        "∈": "\\in",
        "→": "\\to \\rightarrow",
        "°": "\\circ \\degree",
        "π": "\\pi",
        "√": "\\sqrt",
        "×": "\\times",
        "·": "\\cdot",
        "∞": "\\infty",
        "∪": "\\cup",
        "%": "\\%",
    }.items()
    for spelling in spellings.split()
}
"""Spellings of one sign, which differ only in notation."""
_FRACTION = ("\\frac", "/")
_SIGNS = frozenset("+-±∓")
_RELATIONS = frozenset(("\\equiv", *"=<>≤≥≠≈≡∈→"))
_BRACKETS = frozenset(
    ("\\{", "\\}", "\\|", *(f"\\{side}{name}" for side in "lr" for name in ("angle", "floor", "ceil")), *"()[]⟨⟩⌊⌋⌈⌉|")
)
_PUNCTUATION = frozenset(".,;:!?'\"’“”。，、；：")
_UNIT_SIGNS = frozenset(("\\$", *"%°^€£¥"))
_MIN_SENTENCE_WORDS = 5
"""Words from which an answer is a sentence."""
_OPTION = re.compile(r"[(\[]?([A-Ja-j])[)\].:]?")


class AnswerToken(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    @property
    def is_word(self) -> bool:
        return self.text[0].isalpha()


class AnswerDifference(NamedTuple):
    """One place where two answers differ.

    Attributes:
        reference: The place's span in the reference's answer; an empty span if the reference lacks these tokens.
        completion: The place's span in the completion's answer; an empty span if the completion lacks these tokens.
    """

    kind: DifferenceKind
    reference: tuple[int, int]
    completion: tuple[int, int]


class Differences(NamedTuple):
    """The differences between two final answers.

    Attributes:
        kinds: The distinct kinds of differences, the most informative first; empty if the answers are written the same.
        places: The places in text order.
        cut: Whether an answer was longer than `LONGEST`, so that only its beginning was compared.
    """

    kinds: tuple[DifferenceKind, ...]
    places: tuple[AnswerDifference, ...]
    cut: bool = False

    @property
    def words(self) -> str:
        return " · ".join(self.kinds) or "written the same"


def differences(reference: str, completion: str) -> Differences:
    cut = max(len(reference), len(completion)) > LONGEST
    reference, completion = reference[:LONGEST], completion[:LONGEST]
    places = tuple(
        place._replace(
            reference=_include_closing_braces(reference, *place.reference),
            completion=_include_closing_braces(completion, *place.completion),
        )
        for place in _find_places(reference, completion)
    )
    found = {place.kind for place in places}
    return Differences(tuple(kind for kind in DIFFERENCES if kind in found), places, cut)


def _include_closing_braces(text: str, start: int, end: int) -> tuple[int, int]:
    unclosed = text.count("{", start, end) - text.count("}", start, end)
    while unclosed > 0 and text.startswith("}", end):
        unclosed, end = unclosed - 1, end + 1
    return start, end


def _find_places(reference: str, completion: str) -> Iterator[AnswerDifference]:
    whole = (0, len(reference)), (0, len(completion))
    if not reference.strip() or not completion.strip():
        yield AnswerDifference("no answer", *whole)
        return
    one, other = _tokens(reference), _tokens(completion)
    places = list(_differing_tokens(one, other))
    together = _classify_answers(one, other)
    if together == "other sentence":
        yield AnswerDifference(together, *whole)
    elif together is not None:
        yield from [place._replace(kind=together) for place in places] or [AnswerDifference(together, *whole)]
    elif places:
        yield from places
    elif reference != completion:
        yield AnswerDifference("spacing" if reference.split() == completion.split() else "notation", *whole)


def _tokens(text: str) -> list[AnswerToken]:
    found = (AnswerToken(_SAME.get(token[0], token[0]), *token.span()) for token in _TOKEN.finditer(text))
    return [token for token in found if not _SETTING.fullmatch(token.text)]


def _classify_answers(one: Sequence[AnswerToken], other: Sequence[AnswerToken]) -> DifferenceKind | None:
    letters = [_OPTION.fullmatch("".join(token.text for token in tokens)) for tokens in (one, other)]
    if (letters[0] is None) != (letters[1] is None):
        return "letter against text"
    texts = [token.text for token in one], [token.text for token in other]
    if texts[0] != texts[1] and sorted(texts[0]) == sorted(texts[1]):
        return "order"
    fractions = [any(sign in text for sign in _FRACTION) for text in texts]
    decimals = [any(token.is_number and "." in token.text for token in tokens) for tokens in (one, other)]
    if fractions[0] != fractions[1] and (decimals[0], decimals[1]) == (fractions[1], fractions[0]):
        return "fraction against decimal"
    figures = [any(token.is_number for token in tokens) for tokens in (one, other)]
    words = [
        [token.text.casefold() for token in tokens if token.is_word and len(token.text) > 1] for tokens in (one, other)
    ]
    if figures[0] != figures[1] and (bool(words[0]), bool(words[1])) == (figures[1], figures[0]):
        return "figure against words"
    few = 2 * len({*words[0]} & {*words[1]}) < min(len({*words[0]}), len({*words[1]}))
    return "other sentence" if few and min(map(len, words)) >= _MIN_SENTENCE_WORDS else None


def _differing_tokens(one: Sequence[AnswerToken], other: Sequence[AnswerToken]) -> Iterator[AnswerDifference]:
    texts = [token.text for token in one], [token.text for token in other]
    for tag, begin, end, first, last in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        # Equal numbers of tokens on both sides are compared one by one.
        step = 1 if end - begin == last - first else max(end - begin, last - first)
        for at in range(0, max(end - begin, last - first), step):
            ends = min(begin + at + step, end), min(first + at + step, last)
            before = one[begin + at - 1] if begin + at else None
            kind = _classify_tokens(one[begin + at : ends[0]], other[first + at : ends[1]], before)
            yield AnswerDifference(kind, _span(one, begin + at, ends[0]), _span(other, first + at, ends[1]))


def _span(tokens: Sequence[AnswerToken], begin: int, end: int) -> tuple[int, int]:
    if begin < end:
        return tokens[begin].start, tokens[end - 1].end
    at = tokens[begin - 1].end if begin else 0
    return at, at


def _classify_tokens(
    one: Sequence[AnswerToken], other: Sequence[AnswerToken], before: AnswerToken | None
) -> DifferenceKind:
    both = [*one, *other]
    texts = {token.text for token in both}
    joined = "".join(token.text for token in one), "".join(token.text for token in other)
    if joined[0].casefold() == joined[1].casefold():
        return "spacing" if joined[0] == joined[1] else "capitals"
    for kind, signs in _OF_SIGNS:
        if texts <= signs:
            return kind
    if before is not None and before.is_number and _is_unit(one) and _is_unit(other):
        return "unit"
    if not one or not other:
        ends = both[-1].text in ("=", ":", "：")
        return "left side" if before is None and ends else "added part" if not one else "missing part"
    tokens = [token for token in both if token.text not in _PUNCTUATION]
    if all(token.is_number for token in tokens):
        return "decimals" if len(one) == len(other) == 1 and _is_rounded(one[0].text, other[0].text) else "digits"
    if all(token.is_word and len(token.text) == 1 for token in tokens):
        return "letter"
    return "words" if any(token.is_word and len(token.text) > 1 for token in tokens) else "form"


_OF_SIGNS: Final[tuple[tuple[DifferenceKind, frozenset[str]], ...]] = (
    ("sign", _SIGNS),
    ("relation", _RELATIONS),
    ("bracket", _BRACKETS),
    ("punctuation", _PUNCTUATION),
)


def _is_unit(tokens: Sequence[AnswerToken]) -> bool:
    return (
        all(token.text in _UNIT_SIGNS for token in tokens) or unit(" ".join(token.text for token in tokens)) is not None
    )


def _is_rounded(one: str, other: str) -> bool:
    (whole, _, decimals), (whole_2, _, decimals_2) = one.partition("."), other.partition(".")
    return whole == whole_2 and len(decimals) != len(decimals_2)
