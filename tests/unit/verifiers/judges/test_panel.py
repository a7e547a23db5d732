"""Panels: each model gets the same request, and their votes are reduced to one verdict."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.served_runs import here
from tests.servers.scripted import scripted
from tests.unit.verifiers.judges.asking import RecordedCall, judged, llm_judge
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.llm.records import Reply, TokenChoice
from workbench.runs.verifying import start
from workbench.verifiers.base import identity

ROLES = ("judge", "judge-2", "judge-3")


def panel(*replies: str | Reply, **options: str) -> Verdict:
    """The verdict of three models, each of which replies as said."""
    said = dict(zip(ROLES, replies, strict=True))
    given = {"strategy": "vanilla", "panel": "m2, m3", **options}
    return judged(lambda call: said[call.role], **given)[0].verdict


def sure(chance: float) -> Reply:
    text = "Yes" if chance >= 0.5 else "No"
    likely = (("Yes", math.log(chance)), ("No", math.log(1 - chance)))
    return Reply(text=text, finish_reason="stop", tokens=(TokenChoice(text, likely),))


@pytest.mark.parametrize(
    ("reducer", "replies", "outcome", "score"),
    [
        ("majority", ("Yes", "Yes", "No"), "correct", 2 / 3),
        ("majority", ("Yes", "No", "perhaps"), "abstain", 0.5),
        ("mean", ("No", "Yes", "No"), "incorrect", 1 / 3),
        ("mean", ("No", "Yes", "perhaps"), "abstain", 0.5),
        ("min", ("Yes", "Yes", "Yes"), "correct", 1),
        ("min", ("Yes", "Yes", "No"), "incorrect", 0),
        ("min", ("Yes", "perhaps", "No"), "incorrect", 0),
        ("min", ("Yes", "Yes", "perhaps"), "abstain", None),
        ("mean", ("perhaps", "perhaps", "perhaps"), "abstain", None),
    ],
)
def test_reducers(reducer: str, replies: tuple[str, ...], outcome: str, score: float | None) -> None:
    found = panel(*replies, reducer=reducer)
    assert found.outcome.word == outcome
    assert found.score == (None if score is None else pytest.approx(score))


def test_weights_decide_whose_vote_counts() -> None:
    assert panel("Yes", "No", "No", reducer="weighted", weights="3,1,1").outcome.word == "correct"
    assert panel("Yes", "No", "No", reducer="weighted", weights="2,1,1").reason == "tie"
    assert panel("perhaps", "No", "Yes", reducer="weighted", weights="9,1,2").score == pytest.approx(2 / 3)


def test_a_graded_panel_reduces_probabilities() -> None:
    replies = (sure(0.9), sure(0.4), sure(0.4))
    assert panel(*replies, top_logprobs="2").outcome.word == "incorrect"
    mean = panel(*replies, top_logprobs="2", reducer="mean")
    assert mean.outcome.word == "correct"
    assert mean.score == pytest.approx(1.7 / 3)
    assert panel(*replies, top_logprobs="2", reducer="mean", threshold="0.6").outcome.word == "incorrect"
    assert panel(*replies, top_logprobs="2", reducer="min").score == pytest.approx(0.4)
    one_silent = panel(sure(0.9), "No", sure(0.8), top_logprobs="2", reducer="mean")
    assert one_silent.score == pytest.approx(0.85)


def test_every_judge_gets_the_same_request_and_its_vote_is_stored() -> None:
    words = dict(zip(ROLES, ("Yes", "No", "Yes"), strict=True))

    def script(call: RecordedCall) -> str:
        return words[call.role]

    found, calls = judged(script, strategy="vanilla", panel="m2,m3")
    assert [call.role for call in calls] == list(ROLES)
    assert len({call.request for call in calls}) == 1
    assert [vote.outcome.word for vote in found.votes] == ["correct", "incorrect", "correct"]
    judge = llm_judge(panel="m2,m3")
    assert {role: server.model for role, server in judge.servers().items()} == {
        "judge": "m", "judge-2": "m2", "judge-3": "m3",
    }  # fmt: skip
    assert judge.calls_per_item() == 3


def test_the_members_are_part_of_the_identity() -> None:
    assert "panel" not in llm_judge().config()
    options = [{}, {"panel": "m2"}, {"panel": "m3"}, {"panel": "m2", "reducer": "min"}]
    options += [{"panel": "m2", "reducer": "weighted", "weights": f"{n},1"} for n in (2, 3)]
    assert len({identity(llm_judge(**one)) for one in options}) == len(options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reducer": "mean"}, "reducer: only a panel has this option"),
        ({"panel": "m"}, "panel: the same model is named twice"),
        ({"panel": "m2,m2"}, "panel: the same model is named twice"),
        ({"panel": "m2", "reducer": "most"}, "reducer: "),
        ({"panel": "m2", "weights": "1,2"}, "weights: only reducer=weighted uses them"),
        ({"panel": "m2", "reducer": "weighted"}, "weights: only reducer=weighted uses them"),
        ({"panel": "m2", "reducer": "weighted", "weights": "1,2,3"}, "weights: 2 positive numbers"),
        ({"panel": "m2", "reducer": "weighted", "weights": "1,-2"}, "weights: 2 positive numbers"),
        ({"panel": "m2", "reducer": "weighted", "weights": "1,x"}, "weights: 2 positive numbers"),
        ({"panel": "m2", "strategy": "mcts"}, "panel: the strategy mcts has no panel"),
    ],
)
def test_an_invalid_panel_is_rejected(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        llm_judge(**options)


def test_each_model_is_called_once_and_shares_replies(tmp_path: Path) -> None:
    with here(tmp_path, 4) as runs, scripted(lambda got: "No" if got.body["model"] == "m3" else "Yes") as server:
        options = {"base_url": server.url, "model": "m", "strategy": "vanilla"}
        single = runs.work(start(runs.project, "llm-judge", options, "single").run)
        assert (single.verdicts or {})["correct"] == len(server.received) == 4
        runs.claim()
        found = runs.work(start(runs.project, "llm-judge", {**options, "panel": "m2,m3"}, "panel").run)
        assert (found.verdicts or {})["correct"] == 4
        assert sorted(body["model"] for body in server.bodies) == ["m"] * 4 + ["m2"] * 4 + ["m3"] * 4
        votes = runs.sql("SELECT sample, outcome FROM verdicts WHERE run_id = ? AND completion_id = 1", found.run)
        assert [(sample, OutcomeCode(outcome).word) for sample, outcome in sorted(votes)] == [
            (0, "correct"), (1, "correct"), (2, "correct"), (3, "incorrect"),
        ]  # fmt: skip
