"""Draw a judge's few-shot examples from a project's adjudicated items, once; later starts reuse them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from workbench.config.verifiers import EXAMPLES, EXAMPLES_DRAWN
from workbench.core.errors import OptionError
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.runs.store.settled import SettledItem, settled
from workbench.runs.store.verifier_inputs import inputs
from workbench.verifiers.judges.examples import (
    MAX_EXAMPLE_CHARACTERS,
    DrawnExamples,
    ExamplePlan,
    FewShotExample,
    drawn_from,
    encoded,
    normalise_question,
    plan_from,
)

_SPARE: Final = 1
"""Spare examples of each verdict, used for items with the same question as an example."""


def with_examples(project: Project, options: Mapping[str, str], bound: Mapping[str, str]) -> dict[str, str]:
    """Return a judge's options with the examples they request.

    Args:
        bound: The options that the name is bound to, with the examples drawn earlier.

    Raises:
        OptionError: The project has too few adjudicated items.
    """
    asked = {name: value for name, value in options.items() if name != EXAMPLES_DRAWN}
    try:
        plan = plan_from(options)
        found = drawn_from(options) or drawn_from({**bound, **asked})
    except ValueError:
        # Errors are reported when the verifier is constructed.
        return asked
    if plan is None:
        return asked
    return {**asked, EXAMPLES_DRAWN: encoded(found or _draw_examples(project, plan))}


def _draw_examples(project: Project, plan: ExamplePlan) -> DrawnExamples:
    wanted = {correct: share + _SPARE for correct, share in plan.shares.items()}
    taken: Counter[tuple[bool, str | None]] = Counter()
    found: dict[str, FewShotExample] = {}
    for one in settled(project.database.reader(), plan.examples_seed, MAX_EXAMPLE_CHARACTERS):
        group = (one.correct, one.type if plan.examples_type else None)
        if taken[group] == wanted[one.correct]:
            continue
        example = _short_example(project, one)
        if example is not None and normalise_question(example.question) not in found:
            taken[group] += 1
            found[normalise_question(example.question)] = example
    for correct, share in plan.shares.items():
        there = sum(one.correct is correct for one in found.values())
        if there < share:
            word = "correct" if correct else "incorrect"
            raise OptionError(
                EXAMPLES,
                f"{share} {word} items of different questions are needed, but only {there} can be shown. "
                f"Items with gold of up to {MAX_EXAMPLE_CHARACTERS:,} characters count.",
            )
    return DrawnExamples(plan=plan, examples=tuple(found.values()))


def _short_example(project: Project, one: SettledItem) -> FewShotExample | None:
    (texts,) = inputs(project.database, [one.item])
    if texts.characters > MAX_EXAMPLE_CHARACTERS or not texts.completion.strip():
        return None
    return record_from(FewShotExample, texts, item=(one.dataset, one.key), correct=one.correct, type=one.type)
