"""Every reason and rule has a description; no verdict is shown with a bare code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import workbench.verifiers
from workbench.core.reasons import REASONS, RULES, code_with_title, explain_verdict, title
from workbench.llm.records import FailureCode
from workbench.verifiers.rules import records

VERIFIERS = Path(workbench.verifiers.__file__).parent
RULE = re.compile(r"[a-z]+\.[a-z_]+")
WORDS = {True: "correct", False: "incorrect", None: "abstain"}


@cache
def nodes() -> list[ast.AST]:
    return [node for path in sorted(VERIFIERS.rglob("*.py")) for node in ast.walk(ast.parse(path.read_text("utf-8")))]


def texts(node: ast.AST) -> list[str]:
    """The strings that are written out somewhere in an expression, but for those it compares with."""
    if isinstance(node, ast.Compare):
        return []
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    return [text for child in ast.iter_child_nodes(node) for text in texts(child)]


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def decisions() -> Iterator[tuple[bool | None, str, str]]:
    """Decisions with a fixed outcome: outcome, reason, rule ("" for none)."""
    for node in nodes():
        if not isinstance(node, ast.Call) or name_of(node) != "Decision":
            continue
        outcome, *names = (argument.value if isinstance(argument, ast.Constant) else ... for argument in node.args)
        if outcome in (True, False, None) and names and all(isinstance(name, str) for name in names):
            reason, rule = (*map(str, names), "")[:2]
            yield None if outcome is None else bool(outcome), reason, rule


@cache
def reasons() -> set[str]:
    """Reason codes written out anywhere in the verifiers, and those of the rule verifier's table."""
    found: set[str] = set()
    for node in nodes():
        if isinstance(node, ast.keyword) and node.arg == "reason":
            found.update(texts(node.value))
        elif isinstance(node, ast.Call) and name_of(node) in {"Decision", "Doubt", "_undecided"}:
            found.update(text for argument in node.args for text in texts(argument) if not RULE.fullmatch(text))
        elif isinstance(node, ast.FunctionDef) and node.name == "_why_late":
            found.update(text for part in ast.walk(node) if isinstance(part, ast.Return) for text in texts(part))
    return found | set(records.REASONS.values())


@cache
def rules() -> set[str]:
    """Rules written out anywhere in the rule verifier, and the first parts of their names."""
    folder = VERIFIERS / "rules"
    found = {
        text
        for path in folder.rglob("*.py")
        for text in texts(ast.parse(path.read_text(encoding="utf-8")))
        if RULE.fullmatch(text)
    }
    return found | families()


def families() -> set[str]:
    """Return the prefixes of rule names from the table of the rule verifier."""
    return set(records.REASONS)


def test_codes_are_found_in_the_code() -> None:
    assert {
        "text_equal",
        "symbolic",
        "semantic",
        "timeout",
        "worker_died",
        "internal",
        "letter",
        "date_time",
    } <= reasons()
    assert {"number.rounding", "choice.letter", "matrix"} <= rules()
    assert len(list(decisions())) > 10


def test_every_reason_has_a_title_and_a_sentence() -> None:
    for code in reasons():
        assert title(code), code
        assert any(explain_verdict(outcome, code) for outcome in ("correct", "incorrect", "abstain")), code


def test_every_decision_has_a_sentence() -> None:
    for outcome, reason, rule in decisions():
        assert explain_verdict(WORDS[outcome], reason, rule).endswith("."), (outcome, reason, rule)


def test_every_value_rule_has_sentences_for_both_verdicts() -> None:
    from workbench.verifiers.rules import records

    for family, reason in records.REASONS.items():
        assert explain_verdict("correct", reason, family), family
        assert explain_verdict("incorrect", reason, family), family


@pytest.mark.parametrize("rule", sorted(RULES))
def test_no_sentence_describes_a_removed_rule(rule: str) -> None:
    known = rules()
    assert rule in known or rule in {name.partition(".")[0] for name in known}


@pytest.mark.parametrize("code", get_args(FailureCode))
def test_every_call_failure_has_a_description(code: str) -> None:
    assert title(code)
    assert explain_verdict("error", code).endswith(".")


def test_reasons_have_sentences_only_for_their_outcomes() -> None:
    for code, reason in REASONS.items():
        assert bool(reason.undecided) != bool(reason.correct or reason.incorrect), code
        assert all(text == "" or text.endswith(".") for text in reason[1:]), code


@pytest.mark.parametrize(
    ("outcome", "reason", "rule", "value", "said"),
    [
        ("correct", "number", "number.exact", "1/4", "Both are the number 1/4."),
        ("correct", "number", "number.exact", "", "Both are the same number."),
        (
            "correct",
            "number",
            "number.rounding",
            "1/3",
            "One number equals the other, rounded to the digits that it shows.",
        ),
        ("incorrect", "number", "number.differs", "1/4", "The numbers differ."),
        ("correct", "number", None, "1/4", "Both are the same number."),
        ("correct", "state", "state.yes-no-unknown", "{value}", "Both give {value}."),
        ("incorrect", "list", "tuple", "", "They do not have equal members in the same order."),
        ("abstain", "number", "number.exact", "1", ""),
        ("abstain", "multi_part_reference", None, "1", REASONS["multi_part_reference"].undecided),
        ("error", "internal", None, "", "It failed on this item; its message is below."),
        ("correct", "a plug-in's own", "a.b", "x", ""),
        ("correct", None, None, "", ""),
    ],
)
def test_the_most_specific_sentence_is_used(
    outcome: str, reason: str | None, rule: str | None, value: str, said: str
) -> None:
    assert explain_verdict(outcome, reason, rule, value) == said


def test_a_code_has_its_title_if_there_is_one() -> None:
    assert code_with_title("letter") == "letter - compared as option letters"
    assert code_with_title("a plug-in's own") == "a plug-in's own"
