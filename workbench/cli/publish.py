"""``workbench publish DB SET… FOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, protocol_option, say
from workbench.cli.writing import OutputPath
from workbench.model.publication import Publication
from workbench.model.sets import SetName
from workbench.render.bars import counted


@click.command()
@database_argument
@click.argument("sets", metavar="SET…", nargs=-1, required=True)
@click.argument("folder", metavar="FOLDER", type=OutputPath(dir_okay=True, text=False))
@click.option("--title", metavar="TEXT", help="What the card calls it; by default the sets' names.")
@click.option(
    "--licence",
    "--license",
    metavar="NAME",
    help="Of labels, selection and card, such as cc-by-4.0; sources keep their own.",
)
@click.option("--language", "languages", multiple=True, metavar="CODE", help="ISO 639 code, such as en (repeatable).")
@protocol_option
@click.option("--names", is_flag=True, help="Annotators' names instead of pseudonyms.")
@click.option("--force", is_flag=True, help="Replace a folder that was published, and that nobody has touched since.")
@json_option
def command(
    database: str,
    sets: tuple[str, ...],
    folder: Path,
    title: str | None,
    licence: str | None,
    languages: tuple[str, ...],
    protocol: Any,
    names: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write frozen sets into a folder: items, labels, data card, leaderboard, checksums.

    SET is NAME or NAME@VERSION of a balanced or hard set. Each becomes a configuration that Hugging Face's datasets
    loads: load_dataset(FOLDER, NAME). What is written is what stood when the set was frozen. The same database gives
    the same bytes.
    """
    from workbench.services.publishing.gathering import PublishingOptions
    from workbench.services.publishing.publishing import PublisherCard, publish

    with project_at(database) as project:
        found = publish(
            project,
            [SetName.parse(text) for text in sets],
            folder,
            card=PublisherCard(title=title, licence=licence, languages=languages),
            asked=PublishingOptions(protocol=protocol, names=names),
            force=force,
        )
    for note in found.notes:
        say(note)
    if as_json:
        print_json(found)
    else:
        _show(found, click.format_filename(folder))


def _show(found: Publication, folder: str) -> None:
    for one in found.sets:
        say(
            f"{one.name}@{one.version}: {counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}, "
            f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        )
    click.echo(f"{len(found.files)} files, {found.bytes:,} bytes written to {folder}")
