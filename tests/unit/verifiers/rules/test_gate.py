"""Every verdict of `rules` on every corpus is as recorded in gate.json: a refactoring shows which verdicts it changes.

``python -m tests.unit.verifiers.rules.test_gate`` prints what changed and records it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec import json as msgspec_json

from tests.unit.verifiers.rules.corpora import CORPORA, SHARED, SHARED_CORPORA, Case
from tests.unit.verifiers.rules.judging import by_rules
from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers import latex

RECORDED = Path(__file__).with_name("gate.json")
DIGITS = 4
"""Characters of a verdict in the record: the outcome, then three of the digest of reason, rule and final answers."""
OUTCOMES = {"c": "correct", "i": "incorrect", "a": "abstain", "e": "error"}


class Standing(Struct, frozen=True):
    """The verdicts on one corpus.

    Attributes:
        right: Right answers that are accepted.
        accepted_wrong: Wrong answers that are accepted.
        rejected_right: Right answers that are rejected.
        verdicts: One digest a verdict, in the order of the corpus.
    """

    right: int
    accepted_wrong: int
    rejected_right: int
    verdicts: str


def digest(verdict: Verdict) -> str:
    seen = [verdict.reason, verdict.rule, verdict.reference_span, verdict.candidate_span]
    texts = [verdict.reference_final, verdict.candidate_final]
    return verdict.outcome.word[0] + hashlib.sha256(json.dumps([*seen, *texts]).encode()).hexdigest()[: DIGITS - 1]


def standing(cases: list[Case], verdicts: list[Verdict]) -> Standing:
    outcomes = [(gold, verdict.outcome) for (_, gold), verdict in zip(cases, verdicts, strict=True)]
    return Standing(
        right=outcomes.count((True, Outcome.CORRECT)),
        accepted_wrong=outcomes.count((False, Outcome.CORRECT)),
        rejected_right=outcomes.count((True, Outcome.INCORRECT)),
        verdicts="".join(map(digest, verdicts)),
    )


def changes(cases: list[Case], verdicts: list[Verdict], before: str) -> list[str]:
    """Describe each verdict that is not as recorded, the outcome before it included."""
    if len(before) != DIGITS * len(cases):
        return [f"{len(cases)} cases, recorded are {len(before) // DIGITS}"]
    found = []
    for at, ((item, gold), verdict) in enumerate(zip(cases, verdicts, strict=True)):
        was = before[DIGITS * at : DIGITS * (at + 1)]
        if was != digest(verdict):
            now = f"{verdict.outcome.word} ({verdict.reason}, {verdict.rule}, {verdict.candidate_final!r:.80})"
            texts = f"{item.reference[-60:]!r} against {item.completion[-100:]!r}"
            found.append(f"{at} ({'right' if gold else 'wrong'}): {OUTCOMES[was[0]]} is now {now}: {texts}")
    return found


def recorded() -> dict[str, Standing]:
    return msgspec_json.decode(RECORDED.read_bytes(), type=dict[str, Standing])


@pytest.mark.parametrize("name", [*CORPORA, *SHARED_CORPORA])
def test_every_verdict_is_as_recorded(name: str) -> None:
    if name in SHARED_CORPORA and not (SHARED / f"{name}.jsonl").is_file():
        pytest.skip("the folder of shared data is not here")
    if latex.lack() is not None:
        pytest.skip("the second stage needs sympy")
    cases = (CORPORA | SHARED_CORPORA)[name]()
    verdicts, before = by_rules(case.item for case in cases), recorded()[name]
    assert changes(cases, verdicts, before.verdicts) == []
    assert standing(cases, verdicts) == before


def main() -> None:
    """Record the verdicts as they are, and print those that changed."""
    kept = recorded() if RECORDED.exists() else {}
    for name, load in (CORPORA | SHARED_CORPORA).items():
        if name in SHARED_CORPORA and not (SHARED / f"{name}.jsonl").is_file():
            continue
        cases = load()
        verdicts = by_rules(case.item for case in cases)
        if name in kept:
            print(*(f"{name} {line}" for line in changes(cases, verdicts, kept[name].verdicts)), sep="\n")
        kept[name] = now = standing(cases, verdicts)
        print(
            f"{name}: {len(cases)} cases, {now.right} right of {sum(gold for _, gold in cases)}, "
            f"{now.accepted_wrong} accepted wrongly, {now.rejected_right} rejected wrongly"
        )
    RECORDED.write_bytes(msgspec_json.format(msgspec_json.encode(kept), indent=1) + b"\n")


if __name__ == "__main__":
    main()
