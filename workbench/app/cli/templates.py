"""``workbench template``: judges' prompts; shows built-in ones and checks a user's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, cast, get_args

import click

from workbench.app.cli import LazyGroup
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import WITHIN
from workbench.coding.templates import Asked
from workbench.core.options import NONE_GIVEN, Options, VerifierSettings, argument, option
from workbench.runs.own_templates import CheckedTemplate, checked_folder, checked_template, text_of


@click.group(name="template", cls=LazyGroup, package="workbench.app.cli", commands=WITHIN["template"])
def template_command() -> None:
    """Show and check the prompt templates of judges."""


class CheckOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument("FILE", folder=True)]
    asked: Annotated[
        str | None,
        option(
            "Task of the prompt, if it is a published prompt that asks for something other than a verdict.",
            "--for",
            choices=("types", *get_args(Asked)),
        ),
    ] = None


@verb
def check_command(options: CheckOptions) -> Output:
    """Check a prompt before it is used: placeholders, the resulting request, and the parser of the reply.

    FILE is a template or a rubric (TOML), a prompt as a paper prints it (.txt), or a prompt from your copy of
    VerifyBench's repository (w_ref.txt, wo_ref.txt): the result says whether its bytes are those of the release. A file
    named after a role of MCTS-Judge's search (analyse.txt, assess.toml …) belongs to that role; in a folder all such
    files are checked. For a prompt that asks for something other than a verdict use --for. Nothing is sent.

    workbench template check figure-13.txt --for tests
    """
    if options.asked == "types":
        from workbench.benchmarks.curating.types import checked_type_prompt

        return Output(checked_type_prompt(options.file), _template_lines)
    if options.asked is not None:
        from workbench.coding.checking import checked_prompt

        return Output(checked_prompt(options.file, cast("Asked", options.asked)), _template_lines)
    if options.file.is_dir():
        return Output(checked_folder(options.file), lambda found: chain.from_iterable(map(_template_lines, found)))
    return Output(checked_template(options.file), _template_lines)


def _template_lines(found: CheckedTemplate) -> Iterator[str]:
    yield f"{found.file}: {found.kind} {found.id}@{found.version}, sha256 {found.sha256}"
    if found.standing is not None:
        yield f"  {found.standing}"
    for call in found.calls:
        roles = ", ".join(call.roles)
        yield f"  call {call.name}: {roles}; put in: {', '.join(call.placeholders) or 'nothing'}"
        if call.optional:
            yield f"    left out where there is none: {', '.join(call.optional)}"
        settings = ", ".join(f"{name} {value}" for name, value in call.sampling.items())
        yield f"    sampling: {settings or 'the server’s'}"
    yield f"  texts stand {'between lines their author can’t guess' if found.fence else 'as they are, without a fence'}"
    yield f"  parser: {found.parser}"
    if found.lacks:
        yield f"  not used: {', '.join(found.lacks)}"
    yield f"  use it: workbench {found.command} {found.option}"


class ShowOptions(Options, frozen=True, kw_only=True):
    settings: VerifierSettings = NONE_GIVEN


@verb(json=False)
def show_command(options: ShowOptions) -> None:
    """Print the template that a judge with these options uses, as a starting point for your own.

    workbench template show -o strategy=ice-score -o variant=cot
    """
    click.echo(text_of(options.settings), nl=False)
