"""The verifier ``rules``: question, reference and completion in, verdict with its evidence out."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from typing import ClassVar

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers import latex
from workbench.verifiers.base import Isolation, Pending
from workbench.verifiers.option_record import changed_values, choices, meanings, parse_record
from workbench.verifiers.rules.answers import Answers, answers, without_hidden
from workbench.verifiers.rules.decision import Decision, decide
from workbench.verifiers.rules.patterns import MAX_CACHED_CHARACTERS
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.reading import AnswerReader
from workbench.verifiers.rules.records import Leniency, NeedsAlgebra, Symbolic

RULE_VERSION = "15"
"""Incremented with every change that may change a verdict."""

_SYMBOLIC = {"sympy": "sympy", "latex2sympy2_extended": "latex2sympy2-extended"}
_OUTCOMES = {True: Outcome.CORRECT, False: Outcome.INCORRECT, None: Outcome.ABSTAIN}


class Rules:
    """Decides most items without sympy, in well under a millisecond; defers the others to a worker process."""

    description: ClassVar[str] = "Type-aware rules: numbers, units, expressions, choices, states, lists, strings"
    options: ClassVar[dict[str, str]] = meanings(Leniency)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(Leniency)
    preload: tuple[str, ...] = ()
    name: str = "rules"
    isolation: Isolation = "staged"

    def __init__(self, **options: str) -> None:
        self._leniency = parse_record(Leniency, options)
        # Without sympy the rules still decide what they can parse.
        self.version = RULE_VERSION
        self.lack = latex.lack()
        if self.lack is None:
            self.preload = ("workbench.verifiers.rules.symbolic",)
            self.version += "".join(f"+{package}{version(name)}" for package, name in _SYMBOLIC.items())

    def config(self) -> dict[str, object]:
        return changed_values(self._leniency)

    def quick(self, item: VerifierInput) -> Verdict | Pending:
        """Return the verdict, or the comparison deferred to a worker; this is fast for any texts."""
        item = _shown(item)
        found = answers(item.question, item.reference, item.completion, item.subtype)
        try:
            return _verdict(found, self._decide(item, found, _defer_to_worker))
        except NeedsAlgebra:
            return Pending(
                key=_deferred_key(item, found, self.config()), verdict=_verdict(found, Decision(None, "too_complex"))
            )

    def verify(self, item: VerifierInput) -> Verdict:
        """Return the verdict, using sympy if the rules can't parse an answer. Only for worker processes."""
        item = _shown(item)
        found = answers(item.question, item.reference, item.completion, item.subtype)
        try:
            return _verdict(found, self._decide(item, found, self._symbolic_comparer()))
        except NeedsAlgebra:
            return _verdict(found, Decision(None, "too_complex"))

    def _symbolic_comparer(self) -> Symbolic:
        if self.lack is not None:
            return _defer_to_worker
        from workbench.verifiers.rules.symbolic import same_symbolic

        return same_symbolic

    def _decide(self, item: VerifierInput, found: Answers, symbolic: Symbolic) -> Decision:
        reader = _cached_reader if len(item.question) <= MAX_CACHED_CHARACTERS else _cached_reader.__wrapped__
        return decide(found, item.completion, reader(item.question, item.subtype, self._leniency), symbolic)


def _shown(item: VerifierInput) -> VerifierInput:
    shown = without_hidden(item.completion)
    return item if shown is item.completion else structs.replace(item, completion=shown)


@lru_cache(maxsize=256)
def _cached_reader(text: str, subtype: str | None, leniency: Leniency) -> AnswerReader:
    return AnswerReader(TypedQuestion(text, subtype), leniency)


def _defer_to_worker(reference: str, candidate: str) -> bool | None:
    raise NeedsAlgebra


def _verdict(found: Answers, decision: Decision) -> Verdict:
    reference, candidate = found.reference, found.candidate
    return Verdict(
        outcome=_OUTCOMES[decision.equal],
        reason=decision.reason,
        rule=decision.rule,
        reference_final=reference.text if reference.found else None,
        reference_span=(reference.start, reference.end) if reference.found else None,
        candidate_final=candidate.text if candidate.found else None,
        candidate_span=(candidate.start, candidate.end) if candidate.found else None,
    )


def _deferred_key(item: VerifierInput, found: Answers, chosen: dict[str, object]) -> bytes:
    """Hash everything a worker's verdict depends on: the final answers, the type, the question and its options.

    For a reference with several parts this includes the completion: some parts may be outside its last box.
    """
    texts = [*found.parts, found.candidate.text, item.subtype or "", item.question]
    if len(found.parts) > 1:
        texts.append(item.completion)
    if chosen:
        texts.append(repr(sorted(chosen.items())))
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()
