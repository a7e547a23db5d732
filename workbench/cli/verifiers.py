"""``workbench verifiers DB``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, project_at, say
from workbench.render.inert import inert


@click.command()
@database_argument
@json_option
def command(database: str, as_json: bool) -> None:
    """List the verifiers that can be run, their options, and the names they have here."""
    from workbench.services.running.verifying import kinds, settings_problems

    with project_at(database) as project:
        found = kinds(project)
        for problem in settings_problems(project):
            say(str(problem))
    if as_json:
        print_json(found)
        return
    for kind in found:
        text = f"can't be used: {kind.broken}" if kind.broken else kind.description
        click.echo(inert(f"{kind.name}  {kind.version or ''}  {text}"))
        for option, meaning in kind.options.items():
            click.echo(inert(f"    -o {option}=…  {meaning}"))
        for verifier in kind.configured:
            click.echo(inert(f"    as {verifier.name}: {_options(verifier.options)}"))
        for entry in kind.written:
            click.echo(inert(f"    as {entry.name} in workbench.toml: {_options(entry.options)}"))


def _options(options: dict[str, str]) -> str:
    return " ".join(f"-o {name}={value}" for name, value in options.items()) or "default options"
