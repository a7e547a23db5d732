"""``workbench code evolve DB --name NAME --model MODEL``; with ``--show``, what it has come to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.asking import dataset_option, drawing, model_settings_option, workers_option
from workbench.cli.common import (
    NumberRange,
    database_argument,
    force_option,
    json_option,
    options_of,
    print_json,
    project_at,
    say,
    trust_option,
    trusting,
    unsafe_option,
    whole_number,
)
from workbench.cli.writing import OutputPath, shown, to_stdout
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.model.evolution_report import EvolutionReport
    from workbench.services.project import Project

_SHARE = NumberRange(0, 1, min_open=True)
_PATH = click.Path(dir_okay=False, path_type=Path)


@click.command()
@database_argument
@click.option("--name", required=True, metavar="NAME", help="The evolution's; its suites are called after it.")
@click.option("--model", metavar="NAME", help="Who writes tests: [models.NAME] of workbench.toml, or see -o base_url=…")
@model_settings_option
@click.option("--rounds", type=click.IntRange(1, 20), default=3, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")
@click.option("--problems", type=whole_number, help="Only the first so many problems that can evolve.")
@click.option("--only", type=_PATH, metavar="FILE", help="Only problems of this file, such as duplicates --output.")
@click.option("--suite", default="base", show_default=True, metavar="NAME", help="The tests of round 0.")
@click.option(
    "--tests", "asked", type=click.IntRange(1, 200), default=20, show_default=True, help="Asked for at a time."
)
@click.option(
    "--objective",
    type=click.Choice(["released", "max-min", "max-sum"]),
    default="released",
    show_default=True,
    help="By what three solutions are shown beside the two best (docs/code-evolution.md).",
)
@click.option("--easiest", type=_SHARE, help="Don't show tests that at least this share passes to make harder ones.")
@click.option("--keep-unverified", is_flag=True, help="Take tests that the reference solution fails, too.")
@click.option(
    "--timeout",
    "seconds",
    type=NumberRange(0.01, 600),
    metavar="SECONDS",
    help="Of a test; else its problem's, or 3.",
)
@click.option("--extractor", type=click.Choice(["fence-1", "lines-1"]), default="fence-1", show_default=True)
@dataset_option
@workers_option
@trust_option
@unsafe_option
@click.option("--show", is_flag=True, help="Only show what the evolution has come to.")
@click.option("--page", type=OutputPath(), metavar="FILE", help="Write tables and plots as a page of HTML.")
@click.option("--export", "lines", type=OutputPath(), metavar="FILE", help="Write the result for training.")
@force_option
@json_option
@to_stdout("page", "lines")
def command(
    database: str,
    name: str,
    model: str | None,
    options: tuple[str, ...],
    problems: int | None,
    only: Path | None,
    dataset: str | None,
    workers: int | None,
    trust: bool,
    allow_unsafe: bool,
    show: bool,
    page: Path | None,
    lines: Path | None,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Grow suites of tests harder by rounds against the solutions they let through (EvolveCoder).

    In each round a model sees five solutions with their results and writes tests: first such as fail the best, then
    such as tell alike ones apart. They are executed over all solutions of the problem and filtered. The result are the
    suites NAME-round-1 … and NAME. The same command goes on after any end, to the same bytes.

    workbench code evolve DB --name hard --model gpt-4.1-mini -o base_url=https://api.openai.com/v1

    workbench code evolve DB --name hard --show --page hard.html --export hard.jsonl
    """
    if model is None and not show:
        raise UsageError("Say which model writes tests: --model NAME", "To see an evolution: --show")
    from workbench.services.coding.evolution import evolved
    from workbench.services.coding.evolution.running import export, write_page
    from workbench.services.coding.evolution.tables import evolution_text

    with project_at(database) as project:
        if show or model is None:
            report = evolved.report(project, evolved.evolution(project, name, dataset))
        else:
            chosen = {"dataset": dataset, "problems": problems, "workers": workers, "allow_unsafe": allow_unsafe}
            report = _run(project, name, model, options, settings, only, trust, **chosen)
        row = evolved.evolution(project, name, report.dataset)
        if page is not None:
            write_page(project, row, page, made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), force=force)
        if lines is not None:
            say(f"{export(project, row, lines, force=force):,} problems written to {shown(lines)}")
    if as_json:
        print_json(report)
    else:
        click.echo(evolution_text(report), nl=False)


def _run(
    project: Project,
    name: str,
    model: str,
    options: tuple[str, ...],
    settings: dict[str, Any],
    only: Path | None,
    trust: bool,
    **chosen: Any,
) -> EvolutionReport:
    from workbench.model.evolution import EvolutionSettings
    from workbench.services.coding.evolution.duplicates import read_kept
    from workbench.services.coding.evolution.refining import USUAL
    from workbench.services.coding.evolution.running import run
    from workbench.services.generation import models_from

    models = models_from(project, [model], options_of(options), USUAL)
    wanted = EvolutionSettings(model=model, **settings)
    tasks = None if only is None else read_kept(only)
    with drawing("problems") as watch:
        return trusting(
            lambda yes: run(project, name, models, wanted, only=tasks, trust=yes, watch=watch, **chosen), trust
        )
