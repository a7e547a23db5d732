"""Reads ``[models.NAME]``: models that write texts, with the options that ``-o`` has on the command
line. Also prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from workbench.config.file import decode, require_table, table_in, user_folder
from workbench.config.verifiers import options_in
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


_PRICE_EXAMPLE = '[prices."a-model"] input = 0.15, output = 0.6, date = "2026-11-01" (US dollars per million tokens)'
_Dollars = Annotated[float, Meta(ge=0, le=1e6)]


class _PriceEntry(Struct, frozen=True, forbid_unknown_fields=True):
    input: _Dollars
    output: _Dollars
    date: date
    cached_input: _Dollars | None = None
    cache_write: _Dollars | None = None
    thought: _Dollars | None = None


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
    found = decode(place, entry, _PriceEntry, _PRICE_EXAMPLE)
    return Price(**(structs.asdict(found) | {"date": found.date.isoformat()}))
