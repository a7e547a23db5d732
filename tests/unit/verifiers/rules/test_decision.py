"""What `rules` says of whole items: verdict, reason, rule and where the answers stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.verifiers.rules.judging import by_rules
from workbench.core.errors import VerifierError
from workbench.core.reasons import REASONS
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.statistics.confusion import Confusion
from workbench.statistics.metrics.balanced_accuracy import balanced_accuracy
from workbench.statistics.metrics.mcc import mcc
from workbench.verifiers import latex
from workbench.verifiers.base import Pending
from workbench.verifiers.rules import verifier
from workbench.verifiers.rules.reading import AnswerReader
from workbench.verifiers.rules.records import AnswerText
from workbench.verifiers.rules.verifier import Rules

ROWS = Path(__file__).parent / "rows.jsonl"
OPTIONS = "Which gas do plants take in?\nA. oxygen\nB. carbon dioxide\nC. helium\nD. neon"


def quick(reference: str, completion: str, question: str = "What is it?", subtype: str | None = None) -> Verdict:
    item = VerifierInput(item=1, question=question, reference=reference, completion=completion, subtype=subtype)
    verdict = Rules().quick(item)
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(
    ("reference", "completion", "question", "reason", "rule"),
    [
        ("7", r"So \boxed{7}.", "How many?", "text_equal", "text.exact"),
        (r"\dfrac{1}{4}", r"So \boxed{\frac14}.", "How much?", "text_equal", "text.canonical"),
        ("0.25", r"So \boxed{\frac14}.", "How much?", "number", "number.exact"),
        ("5 km", r"So \boxed{5000\text{ m}}.", "How far?", "quantity", "quantity.convert"),
        ("B", "The answer is (B) carbon dioxide.", OPTIONS, "letter", "choice.letter"),
        ("B", "The answer is carbon dioxide.", OPTIONS, "option_text", "choice.text"),
        ("B", "The answer is B (red wine).", "Which?\nA) red\nB) red wine", "text_equal", "text.exact"),
        ("No", "The answer is no, because it falls.", "Does it fly?", "state", "state.yes-no-unknown"),
        (") ]", r"\boxed{[ ( ) ]}", "Close all brackets: [ (", "brackets", "brackets.closing"),
        ("1, 2", "The answer is: 2 and 1.", "Which numbers?", "list", "list"),
        ("(1, 2]", r"So \boxed{1 < x \le 2}.", "Where?", "interval", "interval"),
        (r"\{1, 2\}", r"So \boxed{\{2, 1\}}.", "Which?", "set", "set"),
        ("(1, 2)", r"So \boxed{\begin{pmatrix}1&2\end{pmatrix}}.", "Which vector?", "matrix", "matrix"),
        ("x^2 + 2x", r"So \boxed{x(x + 2)}.", "Which polynomial?", "expression", "expression"),
        ("y = 2x", r"So \boxed{2x - y = 0}.", "Which line?", "equation", "equation"),
        ("2024-01-05", "The answer is January 5, 2024.", "When?", "date_time", "date"),
        ("Lisbon", "The answer is Lisbon, the capital.", "Where?", "text_equal", "text.contained"),
    ],
)
def test_what_is_accepted_and_why(reference: str, completion: str, question: str, reason: str, rule: str) -> None:
    verdict = quick(reference, completion, question)
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, reason)
    assert (verdict.rule or "").startswith(rule)


@pytest.mark.parametrize(
    ("reference", "completion", "question", "subtype", "reason"),
    [
        ("", r"\boxed{7}", "How many?", None, "no_reference_answer"),
        ("7", "", "How many?", None, "no_answer_found"),
        ("7", "<think>It is 7.</think>", "How many?", None, "no_answer_found"),
        ("3", "The answer is either 3 or 4, as far as one can see.", "How many?", None, "hedged"),
        ("Yes", r"So \boxed{K(i)}.", "Is it so?", "C4", "witness_in_box"),
        ("To keep warm in winter", "The answer is: because it is cold outside.", "Why?", "D2", "semantic"),
        ("7", r"\boxed{" + "1" * 50 + "}", "How many?", None, "too_complex"),
        ("f(x)=|x|", r"So \boxed{f(x) = x^3}.", "Give an example of such a function.", "B1", "semantic"),
        ("12", "The answer is 12 \u2016 34.", "How many?", None, "unread"),
        ("11 February 1929", r"\boxed{11. helmikuuta 1929}", "When?", None, "unread"),
        ("Cluster sampling", r"\boxed{\text{single-stage cluster sampling}}", "Which method?", "D1", "unread"),
        ("B", "The answer is: one that leaves feed on, as far as I know.", OPTIONS, "C1", "unread"),
        ("B", "The answer is (B) or (C), and I take (C).", OPTIONS, "C1", "unread"),
        ("B", "The answer is B (or C).", OPTIONS, "C1", "hedged"),
        ("12:30", r"\boxed{\text{12:30 am}}", "When?", "A8", "unread"),
        ("London", "La capital es Londres.", "What is the capital of the United Kingdom?", None, "semantic"),
        ("15 K", r"So \boxed{15 °C}.", "By how much does the temperature change?", None, "alike"),
        ("48", "The answer is C.", "", None, "unread"),
    ],
)
def test_when_it_abstains(reference: str, completion: str, question: str, subtype: str | None, reason: str) -> None:
    verdict = quick(reference, completion, question, subtype)
    assert (verdict.outcome, verdict.reason, verdict.rule) == (Outcome.ABSTAIN, reason, None)


@pytest.mark.parametrize(
    ("reference", "completion", "question", "rule"),
    [
        ("5", r"So \boxed{6}.", "How many?", "number.differs"),
        ("120", r"So \boxed{4! \times 5}.", r"What is $4! \times 5$?", "expression.restated"),
        ("x^2", r"So \boxed{\frac{(x+1)^3 - x^3 - 3x - 1}{3}}.", "Simplify it.", "expression.form"),
        ("5", "It costs 5 cents, so \\boxed{5\\text{ cents}}.", "How many dollars is it?", "quantity"),
        ("007", r"\boxed{7}", "What is the code?", "number.code"),
        (r"\frac{1}{2}", r"So \boxed{\int_0^1 x\,dx}.", "How much?", "expression.unevaluated"),
        ("tapa", "The answer is apat.", "Which word?", "text.differs"),
        ("Cluster sampling", r"\boxed{\text{Stratified sampling}}", "Which method?", "text.differs"),
        ("42", r"\boxed{\text{unknown}}", "How many?", "text.differs"),
        ("B", r"\boxed{\text{methane}}", OPTIONS, "choice.none"),
        ("B", r"\boxed{E}", OPTIONS, "choice"),
    ],
)
def test_what_is_refused_and_why(reference: str, completion: str, question: str, rule: str) -> None:
    verdict = quick(reference, completion, question)
    assert verdict.outcome is Outcome.INCORRECT
    assert (verdict.rule or "").startswith(rule)


@pytest.mark.parametrize(
    ("reference", "right", "wrong"),
    [
        ("5'-AUGCCA-3'", "The strand is 5'-AUGCCA-3'.", "The strand is 5'-ATGCCA-3'."),
        (
            "15 cm from the lens, on the same side as the object",
            "Answer: It forms 15 cm from the lens, on the same side as the object.",
            "Answer: It forms 15 cm from the lens, on the side opposite the object.",
        ),
        ("3 men from Leeds", "The answer is: it was 3 men from Leeds.", "The answer is: it was 3 men from York."),
    ],
)
def test_what_a_phrase_says_besides_its_value_counts(reference: str, right: str, wrong: str) -> None:
    assert quick(reference, right).outcome is Outcome.CORRECT
    assert quick(reference, wrong).outcome is not Outcome.CORRECT


VITAMINS = "Which one prevents beriberi?\n(A) Retinol\n(B) Biotin\n(C) Thiamine\n(D) Vitamin D"


@pytest.mark.parametrize(
    ("question", "reference", "right", "wrong"),
    [
        ("What is the area?", "84", r"\boxed{84 cm^2}", r"\boxed{84 cm^3}"),
        ("What is the volume of the box?", "84", r"\boxed{84\text{ cm}^3}", r"\boxed{84\text{ cm}^2}"),
        ("How far is it?", "84", r"\boxed{84\text{ km}}", r"\boxed{84\text{ km}^2}"),
        ("What percent is it?", "12.5", r"\boxed{12.5\%}", r"\boxed{12.5 euros}"),
        (VITAMINS, "C", "It is prevented by option C.", "It is prevented by vitamin C."),
        (
            "List the layers, starting at the surface.",
            "crust, mantle, core",
            r"\boxed{Crust, mantle, core}",
            r"\boxed{Mantle, crust, core}",
        ),
        (
            "List them from youngest to oldest.",
            "Noa, Max, Lee",
            "The order is: **Noa, Max, Lee**",
            "The order is: **Lee, Max, Noa**",
        ),
    ],
)
def test_what_the_question_asks_for_tells_measures_letters_and_orders_apart(
    question: str, reference: str, right: str, wrong: str
) -> None:
    assert quick(reference, right, question).outcome is Outcome.CORRECT
    assert quick(reference, wrong, question).outcome is not Outcome.CORRECT


def test_all_parts_of_a_reference_are_needed() -> None:
    reference = r"The volume is $\boxed{9}$ and the area is $\boxed{4}$."
    question = "Find the volume and the area."
    assert quick(reference, r"It is $\boxed{9}$ and $\boxed{4}$.", question).outcome is Outcome.CORRECT
    assert quick(reference, r"It is $\boxed{9}$ and $\boxed{5}$.", question).outcome is Outcome.INCORRECT
    stated = "The volume is $8 + 1 = 9$.\n\nThe area is $\\boxed{4}$."
    assert quick(reference, stated, question).rule == "list.stated"
    assert quick(reference, r"It is $\boxed{4}$.", question).reason == "multi_part_reference"


@pytest.mark.parametrize(
    "completion",
    [
        "Final answer: 5. Actually, recomputing gives 6.",
        "**Answer: 5**? No, it should be 6.",
        "The answer is 5\nHowever, the correct result is 6.",
    ],
)
def test_an_answer_that_is_taken_back_is_none(completion: str) -> None:
    assert quick("5", completion, "How much?").reason == "hedged"


def test_a_rounding_is_no_exact_value() -> None:
    assert quick(r"\frac{3}{28}", r"\boxed{0.107}", "How likely is it?").rule == "number.rounding"
    exact = quick(r"\frac{3}{28}", r"\boxed{0.107}", "How likely is it? Give a common fraction.")
    assert exact.outcome is Outcome.INCORRECT


def test_an_enumeration_answers_a_list() -> None:
    verdict = quick("fig, pear, plum", "Sorted:\n\n1. fig\n2. pear\n3. plum", "Sort these words: plum, fig, pear", "D1")
    assert verdict.outcome is Outcome.CORRECT
    verdict = quick("fig, pear, plum", "Sorted:\n\n1. pear\n2. fig\n3. plum", "Sort these words: plum, fig, pear", "D1")
    assert verdict.outcome is not Outcome.CORRECT


def test_the_evidence_points_into_the_stored_texts() -> None:
    reference, completion = "Well.\n" * 40 + r"So \boxed{0.5}.", r"Hence $\boxed{ \frac12 }$."
    verdict = quick(reference, completion)
    assert verdict.reference_span is not None
    assert verdict.candidate_span is not None
    assert reference[slice(*verdict.reference_span)] == verdict.reference_final == "0.5"
    assert completion[slice(*verdict.candidate_span)] == verdict.candidate_final == r"\frac12"


def test_without_sympy_the_rules_still_decide_what_they_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latex, "lack", lambda: VerifierError("The package sympy isn't installed."))
    rules = Rules()
    assert (rules.version, rules.preload) == (verifier.RULE_VERSION, ())
    item = VerifierInput(item=1, question="?", reference=r"\sum_{n=1}^3 n", completion=r"\boxed{\sum_{k=1}^3 k}")
    assert rules.verify(item).outcome is not Outcome.ERROR
    assert rules.verify(VerifierInput(item=1, question="?", reference="7", completion="7")).outcome is Outcome.CORRECT


def test_what_is_left_for_a_worker_names_what_it_depends_on() -> None:
    def pending(question: str, completion: str) -> Pending:
        item = VerifierInput(item=1, question=question, reference=r"\sum_{n=1}^3 n", completion=completion)
        first = Rules().quick(item)
        assert isinstance(first, Pending)
        return first

    one = pending("What?", r"Thus \boxed{\sum_{k=1}^3 k}")
    assert one.key == pending("What?", r"So, \boxed{\sum_{k=1}^3 k}").key
    assert one.key != pending("Who?", r"Thus \boxed{\sum_{k=1}^3 k}").key
    assert one.key != pending("What?", r"Thus \boxed{\sum_{k=1}^4 k}").key
    assert one.verdict is not None
    assert one.verdict.candidate_final == r"\sum_{k=1}^3 k"


@settings(max_examples=100)
@given(st.text(), st.text(), st.text(), st.sampled_from([None, "A1", "B3", "C1", "C4", "D1", "D2"]))
def test_any_item_gets_a_verdict_with_a_known_reason(
    question: str, reference: str, completion: str, subtype: str | None
) -> None:
    item = VerifierInput(item=1, question=question, reference=reference, completion=completion, subtype=subtype)
    first = Rules().quick(item)
    verdict = first.verdict if isinstance(first, Pending) else first
    assert verdict is not None
    assert verdict.reason in REASONS


def _figures(verdicts: list[Verdict], rows: list[dict[str, Any]]) -> tuple[Confusion, Confusion, float]:
    """Forced and decided confusion, and coverage."""
    said = [(verdict.outcome, bool(row["gold"])) for verdict, row in zip(verdicts, rows, strict=True)]
    decided = [pair for pair in said if pair[0] in (Outcome.CORRECT, Outcome.INCORRECT)]
    return _confusion(said), _confusion(decided), len(decided) / len(said)


def _confusion(said: list[tuple[Outcome, bool]]) -> Confusion:
    accepted = [(outcome is Outcome.CORRECT, gold) for outcome, gold in said]
    return Confusion(
        tp=accepted.count((True, True)),
        fp=accepted.count((True, False)),
        tn=accepted.count((False, False)),
        fn=accepted.count((False, True)),
    )


def _inputs(rows: list[dict[str, Any]], typed: bool) -> list[VerifierInput]:
    return [
        VerifierInput(
            item=number,
            question=row["question"],
            reference=row["reference"],
            completion=row["completion"],
            subtype=row["subtype"] if typed else None,
        )
        for number, row in enumerate(rows)
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("typed", [True, False])
def test_on_written_rows_it_is_nearly_always_right(typed: bool) -> None:
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    forced, decided, coverage = _figures(by_rules(_inputs(rows, typed)), rows)
    assert forced.fp <= 3
    assert (mcc(forced) or 0) >= 0.90
    assert (mcc(decided) or 0) >= 0.97
    assert coverage >= 0.85


@pytest.mark.real_data
@pytest.mark.parametrize("typed", [True, False])
def test_on_real_rows_it_is_nearly_always_right(typed: bool, real_rows: list[dict[str, Any]]) -> None:
    rows = [
        row | {"reference": row["answer"], "subtype": row["answer_type"].split(" ")[0], "gold": row["gold_correct"]}
        for row in real_rows
    ]
    forced, decided, coverage = _figures(by_rules(_inputs(rows, typed)), rows)
    assert forced.fp <= 1
    assert (mcc(forced) or 0) >= 0.80
    assert (balanced_accuracy(forced) or 0) >= 0.87
    assert (mcc(decided) or 0) >= 0.93
    assert coverage >= 0.82


@pytest.mark.parametrize(
    "behind",
    [
        " Final answer: 3",
        ". The answer is 3.",
        "\n\nTherefore, the final answer is $3$.",
        "\nActually 3.",
        " <answer>3</answer>",
        '\n{"answer": 3}',
    ],
)
def test_a_box_is_not_believed_where_the_text_behind_it_gives_another_answer(behind: str) -> None:
    assert quick("2", rf"So \boxed{{2}}{behind}").outcome is Outcome.ABSTAIN


@pytest.mark.parametrize(
    "behind",
    [
        " Final answer: 2",
        ". The answer is two.",
        ". The answer is correct, since 1 + 1 = 2.",
        "\n\nThe final answer is 2.0",
        " <answer>2</answer>",
        ". I hope that this answers your question!",
    ],
)
def test_a_box_is_believed_where_the_text_behind_it_says_the_same_or_nothing(behind: str) -> None:
    assert quick("2", rf"So \boxed{{2}}{behind}").outcome is Outcome.CORRECT


def test_another_option_behind_a_box_is_another_answer() -> None:
    assert quick("B", "So \\boxed{B}\nThe answer is C.", OPTIONS, "C1").outcome is Outcome.ABSTAIN
    assert quick("B", "So \\boxed{B}\nThe answer is B.", OPTIONS, "C1").outcome is Outcome.CORRECT


def test_pieces_of_a_phrase_that_are_other_words_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    value = AnswerReader._read_value

    def counted(reader: AnswerReader, source: AnswerText) -> Any:
        read.append(source.text)
        return value(reader, source)

    monkeypatch.setattr(AnswerReader, "_read_value", counted)
    wanted = "Because there was no one left in the square who needed the time."
    told = "He stopped because, with the shops closed and the last baker gone, there was nobody left in the square for"
    completion = f"{told} the tower to keep time for, and so winding it every evening had lost its point for him."
    assert quick(wanted, completion, "Why did he stop winding the clock?").outcome is not Outcome.CORRECT
    assert len(read) <= 5
