"""Reward servers in the process of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.background import install_plugin
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.server import RewardServer, serving
from workbench.app.web.serve.addresses import Address
from workbench.training.choosing import Scale, load_reward_verifier

Serving = Callable[..., AbstractAsyncContextManager[RewardServer]]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Makes a server of a verifier (of ``tests/plugin`` too) on a free port."""
    install_plugin(tmp_path, monkeypatch)

    @asynccontextmanager
    async def make(
        kind: str = "exact",
        *,
        undecided: float | None = None,
        token: str | None = None,
        max_body: int = 4 << 20,
        queue: int | None = 100,
        in_flight: int = 256 << 20,
        hosts: frozenset[str] = frozenset(),
        timeout: float | None = None,
        **options: Any,
    ) -> AsyncIterator[RewardServer]:
        rules = RequestRules(
            address=Address("127.0.0.1", 0), token=token, max_body=max_body, in_flight=in_flight, hosts=hosts
        )
        scale = Scale(undecided=undecided)
        given = {name: str(value) for name, value in options.items()}
        async with serving(load_reward_verifier(kind, given), scale, rules, queue, 2, timeout) as server:
            yield server

    return make
