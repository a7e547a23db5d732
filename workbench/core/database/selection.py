"""Compiles conditions on items to SQL; only known columns can be used, and every value is bound as a parameter."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.core.database import sets
from workbench.core.database.events import FLAG_STANDS
from workbench.core.errors import Command, UsageError, did_you_mean, nearest, opt
from workbench.core.label import FLAG_STATES, Task
from workbench.core.selection import COLUMN, LENGTH_BOUNDS, LENGTHS, UNKNOWN, Condition, Selection
from workbench.core.sets import SetName
from workbench.core.taxonomy import SUBTYPES, TYPES, UNTYPED, parse_type, type_display
from workbench.core.verdict import Outcome

# -- Valid values of conditions on fields with a closed vocabulary: the taxonomy's and the
# database's.


def shown_item(column: str) -> str:
    """Return an SQL condition that is false for items of an import in progress, which are hidden."""
    return f"{column} < (SELECT completion_id FROM horizon)"


def hidden_item(column: str) -> str:
    return f"{column} >= (SELECT completion_id FROM horizon)"


def shown_question(column: str) -> str:
    return f"{column} < (SELECT question_id FROM horizon)"


VISIBLE: Final = shown_item("c.id")
VISIBLE_QUESTION: Final = shown_question("q.id")
SHOWN_DATASET: Final = (
    "(NOT EXISTS (SELECT 1 FROM imports AS n WHERE n.dataset_id = d.id AND n.state = 'running') "
    f"OR EXISTS (SELECT 1 FROM questions AS k WHERE k.dataset_id = d.id AND {shown_question('k.id')}))"
)
"""SQL condition: the dataset ``d`` is visible, i.e. not only from an unfinished import."""
_NAMES: Final = {
    "dataset": f"SELECT d.name FROM datasets AS d WHERE {SHOWN_DATASET} ORDER BY d.name",
    "domain": "SELECT DISTINCT domain FROM sources WHERE domain IS NOT NULL ORDER BY domain",
    "source": "SELECT name FROM sources ORDER BY name",
    "model": "SELECT name FROM models ORDER BY name",
}
"""Query of the names that exist in the database, by field; "" means items without a name."""
_TYPED: Final = {
    "type": """SELECT EXISTS (SELECT 1 FROM questions WHERE type = ?1)
        OR EXISTS (SELECT 1 FROM item_states WHERE substr(subtype, 1, 1) = ?1)""",
    "subtype": """SELECT EXISTS (SELECT 1 FROM questions WHERE subtype = ?1)
        OR EXISTS (SELECT 1 FROM item_states WHERE subtype = ?1)""",
}
"""Query by field of whether an item has a code that is not in the taxonomy."""


def dataset_names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute(_NAMES["dataset"])]


def check_values(connection: sqlite3.Connection, conditions: Iterable[Condition]) -> None:
    """Check that the values of conditions exist, such as a subtype in the taxonomy or a name in the data.

    Raises:
        UsageError: A value is not valid for its field; the message suggests the most similar one.
    """
    for condition in conditions:
        if condition.operator not in ("=", "!="):
            continue
        if condition.field in _NAMES and condition.value:
            known = [name for (name,) in connection.execute(_NAMES[condition.field])]
            if condition.value not in known:
                raise UsageError(
                    f"No item has the {condition.field} {condition.value!r}.",
                    nearest(condition.value, known, f"{condition.field.capitalize()}s"),
                )
        elif condition.field in _TYPED and condition.value != UNTYPED:
            _check_type(connection, condition)


def _check_type(connection: sqlite3.Connection, condition: Condition) -> None:
    parsed = parse_type(condition.value)
    wants_subtype = condition.field == "subtype"
    known = SUBTYPES if wants_subtype else TYPES
    if parsed is not None and parsed.code in known:
        return
    if parsed is not None and parsed.code in {**SUBTYPES, **TYPES}:
        other = "type" if wants_subtype else "subtype"
        raise UsageError(
            f"{type_display(parsed.code)} is not a {condition.field}.",
            f"Write {other}{condition.operator}{parsed.code}.",
        )
    code = condition.value if parsed is None else parsed.code
    if not connection.execute(_TYPED[condition.field], (code,)).fetchone()[0]:
        raise UsageError(
            f"{condition.value!r} is not a valid {condition.field}, and no item has that value.",
            did_you_mean(condition.value, [*known, *known.values()])
            or nearest("", [*known, UNTYPED], f"{condition.field.capitalize()}s"),
        )


_JOINS = (
    ("q", "JOIN questions AS q ON q.id = c.question_id"),
    ("d", "JOIN datasets AS d ON d.id = q.dataset_id"),
    ("s", "LEFT JOIN sources AS s ON s.id = q.source_id"),
    ("m", "LEFT JOIN models AS m ON m.id = c.model_id"),
    ("i", "LEFT JOIN item_states AS i ON i.completion_id = c.id"),
    ("qt", "JOIN question_text AS qt ON qt.id = c.question_id"),
    ("ct", "JOIN completion_text AS ct ON ct.id = c.id"),
)
FROM_ITEMS = " ".join(["completions AS c", *(join for alias, join in _JOINS if alias not in ("qt", "ct"))])
"""The FROM clause of all items with their names and state, without their long texts."""


def items_sql(*texts: str) -> str:
    """Return the FROM clause with only the joins whose aliases occur in the given SQL texts; other joins would cost a
    scan."""
    used = set(re.findall(r"\b([a-z]{1,2})\.", " ".join(texts)))
    if used & {"d", "s"}:
        used.add("q")
    return " ".join(["completions AS c", *(join for alias, join in _JOINS if alias in used)])


SUBTYPE = "coalesce(i.subtype, q.subtype)"
TYPE = "coalesce(substr(i.subtype, 1, 1), q.type)"
STATE = "coalesce(i.state, 'unlabelled')"
# A check has no gold, although its answer is known, because it belongs to no benchmark.
IS_CHECK = "c.id IN (SELECT completion_id FROM check_items)"
GOLD = (
    f"CASE WHEN i.state IN ('conflict', 'excluded') OR {IS_CHECK} THEN NULL "
    "WHEN i.gold_from IS NOT NULL THEN i.gold ELSE c.imported_gold END"
)
GOLD_FROM = (
    f"CASE WHEN i.state IN ('conflict', 'excluded') OR {IS_CHECK} THEN NULL WHEN i.gold_from IS NOT NULL THEN "
    "i.gold_from WHEN c.imported_gold IS NOT NULL THEN 'imported' END"
)
PEOPLE_GOLD = f"CASE WHEN i.gold_from IS NOT NULL THEN {GOLD} END"
IMPORTED_GOLD = f"CASE WHEN NOT {IS_CHECK} THEN c.imported_gold END"
LENGTH = " ".join(
    [
        f"CASE WHEN c.characters IS NULL THEN '{UNKNOWN}'",
        *(f"WHEN c.characters < {bound} THEN '{name}'" for name, bound in zip(LENGTHS, LENGTH_BOUNDS, strict=False)),
        f"ELSE '{LENGTHS[-1]}' END",
    ]
)
_OWN_WORD = (
    "(SELECT json_extract(x.extra, '$.{0}') FROM completion_text AS x WHERE x.id = c.id AND json_valid(x.extra) "
    "AND json_type(x.extra, '$.{0}') = 'text')"
)
_PROBLEMS_WORD = (
    "(SELECT json_extract(o.extra, '$.{0}') FROM code_problems AS o WHERE o.question_id = c.question_id "
    "AND json_valid(o.extra) AND json_type(o.extra, '$.{0}') = 'text')"
)
_LANGUAGE = "(SELECT o.language FROM code_problems AS o WHERE o.question_id = c.question_id)"
WORDS_TOLD: Final[dict[str, str]] = {
    "language": f"coalesce({_LANGUAGE}, {_OWN_WORD.format('language')}, '')",
    "difficulty": f"coalesce({_OWN_WORD.format('difficulty')}, {_PROBLEMS_WORD.format('difficulty')}, '')",
}
"""SQL expressions over ``c`` of fields that come from rows or code problems, by field; "" if there is no value."""
GOLD_WORD = f"CASE {GOLD} WHEN 1 THEN 'correct' WHEN 0 THEN 'incorrect' ELSE 'none' END"
_FLAGGED = f"SELECT f.subject FROM label_events AS f WHERE {FLAG_STANDS}"
_UNANSWERED = (
    "NOT EXISTS (SELECT 1 FROM label_events AS x, json_each(x.seen) AS n WHERE x.kind = 'answer' "
    "AND x.subject = f.subject AND n.value = f.uuid)"
)
FLAGGED = (
    f"CASE WHEN c.id IN ({_FLAGGED} AND {_UNANSWERED}) THEN 'open' WHEN c.id IN ({_FLAGGED}) THEN 'answered' "
    "ELSE 'none' END"
)
COLUMNS: dict[str, str] = {
    "dataset": "d.name",
    "type": f"coalesce({TYPE}, '{UNTYPED}')",
    "subtype": f"coalesce({SUBTYPE}, '{UNTYPED}')",
    "domain": "coalesce(s.domain, '')",
    "source": "coalesce(s.name, '')",
    "model": "coalesce(m.name, '')",
    "length": LENGTH,
    "state": STATE,
    "gold": GOLD_WORD,
    "flagged": FLAGGED,
    **WORDS_TOLD,
    "question_id": "q.key",
    "completion_id": "c.key",
}
"""SQL expressions over the aliases of ``FROM_ITEMS``, by field of ``--where``."""

# The newest run that has been complete, by the verifier's name.
NEWEST_RUN = """(SELECT r.id FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id
    WHERE v.name = ? AND r.completed_at IS NOT NULL ORDER BY r.id DESC LIMIT 1)"""
VERDICT = (
    f"(SELECT x.outcome FROM verdicts AS x WHERE x.run_id = {NEWEST_RUN} AND x.completion_id = c.id AND x.sample = 0)"
)
"""SQL expression: an item's outcome by the verifier whose name is the only parameter."""
_VERDICTS = f"SELECT x.completion_id FROM verdicts AS x WHERE x.run_id = {NEWEST_RUN} AND x.sample = 0"
_VERDICT_WALKED = f"{_VERDICTS} AND x.completion_id = c.id"
# The column's name is the only parameter. Values that are nested too deeply for SQLite count as empty.
_KEPT = (
    "completion_text AS x, json_each(CASE WHEN json_valid(x.extra) THEN x.extra END) AS k "
    "WHERE x.id = c.id AND k.key = ? LIMIT 1"
)
KEPT: Final = (
    "coalesce((SELECT CASE WHEN k.type IN ('true', 'false') THEN k.type ELSE CAST(k.value AS TEXT) END "
    f"FROM {_KEPT}), '')"
)
"""SQL expression: an item's value in an extra column, whose name is the parameter; "" if it has none."""
_KEPT_NUMBER = (
    "(SELECT CASE WHEN k.value GLOB '*[0-9]*' AND NOT k.value GLOB '*[^-+.0-9eE]*' THEN CAST(k.value AS REAL) END "
    f"FROM {_KEPT})"
)
_HELD = """
    FROM imports AS n, completion_text AS ct,
        json_each(CASE WHEN json_valid(ct.extra) THEN ct.extra END) AS k
    WHERE ct.id BETWEEN n.first_completion_id AND n.first_completion_id + 99 AND ct.extra IS NOT NULL"""
