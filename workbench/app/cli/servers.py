"""``workbench serve``, ``reward-server`` and ``replay``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import structs

from workbench.app.cli.common import cluster_at, log_on_stderr, say, say_nodes, token_of, trusting
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import (
    NONE_GIVEN,
    PEOPLE,
    DatabaseOrFile,
    OnCluster,
    Options,
    Trust,
    VerifierSettings,
    argument,
    option,
    split_people,
)
from workbench.runs.replaying import load_recorded_replies
from workbench.training.choosing import Scale, load_reward_verifier

if TYPE_CHECKING:
    from workbench.app.web.serve.addresses import Address
    from workbench.core.project import Project


class ServeOptions(Options, frozen=True, kw_only=True):
    port: Annotated[int, option("Port to listen on.", ge=0, le=65535)] = 8000
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1"
    annotators: Annotated[
        tuple[str, ...],
        option(
            f"Print links for these people only: {PEOPLE}.  [default: everyone]", metavar="A,B,C", read=split_people
        ),
    ] = ()
    max_sessions: Annotated[
        int, option("Maximum number of people who use the app at the same time.", ge=1, le=1000)
    ] = 16
    public_url: Annotated[str, option("Public URL of the server, if it is behind a proxy.", metavar="URL")] = ""
    link: Annotated[
        str | None, option("Print a new link for this person and exit; a server may be running.", metavar="NAME")
    ] = None
    revoke: Annotated[
        str | None, option("Log this person out everywhere, revoke their links and exit.", metavar="NAME")
    ] = None


@verb
def serve_command(project: Project, options: ServeOptions, as_json: bool) -> Output | None:
    """Serve the app to annotators in a browser, until Ctrl-C.

    Each person gets a link. It works once, within 7 days, and sets a cookie that admits that browser for 30 days. To
    replace a lost link: workbench serve DB --link NAME (with the --port and --public-url of the server).

    People see what `workbench open DB --as NAME` shows, and begin at their work: Annotate or, for adjudicators, the
    conflicts. Each person has one window; opening another one takes over. Closing a window loses nothing; it reopens at
    the same item.
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
        from workbench.labelling import tokens

        count = tokens.revoke(project, options.revoke)
        ended = (
            f"{options.revoke}: {count} links and logins ended. A running server closes their window within seconds."
        )
        return Output({"revoked": count}, lambda _: (), after=[ended])
    if options.link is not None:
        return _new_links(project, address, [options.link])
    _serve_app(project, address, _names_to_invite(project, options.annotators), options.max_sessions, as_json)
    return None


def _names_to_invite(project: Project, annotators: Sequence[str]) -> list[str]:
    from workbench.labelling import people, rulings

    if annotators:
        names = list(annotators)
        for name in names:
            people.require_annotator(project, name)
    else:
        names = rulings.active_people(project)
    if not names:
        raise UsageError("There are no people to serve.", "Add people: workbench annotators DB add NAME…")
    return names


def _new_links(project: Project, address: Address, names: Sequence[str]) -> Output:
    from workbench.labelling import tokens

    links = {name: f"{address.url}/enter#{tokens.new_link(project, name)}" for name in names}
    return Output({"url": address.url, "links": links}, lambda _: [f"{name}  {url}" for name, url in links.items()])


def _serve_app(project: Project, address: Address, names: Sequence[str], most: int, as_json: bool) -> None:
    from workbench.app.web.serve.server import serve

    database = str(Path(project.path).resolve())

    def app(name: str) -> list[str]:
        return [sys.executable, "-P", "-m", "workbench", "open", database, f"--as={name}", "--at=work"]

    def ready(found: Address) -> None:
        if found.is_open:
            say("Other machines can reach this server, and nothing is encrypted. Put a proxy with TLS before it and")
            say("give its address with --public-url, or listen on 127.0.0.1 and let people use a tunnel (ssh -L).")
        _new_links(project, found, names).tell(as_json=as_json)
        say("Each link works once, within 7 days. Ctrl-C ends the server; labels are saved as they are given.")

    with log_on_stderr("workbench.serve"):
        serve(project, address, app, most, ready)


# -- ``workbench reward-server [DB]``


class RewardServerOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    verifier: Annotated[
        str, option("Verifier to serve: a kind of verifier or, with DB, the name of a verifier of the project.")
    ] = "rules"
    settings: VerifierSettings = NONE_GIVEN
    port: Annotated[int, option("Port to listen on.", ge=0, le=65535)] = 8100
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1"
    hosts: Annotated[
        tuple[str, ...],
        option(
            "Accept requests for this host name too, such as a proxy's (repeatable).", "--allow-host", metavar="NAME"
        ),
    ] = ()
    workers: Annotated[
        int | None, option("Number of worker processes per server process.  [default: all cores but one]", ge=1, le=256)
    ] = None
    processes: Annotated[
        int | None,
        option(
            "Number of server processes that share the port.  [default: one per core, at most four, if possible]",
            ge=1,
            le=256,
        ),
    ] = None
    on: OnCluster = None
    timeout: Annotated[
        float | None,
        option(
            "Time limit per item, in a worker or on model servers, in seconds.  [default: as in a run]",
            metavar="SECONDS",
            gt=0,
            le=3600,
        ),
    ] = None
    queue: Annotated[
        int | None,
        option(
            "Maximum number of waiting items, and of items per request.  [default: no limit on the number, only on "
            "the size]",
            ge=1,
            le=10_000_000,
        ),
    ] = None
    max_body: Annotated[
        int, option("Maximum size of a request, in bytes.", metavar="BYTES", ge=1_024, le=1 << 30, shows_default=True)
    ] = 128 << 20
    in_flight: Annotated[
        int,
        option(
            "Maximum total size of unanswered requests, in bytes; beyond it the server answers 503.",
            metavar="BYTES",
            ge=1_024,
            le=1 << 33,
            shows_default=True,
        ),
    ] = 256 << 20
    scale: Scale = Scale()
    token_env: Annotated[
        str | None, option("Environment variable with the token that requests must carry.", metavar="NAME")
    ] = None
    trust: Trust = False


