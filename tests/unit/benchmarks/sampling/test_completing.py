"""Generating completions with many models: provenance, resuming after an end, and independent failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from tests.drawn_pool import make_drawn_pool
from tests.sampling import answering, carry_out, completions, plan
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scripted
from workbench.app.demo import sample_folder
from workbench.benchmarks.sampling import asking
from workbench.benchmarks.sampling.asking import as_written
from workbench.benchmarks.sampling.completing import complete
from workbench.benchmarks.sampling.planning import plan_in, plan_of, planned
from workbench.core.database import sets
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, StoreError, UsageError
from workbench.core.files import take_lock
from workbench.core.project import Project, opened_project
from workbench.core.sets import NewSet
from workbench.data.store.importing import lock_path
from workbench.interchange.importing import import_files, plan_import
from workbench.llm.records import Reply
from workbench.measuring.columns import columns
from workbench.runs import lease as leases
from workbench.runs import session
from workbench.runs.generating import CompletionRequest
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.store import completing as stored
from workbench.runs.trust import NotTrustedError

QUESTIONS = [f"What is {number}?" for number in range(5)]
REFUSED = Scripted(401, body={"error": {"message": "wrong key"}})
TOO_LONG = Scripted(400, body={"error": {"message": "the prompt is too long"}})


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PART", 2)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_drawn_pool(tmp_path, QUESTIONS)
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answering(lambda model, question: f"{model} says {question}")) as made:
        yield made


def test_every_model_writes_its_samples_of_every_question(project: Project, server: ScriptedServer) -> None:
    models = {"a": "temperature = 0.5\nsamples = 2\nseed = 3", "org/b": 'model = "served-b"'}
    found = carry_out(project, plan(project, server.url, models))
    rows = completions(project)
    assert [row[1] for row in rows] == [key for n in range(5) for key in (f"q{n}/a/1", f"q{n}/a/2", f"q{n}/org/b/1")]
    assert [row[0] for row in rows] == list(range(1, 16))
    assert rows[2][2:4] == ("org/b", "served-b says What is 0?")
    assert rows[1][4] == {"sample": 2, "sampling": {"temperature": 0.5, "seed": 3}, "finish_reason": "stop"}
    assert (found.set, found.written, found.missing) == ("draw@1", 15, ())
    first = found.models[0]
    assert (first.wanted, first.there, first.calls, first.failed, first.halted) == (10, 10, 10, {}, None)
    info = run_info(project, first.run)
    assert (info.verifier, info.state) == ("completions/a", "complete")
    assert len(server.received) == 15


def test_the_prompt_of_the_plan_is_sent(project: Project, server: ScriptedServer) -> None:
    head = '[prompt]\nsystem = "Be brief."\ntemplate = "Q: {question}"'
    carry_out(project, plan(project, server.url, {"a": "top_p = 0.5\nmax_tokens = 9"}, head))
    sent = sorted(server.bodies, key=lambda body: body["messages"][1]["content"])[0]
    assert [message["content"] for message in sent["messages"]] == ["Be brief.", "Q: What is 0?"]
    assert (sent["top_p"], sent["max_tokens"]) == (0.5, 9)


def test_another_start_requests_only_new_models(project: Project, server: ScriptedServer) -> None:
    carry_out(project, plan(project, server.url, {"a": ""}))
    again = carry_out(project, plan(project, server.url, {"a": "", "b": ""}))
    more = carry_out(project, plan(project, server.url, {"a": "samples = 2"}))
    assert (again.written, more.written, len(server.received)) == (5, 5, 15)
    assert [row[1] for row in completions(project)[5:10]] == [f"q{n}/b/1" for n in range(5)]


def test_another_prompt_or_sampling_wants_another_name(project: Project, server: ScriptedServer) -> None:
    carry_out(project, plan(project, server.url, {"a": ""}))
    for lines, head in (("temperature = 1", ""), ("", '[prompt]\ntemplate = "{question}!"')):
        other = plan(project, server.url, {"a": lines}, head)
        with pytest.raises(UsageError, match="'completions/a' has another configuration"):
            carry_out(project, other)
        with pytest.raises(UsageError, match="Give the model another name"):
            planned(project, other)
    carry_out(project, plan(project, server.url, {"a": "concurrency = 1\nmax_calls = 9\nrpm = 1000"}))


def test_servers_of_a_file_want_trust_and_ones_by_hand_do_not(project: Project, server: ScriptedServer) -> None:
    with pytest.raises(NotTrustedError, match=r"127\.0\.0\.1"):
        complete(project, plan(project, server.url, {"a": ""}))
    assert server.received == []
    by_hand = plan_of(project, ["b"], {"base_url": server.url}, 1)
    with pytest.raises(UsageError, match="The questions are missing"):
        complete(project, by_hand)


def test_fewer_samples_than_there_are_is_complete(project: Project, server: ScriptedServer) -> None:
    carry_out(project, plan(project, server.url, {"a": "samples = 2"}))
    found = carry_out(project, plan(project, server.url, {"a": ""}))
    assert (found.models[0].there, found.models[0].wanted, found.missing) == (5, 5, ())


def test_a_claim_that_is_lost_ends_it_in_words(project: Project) -> None:
    def answer(received: Received) -> str:
        leases.lock_path(project.path).unlink()
        return "so"

    with scripted(answer) as server, pytest.raises(RunError, match="Another process has become"):
        carry_out(project, plan(project, server.url, {"a": "concurrency = 1"}))


def test_problems_of_code_are_rejected(tmp_path: Path, server: ScriptedServer) -> None:
    with opened_project(tmp_path / "p.db", create=True) as project:
        import_files(project, plan_import([sample_folder() / "code_problems.jsonl"]), dataset="code")
        by_hand = structs.replace(plan_of(project, ["a"], {"base_url": server.url}, 1), dataset="code")
        with pytest.raises(UsageError, match="code problems"):
            complete(project, by_hand)


def test_a_set_of_items_or_of_nothing_is_rejected(project: Project, server: ScriptedServer) -> None:
    with project.database.write() as connection:
        sets.put(connection, NewSet(name="items", kind="picks", seed=0, config="{}", report="{}"))
    wanted = plan(project, server.url, {"a": ""})
    file = project.path.parent / "plan.toml"
    for line, message in (
        ('set = "none"', "no set 'none'"),
        ('set = "items"', "no questions in items@1"),
        ('dataset = "none"', "no data set 'none'"),
        ('set = "draw"\ndataset = "pool"', "a set or a data set"),
    ):
        file.write_text(file.read_text("utf-8").replace('set = "draw"', line), "utf-8")
        with pytest.raises(UsageError, match=message):
            carry_out(project, plan_in(project, file))
        file.write_text(file.read_text("utf-8").replace(line, 'set = "draw"'), "utf-8")
    assert asking.plan_questions(project, wanted).questions == (1, 2, 3, 4, 5)


def test_a_refused_key_stops_its_model_alone(project: Project) -> None:
    refusing = True

    def answer(model: str, question: str) -> str | Scripted:
        return REFUSED if model == "b" and refusing else f"{model}: {question}"

    with scripted(answering(answer)) as server:
        wanted = plan(project, server.url, {"a": "", "b": "concurrency = 1", "c": ""})
        found = carry_out(project, wanted)
        refusing = False
        then = carry_out(project, wanted)
    a, b, c = found.models
    assert (a.there, b.there, c.there) == (5, 0, 5)
    assert "rejects calls" in (b.halted or "")
    assert (b.failed, b.unasked, found.missing) == ({}, 5, ("b",))
    assert run_info(project, b.run).state == "complete"
    assert (then.written, then.missing) == (5, ())


def test_a_server_that_waits_holds_up_no_other_model(project: Project) -> None:
    others, slow_may = threading.Event(), threading.Event()
    quick = 0

    def answer(received: Received) -> str | Scripted:
        nonlocal quick
        if received.body["model"] == "slow":
            return Scripted(body=chat_reply("late"), hold=slow_may)
        quick += 1
        if quick == 5:
            # The other models are called before the slow one has answered.
            others.set()
            slow_may.set()
        return "soon"

    with scripted(answer) as server:
        found = carry_out(project, plan(project, server.url, {"slow": "concurrency = 1", "quick": "concurrency = 1"}))
    assert others.is_set()
    assert [row[1] for row in completions(project)][:4] == ["q0/slow/1", "q0/quick/1", "q1/slow/1", "q1/quick/1"]
    assert found.missing == ()


def test_a_late_reply_keeps_its_place(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    # Storable completions are looked for between any two replies.
    monkeypatch.setattr(session, "POLL_S", 0.0)
    last = threading.Event()

    def answer(received: Received) -> Scripted:
        question = received.body["messages"][0]["content"]
        if question == "What is 4?":
            last.set()
        return Scripted(body=chat_reply("so"), hold=last if question == "What is 0?" else None)

    with scripted(answer) as server:
        carry_out(project, plan(project, server.url, {"a": "concurrency = 2"}))
    assert [row[1] for row in completions(project)] == [f"q{number}/a/1" for number in range(5)]


def test_permanent_failures_are_reported_and_retried_on_request(project: Project) -> None:
    failing = True

    def answer(model: str, question: str) -> str | Scripted:
        return TOO_LONG if failing and question == "What is 3?" else "so"

    with scripted(answering(answer)) as server:
        wanted = plan(project, server.url, {"a": ""})
        found = carry_out(project, wanted)
        asked = len(server.received)
        same = carry_out(project, wanted)
        assert len(server.received) == asked
        failing = False
        then = carry_out(project, wanted, again=True)
    (a,) = found.models
    assert (a.there, a.failed, a.unasked, found.missing) == (4, {"context_length": 1}, 0, ("a",))
    assert "too long" in a.details[0]
    assert (same.models[0].failed, same.written) == ({"context_length": 1}, 0)
    assert (then.written, then.missing) == (1, ())


def test_a_filtered_reply_is_no_completion(project: Project) -> None:
    def answer(received: Received) -> Scripted:
        reply = chat_reply("…")
        reply["choices"][0]["finish_reason"] = "content_filter"
        return Scripted(body=reply)

    with scripted(answer) as server:
        found = carry_out(project, plan(project, server.url, {"a": ""}))
    assert completions(project) == []
    assert found.models[0].failed == {"content_filter": 5}


def test_an_unstorable_text_is_no_completion(project: Project) -> None:
    with scripted(answering(lambda model, question: "a\0b" if "3" in question else "\x1b[31mred")) as server:
        wanted = plan(project, server.url, {"a": ""})
        found = carry_out(project, wanted)
    assert (found.written, found.models[0].failed, found.models[0].unasked) == (4, {"malformed": 1}, 0)
    assert planned(project, wanted).models[0].calls == 0
    assert completions(project)[0][3] == "\x1b[31mred"


def test_a_budget_of_a_model_and_one_of_all_hold_over_all_starts(project: Project) -> None:
    def answer(received: Received) -> Scripted:
        usage = {"prompt_tokens": 20, "completion_tokens": 100}
        return Scripted(body=chat_reply("so") | {"usage": usage})

    price = 'price = { input = 1000, output = 1000, date = "2026-11-01" }\nmax_tokens = 100\nconcurrency = 1'
    with scripted(answer) as server:
        few = carry_out(project, plan(project, server.url, {"a": "max_calls = 2", "b": ""}))
        assert [(one.there, one.unasked) for one in few.models] == [(2, 3), (5, 0)]
        assert "2 of 2 calls" in (few.models[0].halted or "")
        # A completion costs 0.12 dollars: three of the ten can be paid, and not one more by another start.
        models = {"c": price, "d": price}
        for _ in range(2):
            found = carry_out(project, plan(project, server.url, models, "max_cost = 0.4"))
            assert sum(one.there for one in found.models) == 3
        rest = carry_out(project, plan(project, server.url, models, "max_cost = 1.4"))
        assert rest.missing == ()
        unpriced = carry_out(project, plan(project, server.url, {"e": ""}, "max_cost = 1"))
    assert sum(one.cost or 0.0 for one in rest.models) == pytest.approx(1.2)
    assert "price of 'e' is not known" in (unpriced.models[0].halted or "")


class Died(BaseException):
    """Simulates a kill: no code handles it."""


@pytest.mark.few(3)
@pytest.mark.parametrize("parts", [0, 1, 2])
def test_a_killed_start_is_resumed_with_the_same_rows(
    tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    models = {"a": "samples = 2\ntemperature = 1", "b": ""}
    (tmp_path / "whole").mkdir()
    (tmp_path / "died").mkdir()
    whole, died = make_drawn_pool(tmp_path / "whole", QUESTIONS), make_drawn_pool(tmp_path / "died", QUESTIONS)
    carry_out(whole, plan(whole, server.url, models))
    server.received.clear()
    store, left = asking.Asking.store, parts

    def store_some(self: asking.Asking, replies: Iterator[tuple[str, CompletionRequest, Reply]]) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise Died
        return store(self, replies)

    wanted = plan(died, server.url, models)
    with monkeypatch.context() as patch:
        patch.setattr(asking.Asking, "store", store_some)
        with pytest.raises(Died):
            carry_out(died, wanted)
    assert len(completions(died)) == 6 * parts
    asked = len(server.received)
    found = carry_out(died, wanted)
    assert completions(died) == completions(whole)
    assert len(server.received) == 15
    assert found.written == 15 - 6 * parts
    assert asked <= 15
    whole.close()
    died.close()


def test_tables_include_generated_completions(project: Project, server: ScriptedServer) -> None:
    assert len(columns(project).item) == 0
    carry_out(project, plan(project, server.url, {"a": ""}))
    assert len(columns(project).item) == 5


@pytest.mark.parametrize("begins", ["before", "meanwhile"])
def test_no_completion_joins_while_an_import_runs(project: Project, begins: str) -> None:
    def begin() -> None:
        with project.database.write() as connection:
            connection.execute(
                "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, pid, "
                "started_at) VALUES (1, 'f', 'jsonl', 'running', 1, 9, 1, '2025-01-01T00:00:00Z')"
            )

    def answer(received: Received) -> str:
        if begins == "meanwhile" and received == there.received[0]:
            begin()
        return "so"

    with scripted(answer) as there:
        lock = take_lock(lock_path(project.path))
        assert lock is not None
        if begins == "before":
            begin()
        with lock, pytest.raises(StoreError, match="import is running"):
            carry_out(project, plan(project, there.url, {"a": ""}))
        with project.database.write() as connection:
            connection.execute("DELETE FROM imports")
        # No request is sent whose reply could not be stored.
        assert (len(there.received) == 0) is (begins == "before")
        begins = ""
        assert carry_out(project, plan(project, there.url, {"a": ""})).written == 5
        assert len(there.received) == 5


def test_an_id_with_another_text_is_not_overwritten(project: Project, server: ScriptedServer) -> None:
    with project.database.write() as connection:
        stored.add(
            connection,
            [stored.WrittenCompletion(question=1, key="q0/a/1", text="other", model="human", extra="{}")],
        )
    with pytest.raises(StoreError, match="'q0/a/1' already exists with another text"):
        carry_out(project, plan(project, server.url, {"a": ""}))
    assert [row[3] for row in completions(project)] == ["other"]


def test_another_process_at_work_is_waited_for_by_the_user(
    project: Project, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.runs import lease as claim_runner

    monkeypatch.setattr(claim_runner, "_PATIENCE_S", 0.0)
    other = Database(project.path)
    lease = Lease.acquire(other)
    assert lease is not None
    with pytest.raises(RunError, match="is active"):
        carry_out(project, plan(project, server.url, {"a": ""}))
    lease.end()
    other.close()


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(text="7"), "7"),
        (Reply(text="\n7", reasoning=" so \n"), "<think>\nso\n</think>\n\n7"),
        (Reply(text="<think>a</think>7", reasoning="a"), "<think>a</think>7"),
        (Reply(text="", reasoning="so", finish_reason="length"), "<think>\nso\n"),
        (Reply(text="", reasoning="so", finish_reason="stop"), "<think>\nso\n</think>\n\n"),
    ],
)
def test_thoughts_are_stored_as_written(reply: Reply, text: str) -> None:
    assert as_written(reply) == text


def test_an_import_that_died_holds_up_nothing(project: Project, server: ScriptedServer) -> None:
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, pid, "
            "started_at) SELECT 1, 'f', 'jsonl', 'running', 1, max(id) + 1, ?, '2025' FROM questions",
            (2**22 + 1,),
        )
    done = carry_out(project, plan(project, server.url, {"a": ""}))
    assert done.written == len(QUESTIONS)
    assert len(columns(project).item) == len(QUESTIONS)
