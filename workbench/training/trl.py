"""TRL: a reward function is called with ``prompts``, ``completions`` and every column of the data set as a list.

A column of references may have None: the reward function has nothing to say of that row. Read from trl 1.16.0,
``GRPOTrainer._calculate_rewards`` and ``RLOOTrainer._calculate_rewards``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.core.errors import UsageError
from workbench.core.verdict import VerifierInput
from workbench.training.texts import FieldError, asked, column, is_missing, said, subtype, text

REFERENCES: Final = ("reference", "ground_truth", "solution", "answer")
"""Names a column of references mostly has."""


def inputs(
    prompts: object, completions: object, columns: Mapping[str, Any], reference: str | None = None
) -> list[VerifierInput | None]:
    """What is to be judged, in order; None where a row has no reference.

    Args:
        prompts: Texts or conversations; a column ``question`` goes before them.
        completions: As many texts or conversations.
        columns: Other columns by name; of these, ``subtype`` is used beside the references.
        reference: The column of references; by default the one of `REFERENCES` that is there.

    Raises:
        UsageError: There is no column of references, or several.
        FieldError: A column or value has a wrong type or length.
    """
    replies = column("completions", completions)
    name = reference_column(columns, reference)
    references = column(name, columns[name], len(replies))
    questions = column("question", columns["question"], len(replies)) if "question" in columns else None
    turns = column("prompts", prompts, len(replies))
    subtypes = column("subtype", columns["subtype"], len(replies)) if "subtype" in columns else None
    return [
        None
        if is_missing(references[row])
        else VerifierInput(
            item=row,
            question=asked(f"prompts[{row}]", turns[row])
            if questions is None
            else text(f"question[{row}]", questions[row]),
            reference=text(f"{name}[{row}]", references[row]),
            completion=said(f"completions[{row}]", replies[row]),
            subtype=None if subtypes is None else subtype(f"subtype[{row}]", subtypes[row]),
        )
        for row in range(len(replies))
    ]


def reference_column(columns: Mapping[str, Any], wanted: str | None) -> str:
    """The name of the column with the references.

    Raises:
        UsageError: There is none, or several could be meant.
    """
    there = [name for name in ((wanted,) if wanted is not None else REFERENCES) if name in columns]
    if len(there) == 1:
        return there[0]
    if there:
        raise UsageError(f"The references could be in {' or '.join(there)}.", f'Say which: reference="{there[0]}"')
    raise FieldError(wanted or REFERENCES[1], "is missing: the references must be in a column")


def filled(rewards: Sequence[Any], rows: Sequence[VerifierInput | None]) -> list[Any]:
    """Rewards of the rows that have a reference, with None for the others."""
    left = iter(rewards)
    return [None if row is None else next(left) for row in rows]
