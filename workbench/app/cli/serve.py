"""``workbench serve DB``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import log_on_stderr, print_json, say, show
from workbench.app.cli.verb import verb
from workbench.core.errors import UsageError
from workbench.core.options import Options, option

if TYPE_CHECKING:
    from workbench.app.web.serve.addresses import Address
    from workbench.core.project import Project


class ServeOptions(Options, frozen=True, kw_only=True):
    port: Annotated[int, option("Port to listen on.", ge=0, le=65535)] = 8000
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1"
    annotators: Annotated[
        str | None, option("Print links for these people only; everyone by default.", metavar="A,B,…")
    ] = None
    max_sessions: Annotated[int, option("How many may work at once.", ge=1, le=1000)] = 16
    public_url: Annotated[str, option("What browsers see, where a proxy is before.", metavar="URL")] = ""
    link: Annotated[
        str | None, option("Print one more link for a person, and end; a server may run.", metavar="NAME")
    ] = None
    revoke: Annotated[str | None, option("Log a person out everywhere, void their links, and end.", metavar="NAME")] = (
        None
    )


@verb
def command(project: Project, options: ServeOptions, as_json: bool) -> None:
    """Serve the app to annotators in a browser, until Ctrl-C.

    Each person gets a link. It works once, within 7 days, and leaves a cookie with which that browser is let in for
    30 days. Whoever loses theirs gets another: workbench serve DB --link NAME (with the --port and --public-url of the
    server).

    People see what `workbench open DB --as NAME` shows, and begin where their work is: on Annotate or, whoever settles
    conflicts, on these. Each has one window: another one they open takes over. A closed window loses nothing, and
    opens again at the same item.
    """
    from workbench.app.web.serve.addresses import Address
    from workbench.app.web.serve.addresses import public_url as checked

    if options.link is not None and options.revoke is not None:
        raise UsageError("Give --link or --revoke, not both.")
    address = Address(
        host=options.host, port=options.port, public_url=checked(options.public_url) if options.public_url else ""
    )
    project.require_writable()
    if options.revoke is not None:
        _revoke(project, options.revoke, as_json)
    elif options.link is not None:
        _print_links(project, address, [options.link], as_json)
    else:
        _serve(project, address, _people(project, options.annotators), options.max_sessions, as_json)


def _people(project: Project, annotators: str | None) -> list[str]:
    from workbench.labelling import people, roles

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
    from workbench.labelling import tokens

    count = tokens.revoke(project, name)
    if as_json:
        print_json({"revoked": count})
    else:
        say(f"{name}: {count} links and logins ended. A server that runs closes their window within seconds.")


def _print_links(project: Project, address: Address, names: Sequence[str], as_json: bool) -> None:
    from workbench.labelling import tokens

    links = {name: f"{address.url}/enter#{tokens.new_link(project, name)}" for name in names}
    if as_json:
        print_json({"url": address.url, "links": links})
        return
    for name, url in links.items():
        show(f"{name}  {url}")
    sys.stdout.flush()


def _serve(project: Project, address: Address, names: Sequence[str], most: int, as_json: bool) -> None:
    from workbench.app.web.serve.server import serve

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