_COLUMNS_HELD = (
    "SELECT DISTINCT k.key, CASE WHEN k.type IN ('true', 'false') THEN k.type ELSE substr(k.value, 1, 80) END "
    f"{_HELD} ORDER BY 1, 2"
)
_GROUPING = (
    f"SELECT k.key {_HELD} GROUP BY k.key "
    "HAVING count(DISTINCT k.value) BETWEEN 2 AND min(count(k.value) / 2, 30) ORDER BY min(ct.id), min(k.id)"
)
_HOLDS_COLUMN = f"SELECT EXISTS (SELECT 1 FROM completions AS c WHERE {VISIBLE} AND {KEPT} <> '')"
_OPERATORS = {"=": "=", "!=": "<>", "<": "<", ">": ">"}
_WORDS: Final[dict[str, tuple[Sequence[str], str, str]]] = {
    "length": ((*LENGTHS, UNKNOWN), "length", "Lengths, in characters"),
    "state": (("unlabelled", "labelled", "conflict", "final", "excluded"), "state", "States"),
    "flagged": (FLAG_STATES, "state of a flag", "An item's flags are"),
    "gold": (("correct", "incorrect", "none"), "gold label", "Gold is one of"),
}
"""The valid values of a field, what each is called, and the words that introduce them in an error, by field."""


