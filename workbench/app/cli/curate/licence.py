"""``workbench curate DB licence SOURCE LICENCE``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, argument
from workbench.core.project import Project


class CurateLicenceOptions(Options, frozen=True, kw_only=True):
    source: Annotated[str, argument()]
    licence: Annotated[str, argument()]


@verb(within=True)
def command(project: Project, options: CurateLicenceOptions) -> Output:
    """Give a source a licence, where its files don't know it or are wrong.

    workbench curate DB licence math_reasoning/GSM8K MIT
    """
    from workbench.benchmarks.curating.licensing import license_source

    known = license_source(project, options.source, options.licence)
    return Output({"source": options.source, "licence": known}, lambda _: [f"{options.source}: {known or 'unknown'}"])
