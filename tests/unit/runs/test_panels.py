"""Panels whose members are verifiers of the project with their own servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.served_runs import here_on, rows
from tests.servers.scripted import Scripted, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.trust import NotTrustedError
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import OutcomeCode
from workbench.llm.server import DEFAULT_CONCURRENCY
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.previewing import preview_calls
from workbench.runs.run_status import run_costs
from workbench.runs.verifying import resume, start
from workbench.verifiers.base import ServedVerifier, identity
from workbench.verifiers.judges.members import JudgePanel


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, rows(3))


def configure(project: Project, *entries: str) -> None:
    """Write the settings file: a name and its fields each."""
    parts = [entry.partition(": ") for entry in entries]
    text = "\n".join(
        f'[verifiers.{name}]\nkind = "llm-judge"\nstrategy = "vanilla"\n{fields}' for name, _, fields in parts
    )
    project.path.with_name("workbench.toml").write_text(text)


def judge(name: str, url: str, more: str = "") -> str:
    return f'{name}: base_url = "{url}"\nmodel = "model-{name}"\n{more}'


def panel(project: Project, members: str = "a,b,c", **options: str) -> JudgePanel:
    made = construct_verifier(resolve_verifier(project, "judge-panel", {"members": members, **options}))
    assert isinstance(made, JudgePanel)
    return made


def test_members_on_three_servers_give_one_verdict_and_their_costs_add_up(project: Project) -> None:
    with (
        scripted(lambda got: "Yes") as one, scripted(lambda got: "No") as two, scripted(lambda got: "Yes") as three,
        here_on(project) as runs,
    ):  # fmt: skip
        configure(project, judge("a", one.url), judge("b", two.url), judge("c", three.url))
        run = start(project, "judge-panel", {"members": "a, b,c"}, "panel", trust=True).run
        found = runs.work(run)
        assert (found.verdicts or {})["correct"] == 3
        assert [len(server.received) for server in (one, two, three)] == [3, 3, 3]
        assert [server.bodies[0]["model"] for server in (one, two, three)] == ["model-a", "model-b", "model-c"]
        votes = runs.sql("SELECT sample, outcome FROM verdicts WHERE run_id = ? AND completion_id = 1", run)
        assert [OutcomeCode(outcome).word for _, outcome in sorted(votes)] == [
            "correct",
            "correct",
            "incorrect",
            "correct",
        ]
        assert found.usage is not None
        assert found.usage.answered == 9
        assert len({one.role for one in preview_calls(project, "panel", {})}) == 3
        assert run_costs(project, found).ambiguous == []
        runs.claim()
        alone = runs.work(start(project, "a", trust=True).run)
        assert alone.usage is not None
        assert (alone.usage.calls, alone.usage.reused) == (0, 3)


def test_a_member_that_fails_is_undecided_and_counted(project: Project) -> None:
    refusal = Scripted(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})
    with scripted(lambda got: "Yes") as good, scripted(lambda got: refusal) as bad, here_on(project) as runs:
        configure(project, judge("a", good.url), judge("b", bad.url), judge("c", good.url))
        run = start(project, "judge-panel", {"members": "a,b,c"}, "panel", trust=True).run
        found = runs.work(run)
        assert (found.state, (found.verdicts or {})["correct"]) == ("complete", 3)
        rows = runs.sql("SELECT sample, outcome, reason FROM verdicts WHERE run_id = ? AND completion_id = 1", run)
        assert [(OutcomeCode(outcome).word, reason) for _, outcome, reason in sorted(rows)] == [
            ("correct", None), ("correct", None), ("error", "context_length"), ("correct", None),
        ]  # fmt: skip
        ((detail,),) = runs.sql(
            "SELECT e.detail FROM verdict_evidence AS e WHERE e.run_id = ? AND e.completion_id = 1 AND e.sample = 0",
            run,
        )
        assert detail == "2 of 3 correct, 0 incorrect, 1 undecided"
        runs.claim()
        all_must = runs.work(start(project, "judge-panel", {"members": "a,b", "reducer": "min"}, "min", trust=True).run)
        assert (all_must.verdicts or {})["abstain"] == 3


def test_an_item_on_which_every_member_fails_is_an_error(project: Project) -> None:
    refusal = Scripted(400, body={"error": {"message": "too long", "code": "context_length_exceeded"}})
    with scripted(lambda got: refusal if "It is 1." in str(got.body) else "Yes") as server, here_on(project) as runs:
        configure(project, judge("a", server.url), judge("b", server.url))
        found = runs.work(start(project, "judge-panel", {"members": "a,b"}, "panel", trust=True).run)
        assert {word: n for word, n in (found.verdicts or {}).items() if n} == {"correct": 2, "error": 1}


def test_members_are_part_of_the_identity(project: Project) -> None:
    url = "http://h:1/v1"
    configure(project, judge("a", url), judge("b", url), judge("c", url))
    one = identity(panel(project))
    assert identity(panel(project, concurrency="3")) == one
    assert identity(panel(project, "a,b")) != one
    assert identity(panel(project, reducer="mean")) != one
    configure(project, judge("a", url), judge("b", url, "reference = false"), judge("c", url))
    assert identity(panel(project)) != one


def test_a_changed_member_is_rejected_after_a_run(project: Project) -> None:
    with scripted(lambda got: "Yes") as server, here_on(project) as runs:
        configure(project, judge("a", server.url), judge("b", server.url))
        run = start(project, "judge-panel", {"members": "a,b"}, "panel", trust=True).run
        runs.work(run)
        configure(project, judge("a", server.url), judge("b", "http://other:1/v1"))
        with pytest.raises(UsageError, match="'panel' has another configuration: members is"):
            start(project, "judge-panel", {"members": "a,b"}, "panel", trust=True)
        assert resume(project, run).state == "complete"


def test_budgets_add_up_and_the_strictest_rate_limit_applies(project: Project) -> None:
    url = "http://h:1/v1"
    configure(
        project,
        judge("a", url, "max_cost = 2\nrpm = 60\nmax_calls = 5"),
        judge("b", url, "max_cost = 0.5\nconcurrency = 3"),
    )
    limits = panel(project, "a,b").limits()
    assert (limits.max_cost, limits.max_calls, limits.rpm, limits.concurrency) == (2.5, 5, 60, 3)
    own = panel(project, "a,b", max_cost="1", concurrency="9", max_tokens_total="7").limits()
    assert (own.max_cost, own.max_calls, own.concurrency, own.max_tokens_total) == (1, 5, 9, 7)
    assert JudgePanel(members="a,b").limits().concurrency == DEFAULT_CONCURRENCY


def test_every_member_server_and_template_needs_trust_first(project: Project) -> None:
    template = project.path.with_name("mine.toml")
    template.write_text('id = "mine"\nversion = 1\n[[criteria]]\nname = "right"\nasks = "It is right."\n')
    url = "http://h:1/v1"
    configure(project, judge("a", url))
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write(
            '[verifiers.b]\nkind = "llm-judge"\ntemplate = "mine.toml"\nbase_url = "http://other:1/v1"\nmodel = "m"\n'
        )
    with pytest.raises(NotTrustedError) as error:
        start(project, "judge-panel", {"members": "a,b"}, "panel")
    wanted = " ".join(str(grant) for grant in error.value.grants)
    assert all(part in wanted for part in ("http://h:1", "http://other:1", "mine.toml"))


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("members", "said"),
    [
        ("a", "members: a panel has two or more"),
        ("a,nobody", "members: 'nobody' is not a verifier of this project"),
        ("a,exact", "members: 'exact' is not a verifier of this project"),
        ("a,llm-judge", "members: 'llm-judge' is not a verifier of this project"),
        ("a,self", "members: 'self' is not a verifier of this project"),
        ("", "members: it is missing"),
    ],
)
def test_an_invalid_panel_is_rejected(project: Project, members: str, said: str) -> None:
    configure(project, judge("a", "http://h:1/v1"))
    with project.path.with_name("workbench.toml").open("a") as stream:
        stream.write('[verifiers.self]\nkind = "judge-panel"\nmembers = ["a", "self"]\n')
    with pytest.raises(UsageError, match=said):
        panel(project, members)


def test_weights_and_reducers_work_as_in_other_panels(project: Project) -> None:
    configure(project, judge("a", "http://h:1/v1"), judge("b", "http://h:2/v1"))
    with pytest.raises(UsageError, match="weights: 2 positive numbers"):
        panel(project, "a,b", reducer="weighted", weights="1,2,3")
    made: ServedVerifier = panel(project, "a,b", reducer="weighted", weights="1,2")
    assert made.calls_per_item() == 2
