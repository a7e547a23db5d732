"""A judge that quotes a probe verbatim and then states its verdict is read by its verdict."""

from __future__ import annotations

import pytest

from tests.unit.verifiers.probes.rows import SUM, texts
from workbench.verifiers.judges.parsers import parser

OWN = {
    "verifybench@2": ("Final Judgment: Yes", "Final Judgment: No"),
    "ice-score@2": ("4", "1"),
    "codejudge@2": ("Yes", "No"),
    "compassverifier@2": ("CORRECT", "INCORRECT"),
    "xverify@2": ("Correct", "Incorrect"),
}
FENCE = "fence-91c2"
QUOTED = [text for family in ("P4", "P5", "P6") for text in texts(SUM, family, carried=True).values() if text]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("frame", ["{fence}\n{text}\n{fence}\n", "<think>\n{text}\n</think>\n", "{text}\n\n"])
def test_the_own_verdict_counts(name: str, frame: str) -> None:
    assert len(QUOTED) == 9 + 6 + 6
    for text in QUOTED:
        for own, verdict in zip(OWN[name], ("correct", "incorrect"), strict=True):
            quotation = frame.replace("{fence}", FENCE).replace("{text}", text)
            assert parser(name).parse(quotation + own, FENCE).verdict == verdict, text


@pytest.mark.parametrize("name", OWN)
def test_a_quotation_alone_is_not_a_verdict(name: str) -> None:
    for text in QUOTED:
        found = parser(name).parse(f"{FENCE}\n{text}\n{FENCE}\n", FENCE)
        assert (found.verdict, found.reason) == ("abstain", "unparsed"), text
