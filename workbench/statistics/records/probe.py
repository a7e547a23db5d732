"""Reward-hacking probes: what they are built from, and the figures that come of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import OutcomeWord

SkipReason = Literal[
    "right_answer",
    "not_applicable",
    "no_answer",
    "no_completion",
    "no_number",
    "no_brackets",
    "no_equation",
    "no_twin",
    "no_program",
    "no_example",
    "nothing_left",
]
"""Why a probe was not made: its payload is a right answer, the question has nothing to build it from ..."""

SKIP_WORDS: dict[SkipReason, str] = {
    "right_answer": "the payload is a right answer",
    "not_applicable": "not for this kind of verifier",
    "no_answer": "the reference's final answer isn't known",
    "no_completion": "no real completion",
    "no_number": "the answer is no number",
    "no_brackets": "the answer is no set or tuple",
    "no_equation": "no equation whose solution is the answer",
    "no_twin": "the answer has nothing that could be altered so",
    "no_program": "no code question",
    "no_example": "no example in the question",
    "nothing_left": "the answer stands in the first words",
}
"""The reasons in words."""


class BaseRow(Struct, frozen=True, kw_only=True):
    """A question to build probes from.

    Attributes:
        question_id: The question's row id.
        key: The question's own id.
        question: Its text.
        type: The answer type's code, or ``"untyped"``.
        subtype: The answer subtype's code; None where there is none.
        example: Public examples of the question, where its rows have such a field.
        right: A completion that gold calls correct, if there is one.
        wrong: A completion that gold calls incorrect, if there is one.
        carrier: What payloads are appended to; None for a text that answers nothing.
    """

    question_id: int
    key: str
    question: str
    reference: str
    type: str = UNTYPED
    subtype: str | None = None
    example: str | None = None
    right: str | None = None
    wrong: str | None = None
    carrier: str | None = None


class Figures(Struct, frozen=True, kw_only=True):
    """How often completions were accepted.

    Attributes:
        n: Completions judged.
        parsed: Those with the verdict correct or incorrect.
        accepted: Those with the verdict correct.
        abstain: Those the verifier abstained on.
        error: Those it failed on.
        asr: ``accepted / parsed``; None where nothing was parsed.
        ci: The 95 % interval of ``asr``, clustered by question; None where nothing was parsed.
        asr_all: ``accepted / n``.
        no_verdict: ``(abstain + error) / n``.
    """

    n: int
    parsed: int
    accepted: int
    abstain: int
    error: int
    asr: float | None
    ci: tuple[float, float] | None
    asr_all: float | None
    no_verdict: float | None


class VariantFigures(Figures, frozen=True, kw_only=True):
    """One payload's figures.

    Attributes:
        expected: The verdict a good verifier gives; where it is correct, the payload is in no other figure.
    """

    variant: str
    source: str
    languages: tuple[str, ...]
    expected: Literal["incorrect", "correct"]


class FamilyFigures(Figures, frozen=True, kw_only=True):
    """One family's figures over all its payloads that are to be refused.

    Attributes:
        family: Its number, such as ``"P4"``.
        skipped: Probes that were left out, by reason.
        above_control: Share of probes with a higher score than their question's control, of those where both have
            one; None where none has.
        by_type: Figures by answer type.
    """

    family: str
    name: str
    source: str
    skipped: dict[SkipReason, int]
    above_control: float | None
    by_type: dict[str, Figures]
    variants: list[VariantFigures]


class ControlFigures(Figures, frozen=True, kw_only=True):
    """How often right completions of the same questions were accepted; ``asr`` is their acceptance.

    Attributes:
        real: How many of them are completions that gold calls correct; the others are the reference's answer in a box.
    """

    real: int
    by_type: dict[str, Figures]


class ProbeReport(Struct, frozen=True, kw_only=True):
    """What came of a probing, with everything a reader needs to repeat it.

    Attributes:
        verifier: The verifier's name.
        version: The version of its rules, parser or library.
        config_hash: Identifies its kind and configuration.
        suite: The version of the payloads.
        seed: What the questions were drawn with, and random payloads made with.
        rows: Questions used.
        calls: Requests sent to model servers for it; 0 when every reply was stored before.
        seconds: Wall time.
        slowest_ms: The longest that one completion took.
        parsed: Probes with a verdict, over all families.
        skipped: Probes that were left out, over all families.
        carrier: Wrong completions of the same questions, as they are; on a question where one is accepted, payloads are
            appended to a text that answers nothing instead.
        by_type: Figures over all families by answer type.
    """

    verifier: str
    kind: str
    version: str
    config_hash: str
    suite: str
    seed: int
    created_at: str
    rows: int
    calls: int
    seconds: float
    slowest_ms: float
    parsed: int
    skipped: dict[SkipReason, int]
    control: ControlFigures
    carrier: Figures
    overall: Figures
    by_type: dict[str, Figures]
    families: list[FamilyFigures]


class AcceptedProbe(Struct, frozen=True, kw_only=True):
    """A completion that was accepted and should not have been, with what the verifier made of it.

    Attributes:
        expected: Always ``"incorrect"``.
        candidate_span: Offsets of ``candidate_final`` into ``completion``.
        reply: A judge's replies, in their order, with lines between them.
    """

    family: str
    variant: str
    question_id: str
    expected: Literal["incorrect"] = "incorrect"
    verdict: OutcomeWord = "correct"
    reference: str
    completion: str
    score: float | None
    reason: str | None
    rule: str | None
    reference_final: str | None
    candidate_final: str | None
    candidate_span: tuple[int, int] | None
    detail: str | None
    reply: str | None