def compile_selection(selection: Selection, *, walked: bool = False) -> tuple[str, list[object]]:
    """Return the WHERE condition of a selection, without its limit, and the parameters.

    Args:
        walked: Whether items are read one by one until a few are found; verdicts are then looked up per item instead of
            scanned once.

    Raises:
        UsageError: A value is not valid for its field (an unknown state or verdict word).
    """
    texts, parameters = [VISIBLE], list[object]()
    for condition in selection.conditions:
        text, values = _compile(condition, walked=walked)
        texts.append(text)
        parameters.extend(values)
    return " AND ".join(texts), parameters


def chosen_ids(connection: sqlite3.Connection, selection: Selection) -> list[int]:
    """Return the row ids of the selected items, in the order of import.

    Raises:
        UsageError: See `compile_selection` and `check_names`.
    """
    return ids_of(connection, check_names(connection, selection))


def ids_of(connection: sqlite3.Connection, selection: Selection) -> list[int]:
    """Return the row ids of the selected items; for a selection whose names were checked when it was made."""
    return [row[0] for row in connection.execute(*selected_sql(selection))]


def selected_sql(
    selection: Selection, columns: str = "c.id", order: str = "c.id", also: str = "1"
) -> tuple[str, list[object]]:
    """Return the query of the selected items, which are limited in this order, and the parameters.

    Args:
        also: A further condition.
    """
    where, parameters = compile_selection(selection)
    items = f"{items_sql(columns, order, where, also)} WHERE {where} AND {also} ORDER BY {order} LIMIT ?"
    return f"SELECT {columns} FROM {items}", [*parameters, -1 if selection.limit is None else selection.limit]


