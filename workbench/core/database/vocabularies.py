"""What the values of a condition may be, where a field has a closed vocabulary: the taxonomy's and the database's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from workbench.core.errors import UsageError, did_you_mean, nearest
from workbench.core.selection import Condition
from workbench.core.taxonomy import SUBTYPES, TYPES, UNTYPED, parse_type, type_display

SHOWN_DATASET: Final = (
    "(NOT EXISTS (SELECT 1 FROM imports AS n WHERE n.dataset_id = d.id AND n.state = 'running') "
    "OR EXISTS (SELECT 1 FROM questions AS k WHERE k.dataset_id = d.id AND k.id < (SELECT question_id FROM horizon)))"
)
"""A data set ``d`` of which there is nothing yet but what an unfinished import has brought is hidden, as that is."""

_NAMES: Final = {
    "dataset": f"SELECT d.name FROM datasets AS d WHERE {SHOWN_DATASET} ORDER BY d.name",
    "domain": "SELECT DISTINCT domain FROM sources WHERE domain IS NOT NULL ORDER BY domain",
    "source": "SELECT name FROM sources ORDER BY name",
    "model": "SELECT name FROM models ORDER BY name",
}
"""Field -> the names there are in the database; "" is an item without any."""

_TYPED: Final = {
    "type": """SELECT EXISTS (SELECT 1 FROM questions WHERE type = ?1)
        OR EXISTS (SELECT 1 FROM item_states WHERE substr(subtype, 1, 1) = ?1)""",
    "subtype": """SELECT EXISTS (SELECT 1 FROM questions WHERE subtype = ?1)
        OR EXISTS (SELECT 1 FROM item_states WHERE subtype = ?1)""",
}
"""Field -> whether an item has a code that the taxonomy does not know."""


def dataset_names(connection: sqlite3.Connection) -> list[str]:
    """All data sets by name."""
    return [name for (name,) in connection.execute(_NAMES["dataset"])]


def check_values(connection: sqlite3.Connection, conditions: Iterable[Condition]) -> None:
    """Refuse what no item could be, such as a subtype that neither the taxonomy nor the data has.

    Raises:
        UsageError: A value is not of its field; the message names the nearest one.
    """
    for condition in conditions:
        if condition.operator not in ("=", "!="):
            continue
        if condition.field in _NAMES and condition.value:
            _check_name(connection, condition)
        elif condition.field in _TYPED and condition.value != UNTYPED:
            _check_type(connection, condition)


def _check_name(connection: sqlite3.Connection, condition: Condition) -> None:
    known = [name for (name,) in connection.execute(_NAMES[condition.field])]
    if condition.value not in known:
        raise UsageError(
            f"No item has the {condition.field} {condition.value!r}.",
            nearest(condition.value, known, f"{condition.field.capitalize()}s"),
        )


def _check_type(connection: sqlite3.Connection, condition: Condition) -> None:
    parsed = parse_type(condition.value)
    wants_subtype = condition.field == "subtype"
    known = SUBTYPES if wants_subtype else TYPES
    if parsed is not None and parsed.code in known:
        return
    if parsed is not None and parsed.code in {**SUBTYPES, **TYPES}:
        other = "type" if wants_subtype else "subtype"
        raise UsageError(
            f"{type_display(parsed.code)} is no {condition.field}.",
            f"Write {other}{condition.operator}{parsed.code}.",
        )
    code = condition.value if parsed is None else parsed.code
    if not connection.execute(_TYPED[condition.field], (code,)).fetchone()[0]:
        raise UsageError(
            f"{condition.value!r} is no {condition.field}, and no item has it.",
            did_you_mean(condition.value, [*known, *known.values()])
            or nearest("", [*known, UNTYPED], f"{condition.field.capitalize()}s"),
        )
