"""OpenRLHF: ``reward_func(queries, prompts, labels)``, and the same three lists posted to a remote reward model.

A query is the prompt and the completion, decoded together with their special tokens. Read from openrlhf 0.11.2,
``SingleTurnAgentExecutor``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from workbench.core.verdict import Verdict, VerifierInput
from workbench.training.records import OpenRlhfRewards
from workbench.training.scale import Scale, is_undecided
from workbench.training.texts import column, text

_BARE: Final = (
    *(
        "<s>",
        "</s>",
        "<pad>",
        "<bos>",
        "<eos>",
        "<sop>",
        "<start_of_turn>",
        "<end_of_turn>",
        "<turn|>",
        "<|turn>",
        "[e~[",
    ),
    *(
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<</SYS>>",
        "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]",
        "[AVAILABLE_TOOLS]",
        "[gMASK]",
    ),
    *("[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "<BOS_TOKEN>", "<EOS_TOKEN>"),
    *("[PAD]", "[EOS]", "[EOT]", "<seed:eos>", "<seed:pad>", "<longcat_s>", "</longcat_s>"),
)
"""Tokens without bars that end a turn or fill up a row; a tag in their form, such as ``</answer>``, is the answer's."""

# <|im_end|> <｜end▁of▁sentence｜> [|endofturn|], from behind.
_BARRED: Final = r">[|｜][^\s<>|｜]{1,80}+[|｜]<|\]\|[^\s\[\]|]{1,80}+\|\["


def inputs(queries: object, prompts: object, labels: object, query: str = "queries") -> list[VerifierInput]:
    """What is to be judged: of each query what stands behind the prompt, without the tokens that end it.

    Args:
        query: What the first list is called in messages.

    Raises:
        FieldError: A list or value has a wrong type or length.
    """
    whole = column(query, queries)
    asked = column("prompts", prompts, len(whole))
    references = column("labels", labels, len(whole))
    found = []
    for row in range(len(whole)):
        question = text(f"prompts[{row}]", asked[row])
        found.append(
            VerifierInput(
                item=row,
                question=question,
                reference=text(f"labels[{row}]", references[row]),
                completion=completion_of(text(f"{query}[{row}]", whole[row]), question),
            )
        )
    return found


def completion_of(query: str, prompt: str) -> str:
    """What stands behind the prompt; the whole query where the prompt is not in it (it was cut to fit)."""
    start = query.find(prompt)
    completion = query if start < 0 else query[start + len(prompt) :]
    ends = _ends().match(completion[::-1])
    return completion if ends is None else completion[: -ends.end()]


@cache
def _ends() -> re.Pattern[str]:
    """The tokens with which chat formats mark turns, and white space behind them, in a text read backwards."""
    backwards = sorted((re.escape(token[::-1]) for token in _BARE), key=len, reverse=True)
    return re.compile(rf"(?:\s*+(?:{_BARRED}|{'|'.join(backwards)}))++")


def rewards(verdicts: Sequence[Verdict], scale: Scale) -> OpenRlhfRewards:
    """The answer."""
    numbers = [scale.number(verdict) for verdict in verdicts]
    undecided = [float(is_undecided(verdict)) for verdict in verdicts]
    return OpenRlhfRewards(rewards=numbers, scores=numbers, extra_logs={"undecided": undecided})
