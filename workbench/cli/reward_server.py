"""``workbench reward-server [DB]``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from workbench.cli.common import (
    NumberRange,
    json_option,
    log_on_stderr,
    option_option,
    options_of,
    print_json,
    say,
    show,
    trust_option,
    trusting,
)
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.web.serve.addresses import Address

_LEAST_TOKEN = 16


@click.command()
@click.argument("database", metavar="[DB]", required=False, type=click.Path(dir_okay=False))
@click.option("--verifier", default="rules", show_default=True, help="A kind, or with DB one of the project's names.")
@option_option
@click.option("--port", type=click.IntRange(0, 65535), default=8100, show_default=True, help="Port to listen on.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another name under which requests may ask for this server, such as a proxy's (repeatable).",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes; all cores but one by default.")
@click.option(
    "--timeout",
    type=NumberRange(0, 3600, min_open=True),
    metavar="SECONDS",
    help="What an item may take in a worker or on model servers; as in a run by default.",
)
@click.option(
    "--queue",
    type=click.IntRange(1, 10_000_000),
    help="Items that may wait, and items of one request; by default only their size counts.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1_024, 1 << 30),
    default=128 << 20,
    show_default=True,
    metavar="BYTES",
    help="Largest request taken.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1_024, 1 << 33),
    default=256 << 20,
    show_default=True,
    metavar="BYTES",
    help="Requests that came and aren't answered, all together; beyond that they get a 503.",
)
@click.option(
    "--undecided", type=float, metavar="REWARD", help="Reward of an abstention or an error; none (null) by default."
)
@click.option("--own-score", is_flag=True, help="Give the verifier's own score where it has one.")
@click.option("--token-env", metavar="NAME", help="Variable with the token that requests must bring.")
@trust_option
@json_option
def command(
    database: str | None,
    verifier: str,
    options: tuple[str, ...],
    port: int,
    host: str,
    hosts: tuple[str, ...],
    workers: int | None,
    timeout: float | None,
    queue: int | None,
    max_body: int,
    in_flight: int,
    undecided: float | None,
    own_score: bool,
    token_env: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Serve a verifier's verdicts as rewards over HTTP, until Ctrl-C.

    POST /reward takes one item or a batch in our own shape, /trl, /verl and /openrlhf take what those trainers call
    their reward functions with; GET /health and /metrics tell how it is. Verdicts are those of `workbench verify`;
    none is stored. SIGTERM lets it answer what it has accepted; a second one ends it at once.

    A verifier that asks model servers takes DB. Its calls are the run rewards/VERIFIER there, with their replies and
    costs and within its budget; equal requests are asked once. Other runs of DB wait until the server ends.
    """
    from workbench.services.rewarding.choosing import chosen
    from workbench.services.rewarding.scale import Scale
    from workbench.web.reward.gate import RequestRules, name_of
    from workbench.web.reward.server import serve
    from workbench.web.serve.addresses import Address

    for name in hosts:
        if not name_of(name):
            raise UsageError(f"{name!r} is no name of a host.", "Write it as in the URL that asks: --allow-host NAME")
    rules = RequestRules(
        address=Address(host=host, port=port),
        token=_token(token_env),
        max_body=min(max_body, in_flight),
        in_flight=in_flight,
        hosts=frozenset(map(name_of, hosts)),
    )
    scale = Scale(undecided=undecided, own_score=own_score)
    found = trusting(lambda yes: chosen(verifier, options_of(options), database, trust=yes, asking=True), trust)
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
        serve(found, scale, rules, queue, workers, timeout, ready)


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
