"""Verifiers as reward functions: the interfaces of three trainers, skipped items, and survivable errors."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from tests.background import install_plugin
from tests.helpers import make_project
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.training import verl
from workbench.training.reward import Reward


@pytest.fixture(scope="module")
def rules() -> Iterator[Reward]:
    with workbench.reward("rules") as made:
        yield made


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)


def turn(content: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (r"So \boxed{2}", 1.0),
        (r"So \boxed{3}", 0.0),
        ([turn(r"So \boxed{2}")], 1.0),
        ([turn(r"\boxed{2}"), turn("7", "tool"), turn(r"\boxed{3}")], 0.0),
        ([turn([{"type": "text", "text": r"So \bo"}, {"type": "image"}, {"type": "text", "text": "xed{2}"}])], 1.0),
        ([turn(None)], None),
        ([], None),
        ("", None),
        ("I do not know.", 0.0),
    ],
)
def test_trl_s_plain_texts_and_conversations(rules: Reward, completion: Any, expected: float | None) -> None:
    prompts = ["What is 1+1?" if isinstance(completion, str) else [turn("What is 1+1?", "user")]]
    assert rules(prompts=prompts, completions=[completion], completion_ids=[[1]], ground_truth=["2"]) == [expected]


@pytest.mark.parametrize("name", ["reference", "ground_truth", "solution", "answer"])
def test_the_column_of_references_is_found(rules: Reward, name: str) -> None:
    assert rules(prompts=["q"] * 3, completions=[r"\boxed{2}"] * 3, **{name: ["2", 2, None]}) == [1.0, 1.0, None]


def test_the_question_is_the_prompt_unless_there_is_a_column() -> None:
    seen: list[VerifierInput] = []

    class Watched(Reward):
        def verdicts(self, items: Any, deadline: float | None = None) -> Any:
            seen.extend(items)
            return super().verdicts(items, deadline)

    reward = Watched("exact")
    reward(
        prompts=[[turn("be brief", "system"), turn("1+1?", "user")]], completions=["a"], answer=["a"], subtype=["A1"]
    )
    reward(prompts=["Solve: 1+1?"], completions=["a"], answer=["a"], question=["1+1?"], subtype=["Integer"])
    reward(prompts=["1+1?"], completions=["a"], answer=["a"], subtype=["no such"])
    assert [item.question for item in seen] == ["1+1?"] * 3
    assert [item.subtype for item in seen] == ["A1", "A1", None]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "ground_truth is missing"),
        ({"answer": ["2"], "solution": ["2"]}, "solution or answer"),
        ({"answer": ["2", "3"]}, "answer has 2 values for 1 completions"),
        ({"answer": "2"}, "answer must be a list"),
        ({"answer": [["2"]]}, r"answer\[0\] must be text"),
        ({"answer": [True]}, r"answer\[0\] must be text"),
        ({"answer": ["2"], "completions": [[3]]}, r"completions\[0\]\[0\] must be a message"),
        ({"answer": ["2"], "completions": [[turn(7.5j)]]}, r"completions\[0\]\[0\]\.content must be text"),
        ({"answer": ["2"], "completions": None}, "completions must be a list"),
    ],
)
def test_rows_that_cannot_be_judged_are_named(rules: Reward, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rules(**{"prompts": ["q"], "completions": ["x"], **columns})


def test_the_column_can_be_named() -> None:
    reward = workbench.reward("exact", reference="gold")
    assert reward(prompts=["q"], completions=["a"], gold=["a"], answer=["b"], solution=["c"]) == [1.0]
    with pytest.raises(UsageError, match="gold is missing"):
        reward(prompts=["q"], completions=["a"], answer=["b"])


def test_trl_gets_extra_columns_and_metrics_on_request(rules: Reward) -> None:
    extra: dict[str, list[Any]] = {}
    figures: dict[str, float] = {}
    rules(
        prompts=["q"] * 3,
        completions=[r"\boxed{2}", "", "x"],
        answer=["2", "2", None],
        log_extra=extra.__setitem__,
        log_metric=figures.__setitem__,
        trainer_state=object(),
    )
    assert extra == {
        "rules verdict": ["correct", "abstain", None],
        "rules reason": ["text_equal", "no_answer_found", None],
    }
    assert figures == {"rules/undecided": 0.5}
    assert rules.__name__ == "workbench:rules"


def test_a_missing_value_of_a_frame_is_no_reference(rules: Reward) -> None:
    """A model that writes "nan" must not be right wherever a frame has no reference."""
    missing = float("nan")
    columns: dict[str, Any] = {"completions": [r"\boxed{nan}", r"\boxed{2}"], "answer": [missing, 2.0]}
    assert rules(prompts=["q", "q"], subtype=[missing, missing], **columns) == [None, 1.0]
    with pytest.raises(UsageError, match="ground_truth must be text; it is missing"):
        rules.compute_score("d", r"\boxed{nan}", missing, None)
    assert rules.compute_score("d", r"\boxed{2}", "2", {"question": missing})["score"] == 1


@pytest.mark.few(3)
@pytest.mark.parametrize("undecided", [None, -1.0, 0.5])
def test_undecided_items_get_the_configured_reward(undecided: float | None) -> None:
    with workbench.reward("rules", undecided=undecided) as reward:
        assert reward(prompts=["q"], completions=[""], answer=["2"]) == [undecided]
        number = 0.0 if undecided is None else undecided
        assert reward.compute_score("d", "", "2")["score"] == number
        assert reward.reward_func(["q"], ["q"], ["2"])["rewards"] == [number]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_reward_is_finite(wrong: float) -> None:
    with pytest.raises(UsageError, match="is not a valid reward"):
        workbench.reward("exact", undecided=wrong)


def test_the_score_of_the_verifier_on_request() -> None:
    columns: dict[str, Any] = {"prompts": ["q"], "completions": ["the cat sat on the mat"], "answer": ["the cat sat"]}
    assert workbench.reward("chrf")(**columns) == [1.0]
    (score,) = workbench.reward("chrf", own_score=True)(**columns)
    assert score is not None
    assert 0 < score < 1


def test_verl_s_fields_are_the_same_whatever_the_verdict(rules: Reward) -> None:
    kept: dict[str, Any] = {"split": "train", "index": 4, "num_turns": None}
    right = rules.compute_score(
        data_source="d", solution_str=r"\boxed{B}", ground_truth="B", extra_info={"question": "(A) 1 (B) 2", **kept}
    )
    assert right == {"score": 1.0, "acc": 1.0, "undecided": 0.0, "verdict": "correct", "reason": "text_equal"}
    hm = rules.compute_score("d", "", "2", None, reward_router_address="x")
    assert hm == {"score": 0.0, "acc": 0.0, "undecided": 1.0, "verdict": "abstain", "reason": "no_answer_found"}
    batch = rules.compute_scores(["d"] * 2, [r"\boxed{B}", ""], ["B", 2], [{}, None])
    assert [one["acc"] for one in batch] == [1.0, 0.0]
    with pytest.raises(UsageError, match=r"ground_truths\[1\] must be text"):
        rules.compute_scores(["d"] * 2, ["a", "b"], ["a", ["b"]])


def test_verl_s_configuration_chooses_the_verifier() -> None:
    assert verl.compute_score("d", "a", "a", verifier="exact", undecided=-1.0, unknown=7)["score"] == 1.0
    assert verl.compute_score("d", "a", "a", verifier="always-incorrect")["score"] == 0.0
    assert verl.compute_scores(["d"], ["a b"], ["a b"], None, verifier="chrf", options={"threshold": 0.5})[0]["acc"]
    with pytest.raises(UsageError, match="no verifier named"):
        verl.compute_score("d", "a", "a", verifier="nothing")


@pytest.mark.parametrize(
    ("query", "completion"),
    [
        ("<s>[INST] 1+1? [/INST] 2</s>", " 2"),
        ("1+1?2<|im_end|>\n<|endoftext|>", "2"),
        ("1+1?1+1?2", "1+1?2"),
        ("cut to fit: 2<|im_end|>", "cut to fit: 2"),
        ("1+1?</s></s>", ""),
        ("1+1? 2 \n", " 2 \n"),
    ],
)
def test_openrlhf_s_query_is_prompt_and_completion(query: str, completion: str) -> None:
    from workbench.training.frameworks import inputs

    prompt = "[INST] 1+1? [/INST]" if "[INST]" in query else "1+1?"
    (item,) = inputs([query], [prompt], ["2"])
    assert (item.completion, item.question, item.reference) == (completion, prompt, "2")


def test_a_megabyte_of_end_tokens_is_fast() -> None:
    from workbench.training.frameworks import completion_of

    assert completion_of("q" + "</s> " * 200_000, "q") == ""


def test_openrlhf_s_answer(rules: Reward) -> None:
    assert rules.reward_func([r"q\boxed{2}", "q"], ["q", "q"], ["2", "2"], more=1) == {
        "rewards": [1.0, 0.0],
        "scores": [1.0, 0.0],
        "extra_logs": {"undecided": [0.0, 1.0]},
    }


@pytest.mark.parametrize("kind", ["llm-judge", "reward-model"])
def test_a_server_verifier_needs_a_database_for_its_calls(kind: str) -> None:
    with pytest.raises(UsageError, match="its calls are stored in a database"):
        workbench.reward(kind, options={"base_url": "http://localhost:9/v1", "model": "m"})


@pytest.mark.usefixtures("plugin")
def test_a_bomb_affects_only_its_own_reward() -> None:
    completions = ["later a", "later hang", "now", "later crash", "later raise", "later a", "x\ud800"]
    with workbench.reward("staged", options={"ms": "1"}, undecided=-1.0, workers=2, timeout=0.4) as reward:
        items = [VerifierInput(item=0, question="q", reference="r", completion=text) for text in completions]
        verdicts = reward.verdicts(items)
        assert [(verdict.outcome.word, verdict.reason) for verdict in verdicts] == [
            ("incorrect", "compared"),
            ("abstain", "timeout"),
            ("correct", "quick"),
            ("abstain", "worker_died"),
            ("error", "internal"),
            ("incorrect", "compared"),
            ("error", "internal"),
        ]
        assert reward(prompts=["q"], completions=["later hang"], answer=["r"]) == [-1.0]


@pytest.mark.usefixtures("plugin")
def test_threads_get_their_own_answers() -> None:
    with workbench.reward("staged", options={"ms": "1"}, workers=2) as reward, ThreadPoolExecutor(16) as threads:

        def ask(number: int) -> str | None:
            texts = f"later {number}", "now"
            items = [VerifierInput(item=0, question="q", reference="r", completion=text) for text in texts]
            return reward.verdicts(items)[0].candidate_final

        assert list(threads.map(ask, range(200))) == [f"later {number}" for number in range(200)]


@pytest.mark.usefixtures("plugin")
def test_a_caller_that_is_interrupted_crosses_no_answers() -> None:
    """verl's legacy manager stops a slow call with an alarm, wherever it is."""

    def alarm(*_: object) -> None:
        raise TimeoutError

    with workbench.reward("staged", options={"ms": "300"}, workers=1) as reward:
        items = [VerifierInput(item=0, question="q", reference="r", completion=f"later {n}") for n in range(3)]
        reward.verdicts(items[:1])
        before = signal.signal(signal.SIGALRM, alarm)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(TimeoutError):
                reward.verdicts(items[1:2])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert [verdict.candidate_final for verdict in reward.verdicts(items)] == ["later 0", "later 1", "later 2"]


