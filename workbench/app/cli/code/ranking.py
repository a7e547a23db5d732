"""``workbench code select``, ``metrics``, ``histograms``, ``saturation`` and ``passk``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from workbench.app.cli.code.common import (
    BootstrapSamples,
    ReferenceRuns,
    SelectionRules,
    SolutionsEach,
    Source,
    TrueScores,
)
from workbench.app.cli.common import (
    REFUSED_SOME,
    print_lines,
    project_at,
    refusal_lines,
    say,
    say_some,
)
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import shown
from workbench.core.item import Refusal
from workbench.core.options import (
    BootstrapSeed,
    DatabaseOrFile,
    Force,
    Options,
    SeedNumber,
    TableForm,
    Verifiers,
    Where,
    option,
    read_sizes,
    require_one,
    restricted,
    run_job,
    sizes_up_to,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.text.figures import counted
from workbench.statistics.records.ranking import Missing

if TYPE_CHECKING:
    from workbench.coding.ranking.scores import Truth as ScoreSource
    from workbench.coding.ranking.selecting import RankingSelectionRules, SelectedSet
    from workbench.statistics.records.ranking import RankingReport


class CodeSelectOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    k: SolutionsEach = 5
    rules: SelectionRules = "released"
    filter_: Annotated[
        Literal["exception", "stderr"],
        option(
            "How to recognise an assertion failure: by the exception type or by standard error. Solutions "
            "that fail every test in another way are dropped."
        ),
    ] = "exception"
    exact: Annotated[bool, option("Compare distances as exact decimal fractions instead of floats.")] = False
    scores: TrueScores = TrueScores()
    where: Annotated[Where, restricted(needs="database")] = ()
    write: Annotated[
        Path | None,
        option(
            "Also write the selected solutions, with texts and tests, to this file.", metavar="FILE", output="stream"
        ),
    ] = None
    references: ReferenceRuns = ReferenceRuns()
    force: Force = False


@verb(json=False)
def select_command(options: CodeSelectOptions) -> None:
    """Select k solutions of each problem with scores spread from best to worst: a set for scoring and ranking.

    One JSON line per problem: "task_id", "selected" (ids in rank order), "scores", "ranks", "ground_truth", "dropped"
    by reason, and a "reason" if there are fewer than k. FILE has lines with "task_id" and "candidates", each with "id",
    "average_test_score", "average_time_taken" and "rank" (1 for the ground truth). In a database the reference solution
    is run if no solution represents it, and has rank 1. Exit code 3: some lines were rejected.
    """
    from workbench.coding.ranking.selecting import RankingSelectionRules, select_from, write_rows

    require_one(options, "database", "source")
    how = run_job(RankingSelectionRules, options, filter=options.filter_)
    if options.source is None:
        _select_from_database(str(options.database), how, options)
        return
    sets, refused = select_from(options.source, how)
    if options.write is not None:
        count = write_rows(sets, options.write, force=options.force)
        say(f"{shown(options.write)}: {counted(count, 'problem')}.")
    _print_sets(sets)
    say_some(refusal_lines(options.source, refused))
    if refused:
        sys.exit(REFUSED_SOME)


def _select_from_database(database: str, how: RankingSelectionRules, options: CodeSelectOptions) -> None:
    from workbench.coding.ranking.scores import runs_in_words
    from workbench.coding.ranking.selecting import write_stored

    with project_at(database) as project:
        meant = options.scores.read(project)
        on = f" on {runs_in_words(meant.runs)}" if meant.runs else ""
        say(f"Scores by {meant.name}{on}.")
        sets = _select_sets(project, how, meant, options)
        if options.write is not None:
            count = write_stored(project, meant, sets, options.write, force=options.force)
            say(f"{shown(options.write)}: {counted(count, 'problem')}.")
    _print_sets(sets)


def _select_sets(
    project: Project, how: RankingSelectionRules, meant: ScoreSource, options: CodeSelectOptions | CodeHistogramsOptions
) -> list[SelectedSet]:
    from workbench.coding.ranking.selecting import select_stored

    references = options.references.run(project, meant, options.where)
    return list(select_stored(project, how, meant, selection_of(options.where), references))


def _print_sets(sets: Sequence[SelectedSet]) -> None:
    from workbench.coding.ranking.tables import selection_lines

    lines = [one.line for one in sets]
    print_lines(lines)
    for text in selection_lines(lines):
        say(text)


# -- ``workbench code metrics DB|--from FILE``


class CodeMetricsOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    verifiers: Annotated[Verifiers, restricted(needs="database")] = ()
    scores: TrueScores = TrueScores()
    k: Annotated[
        int | None,
        option("Use only the K solutions per problem that `code select` would keep.", ge=1, le=1_000, needs="database"),
    ] = None
    missing: Annotated[
        Missing | None,
        option(
            "How missing scores are handled: zero (counted as the verifier's lowest score, the default) "
            "or drop (the problem is excluded).",
            needs="database",
        ),
    ] = None
    by: Annotated[Literal["problem"] | None, option("Print one row per problem instead of one per data set.")] = None
    paper: Annotated[
        bool,
        option(
            "Use the layout of the paper's tables: one row per verifier, data sets as columns. If the database has "
            "test results, 5 solutions per problem are selected unless --k is given."
        ),
    ] = False
    samples: BootstrapSamples = 2_000
    seed: BootstrapSeed = 0
    where: Annotated[Where, restricted(needs="database")] = ()
    references: ReferenceRuns = ReferenceRuns()
    form: TableForm = TableForm()


@verb
def metrics_command(options: CodeMetricsOptions) -> Output:
    """Show how well verifiers rank and score the solutions of problems.

    Top-1, Bottom-1, Spearman, Kendall, MAE and R², with 95 % intervals. In a database every verifier with scores is
    compared with the test results, all on the same problems. A verifier that has judged too few solutions is left out
    unless --verifier names it. A missing score counts as the verifier's lowest score. With --k or --paper the reference
    solution has rank 1. If no solution represents it and the verifiers execute tests, it is run first. FILE has one
    line per solution with "dataset" (HE_plus, HE_base, MBPP_plus, MBPP_base), "task_id", "rank",
    "ground_average_test_score" and the scores "average_test_score" (utg) and "reward": {"reward_score"} (reward). Exit
    code 3: some lines were rejected.
    """
    require_one(options, "database", "source")
    if options.source is not None:
        from workbench.coding.ranking.measuring import ranking_of_file

        report, refused = run_job(ranking_of_file, options, options.source)
        return _ranking_output(report, options, refused)
    from workbench.coding.ranking.measuring import PAPER_K, compare_verifiers
    from workbench.coding.ranking.scores import tested_by

    with project_at(str(options.database)) as project:
        meant = options.scores.read(project)
        k = options.k or (PAPER_K if options.paper and meant.runs else None)
        tested = {} if k is None else tested_by(project, meant, options.verifiers)
        run = partial(options.references.run, project, where=options.where)
        reference_scores = {name: run(one) for name, one in tested.items()}
        report = run_job(
            compare_verifiers,
            options,
            project,
            meant,
            k=k,
            references=run(meant) if tested else {},
            reference_scores=reference_scores,
            missing=options.missing or "zero",
        ).report
    return _ranking_output(report, options)


def _ranking_output(report: RankingReport, options: CodeMetricsOptions, refused: Sequence[Refusal] = ()) -> Output:
    from msgspec import structs

    from workbench.coding.ranking.tables import ranking_as

    by_problem = options.by is not None
    return Output(
        report if by_problem else structs.replace(report, problems=[]),
        lambda _: ranking_as(report, options.form, by_problem=by_problem, across=options.paper),
    ).refusing(options.source, refused)


# -- ``workbench code histograms DB``


class CodeHistogramsOptions(Options, frozen=True, kw_only=True):
    verifiers: Annotated[
        tuple[str, ...],
        option(
            "Also show this verifier's scores of the selected solutions (repeatable).", "--verifier", metavar="NAME"
        ),
    ] = ()
    k: SolutionsEach = 5
    rules: SelectionRules = "released"
    scores: TrueScores = TrueScores()
    where: Where = ()
    references: ReferenceRuns = ReferenceRuns()


@verb
def histograms_command(project: Project, options: CodeHistogramsOptions) -> Output:
    """Show scores, score gaps and sizes of a selection as histograms, and the test results of each run.

    The selection is the one that workbench code select makes, with reference solutions run. The shares of tests
    (passed, failed by an assertion, failed otherwise) are shown, too. A verifier's scores, such as those of tests that
    a model wrote, are shown for the same solutions.
    """
    from workbench.coding.ranking.measuring import selected_problems
    from workbench.coding.ranking.passing import histograms, outcome_shares, scores_of_selected, tests_of_problems
    from workbench.coding.ranking.selecting import RankingSelectionRules
    from workbench.coding.ranking.tables import histograms_text, selection_notes
    from workbench.coding.records.figures import HistogramsReport

    meant, chosen = options.scores.read(project), selection_of(options.where)
    sets = _select_sets(project, run_job(RankingSelectionRules, options), meant, options)
    counts = tests_of_problems(project, meant, sets)
    given = scores_of_selected(project, meant, sets, options.verifiers) if options.verifiers else {}
    report = HistogramsReport(histograms=histograms(sets, counts, given), shares=outcome_shares(project, chosen))
    return Output(report, histograms_text, after=list(selection_notes(selected_problems(sets), options.k)))


# -- ``workbench code saturation DB``


class CodeSaturationOptions(Options, frozen=True, kw_only=True):
    scores: TrueScores = TrueScores()
    sizes: Annotated[
        tuple[int, ...],
        option("Numbers of tests to draw, each up to 15.", "--k", metavar="K[,K…]", read=sizes_up_to(15)),
    ] = tuple(range(1, 11))
    resamples: Annotated[int, option("Number of random draws of tests.", ge=2, le=100_000)] = 100
    seed: Annotated[SeedNumber, option("Seed of the random draws.")] = 0
    where: Where = ()
    form: TableForm = TableForm()


@verb
def saturation_command(project: Project, options: CodeSaturationOptions) -> Output:
    """Show how many tests are enough to rank solutions as all tests do.

    For each k, the command draws k tests without replacement. It shows the mean over problems of Spearman's coefficient
    between the solutions' scores on these tests and on all tests. Only problems with at least 15 tests and two distinct
    scores are used. The first k whose lower 95 % bound is at least 0.90 is enough.
    """
    from workbench.coding.ranking.passing import saturation
    from workbench.coding.ranking.tables import saturation_as

    meant = options.scores.read(project)
    report = run_job(saturation, options, project, meant)
    return Output(report, lambda found: saturation_as(found, options.form))


# -- ``workbench code passk DB``


class CodePasskOptions(Options, frozen=True, kw_only=True):
    sizes: Annotated[
        tuple[int, ...],
        option(
            "Values of k, the number of solutions drawn per problem.",
            "--k",
            metavar="K[,K…]",
            read=read_sizes,
        ),
    ] = (1, 4, 8)
    verifier: Annotated[
        str | None, option("Use this verifier's verdicts instead of test outcomes.", metavar="NAME")
    ] = None
    scores: TrueScores = TrueScores()
    by_model: Annotated[
        bool, option("Break down by model as well as by data set, with the average over data sets.")
    ] = False
    against: Annotated[
        str | None,
        option(
            "With --by-model: compare each model's average with this model's, as a difference in points "
            "and in percent.",
            metavar="MODEL",
            needs="by_model",
        ),
    ] = None
    where: Where = ()
    form: TableForm = TableForm()


@verb
def passk_command(project: Project, options: CodePasskOptions) -> Output:
    """Show pass@k: the chance that at least one of k solutions of a problem passes all tests.

    The estimate is unbiased: 1 - C(n - c, k) / C(n, k). It is shown by data set, with a 95 % interval over problems.
    Reference solutions are not counted in n. To use results of another program, import them as a verifier's verdicts
    (workbench verdicts DB import FILE), and name it with --verifier.
    """
    from workbench.coding.ranking.passing import pass_report, passes_by_tests, passes_by_verdict, with_models
    from workbench.coding.ranking.tables import passes_as

    if options.verifier is not None and options.scores != TrueScores():
        raise click.UsageError("--verifier uses verdicts: it can't be combined with --truth or --suite.")
    selection = selection_of(options.where)
    if options.verifier is not None:
        passes = passes_by_verdict(project, options.verifier, selection)
    else:
        passes = passes_by_tests(project, options.scores.read(project), selection)
    report = pass_report(passes, options.sizes)
    if options.by_model:
        report = with_models(project, passes, report, options.sizes, options.against)
    return Output(report, lambda found: passes_as(found, options.form))
