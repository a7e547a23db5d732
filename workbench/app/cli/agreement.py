"""``workbench agreement DB`` and ``workbench agreement --from FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import click

from workbench.app.cli.common import REFUSED_SOME, SHOWN, project_at, refusal_lines
from workbench.app.cli.verb import Output, verb
from workbench.core.options import DatabaseOrFile, Options, SeedNumber, option
from workbench.statistics.records.agreement import Level


class AgreementOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    file: Annotated[
        Path | None,
        option(
            'JSON lines of "item", "annotator" and "value" instead of a database; - is standard input.',
            "--from",
            metavar="FILE",
            exists=True,
            dash=True,
        ),
    ] = None
    task: Annotated[
        Literal["correctness", "type"] | None,
        option("Verdicts on completions (the default), or answer types of questions."),
    ] = None
    by: Annotated[
        Literal["type", "subtype", "domain", "source", "dataset"] | None,
        option("Break down by this; the figures over all items are always there."),
    ] = None
    coarse: Annotated[bool, option("With --task type: the letter of the type is enough.")] = False
    level: Annotated[Level, option("How values relate; verdicts and types are nominal.")] = "nominal"
    order: Annotated[
        str | None, option("Values of --level ordinal, lowest first, where they are no numbers.", metavar="A,B,C")
    ] = None
    bootstrap: Annotated[
        int,
        option(
            "Samples behind the intervals of alpha, AC1 and Fleiss' kappa; 0 for none.",
            metavar="SAMPLES",
            ge=0,
            le=100_000,
        ),
    ] = 1_000
    seed: Annotated[SeedNumber, option("Seed of the bootstrap.")] = 0


@verb
def command(options: AgreementOptions) -> Output:
    """Show how far people agree: percent, kappa, alpha, AC1, with intervals and prevalence.

    Of a database, first-pass blind labels in force count, "unsuitable" as a category; adjudications, repeats and
    checks do not. Of a file, any ratings: values are text or numbers. Exit code 3: some lines were refused.
    """
    if (options.database is None) == (options.file is None):
        raise click.UsageError("Name a database, or a file with --from.")
    if options.file is not None:
        return _of_file(options.file, options)
    from workbench.labelling.agreement.measuring import agreement
    from workbench.labelling.agreement.text import agreement_text

    if options.level != "nominal" or options.order is not None:
        raise click.UsageError("Verdicts and types have no order: --level and --order are for --from FILE.")
    with project_at(str(options.database)) as project:
        found = agreement(project, options.task or "correctness", by=options.by, coarse=options.coarse)
        return Output(found.with_intervals(options.bootstrap, options.seed), agreement_text)


def _of_file(file: Path, options: AgreementOptions) -> Output:
    from workbench.labelling.agreement.measuring import agreement_of_file
    from workbench.labelling.agreement.text import agreement_text

    if options.task or options.by or options.coarse:
        raise click.UsageError("--task, --by and --coarse are for a database; a file has ratings of one kind.")
    words = () if options.order is None else tuple(word.strip() for word in options.order.split(","))
    piped = str(file) == "-"
    found, refused = agreement_of_file(None if piped else file, options.level, order=words)
    told = refusal_lines("standard input" if piped else file, refused)
    return Output(
        found.with_intervals(options.bootstrap, options.seed),
        agreement_text,
        after=[*told[:SHOWN], *([f"… and {len(told) - SHOWN:,} more."] if len(told) > SHOWN else [])],
        code=REFUSED_SOME if told else 0,
    )
