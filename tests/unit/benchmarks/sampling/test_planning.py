"""The estimate of a completion plan, before any request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drawn_pool import make_drawn_pool
from tests.sampling import answering, carry_out, plan
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from workbench.benchmarks.records import Expected
from workbench.benchmarks.sampling.asking import Asking
from workbench.benchmarks.sampling.planning import plan_in, planned
from workbench.core.database.connection import Database
from workbench.core.project import Project

NOWHERE = "http://127.0.0.1:9/v1"
PRICE = 'price = { input = 10, output = 100, date = "2026-11-01" }'


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_drawn_pool(tmp_path, [f"What is {number}?" for number in range(4)])
    yield made
    made.close()


def test_the_estimate_before_any_request(project: Project) -> None:
    models = {
        "a": f"max_tokens = 50\nsamples = 2\nrpm = 2\ntpm = 1000\n{PRICE}",
        "b": f"rpm = 1\ntpm = 1000000\n{PRICE}",
        "c": "",
    }
    report = planned(project, plan(project, NOWHERE, models, "max_cost = 3"))
    a, b, c = report.models
    assert (report.set, report.questions, report.max_cost) == ("draw@1", 4, 3.0)
    assert (a.calls, a.there, a.stored, a.samples, a.failed, a.measured) == (8, 0, 0, 2, {}, False)
    assert a.completion_tokens == Expected(usual=400.0, most=400.0)
    assert a.reply_tokens == 50.0
    # 2 a minute are slower than 1,000 tokens a minute.
    assert a.seconds == 240.0
    assert a.cost is not None
    assert a.cost.usual == pytest.approx((a.prompt_tokens * 10 + 400 * 100) / 1e6)
    assert (b.completion_tokens, b.seconds) == (Expected(usual=4000.0, most=None), 240.0)
    assert b.cost is not None
    assert b.cost.most is None
    assert (c.cost, c.seconds) == (None, None)
    total = report.total
    assert (total.models, total.completions, total.calls, total.unpriced, total.seconds) == (3, 16, 16, 1, 240.0)
    assert total.completion_tokens == Expected(usual=8400.0, most=None)
    assert total.cost is not None
    assert total.cost.usual == pytest.approx(a.cost.usual + b.cost.usual)
    assert report.missing == ("a", "b", "c")


def test_a_token_is_four_bytes_of_the_request(project: Project) -> None:
    (one,) = planned(project, plan(project, NOWHERE, {"a": ""})).models
    with scripted(answering(lambda model, question: "so")) as server:
        carry_out(project, plan(project, server.url, {"a": ""}))
        assert one.prompt_tokens == sum(len(received.raw) // 4 + 1 for received in server.received)


def test_the_estimate_after_some_requests(project: Project) -> None:
    def answer(received: Received) -> Scripted:
        question = received.body["messages"][0]["content"]
        if question == "What is 3?":
            return Scripted(400, body={"error": {"message": "the prompt is too long"}})
        return Scripted(body=chat_reply("so") | {"usage": {"prompt_tokens": 10, "completion_tokens": 70}})

    with scripted(answer) as server:
        carry_out(project, plan(project, server.url, {"a": "max_calls = 3\nconcurrency = 1\nmax_tokens = 80"}))
        wanted = plan(project, server.url, {"a": "concurrency = 1\nmax_tokens = 80\nsamples = 2"})
        half = planned(project, wanted).models[0]
        assert (half.there, half.calls, half.failed) == (3, 5, {})
        assert (half.reply_tokens, half.measured) == (70.0, True)
        assert half.completion_tokens == Expected(usual=350.0, most=400.0)
        carry_out(project, wanted)
        asked = len(server.received)
        whole, again = planned(project, wanted), planned(project, wanted, again=True)
        assert len(server.received) == asked
    assert (whole.models[0].there, whole.models[0].calls, whole.models[0].failed) == (6, 0, {"context_length": 2})
    assert (again.models[0].calls, again.models[0].failed) == (2, {})
    assert (whole.total.failed, whole.total.cost, whole.missing) == (2, None, ("a",))


def test_stored_replies_are_not_counted_as_calls(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(answering(lambda model, question: "so")) as server:
        wanted = plan(project, server.url, {"a": ""})
        with monkeypatch.context() as patch:
            patch.setattr(Asking, "store", lambda self, replies: 0)
            assert carry_out(project, wanted).written == 0
        one = planned(project, wanted).models[0]
        assert (one.there, one.stored, one.calls, one.prompt_tokens) == (0, 4, 0, 0)
        assert carry_out(project, wanted).written == len(server.received) == 4


def test_a_plan_can_use_a_whole_dataset(project: Project) -> None:
    file = project.path.parent / "plan.toml"
    plan(project, NOWHERE, {"a": ""})
    file.write_text(file.read_text("utf-8").replace('set = "draw"', 'dataset = "pool"'), "utf-8")
    report = planned(project, plan_in(project, file))
    assert (report.set, report.dataset, report.questions) == (None, "pool", 4)


def test_nothing_is_written(project: Project) -> None:
    watching = Database(project.path)
    before = watching.data_version()
    planned(project, plan(project, NOWHERE, {"a": ""}))
    assert watching.data_version() == before
    watching.close()
