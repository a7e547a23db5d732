"""Rubrics: weighted criteria from a file, each met or not; an unanswered one leaves the item undecided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.verifiers.judges.asking import ITEM, judged, llm_judge, requests
from workbench.core.errors import UsageError
from workbench.core.verdict import Verdict
from workbench.llm.records import Reply
from workbench.verifiers.base import identity

ESSAY = """\
id = "essay"
version = 1

[[criteria]]
name = "result"
weight = 2
required = true
asks = "The final result is the reference's."

[[criteria]]
name = "units"
asks = "Every number has its unit, as in \\\\frac{m}{s}."

[[criteria]]
name = "steps"
asks = "Each step follows from the one before."
"""


@pytest.fixture
def essay(tmp_path: Path) -> str:
    return written(tmp_path, ESSAY)


def written(folder: Path, text: str) -> str:
    path = folder / "essay.toml"
    path.write_text(text)
    return str(path)


def verdict(essay: str, reply: str | Reply, **options: str) -> Verdict:
    return judged([reply], template=essay, **options)[0].verdict


@pytest.mark.parametrize(
    ("reply", "outcome", "score"),
    [
        ("result: Yes\nunits: Yes\nsteps: No", "correct", 0.75),
        ("All fine.\n\n- **result**: Yes.\n- **units**: No\n- **steps**: No (a jump)", "correct", 0.5),
        ("result: No\nunits: Yes\nsteps: Yes", "incorrect", 0.0),
        ('{"result": "Yes", "units": "yes", "steps": "yes"}', "correct", 1.0),
        ('```json\n{\n  "result": "No",\n  "units": "No",\n  "steps": "No"\n}\n```', "incorrect", 0.0),
        ("1. result: No\nOn second thought:\nresult: Yes\nunits: Yes\nsteps: Yes", "correct", 1.0),
        ("result: Yes\nunits: Yes", "abstain", None),
        ("result: Yes\nunits: N/A\nsteps: Yes", "abstain", None),
        ("result: Yes or No\nunits: Yes\nsteps: Yes", "abstain", None),
        ("result: Yes/No\nunits: Yes\nsteps: Yes", "abstain", None),
        ("result: Yes\nmy-units: Yes\nsteps: Yes", "abstain", None),
        ("result: …\nunits: …\nsteps: …", "abstain", None),
        ("<think>result: Yes\nunits: Yes\nsteps: Yes</think>No idea.", "abstain", None),
    ],
)
def test_the_score_is_the_weight_of_met_criteria(essay: str, reply: str, outcome: str, score: float | None) -> None:
    found = verdict(essay, reply)
    assert (found.outcome.word, found.score) == (outcome, score)
    assert found.reason == ("unparsed" if outcome == "abstain" else None)


def test_a_truncated_reply_counts_if_every_criterion_has_a_line(essay: str) -> None:
    whole, half = "result: Yes\nunits: Yes\nsteps: Yes\nFurther", "result: Yes\nunits: Yes\nst"
    assert verdict(essay, Reply(text=whole, finish_reason="length")).outcome.word == "correct"
    assert verdict(essay, Reply(text=half, finish_reason="length")).reason == "truncated"


def test_a_verdict_needs_the_threshold_and_required_criteria(essay: str) -> None:
    reply = "result: Yes\nunits: No\nsteps: Yes"
    assert verdict(essay, reply, threshold="0.75").outcome.word == "correct"
    assert verdict(essay, reply, threshold="0.8").outcome.word == "incorrect"
    assert verdict(essay, "result: No\nunits: Yes\nsteps: Yes", threshold="0.1").outcome.word == "incorrect"


def test_the_answer_to_every_criterion_is_stored(essay: str) -> None:
    found, calls = judged("result: Yes\nunits: no\nsteps: maybe", template=essay)
    assert len(calls) == 1
    assert found.trace is not None
    assert [(one["name"], one["weight"], one["required"], one["met"]) for one in found.trace["criteria"]] == [
        ("result", 2, True, True), ("units", 1, False, False), ("steps", 1, False, None),
    ]  # fmt: skip
    assert found.verdict.detail == "result yes, units no, steps –"


def test_criteria_precede_the_texts_of_the_item(essay: str) -> None:
    (call,) = requests(template=essay, strategy="rubric")
    shared = call.text[: call.request.shared]
    assert "- units: Every number has its unit, as in \\frac{m}{s}.\n" in shared
    assert "result: …\nunits: …\nsteps: …" in shared
    assert ITEM.completion in call.text
    assert call.request.sampling.max_tokens == 2048
    assert ITEM.reference not in requests(template=essay, reference="false")[0].text


def test_weights_and_criteria_are_part_of_the_identity(essay: str, tmp_path: Path) -> None:
    one = identity(llm_judge(template=essay))
    assert llm_judge(template=essay).config()["strategy"] == "rubric"
    assert identity(llm_judge(template=written(tmp_path, ESSAY.replace("weight = 2", "weight = 3")))) != one


def test_sampling_of_the_file_is_overridden_by_options(tmp_path: Path) -> None:
    path = written(tmp_path, ESSAY + "\n[sampling]\nmax_tokens = 99\ntemperature = 0.3\n")
    assert requests(template=path)[0].request.sampling.max_tokens == 99
    sampling = requests(template=path, max_tokens="7", temperature="none")[0].request.sampling
    assert (sampling.max_tokens, sampling.temperature) == (7, None)


def test_examples_and_panels_work_with_rubrics(essay: str) -> None:
    replies = {"judge": "result: Yes\nunits: Yes\nsteps: Yes", "judge-2": "result: Yes\nunits: No\nsteps: No"}
    found = judged(lambda call: replies[call.role], template=essay, panel="m2", reducer="mean")[0]
    assert found.verdict.score == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("weight = 2", "weight = 0", r"essay.toml:6: .*>"),
        ('name = "units"', 'name = "result"', r"essay.toml:11:name: 'result' is there twice"),
        ('name = "units"', 'name = "The Units"', r"essay.toml:11: "),
        ('asks = "Each', 'asks = "{completion} Each', r"essay.toml:16:asks: \{completion\} is put in by itself"),
        ("required = true", "required = 1", r"essay.toml:7: "),
        ("required = true", "needed = true", r"essay.toml:7: .*needed"),
        ("version = 1", "", r"version"),
        ("version = 1", 'version = 1\nparser = "rubric"', r"essay.toml:3: .*parser"),
    ],
)
def test_an_invalid_rubric_is_rejected_with_its_line(tmp_path: Path, before: str, after: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        llm_judge(template=written(tmp_path, ESSAY.replace(before, after)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parser": "verifybench"}, "parser: a rubric uses its own parser"),
        ({"top_logprobs": "5"}, "top_logprobs: a verdict of rubric .* is not a single word"),
        ({"strategy": "verifybench"}, "template: a template with .*criteria.* needs strategy=rubric"),
    ],
)
def test_options_incompatible_with_rubrics_are_rejected(essay: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        llm_judge(template=essay, **options)


def test_a_rubric_needs_its_criteria(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="template: it is missing"):
        llm_judge(strategy="rubric")
