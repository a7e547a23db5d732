"""The reward server: address, resources, and a shutdown that answers everything accepted."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from msgspec import UNSET, Raw, Struct, structs

from workbench.app.web.listening import Connections, listen, serving_on, without_traces
from workbench.app.web.reward.gate import HEALTH, RETRY_S, Handler, RequestRefused, RequestRules, RewardGate, wrong_body
from workbench.app.web.reward.metrics import CONTENT_TYPE, Metrics
from workbench.app.web.reward.processes import Board, Crowd, ProcessMember, ProcessState, merged, state_of
from workbench.app.web.serve.addresses import Address
from workbench.core.columns import subtype
from workbench.core.errors import UsageError, WorkbenchError, opt
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import UNSENDABLE, is_encodable
from workbench.training import frameworks
from workbench.training.choosing import Busy, RewardVerifier, Scale, finite
from workbench.training.fair import CLIENT
from workbench.training.pay import SuiteVerdict
from workbench.training.records import (
    OpenRlhfRequest,
    RewardAnswer,
    RewardAnswers,
    RewardHealth,
    RewardItem,
    TestCounts,
    TrlRequest,
    TrlRewards,
    VerlBatch,
    VerlRequest,
    VerlScores,
)
from workbench.training.serving import AsyncJudge, open_judge
from workbench.training.testing import with_tests

# -- The routes: each reads one shape of request, has the items judged, and writes the same shape's answer.


Judging = Callable[[Sequence[VerifierInput]], Awaitable[list[Verdict]]]
Shape = Callable[[bytes | bytearray, Judging, Scale], Awaitable[Struct]]
"""Reads a body, judges its items, and returns the answer."""
Body = TypeVar("Body")


class Served(Struct, frozen=True, kw_only=True):
    """The parts of the server.

    Attributes:
        beside: This process as one of several; None if there is only one.
    """

    chosen: RewardVerifier
    judge: AsyncJudge
    scale: Scale
    metrics: Metrics
    beside: ProcessMember | None = None

    def own_state(self, gate: RewardGate) -> ProcessState:
        state = "stopping" if gate.stopping else self.judge.state
        figures = self.metrics.text(
            waiting=self.judge.waiting,
            in_flight=gate.in_flight,
            ready=state == "ready",
            stages=self.judge.stages,
            nodes=() if self.chosen.cluster is None else self.chosen.cluster.nodes,
        )
        return ProcessState(figures=figures, state=state, trouble=self.judge.trouble, waiting=self.judge.waiting)

    def all_states(self, gate: RewardGate) -> list[ProcessState]:
        own = self.own_state(gate)
        return [own] if self.beside is None else self.beside.tell(own)


async def reward_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """Answer a request in workbench's own format: one item, or a batch under ``items``."""
    try:
        item = _read(body, RewardItem)
    except msgspec.ValidationError:
        fields = _body_fields(body)
        if "items" not in fields:
            raise
    else:
        return (await _answers([item], judging, scale))[0]
    unknown = sorted(fields.keys() - {"items"})
    if unknown:
        raise RequestRefused(400, f"items allows no other field, such as {unknown[0][:100]!r}.", unknown[0])
    try:
        items = _read(fields["items"], list[RewardItem])
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_error_within_field("items", str(error))) from error
    return RewardAnswers(items=await _answers(items, judging, scale))


async def trl_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    request = _read(body, TrlRequest)
    columns = {name: value for name, value in structs.asdict(request).items() if value is not UNSET}
    if "tests" in columns:
        columns = with_tests(columns, None, len(request.completions))
    rows = frameworks.trl_inputs(columns.pop("prompts"), columns.pop("completions"), columns)
    verdicts = await judging([row for row in rows if row is not None])
    return TrlRewards(rewards=frameworks.align_with_rows([scale.reward(verdict) for verdict in verdicts], rows))


