"""The routes: each reads one shape of request, has the items judged, and writes the same shape's answer."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from aiohttp import web
from msgspec import UNSET, Raw, Struct, structs

from workbench.app.web.reward.gate import HEALTH, Handler, RequestRefused, RewardGate, wrong_body
from workbench.app.web.reward.metrics import CONTENT_TYPE, Metrics
from workbench.core.errors import WorkbenchError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.training import frameworks
from workbench.training.choosing import Busy, Scale, finite, subtype
from workbench.training.records import (
    OpenRlhfRequest,
    ProbeSummary,
    RewardAnswer,
    RewardAnswers,
    RewardHealth,
    RewardItem,
    TrlRequest,
    TrlRewards,
    VerlBatch,
    VerlRequest,
    VerlScores,
)
from workbench.training.serving import AnyJudge

Judging = Callable[[Sequence[VerifierInput]], Awaitable[list[Verdict]]]
Shape = Callable[[bytes | bytearray, Judging, Scale], Awaitable[Struct]]
"""Reads a body, has its items judged, and gives the answer."""


class Served(Struct, frozen=True, kw_only=True):
    """What the server is made of.

    Attributes:
        probe: How the verifier was last probed; None if it never was.
    """

    judge: AnyJudge
    scale: Scale
    metrics: Metrics
    name: str
    version: str
    probe: ProbeSummary | None


async def reward_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """Our own: one item, or a batch under ``items``."""
    try:
        item = msgspec.json.decode(body, type=RewardItem)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(body, type=dict[str, Raw])
        if "items" not in fields:
            raise
    else:
        return (await _answers([item], judging, scale))[0]
    unknown = sorted(fields.keys() - {"items"})
    if unknown:
        raise RequestRefused(400, f"There is nothing beside items, such as {unknown[0][:100]!r}.", unknown[0])
    try:
        items = msgspec.json.decode(fields["items"], type=list[RewardItem])
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(_below("items", str(error))) from error
    return RewardAnswers(items=await _answers(items, judging, scale))


async def trl_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """TRL's: what its reward functions are called with."""
    request = msgspec.json.decode(body, type=TrlRequest)
    columns = {name: value for name, value in structs.asdict(request).items() if value is not UNSET}
    rows = frameworks.trl_inputs(columns.pop("prompts"), columns.pop("completions"), columns)
    verdicts = await judging([row for row in rows if row is not None])
    return TrlRewards(rewards=frameworks.filled([scale.reward(verdict) for verdict in verdicts], rows))


async def verl_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """verl's: one completion, or a batch under the plural names."""
    if "solution_strs" in msgspec.json.decode(body, type=dict[str, Raw]):
        batch = msgspec.json.decode(body, type=VerlBatch)
        extras = None if batch.extra_infos is None else [_plain(extra) for extra in batch.extra_infos]
        verdicts = await judging(frameworks.batch_inputs(batch.solution_strs, batch.ground_truths, extras))
        return VerlScores(scores=[frameworks.score(verdict, scale) for verdict in verdicts])
    one = msgspec.json.decode(body, type=VerlRequest)
    verdicts = await judging([frameworks.one_input(one.solution_str, one.ground_truth, _plain(one.extra_info))])
    return frameworks.score(verdicts[0], scale)


async def openrlhf_shape(body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    """OpenRLHF's: what it posts to a remote reward model."""
    request = msgspec.json.decode(body, type=OpenRlhfRequest)
    verdicts = await judging(frameworks.inputs(request.query, request.prompts, request.labels, "query"))
    return frameworks.rewards(verdicts, scale)


SHAPES: dict[str, Shape] = {
    "/reward": reward_shape,
    "/trl": trl_shape,
    "/verl": verl_shape,
    "/openrlhf": openrlhf_shape,
}


def add_routes(application: web.Application, served: Served, gate: RewardGate) -> None:
    """Add all routes; each has a path of its own, so that there is none to make up."""
    for path, shape in SHAPES.items():
        application.router.add_post(path, _judged(path, shape, served, gate))

    async def health(_: web.Request) -> web.Response:
        state = "stopping" if gate.stopping else served.judge.state
        document = RewardHealth(
            live=True,
            ready=state == "ready",
            state=state,
            trouble=served.judge.trouble,
            verifier=served.name,
            version=served.version,
            waiting=served.judge.waiting,
            probe=served.probe,
        )
        return _json(document, 200 if document.ready else 503)

    async def metrics(_: web.Request) -> web.Response:
        ready = served.judge.state == "ready" and not gate.stopping
        text = served.metrics.text(waiting=served.judge.waiting, in_flight=gate.in_flight, ready=ready)
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    application.router.add_get(HEALTH, health)
    application.router.add_get("/metrics", metrics)


def _judged(path: str, shape: Shape, served: Served, gate: RewardGate) -> Handler:
    """A handler that reads, judges and answers."""

    async def handler(request: web.Request) -> web.Response:
        status = 500
        try:
            async with gate.body(request) as body:
                began, at_once = time.perf_counter(), True

                async def judging(items: Sequence[VerifierInput]) -> list[Verdict]:
                    nonlocal at_once
                    verdicts, at_once = await served.judge.verdicts(items)
                    for verdict in verdicts:
                        served.metrics.judged(verdict.outcome.word, verdict.reason)
                    return verdicts

                answer = await _shaped(shape, body, judging, served.scale)
                served.metrics.took(time.perf_counter() - began, fast=at_once)
            status = 200
            return _json(answer)
        except RequestRefused as refused:
            status = refused.status
            raise
        finally:
            served.metrics.requested(path, status)

    return handler


async def _shaped(shape: Shape, body: bytes | bytearray, judging: Judging, scale: Scale) -> Struct:
    try:
        return await shape(body, judging, scale)
    except Busy as error:
        raise RequestRefused(503, "Too many items wait. Ask again soon.") from error
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
        )
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def _below(field: str, error: str) -> str:
    """A message of the JSON reader about a value that is a field of the body."""
    wrong, place, rest = error.partition(" - at `$")
    return f"{wrong}{place}.{field}{rest}" if place else f"{wrong} - at `$.{field}`"


def _plain(extra: Struct | None) -> dict[str, object] | None:
    return None if extra is None else structs.asdict(extra)


def _json(document: Struct, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(document), content_type="application/json")
