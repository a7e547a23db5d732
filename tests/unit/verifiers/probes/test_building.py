"""Probes depend only on rows and seed; right answers are excluded, and wrong answers are wrong."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.verifiers.probes.rows import PROGRAM, SUM, made, texts
from tests.unit.verifiers.rules.table import TABLE
from workbench.core.final_answer import reference_answer
from workbench.core.verdict import Outcome, VerifierInput
from workbench.statistics.records.probe import BaseRow
from workbench.verifiers.base import Pending
from workbench.verifiers.probes import programs
from workbench.verifiers.probes.building import companions, draw_balanced, families_named, probes, suite, verifier_input
from workbench.verifiers.probes.programs import RightAnswers
from workbench.verifiers.probes.values import wrong_answer
from workbench.verifiers.rules.verifier import Rules


def test_the_same_seed_gives_the_same_bytes() -> None:
    rows = [SUM, PROGRAM]
    first = [(probe.completion, probe.skipped) for probe in probes(rows, suite(), 5)]
    assert first == [(probe.completion, probe.skipped) for probe in probes(rows, suite(), 5)]
    assert first != [(probe.completion, probe.skipped) for probe in probes(rows, suite(), 6)]


def test_numbers_are_unique_negative_and_stable() -> None:
    every = [verifier_input(probe).item for probe in probes([SUM, PROGRAM], suite(), 0)]
    every += [verifier_input(one).item for one in companions([SUM, PROGRAM], suite())]
    assert len(set(every)) == len(every)
    assert max(every) < 0
    assert {verifier_input(probe).item for probe in probes([PROGRAM], families_named(("P4",)), 3)} < set(every)


def test_a_verifier_gets_the_texts_verbatim() -> None:
    row = structs.replace(SUM, example="1 + 1 is 2")
    (probe,) = [one for one in probes([row], families_named(("P1",)), 0) if one.payload.id == "space"]
    item = verifier_input(probe)
    assert (item.question, item.reference, item.completion, item.subtype, item.example) == (
        row.question,
        row.reference,
        " ",
        "A1",
        "1 + 1 is 2",
    )


def test_families_for_other_verifiers_are_excluded() -> None:
    found = {
        probe.family.family: probe.skipped
        for probe in probes([SUM], families_named(("P4", "P7")), 0, frozenset(("M",)))
    }
    assert found == {"P4": "not_applicable", "P7": None}


@pytest.mark.parametrize(
    ("reference", "family", "payload"),
    [
        ("A", "P4", "boxed-a"),
        ("(A), (C)", "P4", "boxed-a"),
        ("Two pairs.\n#### 4", "P4", "functional-correctness"),
        ("{", "P3", "brace"),
        (r"So it is \boxed{True}.", "P4", "json"),
        (r"\boxed{A, B, C, D}", "P12", "options"),
        (r"\boxed{A, B, C, D}", "P12", "options-boxed"),
        (", ".join(map(str, range(1, 101))), "P12", "numbers"),
        ("What is 3 + 4?", "P11", "question-echo"),
        ("x = x", "P13", "tautology"),
    ],
)
def test_a_payload_that_is_a_right_answer_is_excluded(reference: str, family: str, payload: str) -> None:
    row = structs.replace(SUM, reference=reference, subtype="D1")
    assert made(row, family)[payload].skipped == "right_answer"
    assert made(SUM, family)[payload].skipped is None


@pytest.mark.parametrize(
    ("reference", "text"), [(r"\{1, 2\}", "{"), ("B", "A"), ("", ""), ("A, B", "A B C"), ("Yes", "yes sir")]
)
def test_a_payload_that_is_wrong_is_included(reference: str, text: str) -> None:
    assert not RightAnswers(reference, reference).include(text)


def test_values_are_inserted_once() -> None:
    row = structs.replace(SUM, question="{{reference}} and {{answer}} in \\frac{{{1}}}{2}?")
    assert texts(row, "P11")["question-echo"] == row.question


def test_controls_and_carriers() -> None:
    bare = structs.replace(SUM, right=None, wrong=None)
    unknown = structs.replace(bare, reference="")
    coded = structs.replace(PROGRAM, right=None)
    found = [(one.role, one.real, one.completion) for one in companions([SUM, bare, unknown, coded], suite())]
    assert found == [
        ("control", True, SUM.right),
        ("carrier", True, SUM.wrong),
        ("control", False, "That settles the question.\n\nFinal answer: $\\boxed{7}$"),
        ("control", False, PROGRAM.reference),
        ("carrier", True, PROGRAM.wrong),
    ]
    assert {one.role for one in companions([SUM], families_named(("P1",)))} == {"control"}


def test_questions_are_drawn_evenly() -> None:
    questions = [(number, "ABCD"[min(number // 10, 3)]) for number in range(100)] + [(200, "untyped")]
    kinds = dict(questions)
    chosen = draw_balanced(questions, 41, 1)
    assert Counter(kinds[one] for one in chosen) == {"A": 10, "B": 10, "C": 10, "D": 10, "untyped": 1}
    assert chosen == draw_balanced(questions, 41, 1) == sorted(chosen)
    assert chosen != draw_balanced(questions, 41, 2)
    assert Counter(kinds[one] for one in draw_balanced(questions, 60, 1)) == {
        "A": 10,
        "B": 10,
        "C": 10,
        "D": 29,
        "untyped": 1,
    }
    assert len(draw_balanced(questions, 3, 0)) == 3
    assert len(draw_balanced(questions, 1000, 0)) == 101
    assert draw_balanced([], 5, 0) == []


def test_a_wrong_answer_is_wrong_to_the_rules() -> None:
    """For the references of the table, by the first stage of `rules`."""
    accepted = []
    for case, *_ in TABLE:
        final = reference_answer(case.reference, case.subtype).text
        wrong = wrong_answer(final)
        item = VerifierInput(
            item=1,
            question=case.question,
            reference=case.reference,
            completion=f"\\boxed{{{wrong}}}",
            subtype=case.subtype,
        )
        verdict = Rules().quick(item)
        if not isinstance(verdict, Pending) and verdict.outcome is Outcome.CORRECT:
            accepted.append((final, wrong))
    assert accepted == []


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("A", "B"),
        ("(B)", "A"),
        ("A, C", "B"),
        (r"\text{B: five}", "A"),
        ("yes", "no"),
        ("Yes, one can do it with 3", "no"),
        ("disproved", "proved"),
        ("3.14", "4.14"),
        (r"\frac{1}{2}", r"\frac{1}{3}"),
        ("x_1 = 3", "x_1 = 4"),
        ("1010_{2}", "1011_{2}"),
        (r"\pi", r"\pi + x^{99}"),
        ("Bob", "none of these"),
        (r"(-\infty, \infty)", "0"),
        (") ] }", ") ] } ("),
        ("15:21:09", "15:21:10"),
        ("Tuesday", "none of these"),
        ("the dog ran 3 miles home", "none of these"),
    ],
)
def test_wrong_answers_of_the_same_kind(answer: str, wrong: str) -> None:
    assert wrong_answer(answer) == wrong


@given(st.text(max_size=60))
def test_a_wrong_answer_is_another_text(answer: str) -> None:
    assert wrong_answer(answer) != answer


@given(st.text(max_size=200), st.text(max_size=100), st.text(max_size=200) | st.none())
def test_any_texts_make_probes(question: str, reference: str, completion: str | None) -> None:
    row = BaseRow(question_id=1, key="q", question=question, reference=reference, right=completion, wrong=completion)
    made_of_it = list(probes([structs.replace(row, carrier=completion)], suite(), 0))
    assert all((probe.completion is None) == (probe.skipped is not None) for probe in made_of_it)
    assert all(isinstance(verifier_input(probe), VerifierInput) for probe in made_of_it)


@pytest.mark.parametrize(
    "text",
    ["def f(:", "class", "(" * 90_000 + "def ", "def f(): pass\0", "x = 1", "def f(): pass" + " " * 100_000, ""],
)
def test_non_programs_are_recognised(text: str) -> None:
    assert programs.program(text) is None


def test_classes_and_coroutines_are_programs() -> None:
    assert programs.stub("class Stack:\n    def push(self): ...") == "class Stack:\n    pass"
    assert programs.stub("async def f(a, *b, c=1): ...") == "async def f(a, *b, c=1):\n    pass"


def test_examples_are_plain_values_only() -> None:
    question = (
        "f(1) == 2\nf(x) == 3\nf(__import__('os')) == 1\nf([1, 'a'], None) -> {'b': (1,)}\nf(a=1) == 2\n>>> g('x')\n'y'"
    )
    assert programs.examples(question) == [
        programs.PublicExample("f", (1,), 2),
        programs.PublicExample("f", ([1, "a"], None), {"b": (1,)}),
        programs.PublicExample("g", ("x",), "y"),
    ]
