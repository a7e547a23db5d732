"""`math-verify` agrees with the library and survives where the library does not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.workers import verdicts_in
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import identity
from workbench.verifiers.math_verify import MathVerify
from workbench.verifiers.pool import WorkerPool

BOMBS = {
    "tower": "9^{9^{9^9}}",
    "factorial": "(10^7)!",
    "binomial": r"\binom{10^8}{5\cdot 10^7}",
    "braces": "{" * 2000,
    "digits": "9" * 3_000_000,
}

_DIRECTLY = """
import json, logging, sys
logging.disable()
from math_verify import parse, verify
for line in sys.stdin:
    row = json.loads(line)
    print(int(verify(parse(f"${row['answer']}$"), parse(row["completion"]))))
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(("math-verify", {}), 1) as pool:
        yield pool


def _verify(pool: WorkerPool, reference: str, completion: str) -> Verdict:
    return verdicts_in(pool, [VerifierInput(item=1, question="", reference=reference, completion=completion)])[0]


@pytest.mark.parametrize(
    ("reference", "completion", "outcome"),
    [
        (r"\frac{1}{2}", r"So it is $\boxed{0.5}$.", Outcome.CORRECT),
        ("4", r"The answer is $\boxed{5}$", Outcome.INCORRECT),
        ("x+1", r"$\boxed{1+x}$", Outcome.CORRECT),
    ],
)
def test_decides_by_value(pool: WorkerPool, reference: str, completion: str, outcome: Outcome) -> None:
    verdict = _verify(pool, reference, completion)
    assert (verdict.outcome, verdict.reason) == (outcome, "symbolic")
    assert verdict.reference_final
    assert verdict.candidate_final
    assert verdict.ms > 0


def test_abstains_without_an_answer(pool: WorkerPool) -> None:
    no_reference = _verify(pool, "", r"$\boxed{5}$")
    assert (no_reference.outcome, no_reference.reason) == (Outcome.ABSTAIN, "no_reference_answer")
    no_answer = _verify(pool, "5", "I don't know")
    assert (no_answer.outcome, no_answer.reason) == (Outcome.ABSTAIN, "no_answer_found")


@pytest.mark.parametrize(
    "bomb", ["tower", *(pytest.param(bomb, marks=pytest.mark.soak) for bomb in BOMBS if bomb != "tower")]
)
def test_a_bomb_is_a_timeout_and_the_next_item_is_judged(pool: WorkerPool, bomb: str) -> None:
    verdict = _verify(pool, "5", rf"The final answer is $\boxed{{{BOMBS[bomb]}}}$.")
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "timeout")
    assert _verify(pool, "5", r"$\boxed{5}$").outcome is Outcome.CORRECT


@pytest.mark.soak
@pytest.mark.real_data
def test_equals_the_library_on_real_rows(pool: WorkerPool, real_rows: list[dict[str, Any]]) -> None:
    require_equal(pool, real_rows[::3])


@pytest.mark.soak
@pytest.mark.real_data
def test_equals_the_library_on_all_real_rows(pool: WorkerPool, real_rows: list[dict[str, Any]]) -> None:
    require_equal(pool, real_rows)


def require_equal(pool: WorkerPool, rows: list[dict[str, Any]]) -> None:
    direct = subprocess.run(
        [sys.executable, "-c", _DIRECTLY],
        input="".join(json.dumps(row) + "\n" for row in rows),
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [bool(int(line)) for line in direct.stdout.split()]
    forced = [_verify(pool, row["answer"], row["completion"]).outcome is Outcome.CORRECT for row in rows]
    assert forced == expected


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("reference", "completion", "options", "before", "after"),
    [
        ("0.333", "$0.3333$", {"float_rounding": "2"}, "incorrect", "correct"),
        ("2x+1", "$2y+1$", {"strict": "false"}, "incorrect", "correct"),
        ("(1,2)", "$1 < x < 2$", {"allow_set_relation_comp": "true"}, "incorrect", "correct"),
        ("3", "It is $3$", {"extraction": "latex"}, "correct", "correct"),
        ("3", "It is 3", {"extraction": "latex"}, "correct", "abstain"),
        ("$x+1$", "$1+x$", {"reference": "plain"}, "correct", "correct"),
        ("so it is 3", "It is 3", {"reference": "plain"}, "incorrect", "correct"),
        ("x+1", "$1+x$", {"reference": "plain"}, "correct", "abstain"),
        ("B) the Nile", "$B$", {"reference": "plain"}, "incorrect", "abstain"),
    ],
)
def test_the_librarys_options(
    pool: WorkerPool, reference: str, completion: str, options: dict[str, str], before: str, after: str
) -> None:
    assert _verify(pool, reference, completion).outcome.word == before
    with WorkerPool(("math-verify", options), 1) as other:
        assert _verify(other, reference, completion).outcome.word == after
    assert identity(MathVerify(**options)) != identity(MathVerify())


def test_the_default_identity_is_stable() -> None:
    assert MathVerify().config() == {}
    assert identity(MathVerify(strict="true", float_rounding="6")) == identity(MathVerify())
