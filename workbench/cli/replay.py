"""``workbench replay FILE``."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.common import json_option, print_json, say
from workbench.services.running.replaying import DEFAULT_MAX_LINE, open_book


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Where to listen; a free port by default.")
@click.option("--model", default="recorded", show_default=True, help="The model that the server says it has.")
@click.option(
    "--max-line",
    type=click.IntRange(min=1024),
    default=DEFAULT_MAX_LINE,
    show_default=True,
    metavar="BYTES",
    help="Longest line taken.",
)
@json_option
def command(file: Path, port: int, model: str, max_line: int, as_json: bool) -> None:
    """Serve recorded replies over HTTP, as a model server on this machine, until Ctrl-C.

    FILE has JSON lines, gzip or not: {"request": {…}, "response": {…}} answers the very same request, {"match":
    "…", "raw": "…"} any request in which the text (or each of a list of texts) occurs, with "asked": "NAME" only
    one for that model: one server can stand for many. Several replies to one request take turns; a request that
    nothing fits gets a 404. The address to give as base_url is printed when the server is ready. Every response is
    marked as recorded, and so are the verdicts that rest on it.
    """
    from workbench.web.replay import serve

    book, refused = open_book(file, max_line=max_line)
    for line in refused:
        say(f"{file}:{line.line}:{line.field or 'line'}: {line.message}")

    if book.mixed:
        say(f"{book.mixed} requests have replies of several servers, which take turns: replay each server's alone.")

    def ready(url: str) -> None:
        if as_json:
            print_json({"base_url": url, "replies": book.size, "refused": len(refused)})
        else:
            click.echo(url)
            say(f"{book.size} recorded replies; Ctrl-C ends it.")

    serve(book, file.name, model, port, ready)
