"""Render EvolveCoder's tables and figures: near-duplicate problems, and the rounds of an evolution."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.coding.evolution.evolving import SKIPPED
from workbench.coding.records.evolution import MODES, REJECTIONS, EvolutionReport, ModelRow, RoundRow, StepRow
from workbench.core.text.figures import NONE, number
from workbench.data.records import DuplicateReport, SourceCount
from workbench.tables.document import (
    Group,
    Lines,
    Paragraph,
    Series,
    Table,
    heads,
    percentage,
    row,
)
from workbench.tables.table import Column, Columns, column, count, counts, table, word
from workbench.tables.table_text import plain_table, text_plot

_TENTHS = tuple(f"{10 * tenth}–{10 * tenth + 10}" for tenth in range(10))
_LEFT_OUT = {"few_tests": "too few tests", "too_easy": "solved by nearly all"}


def evolution_text(report: EvolutionReport) -> str:
    blocks = list(map(plain_table, evolution_tables(report)))
    # The distribution of scores is also shown as a table.
    plots = [f"{plot.caption}\n\n{text_plot(plot)}\n" for plot in evolution_plots(report)[:-1]]
    return "\n".join([_lead_text(report) + "\n", *blocks, *plots])


def evolution_group(report: EvolutionReport) -> Group:
    rounds, sources, distribution, steps, rejected, models = evolution_tables(report)
    passing, generated, by_model, scores = evolution_plots(report)
    about = (rounds, passing, distribution, scores, sources, steps, generated, rejected, models, by_model)
    return Group(title=f"Evolution {report.name}", blocks=(Paragraph(_lead_text(report)), *about))


def _lead_text(report: EvolutionReport) -> str:
    words = [f"{report.name}: {report.finished:,} of {report.problems:,} problems of {report.dataset} are finished."]
    if report.unbegun:
        words.append(f"A part: {report.unbegun:,} more can evolve and have not started.")
    if report.unverified:
        words.append(
            f"{report.unverified:,} have no reference solution written by people, so that their new tests "
            f"are unverified."
        )
    if report.wrong_from_start:
        words.append(f"{report.wrong_from_start:,} tests of round 0 fail their reference solution.")
    words += [f"{count:,} left out: {SKIPPED[code]}." for code, count in report.skipped.items()]
    return " ".join(words)


def evolution_tables(report: EvolutionReport) -> list[Table]:
    """Return the tables of rounds, sources, scores, steps, rejections and models."""
    return [
        _rounds_table(report),
        _sources_table(report),
        _scores_table(report),
        _steps_table(report),
        _rejections_table(report),
        _models_table(report),
    ]


def _rounds_table(report: EvolutionReport) -> Table:
    columns: Columns[RoundRow] = (
        word("round", lambda one: str(one.round)),
        *counts("problems", "tests"),
        column("a problem", lambda one: one.mean_tests, _mean_text),
        column("redundant", lambda one: one.alike, percentage),
        column("kept redundant", lambda one: one.kept_alike, percentage),
        column("score", lambda one: one.mean_score, percentage),
        *_pass_at_columns(report),
        column("pass@1 of the set", lambda one: one.pass_at_set["1"], percentage),
    )
    left_out = {code for one in report.rounds for code in one.left_out}
    notes = [
        f"Left out as {_LEFT_OUT[code]}, round by round: "
        + ", ".join(str(one.left_out.get(code, 0)) for one in report.rounds)
        for code in sorted(left_out)
    ]
    caption = (
        "The set after each round. pass@k is over the same problems in every round, in percent; redundant: tests "
        "that the same solutions pass as another."
    )
    return table(caption, columns, report.rounds, notes=notes)


def _pass_at_columns(report: EvolutionReport) -> Columns[RoundRow | ModelRow]:
    def passing(k: int) -> Column[RoundRow | ModelRow]:
        return column(f"pass@{k}", lambda one: one.pass_at[str(k)], percentage)

    return [passing(k) for k in report.ks]


def _sources_table(report: EvolutionReport) -> Table:
    by = {(one.source, one.round): one for one in report.sources}

    def problems(round: int) -> Column[str]:
        return count(f"problems {round}", lambda name: by[name, round].problems)

    def tests(round: int) -> Column[str]:
        return column(f"tests {round}", lambda name: by[name, round].mean_tests, _mean_text)

    rounds = range(len(report.rounds))
    columns: Columns[str] = (word("source", str), *map(problems, rounds), *map(tests, rounds))
    caption = "Problems and mean number of tests by source, after each round (table 2)."
    return table(caption, columns, dict.fromkeys(one.source for one in report.sources))


def _scores_table(report: EvolutionReport) -> Table:
    def scores(one: RoundRow) -> Column[int]:
        return count(f"round {one.round}", lambda place: one.scores[place])

    columns: Columns[int] = (word("tests passed", _TENTHS.__getitem__), *map(scores, report.rounds))
    caption = "Solutions by the share of tests they pass, in percent, after each round."
    return table(caption, columns, range(len(_TENTHS)))


def _steps_table(report: EvolutionReport) -> Table:
    columns: Columns[StepRow] = (
        word("round", lambda one: str(one.round)),
        word("step", lambda one: one.mode),
        count("asked", lambda one: one.asked),
        count("replies", lambda one: one.replied),
        *counts("proposed", "taken", "retained"),
        column("retained %", lambda one: one.retained_share, percentage),
        count("fewer than five", lambda one: one.few_shown),
    )
    caption = "Tests of each step: proposed, accepted after the filters and execution, and retained after the round."
    return table(caption, columns, report.steps)


def _rejections_table(report: EvolutionReport) -> Table:
    def rejected(code: str) -> Column[StepRow]:
        return count(code, lambda one: one.rejected.get(code, 0))

    codes = [code for code in REJECTIONS if any(code in one.rejected for one in report.steps)]
    columns: Columns[StepRow] = (
        word("round", lambda one: str(one.round)),
        word("step", lambda one: one.mode),
        *map(rejected, codes),
    )
    notes = (f"{code}: {REJECTIONS[code]}" for code in codes)
    return table("Proposed tests that were rejected, by reason.", columns, report.steps, notes=notes)


def _models_table(report: EvolutionReport) -> Table:
    columns: Columns[ModelRow] = (
        word("model", lambda one: one.model or NONE),
        *counts("problems", "solutions"),
        *_pass_at_columns(report),
    )
    caption = "Solutions that pass the final suites, by model, over the problems in the set, in percent (figure 6)."
    return table(caption, columns, report.models)


def evolution_plots(report: EvolutionReport) -> list[Lines]:
    """Return the plots of pass@k by round, of new tests, of pass@k by model, and of scores."""
    rounds = tuple(str(one.round) for one in report.rounds)
    ks = tuple(str(k) for k in report.ks)
    return [
        Lines(
            caption="pass@k over rounds, in percent (figure 4).",
            x_label="round",
            ticks=rounds,
            series=tuple(Series(f"pass@{k}", tuple(one.pass_at[k] for one in report.rounds)) for k in ks),
        ),
        Lines(
            caption="Tests proposed and retained over rounds (figure 5).",
            x_label="round",
            ticks=rounds[1:],
            series=tuple(_generated_series(report)),
            shares=False,
        ),
        Lines(
            caption="pass@k of each model on the final suites, in percent (figure 6).",
            x_label="k",
            ticks=ks,
            series=tuple(Series(one.model or NONE, tuple(one.pass_at[k] for k in ks)) for one in report.models),
        ),
        Lines(
            caption="Share of solutions by the share of tests they pass, in tenths, after each round.",
            x_label="tests passed, in percent",
            ticks=_TENTHS,
            series=tuple(
                Series(f"round {one.round}", tuple(count / max(one.solutions, 1) for count in one.scores))
                for one in report.rounds
            ),
        ),
    ]


def _generated_series(report: EvolutionReport) -> Iterable[Series]:
    for mode in MODES:
        steps = [one for one in report.steps if one.mode == mode]
        yield Series(f"{mode}, proposed", tuple(float(one.proposed) for one in steps))
        yield Series(f"{mode}, retained", tuple(float(one.retained) for one in steps))


def _mean_text(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


# -- Near-duplicate problems.


def duplicates_text(report: DuplicateReport) -> str:
    overlaps = [_overlaps_table(report)] if len(report.overlaps) > 1 else []
    return "\n".join(map(plain_table, [_remaining_table(report), *overlaps, _neighbours_table(report)]))


def _remaining_table(report: DuplicateReport) -> Table:
    columns: Columns[SourceCount] = (
        word("source", lambda one: one.source),
        *counts("before", "after"),
        column("%", lambda one: one.after / one.before, percentage),
    )
    caption = (
        f"Problems before and after removing those with a cosine over {report.threshold:g} to one that stays "
        f"({report.similarity}, seed {report.seed}; table 1)."
    )
    total = SourceCount(source="all", before=report.problems, after=report.kept)
    return table(caption, columns, (*report.sources, total))


def _overlaps_table(report: DuplicateReport) -> Table:
    def alike(other: str) -> Column[str]:
        return column(other, lambda name: report.overlaps[name][other], percentage)

    columns: Columns[str] = (word("source", str), *map(alike, report.overlaps))
    caption = "Share of a source's problems that are similar to one of another source, in percent (figure 1)."
    return table(caption, columns, report.overlaps)


def _neighbours_table(report: DuplicateReport) -> Table:
    bins = zip(report.edges, report.edges[1:], report.before, report.after, strict=False)
    rows = [
        row(f"{low:.2f}–{high:.2f}", f"{before:,}", f"{after:,}")
        for low, high, before, after in bins
        if before or after
    ]
    rows.append(row("mean", number(report.mean_before), number(report.mean_after)))
    return Table(
        caption=f"Problems by their mean cosine to the {report.neighbours} nearest neighbours (figure 2).",
        head=(heads("mean cosine", "before", "after"),),
        rows=tuple(rows),
    )
