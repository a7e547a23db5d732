"""`rules` is wrong on no pair of the table, in neither direction; math-verify is on many."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.verifiers.rules.judging import by_rules, in_workers
from tests.unit.verifiers.rules.table import PAIRS, Pair
from workbench.core.taxonomy import SUBTYPES
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.text import normalized_exact


def trials(pairs: list[Pair]) -> list[tuple[Pair, VerifierInput]]:
    """Each pair in its directions."""
    return [
        (pair, one) for pair in pairs for one in ((pair.forward, pair.backward) if pair.both_ways else (pair.forward,))
    ]


def is_wrong(pair: Pair, verdict: Verdict) -> bool:
    """Whether the verdict is not the one the table wants."""
    wanted = {Outcome.CORRECT} if pair.equal else {Outcome.INCORRECT}
    return verdict.outcome not in (wanted | {Outcome.ABSTAIN} if pair.undecided else wanted)


def line(one: VerifierInput, verdict: Verdict) -> str:
    """What went wrong, for a person."""
    return f"{one.subtype}: {one.reference!r} against {one.completion!r} is {verdict.outcome.word} ({verdict.reason})"


@pytest.mark.few(4)
@pytest.mark.parametrize("subtype", SUBTYPES)
def test_no_pair_is_judged_wrong(subtype: str) -> None:
    tried = trials([pair for pair in PAIRS if pair.subtype == subtype])
    judged = zip(tried, by_rules(one for _, one in tried), strict=True)
    assert [line(one, verdict) for (pair, one), verdict in judged if is_wrong(pair, verdict)] == []


def test_the_table_is_large_enough() -> None:
    pairs = Counter(pair.subtype for pair in PAIRS)
    unequal = Counter(pair.subtype for pair in PAIRS if not pair.equal)
    assert pairs.keys() == SUBTYPES.keys()
    assert min(pairs.values()) >= 20
    assert min(unequal.values()) >= 10
    assert sum(pairs.values()) >= 1500
    assert sum(unequal.values()) >= 700


def test_no_pair_says_equal_and_unequal() -> None:
    said = {(pair.question, pair.reference, pair.answer): pair.equal for pair in PAIRS}
    assert len(said) == len(PAIRS)


def test_the_table_finds_a_verifier_that_compares_text_only() -> None:
    wrong = Counter(is_wrong(pair, normalized_exact().verify(one)) for pair, one in trials(PAIRS) if pair.equal)
    assert wrong[True] > wrong[False] > 0


@pytest.mark.soak
def test_math_verify_misjudges_many_of_the_pairs() -> None:
    known = [pair for pair in PAIRS if pair.math_verify_errs]
    with WorkerPool(("math-verify", {}), 2, deadline=2.0) as pool:
        found = in_workers(pool, [pair.forward for pair in known])
    judged_right = [
        line(pair.forward, verdict)
        for pair, verdict in zip(known, found, strict=True)
        if (verdict.outcome is Outcome.CORRECT) == pair.equal
    ]
    assert judged_right == []
    assert len(known) >= 40