@pytest.mark.usefixtures("plugin")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copy_works_in_a_process_that_was_forked() -> None:
    with workbench.reward("staged", options={"ms": "1"}, workers=1) as reward:
        item = VerifierInput(item=0, question="q", reference="r", completion="later a")
        assert reward.verdicts([item])[0].outcome is Outcome.INCORRECT
        other = VerifierInput(item=0, question="q", reference="r", completion="later b")
        child = os.fork()
        if not child:
            try:
                # pytest's handler of an alarm would raise, and the copy would then run the tests that follow.
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(60)
                os._exit(reward.verdicts([other])[0].outcome is not Outcome.INCORRECT)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert reward.verdicts([other])[0].outcome is Outcome.INCORRECT


def test_it_can_be_sent_to_another_process() -> None:
    reward = workbench.reward("exact", undecided=0.25)
    scored = pickle.loads(pickle.dumps(reward.compute_score))
    assert scored("d", "a", "a")["score"] == 1.0


@pytest.mark.usefixtures("plugin")
def test_closing_ends_the_thread_and_the_next_call_restarts_it() -> None:
    before = threading.active_count()
    reward = workbench.reward("staged", options={"ms": "1"}, workers=1)
    item = VerifierInput(item=0, question="q", reference="r", completion="later a")
    assert reward.verdicts([item])[0].outcome is Outcome.INCORRECT
    assert threading.active_count() == before + 1
    reward.close()
    assert threading.active_count() == before
    assert reward.verdicts([item])[0].outcome is Outcome.INCORRECT
    reward.close()


