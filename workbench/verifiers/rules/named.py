"""Values by name: "Ann £400, Ben £240", ``{"Ann": 400}``, a table of two columns, "Sages: Ann, Ben", "1-b, 2-c"."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.calendar import moment
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import Collection, Doubt, Equality, Part, Value, ValueType, all_of, decided
from workbench.verifiers.rules.sense import has_change_word, has_denial, is_prose, stem, unknown_words, words
from workbench.verifiers.rules.spelling import FUNCTIONS, tidy
from workbench.verifiers.rules.strings import singular
from workbench.verifiers.rules.structure import names_and_value, split_list

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_DATA = Lexicon("named")
_LINKS = _DATA.words("links")
"""Words that may be between a name and its value."""
_SIGN = r"\s*(?:[:=→↦]|\\(?:to|mapsto|[rR]ightarrow)(?![A-Za-z])|[-=]>|[-–—](?=\s|[A-Za-z]))\s*"
_ENTRY = re.compile(
    r"(?:and\s+)?(?:the\s+|an?\s+)?(?:"
    rf"(?P<name>[^\W\d_][^:=→↦|,;\d\\()]{{0,40}}?)(?:{_SIGN}|\s+(?:is|are|gets|receives|has|plays|owns|pays)\s+)\S.*"
    r"|(?P<noun>[^\W\d_]{2,}(?:\s[^\W\d_]+){0,2})\s+[-−$£€¥.\\(]*\d.*|(?P<left>[^\W\d_]{2,})\s+\$.*)",
    re.DOTALL | re.IGNORECASE,
)
_NUMBER, _LETTER = r"\(?([1-9]\d?)[.)]?", r"\(?([A-Ja-j])[.)]?"
_BOUND = rf"(?:{_SIGN}|\s*[,–—-]?\s*)"
_PAIR = re.compile(rf"\(?(?:{_NUMBER}{_BOUND}{_LETTER}|{_LETTER}{_BOUND}{_NUMBER})\)?(?![\w'])")
_CLAUSES = re.compile(r"\s*(?:[;\n]|\.\s+(?=[A-Z]))\s*")
_MARKS = re.compile(r"^\s*[-*•]\s+|\*\*|[`\"“”]", re.MULTILINE)
_ROW = re.compile(r"^\s*\|([^|\n]+)\|([^|\n]+)\|\s*$", re.MULTILINE)
_TABLE = re.compile(r"^.*\n[\s|:-]+\n(?=\s*\|)")
_BETWEEN = re.compile(r"[\s,;&.]*(?:(?:and|as\s+well\s+as)\s)?\s*", re.IGNORECASE)
_BEHIND = re.compile(r"(?:[\s,;.]+(?:(?:and|while|whereas|but)\s+)?(?:the\s+)?)?\s*\Z", re.IGNORECASE)
_LINKED = re.compile(rf"(?:{_SIGN})+")
_GIVEN = re.compile(rf"(.*?\S)(?:{_SIGN}|\s+(?:(?:goes|go|belongs?)\s+)?(?:to|for)\s+)(?:the\s+)?", re.DOTALL)
_FIGURE = re.compile(r"[$£€¥]?\d[\d.,]*\s+")
_LABEL_BEHIND = re.compile(r"\(([A-Za-z\d])\)\Z")
_EXTREMES = {"minimum": "min", "maximum": "max"}
_LONGEST, _LONGEST_PARAGRAPH, _MOST = 600, 1_500, 30

Pairs = tuple[tuple[str, str], ...]
"""Names with their values as written."""


class NamedValues(NamedTuple):
    """Values by name, in any order: what each person gets, which term goes with which definition."""

    values: tuple[tuple[str, Part[Value]], ...]


def named_reference(text: str, reader: AnswerReader) -> Part[NamedValues] | None:
    pairs = pairs_of(text, reader.question.type in ("C", "D"))
    refers = pairs is not None and any(name.split()[-1:] == ["it"] for name, _ in pairs)
    return None if refers else _make_part(text, pairs, reader)


def named_answer(text: str, wanted: Part[Any], reader: AnswerReader) -> Part[NamedValues] | None:
    """Return the values that a completion gives for each name of the reference, or for any names if the reference has
    none."""
    if len(text) > _LONGEST_PARAGRAPH:
        return None
    if not isinstance(wanted.value, NamedValues):
        pairs = pairs_of(text, False)
        asked = pairs is not None and all(
            _position_in_question(_normalise_name(name), reader.question.text) >= 0 for name, _ in pairs
        )
        return _make_part(text, pairs if asked else None, reader)
    names = [name for name, _ in wanted.value.values]
    pairs = _label_pairs(plain_lines(text)) or _pairs_by_label(text, names, reader) or values_of(text, names)
    return _make_part(text, pairs, reader)


def _make_part(text: str, pairs: Pairs | None, reader: AnswerReader) -> Part[NamedValues] | None:
    if pairs is None:
        return None
    values = tuple((name, reader.part(value, 1)) for name, value in pairs)
    return Part(tidy(text), NamedValues(values), sense=frozenset().union(*(part.sense for _, part in values)))


def _pairs_by_label(text: str, labels: Sequence[str], reader: AnswerReader) -> Pairs | None:
    """Return pairs of labels if a text names items that the question labels: "swan: c" becomes "2-c"."""
    items = reader.question.items
    found = values_of(text, [items[label] for label in labels if label in items])
    if found is None:
        return None
    known = {item.casefold(): label for label, item in items.items()}
    pairs = [(known[name.casefold()], known.get(value.casefold(), value)) for name, value in found]
    return tuple((name, label[1] if (label := _LABEL_BEHIND.search(value)) else value) for name, value in pairs)


def pairs_of(text: str, labels: bool) -> Pairs | None:
    """Parse a short answer that consists of names and values; None for any other answer.

    Args:
        text: An answer.
        labels: Whether ``1b`` is a pair of labels.
    """
    text = plain_lines(text[: _LONGEST + 1]).strip(" .\n")
    if len(text) > _LONGEST:
        return None
    if labels and (pairs := _label_pairs(text)) is not None:
        return pairs
    for entries in (_CLAUSES.split(text), split_list(text)):
        names = [name for entry in entries if (name := _name_of(entry.strip()))]
        if 1 < len(names) == len(entries) <= _MOST and len({name.casefold() for name in names}) == len(names):
            return values_of(text, names)
    return None


def _label_pairs(text: str) -> Pairs | None:
    """Parse numbers and letters that belong together: ``1-b, 2-c``, ``1b 2c``, ``b-1, c-2``."""
    if (
        len(text) > _LONGEST
        or _PAIR.sub("", text).replace("and", "").strip(" ,;.\n")
        or (":" in text and text.upper() == text)
    ):
        return None
    pairs = tuple((number or after, letter or before) for number, letter, before, after in _PAIR.findall(text))
    return pairs if len({name for name, _ in pairs}) == len(pairs) > 1 else None


def _name_of(entry: str) -> str | None:
    found = _ENTRY.fullmatch(entry)
    name = (found["name"] or found["noun"] or found["left"]).strip() if found else ""
    symbol = len(name) < 2 and "=" in entry
    if not name or symbol or name in FUNCTIONS or has_denial(name) or moment(entry) is not None:
        return None
    return None if has_change_word(name, (*_EXTREMES, "median", "quotient")) else name


def values_of(text: str, names: Sequence[str]) -> Pairs | None:
    """Return the value a text gives for each name at its last mention; None unless each name has exactly one value.

    A value follows its name, or precedes it as in "400 to Ann"; names may share one: "Ann and Ben are sages".
    """
    text = plain_lines(text)
    places = _mentions(text, names) if names else None
    if not places or has_denial(text[places[0][0] :], words(" ".join(names))):
        return None
    said = [name for _, _, name in places]
    starts, ends = [start for start, _, _ in places], [end for _, end, _ in places]
    gaps = [text[end:start] for end, start in zip(ends, [*starts[1:], len(text)], strict=True)]
    lead = text[: starts[0]]
    if _BETWEEN.fullmatch(gaps[-1]):
        return _share_values(said, [_value_in_gap(gap) for gap in (_CLAUSES.split(lead)[-1], *gaps[:-1])])
    opening = re.split(r"[.:;\n]", lead)[-1]
    if unknown_words(opening, ()) or any(sign.isdigit() for sign in opening):
        return None
    return _share_values(said[::-1], [_clean_gap(gap) for gap in gaps[::-1]])


def _mentions(text: str, names: Sequence[str]) -> list[tuple[int, int, str]] | None:
    known = {name.casefold(): name for name in names}
    short = {short: known[name] for name, short in _EXTREMES.items() if name in known}
    either = "|".join(re.escape(name) for name in sorted({*names, *short}, key=len, reverse=True))
    # A letter alone is no name in lower case.
    flags = re.IGNORECASE if all(len(name) > 1 for name in names) else re.NOFLAG
    found: list[tuple[int, int, str]] = []
    for place in reversed(list(re.finditer(rf"(?<![\w\\])(?:{either})(?![\w'’])", text, flags))):
        name = (known | short)[place[0].casefold()]
        if any(name == other for _, _, other in found):
            return None
        found.insert(0, (*place.span(), name))
        if len(found) == len(names):
            return found
    return None


def _share_values(names: Sequence[str], values: Sequence[str | None]) -> Pairs | None:
    found: list[tuple[str, str]] = []
    for at, (name, value) in enumerate(zip(names, values, strict=True)):
        several = not value or "" in values[at + 1 : at + 2]
        value = found[-1][1] if value == "" and found else value
        if not value:
            return None
        found.append((name, singular(value) if several and value.isalpha() else value))
    return tuple(found)


def _clean_gap(gap: str) -> str | None:
    if _BETWEEN.fullmatch(gap):
        return ""
    value = _BEHIND.sub("", gap).strip()
    value = value[linked.end() :].strip() if (linked := _LINKED.match(value)) else value
    while (word := value.split(" ", 1))[0].casefold() in _LINKS and len(word) > 1:
        value = word[1].strip()
    return (value[1:-1].strip() if value[:1] == "(" and value.find(")") == len(value) - 1 else value) or None


def _value_in_gap(gap: str) -> str | None:
    if _BETWEEN.fullmatch(gap):
        return ""
    gap = gap[separated.end() :] if (separated := _BETWEEN.match(gap)) else gap
    found = _GIVEN.fullmatch(gap)
    return _clean_gap(found[1]) if found else gap.strip() if _FIGURE.fullmatch(gap) else None


def plain_lines(text: str) -> str:
    """Return a text with its lists, its table or its JSON object as lines, without marks of formatting."""
    stripped = text.strip().removeprefix("```json").strip("` \n")
    if stripped[:1] == "{" and stripped[-1:] == "}" and '":' in stripped and len(stripped) <= _LONGEST:
        try:
            members = json.loads(stripped)
        except (JSONDecodeError, RecursionError):
            members = {}
        text = "\n".join(f"{name}: {value}" for name, value in members.items()) or text
    text = _ROW.sub(r"\1: \2", _TABLE.sub("", text)) if "|" in text else text
    return _MARKS.sub("", tidy(text))


def _compare_named(one: Part[NamedValues], other: Part[NamedValues], with_: Comparison) -> Equality | None:
    ours = {_normalise_name(name): value for name, value in one.value.values}
    theirs = {_normalise_name(name): value for name, value in other.value.values}
    if ours.keys() != theirs.keys():
        raise Doubt("semantic")
    return decided(all_of([with_.within.same(value, theirs[name]) for name, value in ours.items()]), "list.names")


def _normalise_name(name: str) -> str:
    return name.casefold().removeprefix("the ")


def _compare_named_and_collection(
    one: Part[NamedValues], other: Part[Collection], with_: Comparison
) -> Equality | None:
    members = [(_name_of_part(part), part) for part in other.value.parts]
    ours = {_normalise_name(name): value for name, value in one.value.values}
    if len(ours) != len(members):
        return Equality(False, "list.names")
    if not any(name for name, _ in members):
        if any(_position_in_question(name, with_.question.text) < 0 for name in ours):
            raise Doubt("semantic")
        order = sorted(ours, key=lambda name: _position_in_question(name, with_.question.text))
        members = [(name, part) for name, (_, part) in zip(order, members, strict=True)]
    fitting = [[whole for whole in ours if _is_short_for(name, whole)] for name, _ in members]
    if sorted(ours) != sorted(names[0] if len(names) == 1 else "" for names in fitting):
        raise Doubt("semantic")
    verdicts = [with_.within.same(ours[name], part) for [name], (_, part) in zip(fitting, members, strict=True)]
    return decided(all_of(verdicts), "list.names")


def _position_in_question(name: str, question: str) -> int:
    found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", question[-_LONGEST_PARAGRAPH:], re.IGNORECASE))
    return found[-1].start() if found else -1


def _name_of_part(part: Part[Any]) -> str:
    name, _ = names_and_value(part.text) or ("", "")
    noun = part.value.word if isinstance(part.value, Quantity) else ""
    return _normalise_name(name.partition("(")[0] or noun or "")


def _is_short_for(name: str, whole: str) -> bool:
    return stem(name) == stem(whole) or (len(name) == 1 and whole.startswith(name))


def _reject_or_doubt_other_type(one: Part[NamedValues], other: Part[Any], with_: Comparison) -> Equality | None:
    if with_.boxed and not is_prose(other.text):
        return Equality(False, "list.names")
    raise Doubt("semantic")


NAMED = ValueType(
    None,
    {
        (NamedValues, NamedValues): _compare_named,
        (NamedValues, Collection): _compare_named_and_collection,
        (NamedValues, object): _reject_or_doubt_other_type,
    },
)
