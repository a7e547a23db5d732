"""Costs of replies: list prices with tiers, caching, and costs reported by servers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.servers.scripted import Scripted, chat_reply, messages_reply, scripted
from tests.unit.llm.calling import caller_of, chat_of
from workbench.core.errors import UsageError
from workbench.llm import prices
from workbench.llm.dialects import read
from workbench.llm.endpoint import Endpoint
from workbench.llm.gate import cost_of
from workbench.llm.prices import listed_price
from workbench.llm.profiles import PROFILES
from workbench.llm.records import Halt, Usage
from workbench.llm.server import Limits, ModelServer, Price, RequestExtras, TokenPrices
from workbench.llm.waits import Clock

PRICE = Price(
    input=10.0,
    output=100.0,
    cached_input=1.0,
    cache_write=12.5,
    date="2026-11-01",
    others=(
        (0, "flex", TokenPrices(input=5.0, output=50.0)),
        (1000, "", TokenPrices(input=20.0, output=200.0, cached_input=2.0)),
    ),
)


def server(profile: str, model: str) -> ModelServer:
    return ModelServer(profile=profile, base_url="https://one.example/v1", model=model)


def dollars_a_million(usage: Usage) -> float | None:
    cost = cost_of(usage, PRICE)
    return None if cost is None else round(cost * 1e6, 6)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(prompt_tokens=100, completion_tokens=10), 2000),
        (Usage(prompt_tokens=100, cached_tokens=80, completion_tokens=10), 20 * 10 + 80 + 1000),
        (Usage(prompt_tokens=100, written_tokens=80, completion_tokens=0), 20 * 10 + 80 * 12.5),
        (Usage(prompt_tokens=100, cached_tokens=80, written_tokens=80, completion_tokens=0), 80 + 20 * 12.5),
        (Usage(prompt_tokens=100, completion_tokens=10, tier="flex"), 1000),
        (Usage(prompt_tokens=100, written_tokens=80, completion_tokens=0, tier="flex"), 500),
        (Usage(prompt_tokens=100, completion_tokens=10, tier="default"), 2000),
        (Usage(prompt_tokens=1000, completion_tokens=0), 10_000),
        (Usage(prompt_tokens=1001, cached_tokens=1, completion_tokens=1), 20_000 + 2 + 200),
        (Usage(prompt_tokens=100, completion_tokens=10, cost=3.0), 3_000_000),
        (Usage(prompt_tokens=100), None),
    ],
)
def test_prices_cover_caching_tiers_and_long_prompts(usage: Usage, expected: float | None) -> None:
    assert dollars_a_million(usage) == expected


def test_possible_cache_writes_are_reserved() -> None:
    one = Endpoint(server("vllm", "m"), PRICE, Clock()).prepare(chat_of("q" * 400, 10), 0).estimate
    assert one.cost == pytest.approx((one.prompt * 12.5 + 10 * 100) / 1e6)
    extras = RequestExtras(body={"service_tier": "flex"})
    flex = ModelServer(profile="vllm", base_url="http://h/v1", model="m", extras=extras)
    two = Endpoint(flex, PRICE, Clock()).prepare(chat_of("q" * 400, 10), 0).estimate
    assert two.cost == pytest.approx((two.prompt * 5 + 10 * 50) / 1e6)


@pytest.mark.parametrize(
    ("usage", "cached", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 1}}, 8, 1),
        ({"prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2}, 8, None),
        ({"cached_tokens": 8}, 8, None),
        ({"num_cached_tokens": 8}, 8, None),
        ({"cache_read_input_tokens": 8, "cache_creation_input_tokens": 1}, 8, 1),
        ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": "8"}, None, None),
    ],
)
def test_cached_tokens_are_found_wherever_they_are_counted(
    usage: dict[str, Any], cached: int | None, written: int | None
) -> None:
    whole = chat_reply("Yes") | {"usage": {"prompt_tokens": 10, "completion_tokens": 2} | usage}
    found = read(json.dumps(whole).encode(), "chat", "openai").usage
    assert (found.cached_tokens, found.written_tokens) == (cached, written)


def test_anthropics_writes_thoughts_and_tier() -> None:
    counts = {"input_tokens": 5, "cache_creation_input_tokens": 95, "output_tokens": 20, "service_tier": "batch"}
    counts["output_tokens_details"] = {"thinking_tokens": 15}
    found = read(json.dumps(messages_reply("Yes") | {"usage": counts}).encode(), "chat", "anthropic").usage
    assert found == Usage(prompt_tokens=100, completion_tokens=20, reasoning_tokens=15, written_tokens=95, tier="batch")


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": {"total_cost": 0.25}}, 0.25),
        ({"cost_in_usd_ticks": 2_500_000_000}, 0.25),
        ({"cost": 0.05, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, 0.25),
        ({"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}}, 0.25),
        ({"cost": "much"}, None),
        ({"cost": {}}, None),
        ({"cost_in_usd_ticks": -1}, None),
        ({"cost_in_usd_ticks": 10**400}, None),
    ],
)
def test_costs_reported_by_a_server(usage: dict[str, Any], cost: float | None) -> None:
    whole = chat_reply("Yes") | {"usage": {"prompt_tokens": 10, "completion_tokens": 2} | usage}
    assert read(json.dumps(whole).encode(), "chat", "openai").usage.cost == cost


async def test_a_cost_in_a_proxy_header_counts_for_the_budget() -> None:
    answer = Scripted(headers={"x-litellm-response-cost": "0.6"}, body=chat_reply("Yes"))
    with scripted(lambda _: answer) as one:
        async with caller_of(one.url, profile="litellm", limits=Limits(max_cost=1.0, concurrency=1)) as caller:
            assert (await caller.call(1, "judge", chat_of("a"))).reply.usage.cost == 0.6
            await caller.call(1, "judge", chat_of("b"))
            with pytest.raises(Halt, match=r"1\.2000 of 1\.0 US dollars"):
                await caller.call(1, "judge", chat_of("c"))
    assert len(one.received) == 2


def test_list_prices_belong_to_their_provider() -> None:
    price = listed_price(server("openai", "gpt-5.1"))
    assert price is not None
    assert (price.input, price.output, price.cached_input) == (1.25, 10.0, 0.125)
    assert (price.rates(10, "batch").input, price.rates(10, "flex").output) == (0.625, 5.0)
    claude = listed_price(server("anthropic", "claude-opus-4-5"))
    assert claude is not None
    assert claude.cache_write is not None
    assert claude.cache_write > claude.input
    assert listed_price(server("vllm", "gpt-5.1")) is None
    assert listed_price(server("openai", "a-model-of-tomorrow")) is None
    assert listed_price(server("gemini", "gemini-2.5-pro")) is not None
    assert listed_price(server("openai", "ft:gpt-4o-mini-2024-07-18:me::Ab1")) == listed_price(
        server("openai", "ft:gpt-4o-mini-2024-07-18")
    )


def test_a_table_of_the_users_goes_before_ours(tmp_path: Path) -> None:
    own = tmp_path / "prices.json"
    table = {
        "sample_spec": {"input_cost_per_token": "x"},
        "gpt-5.1": {
            "input_cost_per_token": 2e-06,
            "output_cost_per_token": 3e-06,
            "input_cost_per_token_batches": 1e-06,
        },
        "gpt-5.2": {"input_cost_per_token": -1, "output_cost_per_token": 3e-06},
    }
    own.write_text(json.dumps(table), encoding="utf-8")
    price = listed_price(server("openai", "gpt-5.1"), own)
    assert price is not None
    assert (price.input, price.output, price.rates(1, "batch").input) == (2.0, 3.0, 1.0)
    assert price.date.startswith("20")
    assert listed_price(server("openai", "gpt-5.2"), own) == listed_price(server("openai", "gpt-5.2"))
    for wrong in ("[1]", "{", "prices"):
        own.write_text(wrong, encoding="utf-8")
        os.utime(own, (1, len(wrong)))
        with pytest.raises(UsageError, match="model_prices_and_context_window"):
            listed_price(server("openai", "gpt-5.1"), own)


def test_steps_of_prompts_thoughts_and_tiers_of_any_name_are_read_from_a_table(tmp_path: Path) -> None:
    """DashScope's entries have ranges alone and another price of thoughts; new tiers come without notice."""
    steps = [
        {"range": [0, 256_000], "input_cost_per_token": 4e-07, "output_cost_per_token": 1.2e-06,
         "output_cost_per_reasoning_token": 4e-06},
        {"range": [256_000, 1_000_000], "input_cost_per_token": 1.2e-06, "output_cost_per_token": 3.6e-06},
    ]  # fmt: skip
    plain = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
    table = {
        "dashscope/stepped": {"tiered_pricing": steps},
        "gpt-tiered": plain | {"input_cost_per_token_ultrafast": 9e-06, "output_cost_per_token_ultrafast": 1e-05},
        "gpt-odd": plain | {"tiered_pricing": [None, {"range": 5}, {"range": ["a"]}, {"range": [1e999], **plain}]},
    }
    own = tmp_path / "prices.json"
    own.write_text(json.dumps(table).replace("Infinity", "1e308"), encoding="utf-8")
    price = listed_price(server("dashscope", "stepped"), own)
    assert price is not None
    assert (price.rates(256_000, None).input, price.rates(256_001, None).output) == (0.4, 3.6)
    used = Usage(prompt_tokens=1_000_000, completion_tokens=0)
    assert cost_of(used, price) == pytest.approx(1.2)
    thought = Usage(prompt_tokens=0, completion_tokens=1_000_000, reasoning_tokens=750_000)
    assert cost_of(thought, price) == pytest.approx(0.25 * 1.2 + 0.75 * 4.0)
    assert price.in_batches().thought == 2.0
    tiered = listed_price(server("openai", "gpt-tiered"), own)
    assert tiered is not None
    assert (tiered.rates(1, "ultrafast").input, tiered.rates(1, None).input) == (9.0, 1.0)
    assert listed_price(server("openai", "gpt-odd"), own) is not None