def require_items(connection: sqlite3.Connection, selection: Selection) -> None:
    """Check that a selection has items.

    Raises:
        UsageError: No item is selected; the message gives the number of items that meet each single condition. Also the
            errors of `compile_selection` and `check_names`.
    """
    selection = check_names(connection, selection)
    if _has_items(connection, selection):
        return
    if not selection.conditions:
        raise UsageError("There are no items here.", "Import some", Command("import DB FILE"))
    alone = [(condition, count_items(connection, Selection((condition,)))) for condition in selection.conditions]
    apart = [f"{condition}: {items:,}" for condition, items in alone]
    raise UsageError(
        f"No item matches {selection}.",
        f"Items that meet one condition alone: {', '.join(apart)}." if len(apart) > 1 else "",
    )


def _has_items(connection: sqlite3.Connection, selection: Selection) -> bool:
    where, parameters = compile_selection(selection)
    found = connection.execute(f"SELECT 1 FROM {items_sql(where)} WHERE {where} LIMIT 1", parameters).fetchone()
    return found is not None


def count_items(connection: sqlite3.Connection, selection: Selection) -> int:
    where, parameters = compile_selection(selection)
    return int(connection.execute(f"SELECT count(*) FROM {items_sql(where)} WHERE {where}", parameters).fetchone()[0])


def chosen_subjects(connection: sqlite3.Connection, task: Task, selection: Selection) -> list[int]:
    """Return what the labels of the selected items refer to: row ids of the completions, or for the type task, of their
    questions.

    Raises:
        UsageError: See `compile_selection` and `check_names`.
    """
    completions = chosen_ids(connection, selection)
    if task == "correctness":
        return completions
    rows = connection.execute(
        "SELECT DISTINCT question_id FROM completions WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(completions),),
    )
    return [question for (question,) in rows]


def check_names(connection: sqlite3.Connection, selection: Selection, verifiers: Sequence[str] = ()) -> Selection:
    """Check the names in a selection, and return it with a verifier's name for each plain ``verdict``.

    Args:
        verifiers: The verifiers that a plain ``verdict`` refers to; if empty, the only verifier with a complete run.

    Raises:
        UsageError: A verifier, a set or a value of a closed vocabulary doesn't exist, or ``verdict`` is ambiguous.
    """
    if selection.asks_for_verdicts:
        selection = selection.judged_by(verifiers or [_only_verifier(connection)])
    known = {name for (name,) in connection.execute("SELECT name FROM verifiers")}
    check_values(connection, selection.conditions)
    for condition in selection.conditions:
        if condition.field == "set":
            sets.require(connection, SetName.parse(condition.value))
        kind, _, name = condition.field.partition(":")
        if f"{kind}:" == COLUMN:
            require_column(connection, condition.field)
        if kind == "verdict" and name not in known:
            raise UsageError(f"No verifier {name!r} has run here.", nearest(name, sorted(known), "There are"))
    return selection


