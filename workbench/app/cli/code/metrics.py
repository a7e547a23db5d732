"""``workbench code metrics DB|--from FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.code.common import Source, Suites, Truth, require_one
from workbench.app.cli.common import project_at, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.item import Refusal
from workbench.core.options import DatabaseOrFile, Options, SeedNumber, TableFormat, Verifiers, Where, option
from workbench.statistics.records.ranking import Missing

if TYPE_CHECKING:
    from workbench.statistics.records.ranking import RankingReport


class CodeMetricsOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    verifiers: Verifiers = ()
    truth: Truth = None
    suites: Suites = ()
    k: Annotated[int | None, option("Only the k solutions of each problem that select would keep.", ge=1, le=1_000)] = (
        None
    )
    missing: Annotated[
        Missing | None,
        option(
            "A score that a verifier refuses to give is its lowest (zero, the default), or takes the problem out "
            "(drop)."
        ),
    ] = None
    by: Annotated[Literal["problem"] | None, option("A line a problem instead of one a data set.")] = None
    samples: Annotated[
        int, option("Samples behind the intervals; 0 for none.", "--bootstrap", metavar="SAMPLES", ge=0, le=100_000)
    ] = 2_000
    seed: Annotated[SeedNumber, option("Seed of the bootstrap.")] = 0
    where: Where = ()
    format: TableFormat = "text"


@verb
def command(options: CodeMetricsOptions) -> Output:
    """Show how well verifiers rank and score the solutions of problems.

    Top-1, Bottom-1, Spearman, Kendall, MAE and R², with 95 % intervals. In a database every verifier with scores is
    set against what tests say, all on the same problems; one that has judged too little is left out unless --verifier
    names it, and what a verifier refuses to score counts as its lowest score. FILE has a line a
    solution with "dataset" (HE_plus, HE_base, MBPP_plus, MBPP_base), "task_id", "rank", "ground_average_test_score" and
    the scores "average_test_score" (utg) and "reward": {"reward_score"} (reward). Exit code 3: some lines were refused.
    """
    require_one(
        options.database,
        options.source,
        verifier=options.verifiers,
        truth=options.truth,
        suite=options.suites,
        k=options.k,
        missing=options.missing,
        where=options.where,
    )
    if options.source is not None:
        from workbench.coding.ranking.measuring import ranking_of_file

        found = ranking_of_file(options.source, samples=options.samples, seed=options.seed)
        return _output(found.report, options, found.refused)
    from workbench.coding.ranking.measuring import ranking
    from workbench.coding.ranking.truth import truth_of

    with project_at(str(options.database)) as project:
        report = ranking(
            project,
            truth_of(project, options.truth, options.suites),
            options.verifiers,
            selection=selection_of(options.where),
            k=options.k,
            missing=options.missing or "zero",
            samples=options.samples,
            seed=options.seed,
        )
    return _output(report, options)


def _output(report: RankingReport, options: CodeMetricsOptions, refused: Sequence[Refusal] = ()) -> Output:
    from msgspec import structs

    from workbench.coding.ranking.tables import ranking_as

    by_problem = options.by is not None
    return Output(
        report if by_problem else structs.replace(report, problems=[]),
        lambda _: ranking_as(report, options.format, by_problem=by_problem),
    ).refusing(options.source, refused)
