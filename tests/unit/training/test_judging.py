"""``workbench.judge``: one call, one verdict."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import workbench
from tests.background import PATIENCE_S
from workbench.core.errors import UsageError
from workbench.training.judging import judging_by


@pytest.mark.parametrize(
    ("reference", "completion", "outcome"),
    [
        ("42", r"So the answer is \boxed{42}.", "correct"),
        ("42", r"So the answer is \boxed{41}.", "incorrect"),
        ("42", "", "abstain"),
        (r"\frac{1}{2}", r"\boxed{\int_0^1 x\,dx + 0}", "incorrect"),
        (42, r"\boxed{42}", "correct"),
        (0.5, r"\boxed{\frac12}", "correct"),
        (np.array(42), r"\boxed{42}", "correct"),
    ],
)
def test_a_completion_is_judged(reference: str | float, completion: str, outcome: str) -> None:
    assert workbench.judge(reference, completion).outcome.word == outcome


def test_the_verdict_has_the_comparison_and_reason() -> None:
    verdict = workbench.judge("42", r"6·7, so \boxed{42}", question="What is 6·7?")
    assert (verdict.reference_final, verdict.candidate_final) == ("42", "42")
    assert (verdict.reason, verdict.rule) == ("text_equal", "text.exact")


@pytest.mark.parametrize(
    ("references", "outcome", "final"),
    [
        (["41", "42"], "correct", "42"),
        (("42", "41"), "correct", "42"),
        (np.array(["41", "42"]), "correct", "42"),
        (["41", "40"], "incorrect", "41"),
        (["41", "", "40"], "abstain", None),
        (["", "42"], "correct", "42"),
    ],
)
def test_any_of_several_references_will_do(references: list[str], outcome: str, final: str | None) -> None:
    verdict = workbench.judge(references, r"\boxed{42}")
    assert (verdict.outcome.word, verdict.reference_final) == (outcome, final)


def test_the_question_and_the_type_are_heeded() -> None:
    question = "Which is prime? (A) 4 (B) 7"
    assert workbench.judge("B", r"\boxed{7}", question).outcome.word == "correct"
    assert workbench.judge("B", r"\boxed{7}").outcome.word == "abstain"
    assert [workbench.judge("A fish", r"\boxed{a trout}", type=of).reason for of in ("D1", "Semantic", "D2")] == [
        "text_differs",
        "semantic",
        "semantic",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], "x"), r"reference must be an answer, or a list of at least one"),
        ((None, "x"), r"reference must be text; it is missing"),
        ((["1", None], "x"), r"reference\[1\] must be text; it is missing"),
        (({"a": 1}, "x"), r"reference must be text"),
        ((b"1", "x"), r"reference must be text"),
        (([["1"]], "x"), r"reference\[0\] must be text"),
        ((10**5000, "x"), r"reference is a number with too many digits"),
        (("1", None), r"completion must be text; it is missing"),
        (("1", "x", ["q"]), r"question must be text"),
        (("1", "x", "", 5), r"no answer subtype '5'"),
        (("1", "x", "", ["B5"]), r"type must be text"),
        (("1", "x", "", "Matrx"), r"no answer subtype 'Matrx'. Did you mean 'Matrix'"),
        (("1", "x", "", "B"), r"no answer subtype 'B'"),
    ],
)
def test_a_non_text_argument_is_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        workbench.judge(*arguments)  # type: ignore[arg-type]


def test_undecided_items_are_not_correct_and_counted() -> None:
    figures = judging_by("rules").figures
    right, wrong, undecided = (workbench.judge("42", reply) for reply in (r"\boxed{42}", r"\boxed{41}", ""))
    assert figures([right]) == {"acc": 1.0, "undecided": 0.0}
    assert figures([wrong]) == {"acc": 0.0, "undecided": 0.0}
    assert figures([undecided]) == {"acc": 0.0, "undecided": 1.0}
    assert figures([right, wrong, undecided, right]) == {"acc": 0.5, "undecided": 0.25}


def test_a_program_that_judges_exits_silently() -> None:
    code = r'import workbench; print(workbench.judge("x", r"\boxed{\int_0^1 f(x) dx}").outcome.word)'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert (done.stdout.strip() in ("abstain", "incorrect"), done.stderr) == (True, "")
