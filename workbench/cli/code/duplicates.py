"""``workbench code duplicates DB|--from FILE``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from workbench.cli.asking import drawing, model_settings_option
from workbench.cli.code.common import database_or_file, from_option, require_one
from workbench.cli.common import (
    NumberRange,
    force_option,
    json_option,
    options_of,
    print_json,
    project_at,
    say_some,
    trust_option,
    trusting,
)
from workbench.cli.writing import OutputPath, to_stdout

if TYPE_CHECKING:
    from workbench.services.coding.evolution.duplicates import ProblemCosines
    from workbench.services.project import Project


@click.command()
@database_or_file
@from_option
@click.option("--model", metavar="NAME", help="A model of embeddings on a server: [models.NAME], or see -o base_url=…")
@model_settings_option
@click.option("--local", metavar="NAME", help="A model of sentence-transformers on this machine: a folder or hub name.")
@click.option("--threshold", type=NumberRange(-1, 1), default=0.9, show_default=True, help="Alike above it.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of which one stays.")
@click.option(
    "--output",
    "kept",
    type=OutputPath(),
    metavar="FILE",
    help="Write the problems that stay, for workbench code evolve --only.",
)
@trust_option
@force_option
@json_option
@to_stdout("kept")
def command(
    database: str | None,
    source: Path | None,
    model: str | None,
    options: tuple[str, ...],
    local: str | None,
    threshold: float,
    seed: int,
    kept: Path | None,
    trust: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Find problems that say the same by the cosine of their embeddings; of those one stays, drawn by seed.

    FILE holds a problem a line, {"task_id": …, "vector": […], "source": …}, or one object with task_ids and the matrix
    similarity. The paper's model is sentence-transformers/all-mpnet-base-v2. Nothing is deleted.
    """
    from workbench.services.coding.evolution.duplicates import find, from_file, write_kept
    from workbench.services.coding.evolution.tables import duplicates_text

    require_one(database, source, model=model, local=local)
    if database is not None and (model is None) == (local is None):
        raise click.UsageError("Say where embeddings come from: --model NAME -o base_url=…, or --local NAME.")
    with nullcontext() if database is None else project_at(database) as project:
        compared = (
            from_file(cast("Path", source)) if project is None else _embedded(project, model, options, local, trust)
        )
        report = find(compared, threshold=threshold, seed=seed)
        if kept is not None:
            write_kept(compared, report, kept, project=project, force=force)
    if as_json:
        print_json(report)
        return
    click.echo(duplicates_text(report), nl=False)
    say_some([f"  {one.task_id} is like {one.of} ({one.similarity:.3f})" for one in report.duplicates])


def _embedded(
    project: Project, model: str | None, options: tuple[str, ...], local: str | None, trust: bool
) -> ProblemCosines:
    """The problems of a database with embeddings of one of two origins."""
    from workbench.services.coding.evolution.duplicates import from_local, from_server
    from workbench.services.generation import models_from

    if local is not None:
        return from_local(project, local)
    models = models_from(project, [str(model)], options_of(options))
    with drawing("requests") as watch:
        return trusting(lambda yes: from_server(project, str(model), models, trust=yes, watch=watch), trust)
