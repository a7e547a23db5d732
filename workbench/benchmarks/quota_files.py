"""Quotas that somebody wrote down as TOML."""

from __future__ import annotations

from typing import Any

from workbench.benchmarks.quotas import Quotas
from workbench.core.errors import UsageError
from workbench.core.taxonomy import parse_type

_FORM = 'Write [questions] and below it lines such as  A1 = 32  or  "B4 - Set" = 25.'


def read_quotas(document: dict[str, Any], place: str) -> Quotas:
    """The table ``[questions]``: a subtype, or a type as a whole -> so many questions.

    Args:
        place: What the document is called in messages.

    Raises:
        UsageError: There is no such table, a key is no answer type, a value no number of questions, or a type stands
            there beside its subtypes.
    """
    table = document.get("questions")
    if not isinstance(table, dict) or len(document) > 1 or not table:
        raise UsageError(f"{place}: there must be one table [questions], and nothing else.", _FORM)
    wanted: dict[str, dict[str, int]] = {}
    for key, count in table.items():
        code = parse_type(key)
        if code is None:
            raise UsageError(f"{place}:questions.{key}: it is no answer type or subtype.", _FORM)
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise UsageError(f"{place}:questions.{key}: it is no number of questions.", _FORM)
        strata = wanted.setdefault(code.code[0], {})
        if code.code in strata:
            raise UsageError(f"{place}:questions.{key}: {code.code} stands there twice.", "Leave one of them.")
        strata[code.code] = count
    for type_, strata in wanted.items():
        if type_ in strata and len(strata) > 1:
            raise UsageError(
                f"{place}:questions: {type_} stands there both as a whole and by subtypes.", "Leave one of them."
            )
    return Quotas(wanted)
