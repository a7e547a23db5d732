"""Probing a verifier through its reward server equals probing it locally."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, structs

from tests.commands import run as command
from tests.helpers import make_project, numbered
from tests.rewarding import launched
from tests.servers.scripted import Received, Scripted, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.measuring.studies import probe_text
from workbench.runs.probes import ProbingPlan, accepted, plan, run
from workbench.training import probing
from workbench.training.probing import RewardClient, probe_served
from workbench.training.records import RewardItem
from workbench.verifiers.base import identity

STAGES = ["rules:correct", "first:correct", "last"]


def answer(received: Received) -> str:
    """A judge that is taken in by one word."""
    return "Final Judgment: Yes" if "PASS" in str(received.body) else "Final Judgment: No"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    made = make_project(tmp_path, numbered(12, subtype="A1"))
    yield made
    made.close()


def planned(project: Project, name: str = "rules", **options: str) -> ProbingPlan:
    return plan(project, name, options, limit=4, families=("P1", "P4", "P7"), here=False)


def figures(report: Any) -> Any:
    return structs.replace(report, created_at="", seconds=0.0, slowest_ms=0.0, calls=0, at=UNSET)


@pytest.mark.soak
def test_a_served_stack_names_the_stage_that_accepted_a_probe(project: Project) -> None:
    with scripted(answer) as first, scripted(lambda _: "Final Judgment: Yes") as last:
        judges = "".join(
            f'[verifiers.{name}]\nkind = "llm-judge"\nmodel = "{name}"\nbase_url = "{one.url}"\n'
            for name, one in (("first", first), ("last", last))
        )
        stack = f'[verifiers.cascade]\nkind = "stack"\nstages = {json.dumps(STAGES)}\n'
        project.path.with_name("workbench.toml").write_text(judges + stack)
        with launched(project.path.parent, project.path, "--verifier", "cascade", "--trust") as server:
            server.until_ready()
            sent = planned(project, "cascade")
            assert sent.calls is None
            found = probe_served(project, sent, server.url)
            asked = len(first.received) + len(last.received)
            assert asked > 0
        assert found.at == server.url
        assert found.overall.accepted == sum(sum(families.values()) for families in found.let_in.values()) > 0
        assert set(found.let_in) >= {"first", "last"}
        assert "judged by the reward server http://" in probe_text(found)
        listed = [(one.family, one.rule) for one in accepted(project, "cascade")]
        assert {rule for _, rule in listed} == {f"stage.{name}" for name in found.let_in}
        # Here the judges' replies are stored by the server's run: the same comes of it without a call.
        here = run(project, plan(project, "cascade", limit=4, families=("P1", "P4", "P7"), trust=True))
        assert figures(here) == figures(found)
        assert (here.calls, len(first.received) + len(last.received)) == (0, asked)
        assert here.at is UNSET


def test_the_command_probes_the_verifier_of_a_server(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARD_TOKEN", "x" * 24)
    with launched(project.path.parent, "--verifier", "rules", "--token-env", "REWARD_TOKEN") as server:
        given = ["probe", project.path, "rules", "--at", server.url, "--limit", 3, "--family", "P1"]
        refused = command(*given)
        assert "Give the server's token" in refused.stderr
        assert refused.returncode != 0
        told = command(*given, "--token-env", "REWARD_TOKEN", "--json")
        assert told.returncode == 0, told.stderr
        document = json.loads(told.stdout)
        assert (document["at"], document["verifier"], document["rows"]) == (server.url, "rules", 3)


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "options"), [("exact", {}), ("rules", {"form": "any"})])
def test_a_server_of_another_verifier_is_rejected(project: Project, name: str, options: dict[str, str]) -> None:
    with launched(project.path.parent, "--verifier", "rules") as server:
        sent = planned(project, name, **options)
        with pytest.raises(UsageError, match=rf"{server.url} serves rules .* which is not '{name}'"):
            probe_served(project, sent, server.url)


@pytest.mark.parametrize("url", ["localhost:8100", "ftp://localhost", "http://", "http://[", "http://h:x", ""])
def test_an_invalid_address_is_rejected(url: str) -> None:
    with pytest.raises(UsageError, match="not a valid server address"):
        RewardClient(url)


def test_missing_and_foreign_servers_have_different_errors(project: Project) -> None:
    with scripted(lambda _: "Yes") as other:
        url = f"http://127.0.0.1:{other.port}"
        with pytest.raises(RunError, match="is not a reward server"):
            probe_served(project, planned(project), url)
    with pytest.raises(RunError, match="doesn't answer"):
        probe_served(project, planned(project), url)


def test_a_reply_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MAX_REPLY_BYTES", 1_000)
    with (
        scripted(lambda _: Scripted(body='"' + "x" * 2_000 + '"')) as server,
        RewardClient(f"http://127.0.0.1:{server.port}") as client,
        pytest.raises(RunError, match="sends more than 1,000 bytes"),
    ):
        client.health()


def test_a_full_server_is_retried(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    said = {"id": 7, "reward": 1.0, "verdict": "correct", "score": None, "reason": None, "rule": None, "ms": 0.1}
    answers = [Scripted(503, body={"error": "Too many items are waiting."}), Scripted(body={"items": [said]})]
    with (
        scripted(lambda _: answers.pop(0)) as server,
        RewardClient(f"http://127.0.0.1:{server.port}/behind/") as client,
    ):
        (found,) = client.answers([RewardItem(reference="r", completion="c", id=7)])
        assert (found.verdict, waited) == ("correct", [1.0])
        assert {one.path for one in server.received} == {"/behind/reward"}
        answers += [Scripted(body={"items": [said]}), Scripted(body={"items": []})]
        for _ in range(2):
            with pytest.raises(RunError, match="answered for other items than those it was sent"):
                client.answers([RewardItem(reference="r", completion="c", id=8)])
        answers += [Scripted(503, body={"error": "dear: The budget is used up."})] * probing._MAX_ATTEMPTS
        with pytest.raises(RunError, match="The budget is used up"):
            client.answers([RewardItem(reference="r", completion="c", id=8)])


def test_identity_is_of_the_configuration(project: Project) -> None:
    with launched(project.path.parent, "--verifier", "rules") as server, RewardClient(server.url) as client:
        assert client.health().identity == identity(planned(project).verifier)
