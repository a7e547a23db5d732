"""``workbench curate DB duplicates``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.asking import drawing, model_settings_option
from workbench.cli.common import (
    NumberRange,
    by_option,
    json_option,
    options_of,
    print_json,
    project_at,
    say,
    show,
    trust_option,
    trusting,
)
from workbench.cli.curate.common import scope_of, scope_options
from workbench.errors import UsageError
from workbench.render.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.model.curation import DuplicatePair, DuplicatesReport, Scope
    from workbench.services.curating.duplicates import Method
    from workbench.services.generation import Watch
    from workbench.services.project import Project


@click.command()
@scope_options
@click.option(
    "--threshold",
    type=NumberRange(0, 1, min_open=True),
    help="Alike from this share of common shingles on (else: above this cosine).  [default: 0.7; embeddings: 0.9]",
)
@click.option(
    "--shingle", type=click.IntRange(1, 20), default=2, show_default=True, help="Words and numbers in a shingle."
)
@click.option("--model", metavar="NAME", help="Compare embeddings of a model server: [models.NAME], or -o base_url=…")
@model_settings_option
@click.option("--local", metavar="NAME", help="Compare embeddings of sentence-transformers on this machine.")
@click.option(
    "--embeddings",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help='Compare embeddings from a file: lines {"task_id": the question\'s id, "vector": […]}.',
)
@click.option("--pairs", is_flag=True, help="List every duplicate with the question that stays.")
@click.option("--dry-run", is_flag=True, help="Show what would go out, and write nothing.")
@click.option("--undo", is_flag=True, help="Take all duplicates in again.")
@by_option
@trust_option
@json_option
@click.pass_obj
def command(
    database: str,
    dataset: str | None,
    source: str | None,
    threshold: float | None,
    shingle: int,
    model: str | None,
    options: tuple[str, ...],
    local: str | None,
    file: Path | None,
    pairs: bool,
    dry_run: bool,
    undo: bool,
    by: str,
    trust: bool,
    as_json: bool,
) -> None:
    """Find questions that say what another one says, within a source and across sources, and take them out.

    Spaces, case, punctuation and LaTeX's layout don't matter; numbers, operators and variables do: questions of one
    template with other numbers all stay, and so do those that differ in other words, unless their reference answers
    are the same and telling. Of those that are alike the one stays of which most is known, then the first
    by data set and id. Nothing is deleted; --undo takes them in again.
    """
    if sum(1 for one in (model, local, file) if one is not None) > 1:
        raise UsageError("Give one of --model, --local and --embeddings.")
    from workbench.services.curating.duplicates import find_duplicates

    scope = scope_of(dataset, source)
    with project_at(database) as project:
        if undo:
            _undo(project, scope, by, as_json)
            return
        with drawing("requests") as watch:

            def find(trusted: bool) -> DuplicatesReport:
                method = _method(project, model, local, file, options_of(options), threshold, shingle)(trusted, watch)
                return find_duplicates(project, method, scope, by=by, dry_run=dry_run, with_pairs=pairs)

            report = trusting(find, trust)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if dry_run:
        say("Nothing was written (--dry-run).")


def _undo(project: Project, scope: Scope, by: str, as_json: bool) -> None:
    from workbench.services.curating.duplicates import take_in_again

    restored = take_in_again(project, scope, by=by)
    print_json({"restored": restored}) if as_json else show(f"{restored:,} duplicates are in again")


def _method(
    project: Project,
    model: str | None,
    local: str | None,
    file: Path | None,
    options: dict[str, str],
    threshold: float | None,
    shingle: int,
) -> Callable[[bool, Watch | None], Method]:
    """How questions are compared, for whether servers are trusted and who is told of calls."""
    from workbench.services.curating import duplicates
    from workbench.services.generation import models_from

    cosine = duplicates.COSINE if threshold is None else threshold
    if model is not None:
        models = models_from(project, [model], options)
        return lambda trust, watch: duplicates.by_server(
            project, model, models, threshold=cosine, trust=trust, watch=watch
        )
    if local is not None:
        return lambda _trust, _watch: duplicates.by_model(project, local, threshold=cosine)
    if file is not None:
        return lambda _trust, _watch: duplicates.by_file(project, file, threshold=cosine)
    least = duplicates.SHINGLES if threshold is None else threshold
    return lambda _trust, _watch: duplicates.by_text(project, threshold=least, shingle=shingle)


def _print(report: DuplicatesReport) -> None:
    rows = [(one.source, f"{one.before:,}", f"{one.after:,}") for one in report.sources]
    left = report.questions - report.duplicates
    click.echo(aligned([("source", "before", "after"), *rows, ("all", f"{report.questions:,}", f"{left:,}")]))
    show()
    how = f"shingles of {report.shingle}" if report.shingle is not None else report.similarity
    show(
        f"{report.duplicates:,} duplicates ({how}, {report.threshold:g}), {report.across:,} of them of a question of "
        f"another source; {report.excluded:,} taken out"
    )
    for pair in report.pairs or ():
        show(_pair(pair))


def _pair(pair: DuplicatePair) -> str:
    return f"{pair.similarity:.3f}\t{pair.question_id} ({pair.source})\tis like {pair.of} ({pair.of_source})"
