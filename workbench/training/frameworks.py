"""Convert requests and rewards for trainers: OpenRLHF, TRL and verl.

OpenRLHF's query is the prompt and the completion, decoded together with their special tokens. Source: openrlhf 0.11.2,
``SingleTurnAgentExecutor``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from workbench.core.columns import FieldError, column, completion_text, is_missing, prompt_text, subtype, text
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training.choosing import Scale, is_undecided
from workbench.training.records import OpenRlhfRewards, VerlScore

_BARE: Final = tuple(
    """<s> </s> <pad> <bos> <eos> <sop> <start_of_turn> <end_of_turn> <turn|> <|turn> [e~[ [INST] [/INST] <<SYS>>
    <</SYS>> [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [AVAILABLE_TOOLS] [gMASK] [/AVAILABLE_TOOLS] [TOOL_CALLS]
    [TOOL_RESULTS] [/TOOL_RESULTS] <BOS_TOKEN> <EOS_TOKEN> [PAD] [EOS] [EOT] <seed:eos> <seed:pad> <longcat_s>
    </longcat_s>""".split()  # noqa: SIM905
)
"""End-of-turn and padding tokens without bars; tags of the same form, such as ``</answer>``, belong to the answer."""

# <|im_end|> <｜end▁of▁sentence｜> [|endofturn|], matched from the end.
_BARRED: Final = r">[|｜][^\s<>|｜]{1,80}+[|｜]<|\]\|[^\s\[\]|]{1,80}+\|\["


def inputs(queries: object, prompts: object, labels: object, query: str = "queries") -> list[VerifierInput]:
    """Return the text to judge of each query: the text after the prompt, without end tokens.

    Args:
        query: The name of the first list in error messages.

    Raises:
        FieldError: A list or value has a wrong type or length.
    """
    whole = column(query, queries)
    asked = column("prompts", prompts, len(whole))
    references = column("labels", labels, len(whole))
    return [
        VerifierInput(
            item=row,
            question=(question := text(f"prompts[{row}]", asked[row])),
            reference=text(f"labels[{row}]", references[row]),
            completion=completion_of(text(f"{query}[{row}]", whole[row]), question),
        )
        for row in range(len(whole))
    ]


def completion_of(query: str, prompt: str) -> str:
    """Return the text after the prompt; the whole query if the prompt is not in it (it was truncated)."""
    start = query.find(prompt)
    completion = query if start < 0 else query[start + len(prompt) :]
    ends = _end_tokens_pattern().match(completion[::-1])
    return completion if ends is None else completion[: -ends.end()]


@cache
def _end_tokens_pattern() -> re.Pattern[str]:
    backwards = sorted((re.escape(token[::-1]) for token in _BARE), key=len, reverse=True)
    return re.compile(rf"(?:\s*+(?:{_BARRED}|{'|'.join(backwards)}))++")


def rewards(verdicts: Sequence[Verdict], scale: Scale) -> OpenRlhfRewards:
    numbers = [scale.number(verdict) for verdict in verdicts]
    undecided = [float(is_undecided(verdict)) for verdict in verdicts]
    return OpenRlhfRewards(rewards=numbers, scores=numbers, extra_logs={"undecided": undecided})


# -- TRL: a reward function is called with ``prompts``, ``completions`` and every column of the data set as a list.


REFERENCES: Final = ("reference", "ground_truth", "solution", "answer")
"""Usual names of a column of references."""


def trl_inputs(
    prompts: object, completions: object, columns: Mapping[str, Any], reference: str | None = None
) -> list[VerifierInput | None]:
    """Return the inputs in order; None for rows without a reference.

    Args:
        prompts: Texts or conversations; a column ``question`` takes precedence over them.
        completions: Texts or conversations, one for each prompt.
        columns: Other columns by name; only ``subtype`` and the references are used.
        reference: The column of references; by default the first of `REFERENCES` that exists.

    Raises:
        UsageError: The column of references is missing or ambiguous.
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
            question=prompt_text(f"prompts[{row}]", turns[row])
            if questions is None
            else text(f"question[{row}]", questions[row]),
            reference=text(f"{name}[{row}]", references[row]),
            completion=completion_text(f"completions[{row}]", replies[row]),
            subtype=None if subtypes is None else subtype(f"subtype[{row}]", subtypes[row]),
        )
        for row in range(len(replies))
    ]


def reference_column(columns: Mapping[str, Any], wanted: str | None) -> str:
    """Return the name of the column with the references.

    Raises:
        UsageError: The column is missing, or several columns are candidates.
    """
    there = [name for name in ((wanted,) if wanted is not None else REFERENCES) if name in columns]
    if len(there) == 1:
        return there[0]
    if there:
        raise UsageError(f"The references could be in {' or '.join(there)}.", f'Say which: reference="{there[0]}"')
    raise FieldError(wanted or REFERENCES[1], "is missing: the references must be in a column")


def align_with_rows(rewards: Sequence[Any], rows: Sequence[VerifierInput | None]) -> list[Any]:
    """Return the rewards of rows with a reference, and None for the other rows."""
    left = iter(rewards)
    return [None if row is None else next(left) for row in rows]


# -- verl: ``compute_score(data_source, solution_str, ground_truth, extra_info)`` for one completion or, in the
# batch reward manager, with lists under the plural names.


def one_input(solution: object, ground_truth: object, extra_info: object, place: str = "") -> VerifierInput:
    """Return the input to judge.

    Args:
        place: A suffix of field names in messages, such as ``s[3]``.

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
    """Return the inputs of a batch.

    Raises:
        FieldError: A column or value has a wrong type or length.
    """
    texts = column("solution_strs", solutions)
    references = column("ground_truths", ground_truths, len(texts))
    extras = [None] * len(texts) if extra_infos is None else column("extra_infos", extra_infos, len(texts))
    return [one_input(texts[row], references[row], extras[row], f"s[{row}]") for row in range(len(texts))]


def score(verdict: Verdict, scale: Scale) -> VerlScore:
    return VerlScore(
        score=scale.number(verdict),
        acc=float(verdict.outcome is Outcome.CORRECT),
        undecided=float(is_undecided(verdict)),
        verdict=verdict.outcome.word,
        reason=verdict.reason or "",
    )
