"""What the texts of completions look like, for the checks of form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.core.final_answer import completion_answer
from workbench.core.project import Project
from workbench.core.verdict import VerifierInput
from workbench.runs.store import verdicts
from workbench.verifiers.rules.options import letters, options

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, IntArray

MOST_TEXTS = 5_000
"""Completions whose texts are read at most; an even choice of more."""

_BOXED = re.compile(r"\\f?boxed\s*\{")
_THINKING = re.compile(r"</?think(?:ing)?>")
_OTHER_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_AT_ONCE = 256
_MIX = 0x9E3779B97F4A7C15


class Forms(Struct, frozen=True, kw_only=True, eq=False):
    """Of some items; each a mask with one value an item.

    Attributes:
        place: Where the items stand among those asked about.
        boxed: The completion has a boxed answer.
        thinking: It shows its thinking.
        other_script: It has Chinese, Japanese or Korean characters.
        has_option: Its final answer is one of the question's options.
        first_option: That option is the first.
    """

    place: IntArray
    boxed: BoolArray
    thinking: BoolArray
    other_script: BoolArray
    has_option: BoolArray
    first_option: BoolArray


def forms(project: Project, items: IntArray) -> Forms:
    """Read the texts of the items, or of an even choice of `MOST_TEXTS` of them that is always the same."""
    import numpy as np

    place = np.arange(len(items))
    if len(items) > MOST_TEXTS:
        mixed = items.astype(np.uint64) * np.uint64(_MIX)
        place = np.sort(np.argpartition(mixed, MOST_TEXTS)[:MOST_TEXTS])
    wanted = items[place].tolist()
    seen = [
        _seen(text)
        for start in range(0, len(wanted), _AT_ONCE)
        for text in verdicts.inputs(project.database, wanted[start : start + _AT_ONCE])
    ]
    columns = np.array(seen, dtype=bool).reshape(len(seen), 5).T
    boxed, thinking, other_script, has_option, first_option = columns
    return Forms(
        place=place,
        boxed=boxed,
        thinking=thinking,
        other_script=other_script,
        has_option=has_option,
        first_option=first_option,
    )


def _seen(item: VerifierInput) -> tuple[bool, bool, bool, bool, bool]:
    text = item.completion
    known = options(item.question) if (item.subtype or "").startswith("C") else {}
    chosen = letters(completion_answer(text).text, known) if known else None
    return (
        _BOXED.search(text) is not None,
        _THINKING.search(text) is not None,
        _OTHER_SCRIPT.search(text) is not None,
        bool(chosen),
        chosen == frozenset([next(iter(known), "")]),
    )
