"""``workbench reward-server [DB]``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import log_on_stderr, options_of, print_json, say, show, trusting
from workbench.app.cli.verb import verb
from workbench.core.errors import UsageError
from workbench.core.options import DatabaseOrFile, Options, Trust, VerifierSettings, option

if TYPE_CHECKING:
    from workbench.app.web.serve.addresses import Address

_LEAST_TOKEN = 16


class RewardServerOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    verifier: Annotated[str, option("A kind, or with DB one of the project's names.")] = "rules"
    settings: VerifierSettings = ()
    port: Annotated[int, option("Port to listen on.", ge=0, le=65535)] = 8100
    host: Annotated[str, option("Address to listen on.")] = "127.0.0.1"
    hosts: Annotated[
        tuple[str, ...],
        option(
            "Another name under which requests may ask for this server, such as a proxy's (repeatable).",
            "--allow-host",
            metavar="NAME",
        ),
    ] = ()
    workers: Annotated[int | None, option("Worker processes; all cores but one by default.", ge=1, le=256)] = None
    timeout: Annotated[
        float | None,
        option(
            "What an item may take in a worker or on model servers; as in a run by default.",
            metavar="SECONDS",
            gt=0,
            le=3600,
        ),
    ] = None
    queue: Annotated[
        int | None,
        option(
            "Items that may wait, and items of one request; by default only their size counts.", ge=1, le=10_000_000
        ),
    ] = None
    max_body: Annotated[
        int, option("Largest request taken.", metavar="BYTES", ge=1_024, le=1 << 30, shows_default=True)
    ] = 128 << 20
    in_flight: Annotated[
        int,
        option(
            "Requests that came and aren't answered, all together; beyond that they get a 503.",
            metavar="BYTES",
            ge=1_024,
            le=1 << 33,
            shows_default=True,
        ),
    ] = 256 << 20
    undecided: Annotated[
        float | None, option("Reward of an abstention or an error; none (null) by default.", metavar="REWARD")
    ] = None
    own_score: Annotated[bool, option("Give the verifier's own score where it has one.")] = False
    token_env: Annotated[str | None, option("Variable with the token that requests must bring.", metavar="NAME")] = None
    trust: Trust = False


@verb
def command(options: RewardServerOptions, as_json: bool) -> None:
    """Serve a verifier's verdicts as rewards over HTTP, until Ctrl-C.

    POST /reward takes one item or a batch in our own shape, /trl, /verl and /openrlhf take what those trainers call
    their reward functions with; GET /health and /metrics tell how it is. Verdicts are those of `workbench verify`;
    none is stored. SIGTERM lets it answer what it has accepted; a second one ends it at once.

    A verifier that asks model servers takes DB. Its calls are the run rewards/VERIFIER there, with their replies and
    costs and within its budget; equal requests are asked once. Other runs of DB wait until the server ends.
    """
    from workbench.app.web.reward.gate import RequestRules, name_of
    from workbench.app.web.reward.server import serve
    from workbench.app.web.serve.addresses import Address
    from workbench.training.choosing import chosen
    from workbench.training.scale import Scale

    for name in options.hosts:
        if not name_of(name):
            raise UsageError(f"{name!r} is no name of a host.", "Write it as in the URL that asks: --allow-host NAME")
    rules = RequestRules(
        address=Address(host=options.host, port=options.port),
        token=_token(options.token_env),
        max_body=min(options.max_body, options.in_flight),
        in_flight=options.in_flight,
        hosts=frozenset(map(name_of, options.hosts)),
    )
    scale = Scale(undecided=options.undecided, own_score=options.own_score)
    found = trusting(
        lambda yes: chosen(options.verifier, options_of(options.settings), options.database, trust=yes, asking=True),
        options.trust,
    )
    for warning in found.warnings:
        say(f"Warning: {warning}")

    def ready(address: Address) -> None:
        if address.is_open:
            say("Other machines can reach this server, and nothing is encrypted, the token included.")
        if as_json:
            print_json({"url": address.url, "verifier": found.name, "version": found.verifier.version})
        else:
            show(address.url)
            say(f"{found.name} {found.verifier.version}; POST /reward, /trl, /verl or /openrlhf. Ctrl-C ends it.")
        sys.stdout.flush()

    with log_on_stderr("workbench.reward"):
        serve(found, scale, rules, options.queue, options.workers, options.timeout, ready)


def _token(variable: str | None) -> str | None:
    """The token in an environment variable.

    Raises:
        UsageError: There is none, or it is easily guessed.
    """
    if variable is None:
        return None
    token = os.environ.get(variable, "")
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{variable} holds no token of {_LEAST_TOKEN} or more letters and digits.",
            f'Make one: export {variable}="$(openssl rand -hex 24)"',
        )
    return token