async def verl_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """Answer a request in verl's format: one completion, or a batch under the plural names."""
    if "solution_strs" in _body_fields(body):
        batch = _read(body, VerlBatch)
        extras = None if batch.extra_infos is None else [_as_dict(extra) for extra in batch.extra_infos]
        verdicts = await judging(frameworks.batch_inputs(batch.solution_strs, batch.ground_truths, extras))
        return VerlScores(scores=[frameworks.score(verdict, scale) for verdict in verdicts])
    one = _read(body, VerlRequest)
    verdicts = await judging([frameworks.one_input(one.solution_str, one.ground_truth, _as_dict(one.extra_info))])
    return frameworks.score(verdicts[0], scale)


async def openrlhf_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """Answer a request in OpenRLHF's format for remote reward models."""
    request = _read(body, OpenRlhfRequest)
    verdicts = await judging(frameworks.inputs(request.query, request.prompts, request.labels, "query"))
    return frameworks.rewards(verdicts, scale)


SHAPES: dict[str, Shape] = {
    "/reward": reward_shape,
    "/trl": trl_shape,
    "/verl": verl_shape,
    "/openrlhf": openrlhf_shape,
}


def add_routes(application: web.Application, served: Served, gate: RewardGate) -> None:
    """Add all routes; each has a fixed path, so none is built from input."""
    for path, shape in SHAPES.items():
        application.router.add_post(path, _make_handler(path, shape, served, gate))

    processes = 1 if served.beside is None else served.beside.processes

    async def health(_: web.Request) -> web.Response:
        told = served.all_states(gate)
        state = state_of(told, processes)
        document = RewardHealth(
            live=True,
            ready=state == "ready",
            state=state,
            trouble=next((one.trouble for one in told if one.trouble is not None), None),
            verifier=served.chosen.name,
            version=served.chosen.verifier.version,
            waiting=sum(one.waiting for one in told),
            processes=processes,
            identity=served.chosen.identity,
            probe=served.chosen.probe,
        )
        return _json(document, 200 if document.ready else 503)

    async def metrics(_: web.Request) -> web.Response:
        text = merged([one.figures for one in served.all_states(gate)])
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    application.router.add_get(HEALTH, health)
    application.router.add_get("/metrics", metrics)


def _make_handler(path: str, shape: Shape, served: Served, gate: RewardGate) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        status = 500
        CLIENT.set(_client_of(request))
        try:
            async with gate.body(request) as body:
                began, at_once = time.perf_counter(), True

                async def judging(items: Sequence[VerifierInput]) -> list[Verdict]:
                    nonlocal at_once
                    verdicts, at_once = await _verdicts(served.judge, items)
                    for verdict in verdicts:
                        served.metrics.judged(verdict)
                    return verdicts

                answer = await _answer_in_shape(shape, body, judging, served.scale)
                served.metrics.took(time.perf_counter() - began, fast=at_once)
            status = 200
            return _json(answer)
        except UnicodeEncodeError as error:
            status = 400
            raise RequestRefused(400, "id: it holds half a character.", "id") from error
        except RequestRefused as refused:
            status = refused.status
            raise
        except asyncio.CancelledError:
            status = _CLIENT_GONE
            raise
        finally:
            served.metrics.requested(path, status)

    return handler


_CLIENT_GONE = 499
"""The status counted for a request whose client has disconnected."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _client_of(request: web.Request) -> str:
    """Return the client's name: ``X-Client``, or its address."""
    peer = request.transport.get_extra_info("peername") if request.transport is not None else None
    return (request.headers.get("X-Client") or str(peer))[:200]


async def _verdicts(judge: AsyncJudge, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
    texts = [item for item in items if is_encodable(item)]
    verdicts, at_once = await judge.verdicts(texts)
    if len(texts) < len(items):
        found = iter(verdicts)
        verdicts = [next(found) if is_encodable(item) else UNSENDABLE for item in items]
    return verdicts, at_once


def _read(given: Any, kind: type[Body]) -> Body:
    """Decode a body, or a part of one; strings may hold lone surrogates, as tokenizers leave them.

    Raises:
        msgspec.DecodeError: It is invalid.
    """
    if not isinstance(given, (bytes, bytearray, Raw)):
        return msgspec.convert(given, kind)
    try:
        return msgspec.json.decode(given, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        return msgspec.convert(_decode_with_surrogates(given, error), kind)


def _body_fields(body: bytes | bytearray) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Raw])
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        return msgspec.convert(_decode_with_surrogates(body, error), dict[str, Any])


