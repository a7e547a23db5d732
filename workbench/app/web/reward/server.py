"""The server: where it listens, what it needs to run, and its end, at which everything accepted is answered."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable

from aiohttp import web
from msgspec import structs

from workbench.app.web.listening import Connections, listen, without_traces
from workbench.app.web.reward.gate import RETRY_S, RequestRules, RewardGate
from workbench.app.web.reward.metrics import Metrics
from workbench.app.web.reward.routes import Served, add_routes
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError
from workbench.training.choosing import RewardVerifier, Scale
from workbench.training.serving import AnyJudge, judging

HTTP_LOG = logging.getLogger("workbench.reward.http")
without_traces(HTTP_LOG)

IDLE_S = 60.0
"""How long a connection may stand without a whole request."""

MOST_CONNECTIONS = 1_000

_FULL = (
    f"HTTP/1.1 503 Service Unavailable\r\nRetry-After: {RETRY_S}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
).encode()


class RewardServer:
    """A verifier that answers over HTTP.

    Attributes:
        address: Where it listens, with the port it has got.
    """

    def __init__(self, chosen: RewardVerifier, judge: AnyJudge, scale: Scale, rules: RequestRules) -> None:
        self.address = rules.address
        self._gate = RewardGate(rules)
        self._judge = judge
        served = Served(
            judge=judge,
            scale=scale,
            metrics=Metrics(chosen.name, chosen.verifier.version),
            name=chosen.name,
            version=chosen.verifier.version,
            probe=chosen.probe,
        )
        application = web.Application(middlewares=[self._gate.check])
        add_routes(application, served, self._gate)
        self._runner = web.AppRunner(
            application,
            handle_signals=False,
            access_log=None,
            logger=HTTP_LOG,
            keepalive_timeout=IDLE_S,
            shutdown_timeout=1.0,
            # What is sent all the same to a request that was refused is not waited for.
            lingering_time=0,
            auto_decompress=False,
        )
        self._listening: asyncio.Server | None = None

    async def start(self, listening: socket.socket) -> None:
        """Take connections."""
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        server = self._runner.server
        assert server is not None
        connections = Connections(server, self._gate.known, MOST_CONNECTIONS, _FULL)
        self._listening = await loop.create_server(connections, sock=listening)

    async def stop(self) -> None:
        """Take nothing more, and answer what was accepted."""
        self._gate.stopping = True
        if self._listening is not None:
            self._listening.close()
        await self._gate.until_idle()

    async def end(self) -> None:
        """Close all connections."""
        if self._listening is not None:
            self._listening.close()
        await self._runner.cleanup()


@contextlib.asynccontextmanager
async def serving(
    chosen: RewardVerifier,
    scale: Scale,
    rules: RequestRules,
    most_waiting: int | None,
    workers: int | None,
    timeout: float | None,
) -> AsyncIterator[RewardServer]:
    """A server that runs as long as the context; for the arguments and further errors see `judging`.

    Raises:
        UsageError: The port can't be had.
    """
    with listen(rules.address) as listening:
        address = structs.replace(rules.address, port=listening.getsockname()[1])
        async with judging(chosen, most_waiting, workers, timeout) as judge:
            server = RewardServer(chosen, judge, scale, structs.replace(rules, address=address))
            try:
                await server.start(listening)
                yield server
                await server.stop()
            finally:
                # Whoever waits still hears that there will be no answer.
                await judge.close()
                await server.end()


def serve(
    chosen: RewardVerifier,
    scale: Scale,
    rules: RequestRules,
    most_waiting: int | None,
    workers: int | None,
    timeout: float | None,
    on_ready: Callable[[Address], None],
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what was accepted; a second signal ends it at once.

    Args:
        on_ready: Called with the address when connections are taken.

    Raises:
        UsageError: The port can't be had, or other machines could reach the server and need no token.
    """
    if rules.address.is_open and rules.token is None:
        raise UsageError(
            f"Other machines can reach {rules.address.host}.", "Name a variable that holds a token: --token-env NAME"
        )

    async def until_told() -> None:
        ended = asyncio.Event()
        async with serving(chosen, scale, rules, most_waiting, workers, timeout) as server:
            _on_signals(ended)
            # What is there now stays: collecting garbage never has to look at it again.
            gc.freeze()
            on_ready(server.address)
            await ended.wait()

    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(until_told())


def _on_signals(ended: asyncio.Event) -> None:
    """Set the event at the first signal, and end the task that is running now at the second."""
    task = asyncio.current_task()
    assert task is not None

    def told() -> None:
        if ended.is_set():
            task.cancel()
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told)
