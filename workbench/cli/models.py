"""``workbench models DB NAME``."""

from __future__ import annotations

import sys

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    option_option,
    options_of,
    print_json,
    project_at,
    show,
    trust_option,
    trusting,
)


@click.command()
@database_argument
@click.argument("name")
@option_option
@trust_option
@json_option
def command(database: str, name: str, options: tuple[str, ...], trust: bool, as_json: bool) -> None:
    """Check the model servers of a verifier, and say what is wrong in words.

    NAME is a verifier of workbench.toml or the database, or a kind with its options (llm-judge -o base_url=…
    -o model=…). Exit code 1: something is wrong.
    """
    from workbench.services.running.models import check_servers

    chosen = options_of(options)
    with project_at(database) as project:
        servers = trusting(lambda yes: check_servers(project, name, chosen, trust=yes), trust)
    if as_json:
        print_json(servers)
    else:
        for server in servers:
            show(f"{', '.join(server.roles)}: {server.model} at {', '.join(server.base_urls)}")
            for finding in server.findings:
                show(f"  {finding.level:8} {finding.text}")
                if finding.advice:
                    show(f"  {'':8} {finding.advice}")
    if any(finding.level == "problem" for server in servers for finding in server.findings):
        sys.exit(1)
