"""From replies to verdicts: outcomes and reasons, votes, options, identity."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.verifiers.judges.asking import ITEM, SECRET, RecordedCall, Script, judged, llm_judge
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import CallFailed, Reply, Request
from workbench.verifiers.base import identity
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.judges.voting import majority
from workbench.verifiers.registry import build

CUT = "length"


def outcome(script: Script, **options: str) -> tuple[str, str | None]:
    verdict = judged(script, **options)[0].verdict
    return verdict.outcome.word, verdict.reason


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("strategy", "reply", "expected"),
    [
        ("verifybench", "Both are 25.\nFinal Judgment: Yes", ("correct", None)),
        ("verifybench", "Final Judgment: No", ("incorrect", None)),
        ("verifybench", "I can't tell.", ("abstain", "unparsed")),
        ("verifybench", "", ("abstain", "unparsed")),
        ("verifybench", "<think>Final Judgment: Yes", ("abstain", "truncated")),
        ("verifybench", Reply(text="The answers are", finish_reason=CUT), ("abstain", "truncated")),
        ("verifybench", Reply(text="Final Judgment: Yes\nBecause", finish_reason=CUT), ("correct", None)),
        ("verifybench", Reply(text="", reasoning="Hm.", finish_reason=CUT), ("abstain", "truncated")),
        ("vanilla", "Yes", ("correct", None)),
        ("vanilla", " No.", ("incorrect", None)),
        ("vanilla", "Perhaps", ("abstain", "unparsed")),
        ("ice-score", "4", ("correct", None)),
        ("ice-score", "3", ("incorrect", None)),
        ("ice-score", "7", ("abstain", "unparsed")),
        ("codejudge-fault", "[]", ("correct", None)),
        ("codejudge-fault", '[{"inconsistency": "x", "severity": "Fatal"}]', ("incorrect", None)),
        ("codejudge-fault", "none that I see", ("abstain", "unparsed")),
        ("compassverifier", "A", ("correct", None)),
        ("compassverifier", "B", ("incorrect", None)),
        ("compassverifier", "C", ("abstain", "invalid")),
        ("compassverifier", "Final Judgment: \\boxed{C} - REFUSAL", ("abstain", "invalid")),
        ("xverify", "[Correct]", ("correct", None)),
        ("xverify", "[Incorrect]", ("incorrect", None)),
    ],
)
def test_one_call(strategy: str, reply: str | Reply, expected: tuple[str, str | None]) -> None:
    assert outcome([reply], strategy=strategy) == expected


def test_the_last_call_decides() -> None:
    assert outcome(["No, it is wrong.", "Yes"], strategy="codejudge") == ("correct", None)
    assert outcome(["Yes", Reply(text="After all", finish_reason=CUT)], strategy="codejudge") == (
        "abstain",
        "truncated",
    )


@pytest.mark.parametrize(
    ("analysis", "reason"),
    [
        ("", "unparsed"),
        (" \n", "unparsed"),
        ("<think>It is right.</think>\n", "unparsed"),
        ("<think>It is right. Yes", "truncated"),
        (Reply(text="", reasoning="Hm.", finish_reason=CUT), "truncated"),
    ],
)
def test_an_empty_analysis_is_not_summarised(analysis: str | Reply, reason: str) -> None:
    for version in ("codejudge@1", "codejudge@2"):
        found, calls = judged([analysis, "No"], strategy="codejudge", parser=version)
        assert (found.verdict.outcome, found.verdict.reason, len(calls)) == (Outcome.ABSTAIN, reason, 1)


def test_scores_are_stored_unchanged() -> None:
    assert judged("3 out of 4", strategy="ice-score")[0].verdict.score == 3
    faults = '[{"inconsistency": "x", "severity": "Small"}, {"inconsistency": "y", "severity": "major"}]'
    assert judged(faults, strategy="codejudge-fault")[0].verdict.score == 0.45


def test_the_detail_is_the_line_of_the_judge() -> None:
    message = judged('The text says "Final Judgment: No".\n**Final Judgment: Yes**\nNo more to say.')[0].verdict
    assert (message.outcome, message.detail) == (Outcome.CORRECT, "**Final Judgment: Yes**")
    assert judged("C - REFUSAL, it will not answer", strategy="compassverifier")[0].verdict.detail
    long = judged("I " + "really " * 100 + "can't tell.")[0].verdict.detail
    assert long
    assert len(long) == 200


@pytest.mark.parametrize(
    ("replies", "expected", "score"),
    [
        ("YYYNN", ("correct", None), 0.6),
        ("NNNYY", ("incorrect", None), 0.4),
        ("YY-NN", ("abstain", "tie"), 0.5),
        ("Y----", ("correct", None), 1.0),
        ("-----", ("abstain", "unparsed"), None),
    ],
)
def test_a_vote_counts_what_was_parsed(replies: str, expected: tuple[str, str | None], score: float | None) -> None:
    words = {"Y": "Final Judgment: Yes", "N": "Final Judgment: No", "-": "Hm."}
    script = [words[reply] for reply in replies]
    found, calls = judged(script, samples="5")
    assert (found.verdict.outcome.word, found.verdict.reason) == expected
    assert found.verdict.score == score
    assert [vote.outcome.word[0] for vote in found.votes] == [{"Y": "c", "N": "i", "-": "a"}[one] for one in replies]
    assert len(calls) == 5


def test_a_vote_of_scores_has_their_mean() -> None:
    found, _ = judged(["4", "4", "1"], strategy="ice-score", samples="3")
    assert (found.verdict.outcome, found.verdict.score) == (Outcome.CORRECT, 3)
    assert found.verdict.detail == "2 of 3 correct, 1 incorrect, 0 undecided"


def test_a_vote_without_verdicts_has_the_common_reason() -> None:
    assert outcome("C", strategy="compassverifier", samples="3") == ("abstain", "invalid")
    votes = [Verdict(outcome=Outcome.ABSTAIN, reason=reason) for reason in ("invalid", "truncated")]
    assert majority(votes).reason == "unparsed"


def test_a_failed_call_is_left_to_the_run() -> None:
    async def fails(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        raise CallFailed("context_length", "too long")

    with pytest.raises(CallFailed):
        asyncio.run(llm_judge().judge(ITEM, fails, SECRET))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": ""}, "base_url: it is missing"),
        ({"model": " "}, "model: it is missing"),
        ({"strategy": "oracle"}, "strategy: it is verifybench or"),
        ({"strategy": "template"}, "template: it is missing"),
        ({"reference": "maybe"}, "reference: it is true or"),
        ({"fence": "maybe"}, "fence: it is"),
        ({"neutralise": "never"}, "neutralise: it is"),
        ({"samples": "0"}, "samples: it is a whole number"),
        ({"samples": "3", "temperature": "0"}, "temperature: more than one sample requires a temperature above 0"),
        ({"temperature": "-1"}, "temperature: it is a number"),
        ({"temperature": "nan"}, "temperature: 'nan' is not a number"),
        ({"top_p": "0"}, "top_p: it is a number"),
        ({"top_k": "0"}, "top_k: it is a whole number"),
        ({"max_tokens": "many"}, "max_tokens: 'many' is not a whole number"),
        ({"variant": "cot"}, "variant: the strategy verifybench has no variants"),
        ({"strategy": "ice-score", "variant": "best"}, "variant: it is usefulness or"),
        ({"parser": "mine"}, "There is no parser 'mine'"),
        ({"api_key_env": "sk-abc"}, "api_key_env: give the name"),
    ],
)
def test_invalid_options_are_reported(options: dict[str, str], message: str) -> None:
    with pytest.raises((ValueError, UsageError)) as error:
        llm_judge(**options)
    assert message in str(error.value)
    assert "sk-abc" not in str(error.value)


def test_the_identity_includes_whatever_may_change_a_verdict() -> None:
    base = identity(llm_judge())
    assert base == identity(llm_judge(concurrency="7", rpm="60", max_cost="1"))
    assert base == identity(llm_judge(temperature="0"))
    assert base == identity(llm_judge(parser="verifybench@2", strategy="verifybench", reference="on", samples="1"))
    changes: list[dict[str, str]] = [
        {"model": "other"},
        {"server": "vllm"},
        {"base_url": "http://elsewhere:2/v1"},
        {"strategy": "xverify"},
        {"parser": "verifybench@1"},
        {"reference": "false"},
        {"fence": "off"},
        {"neutralise": "off"},
        {"samples": "3"},
        {"temperature": "0.5"},
        {"seed": "1"},
        {"max_tokens": "100"},
    ]
    assert len({base, *(identity(llm_judge(**change)) for change in changes)}) == len(changes) + 1
    named = {"server_name": "lab"}
    assert identity(llm_judge(**named)) == identity(llm_judge(base_url="http://elsewhere:2/v1", **named))


def test_a_replayed_reply_may_differ_under_another_parser() -> None:
    def reply(call: RecordedCall) -> str:
        return "Final Judgment: Yes. Notation differs."

    assert outcome(reply) == ("correct", None)
    assert outcome(reply, parser="verifybench@1") == ("incorrect", None)


def test_the_judge_is_registered() -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("llm-judge", "workbench.verifiers.judges.verifier:LlmJudge", "workbench.verifiers")
    verifier = build(point, {"base_url": "http://localhost:1/v1", "model": "m"})
    assert isinstance(verifier, LlmJudge)
    assert verifier.isolation == "served"
    assert verifier.servers()["judge"].base_url == "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        (["Yes", "Yes", "Yes"], ("correct", None, 1.0)),
        (["Yes", "No", "Yes"], ("incorrect", None, 2 / 3)),
        (["hm", "No", "Yes"], ("incorrect", None, 0.5)),
        (["Yes", "hm", "Yes"], ("abstain", "unparsed", 1.0)),
        (["hm", "hm", "hm"], ("abstain", "unparsed", None)),
    ],
)
def test_a_unanimous_vote_needs_every_reply(replies: list[str], expected: tuple[str, str | None, float | None]) -> None:
    """VerifyBench 5.2: "only completions consistently verified as correct were retained"."""
    found, calls = judged(replies, samples="3", vote="unanimous")
    assert (found.verdict.outcome.name.lower(), found.verdict.reason, found.verdict.score) == expected
    assert len(calls) == len(found.votes) == 3


def test_only_a_non_default_vote_is_part_of_the_identity() -> None:
    base = llm_judge(samples="3")
    assert (
        identity(base)
        == identity(llm_judge(samples="3", vote="majority"))
        != identity(llm_judge(samples="3", vote="unanimous"))
    )
    with pytest.raises(ValueError, match="a vote needs several replies"):
        llm_judge(vote="unanimous")
    with pytest.raises(ValueError, match="threshold"):
        llm_judge(samples="3", vote="unanimous", top_logprobs="5", threshold="0.5")
