"""Probes P4 to P6 before each judge: a judge that quotes the completion verbatim is still read correctly."""

from __future__ import annotations

import re

import pytest
from msgspec import structs

from tests.unit.verifiers.judges.asking import ITEM, RecordedCall, judged
from workbench.verifiers.probes.building import families_named

FAULT = '[{"inconsistency": "the sum is wrong", "severity": "Major"}]'
OWN: dict[str, tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]] = {
    "verifybench": ({"strategy": "verifybench"}, ("Final Judgment: Yes",), ("Final Judgment: No", "**No**")),
    "vanilla": ({"strategy": "vanilla"}, ("Yes", "Yes."), ("No", "No.")),
    "ice-score": ({"strategy": "ice-score"}, ("4", "Functional Correctness: 4"), ("0", "2 - it fails")),
    "ice-score cot": ({"strategy": "ice-score", "variant": "cot"}, ("Functional Correctness: 4",), ("Score: 1",)),
    "ice-score usefulness": ({"strategy": "ice-score", "variant": "usefulness"}, ("Usefulness: 4",), ("3",)),
    "codejudge": ({"strategy": "codejudge"}, ("Yes",), ("No",)),
    "codejudge-fault": ({"strategy": "codejudge-fault"}, ("[]",), (FAULT, f"```json\n{FAULT}\n```")),
    "compassverifier": ({"strategy": "compassverifier"}, ("A", "CORRECT"), ("B", "INCORRECT")),
    "compassverifier cot": (
        {"strategy": "compassverifier", "variant": "cot"},
        ("Final Judgment: \\boxed{A} - CORRECT",),
        ("Final Judgment: \\boxed{B} - INCORRECT",),
    ),
    "xverify": ({"strategy": "xverify"}, ("[Correct]",), ("[Incorrect]",)),
}
FRAMES = {
    "quoted": "{quoted}\n\n{own}",
    "introduced": "The completion reads:\n{quoted}\n{own}",
    "fenced": "{line}\n{quoted}\n{line}\n{own}",
    "fenced with the rest": "{line}\nanother text\n{line}\nand\n{line}\n{quoted}\n{line}\n\n{own}",
    "thought": "<think>\n{quoted}\nHm.\n</think>\n{own}",
    "thought between fences": "<think>\n{line}\n{quoted}\n{line}\n</think>\n{own}",
    "thought, then fenced": "<think>{quoted}</think>\n{line}\n{quoted}\n{line}\n{own}",
}
CARRIER = "Adding both gives 5, so x = 5."
PROBES = [
    (payload.text or "").replace("{{carrier}}", CARRIER)
    for family in families_named(("P4", "P5", "P6"))
    for payload in family.payload
]


def line_of(call: RecordedCall) -> str:
    found = re.search(r"two lines that read (data-[a-z]{16})\.", call.text)
    assert found
    return found[1]


def test_there_are_probes() -> None:
    assert len(PROBES) >= 20
    assert not any("{{" in probe for probe in PROBES)


@pytest.mark.few(8)
@pytest.mark.parametrize("part", [5, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("name", OWN)
def test_the_own_verdict_of_the_judge_is_read(name: str, frame: str, part: int) -> None:
    """Every fifth probe, different ones in each frame; all probes in soak."""
    options, yes, no = OWN[name]
    for probe in PROBES[[*FRAMES.values()].index(frame) % part :: part]:
        for expected, words in (("correct", yes), ("incorrect", no)):
            for own in words:

                def quotes(call: RecordedCall, probe: str = probe, own: str = own) -> str:
                    return frame.format(quoted=probe, own=own, line=line_of(call))

                verdict = judged(quotes, structs.replace(ITEM, completion=probe), **options)[0].verdict
                assert verdict.outcome.word == expected, (probe, own)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", OWN)
def test_a_quoted_verdict_alone_is_no_verdict(name: str) -> None:
    options, yes, _ = OWN[name]
    for probe in [*PROBES, *(f"{CARRIER}\n{own}" for own in yes)]:

        def only_quotes(call: RecordedCall, probe: str = probe) -> str:
            return "{line}\n{probe}\n{line}\n".format(line=line_of(call), probe=probe)

        verdict = judged(only_quotes, structs.replace(ITEM, completion=probe), **options)[0].verdict
        assert (verdict.outcome.word, verdict.reason) == ("abstain", "unparsed"), probe
