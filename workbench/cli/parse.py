"""``workbench parse PARSER FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.common import REFUSED_SOME, print_line, say
from workbench.model.item import Refusal
from workbench.services.running.parsing import DEFAULT_MAX_LINE, parse_replies, parser_names


@click.command(epilog=f"Parsers: {', '.join(parser_names())}; without @ the newest.")
@click.argument("parser")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--max-line",
    type=click.IntRange(min=1024),
    default=DEFAULT_MAX_LINE,
    show_default=True,
    metavar="BYTES",
    help="Longest line taken.",
)
def command(parser: str, file: Path, max_line: int) -> None:
    """Read recorded judge outputs again: each line comes back with a verdict.

    FILE has JSON lines with the judge's reply in "raw", gzip or not; - is standard input. Added to each line are
    verdict (correct, incorrect, abstain), score (ICE-Score's number or null) and label (CompassVerifier's A, B, C or
    null). @1 reads as the upstream project does, @2 strictly; of a reply whose "finish_reason" says that it was
    cut short, @2 reads a labelled verdict alone. Exit code 3: some lines were refused.
    """
    piped = str(file) == "-"
    place = "standard input" if piped else file
    refused = False
    for line in parse_replies(parser, None if piped else file, max_line=max_line):
        if isinstance(line, Refusal):
            say(f"{place}:{line.line}:{line.field or 'line'}: {line.message}")
            refused = True
        else:
            print_line(line)
    sys.stdout.flush()
    if refused:
        sys.exit(REFUSED_SOME)
