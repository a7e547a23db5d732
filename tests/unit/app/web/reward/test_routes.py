"""Request formats, and answers to invalid requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator

from schemas.documents import schema
from tests.rewarding import Client
from tests.unit.app.web.reward.conftest import Serving


@pytest_asyncio.fixture
async def client(served: Serving) -> AsyncIterator[Client]:
    async with served() as server:
        made = Client(server.address.port)
        yield made
        made.close()


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


async def test_one_item_in_the_native_format(client: Client) -> None:
    item = {"question": "1+1?", "reference": "2", "completion": "2", "subtype": "Integer", "id": "a"}
    answer = await client.post("/reward", encoded(item))
    Draft202012Validator(schema("reward-item")).validate(item)
    Draft202012Validator(schema("reward-answer")).validate(answer.document)
    assert answer.status == 200
    assert answer.document.pop("ms") >= 0
    assert answer.document == {
        "id": "a",
        "reward": 1.0,
        "verdict": "correct",
        "score": None,
        "reason": "text_equal",
        "rule": None,
    }


async def test_a_batch_keeps_its_order_and_ids(client: Client) -> None:
    items = [{"reference": str(n % 3), "completion": "1", "id": n} for n in range(20)]
    answer = await client.post("/reward", encoded({"items": items}))
    Draft202012Validator(schema("reward-answers")).validate(answer.document)
    assert [(one["id"], one["reward"]) for one in answer.document["items"]] == [
        (n, float(n % 3 == 1)) for n in range(20)
    ]
    assert (await client.post("/reward", b'{"items": []}')).document == {"items": []}


async def test_the_trainers_shapes(client: Client) -> None:
    columns = {"prompts": ["q", "q"], "completions": ["2", [{"role": "assistant", "content": "2"}]]}
    trl = {**columns, "solution": ["2", None], "more": [1, 2]}
    assert (await client.post("/trl", encoded(trl))).document == {"rewards": [1.0, None]}
    verl = {"data_source": "d", "solution_str": "2", "ground_truth": 2, "extra_info": {"question": "q", "index": 0}}
    right = {"score": 1.0, "acc": 1.0, "undecided": 0.0, "verdict": "correct", "reason": "text_equal"}
    assert (await client.post("/verl", encoded(verl))).document == right
    batch = {"solution_strs": ["2", "3"], "ground_truths": ["2", "2"], "extra_infos": [None, {}]}
    found = (await client.post("/verl", encoded(batch))).document
    assert [one["score"] for one in found["scores"]] == [1.0, 0.0]
    remote = {"query": ["q2</s>"], "prompts": ["q"], "labels": ["2"]}
    assert (await client.post("/openrlhf", encoded(remote))).document == {
        "rewards": [1.0],
        "scores": [1.0],
        "extra_logs": {"undecided": [0.0]},
    }


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/reward", b"", 400, None),
        ("/reward", b"{", 400, None),
        ("/reward", b"[]", 400, None),
        ("/reward", b"\xff\xfe", 400, None),
        ("/reward", b'{"reference": "\xff", "completion": ""}', 400, None),
        ("/reward", b'{"reference": "2"}', 400, "completion"),
        ("/reward", b'{"reference": "2", "completion": NaN}', 400, None),
        ("/reward", b'{"reference": "2", "completion": "2", "kompletion": "2"}', 400, "kompletion"),
        ("/reward", b'{"reference": 2, "completion": "2"}', 400, "reference"),
        ("/reward", b'{"items": 7}', 400, "items"),
        (
            "/reward",
            b'{"items": [{"reference": "2", "completion": "2"}, {"reference": "2"}]}',
            400,
            "items[1].completion",
        ),
        ("/reward", b'{"items": [], "item": 1}', 400, "item"),
        ("/reward", b'{"a":' * 100_000, 400, None),
        ("/reward", b'{"items":' + b"[" * 100_000, 400, None),
        ("/trl", b'{"prompts": ["q"], "completions": ["c"]}', 400, "ground_truth"),
        ("/trl", b'{"prompts": ["q"], "completions": [7], "answer": ["2"]}', 400, "completions[0]"),
        ("/trl", b'{"prompts": ["q"], "completions": ["c"], "answer": ["2", "3"]}', 400, "answer"),
        ("/trl", b'{"prompts": [7], "completions": [[{"content": 1e999}]]}', 400, "prompts[0]"),
        ("/trl", b'{"prompts": ["q"], "completions": ["c"], "answer": ["2"], "solution": ["2"]}', 400, None),
        ("/verl", b'{"solution_str": "2"}', 400, "ground_truth"),
        ("/verl", b'{"solution_strs": ["2"], "ground_truths": ["2"], "extra_infos": [7]}', 400, "extra_infos[0]"),
        ("/verl", b'{"solution_strs": ["2"], "ground_truths": []}', 400, "ground_truths"),
        ("/openrlhf", b'{"query": ["2"], "prompts": ["2"], "labels": [null]}', 400, "labels[0]"),
        ("/openrlhf", b'{"query": "2", "prompts": ["2"], "labels": ["2"]}', 400, "query"),
        ("/nothing", b"{}", 404, None),
        ("/health", b"{}", 405, None),
        ("/reward/../../etc/passwd", b"{}", 404, None),
    ],
    ids=range(27),
)
async def test_invalid_requests_are_answered_with_the_field(
    client: Client, path: str, body: bytes, status: int, field: str | None
) -> None:
    answer = await client.post(path, body)
    assert (answer.status, answer.document["field"]) == (status, field)
    assert 0 < len(answer.document["error"]) <= 300
    assert "Traceback" not in answer.document["error"]
    Draft202012Validator(schema("reward-refusal")).validate(answer.document)
    assert (await client.post("/reward", b'{"reference": "2", "completion": "2"}')).status == 200


async def test_too_many_items_for_one_request(served: Serving) -> None:
    async with served(queue=3) as server:
        client = Client(server.address.port)
        item = {"reference": "2", "completion": "2"}
        assert (await client.post("/reward", encoded({"items": [item] * 3}))).status == 200
        answer = await client.post("/reward", encoded({"items": [item] * 4}))
        assert (answer.status, answer.document["error"]) == (400, "4 items are too many for one request. At most: 3.")
        client.close()


@pytest.mark.few(2)
@pytest.mark.parametrize("undecided", [None, -1.0])
async def test_undecided_verdicts_get_the_configured_reward(served: Serving, undecided: float | None) -> None:
    async with served("staged", undecided=undecided, ms=1, timeout=0.3) as server:
        client = Client(server.address.port)
        answer = await client.post("/reward", b'{"reference": "2", "completion": "later hang"}')
        document = answer.document
        assert (document["verdict"], document["reason"], document["reward"]) == ("abstain", "timeout", undecided)
        answer = await client.post("/openrlhf", b'{"query": ["later hang"], "prompts": [""], "labels": ["2"]}')
        assert answer.document["rewards"] == [undecided or 0.0]
        assert answer.document["extra_logs"] == {"undecided": [1.0]}
        client.close()