def _decode_with_surrogates(given: bytes | bytearray | Raw, error: msgspec.DecodeError) -> Any:
    text = bytes(given).decode()
    if _SURROGATE.search(text) is None:
        raise error
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except ValueError:
        raise error from None


def _reject_constant(name: str) -> None:
    raise ValueError(name)


async def _answer_in_shape(shape: Shape, body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    try:
        return await shape(body, judging, scale)
    except Busy as error:
        raise RequestRefused(503, "Too many items are waiting. Try again soon.") from error
    except (WorkbenchError, msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise wrong_body(error) from error


async def _answers(items: Sequence[RewardItem], judging: Judging, scale: Scale) -> list[RewardAnswer]:
    verdicts = await judging(
        [
            VerifierInput(
                item=row,
                question=item.question,
                reference=item.reference,
                completion=item.completion,
                subtype=subtype("subtype", item.subtype),
            )
            for row, item in enumerate(items)
        ]
    )
    return [
        RewardAnswer(
            id=item.id,
            reward=scale.reward(verdict),
            verdict=verdict.outcome.word,
            score=finite(verdict.score),
            reason=verdict.reason,
            rule=verdict.rule,
            ms=round(verdict.ms, 3),
            tests=UNSET
            if not isinstance(verdict, SuiteVerdict)
            else TestCounts(passed=verdict.passed, total=verdict.total, forgeable=verdict.forgeable),
        )
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def _error_within_field(field: str, error: str) -> str:
    wrong, place, rest = error.partition(" - at `$")
    return f"{wrong}{place}.{field}{rest}" if place else f"{wrong} - at `$.{field}`"


def _as_dict(extra: Struct | None) -> dict[str, object] | None:
    return None if extra is None else structs.asdict(extra)


def _json(document: Struct, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(document), content_type="application/json")


HTTP_LOG = logging.getLogger("workbench.reward.http")
without_traces(HTTP_LOG)
IDLE_S = 60.0
"""Seconds a connection may be idle without a complete request."""
MOST_CONNECTIONS = 1_000
_FULL = (
    f"HTTP/1.1 503 Service Unavailable\r\nRetry-After: {RETRY_S}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
).encode()


class RewardServer:
    """A verifier that answers over HTTP.

    Attributes:
        address: The address it listens on, with the actual port.
        accepting: Accepts connections.
    """

    accepting: asyncio.Server

    def __init__(
        self,
        chosen: RewardVerifier,
        judge: AsyncJudge,
        scale: Scale,
        rules: RequestRules,
        beside: ProcessMember | None = None,
    ) -> None:
        self.address = rules.address
        self._gate = RewardGate(rules, beside)
        metrics = Metrics(chosen.name, chosen.verifier.version)
        self._served = Served(chosen=chosen, judge=judge, scale=scale, metrics=metrics, beside=beside)
        self.application = web.Application(middlewares=[self._gate.check])
        add_routes(self.application, self._served, self._gate)

    def connections(self, server: web.Server) -> Connections:
        return Connections(server, self._gate.known, MOST_CONNECTIONS, _FULL)

    def tell(self) -> None:
        self._served.all_states(self._gate)

    async def stop(self) -> None:
        """Accept no more requests, and wait until the accepted ones are answered."""
        self._gate.stopping = True
        self.accepting.close()
        await self._gate.idle.wait()


@contextlib.asynccontextmanager
async def serving(
    chosen: RewardVerifier,
    scale: Scale,
    rules: RequestRules,
    most_waiting: int | None,
    workers: int | None,
    timeout: float | None,
    beside: ProcessMember | None = None,
) -> AsyncIterator[RewardServer]:
    """Run a server as long as the context; for the arguments and further errors see `open_judge`.

    Raises:
        UsageError: The port is not available.
    """
    with listen(rules.address, shared=beside is not None) as listening:
        address = structs.replace(rules.address, port=listening.getsockname()[1])
        async with open_judge(chosen, most_waiting, workers, timeout) as judge:
            server = RewardServer(chosen, judge, scale, structs.replace(rules, address=address), beside)
            async with serving_on(
                listening,
                server.application,
                HTTP_LOG,
                server.connections,
                keepalive_timeout=IDLE_S,
                shutdown_timeout=1.0,
                auto_decompress=False,
                # Stop judging for a disconnected client.
                handler_cancellation=True,
            ) as server.accepting:
                try:
                    yield server
                    await server.stop()
                finally:
                    # Waiting clients are still told that there will be no answer.
                    await judge.close()


def serve(
    chosen: RewardVerifier,
    scale: Scale,
    rules: RequestRules,
    most_waiting: int | None,
    workers: int | None,
    timeout: float | None,
    on_ready: Callable[[Address], None],
    processes: int | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what was accepted; a second signal ends it at once.

    Args:
        on_ready: Called with the address once connections are accepted.
        processes: Number of processes on one port; by default one per core, at most `_MAX_PROCESSES`, if
            each can judge by itself.

    Raises:
        UsageError: The port is not available, or other machines could reach the server without a token.
    """
    if rules.address.is_open and rules.token is None:
        raise UsageError(f"Other machines can reach {rules.address.host}.", f"Set a token: {opt.token_env:NAME}")

    if processes is None:
        is_single = chosen.journal is not None or chosen.by_tests or sys.platform != "linux"
        processes = 1 if is_single else min(os.cpu_count() or 1, _MAX_PROCESSES)
    if processes > 1 and workers is None and chosen.by_tests:
        workers = max(1, (os.cpu_count() or 1) // processes)
    opened = partial(serving, chosen, scale, most_waiting=most_waiting, workers=workers, timeout=timeout)
    if processes > 1:
        _serve_in_processes(chosen, opened, rules, on_ready, processes)
        return

    async def until_signalled() -> None:
        ended = asyncio.Event()
        async with opened(rules) as server:
            _stop_on_signals(ended)
            # What is there now stays: collecting garbage never has to look at it again.
            gc.freeze()
            on_ready(server.address)
            await ended.wait()

    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(until_signalled())


_REPORT_S = 0.25
_MAX_PROCESSES = 4
"""Default maximum of processes: each has as many workers as one alone."""


def _serve_in_processes(
    chosen: RewardVerifier,
    opened: Callable[..., contextlib.AbstractAsyncContextManager[RewardServer]],
    rules: RequestRules,
    on_ready: Callable[[Address], None],
    processes: int,
) -> None:
    if chosen.journal is not None:
        raise UsageError(
            f"{chosen.name!r} asks model servers: only one process can write its database.",
            f"Leave {opt.processes} out.",
        )
    if chosen.cluster is not None:
        raise UsageError(
            "Only one process can assign solutions to the nodes of a cluster.", f"Leave {opt.processes} out."
        )
    board = Board(processes)

    def run(address: Address, number: int, listens: Callable[[], None], life: int) -> None:
        async def until_signalled() -> None:
            ended = asyncio.Event()
            own = structs.replace(rules, address=address)
            beside = ProcessMember(board, number)
            async with opened(own, beside=beside) as server:
                _stop_on_signals(ended)
                asyncio.get_running_loop().add_reader(life, ended.set)
                gc.freeze()
                listens()
                while not ended.is_set():
                    server.tell()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(ended.wait(), _REPORT_S)
                asyncio.get_running_loop().remove_reader(life)

        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(until_signalled())

    Crowd(rules.address, processes, run).serve(on_ready)


def _stop_on_signals(ended: asyncio.Event) -> None:
    task = asyncio.current_task()
    assert task is not None

    def end() -> None:
        if ended.is_set():
            task.cancel()
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
