"""Stacks in runs: each stage gets only the items that earlier stages deferred."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.background import runner_pid, until
from tests.helpers import add_items, make_project
from tests.served_runs import here_on, rows
from tests.servers.scripted import Scripted, ScriptedServer, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.trust import NotTrustedError
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.llm.records import Halt
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.previewing import preview_calls
from workbench.runs.run_status import estimate, run_info, wait
from workbench.runs.transcripts import transcripts_of
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import resume, start
from workbench.verifiers.base import identity
from workbench.verifiers.stacks.stack import Stack

REFUSAL = Scripted(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, rows(6))


def configure(project: Project, **judges: str) -> None:
    """Write judges into the settings file: a name and the lines of its fields each."""
    text = "".join(
        f'[verifiers.{name}]\nkind = "llm-judge"\nstrategy = "vanilla"\nmodel = "model-{name}"\n{fields}\n'
        for name, fields in judges.items()
    )
    project.path.with_name("workbench.toml").write_text(text)


def at(server: ScriptedServer, more: str = "") -> str:
    return f'base_url = "{server.url}"\n{more}'


def says(*correct: int, otherwise: str = "No") -> Any:
    """A judge that finds these items correct."""
    return lambda got: "Yes" if any(f"It is {n}." in str(got.body) for n in correct) else otherwise


def stack(project: Project, stages: str, **options: str) -> Stack:
    made = construct_verifier(resolve_verifier(project, "stack", {"stages": stages, **options}))
    assert isinstance(made, Stack)
    return made


def begin(project: Project, stages: str, name: str = "s", **options: str) -> int:
    return start(project, "stack", {"stages": stages, **options}, name, trust=True).run


def words(project: Project, name: str = "s") -> list[str]:
    return [f"{line.verdict} {line.rule}" for line in verdict_lines(project, name)]


def requested_items(server: ScriptedServer) -> list[int]:
    """Return the items in the requests to a server."""
    return sorted(n for body in server.bodies for n in range(20) if f"It is {n}." in str(body))


def test_each_stage_gets_the_deferred_items(project: Project) -> None:
    with scripted(says(0, 1)) as cheap, scripted(says(1, 2, 3)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        found = runs.work(begin(project, "cheap:correct, dear"))
        assert found.state == "complete"
        assert words(project) == [
            "correct stage.cheap", "correct stage.cheap", "correct stage.dear", "correct stage.dear",
            "incorrect stage.dear", "incorrect stage.dear",
        ]  # fmt: skip
        assert requested_items(cheap) == [0, 1, 2, 3, 4, 5]
        assert requested_items(dear) == [2, 3, 4, 5]
        assert found.usage is not None
        assert (found.usage.calls, found.usage.answered) == (10, 10)


def test_a_verdict_names_its_stage_and_the_vote_of_each(project: Project) -> None:
    with scripted(says(0)) as cheap, scripted(says(1)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        runs.work(begin(project, "cheap:correct, dear:correct"))
        (one,) = transcripts_of(project, "s", "c1")
        assert [(vote.by, vote.verdict) for vote in one.votes] == [("cheap", "incorrect"), ("dear", "correct")]
        assert [call.role for call in one.calls] == ["cheap:judge", "dear:judge"]
        assert one.detail == "settled by dear, stage 2 of 2: Yes"
        (left,) = transcripts_of(project, "s", "c2")
        assert (left.verdict, left.detail) == ("incorrect", "left by all stages; what dear, stage 2 of 2 said: No")
        assert left.trace is not None
        assert [passed["verifier"] for passed in left.trace["passed"]] == ["cheap", "dear"]


def test_local_stages_work_together_with_servers(project: Project) -> None:
    add_items(project.database, [
        {"question_id": "n", "completion_id": f"n{n}", "reference": r"\boxed{7}", "completion": text}
        for n, text in enumerate(rf"It is {10 + n}. \boxed{{{7 + n}}}" for n in range(3))
    ])  # fmt: skip
    with scripted(says(11)) as dear, here_on(project) as runs:
        configure(project, dear=at(dear))
        # rules in two stages, math-verify in worker processes.
        runs.work(begin(project, "rules:correct, math-verify:correct, dear"))
        numbered = [line for line in verdict_lines(project, "s") if line.completion_id.startswith("n")]
        assert [(line.verdict, line.rule, line.candidate_final) for line in numbered] == [
            ("correct", "stage.rules", "7"), ("correct", "stage.dear", None), ("incorrect", "stage.dear", None),
        ]  # fmt: skip
        assert requested_items(dear) == [0, 1, 2, 3, 4, 5, 11, 12]


def test_a_stack_without_any_server_works(project: Project) -> None:
    with here_on(project) as runs:
        found = runs.work(begin(project, "exact:correct, rules:correct, always-incorrect"))
        assert (found.state, found.done) == ("complete", 6)
        assert words(project) == ["incorrect stage.always-incorrect"] * 6
        runs.claim()
        alone = runs.work(begin(project, "exact", "alone"))
        assert alone.state == "complete"


def test_an_item_that_fails_in_a_stage_goes_to_the_next(project: Project) -> None:
    with (
        scripted(lambda got: REFUSAL if "It is 2." in str(got.body) else "Yes") as cheap,
        scripted(says()) as dear,
        here_on(project) as runs,
    ):
        configure(project, cheap=at(cheap), dear=at(dear))
        assert runs.work(begin(project, "cheap, dear")).state == "complete"
        assert words(project) == ["correct stage.cheap"] * 2 + ["incorrect stage.dear"] + ["correct stage.cheap"] * 3
        (one,) = transcripts_of(project, "s", "c2")
        votes = [(vote.by, vote.verdict, vote.reason) for vote in one.votes]
        assert votes == [("cheap", "error", "context_length"), ("dear", "incorrect", None)]


def test_only_items_that_fail_in_the_last_stage_are_retried(project: Project) -> None:
    broken = True
    with (
        scripted(says(0)) as cheap,
        scripted(lambda got: REFUSAL if broken and "It is 2." in str(got.body) else "No") as dear,
        here_on(project) as runs,
    ):
        configure(project, cheap=at(cheap), dear=at(dear))
        run = begin(project, "cheap:correct, dear")
        assert words_of(runs.work(run)) == {"correct": 1, "incorrect": 4, "error": 1}
        broken = False
        assert words_of(runs.resume(run, retry_errors=True)) == {"correct": 1, "incorrect": 5}
        assert (len(cheap.received), len(dear.received)) == (6, 6)


def words_of(info: Any) -> dict[str, int]:
    return {word: n for word, n in (info.verdicts or {}).items() if n}


def test_a_stages_budget_pauses_the_run_and_raising_it_repeats_nothing(project: Project) -> None:
    with scripted(says(0, 1)) as cheap, scripted(says(2)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear, "max_calls = 2"))
        run = begin(project, "cheap:correct, dear")
        found = runs.work(run)
        assert (found.state, len(dear.received)) == ("paused", 2)
        assert (found.message or "").startswith("dear: The budget is used up: 2 of 2 calls were made")
        # Starting again does not renew the budget.
        assert (runs.resume(run).state, len(dear.received)) == ("paused", 2)
        configure(project, cheap=at(cheap), dear=at(dear, "max_calls = 4"))
        runs.claim()
        found = runs.work(begin(project, "cheap:correct, dear"))
        assert (found.state, words_of(found)) == ("complete", {"correct": 3, "incorrect": 3})
        assert max(Counter(requested_items(cheap)).values()) == max(Counter(requested_items(dear)).values()) == 1
        assert (len(cheap.received), len(dear.received)) == (6, 4)


def test_a_stage_without_budget_can_be_skipped(project: Project) -> None:
    with scripted(says(0)) as cheap, scripted(says(1)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap, "max_calls = 2\nconcurrency = 1"), dear=at(dear))
        run = begin(project, "cheap, dear", when_spent="next", concurrency="1")
        found = runs.work(run)
        assert (found.state, len(cheap.received), len(dear.received)) == ("complete", 2, 4)
        (one,) = transcripts_of(project, "s", "c5")
        assert [(vote.by, vote.reason) for vote in one.votes] == [("cheap", "budget"), ("dear", None)]


def test_the_budget_of_the_stack_covers_all_stages(project: Project) -> None:
    with scripted(says(0)) as cheap, scripted(says(1)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        found = runs.work(begin(project, "cheap:correct, dear", max_calls="5"))
        assert (found.state, len(cheap.received) + len(dear.received)) == ("paused", 5)


def test_stages_for_types_get_only_these_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    kinds = ["A1", "B2", "A3", "B1", None, "D2"]
    typed_rows = [{**row, "type": kind and kind[0], "subtype": kind} for row, kind in zip(rows(6), kinds, strict=True)]
    project = make_project(tmp_path, typed_rows)
    with scripted(says(0, 1, 2, 3, 4, 5)) as cheap, scripted(says()) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        runs.work(begin(project, "cheap:both@A/B2, dear:both@B/D"))
        assert (requested_items(cheap), requested_items(dear)) == ([0, 1, 2], [3, 5])
        assert words(project)[4] == "abstain None"
        assert [line.reason for line in verdict_lines(project, "s")][4] == "no_stage"


def test_a_verifier_in_two_stages_is_called_once(project: Project) -> None:
    with scripted(says(0)) as cheap, scripted(says(1)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        runs.work(begin(project, "cheap:correct, dear:correct, cheap"))
        assert (len(cheap.received), len(dear.received)) == (6, 5)
        assert words(project)[:3] == ["correct stage.cheap", "correct stage.dear", "incorrect stage.cheap"]
        (one,) = transcripts_of(project, "s", "c2")
        assert [vote.by for vote in one.votes] == ["cheap", "dear"]


def test_calls_of_a_stage_and_of_its_verifier_alone_are_made_once(project: Project) -> None:
    with scripted(says(0)) as cheap, scripted(says(1)) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        runs.work(start(project, "cheap", trust=True).run)
        runs.claim()
        found = runs.work(begin(project, "cheap:correct, dear"))
        assert found.usage is not None
        assert (found.usage.calls, found.usage.reused, len(cheap.received)) == (5, 6, 6)


def test_calls_are_in_flight_together(project: Project) -> None:
    with scripted(says(), latency_s=0.2) as cheap, scripted(says(), latency_s=0.2) as dear, here_on(project) as runs:
        configure(project, cheap=at(cheap), dear=at(dear))
        run = begin(project, "cheap:correct, dear")
        runs.work(run)
        overlapping = runs.sql("SELECT max(at_once), max(in_flight) FROM run_usage WHERE run_id = ?", run)
        assert overlapping[0][0] >= 6
        sent = runs.sql("SELECT count(DISTINCT sent_at) FROM attempts WHERE run_id = ?", run)
        assert sent[0][0] < 12


def test_the_identity_includes_stages_and_their_verifiers(project: Project) -> None:
    url = 'base_url = "http://h:1/v1"\n'
    configure(project, a=url, b=url)
    one = identity(stack(project, "rules:correct, a, b"))
    assert identity(stack(project, "rules:correct, a:both, b:correct/incorrect")) == one
    assert identity(stack(project, "rules:correct, a, b", max_cost="3", concurrency="2")) == one
    others = ["a, b", "rules, a, b", "rules:correct, b, a", "rules:correct@A, a, b", "rules:correct, a:score>=0.5, b"]
    assert len({identity(stack(project, other)) for other in others} | {one}) == len(others) + 1
    configure(project, a=url + "reference = false\n", b=url)
    assert identity(stack(project, "rules:correct, a, b")) != one


def test_each_stage_has_its_own_budget(project: Project) -> None:
    url = 'base_url = "http://h:1/v1"\n'
    configure(project, a=url + "max_cost = 2\nrpm = 60\nconcurrency = 3", b=url + "max_calls = 7\nconcurrency = 40")
    made = stack(project, "rules, a, b", max_cost="2.5")
    assert (made.limits().max_cost, made.limits().max_calls, made.limits().concurrency) == (2.5, None, 40)
    limits = {one.name: one.limits for one in made.stage_limits()}
    assert (limits["a"].max_cost, limits["a"].rpm, limits["b"].max_calls) == (2, 60, 7)


def test_every_stage_server_and_template_needs_trust_first(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.verifiers.reward import local

    monkeypatch.setattr(local, "installed", lambda *packages, hint: "1")
    project.path.with_name("mine.toml").write_text(
        'id = "mine"\nversion = 1\n[[criteria]]\nname = "right"\nasks = "It is right."\n'
    )
    configure(project, a='base_url = "http://h:1/v1"')
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write(
            '[verifiers.jury]\nkind = "judge-panel"\nmembers = ["a", "b"]\n'
            '[verifiers.b]\nkind = "llm-judge"\ntemplate = "mine.toml"\nbase_url = "http://other:1/v1"\nmodel = "m"\n'
            '[verifiers.local]\nkind = "reward-local"\nmodel = "someone/model"\n'
        )
    with pytest.raises(NotTrustedError) as error:
        start(project, "stack", {"stages": "rules, jury, local"}, "s")
    wanted = " ".join(str(grant) for grant in error.value.grants)
    assert all(part in wanted for part in ("http://h:1", "http://other:1", "mine.toml", "someone/model"))


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ("", "stages: it is missing"),
        ("rules, nobody", "stages: 'nobody' is not a verifier of this project"),
        ("rules, self", "stages: 'self' is not a verifier of this project"),
        ("rules, stack", "stages: 'stack' is not a verifier of this project"),
        ("rules, pairwise", "stages: 'pairwise' is not a verifier of this project"),
        ("rules, execution", "'execution' runs programs"),
        ("rules, llm-judge", "'llm-judge' rejects its options"),
        ("rules:maybe", "'maybe' decides nothing"),
    ],
)
def test_an_invalid_stack_is_rejected(project: Project, stages: str, said: str) -> None:
    configure(project, a='base_url = "http://h:1/v1"')
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write('[verifiers.self]\nkind = "stack"\nstages = ["a", "self"]\n')
    with pytest.raises(UsageError, match=said):
        stack(project, stages)


def test_a_list_in_the_settings_file_is_a_stack(project: Project) -> None:
    with scripted(says(0)) as dear, here_on(project) as runs:
        configure(project, dear=at(dear))
        with project.path.with_name("workbench.toml").open("a") as stream:
            stream.write(
                '[verifiers.both]\nkind = "stack"\nstages = ["rules:correct", "dear:score>=0.5/correct@A/B", "dear"]\n'
            )
        assert runs.work(start(project, "both", trust=True).run).state == "complete"
        with pytest.raises(UsageError, match="not a verifier of this project that can be in a panel"):
            construct_verifier(resolve_verifier(project, "judge-panel", {"members": "dear,both"}))


def test_calls_can_be_previewed_and_estimated(project: Project) -> None:
    url = 'base_url = "http://h:1/v1"\n'
    configure(project, a=url, b=url)
    assert [one.role for one in preview_calls(project, "stack", {"stages": "rules, a:correct, b"})] == [
        "a:judge", "b:judge",
    ]  # fmt: skip
    found = estimate(project, "stack", {"stages": "rules, a:correct, b"}, None, Selection())
    assert found is not None
    assert found.calls == 12


def test_workers_that_cannot_start_pause_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.runs import executor

    def broken(*_: object) -> object:
        raise Halt("cancelled", "no workers here")

    monkeypatch.setattr(executor, "WorkerPool", broken)
    with here_on(project) as runs:
        found = runs.work(begin(project, "math-verify:correct, rules"))
        assert found.state == "paused"
        assert "no workers here" in (found.message or "")


@pytest.mark.few(3)
@pytest.mark.parametrize("answers", [1, 4, 7])
def test_kill_9_repeats_no_answered_call(project: Project, answers: int) -> None:
    """The runner is killed with calls of both stages in flight; every committed reply is reused."""

    with scripted(says(0, 1), latency_s=0.05) as cheap, scripted(says(2), latency_s=0.05) as dear:
        configure(project, cheap=at(cheap, "concurrency = 2"), dear=at(dear, "concurrency = 1"))
        run = begin(project, "rules:correct, cheap:correct, dear")
        until(lambda: stored(project) >= answers)
        pid = runner_pid(project)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(project))
        kept = committed(project)
        before = len(cheap.received), len(dear.received)
        resume(project, run)
        assert wait(project, run).state == "complete"
        again = [one.raw for one in (*cheap.received[before[0] :], *dear.received[before[1] :])]
        assert not kept & set(again)
        assert words(project)[:4] == [
            "correct stage.cheap", "correct stage.cheap", "correct stage.dear", "incorrect stage.dear",
        ]  # fmt: skip
        assert run_info(project, run).done == 6
    project.close()


def stored(project: Project) -> int:
    row: tuple[int] = project.database.reader().execute("SELECT count(*) FROM responses").fetchone()
    return row[0]


def committed(project: Project) -> set[bytes]:
    found = project.database.reader().execute(
        "SELECT q.body FROM responses AS r JOIN requests AS q ON q.id = r.request_id"
    )
    return {bytes(body) for (body,) in found}


def alive(project: Project) -> bool:
    from workbench.runs.lease import is_alive

    return is_alive(project.path)
