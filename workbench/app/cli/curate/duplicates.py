"""``workbench curate DB duplicates``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.asking import ModelSettings, drawing
from workbench.app.cli.common import options_of, show, trusting
from workbench.app.cli.curate.common import ScopeDataset, ScopeSource, scope_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import By, Options, Trust, option
from workbench.core.text.columns import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.benchmarks.curating.duplicates import Method
    from workbench.core.project import Project
    from workbench.measuring.records.curation import DuplicatePair, DuplicatesReport
    from workbench.runs.generation import Watch


class CurateDuplicatesOptions(Options, frozen=True, kw_only=True):
    dataset: ScopeDataset = None
    source: ScopeSource = None
    threshold: Annotated[
        float | None,
        option(
            "Alike from this share of common shingles on (else: above this cosine).  [default: 0.7; embeddings: 0.9]",
            gt=0,
            le=1,
        ),
    ] = None
    shingle: Annotated[int, option("Words and numbers in a shingle.", ge=1, le=20)] = 2
    model: Annotated[
        str | None, option("Compare embeddings of a model server: [models.NAME], or -o base_url=…", metavar="NAME")
    ] = None
    settings: ModelSettings = ()
    local: Annotated[
        str | None, option("Compare embeddings of sentence-transformers on this machine.", metavar="NAME")
    ] = None
    file: Annotated[
        Path | None,
        option(
            'Compare embeddings from a file: lines {"task_id": the question\'s id, "vector": […]}.',
            "--embeddings",
            metavar="FILE",
            exists=True,
        ),
    ] = None
    pairs: Annotated[bool, option("List every duplicate with the question that stays.")] = False
    dry_run: Annotated[bool, option("Show what would go out, and write nothing.")] = False
    undo: Annotated[bool, option("Take all duplicates in again.")] = False
    by: By = "coordinator"
    trust: Trust = False


@verb(within=True)
def command(project: Project, options: CurateDuplicatesOptions) -> Output:
    """Find questions that say what another one says, within a source and across sources, and take them out.

    Spaces, case, punctuation and LaTeX's layout don't matter; numbers, operators and variables do: questions of one
    template with other numbers all stay, and so do those that differ in other words, unless their reference answers
    are the same and telling. Of those that are alike the one stays of which most is known, then the first
    by data set and id. Nothing is deleted; --undo takes them in again.
    """
    if sum(1 for one in (options.model, options.local, options.file) if one is not None) > 1:
        raise UsageError("Give one of --model, --local and --embeddings.")
    from workbench.benchmarks.curating.duplicates import find_duplicates, take_in_again

    scope = scope_of(options.dataset, options.source)
    if options.undo:
        restored = take_in_again(project, scope, by=options.by)
        return Output({"restored": restored}, lambda _: [f"{restored:,} duplicates are in again"])
    with drawing("requests") as watch:

        def find(trusted: bool) -> DuplicatesReport:
            method = _method(project, options)(trusted, watch)
            return find_duplicates(
                project, method, scope, by=options.by, dry_run=options.dry_run, with_pairs=options.pairs
            )

        report = trusting(find, options.trust)
    return Output(report, _print, after=["Nothing was written (--dry-run)."] if options.dry_run else ())


def _method(project: Project, options: CurateDuplicatesOptions) -> Callable[[bool, Watch | None], Method]:
    """How questions are compared, for whether servers are trusted and who is told of calls."""
    from workbench.benchmarks.curating import duplicates
    from workbench.runs.generation import models_from

    model, local, file, threshold = options.model, options.local, options.file, options.threshold
    cosine = duplicates.COSINE if threshold is None else threshold
    if model is not None:
        models = models_from(project, [model], options_of(options.settings))
        return lambda trust, watch: duplicates.by_server(
            project, model, models, threshold=cosine, trust=trust, watch=watch
        )
    if local is not None:
        return lambda _trust, _watch: duplicates.by_model(project, local, threshold=cosine)
    if file is not None:
        return lambda _trust, _watch: duplicates.by_file(project, file, threshold=cosine)
    least = duplicates.SHINGLES if threshold is None else threshold
    return lambda _trust, _watch: duplicates.by_text(project, threshold=least, shingle=options.shingle)


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
