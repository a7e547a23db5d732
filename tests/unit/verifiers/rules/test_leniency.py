"""The options of ``rules``: each changes what it says and nothing else, and none of them is there by default."""

from __future__ import annotations

import pytest

from workbench.core.errors import OptionError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Pending, identity
from workbench.verifiers.registry import Registry
from workbench.verifiers.rules.verifier import Rules

NEAR = {"tolerance": "0.01"}
NAMED = {"units": "required"}
ANY = {"form": "any"}


def judged(question: str, reference: str, answer: str, options: dict[str, str]) -> Verdict:
    item = VerifierInput(item=1, question=question, reference=reference, completion=f"So \\boxed{{{answer}}}.")
    found = Rules(**options).verify(item)
    quick = Rules(**options).quick(item)
    assert isinstance(quick, Pending) or (quick.outcome, quick.rule) == (found.outcome, found.rule)
    return found


@pytest.mark.parametrize(
    ("question", "reference", "answer", "options", "before", "after", "rule"),
    [
        ("How much?", "3.1416", "3.12", NEAR, "incorrect", "correct", "number.tolerance"),
        ("How much?", "3.12", "3.1416", NEAR, "incorrect", "correct", "number.tolerance"),
        ("How much?", "100", "101", NEAR, "incorrect", "correct", "number.tolerance"),
        ("How much?", "100", "101.1", NEAR, "incorrect", "incorrect", "number.differs"),
        ("How much?", "-100", "100", NEAR, "incorrect", "incorrect", "number.differs"),
        ("How much?", "0", "0.001", NEAR, "incorrect", "incorrect", "number.differs"),
        ("How far?", "5 m", "501 cm", NEAR, "incorrect", "correct", "number.tolerance"),
        ("How far?", "5 m", "5 s", NEAR, "incorrect", "incorrect", "quantity.differs"),
        ("Which three?", "1, 2, 3", "1, 2, 3.01", NEAR, "incorrect", "correct", "list"),
        ("How far?", "5 m", "5", NAMED, "correct", "incorrect", "quantity.unit_missing"),
        ("How far?", "5", "5 m", NAMED, "correct", "correct", "quantity.unit_dropped"),
        ("How far?", "5 m", "500 cm", NAMED, "correct", "correct", "quantity.convert"),
        ("Write it as a reduced fraction.", "1/2", "2/4", ANY, "incorrect", "correct", "number.exact"),
        ("Write it as a reduced fraction.", "1/2", "2/5", ANY, "incorrect", "incorrect", "number.differs"),
    ],
)
def test_an_option_changes_what_it_says(
    question: str, reference: str, answer: str, options: dict[str, str], before: str, after: str, rule: str
) -> None:
    assert judged(question, reference, answer, {}).outcome.word == before
    found = judged(question, reference, answer, options)
    assert (found.outcome.word, found.rule) == (after, rule)


def test_a_tolerance_is_between_numbers_and_never_between_texts() -> None:
    for reference, answer in (("B", "C"), ("1999-01-01", "1999-01-02"), ("007", "008"), ("x+1", "x+1.001")):
        item = ("What is it?", reference, answer)
        assert judged(*item, NEAR).outcome == judged(*item, {}).outcome


def test_what_is_as_by_default_is_the_same_verifier() -> None:
    said = {"tolerance": "0", "units": "optional", "form": "asked"}
    assert Rules().config() == Rules(**said).config() == {}
    assert identity(Rules()) == identity(Rules(**said))
    others = [identity(Rules(**options)) for options in (NEAR, NAMED, ANY, {"tolerance": "0.02"})]
    assert len({identity(Rules()), *others}) == 5
    assert Rules(**NEAR).config() == {"tolerance": 0.01}


def test_what_a_worker_found_holds_for_the_same_options_only() -> None:
    said = r"Thus \boxed{\sum_{k=1}^3 k}"
    item = VerifierInput(item=1, question="What?", reference=r"\sum_{n=1}^3 n", completion=said)
    keys = [Rules(**options).quick(item) for options in ({}, NEAR, ANY, {"tolerance": "0"})]
    assert all(isinstance(one, Pending) for one in keys)
    plain, near, form, zero = (one.key for one in keys if isinstance(one, Pending))
    assert len({plain, near, form}) == 3
    assert plain == zero


@pytest.mark.parametrize("kind", ["rules", "math-verify"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", "-1"),
        ("tolerance", "nan"),
        ("tolerance", "1e999"),
        ("tolerance", "[bold]x"),
        ("units", "no"),
        ("form", ""),
        ("strict", "perhaps"),
        ("float_rounding", "1000000"),
        ("numeric_precision", "0"),
        ("extraction", "all"),
    ],
)
def test_a_wrong_value_is_told_with_its_option(kind: str, name: str, value: str) -> None:
    registry = Registry()
    described = next(one for one in registry.available() if one.name == kind)
    if name in described.options:
        with pytest.raises(OptionError) as caught:
            registry.load(kind, {name: value})
        assert caught.value.option == name
