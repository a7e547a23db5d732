"""``workbench types DB --verifier NAME``."""

from __future__ import annotations

from typing import Annotated

import click

from workbench.app.cli.common import print_line
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, option
from workbench.core.project import Project


class TypesOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, option("Whose suggestions (a verifier of kind answer-type).", metavar="NAME")]
    questions: Annotated[bool, option("Print the suggestions, one JSON line a question.")] = False


@verb
def command(project: Project, options: TypesOptions, as_json: bool) -> Output | None:
    """Show how the answer types that a model suggests agree with those in force."""
    from workbench.measuring.suggesting import suggestions, type_report, types_text

    if options.questions and as_json:
        raise click.UsageError("--questions prints JSON lines; leave --json out.")
    if not options.questions:
        return Output(type_report(project, options.verifier), types_text)
    for one in suggestions(project, options.verifier):
        print_line(one)
    return None
