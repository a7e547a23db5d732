"""verl: ``compute_score(data_source, solution_str, ground_truth, extra_info)`` for one completion or, in the batch
reward manager, with lists under the plural names.

verl hands over no question; its own data sets have it in ``extra_info["question"]``. Read from verl 0.9.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training.records import VerlScore
from workbench.training.scale import Scale, is_undecided
from workbench.training.texts import FieldError, column, is_missing, subtype, text


def one_input(solution: object, ground_truth: object, extra_info: object, place: str = "") -> VerifierInput:
    """What is to be judged.

    Args:
        place: Stands behind the names of fields in messages, such as ``s[3]``.

    Raises:
        FieldError: A value has a wrong type.
    """
    name = f"extra_info{place}"
    extra = {} if extra_info is None else extra_info
    if not isinstance(extra, Mapping):
        raise FieldError(name, "must be an object")
    question = extra.get("question")
    return VerifierInput(
        item=0,
        question="" if is_missing(question) else text(f"{name}.question", question),
        reference=text(f"ground_truth{place}", ground_truth),
        completion=text(f"solution_str{place}", solution),
        subtype=subtype(f"{name}.subtype", extra.get("subtype")),
    )


def batch_inputs(solutions: object, ground_truths: object, extra_infos: object) -> list[VerifierInput]:
    """The same for a batch.

    Raises:
        FieldError: A column or value has a wrong type or length.
    """
    texts = column("solution_strs", solutions)
    references = column("ground_truths", ground_truths, len(texts))
    extras = [None] * len(texts) if extra_infos is None else column("extra_infos", extra_infos, len(texts))
    return [one_input(texts[row], references[row], extras[row], f"s[{row}]") for row in range(len(texts))]


def score(verdict: Verdict, scale: Scale) -> VerlScore:
    """verl keeps every field as a column: all completions have the same ones."""
    return VerlScore(
        score=scale.number(verdict),
        acc=float(verdict.outcome is Outcome.CORRECT),
        undecided=float(is_undecided(verdict)),
        verdict=verdict.outcome.word,
        reason=verdict.reason or "",
    )
