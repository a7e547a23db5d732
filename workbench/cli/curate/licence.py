"""``workbench curate DB licence SOURCE LICENCE``."""

from __future__ import annotations

import click

from workbench.cli.common import json_option, print_json, project_at, show


@click.command()
@click.argument("source")
@click.argument("licence")
@json_option
@click.pass_obj
def command(database: str, source: str, licence: str, as_json: bool) -> None:
    """Give a source a licence, where its files don't know it or are wrong.

    workbench curate DB licence math_reasoning/GSM8K MIT
    """
    from workbench.services.curating.licensing import license_source

    with project_at(database) as project:
        known = license_source(project, source, licence)
    print_json({"source": source, "licence": known}) if as_json else show(f"{source}: {known or 'unknown'}")