@verb
def reward_server_command(options: RewardServerOptions, as_json: bool) -> None:
    """Serve a verifier's verdicts as rewards over HTTP, until Ctrl-C.

    POST /reward takes one item or a batch in the workbench's own format; /trl, /verl and /openrlhf take the arguments
    of those trainers' reward functions; GET /health and /metrics report its state. Verdicts are those of `workbench
    verify`; none is stored. After SIGTERM it answers accepted requests; a second SIGTERM ends it at once.

    A verifier that calls model servers needs DB. Its calls are the run rewards/VERIFIER there, with their replies and
    costs and within its budget; equal requests are sent once. Other runs of DB wait until the server ends.

    With --verifier execution and --on solutions run on the nodes of a Ray cluster; their work is reported at the end.
    """
    from workbench.app.web.reward.gate import RequestRules, name_of
    from workbench.app.web.reward.server import serve
    from workbench.app.web.serve.addresses import Address

    for name in options.hosts:
        if not name_of(name):
            raise UsageError(f"{name!r} is not a host name.", "Write it as in the request's URL: --allow-host NAME")
    rules = RequestRules(
        address=Address(host=options.host, port=options.port),
        token=token_of(options.token_env),
        max_body=min(options.max_body, options.in_flight),
        in_flight=options.in_flight,
        hosts=frozenset(map(name_of, options.hosts)),
    )
    found = trusting(
        lambda yes: load_reward_verifier(options.verifier, options.settings, options.database, trust=yes, asking=True),
        options.trust,
    )
    found = structs.replace(found, cluster=cluster_at(options.on))
    for warning in found.warnings:
        say(f"Warning: {warning}")

    def ready(address: Address) -> None:
        if address.is_open:
            say("Other machines can reach this server, and nothing is encrypted, the token included.")
        about = {"url": address.url, "verifier": found.name, "version": found.verifier.version}
        more = f"{found.name} {found.verifier.version}; POST /reward, /trl, /verl or /openrlhf. Ctrl-C ends it."
        Output(about, lambda _: [address.url], after=() if as_json else [more]).tell(as_json=as_json)

    with log_on_stderr("workbench.reward"):
        serve(found, options.scale, rules, options.queue, options.workers, options.timeout, ready, options.processes)
    say_nodes(found.cluster)


# -- ``workbench replay FILE``


class ReplayOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument(exists=True)]
    port: Annotated[int, option("Port to listen on.  [default: a free port]", ge=0, le=65535, shows_default=False)] = 0
    model: Annotated[
        str | None,
        option("Name of an additional model that the server lists.  [default: recorded, if FILE names no model]"),
    ] = None
    until_eof: Annotated[
        bool, option("Also exit when standard input is closed, so that the server does not outlive its parent process.")
    ] = False


@verb
def replay_command(options: ReplayOptions, as_json: bool) -> None:
    """Serve recorded replies over HTTP, as a model server on this machine, until Ctrl-C.

    FILE has JSON lines, gzip or not. {"request": {…}, "response": {…}} answers exactly that request. {"match": "…",
    "raw": "…"} answers any request that contains the text (or each of a list of texts). With "asked": "NAME" it answers
    only requests for that model, so that one server can replace many. Several replies to one request alternate; an
    unknown request gets a 422. It lists the models that FILE names. The base_url is printed when the server is ready.
    Every response is marked as recorded, and so are the verdicts that depend on it.
    """
    from workbench.app.web.replay import serve

    book, refused = load_recorded_replies(options.file)
    for line in refused:
        say(f"{options.file}:{line.line}:{line.field or 'line'}: {line.message}")

    if book.mixed:
        say(
            f"{book.mixed} requests have replies of several servers, which alternate. Replay each server's replies "
            f"separately."
        )

    models = list(dict.fromkeys(filter(None, (options.model, *book.models)))) or ["recorded"]

    def ready(url: str) -> None:
        about = {"base_url": url, "replies": book.size, "refused": len(refused), "models": models}
        more = f"{book.size} recorded replies; Ctrl-C ends it."
        Output(about, lambda _: [url], after=() if as_json else [more]).tell(as_json=as_json)

    serve(book, options.file.name, models, options.port, ready, until_eof=options.until_eof)
