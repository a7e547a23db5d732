"""What ``doctor`` says of the texts: whether they are what was imported."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import chain

from workbench.core.database.hashes import Checked, wrong_completions, wrong_questions
from workbench.core.health import Finding

_NAMED = 3


def finding(connection: sqlite3.Connection) -> Finding:
    """Every question and item against the hash that was taken when it was imported."""
    told = list(
        chain(
            _told("question", wrong_questions(connection)),
            _told("item", wrong_completions(connection)),
        )
    )
    return Finding(
        name="texts",
        ok=not told,
        message="; ".join(told) or "ok: every question and item is what was imported",
        remedy="rescue" if told else "",
    )


def _told(what: str, found: Iterable[Checked]) -> Iterable[str]:
    all_found = list(found)
    for words, some in (
        ("no text", [one.id for one in all_found if one.is_lost]),
        ("not what was imported (text, gold, model, source or type)", [one.id for one in all_found if not one.is_lost]),
    ):
        if some:
            more = " …" if len(some) > _NAMED else ""
            has = "have" if len(some) > 1 else "has"
            verb = has if words == "no text" else ("are" if len(some) > 1 else "is")
            named = ", ".join(map(str, some[:_NAMED]))
            yield f"{len(some):,} {what}{'s' if len(some) > 1 else ''} {verb} {words}: row {named}{more}"
