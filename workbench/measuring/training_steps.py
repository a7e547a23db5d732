"""Scores, by training step, of the models trained with each verifier (VerifyBench, figure 3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from workbench.core.errors import UsageError
from workbench.core.text.figures import GLYPHS, aligned, number, shade
from workbench.measuring.downstream_lines import FORM
from workbench.statistics.records.combined import DownstreamLine, DownstreamStep
from workbench.tables.document import Table
from workbench.tables.table import Columns, count, table, text, word

if TYPE_CHECKING:
    from workbench.tables.pictures import Curves

_MAX_ROWS: Final = 60
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def steps_of(lines: Sequence[DownstreamLine]) -> list[DownstreamStep]:
    """Return the mean score at each step, ordered by benchmark and verifier as in the lines, then by step."""
    at: dict[tuple[str, str], dict[int | None, list[float]]] = {}
    of: dict[str, None] = {}
    for line in lines:
        of.setdefault(line.benchmark)
        at.setdefault((line.benchmark, line.verifier), {}).setdefault(line.step, []).append(line.score)
    return [step for benchmark in of for step in _steps_of_benchmark(benchmark, at)]


def _steps_of_benchmark(
    benchmark: str, at: dict[tuple[str, str], dict[int | None, list[float]]]
) -> Iterator[DownstreamStep]:
    own = {verifier: scores for (name, verifier), scores in at.items() if name == benchmark}
    shared = Counter(step for scores in own.values() for step in scores)
    for verifier, scores in own.items():
        for step in sorted(scores, key=lambda step: -1 if step is None else step):
            yield DownstreamStep(
                benchmark=benchmark,
                verifier=verifier,
                step=step,
                score=sum(scores[step]) / len(scores[step]),
                scores=len(scores[step]),
                compared=shared[step] == len(own),
            )


def curved(steps: Sequence[DownstreamStep]) -> Iterator[tuple[str, dict[str, dict[int, float]]]]:
    for benchmark, of in groupby(steps, key=lambda one: one.benchmark):
        found: dict[str, dict[int, float]] = {}
        for one in of:
            if one.step is not None:
                found.setdefault(one.verifier, {})[one.step] = one.score
        if len({step for scores in found.values() for step in scores}) > 1:
            yield benchmark, found


def is_curved(steps: Sequence[DownstreamStep]) -> bool:
    return any(True for _ in curved(steps))


# -- As a table, as text and as a plot.


def steps_table(steps: Sequence[DownstreamStep]) -> Table:
    columns: Columns[DownstreamStep] = (
        word("benchmark", lambda one: one.benchmark),
        word("verifier", lambda one: one.verifier),
        text("step", lambda one: "" if one.step is None else f"{one.step:,}", by=lambda one: one.step),
        text("score", lambda one: f"{one.score:.4g}", by=lambda one: one.score),
        count("scores", lambda one: one.scores),
        word("compared", lambda one: "yes" if one.compared else "no"),
    )
    note = "Compared: at this step every verifier has a score. Scores of several seeds are averaged."
    return table("Scores by step of training", columns, steps, notes=(note,))


def curves_text(steps: Sequence[DownstreamStep]) -> str:
    return "\n\n".join(_curves_of_benchmark(benchmark, found) for benchmark, found in curved(steps))


def _curves_of_benchmark(benchmark: str, found: dict[str, dict[int, float]]) -> str:
    every = sorted({step for scores in found.values() for step in scores})
    shown = every if len(every) <= _MAX_ROWS else every[:: -(-len(every) // _MAX_ROWS)]
    values = [score for scores in found.values() for score in scores.values()]
    low, high = min(values), max(values)
    lines = [
        (
            verifier,
            "".join(_bar(scores.get(step), low, high) for step in shown),
            f"{number(scores[min(scores)])} → {number(scores[max(scores)])}",
            "" if len(scores) == len(every) else f"{len(scores):,} of {len(every):,} steps",
        )
        for verifier, scores in found.items()
    ]
    return aligned([(benchmark, f"steps {every[0]:,} to {every[-1]:,}", "first → last", ""), *lines])


def _bar(score: float | None, low: float, high: float) -> str:
    return " " if score is None else GLYPHS[shade(score, low, high) if high > low else 0]


def step_curves(steps: Sequence[DownstreamStep]) -> Iterator[tuple[str, Curves]]:
    """Yield the names and the curves of the benchmarks with scores at several steps.

    Raises:
        UsageError: There is none.
    """
    from workbench.tables.pictures import Curve, Curves

    if not is_curved(steps):
        raise UsageError("No benchmark has scores at several steps: there is no curve to draw.", FORM)

    for place, (benchmark, found) in enumerate(curved(steps), 1):
        caption = f"{benchmark}: score of what each verifier trained, by step of training."
        lines = tuple(Curve(label=name, points=tuple(sorted(scores.items()))) for name, scores in found.items())
        name = f"steps-{place}-{_UNSAFE.sub('-', benchmark)[:40]}"
        yield name, Curves(caption=caption, x_label="step", y_label="score", lines=lines)
