"""Hostile inputs get a verdict like any others, and none of them passes."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.background import runner_ends, runner_pid
from tests.helpers import make_project, numbered
from tests.unit.verifiers.rules.hostile import BOMBS, HOSTILE, Hostile
from tests.unit.verifiers.rules.judging import as_in_a_run
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs import run_status, verdict_files, verifying
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.rules.verifier import Rules

STORABLE = [one for one in HOSTILE if one.storable]
QUICK_CPU_S = 0.25
SHORT, AS_LONG_AS = 20_000, 200
"""What the reward server's event loop reads itself, and how many ordinary items it may take as long as."""
ORDINARY = 100
GIGABYTE = 2**30


def may_be(one: Hostile, outcome: Outcome) -> bool:
    """Whether the outcome is one the input may have."""
    if one.equal is None:
        return outcome is not Outcome.ERROR
    return outcome is Outcome.CORRECT if one.equal else outcome in (Outcome.INCORRECT, Outcome.ABSTAIN)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    # As in a run: workers are killed and replaced at the deadline of one second.
    with WorkerPool(("rules", {}), 2) as pool:
        found = as_in_a_run(pool, [one.input for one in STORABLE])
    return {one.name: verdict for one, verdict in zip(STORABLE, found, strict=True)}


@pytest.mark.few(8)
@pytest.mark.parametrize("one", STORABLE, ids=lambda one: one.name)
def test_a_hostile_input_gets_a_verdict_and_does_not_pass(one: Hostile, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[one.name]
    assert may_be(one, verdict.outcome), f"{verdict.outcome.word} ({verdict.reason})"


@pytest.mark.parametrize("one", [one for one in HOSTILE if not one.storable], ids=lambda one: one.name)
def test_the_first_stage_takes_any_text(one: Hostile) -> None:
    first = Rules().quick(one.input)
    assert not isinstance(first, Verdict) or may_be(one, first.outcome)


def test_workers_answer_hostile_inputs_themselves(verdicts: dict[str, Verdict]) -> None:
    reasons = Counter(verdict.reason for verdict in verdicts.values())
    assert reasons["timeout"] + reasons["worker_died"] <= len(verdicts) // 50


def test_the_corpus_is_large_enough() -> None:
    assert len({one.name for one in HOSTILE}) == len(HOSTILE) >= 50
    assert len(BOMBS) >= 40
    assert {one.equal for one in HOSTILE} == {True, False, None}


@pytest.mark.soak
@pytest.mark.parametrize("one", HOSTILE, ids=lambda one: one.name)
def test_the_first_stage_is_quick_on_hostile_inputs(one: Hostile) -> None:
    Rules().quick(one.input)
    before = time.process_time()
    Rules().quick(one.input)
    assert time.process_time() - before < QUICK_CPU_S


@pytest.mark.soak
def test_a_run_over_hostile_inputs_is_whole(tmp_path: Path) -> None:
    hostile = [
        {
            "completion_id": one.name,
            "question_id": f"hostile {one.name}",
            "question": one.input.question,
            "reference": one.input.reference,
            "completion": one.input.completion,
            "subtype": one.input.subtype,
        }
        for one in STORABLE
    ]
    with runner_ends(make_project(tmp_path, [*hostile, *numbered(ORDINARY)])) as project:
        largest = _run_and_watch(project)
        outcomes = {line.completion_id: Outcome(line.verdict) for line in verdict_files.verdict_lines(project, "rules")}
    assert len(outcomes) == len(STORABLE) + ORDINARY
    assert [one.name for one in STORABLE if not may_be(one, outcomes[one.name])] == []
    ordinary = [outcomes[f"c{number}"] for number in range(ORDINARY)]
    assert ordinary == [Outcome.CORRECT, Outcome.INCORRECT] * (ORDINARY // 2)
    assert 0 < largest <= GIGABYTE


def _run_and_watch(project: Project) -> int:
    """Run `rules` over everything; the most memory the runner or one of its processes had, in bytes."""
    run = verifying.start(project, "rules").run
    largest = 0
    while run_status.run_info(project, run).state in ("queued", "running"):
        largest = max([largest, *_resident(runner_pid(project))])
        time.sleep(0.02)
    assert run_status.run_info(project, run).state == "complete"
    return largest


def _resident(pid: int | None) -> list[int]:
    try:
        runner = psutil.Process(pid) if pid is not None else None
        return [one.memory_info().rss for one in [runner, *runner.children(recursive=True)]] if runner else []
    except psutil.Error:
        return []


def test_no_short_input_holds_an_event_loop_up() -> None:
    ordinary = VerifierInput(item=0, question="What is 6 times 7?", reference="42", completion=r"It is \boxed{42}.")

    def seconds(given: VerifierInput, times: int = 1) -> float:
        before = time.process_time()
        for _ in range(times):
            Rules().quick(given)
        return time.process_time() - before

    def is_long(one: Hostile) -> bool:
        # Beside each other: a processor that others use too is slower by the moment.
        return seconds(one.input) > AS_LONG_AS * seconds(ordinary, 10) / 10

    texts = [one for one in HOSTILE if len(one.input.reference) + len(one.input.completion) <= SHORT]
    assert len(texts) > 100
    slow = [one for one in texts if is_long(one)]
    assert [one.name for one in slow if all(is_long(one) for _ in range(5))] == []
