"""Implement ``workbench.judge`` (the verdict of `rules` on one completion), and any verifier for harnesses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, Final

from workbench.core.columns import FieldError, text
from workbench.core.errors import UsageError, nearest
from workbench.core.reasons import explain_verdict
from workbench.core.taxonomy import SUBTYPES, parse_type
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training.choosing import is_undecided
from workbench.training.reward import SETTINGS, Reward

_BEST_FIRST: Final = (Outcome.CORRECT, Outcome.ABSTAIN, Outcome.ERROR, Outcome.INCORRECT)
"""Outcomes in order of precedence if there are several references: one match is enough for "correct", and "incorrect"
requires that none matches."""
MAX_CONCURRENT: Final = 256
"""Maximum completions that a harness may judge at a time; each waits in a thread."""

_LOCK: Final = threading.Lock()

Reference = str | float | Sequence[str | float]
"""An answer, or alternative answers; a number is converted to text."""


def judge(reference: Reference, completion: str, question: str = "", type: str | None = None) -> Verdict:
    """Return the verdict on a completion; see `workbench.judge`."""
    return _RULES.verdict(reference, completion, question, type)


class Judging:
    """A verifier for harnesses: one completion at a time, from any thread.

    Args:
        verifier: See `workbench.reward`.
        **settings: Other arguments of `workbench.reward`: those that `SETTINGS` lists; the reward of undecided
        verdicts is 0.0 by
            default.

    Attributes:
        name: The verifier's name.

    Raises:
        UsageError: An argument is invalid; see `workbench.reward`.
        NotTrustedError: The database's settings were not accepted yet.
        VerifierError: The verifier can't be used.
    """

    def __init__(self, verifier: str = "rules", **settings: Any) -> None:
        self._made_of = (verifier, settings)
        self._reward = Reward(verifier, **settings)
        self.name = self._reward.name

    def verdict(self, reference: Any, completion: str, question: str = "", type: str | None = None) -> Verdict:
        """Return the verdict on a completion.

        Args:
            reference: An answer, or several that are compared in turn until one matches. For a verifier that runs
                solutions: tests in any format of `workbench.reward`; of a list of tests all must pass.
            type: The answer's subtype, if it is known.

        Raises:
            UsageError: A value is not a text, the type is not a subtype, or tests can't be read.
            VerifierError: The workers can't start.
            RunError: No call to a model server can succeed now, or calls can't be stored.
        """
        subtype = None if type is None else _parse_subtype(type)
        deadline = self._reward.deadline
        ends = None if deadline is None else time.monotonic() + deadline
        best: Verdict | None = None
        for name, one in self._references(reference):
            item = VerifierInput(
                item=0,
                question=text("question", question),
                reference=text(name, one),
                completion=text("completion", completion),
                subtype=subtype,
            )
            left = None if ends is None else max(0.0, ends - time.monotonic())
            (verdict,) = self._reward.verdicts([item], left)
            if best is None or _BEST_FIRST.index(verdict.outcome) < _BEST_FIRST.index(best.outcome):
                best = verdict
            if best.outcome is Outcome.CORRECT:
                break
        assert best is not None
        return best

    def __reduce__(self) -> tuple[Any, ...]:
        return judging_by, self._made_of

    def close(self) -> None:
        self._reward.close()

    def figures(self, verdicts: Sequence[Verdict]) -> dict[str, float]:
        return {"acc": fmean(map(self._reward.number, verdicts)), "undecided": fmean(map(is_undecided, verdicts))}

    def fields(self, reference: str) -> tuple[str, ...]:
        if not self._reward.by_tests:
            return (reference,)
        from workbench.verifiers.execution.given import BESIDE

        return (reference, *BESIDE)

    def reference_in(self, row: Mapping[str, Any], name: str) -> Any:
        """Return the reference in a data set's row; if it is tests, with fields such as ``entry_point``."""
        if not self._reward.by_tests:
            return row[name]
        from workbench.verifiers.execution.given import tests_columns

        (tests,) = tests_columns({column: [value] for column, value in row.items()}, name, 1)
        return tests

    def _references(self, reference: object) -> list[tuple[str, object]]:
        plain = reference.tolist() if hasattr(reference, "tolist") else reference
        if self._reward.by_tests:
            return [("reference", _serialise_tests(plain))]
        if isinstance(plain, str | bytes) or not isinstance(plain, Sequence):
            return [("reference", plain)]
        if not plain:
            raise FieldError("reference", "must be an answer, or a list of at least one")
        return [(f"reference[{place}]", one) for place, one in enumerate(plain)]


_RULES: Final = Judging()


def judging_by(verifier: str, settings: Mapping[str, Any] | None = None) -> Judging:
    """Return the verifier with a name; callers with the same settings share it, with its journal and worker pool.

    Raises:
        UsageError: No such setting exists; other errors are those of `Judging`.
    """
    given = dict(settings or {})
    for name in given.keys() - {*SETTINGS}:
        raise UsageError(f"There is no setting {name!r} here.", nearest(name, SETTINGS, "Settings"))
    if verifier == "rules" and not given:
        return _RULES
    with _LOCK:
        return _cached_judging(verifier, json.dumps(given, sort_keys=True, default=str))


@lru_cache(maxsize=8)
def _cached_judging(verifier: str, settings: str) -> Judging:
    return Judging(verifier, **json.loads(settings))


def verdict_fields(verdict: Verdict) -> dict[str, str | None]:
    return {
        "verdict": verdict.outcome.word,
        "reference_final": verdict.reference_final,
        "candidate_final": verdict.candidate_final,
        "reason": verdict.reason,
        "rule": verdict.rule,
        "sentence": explain_verdict(verdict.outcome.word, verdict.reason, verdict.rule),
    }


def _serialise_tests(given: object) -> str:
    from workbench.verifiers.execution.given import tests_text

    only = given[0] if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 1 else given
    return tests_text("reference", only if isinstance(only, str) else given)


def _parse_subtype(said: object) -> str:
    name = text("type", said)
    found = parse_type(name)
    if found is None or found.code not in SUBTYPES:
        raise UsageError(f"There is no answer subtype {name!r}.", nearest(name, SUBTYPES.values(), "Subtypes"))
    return found.code
