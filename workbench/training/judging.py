"""``workbench.judge``: what `rules` says of one completion; and the same as numbers, for harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from workbench.core.errors import UsageError, nearest
from workbench.core.reasons import sentence
from workbench.core.taxonomy import SUBTYPES, parse_type
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training.choosing import FieldError, Scale, is_undecided, text
from workbench.training.reward import Reward

_RULES: Final = Reward("rules")
_BEST_FIRST: Final = (Outcome.CORRECT, Outcome.ABSTAIN, Outcome.ERROR, Outcome.INCORRECT)
"""Of several references: one is enough to be right, and all must differ to be wrong."""

Reference = str | float | Sequence[str | float]
"""An answer, or several of which any will do; a number stands for its text."""


def judge(reference: Reference, completion: str, question: str = "", type: str | None = None) -> Verdict:
    """The verdict on a completion; see `workbench.judge`."""
    subtype = None if type is None else _subtype(type)
    items = [
        VerifierInput(
            item=0,
            question=text("question", question),
            reference=text(name, one),
            completion=text("completion", completion),
            subtype=subtype,
        )
        for name, one in _references(reference)
    ]
    return min(_RULES.verdicts(items), key=lambda verdict: _BEST_FIRST.index(verdict.outcome))


def figures(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The means of verdicts, for what takes nothing but numbers: an undecided one is not correct, and counted."""
    return {"acc": fmean(map(Scale().number, verdicts)), "undecided": fmean(map(is_undecided, verdicts))}


def said_of(verdict: Verdict) -> dict[str, str | None]:
    """A verdict for a log: what was compared, and what decided."""
    return {
        "verdict": verdict.outcome.word,
        "reference_final": verdict.reference_final,
        "candidate_final": verdict.candidate_final,
        "reason": verdict.reason,
        "rule": verdict.rule,
        "sentence": sentence(verdict.outcome.word, verdict.reason, verdict.rule),
    }


def _references(reference: object) -> list[tuple[str, object]]:
    """References by their names in messages."""
    plain = reference.tolist() if hasattr(reference, "tolist") else reference
    if isinstance(plain, str | bytes) or not isinstance(plain, Sequence):
        return [("reference", plain)]
    if not plain:
        raise FieldError("reference", "must be an answer, or a list of at least one")
    return [(f"reference[{place}]", one) for place, one in enumerate(plain)]


def _subtype(said: object) -> str:
    name = text("type", said)
    found = parse_type(name)
    if found is None or found.code not in SUBTYPES:
        raise UsageError(f"There is no answer subtype {name!r}.", nearest(name, SUBTYPES.values(), "Subtypes"))
    return found.code
