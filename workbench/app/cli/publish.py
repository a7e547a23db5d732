"""``workbench publish DB SET… FOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from workbench.app.cli.common import say
from workbench.app.cli.verb import Output, verb
from workbench.benchmarks.publication import Publication
from workbench.core.options import Options, Protocol, argument, option
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.core.text.figures import counted


class PublishOptions(Options, frozen=True, kw_only=True):
    sets: Annotated[tuple[str, ...], argument("SET…")]
    folder: Annotated[Path, argument("FOLDER", output="file", folder=True)]
    title: Annotated[str | None, option("What the card calls it; by default the sets' names.", metavar="TEXT")] = None
    licence: Annotated[
        str | None,
        option(
            "Of labels, selection and card, such as cc-by-4.0; sources keep their own.",
            "--licence",
            "--license",
            metavar="NAME",
        ),
    ] = None
    languages: Annotated[
        tuple[str, ...], option("ISO 639 code, such as en (repeatable).", "--language", metavar="CODE")
    ] = ()
    protocol: Protocol = "forced"
    names: Annotated[bool, option("Annotators' names instead of pseudonyms.")] = False
    force: Annotated[bool, option("Replace a folder that was published, and that nobody has touched since.")] = False


@verb
def command(project: Project, options: PublishOptions) -> Output:
    """Write frozen sets into a folder: items, labels, data card, leaderboard, checksums.

    SET is NAME or NAME@VERSION of a balanced or hard set. Each becomes a configuration that Hugging Face's datasets
    loads: load_dataset(FOLDER, NAME). What is written is what stood when the set was frozen. The same database gives
    the same bytes.
    """
    from workbench.benchmarks.publishing.gathering import PublishingOptions
    from workbench.benchmarks.publishing.publishing import PublisherCard, publish

    found = publish(
        project,
        [SetName.parse(text) for text in options.sets],
        options.folder,
        card=PublisherCard(title=options.title, licence=options.licence, languages=options.languages),
        asked=PublishingOptions(protocol=options.protocol, names=options.names),
        force=options.force,
    )
    for note in found.notes:
        say(note)
    return Output(found, lambda found: _show(found, click.format_filename(options.folder)))


def _show(found: Publication, folder: str) -> None:
    for one in found.sets:
        say(
            f"{one.name}@{one.version}: {counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}, "
            f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        )
    click.echo(f"{len(found.files)} files, {found.bytes:,} bytes written to {folder}")
