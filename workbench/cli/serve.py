"""``workbench serve DB``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.common import database_argument, json_option, log_on_stderr, print_json, project_at, say, show
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.services.project import Project
    from workbench.web.serve.addresses import Address


@click.command()
@database_argument
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen on.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--annotators", metavar="A,B,…", help="Print links for these people only; everyone by default.")
@click.option(
    "--max-sessions",
    type=click.IntRange(1, 1000),
    default=16,
    show_default=True,
    help="How many may work at once.",
)
@click.option("--public-url", metavar="URL", default="", help="What browsers see, where a proxy is before.")
@click.option("--link", "link", metavar="NAME", help="Print one more link for a person, and end; a server may run.")
@click.option("--revoke", metavar="NAME", help="Log a person out everywhere, void their links, and end.")
@json_option
def command(
    database: str,
    port: int,
    host: str,
    annotators: str | None,
    max_sessions: int,
    public_url: str,
    link: str | None,
    revoke: str | None,
    as_json: bool,
) -> None:
    """Serve the app to annotators in a browser, until Ctrl-C.

    Each person gets a link. It works once, within 7 days, and leaves a cookie with which that browser is let in for
    30 days. Whoever loses theirs gets another: workbench serve DB --link NAME (with the --port and --public-url of the
    server).

    People see what `workbench open DB --as NAME` shows, and begin where their work is: on Annotate or, whoever settles
    conflicts, on these. Each has one window: another one they open takes over. A closed window loses nothing, and
    opens again at the same item.
    """
    from workbench.web.serve.addresses import Address
    from workbench.web.serve.addresses import public_url as checked

    if link is not None and revoke is not None:
        raise UsageError("Give --link or --revoke, not both.")
    address = Address(host=host, port=port, public_url=checked(public_url) if public_url else "")
    with project_at(database) as project:
        project.require_writable()
        if revoke is not None:
            _revoke(project, revoke, as_json)
        elif link is not None:
            _print_links(project, address, [link], as_json)
        else:
            _serve(project, address, _people(project, annotators), max_sessions, as_json)


def _people(project: Project, annotators: str | None) -> list[str]:
    from workbench.services.labelling import people, roles

    if annotators is not None:
        names = [name for name in (part.strip() for part in annotators.split(",")) if name]
        for name in names:
            people.require_annotator(project, name)
    else:
        names = roles.at_work(project)
    if not names:
        raise UsageError("There is nobody to serve.", "Add people: workbench annotators DB add NAME…")
    return names


def _revoke(project: Project, name: str, as_json: bool) -> None:
    from workbench.services.labelling import tokens

    count = tokens.revoke(project, name)
    if as_json:
        print_json({"revoked": count})
    else:
        say(f"{name}: {count} links and logins ended. A server that runs closes their window within seconds.")


def _print_links(project: Project, address: Address, names: Sequence[str], as_json: bool) -> None:
    from workbench.services.labelling import tokens

    links = {name: f"{address.url}/enter#{tokens.new_link(project, name)}" for name in names}
    if as_json:
        print_json({"url": address.url, "links": links})
        return
    for name, url in links.items():
        show(f"{name}  {url}")
    sys.stdout.flush()


def _serve(project: Project, address: Address, names: Sequence[str], most: int, as_json: bool) -> None:
    from workbench.web.serve.server import serve

    database = str(Path(project.path).resolve())

    def app(name: str) -> list[str]:
        return [sys.executable, "-P", "-m", "workbench", "open", database, f"--as={name}", "--at=work"]

    def ready(found: Address) -> None:
        if found.is_open:
            say("Other machines can reach this server, and nothing is encrypted. Put a proxy with TLS before it and")
            say("give its address with --public-url, or listen on 127.0.0.1 and let people use a tunnel (ssh -L).")
        _print_links(project, found, names, as_json)
        say("Each link works once, within 7 days. Ctrl-C ends the server; labels are saved as they are given.")

    with log_on_stderr("workbench.serve"):
        serve(project, address, app, most, ready)
