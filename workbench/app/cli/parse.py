"""``workbench parse PARSER FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import REFUSED_SOME, print_line, say
from workbench.app.cli.verb import verb
from workbench.core.item import Refusal
from workbench.core.options import MaxLine, Options, argument
from workbench.runs.parsing import DEFAULT_MAX_LINE, parse_replies, parser_names


class ParseOptions(Options, frozen=True, kw_only=True):
    parser: Annotated[str, argument()]
    file: Annotated[Path, argument(exists=True, dash=True)]
    max_line: MaxLine = DEFAULT_MAX_LINE


@verb(json=False, epilog=f"Parsers: {', '.join(parser_names())}; without @ the newest.")
def command(options: ParseOptions) -> None:
    """Read recorded judge outputs again: each line comes back with a verdict.

    FILE has JSON lines with the judge's reply in "raw", gzip or not; - is standard input. Added to each line are
    verdict (correct, incorrect, abstain), score (ICE-Score's number or null) and label (CompassVerifier's A, B, C or
    null). @1 reads as the upstream project does, @2 strictly; of a reply whose "finish_reason" says that it was
    cut short, @2 reads a labelled verdict alone. Exit code 3: some lines were refused.
    """
    piped = str(options.file) == "-"
    place = "standard input" if piped else options.file
    refused = False
    for line in parse_replies(options.parser, None if piped else options.file, max_line=options.max_line):
        if isinstance(line, Refusal):
            say(f"{place}:{line.line}:{line.field or 'line'}: {line.message}")
            refused = True
        else:
            print_line(line)
    sys.stdout.flush()
    if refused:
        sys.exit(REFUSED_SOME)
