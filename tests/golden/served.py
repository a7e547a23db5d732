"""The responses of the reward server: a reward, and every rejection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

from tests.golden.scenes import Scenes
from tests.golden.settling import normalized
from tests.rewarding import Client
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.server import serving
from workbench.app.web.serve.addresses import Address
from workbench.training.choosing import Scale, load_reward_verifier

_ITEM = {"question": "1 + 1?", "reference": "2", "completion": "2"}
_REQUESTS: tuple[tuple[str, bytes], ...] = (
    ("/reward", json.dumps(_ITEM).encode()),
    ("/reward", json.dumps({"items": [_ITEM, {**_ITEM, "completion": "3"}]}).encode()),
    ("/reward", b"{"),
    ("/reward", b"[]"),
    ("/reward", b'{"question": 1}'),
    ("/reward", b'{"question": "q", "completion": "c"}'),
    ("/nothing", b"{}"),
    ("/health", b"{}"),
    ("/reward", b" " * 2048),
)


def answers(scenes: Scenes) -> Iterator[tuple[str, str]]:
    """Return the response to each request."""
    for name, text in asyncio.run(_all()):
        yield name, normalized(text, scenes.folder)


async def _all() -> list[tuple[str, str]]:
    return [piece async for piece in _answers()]


async def _answers() -> AsyncIterator[tuple[str, str]]:
    rules = RequestRules(
        address=Address("127.0.0.1", 0), token=None, max_body=1024, in_flight=1 << 20, hosts=frozenset()
    )
    async with serving(load_reward_verifier("exact", {}), Scale(undecided=None), rules, 100, 2, None) as server:
        client = Client(server.address.port)
        for number, (path, body) in enumerate(_REQUESTS, 1):
            answer = await client.post(path, body)
            text = json.dumps(answer.document, indent=1, ensure_ascii=False)
            yield f"reward-server {number} {path}", f"{body[:100].decode()}\n{answer.status}\n{text}\n"
        client.close()