@pytest.mark.parametrize(("output", "thought"), [(2.0, 50.0), (50.0, 2.0)])
def test_the_reserved_cost_covers_thoughts_and_text(output: float, thought: float) -> None:
    """Perplexity's thoughts are cheaper than its words, Qwen's dearer."""
    price = Price(input=1.0, output=output, thought=thought, date="2026-11-28")
    endpoint = Endpoint(server("dashscope", "m"), price, Clock())
    assert endpoint.prepare(chat_of("q", 1000), 0).estimate.cost > 1000 * 50 / 1e6


def test_the_table_lists_each_model_where_it_is_sold() -> None:
    shipped = json.loads((Path(prices.__file__).parent / prices.FILE_NAME).read_text(encoding="utf-8"))["models"]
    prefixes = sorted(filter(None, (profile.price_prefix for profile in PROFILES.values())), key=len)
    bare = [name for name in shipped if not name.startswith(tuple(prefixes))]
    ours = re.compile(r"claude-|ft:|gpt-|o\d|chat-latest|computer-use-|daybreak-")
    assert [name for name in bare if not ours.match(name)] == []
    for profile, model in (("openai", "gpt-6-astra"), ("anthropic", "claude-fable-5"), ("dashscope", "qwen-flash")):
        assert listed_price(server(profile, model)) is not None


def test_a_batch_costs_its_list_price_or_half() -> None:
    dear = TokenPrices(input=4.0, output=12.0, cached_input=0.4)
    listed = TokenPrices(input=1.5, output=3.0)
    others = ((200_000, "", dear), (0, "batch", listed), (0, "flex", dear))
    price = Price(input=2.0, output=8.0, cached_input=0.2, date="2026-11-01", others=others)
    batched = price.in_batches()
    assert (batched.input, batched.output) == (1.5, 3.0)
    assert batched.rates(300_000, "batch") == TokenPrices(input=2.0, output=6.0, cached_input=0.2)
    plain = Price(input=2.0, output=8.0, cache_write=3.0, date="2026-11-01").in_batches()
    assert plain == Price(input=1.0, output=4.0, cache_write=1.5, date="2026-11-01")
