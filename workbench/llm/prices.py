"""Default prices of models: a table of list prices in litellm's format, and optionally the user's newer one.

A price depends on the model and the seller: the same weights at another provider have another price, or none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from workbench.core.errors import UsageError
from workbench.llm.profiles import profile_named
from workbench.llm.server import BATCH, ModelServer, Price, TokenPrices

FILE_NAME: Final = "prices.json"
"""File name of the bundled table, and of the user's in their configuration folder."""
_MAX_BYTES: Final = 64 * 2**20
_HIGHEST: Final = 1.0
_MAX_PROMPT_TOKENS: Final = 10**9
_FIELDS: Final = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "output_cost_per_reasoning_token": "thought",
    "cache_read_input_token_cost": "cached_input",
    "cache_creation_input_token_cost": "cache_write",
}
_FIELD = re.compile(rf"({'|'.join(_FIELDS)})(?:_above_(\d{{1,6}})k_tokens)?(?:_([a-z]+))?")
_STEPS: Final = "tiered_pricing"
"""The field with prices by prompt length, each with its range of lengths."""
_TIERS: Final = {"batches": BATCH}


def listed_price(server: ModelServer, own: Path | None = None) -> Price | None:
    """Return a model's list price at its server; None if unknown.

    Args:
        own: The user's table; it takes precedence over the bundled one.

    Raises:
        UsageError: The user's table is invalid.
    """
    prefix = profile_named(server.profile).price_prefix
    if prefix is None:
        return None
    tuned = ":".join(server.model.split(":")[:2])
    names = [f"{prefix}{server.model}", *([tuned] if server.model.startswith("ft:") else [])]
    for date, entries in (
        *([_user_table(own, own.stat().st_mtime)] if own is not None and own.is_file() else []),
        _bundled_table(),
    ):
        for name in names:
            if name in entries and (price := _price(entries[name], date)) is not None:
                return price
    return None


@cache
def _bundled_table() -> tuple[str, dict[str, Any]]:
    table = msgspec.json.decode(Path(__file__).with_name(FILE_NAME).read_bytes())
    return table["date"], table["models"]


@cache
def _user_table(path: Path, changed: float) -> tuple[str, dict[str, Any]]:
    try:
        with path.open("rb") as stream:
            table = msgspec.json.decode(stream.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: {error}.", "It takes litellm's model_prices_and_context_window.json.") from error
    if not isinstance(table, dict):
        raise UsageError(
            f"{path} is not a table of prices.", "It takes litellm's model_prices_and_context_window.json."
        )
    models = table.get("models")
    day = datetime.fromtimestamp(changed, UTC).date().isoformat()
    return day, models if isinstance(models, dict) else table


def _price(entry: Any, date: str) -> Price | None:
    rates: dict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for least, fields in _price_steps(entry):
        for field, value in fields.items():
            found = _FIELD.fullmatch(field)
            is_cost = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _HIGHEST
            if found and is_cost:
                name, above, tier = found.groups()
                place = (max(least, int(above or 0) * 1000), _TIERS.get(tier, tier or ""))
                rates[place][_FIELDS[name]] = round(value * 1e6, 9)
    plain = rates.pop((0, ""), {})
    if not {"input", "output"} <= plain.keys():
        return None
    others = tuple(
        (above, tier, msgspec.convert(plain | values, TokenPrices)) for (above, tier), values in sorted(rates.items())
    )
    return Price(**plain, date=date, others=others)


def _price_steps(entry: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(entry, dict):
        yield 0, entry
        steps = entry.get(_STEPS)
        for step in steps if isinstance(steps, list) else ():
            match step:
                case {"range": [int(least) | float(least), *_]} if 0 <= least <= _MAX_PROMPT_TOKENS:
                    yield int(least), step
