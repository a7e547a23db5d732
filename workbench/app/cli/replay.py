"""``workbench replay FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from workbench.app.cli.common import print_json, say
from workbench.app.cli.verb import verb
from workbench.core.options import MaxLine, Options, argument, option
from workbench.runs.replaying import DEFAULT_MAX_LINE, open_book


class ReplayOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument(exists=True)]
    port: Annotated[int, option("Where to listen; a free port by default.", ge=0, le=65535, shows_default=False)] = 0
    model: Annotated[str, option("The model that the server says it has.")] = "recorded"
    max_line: MaxLine = DEFAULT_MAX_LINE


@verb
def command(options: ReplayOptions, as_json: bool) -> None:
    """Serve recorded replies over HTTP, as a model server on this machine, until Ctrl-C.

    FILE has JSON lines, gzip or not: {"request": {…}, "response": {…}} answers the very same request, {"match":
    "…", "raw": "…"} any request in which the text (or each of a list of texts) occurs, with "asked": "NAME" only
    one for that model: one server can stand for many. Several replies to one request take turns; a request that
    nothing fits gets a 404. The address to give as base_url is printed when the server is ready. Every response is
    marked as recorded, and so are the verdicts that rest on it.
    """
    from workbench.app.web.replay import serve

    book, refused = open_book(options.file, max_line=options.max_line)
    for line in refused:
        say(f"{options.file}:{line.line}:{line.field or 'line'}: {line.message}")

    if book.mixed:
        say(f"{book.mixed} requests have replies of several servers, which take turns: replay each server's alone.")

    def ready(url: str) -> None:
        if as_json:
            print_json({"base_url": url, "replies": book.size, "refused": len(refused)})
        else:
            click.echo(url)
            say(f"{book.size} recorded replies; Ctrl-C ends it.")

    serve(book, options.file.name, options.model, options.port, ready)
