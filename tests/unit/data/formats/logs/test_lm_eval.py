"""lm-evaluation-harness samples: its own files, the old layout, and the target of a metric."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import grades_of, read
from tests.unit.data.formats.logs.evaluation_logs import options, row, samples, written
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats.logs.lm_eval import dataset_of
from workbench.data.formats.logs.prompts import question_in, text_of
from workbench.data.formats.reading import plan_file, read_records

STRICT = "lm-eval/sample_numbers/exact_match-strict-match"
FLEXIBLE = "lm-eval/sample_numbers/exact_match-flexible-extract"
OPTION = [["-1.5", "False"]]


def items(path: Path) -> list[dict[str, Any]]:
    found = read("lm-eval", path)
    assert not any(isinstance(one, Refusal) for one in found)
    return [one[0] for one in found if not isinstance(one, Refusal)]


def test_samples_are_recognised_and_each_completion_read_once() -> None:
    plan = plan_file(samples("sample_numbers"))
    assert (plan.format, plan.container, dataset_of(plan.path)) == ("lm-eval", "jsonl", "sample_numbers")
    with read_records(plan) as (records, _):
        found = [record for record in records if isinstance(record, ItemRecord)]
    first, again = found[0], found[5]
    assert len(found) == 10
    assert first.question.startswith("A bakery bakes 15 trays")
    assert first.question.endswith("How many bags does the bakery fill?")
    assert (first.reference, first.model, first.source) == ("18", "sample/model-a", "sample_numbers")
    assert first.completion.endswith("#### 18")
    assert json.loads(first.extra or "")["doc"]["id"].startswith("a94dd6")
    assert (first.completion_key, first.extra) == (again.completion_key, again.extra)


def test_each_metric_under_each_filter_is_a_verifier() -> None:
    grades = grades_of(read("lm-eval", samples("sample_numbers")))
    assert grades[0] == {STRICT: ("incorrect", 0.0)}
    assert grades[5] == {FLEXIBLE: ("correct", 1.0)}
    (_, strict), *_ = (one for one in read("lm-eval", samples("sample_numbers")) if not isinstance(one, Refusal))
    assert strict[0].answer == "[invalid]"


def test_the_first_of_several_responses_is_graded() -> None:
    grades = grades_of(read("lm-eval", samples("sample_repeats")))
    first, majority = (f"lm-eval/sample_repeats/exact_match-{name}" for name in ("score-first", "maj@3"))
    assert [list(one) for one in grades[:3]] == [[first], [], []]
    assert grades[6:9] == [{majority: (None, None)}] * 3


def test_a_metric_of_options_is_about_the_option_it_takes() -> None:
    found = items(samples("sample_states"))
    grades = grades_of(read("lm-eval", samples("sample_states")))
    acc, acc_norm = "lm-eval/sample_states/acc", "lm-eval/sample_states/acc_norm"
    assert [(one["completion"], list(said)) for one, said in zip(found[:2], grades[:2], strict=True)] == [
        ("proved", [acc]),
        ("disproved", [acc_norm]),
    ]
    assert grades[0][acc] == ("incorrect", 0.0)
    assert grades[1][acc_norm] == ("correct", 1.0)
    assert {one["reference"] for one in found} == {"disproved", "invalid", "degraded"}


def test_the_model_is_unknown_without_results_next_to_the_samples(tmp_path: Path) -> None:
    alone = tmp_path / samples("sample_numbers").name
    shutil.copy(samples("sample_numbers"), alone)
    assert "model" not in items(alone)[0]


@pytest.mark.parametrize("lacks", ["filter", "metrics"])
def test_rows_without_the_names_of_filters_and_metrics_are_rejected(tmp_path: Path, lacks: str) -> None:
    one = {key: value for key, value in row().items() if key != lacks}
    (refusal,) = read("lm-eval", written(tmp_path, one))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.field) == ("missing_field", lacks)
    assert "before 0.4.3" in refusal.message


@pytest.mark.parametrize(
    ("value", "grade"),
    [
        (1, ("correct", 1.0)),
        (0.0, ("incorrect", 0.0)),
        (0.25, (None, 0.25)),
        (41.5, (None, 41.5)),
        (True, ("correct", None)),
        (float("nan"), None),
        ([0, 3], None),
        ("high", None),
    ],
    ids=["one", "zero", "share", "percent", "true", "nan", "pair", "word"],
)
def test_a_metrics_value_is_a_verdict_a_score_or_nothing(tmp_path: Path, value: object, grade: object) -> None:
    (grades,) = grades_of(read("lm-eval", written(tmp_path, row(exact_match=value))))
    assert grades == ({} if grade is None else {"lm-eval/t/exact_match": grade})


def test_metrics_where_lower_is_better_are_no_graders(tmp_path: Path) -> None:
    path = written(tmp_path, row(metrics=["ter", "exact_match", "bypass"], ter=0.5, bypass=999))
    results = {"model_name": "m", "configs": {"t": {}}, "higher_is_better": {"t": {"ter": False, "exact_match": True}}}
    (tmp_path / "results_2026-01-02T03-04-05.6.json").write_text(json.dumps(results))
    (grades,) = grades_of(read("lm-eval", path))
    assert list(grades) == ["lm-eval/t/exact_match"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"configs": {"t": 5}}', '{"configs": []}', '{"configs": {"u": {}}}'])
def test_broken_results_leave_only_the_model_unknown(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, row())
    (tmp_path / "results_2026-01-02T03-04-05.6.json").write_text(text)
    assert items(path)[0]["completion"] == "It is 7."


def test_several_targets_are_alternatives(tmp_path: Path) -> None:
    found = items(written(tmp_path, row(target="['7', 'seven']"), row(target=["7", "seven"]), row(target="[7")))
    assert [one["reference"] for one in found] == ["7 or seven", "7 or seven", "[7"]


@pytest.mark.parametrize(
    ("target", "right"),
    [("1", "7"), ("7", "7"), ("0", "5"), ("9", "9"), ("[0, 1]", "5 or 7")],
    ids=["number", "text", "other-number", "neither", "several"],
)
def test_the_target_of_options_is_a_number_or_a_text(tmp_path: Path, target: str, right: str) -> None:
    given = options("5", "7", "8", likelihoods=[-2.0, -3.0, -1.0], target=target, metrics=["acc"], acc=0.0)
    (found,) = items(written(tmp_path, given))
    assert (found["completion"], found["reference"]) == ("8", right)


def test_an_option_that_a_metric_calls_right_is_the_reference(tmp_path: Path) -> None:
    """The texts are numbers: "1" may be the first option or the second."""
    given = options("1", "2", likelihoods=[-1.0, -2.0], target="1", metrics=["acc"], acc=1.0)
    assert items(written(tmp_path, given))[0]["reference"] == "1"
    given = options("1", "2", likelihoods=[-2.0, -1.0], target="1", metrics=["acc"], acc=0.0)
    assert items(written(tmp_path, given))[0]["reference"] == "1"


def test_options_that_no_metric_judges_are_a_completion_without_grades(tmp_path: Path) -> None:
    given = options(
        "5", "7", likelihoods=[-2.0, -1.0], target="0", metrics=["brier_score"], brier_score=[0, [0.2, 0.8]]
    )
    found = read("lm-eval", written(tmp_path, given))
    assert grades_of(found) == [{}]
    assert items(tmp_path / "samples_t_2026-01-02T03-04-05.6.jsonl")[0]["completion"] == "7"


def test_mutual_information_takes_the_option_that_the_question_makes_likelier(tmp_path: Path) -> None:
    given = options(
        "5", "7", "5", "7", likelihoods=[-1.0, -2.0, -0.5, -9.0], metrics=["acc", "acc_mutual_info"], acc=0.0
    )
    given["acc_mutual_info"] = 1.0
    for name in ("gen_args_2", "gen_args_3"):
        given["arguments"][name]["arg_0"] = ""
    found = items(written(tmp_path, given))
    assert [one["completion"] for one in found] == ["5", "7"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (options("7", likelihoods=[-1.5]), "unsupported"),
        (row(resps=[["-3.2"]], arguments={"gen_args_0": {"arg_0": "A long text."}}), "unsupported"),
        (row(resps=[["-3.2"]], arguments=None, doc="text"), "missing_field"),
        (row(resps=[[-3.2]]), "unsupported"),
        (row(resps="It is 7."), "wrong_type"),
        (row(resps=[]), "wrong_type"),
        (row(target={"a": 1}), "wrong_type"),
        (options("5", "7", likelihoods=[float("nan"), -1.0]), "wrong_type"),
    ],
    ids=["target-alone", "rolling", "no-prompt", "number", "text", "empty", "target", "nan"],
)
def test_what_holds_no_completion_is_rejected_and_the_rest_loads(
    tmp_path: Path, given: dict[str, Any], code: str
) -> None:
    refused, taken = read("lm-eval", written(tmp_path, given, row()))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.line) == (code, 1)
    assert not isinstance(taken, Refusal)


def test_a_prompt_is_cut_to_its_document() -> None:
    document = {"question": "Who won?", "passage": "The red team won the long game.", "choices": ["red", "blue"]}
    example = "Passage: Nobody played that day.\nQuestion: Who won?\nAnswer: nobody\n\n"
    prompt = f"{example}Passage: The red team won the long game.\nQuestion: Who won?\nA. red\nB. blue\nAnswer:"
    assert (
        question_in(prompt, document, "red") == "The red team won the long game.\nQuestion: Who won?\nA. red\nB. blue"
    )
    assert question_in("Translate: bonjour", {"text": "bonjour"}, "hello") == "Translate: bonjour"
    chat = json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": 'Say "a\nb".'}])
    assert text_of([chat]) == 'Be brief.\n\nSay "a\nb".'
    assert question_in("Q: Who won?\nA: ", {"question": "Who won?", "answer": "A"}, "A") == "Who won?"
