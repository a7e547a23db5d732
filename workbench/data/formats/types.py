"""Answer-type fields of a file: which column holds the type and which the subtype.

In the released VerifyBench file ``answer_type`` holds the subtype and ``answer_subtype`` the type. A subtype's
code has a number, a type's has none: that tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.taxonomy import TypeCode, parse_type

Pair = tuple[str | None, str | None]
_REMEMBERED = 10_000


class TypeFields(NamedTuple):
    """Codes and the source's own strings of one row, the right way round."""

    type: str | None
    subtype: str | None
    type_text: str | None
    subtype_text: str | None


class TypeMismatch(Exception):
    """A row whose type fields contradict the file's others, or each other."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def looks_swapped(pairs: Iterable[Pair]) -> bool:
    """Whether most rows hold the subtype in the type column (a tie: no).

    Args:
        pairs: (type column, subtype column) of the rows at the beginning of a file.
    """
    balance = 0
    for first, second in pairs:
        kinds = (_is_subtype(first), _is_subtype(second))
        if kinds in ((True, False), (True, None)):
            balance += 1
        elif kinds in ((False, True), (None, True)):
            balance -= 1
    return balance > 0


class TypeReader:
    """Reads the type fields of a file's rows, which repeat a few pairs.

    Args:
        one_column: The file has only one of the two columns: either kind of code may stand in it.
    """

    def __init__(self, *, one_column: bool = False) -> None:
        self._one_column = one_column
        self._known: dict[Pair, TypeFields] = {}

    def read(self, type_text: str | None, subtype_text: str | None) -> TypeFields:
        """The fields of one row.

        Raises:
            TypeMismatch: A subtype stands where types stand, or the reverse, or their letters differ.
        """
        pair = (type_text, subtype_text)
        fields = self._known.get(pair)
        if fields is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            fields = self._known[pair] = _either(*pair) if self._one_column else _both(*pair)
        return fields


def _either(type_text: str | None, subtype_text: str | None) -> TypeFields:
    text = subtype_text if type_text is None else type_text
    code = _parse(text)
    if code is not None and code.is_subtype:
        return TypeFields(code.code[0], code.code, None, text)
    return TypeFields(code.code if code else None, None, text, None)


def _both(type_text: str | None, subtype_text: str | None) -> TypeFields:
    kind, subkind = _parse(type_text), _parse(subtype_text)
    if kind is not None and kind.is_subtype:
        raise TypeMismatch("type", f"{type_text!r} is a subtype, but the other rows have types in this column.")
    if subkind is not None and not subkind.is_subtype:
        raise TypeMismatch("subtype", f"{subtype_text!r} is a type, but the other rows have subtypes in this column.")
    if kind is not None and subkind is not None and kind.code != subkind.code[0]:
        raise TypeMismatch("subtype", f"{subtype_text!r} does not belong to the type {type_text!r}.")
    letter = kind.code if kind else subkind.code[0] if subkind else None
    return TypeFields(letter, subkind.code if subkind else None, type_text, subtype_text)


def _is_subtype(text: str | None) -> bool | None:
    code = _parse(text)
    return None if code is None else code.is_subtype


def _parse(text: str | None) -> TypeCode | None:
    return None if text is None else parse_type(text)
