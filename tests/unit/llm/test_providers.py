"""Every kind of server in every case: verdicts, number of calls, and messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.providers import CASES, Provider, providers
from tests.servers.scripted import Received, Scripted, ScriptedServer, scripted
from tests.unit.llm.calling import chat_of
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.caller import Caller, StoredReply
from workbench.llm.records import Halt, Reply, Request
from workbench.llm.server import Limits, ModelServer, Price
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.judging import judged_by_server

ITEMS = 12
ODD = 3
"""The item of cases that are one item's."""
REFUSALS = {"overload": 12, "rate": 12, "html": 3, "malformed": 3, "reset": 3}
"""How often a server refuses before it answers; who has too much to do is given more time than who fails."""
CELLS = [(name, case) for name, one in providers().items() for case in CASES if not one.cell(case).none]


class Played:
    """The result of a case: verdicts, the halt that ended them, and the server's and clock's records."""

    def __init__(self) -> None:
        self.verdicts: dict[int, Verdict] = {}
        self.halt: Halt | None = None
        self.warnings: list[str] = []
        self.calls = 0
        self.seconds = 0.0
        self.limits: list[int] = []

    def outcomes(self) -> dict[int, str]:
        return {item: f"{one.outcome.word} {one.reason or ''}".strip() for item, one in self.verdicts.items()}


def item_of(number: int) -> VerifierInput:
    return VerifierInput(item=number, question=f"What is {number} + 0?", reference=str(number), completion=str(number))


def script(provider: Provider, case: str, counted: Callable[[], int]) -> Callable[[Received], Scripted]:
    def answer(received: Received) -> Scripted:
        match CASES[case].played:
            case "all":
                odd = True
            case "first":
                odd = counted() <= REFUSALS[case]
            case _:
                odd = f"What is {ODD} + 0?" in str(received.body)
        return provider.answer(case if odd else "plain")

    return answer


async def play(provider: Provider, case: str) -> Played:
    played, clock = Played(), HeldClock()
    servers: list[ScriptedServer] = []
    with scripted(script(provider, case, lambda: len(servers[0].received))) as server:
        servers.append(server)
        judge = LlmJudge(
            server=provider.server,
            base_url=server.url.removesuffix("/v1") + provider.path,
            model=provider.model,
            api_key_env="JUDGE_KEY",
        )
        environment = {"JUDGE_KEY": "sk-0123456789abcdef"}
        limits = Limits(concurrency=20)
        async with Caller(judge.servers(), limits, MemoryJournal(), None, environment, clock=clock) as caller:
            played.limits.append(caller.limit)

            async def ask(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
                return (await caller.call(number, role, request, sample)).reply

            for number in range(ITEMS):
                try:
                    judged = await judged_by_server(judge, item_of(number), ask, b"k" * 32)
                except Halt as halt:
                    played.halt = halt
                    break
                played.verdicts[number] = judged.verdict
            played.limits.append(caller.limit)
            played.warnings = caller.warnings
        played.calls, played.seconds = len(server.received), clock.time
    return played


@pytest.mark.few
@pytest.mark.parametrize(("name", "case"), CELLS)
def test_every_cell(name: str, case: str) -> None:
    provider, expected = providers()[name], CASES[case]
    cell = provider.cell(case)
    played = asyncio.run(play(provider, case))
    if expected.played == "all":
        assert played.halt is not None
        assert (played.halt.code, cell.says in played.halt.message) == (expected.outcome, True), played.halt.message
        assert played.calls <= expected.wasted
        assert {one.outcome.word for one in played.verdicts.values()} <= {"error"}
        assert "<html" not in played.halt.message.lower()
        return
    refused = REFUSALS.get(case, 0)
    assert played.halt is None, played.halt.message
    odd = expected.outcome if expected.played == "one" else "correct"
    assert {item: _plain(said) for item, said in played.outcomes().items()} == {
        item: odd if item == ODD else "correct" for item in range(ITEMS)
    }
    assert played.calls == ITEMS + refused
    assert played.seconds >= cell.seconds
    if expected.does == "waits":
        assert played.limits[1] < played.limits[0]
    if expected.does == "error" and cell.says:
        assert cell.says in (played.verdicts[ODD].detail or "")
    if cell.says and expected.played == "first":
        assert any(cell.says in warning for warning in played.warnings)


def _plain(said: str) -> str:
    return "correct" if said.startswith("correct") else said


PRICE = Price(input=10.0, output=100.0, date="2026-11-01")
UNCOUNTED = {"gemini": 600, "xai": 220}
"""Tokens that are paid for a reply with thoughts, where its completion tokens are others."""


def billed(provider: Provider, case: str) -> float:
    """Return the price of a reply at the server, in dollars."""
    usage = json.loads(provider.answer(case).content()[len(provider.reply.prefix) :])["usage"]
    if "cost" in usage:
        return float(usage["cost"])
    said: int = usage["output_tokens"] if "output_tokens" in usage else usage["completion_tokens"]
    tokens = UNCOUNTED.get(provider.server, said) if case == "thinking" else said
    return (300 * PRICE.input + tokens * PRICE.output) / 1e6


@pytest.mark.few
@pytest.mark.parametrize("case", ["plain", "thinking"])
@pytest.mark.parametrize("name", providers())
async def test_the_money_limit_holds_by_the_server_count(name: str, case: str) -> None:
    provider = providers()[name]
    one = billed(provider, case)
    limits = Limits(max_cost=60 * one, concurrency=4)
    prices = {} if provider.server == "openrouter" else {provider.model: PRICE}
    with scripted(lambda _: provider.answer(case)) as server:
        address = server.url.removesuffix("/v1") + provider.path
        place = ModelServer(profile=provider.server, base_url=address, model=provider.model, key_variable="JUDGE_KEY")
        environment = {"JUDGE_KEY": "sk-0123456789abcdef"}
        servers = {"judge": place}
        journal = MemoryJournal()
        async with Caller(servers, limits, journal, prices, environment, clock=HeldClock()) as caller:
            calls = [caller.call(item, "judge", chat_of(f"q{item}", 300)) for item in range(100)]
            results = await asyncio.gather(*calls, return_exceptions=True)
        spent = len(server.received) * one
    assert {type(result) for result in results} == {StoredReply, Halt}
    assert journal.used.cost == pytest.approx(spent, rel=0.01)
    # Thoughts longer than any reply may be, and costs that only a reply tells, are known after others are on their way.
    assert 30 * one < spent <= (60 + 4) * one * 1.0001


def test_every_behaviour_has_its_source() -> None:
    for name, provider in providers().items():
        for case in CASES:
            cell = provider.cell(case)
            assert bool(cell.source) != bool(cell.none), (name, case)
