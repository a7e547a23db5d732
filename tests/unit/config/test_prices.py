"""``[prices."MODEL"]``: a wrong entry matters only to runs with that model."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.config.file import FILE_NAME
from workbench.config.models import prices_of
from workbench.core.errors import UsageError
from workbench.llm.server import Price


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder / "p.db"


def test_prices_are_read_by_model(tmp_path: Path) -> None:
    database = written(
        tmp_path,
        '[prices."org/a.b"]\ninput = 1\noutput = 2.5\ncached_input = 0.1\ndate = 2026-11-01\n'
        '[prices.local]\ninput = 0\noutput = 0\ndate = "2026-10-31"\n[prices.wrong]\ninput = -1\n',
    )
    assert prices_of(database, ["org/a.b", "local", "unknown"]) == {
        "org/a.b": Price(input=1.0, output=2.5, cached_input=0.1, date="2026-11-01"),
        "local": Price(input=0.0, output=0.0, date="2026-10-31"),
    }
    assert prices_of(tmp_path / "elsewhere" / "p.db", ["local"]) == {}


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("prices = 3", "prices must be a table"),
        ("prices.m = 3", "prices.m must be a table"),
        ("[prices.m]\noutput = 1\ndate = 2026-01-01", "prices.m.input is missing"),
        ("[prices.m]\ninput = 1\noutput = 1", "prices.m.date is missing"),
        ("[prices.m]\ninput = -1\noutput = 1\ndate = 2026-01-01", "prices.m.input must be a number"),
        ("[prices.m]\ninput = nan\noutput = 1\ndate = 2026-01-01", "prices.m.input must be a number"),
        ("[prices.m]\ninput = inf\noutput = 1\ndate = 2026-01-01", "prices.m.input must be a number"),
        ("[prices.m]\ninput = 1\noutput = '1'\ndate = 2026-01-01", "prices.m.output must be a number"),
        ("[prices.m]\ninput = 1\noutput = true\ndate = 2026-01-01", "prices.m.output must be a number"),
        (f"[prices.m]\ninput = 1\noutput = {'9' * 400}\ndate = 2026-01-01", "prices.m.output must be a number"),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 'today'", "prices.m.date"),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 2026-01-01T00:00:00", "prices.m.date"),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 2026-01-01\nreasoning = 3", "prices.m.reasoning is unknown"),
    ],
)
def test_a_wrong_price_is_named_by_its_field(tmp_path: Path, entry: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        prices_of(written(tmp_path, entry), ["m"])
    assert caught.value.message.startswith(f"{tmp_path / FILE_NAME}:")
    assert part in caught.value.message
