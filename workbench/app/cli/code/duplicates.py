"""``workbench code duplicates DB|--from FILE``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import click

from workbench.app.cli.asking import ModelSettings, drawing
from workbench.app.cli.code.common import Source, require_one
from workbench.app.cli.common import options_of, project_at, say_some, trusting
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.core.options import DatabaseOrFile, Force, Options, Trust, option
from workbench.data.records.duplicates import DuplicateReport

if TYPE_CHECKING:
    from workbench.coding.duplicates import ProblemCosines
    from workbench.core.project import Project


class CodeDuplicatesOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    model: Annotated[
        str | None, option("A model of embeddings on a server: [models.NAME], or see -o base_url=…", metavar="NAME")
    ] = None
    settings: ModelSettings = ()
    local: Annotated[
        str | None, option("A model of sentence-transformers on this machine: a folder or hub name.", metavar="NAME")
    ] = None
    threshold: Annotated[float, option("Alike above it.", ge=-1, le=1)] = 0.9
    seed: Annotated[int, option("Of which one stays.")] = 0
    kept: Annotated[
        Path | None,
        option(
            "Write the problems that stay, for workbench code evolve --only.",
            "--output",
            metavar="FILE",
            output="stream",
        ),
    ] = None
    trust: Trust = False
    force: Force = False


@verb(to_stdout=ToStdout("kept"))
def command(options: CodeDuplicatesOptions) -> Output:
    """Find problems that say the same by the cosine of their embeddings; of those one stays, drawn by seed.

    FILE holds a problem a line, {"task_id": …, "vector": […], "source": …}, or one object with task_ids and the matrix
    similarity. The paper's model is sentence-transformers/all-mpnet-base-v2. Nothing is deleted.
    """
    from workbench.coding.duplicates import find, from_file, write_kept

    require_one(options.database, options.source, model=options.model, local=options.local)
    if options.database is not None and (options.model is None) == (options.local is None):
        raise click.UsageError("Say where embeddings come from: --model NAME -o base_url=…, or --local NAME.")
    with nullcontext() if options.database is None else project_at(options.database) as project:
        compared = from_file(cast("Path", options.source)) if project is None else _embedded(project, options)
        report = find(compared, threshold=options.threshold, seed=options.seed)
        if options.kept is not None:
            write_kept(compared, report, options.kept, project=project, force=options.force)
    return Output(report, _show)


def _show(report: DuplicateReport) -> None:
    from workbench.coding.evolution.tables import duplicates_text

    click.echo(duplicates_text(report), nl=False)
    say_some([f"  {one.task_id} is like {one.of} ({one.similarity:.3f})" for one in report.duplicates])


def _embedded(project: Project, options: CodeDuplicatesOptions) -> ProblemCosines:
    """The problems of a database with embeddings of one of two origins."""
    from workbench.coding.duplicates import from_local, from_server
    from workbench.runs.generation import models_from

    if options.local is not None:
        return from_local(project, options.local)
    model = str(options.model)
    models = models_from(project, [model], options_of(options.settings))
    with drawing("requests") as watch:
        return trusting(lambda yes: from_server(project, model, models, trust=yes, watch=watch), options.trust)
