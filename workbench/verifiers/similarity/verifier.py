"""The base of all similarity verifiers: options, the compared texts, and the verdict a score implies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import structs

from workbench.core.errors import VerifierError
from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.option_record import choices, meanings, parse_record

HINT = "Run: pip install 'verifier-workbench[similarity]'"

Span = tuple[int, int] | None


class TooLongError(Exception):
    """A metric would take too long for these two texts."""


def installed(*packages: str, hint: str = HINT) -> str:
    """Return the versions of packages as a verifier's version: ``sacrebleu2.6.0``, joined by ``+``.

    Only their metadata is read.

    Raises:
        VerifierError: A package isn't installed.
    """
    try:
        return "+".join(f"{package}{version(package)}" for package in packages)
    except PackageNotFoundError as error:
        raise VerifierError(f"The package {error.name} isn't installed.", hint) from error


class SimilarityOptions(Options, frozen=True, kw_only=True):
    threshold: Annotated[float, option("minimum score of a correct completion, from 0 to 1", ge=0, le=1)] = 0.5
    of: Annotated[
        Literal["auto", "final", "whole"],
        option("texts to compare: final (final answers), whole (whole texts) or auto (whole texts for code)"),
    ] = "auto"


class Similarity(ABC):
    """Accepts a completion whose score against the reference reaches a threshold."""

    description: ClassVar[str]
    record: ClassVar[type[SimilarityOptions]] = SimilarityOptions
    options: ClassVar[dict[str, str]] = meanings(SimilarityOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(SimilarityOptions)
    preload: ClassVar[tuple[str, ...]] = ()
    name: str
    version: str
    isolation: Isolation = "process"

    def __init__(self, **options: str) -> None:
        self._options = parse_record(self.record, options)

    def config(self) -> dict[str, object]:
        return structs.asdict(self._options)

    @abstractmethod
    def score(self, reference: str, candidate: str) -> float:
        """Return the metric for two non-empty texts, 0 to 1.

        Raises:
            TooLongError: The metric would take too long.
        """

    def verify(self, item: VerifierInput) -> Verdict:
        """Score the texts; abstain if the reference or the completion has no text, or both are too long for the
        metric."""
        sides = self._compared_texts(item)
        if not sides.reference.strip():
            return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
        if not sides.candidate.strip():
            return sides.verdict(Outcome.ABSTAIN, "no_answer_found")
        try:
            score = self.score(sides.reference, sides.candidate)
        except TooLongError as error:
            return sides.verdict(Outcome.ABSTAIN, "too_complex", detail=str(error))
        # Sums of floats can slightly exceed 1 for equal texts.
        score = min(max(score, 0.0), 1.0)
        outcome = Outcome.CORRECT if score >= self._options.threshold else Outcome.INCORRECT
        return sides.verdict(outcome, "similarity", score=score)

    def _compared_texts(self, item: VerifierInput) -> _ComparedTexts:
        if self._options.of == "whole" or (self._options.of == "auto" and item.is_code):
            return _ComparedTexts(item.reference, item.completion)
        reference = reference_answer(item.reference, item.subtype)
        candidate = completion_answer(item.completion)
        return _ComparedTexts(
            reference.text,
            candidate.text,
            (reference.start, reference.end),
            (candidate.start, candidate.end) if candidate.found else None,
        )


class _ComparedTexts(NamedTuple):
    reference: str
    candidate: str
    reference_span: Span = None
    candidate_span: Span = None

    def verdict(self, outcome: Outcome, reason: str, score: float | None = None, detail: str | None = None) -> Verdict:
        return Verdict(
            outcome=outcome,
            score=score,
            reason=reason,
            reference_final=self.reference if self.reference_span else None,
            candidate_final=self.candidate if self.candidate_span else None,
            reference_span=self.reference_span,
            candidate_span=self.candidate_span,
            detail=detail,
        )