def extra_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the extra columns that are stored with items, each with its values in the first rows of each import."""
    found: dict[str, list[str]] = {}
    for name, value in connection.execute(_COLUMNS_HELD):
        found.setdefault(name, []).append("" if value is None else str(value))
    return found


def has_code(connection: sqlite3.Connection) -> bool:
    """Return whether there are code problems, which have a language."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM code_problems)").fetchone()[0])


def grouping_columns(connection: sqlite3.Connection) -> list[str]:
    """Return the `extra_columns` that are suitable for grouping: they have few values, each in at least two rows."""
    return [name for (name,) in connection.execute(_GROUPING)]


def require_column(connection: sqlite3.Connection, field: str) -> None:
    """Check that at least one item has an extra column.

    Raises:
        UsageError: No item has the column.
    """
    name = field.removeprefix(COLUMN)
    known = extra_columns(connection)
    if name not in known and not connection.execute(_HOLDS_COLUMN, (name,)).fetchone()[0]:
        raise UsageError(f"No item has a column {name!r}.", nearest(name, known, "Columns that were kept"))


def _only_verifier(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT DISTINCT v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id "
        "WHERE r.completed_at IS NOT NULL ORDER BY v.name"
    )
    complete = [name for (name,) in rows]
    if len(complete) == 1:
        return str(complete[0])
    if not complete:
        raise UsageError("No verifier has a complete run here: there are no verdicts.", "Run one", Command("verify DB"))
    raise UsageError(
        f"Verdicts of {len(complete)} verifiers are here: {', '.join(complete)}.",
        f"Name one: {opt.where:verdict:NAME=…}; export also takes {opt.verifier:NAME}, once for each that must agree.",
    )


def _compile(condition: Condition, *, walked: bool) -> tuple[str, list[object]]:
    if condition.field.startswith("verdict:"):
        return _compile_verdict(condition, walked=walked)
    if condition.field == "set":
        if condition.operator not in ("=", "!="):
            raise UsageError(f"A set can't be compared with {condition.operator!r}.", "Write set=NAME or set!=NAME.")
        word = "" if condition.operator == "=" else "NOT "
        return f"{word}{sets.HOLDS}", sets.name_parameters(SetName.parse(condition.value))
    if condition.field.startswith(COLUMN):
        name, operator = condition.field.removeprefix(COLUMN), _OPERATORS[condition.operator]
        if condition.operator in ("=", "!="):
            return f"{KEPT} {operator} ?", [name, condition.value]
        try:
            return f"{_KEPT_NUMBER} {operator} ?", [name, float(condition.value)]
        except ValueError:
            raise UsageError(
                f"{condition.value!r} is not a number.",
                f"{condition.field} can only be compared with a number by < or >.",
            ) from None
    if condition.field == "verdict":
        raise UsageError("A condition on verdicts needs the name of a verifier.", "Write verdict:NAME=…")
    if condition.field not in COLUMNS:
        # Runs of earlier versions may have stored it.
        raise UsageError(f"There is no field {condition.field!r}.", "Select others", Command("verify DB VERIFIER"))
    return f"{COLUMNS[condition.field]} {_OPERATORS[condition.operator]} ?", [value_of(condition)]


def value_of(condition: Condition) -> str:
    """Return the value of a condition in the form in which the database stores it.

    Raises:
        UsageError: The value is not valid for its field.
    """
    value = condition.value
    if condition.field in ("type", "subtype") and value != UNTYPED:
        parsed = parse_type(value)
        return parsed.code if parsed is not None else value
    words, what, there = _WORDS.get(condition.field, ((value,), "", ""))
    if value not in words:
        raise UsageError(f"{value!r} is not a valid {what}.", nearest(value, words, there))
    return value


def _compile_verdict(condition: Condition, *, walked: bool) -> tuple[str, list[object]]:
    name, found = condition.field.removeprefix("verdict:"), _VERDICT_WALKED if walked else _VERDICTS
    if condition.value == "none" and condition.operator in ("=", "!="):
        return f"c.id {'NOT ' if condition.operator == '=' else ''}IN ({found})", [name]
    try:
        value = Outcome(condition.value).code
    except ValueError:
        raise UsageError(
            f"{condition.value!r} is not a valid verdict.",
            nearest(condition.value, ("correct", "incorrect", "abstain", "error", "none"), "Verdicts"),
        ) from None
    return f"c.id IN ({found} AND x.outcome {_OPERATORS[condition.operator]} ?)", [name, value]
