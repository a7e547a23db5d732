"""Judges and stacks as in-process reward functions: the verdicts of a run, stored calls, no invented rewards."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import workbench
from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.servers.scripted import scripted
from tests.servers.wire import Received, Scripted
from workbench.core.database.hashes import secret
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project, open_project
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.store import runs
from workbench.runs.trust import require_trust

YES = "Final Judgment: Yes"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path)
    yield made
    made.close()


def configured(project: Project, url: str, settings: str) -> None:
    """Servers that the settings file names are accepted, as ``verify --trust`` does."""
    (project.path.parent / "workbench.toml").write_text(settings.replace("URL", url), encoding="utf-8")
    for name in ("judge", "cascade"):
        if f"[verifiers.{name}]" in settings:
            choice = resolve_verifier(project, name, {})
            require_trust(project, construct_verifier(choice), choice.options, accept=True)


JUDGE = '[verifiers.judge]\nkind = "llm-judge"\nbase_url = "URL"\nmodel = "m"\n'
STACK = JUDGE + '[verifiers.cascade]\nkind = "stack"\nstages = ["rules:correct", "judge"]\n'


def counts(path: Path) -> tuple[int, str]:
    """Return the number of stored replies and the state of the run."""
    kept = open_project(path)
    reader = kept.database.reader()
    (row,) = runs.every(reader)
    found = reader.execute("SELECT count(*) FROM responses").fetchone()[0], row.state
    kept.close()
    return found


@pytest.mark.filterwarnings("ignore:.*never probed")
def test_a_stack_sends_its_judge_only_deferred_items(project: Project) -> None:
    def answer(received: Received) -> str:
        return YES if "good" in received.raw.decode() else "Final Judgment: No"

    with scripted(answer) as model:
        configured(project, model.url, STACK)
        with workbench.reward("cascade", database=project.path, undecided=-1.0) as reward:
            texts = [r"\boxed{2}", r"good \boxed{3}", r"\boxed{4}", r"\boxed{2}"]
            assert reward(prompts=["q"] * 4, completions=texts, answer=["2"] * 4) == [1.0, 1.0, 0.0, 1.0]
            assert len(model.received) == 2
            verdict = reward.compute_score("d", texts[1], "2", {"question": "q"})
            assert (verdict["score"], len(model.received)) == (1.0, 2)
        assert counts(project.path.with_suffix(".rewards.db")) == (2, "complete")
        assert list(runs.every(project.database.reader())) == []
        # Answered calls are not repeated by later processes.
        with pickle.loads(pickle.dumps(reward)) as copy:
            assert copy(prompts=["q"], completions=[texts[2]], answer=["2"]) == [0.0]
        assert len(model.received) == 2


@pytest.mark.filterwarnings("ignore:.*never probed")
def test_requests_are_the_project_s_own(project: Project) -> None:
    """Delimiters follow from the project's secret, wherever the calls are stored."""
    bodies = []
    with scripted(lambda received: YES) as model:
        configured(project, model.url, JUDGE)
        for name in ("one.db", "two.db"):
            journal = project.path.parent / name
            with workbench.reward("judge", database=project.path, journal=journal) as reward:
                assert reward(prompts=["q"], completions=["c"], answer=["a"]) == [1.0]
            kept = open_project(journal)
            assert secret(kept.database.reader()) != secret(project.database.reader())
            kept.close()
        bodies = [received.body["messages"] for received in model.received]
    assert bodies[0] == bodies[1]


def test_a_judge_needs_no_project(tmp_path: Path) -> None:
    with scripted(lambda received: YES) as model:
        options = {"base_url": model.url, "model": "m"}
        with workbench.reward("llm-judge", options=options, journal=tmp_path / "calls.db") as reward:
            with ThreadPoolExecutor(8) as threads:
                found = threads.map(lambda n: reward(prompts=["q"], completions=[f"c{n % 4}"], answer=["a"]), range(16))
                assert list(found) == [[1.0]] * 16
            assert len(model.received) == 4
    assert counts(tmp_path / "calls.db") == (4, "complete")


def test_a_call_beyond_the_deadline_is_undecided_but_stored(tmp_path: Path) -> None:
    go_on = threading.Event()

    def answer(received: Received) -> str:
        if "slow" in received.raw.decode():
            go_on.wait(PATIENCE_S)
        return YES

    with scripted(answer) as model:
        options = {"base_url": model.url, "model": "m"}
        journal = tmp_path / "calls.db"
        with workbench.reward("llm-judge", options=options, journal=journal, undecided=0.25, deadline=1.0) as reward:
            threading.Timer(2.5, go_on.set).start()
            assert reward(prompts=["q"], completions=["slow"], answer=["a"]) == [0.25]
            go_on.wait(PATIENCE_S)
        with workbench.reward("llm-judge", options=options, journal=journal) as reward:
            assert reward(prompts=["q"], completions=["slow"], answer=["a"]) == [1.0]
        assert len(model.received) == 1


def test_no_reward_is_made_up_where_no_call_can_succeed(tmp_path: Path) -> None:
    with scripted(lambda received: Scripted(401, body={"error": {"message": "no such key"}})) as model:
        options = {"base_url": model.url, "model": "m"}
        with workbench.reward("llm-judge", options=options, journal=tmp_path / "c.db", undecided=0.0) as reward:
            for _ in range(2):
                with pytest.raises(RunError, match="key"):
                    reward(prompts=["q"], completions=["c"], answer=["a"])
    assert counts(tmp_path / "c.db") == (0, "paused")


@pytest.mark.soak
def test_a_journal_is_one_process_s(tmp_path: Path) -> None:
    with scripted(lambda received: YES) as model:
        options = {"base_url": model.url, "model": "m"}
        with workbench.reward("llm-judge", options=options, journal=tmp_path / "c.db") as one:
            assert one(prompts=["q"], completions=["c"], answer=["a"]) == [1.0]
            with (
                workbench.reward("llm-judge", options=options, journal=tmp_path / "c.db") as other,
                pytest.raises(RunError, match="is active"),
            ):
                other(prompts=["q"], completions=["c"], answer=["a"])
            with workbench.reward("llm-judge", options=options, journal=tmp_path / "d.db") as other:
                assert other(prompts=["q"], completions=["c"], answer=["a"]) == [1.0]


@pytest.mark.parametrize(("kind", "message"), [("stack", "project"), ("pairwise", "judges no completions")])
def test_a_verifier_that_needs_a_project_is_rejected(tmp_path: Path, kind: str, message: str) -> None:
    options = {"stages": "rules"} if kind == "stack" else {"base_url": "http://localhost:9/v1", "model": "m"}
    with pytest.raises(UsageError, match=message):
        workbench.reward(kind, options=options, journal=tmp_path / "c.db")
