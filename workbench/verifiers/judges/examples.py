"""Few-shot examples: items with gold labels that are shown to a judge, with their verdicts, before the item to judge.

An example about the same question as the item is replaced by another one.
Source: Brown et al., "Language Models are Few-Shot Learners" (arXiv 2005.14165).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Annotated, Final

import msgspec
from msgspec import Struct

from workbench.config.verifiers import EXAMPLES, EXAMPLES_DRAWN
from workbench.core.options import Options, option
from workbench.core.verdict import VerifierInput
from workbench.verifiers.control_tokens import neutralised
from workbench.verifiers.judges.template import BROKEN_NOTICE, LATE_NOTICE, delimiter, put_in_fence
from workbench.verifiers.option_record import parse_record

MAX_EXAMPLE_CHARACTERS: Final = 8000
"""Maximum total characters of question, reference and completion of an example."""


_STORED_NAMES: Final = {"examples": "count", "examples_seed": "seed", "examples_type": "by_type"}


class ExamplePlan(Options, frozen=True, kw_only=True, rename=_STORED_NAMES):
    """The few-shot examples of a judge."""

    examples: Annotated[
        int, option("number of few-shot examples: items with final labels, drawn when the run begins", le=32)
    ] = 0
    examples_seed: Annotated[int, option("seed of the draw of few-shot examples")] = 0
    examples_type: Annotated[bool, option("whether few-shot examples of the item's answer type come first")] = False

    @property
    def shares(self) -> dict[bool, int]:
        return {True: self.examples - self.examples // 2, False: self.examples // 2}


class FewShotExample(Struct, frozen=True, kw_only=True):
    """An item with a gold label.

    Attributes:
        item: Its dataset and id.
        type: The answer type's code, if known.
    """

    item: tuple[str, str]
    question: str
    reference: str
    completion: str
    correct: bool
    type: str | None = None


class DrawnExamples(Struct, frozen=True, kw_only=True):
    """The examples drawn for a plan.

    Attributes:
        examples: Examples in the order they were drawn, with spares for items that are about the same question.
    """

    plan: ExamplePlan
    examples: tuple[FewShotExample, ...]

    def about(self, item: VerifierInput) -> tuple[FewShotExample, ...]:
        """Return the examples for an item, alternating correct and incorrect; never one about the item's question."""
        question, kind = normalise_question(item.question), (item.subtype or "")[:1]
        others = [one for one in self.examples if normalise_question(one.question) != question]
        if self.plan.examples_type and kind:
            others.sort(key=lambda one: one.type != kind)
        shown = [[one for one in others if one.correct is word][:most] for word, most in self.plan.shares.items()]
        return tuple(one for one in chain.from_iterable(zip_longest(*shown)) if one is not None)

    def config(self) -> dict[str, object]:
        return {
            EXAMPLES: self.plan.examples,
            "examples_seed": self.plan.examples_seed,
            "examples_type": self.plan.examples_type,
            "examples_items": ["/".join(one.item) for one in self.examples],
            "examples_sha256": hashlib.sha256(msgspec.json.encode(self.examples)).hexdigest(),
        }


def plan_from(options: Mapping[str, str]) -> ExamplePlan | None:
    """Return the plan in the options; None for no examples.

    Raises:
        ValueError: An option is wrong.
    """
    plan = parse_record(ExamplePlan, options)
    for name in sorted(ExamplePlan.__struct_fields__) if EXAMPLES not in options else ():
        if name in options:
            raise ValueError(f"{name}: there are no examples; give their number: examples=4")
    return plan if plan.examples else None


def drawn_from(options: Mapping[str, str]) -> DrawnExamples | None:
    """Return the examples stored in options; None if none were drawn for the plan.

    Raises:
        ValueError: An option is wrong.
    """
    plan = plan_from(options)
    if plan is None or EXAMPLES_DRAWN not in options:
        return None
    drawn = decoded(options[EXAMPLES_DRAWN])
    return drawn if drawn.plan == plan else None


def decoded(text: str) -> DrawnExamples:
    """Parse the value of the option `EXAMPLES_DRAWN`.

    Raises:
        ValueError: The text is invalid.
    """
    try:
        return msgspec.json.decode(text, type=DrawnExamples)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{EXAMPLES_DRAWN}: {error}") from None


def encoded(drawn: DrawnExamples) -> str:
    return msgspec.json.encode(drawn).decode()


@lru_cache(maxsize=128)
def normalise_question(question: str) -> str:
    """Normalise a question for comparison: spaces and case are ignored."""
    return " ".join(question.split()).casefold()


# -- Rendering examples: before the item, and the same for all items, so that servers can cache them.


_ABOUT: Final = "Before the item that you are to judge, here are {count} that people have judged.\n\n"
_END: Final = "Those were the examples. What you are to judge comes now.\n\n"


@lru_cache(maxsize=64)
def format_examples(
    examples: tuple[FewShotExample, ...], secret: bytes | None, *, reference: bool, neutralise: bool
) -> str:
    """Return the text of examples before an item; "" without examples.

    Args:
        secret: The secret from which delimiters are derived; None for no delimiters.
        reference: Whether the judge sees reference answers.
        neutralise: Whether control tokens in texts are broken.
    """
    if not examples:
        return ""
    given = [text for one in examples for text in _example_texts(one, reference=reference).values()]
    fence = delimiter(secret, given) if secret is not None else None
    broken = neutralise and any(neutralised(text) != text for text in given)
    notice = LATE_NOTICE.format(fence=fence) if fence else ""
    parts = [_ABOUT.format(count=len(examples)), notice, BROKEN_NOTICE if broken else ""]
    for number, one in enumerate(examples, 1):
        texts = _example_texts(one, reference=reference)
        parts.append(f"Example {number}\n\n")
        for title, text in texts.items():
            sent = neutralised(text) if neutralise else text
            parts.append(f"{title}:\n{put_in_fence(sent, fence) if fence else sent}\n\n")
        parts.append(f"Verdict: {'correct' if one.correct else 'incorrect'}\n\n")
    return "".join([*parts, _END])


def _example_texts(one: FewShotExample, *, reference: bool) -> dict[str, str]:
    known = {"Reference answer": one.reference} if reference and one.reference else {}
    return {"Problem": one.question, **known, "Solution": one.completion}
