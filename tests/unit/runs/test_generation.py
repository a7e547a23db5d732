"""Generated texts: requested once, stored permanently, limited by a budget, and resumed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.data.store.browsing import newest_runs, runs_so_far
from workbench.llm.records import PromptMessage, Sampling
from workbench.measuring.accuracy import accuracy
from workbench.runs import lease as claim_runner
from workbench.runs.generation import Models, ServerGeneration, WritingRequest, generating, models_from
from workbench.runs.journal import RunJournal
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info, runs
from workbench.runs.trust import NotTrustedError
from workbench.runs.verifying import configured, resume, start
from workbench.statistics.records.probe import JUDGES_NOTHING


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(2))
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(lambda received: f"about {received.body['messages'][0]['content']}") as made:
        yield made


def request(text: str, sample: int = 0, model: str = "") -> WritingRequest:
    return WritingRequest(messages=(PromptMessage("user", text),), sample=sample, model=model)


def models(project: Project, server: ScriptedServer, *names: str, **options: object) -> Models:
    given = {"base_url": server.url, **{name: str(value) for name, value in options.items()}}
    return models_from(project, names or ("m",), given, Sampling(temperature=1.0))


def ask(
    project: Project, chosen: Models, *texts: WritingRequest, name: str = "gen"
) -> tuple[list[str | None], ServerGeneration]:
    with generating(project, name, chosen, {"prompt": "p@1"}) as writer:
        return writer.ask(texts), writer


def test_replies_follow_the_order_of_requests_and_are_requested_once(project: Project, server: ScriptedServer) -> None:
    chosen = models(project, server)
    texts = [request(f"t{number % 3}") for number in range(9)]
    with generating(project, "gen", chosen, {}) as writer:
        assert writer.ask(texts) == [f"about t{number % 3}" for number in range(9)]
        assert writer.ask(texts[:2]) == ["about t0", "about t1"]
        assert writer.ask(()) == []
    assert len(server.received) == 3
    info = run_info(project, writer.run)
    assert info.usage is not None
    assert (info.usage.calls, info.usage.answered, info.usage.reused) == (3, 3, 8)
    assert (info.state, info.completed_at, info.items) == ("complete", None, 0)


def test_stored_replies_are_reused_after_a_restart_and_by_other_names(project: Project, server: ScriptedServer) -> None:
    chosen = models(project, server)
    first, writer = ask(project, chosen, request("a"), request("b"))
    again, same = ask(project, chosen, request("b"), request("a"))
    other, third = ask(project, chosen, request("a"), name="other")
    assert (again, other, writer.run) == (first[::-1], first[:1], same.run)
    assert third.run != writer.run
    assert len(server.received) == 2


def test_each_sample_and_model_is_requested(project: Project, server: ScriptedServer) -> None:
    chosen = models(project, server, "m", "n", seed=5)
    ask(project, chosen, request("a"), request("a", 1), request("a", 0, "n"), request("a", 1, "n"))
    sent = sorted((body["model"], body["seed"], body["temperature"]) for body in server.bodies)
    assert sent == [("m", 5, 1.0), ("m", 6, 1.0), ("n", 5, 1.0), ("n", 6, 1.0)]
    with pytest.raises(UsageError, match="no model 'o'"):
        ask(project, chosen, request("a", 0, "o"))


def test_an_attempt_is_committed_before_it_is_sent(project: Project) -> None:
    seen: list[int] = []

    def answer(received: Received) -> str:
        row = project.database.reader().execute("SELECT count(*) FROM attempts WHERE state = 'sent'").fetchone()
        seen.append(row[0])
        return "so"

    with scripted(answer) as server:
        ask(project, models(project, server, concurrency=1), request("a"), request("b"))
    assert seen == [1, 1]


def test_a_failed_call_is_none_and_the_others_continue(project: Project) -> None:
    def answer(received: Received) -> str | Scripted:
        if "odd" in received.body["messages"][0]["content"]:
            return Scripted(400, body={"error": {"message": "the prompt is too long"}})
        return "so"

    with scripted(answer) as server:
        found, writer = ask(project, models(project, server, concurrency=1), request("a"), request("odd"), request("b"))
    assert found == ["so", None, "so"]
    assert writer.failed == {"context_length": 1}
    assert "too long" in writer.details[0]


def test_a_budget_is_exact_and_can_be_raised(project: Project, server: ScriptedServer) -> None:
    texts = [request(f"t{number}") for number in range(9)]
    with pytest.raises(RunError, match="4 of 4 calls"):
        ask(project, models(project, server, max_calls=4), *texts)
    assert len(server.received) == 4
    (info,) = runs(project)
    assert (info.state, info.usage and info.usage.calls) == ("paused", 4)
    found, _ = ask(project, models(project, server, max_calls=9), *texts)
    assert found == [f"about t{number}" for number in range(9)]
    assert len(server.received) == 9


def test_a_call_in_flight_at_an_interrupt_is_still_stored(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, ending, go_on = threading.Event(), threading.Event(), threading.Event()
    begin_no_more, beat = RunJournal.begin_no_more, RunJournal.beat

    def end(journal: RunJournal) -> None:
        begin_no_more(journal)
        ending.set()

    def wait_a_while(journal: RunJournal) -> None:
        beat(journal)
        if ending.is_set():
            go_on.set()

    def answer(received: Received) -> str:
        arrived.set()
        go_on.wait()
        return "so"

    def interrupt(step: str, done: int, of: int) -> None:
        if arrived.is_set() and "stopping" not in step:
            raise KeyboardInterrupt

    # The reply comes while the calls are ending, not before.
    monkeypatch.setattr(RunJournal, "begin_no_more", end)
    monkeypatch.setattr(RunJournal, "beat", wait_a_while)
    with scripted(answer) as server:
        chosen = models(project, server)
        with pytest.raises(KeyboardInterrupt), generating(project, "gen", chosen, {}, watch=interrupt) as writer:
            writer.ask([request("a")])
        go_on.set()
        (info,) = runs(project)
        assert (info.state, info.message) == ("paused", "Run the command that started it again to continue.")
        with generating(project, "gen", chosen, {}) as writer:
            assert writer.ask([request("a")]) == ["so"]
        assert len(server.received) == 1


def test_an_interrupt_reports_the_wait_for_calls_in_flight(project: Project) -> None:
    progress, progress_seen = list[tuple[str, int, int]](), threading.Event()

    def answer(received: Received) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        progress_seen.wait(PATIENCE_S)
        return "so"

    def watch(step: str, done: int, of: int) -> None:
        progress.append((step, done, of))
        if "stopping" in step:
            progress_seen.set()

    with scripted(answer) as server:
        chosen = models(project, server)
        with pytest.raises(KeyboardInterrupt), generating(project, "gen", chosen, {}, watch=watch) as writer:
            writer.ask([request("a")])
    assert ("stopping after the calls in flight", 0, 1) in progress


def test_requests_after_the_end_are_rejected(project: Project, server: ScriptedServer) -> None:
    _, writer = ask(project, models(project, server), request("a"))
    with pytest.raises(RunError, match="have ended"):
        writer.ask([request("a")])


def test_a_generation_is_not_a_verifier(project: Project, server: ScriptedServer) -> None:
    _, writer = ask(project, models(project, server), request("a"))
    with pytest.raises(UsageError, match="it is the name of a run that generates texts"):
        start(project, "gen")
    with pytest.raises(UsageError, match="it is the name of a run that generates texts"):
        resume(project, writer.run)
    assert [one.kind for one in configured(project)] == ["generation"]


def test_a_generation_is_in_no_table_of_verifiers(project: Project, server: ScriptedServer) -> None:
    with pytest.raises(RunError):
        ask(project, models(project, server, max_calls=0), request("a"), name="stopped")
    ask(project, models(project, server), request("a"))
    reader = project.database.reader()
    assert newest_runs(reader) == {}
    assert runs_so_far(reader, without=JUDGES_NOTHING) == {}
    assert {row.verifier for row in accuracy(project).rows if row.kind == "verifier"} == set()
    assert [(info.verifier, info.state, info.writes) for info in runs(project)] == [
        ("stopped", "paused", True),
        ("gen", "complete", True),
    ]


@pytest.mark.parametrize("name", ["rules", "", "a b", "x" * 101])
def test_taken_and_invalid_names_are_rejected(project: Project, server: ScriptedServer, name: str) -> None:
    with pytest.raises(UsageError):
        ask(project, models(project, server), request("a"), name=name)


def test_a_name_is_bound_to_its_models_and_settings(project: Project, server: ScriptedServer) -> None:
    ask(project, models(project, server), request("a"))
    with pytest.raises(UsageError, match="another configuration"):
        ask(project, models(project, server, temperature=0), request("a"))


def test_another_active_process_is_reported_after_a_wait(
    project: Project, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim_runner, "_PATIENCE_S", 0.0)
    lease = Lease.acquire(project.database)
    assert lease is not None
    with pytest.raises(RunError, match="is active"):
        ask(project, models(project, server), request("a"))
    lease.end()
    assert ask(project, models(project, server), request("a"))[0] == ["about a"]


def test_models_of_the_settings_file_need_trust_once(project: Project, server: ScriptedServer) -> None:
    table = f'[models.fast]\nbase_url = "{server.url}"\nmodel = "small"\nsampling = {{ temperature = 0.25 }}\n'
    (project.path.parent / "workbench.toml").write_text(table)
    chosen = models_from(project, ["fast"], {})
    with pytest.raises(NotTrustedError):
        ask(project, chosen, request("a"))
    assert server.received == []
    with generating(project, "gen", chosen, {}, trust=True) as writer:
        assert writer.ask([request("a")]) == ["about a"]
    with generating(project, "gen", chosen, {}) as writer:
        writer.ask([request("b", 0, "fast")])
    assert [(body["model"], body["temperature"]) for body in server.bodies] == [("small", 0.25)] * 2


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        ([], {}, "No model"),
        (["m"], {}, "base_url: it is missing"),
        (["m"], {"base_url": "http://x/v1", "n": "3"}, "no option 'n'"),
        (["m"], {"base_url": "http://x/v1", "temperature": "hot"}, "temperature"),
        (["wrong"], {}, "[models.wrong]: there is no option 'rpm'"),
        (["text"], {}, "models.text must be a table"),
        (["key"], {}, "models.key.api_key_env is not the name"),
    ],
)
def test_invalid_models_are_rejected(project: Project, names: list[str], options: dict[str, str], words: str) -> None:
    tables = '[models]\ntext = "x"\n[models.wrong]\nrpm = 3\n[models.key]\napi_key_env = "sk-secret-1"\n'
    (project.path.parent / "workbench.toml").write_text(tables)
    with pytest.raises(UsageError) as caught:
        models_from(project, names, options)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_takeover_by_another_process_ends_the_calls(project: Project) -> None:
    def answer(received: Received) -> str:
        claim_runner.lock_path(project.path).unlink(missing_ok=True)
        return "so"

    with scripted(answer) as server, generating(project, "gen", models(project, server), {}) as writer:
        for text in ("a", "b"):
            with pytest.raises(RunError, match=r"become the database's runner|have ended"):
                writer.ask([request(text)])
        assert len(server.received) == 1
