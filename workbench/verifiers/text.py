"""Verifiers that compare two final answers as text: fast, and never wrong about what is equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.canonical import canonical_text


class Exact:
    """Correct when both final answers are the same text."""

    description: ClassVar[str] = "Both final answers are the same text"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "exact"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        """Compare the texts without the spaces around them."""
        return _compare(item, str.strip)


class NormalizedExact:
    """Correct when both final answers are the same text but for typesetting."""

    description: ClassVar[str] = "Both final answers are the same text but for typesetting"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "normalized-exact"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        """Compare the canonical texts."""
        return _compare(item, canonical_text)


def _compare(item: VerifierInput, key: Callable[[str], str]) -> Verdict:
    """Compare the final answers by a key; abstain where one side has none or nothing is left of it."""
    reference = reference_answer(item.reference, item.subtype)
    expected = key(reference.text)
    if not expected:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
    candidate = completion_answer(item.completion)
    given = key(candidate.text)
    if not given:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=reference.text)
    return Verdict(
        outcome=Outcome.CORRECT if given == expected else Outcome.INCORRECT,
        reason="text_equal" if given == expected else "text_differs",
        reference_final=reference.text,
        candidate_final=candidate.text,
        reference_span=(reference.start, reference.end),
        candidate_span=(candidate.start, candidate.end),
    )
