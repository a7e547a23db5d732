"""Reads ``[models.NAME]``: models that write texts, with the options that ``-o`` has on the command
line. Also prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from workbench.config.file import require_table, table_in, user_folder
from workbench.config.verifiers import options_in
from workbench.core.errors import UsageError
from workbench.llm.prices import FILE_NAME, listed_price
from workbench.llm.server import ModelServer, Price

_EXAMPLE = '[models.qwen] base_url = "http://localhost:8000/v1", model = "…"'


def named_model(database: Path, name: str) -> dict[str, str] | None:
    """Return the options of a model in the settings file; None if it is not configured.

    Raises:
        UsageError: The file can't be read, or the entry is invalid.
    """
    place, table = table_in(database, "models", _EXAMPLE)
    entry = table.get(name)
    if entry is None:
        return None
    return options_in(f"{place}.{name}", require_table(f"{place}.{name}", entry, _EXAMPLE))


# -- ``[prices."MODEL"]``: prices of models, for budgets and estimates.


_PRICE_EXAMPLE = '[prices."a-model"] input = 0.15, output = 0.6, cached_input = 0.075, date = "2026-11-01"'
_MAX_PRICE = 1e6
_NUMBERS = ("input", "output", "cached_input", "cache_write", "thought")
_FIELDS = {*_NUMBERS, "date"}


def prices_of(database: Path, servers: Iterable[ModelServer]) -> dict[str, Price]:
    """Return the prices of the servers' models, by model name: from the settings file, or else list prices.

    Raises:
        UsageError: A file can't be read, or the entry of one of these models is invalid (other entries are ignored).
    """
    place, table = table_in(database, "prices", _PRICE_EXAMPLE)
    by_model: dict[str, list[ModelServer]] = {}
    for server in servers:
        by_model.setdefault(server.model, []).append(server)
    prices: dict[str, Price] = {}
    for model, named in by_model.items():
        if model in table:
            prices[model] = parse_price(f"{place}.{model}", table[model])
        elif len({server.profile for server in named}) == 1:
            price = listed_price(named[0], user_folder() / FILE_NAME)
            prices |= {} if price is None else {model: price}
    return prices


def parse_price(place: str, entry: Any) -> Price:
    """Parse one price entry; ``place`` is its location, for messages.

    Raises:
        UsageError: The entry is invalid; the message names the field.
    """
    entry = require_table(place, entry, _PRICE_EXAMPLE)
    if unknown := sorted(entry.keys() - _FIELDS):
        raise UsageError(f"{place}.{unknown[0]} is unknown.", f"Fields: {', '.join(sorted(_FIELDS))}.")
    if missing := sorted({"input", "output", "date"} - entry.keys()):
        raise UsageError(
            f"{place}.{missing[0]} is missing.", f"US dollars per million tokens. Example: {_PRICE_EXAMPLE}"
        )
    numbers = {name: _price_number(f"{place}.{name}", entry[name]) for name in _NUMBERS if name in entry}
    return msgspec.convert({**numbers, "date": _price_date(f"{place}.date", entry["date"])}, Price)


def _price_number(place: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_PRICE:
        raise UsageError(f"{place} must be a number from 0 to {_MAX_PRICE:,.0f}.", "US dollars per million tokens.")
    return float(value)


def _price_date(place: str, value: object) -> str:
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            value = None
    if type(value) is not date:
        raise UsageError(f"{place} must be the date of the price.", 'Example: date = "2026-11-01"')
    return value.isoformat()
