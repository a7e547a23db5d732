"""The answer-type taxonomy of VerifyBench (arXiv 2505.15801, section 3.1 and table 5).

Four types, eighteen subtypes. A code is a letter and a number, displayed ``"B5 - Matrix"``. The numbers of
A5, A6 and C2 never occur in the released rows: A5 and A6 are numbered in the order of table 5, C2 by us.
An unknown code is stored unchanged, as a subtype of its letter's type.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

_TABLE: Final = tomllib.loads(Path(__file__).with_name("taxonomy.toml").read_text(encoding="utf-8"))
TYPES: Final[dict[str, str]] = _TABLE["types"]
SUBTYPES: Final[dict[str, str]] = _TABLE["subtypes"]
UNTYPED = "untyped"
"""The group of items that have no answer type."""


class TypeCode(NamedTuple):
    """An answer type or subtype as read from a source.

    Attributes:
        code: ``"B"`` for a type, ``"B5"`` for a subtype.
        name: The taxonomy's name; for an unknown code, the name in the source.
    """

    code: str
    name: str

    @property
    def is_subtype(self) -> bool:
        return len(self.code) > 1


def _normalise(text: str) -> str:
    words = re.sub(r"[\s\-_]+", " ", text.strip().lower())
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words.split())


_BY_NAME: dict[str, str] = {_normalise(name): code for code, name in {**TYPES, **SUBTYPES}.items()}
_BY_NAME.update({_normalise(name): code for name, code in _TABLE["aliases"].items()})
_CODE = re.compile(r"^\s*([A-Za-z])(\d{0,3})\s*(?:[-–:.]\s*(.*?))?\s*$", re.DOTALL)


def is_subtype(code: str) -> bool:
    """Return whether a text is a subtype's code in stored form, such as ``A1``; codes outside the
    taxonomy count too.
    """
    parsed = parse_type(code)
    return parsed is not None and parsed.is_subtype and parsed.code == code


def is_typed(code: str) -> bool:
    return code in TYPES or is_subtype(code)


def parse_type(text: str) -> TypeCode | None:
    """Parse ``"B5 - Matrix"``, ``"B5"``, ``"Matrix"`` or ``"B - Expressions"``; None for anything else.

    Codes with other letters than A–D, or with unknown numbers, are accepted, since new codes may be added.
    """
    by_name = _BY_NAME.get(_normalise(text))
    if by_name is not None:
        return TypeCode(by_name, type_name(by_name))
    match = _CODE.match(text)
    if match is None:
        return None
    code = match[1].upper() + match[2]
    return TypeCode(code, type_name(code) if code in SUBTYPES or code in TYPES else (match[3] or code))


def known_type(text: str) -> str | None:
    """Return the code of the known type or subtype that a text names; None for others, and for a single letter, which
    may be an answer.
    """
    code = parse_type(text) if len(text.strip()) > 1 else None
    return code.code if code is not None and (code.code in SUBTYPES or code.code in TYPES) else None


def type_values(values: Iterable[str]) -> list[str]:
    """Return the type codes that values name; empty unless at least nine in ten non-blank values name one."""
    said = [value for value in values if value.strip()]
    codes = [code for code in map(known_type, said) if code is not None]
    return codes if len(codes) >= 0.9 * len(said) else []


def type_name(code: str) -> str:
    return SUBTYPES.get(code) or TYPES.get(code) or code


def type_display(code: str) -> str:
    """Return a code with its name, ``"B5 - Matrix"``; an unknown code without a name."""
    name = type_name(code)
    return code if name == code else f"{code} - {name}"


# -- Answer types that a model suggests, compared with the current ones.


ANSWER_TYPE: Final = "answer-type"
"""The kind of verifier that suggests an answer type for a question instead of judging completions."""


class TypeSuggestion(Struct, frozen=True, kw_only=True):
    """A model's suggested answer type of one question.

    Attributes:
        subtype: The current subtype (``"B5"``); None if the question has none.
        suggested: The suggested subtype's code, or ``"proof"`` or ``"open_ended"`` for a question outside the taxonomy;
            None if there is no suggestion.
        reason: Why there is no suggestion; None if there is one.
    """

    dataset: str
    question_id: str
    subtype: str | None
    suggested: str | None
    reason: str | None


class TypeCell(Struct, frozen=True, kw_only=True):
    """The number of questions with one pair of current and suggested subtype."""

    subtype: str
    suggested: str
    n: int


class TypeReport(Struct, frozen=True, kw_only=True):
    """The agreement of a model's suggestions with the current subtypes.

    Attributes:
        run: The run of the suggestions.
        questions: Number of questions of the run.
        suggested: Number of questions with a suggestion.
        untyped: Number of questions with a suggestion but no current subtype.
        none: Number of questions without a suggestion, by reason.
        compared: Number of questions with a suggestion and a current subtype.
        subtyped: Number of compared questions whose suggestion is a subtype, not only a type.
        agree: Number of compared questions whose suggested and current subtype are equal.
        accuracy: ``agree`` divided by ``subtyped``; None if ``subtyped`` is 0.
        ci: The 95 % confidence interval of ``accuracy``.
        type_accuracy: The same for types (A to D) instead of subtypes.
        confusion: Number of questions for each pair of current and suggested subtype, equal ones included.
    """

    verifier: str
    run: int
    questions: int
    suggested: int
    untyped: int
    none: dict[str, int]
    compared: int
    subtyped: int
    agree: int
    accuracy: float | None
    ci: tuple[float, float] | None
    type_accuracy: float | None
    confusion: list[TypeCell]