def test_an_unprobed_verifier_of_a_project_warns(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.close()
    (tmp_path / "workbench.toml").write_text('[verifiers.mine]\nkind = "chrf"\nthreshold = 0.5\n')
    with pytest.warns(UserWarning, match="never probed"):
        reward = workbench.reward("mine", database=project.path)
    assert reward(prompts=["q"], completions=["a b"], answer=["a b"]) == [1.0]


@pytest.mark.parametrize(
    ("option", "given"),
    [
        *(("workers", given) for given in (0, -1, 1.5, "2")),
        *((option, given) for option in ("timeout", "deadline") for given in (0, -1.0, nan, inf, "3", True)),
        *(("undecided", given) for given in ("0", inf, True)),
    ],
)
def test_options_out_of_range_are_rejected_at_once(option: str, given: Any) -> None:
    """With workers=-1 the first comparison that needed a worker never ended."""
    with pytest.raises(UsageError, match=option):
        workbench.reward("rules", **{option: given})


def test_references_and_completions_as_numpy_and_frames_have_them() -> None:
    chat = np.array([{"role": "user", "content": "9"}, {"role": "assistant", "content": r"\boxed{2}"}], dtype=object)
    with workbench.reward("rules") as reward:
        assert reward(prompts=[chat], completions=[chat], ground_truth=np.array([2])) == [1.0]
        for given, said in (
            (np.array("2"), "ground_truth must be a list"),
            ([10**5000], r"ground_truth\[0\] is a number with too many digits"),
            ([Fraction(10**5000, 7)], r"ground_truth\[0\] is a number with too many digits"),
        ):
            with pytest.raises(UsageError, match=said):
                reward(prompts=["q"], completions=[r"\boxed{2}"], ground_truth=given)
