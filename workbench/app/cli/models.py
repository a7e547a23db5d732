"""``workbench models DB NAME``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import options_of, trusting
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Trust, VerifierSettings, argument
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.runs.models import CheckedServer


class ModelsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, argument()]
    settings: VerifierSettings = ()
    trust: Trust = False


@verb
def command(project: Project, options: ModelsOptions) -> Output:
    """Check the model servers of a verifier, and say what is wrong in words.

    NAME is a verifier of workbench.toml or the database, or a kind with its options (llm-judge -o base_url=…
    -o model=…). Exit code 1: something is wrong.
    """
    from workbench.runs.models import check_servers

    chosen = options_of(options.settings)
    servers = trusting(lambda yes: check_servers(project, options.name, chosen, trust=yes), options.trust)
    healthy = all(finding.level != "problem" for server in servers for finding in server.findings)
    return Output(servers, _lines, code=0 if healthy else 1)


def _lines(servers: Sequence[CheckedServer]) -> Iterator[str]:
    for server in servers:
        yield f"{', '.join(server.roles)}: {server.model} at {', '.join(server.base_urls)}"
        for finding in server.findings:
            yield f"  {finding.level:8} {finding.text}"
            if finding.advice:
                yield f"  {'':8} {finding.advice}"
