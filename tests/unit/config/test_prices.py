"""``[prices."MODEL"]``: a wrong entry matters only to runs with that model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.config.file import FILE_NAME
from workbench.config.models import prices_of
from workbench.core.errors import UsageError
from workbench.llm.server import ModelServer, Price


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder / "p.db"


def at(model: str, profile: str = "vllm") -> ModelServer:
    return ModelServer(profile=profile, base_url="http://h/v1", model=model)


def test_project_prices_override_list_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CONFIG_DIR", str(tmp_path / "own"))
    database = written(tmp_path, '[prices."gpt-5.1"]\ninput = 1\noutput = 2\ndate = 2026-11-01\n')
    servers = [at("gpt-5.1", "openai"), at("gpt-5.2", "openai"), at("gpt-5.4")]
    found = prices_of(database, servers)
    assert found.keys() == {"gpt-5.1", "gpt-5.2"}
    assert found["gpt-5.1"].input == 1.0
    # The same name at two sellers has two prices: neither is taken for the other's.
    assert prices_of(database, [at("gpt-5.2", "openai"), at("gpt-5.2")]) == {}


def test_a_newer_table_in_the_configuration_folder_prices_newer_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CONFIG_DIR", str(tmp_path))
    newer = at("a-model-of-tomorrow", "openai")
    assert prices_of(tmp_path / "p.db", [newer]) == {}
    rates = {"input_cost_per_token": 2e-06, "output_cost_per_token": 3e-06}
    (tmp_path / "prices.json").write_text(json.dumps({newer.model: rates}), encoding="utf-8")
    found = prices_of(tmp_path / "p.db", [newer])[newer.model]
    assert (found.input, found.output) == (2.0, 3.0)


def test_prices_are_read_by_model(tmp_path: Path) -> None:
    database = written(
        tmp_path,
        '[prices."org/a.b"]\ninput = 1\noutput = 2.5\ncached_input = 0.1\nthought = 4\ndate = 2026-11-01\n'
        '[prices.local]\ninput = 0\noutput = 0\ndate = "2026-10-31"\n[prices.wrong]\ninput = -1\n',
    )
    assert prices_of(database, [at("org/a.b"), at("local"), at("unknown")]) == {
        "org/a.b": Price(input=1.0, output=2.5, cached_input=0.1, thought=4.0, date="2026-11-01"),
        "local": Price(input=0.0, output=0.0, date="2026-10-31"),
    }
    assert prices_of(tmp_path / "elsewhere" / "p.db", [at("local")]) == {}


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("prices = 3", "prices must be a table"),
        ("prices.m = 3", "prices.m must be a table"),
        ("[prices.m]\noutput = 1\ndate = 2026-01-01", "prices.m.input is missing"),
        ("[prices.m]\ninput = 1\noutput = 1", "prices.m.date is missing"),
        ("[prices.m]\ninput = -1\noutput = 1\ndate = 2026-01-01", "prices.m.input: "),
        ("[prices.m]\ninput = nan\noutput = 1\ndate = 2026-01-01", "prices.m.input: "),
        ("[prices.m]\ninput = inf\noutput = 1\ndate = 2026-01-01", "prices.m.input: "),
        ("[prices.m]\ninput = 1\noutput = '1'\ndate = 2026-01-01", "prices.m.output: "),
        ("[prices.m]\ninput = 1\noutput = true\ndate = 2026-01-01", "prices.m.output: "),
        (f"[prices.m]\ninput = 1\noutput = {'9' * 400}\ndate = 2026-01-01", "prices.m.output: "),
        ("[prices.m]\ninput = 1\noutput = 1\nthought = -1\ndate = 2026-01-01", "prices.m.thought: "),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 'today'", "prices.m.date"),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 2026-01-01T00:00:00", "prices.m.date"),
        ("[prices.m]\ninput = 1\noutput = 1\ndate = 2026-01-01\nreasoning = 3", "prices.m.reasoning is unknown"),
    ],
)
def test_a_wrong_price_is_named_by_its_field(tmp_path: Path, entry: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        prices_of(written(tmp_path, entry), [at("m")])
    assert caught.value.message.startswith(f"{tmp_path / FILE_NAME}:")
    assert part in caught.value.message
