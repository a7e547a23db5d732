"""``workbench code metrics DB|--from FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.code.common import (
    database_or_file,
    end_if_refused,
    from_option,
    require_one,
    suite_option,
    truth_option,
)
from workbench.cli.common import (
    json_option,
    print_json,
    project_at,
    selection_of,
    table_format_option,
    verifiers_option,
    where_option,
)

if TYPE_CHECKING:
    from workbench.model.ranking import Missing, RankingReport


@click.command()
@database_or_file
@from_option
@verifiers_option
@truth_option
@suite_option
@click.option("--k", type=click.IntRange(1, 1_000), help="Only the k solutions of each problem that select would keep.")
@click.option(
    "--missing",
    type=click.Choice(["zero", "drop"]),
    default=None,
    help="A score that a verifier refuses to give is its lowest (zero, the default), or takes the problem out (drop).",
)
@click.option("--by", type=click.Choice(["problem"]), help="A line a problem instead of one a data set.")
@click.option(
    "--bootstrap",
    "samples",
    type=click.IntRange(0, 100_000),
    default=2_000,
    show_default=True,
    metavar="SAMPLES",
    help="Samples behind the intervals; 0 for none.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the bootstrap.")
@where_option
@table_format_option
@json_option
def command(
    database: str | None,
    source: Path | None,
    verifiers: tuple[str, ...],
    truth: str | None,
    suites: tuple[str, ...],
    k: int | None,
    missing: Missing | None,
    by: str | None,
    samples: int,
    seed: int,
    where: tuple[str, ...],
    format_: Any,
    as_json: bool,
) -> None:
    """Show how well verifiers rank and score the solutions of problems.

    Top-1, Bottom-1, Spearman, Kendall, MAE and R², with 95 % intervals. In a database every verifier with scores is
    set against what tests say, all on the same problems; one that has judged too little is left out unless --verifier
    names it, and what a verifier refuses to score counts as its lowest score. FILE has a line a
    solution with "dataset" (HE_plus, HE_base, MBPP_plus, MBPP_base), "task_id", "rank", "ground_average_test_score" and
    the scores "average_test_score" (utg) and "reward": {"reward_score"} (reward). Exit code 3: some lines were refused.
    """
    require_one(database, source, verifier=verifiers, truth=truth, suite=suites, k=k, missing=missing, where=where)
    if source is not None:
        from workbench.services.coding.ranking.measuring import ranking_of_file

        found = ranking_of_file(source, samples=samples, seed=seed)
        _show(found.report, format_, as_json, by_problem=by is not None)
        end_if_refused(source, found.refused)
    else:
        from workbench.services.coding.ranking.measuring import ranking
        from workbench.services.coding.ranking.truth import truth_of

        with project_at(str(database)) as project:
            meant = truth_of(project, truth, suites)
            chosen = selection_of(where)
            as_missing = missing or "zero"
            report = ranking(
                project, meant, verifiers, selection=chosen, k=k, missing=as_missing, samples=samples, seed=seed
            )
        _show(report, format_, as_json, by_problem=by is not None)


def _show(report: RankingReport, format_: Any, as_json: bool, *, by_problem: bool) -> None:
    from msgspec import structs

    from workbench.services.coding.ranking.tables import ranking_as

    if as_json:
        print_json(report if by_problem else structs.replace(report, problems=[]))
    else:
        click.echo(ranking_as(report, format_, by_problem=by_problem), nl=False)
