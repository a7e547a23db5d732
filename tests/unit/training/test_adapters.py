"""Reward verifiers within harnesses: stacks, judges and tests, with fakes of each library's calls."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from tests.unit.training.test_on_call import STACK, YES, configured
from workbench.core.errors import RunError, UsageError
from workbench.core.verdict import Verdict
from workbench.training import judging, lm_eval, verifiers
from workbench.training.judging import Judging, judging_by

CODE = {"tests": ["assert double(2) == 4", "assert double(5) == 10"], "entry_point": "double", "pass_rates": [0.9, 0.1]}
HALF = "def double(x): return 4"
RIGHT = "def double(x): return 2 * x"


class Case(NamedTuple):
    """One document with a completion."""

    reference: Any
    completion: str


Figures = list[dict[str, float]]
Harness = Callable[..., Figures]
"""Has cases judged by a verifier with its settings."""


def by_lm_eval(monkeypatch: pytest.MonkeyPatch, cases: Sequence[Case], verifier: str, **settings: Any) -> Figures:
    process_results = lm_eval.judged("question", "answer", verifier=verifier, **settings)
    # One document after the other, as lm-eval does.
    return [process_results({"question": "q", "answer": case.reference}, [case.completion]) for case in cases]


class Trace:
    """A trace as in the library `verifiers`."""

    def __init__(self, reply: str) -> None:
        self.last_reply = reply
        self.metrics: dict[str, float] = {}
        self.info: dict[str, Any] = {}

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def by_verifiers(monkeypatch: pytest.MonkeyPatch, cases: Sequence[Case], verifier: str, **settings: Any) -> Figures:
    judged = verifiers.judged_by(verifier, **settings)

    async def one(case: Case) -> dict[str, float]:
        trace = Trace(case.completion)
        reward = await judged(SimpleNamespace(answer=case.reference, prompt_text="q"), trace)
        assert trace.info[verifier]["verdict"] in ("correct", "incorrect", "abstain")
        return {"acc": reward, **trace.metrics}

    async def every() -> Figures:
        return list(await asyncio.gather(*map(one, cases)))

    return asyncio.run(every())


def by_inspect(monkeypatch: pytest.MonkeyPatch, cases: Sequence[Case], verifier: str, **settings: Any) -> Figures:
    known = {
        "Score": SimpleNamespace,
        "Scorer": object,
        "Target": list,
        "scorer": lambda **_: lambda function: function,
    }
    known |= dict.fromkeys(("accuracy", "mean", "stderr"), str)
    module = imported(
        monkeypatch,
        "inspect_ai",
        {"inspect_ai": {}, "inspect_ai.scorer": known, "inspect_ai.solver": {"TaskState": object}},
    )
    score = module.judged(verifier=verifier, settings=settings)

    async def one(case: Case) -> dict[str, float]:
        output = SimpleNamespace(completion=case.completion)
        state = SimpleNamespace(choices=[], input_text="q", output=output)
        targets = case.reference if isinstance(case.reference, list) else [case.reference]
        found: dict[str, float] = (await score(state, targets)).value
        return found

    async def every() -> Figures:
        return list(await asyncio.gather(*map(one, cases)))

    return asyncio.run(every())


def by_lighteval(monkeypatch: pytest.MonkeyPatch, cases: Sequence[Case], verifier: str, **settings: Any) -> Figures:
    requests = {"Doc": object, "SamplingMethod": SimpleNamespace(GENERATIVE="generative")}
    known: dict[str, dict[str, Any]] = {
        name: {} for name in ("lighteval", "lighteval.metrics", "lighteval.metrics.utils", "lighteval.models")
    }
    known |= {
        "lighteval.metrics.metrics_sample": {"SampleLevelComputation": object},
        "lighteval.metrics.utils.metric_utils": {"SampleLevelMetricGrouping": SimpleNamespace},
        "lighteval.models.model_output": {"ModelResponse": object},
        "lighteval.tasks": {},
        "lighteval.tasks.requests": requests,
    }
    metric = imported(monkeypatch, "lighteval", known).judged_by(verifier, **settings)

    def doc(case: Case) -> Any:
        golds = case.reference if isinstance(case.reference, list) else [case.reference]
        return SimpleNamespace(query="q", get_golds=lambda: golds)

    # lighteval copies the metrics of a task.
    metric = deepcopy(metric)
    replies = [SimpleNamespace(final_text=[case.completion]) for case in cases]
    return [
        metric.sample_level_fn.compute(doc=doc(case), model_response=reply)
        for case, reply in zip(cases, replies, strict=True)
    ]


def imported(monkeypatch: pytest.MonkeyPatch, name: str, known: dict[str, dict[str, Any]]) -> ModuleType:
    """Our module for a library, with fakes of what it imports of that."""
    for place, members in known.items():
        fake = ModuleType(place)
        fake.__dict__.update(members)
        monkeypatch.setitem(sys.modules, place, fake)
    monkeypatch.delitem(sys.modules, f"workbench.training.{name}", raising=False)
    module = importlib.import_module(f"workbench.training.{name}")
    monkeypatch.delitem(sys.modules, f"workbench.training.{name}")
    return module


HARNESSES = [by_lm_eval, by_verifiers, by_inspect, by_lighteval]


@pytest.fixture(params=HARNESSES, ids=lambda one: one.__name__.removeprefix("by_"))
def harness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Harness:
    def judged(cases: Sequence[Case], verifier: str, **settings: Any) -> Figures:
        found: Figures = request.param(monkeypatch, cases, verifier, **settings)
        return found

    return judged


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[tuple[Path, ScriptedServer, threading.Event]]:
    """A project whose stack asks a judge; the judge of what is slow waits for the event."""
    go_on = threading.Event()

    def answer(received: Received) -> str:
        said = received.raw.decode()
        if "slow" in said:
            go_on.wait(PATIENCE_S)
        return YES if "good" in said and "seventeen" not in said else "Final Judgment: No"

    project = make_project(tmp_path)
    with scripted(answer) as model:
        configured(project, model.url, STACK)
        project.close()
        yield project.path, model, go_on
        go_on.set()


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch, stack: tuple[Path, ScriptedServer, threading.Event]) -> Iterator[None]:
    """Close the cached judging objects, as at the end of a program, before the servers of the test."""
    made: list[Judging] = []

    class Counted(Judging):
        def __init__(self, *given: Any, **settings: Any) -> None:
            super().__init__(*given, **settings)
            made.append(self)

    monkeypatch.setattr(judging, "Judging", Counted)
    judging._cached_judging.cache_clear()
    yield
    judging._cached_judging.cache_clear()
    for one in made:
        one.close()


@pytest.mark.few(4)
@pytest.mark.filterwarnings("ignore:.*never probed")
def test_a_stack_calls_its_judge_only_for_deferred_items(
    harness: Harness, stack: tuple[Path, ScriptedServer, threading.Event]
) -> None:
    database, model, _ = stack
    cases = [
        Case("2", r"\boxed{2}"),
        Case("2", r"good \boxed{3}"),
        Case("2", r"\boxed{4}"),
        # The first correct reference is the last one that is compared.
        Case(["seventeen", "3", "4"], r"good \boxed{5}"),
    ]
    journal = database.with_name("calls.db")
    found = harness(cases, "cascade", database=str(database), journal=str(journal), undecided=0.25)
    assert found == [
        {"acc": 1.0, "undecided": 0.0},
        {"acc": 1.0, "undecided": 0.0},
        {"acc": 0.0, "undecided": 0.0},
        {"acc": 1.0, "undecided": 0.0},
    ]
    assert len(model.received) == 4


@pytest.mark.few(4)
@pytest.mark.filterwarnings("ignore:.*never probed")
def test_a_missed_deadline_gets_the_undecided_reward(
    harness: Harness, stack: tuple[Path, ScriptedServer, threading.Event]
) -> None:
    database, _, go_on = stack
    cases = [Case("2", r"slow \boxed{3}"), Case(["2", "7", "8"], r"slow \boxed{4}")]
    settings = {"database": str(database), "journal": str(database.with_name("late.db"))}
    assert harness(cases, "cascade", **settings, deadline=0.5, undecided=0.25) == [{"acc": 0.25, "undecided": 1.0}] * 2
    go_on.set()


@pytest.mark.parametrize("harness", [by_verifiers, by_inspect], ids=["verifiers", "inspect"], indirect=True)
def test_completions_of_a_harness_are_judged_together(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    # More than the threads of asyncio or anyio: no call is answered before all have arrived.
    all_there = threading.Barrier(100)
    verdict = Judging.verdict

    def once_all_are_there(judge: Judging, *asked: Any) -> Verdict:
        all_there.wait(PATIENCE_S)
        return verdict(judge, *asked)

    monkeypatch.setattr(Judging, "verdict", once_all_are_there)
    assert harness([Case("2", r"\boxed{2}")] * 100, "exact") == [{"acc": 1.0, "undecided": 0.0}] * 100


@pytest.mark.few(4)
def test_tests_use_the_chosen_reward(harness: Harness) -> None:
    tests = json.dumps(CODE)
    cases = [Case(tests, RIGHT), Case(tests, HALF), Case(CODE["tests"], HALF), Case(tests, "def double(x: return")]
    share = harness(cases, "execution", pay="share")
    assert [one["acc"] for one in share] == [1.0, 0.5, 0.5, 0.0]
    difficult = harness(cases, "execution", pay="difficulty")
    assert difficult[1]["acc"] == pytest.approx(0.1)
    assert [one["undecided"] for one in (*share, *difficult)] == [0.0] * 8


def test_fields_next_to_the_tests_are_used() -> None:
    process_results = lm_eval.judged("prompt", "tests", verifier="execution", pay="difficulty")
    assert process_results({"prompt": "q", **CODE}, [HALF])["acc"] == pytest.approx(0.1)
    judged = verifiers.judged_by("execution", "tests", pay="difficulty")
    task = SimpleNamespace(prompt_text="q", **CODE)
    assert asyncio.run(judged(task, Trace(HALF))) == pytest.approx(0.1)


def test_an_unknown_setting_is_rejected() -> None:
    with pytest.raises(UsageError, match="no setting 'reference'"):
        judging_by("rules", {"reference": "answer"})
    with pytest.raises(UsageError, match="no verifier named 'nothing'"):
        judging_by("nothing")
    assert judging_by("rules") is judging_by("rules", {})
    exact = judging_by("exact", {"undecided": 0.5})
    assert deepcopy(exact) is exact
    assert judging_by("exact", {"undecided": 0.5}) is judging_by("exact", {"undecided": 0.5})


@pytest.mark.filterwarnings("ignore:.*never probed")
def test_failing_calls_raise_instead_of_inventing_a_reward(tmp_path: Path) -> None:
    judge = Judging(
        "llm-judge",
        options={"base_url": "http://127.0.0.1:9/v1", "model": "m", "max_calls": "0"},
        journal=tmp_path / "calls.db",
        undecided=0.5,
    )
    with pytest.raises((RunError, UsageError)):
        judge.verdict("2", r"\boxed{3}")
    judge.close()
