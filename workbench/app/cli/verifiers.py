"""``workbench verifiers DB``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.app.cli.common import say
from workbench.app.cli.verb import Output, verb
from workbench.core.project import Project
from workbench.core.run import VerifierInfo


@verb
def command(project: Project) -> Output:
    """List the verifiers that can be run, their options, and the names they have here."""
    from workbench.runs.verifying import kinds, settings_problems

    found = kinds(project)
    for problem in settings_problems(project):
        say(str(problem))
    return Output(found, _lines)


def _lines(found: Sequence[VerifierInfo]) -> Iterator[str]:
    for kind in found:
        text = f"can't be used: {kind.broken}" if kind.broken else kind.description
        yield f"{kind.name}  {kind.version or ''}  {text}"
        for option, meaning in kind.options.items():
            yield f"    -o {option}=…  {meaning}"
        for verifier in kind.configured:
            yield f"    as {verifier.name}: {_options(verifier.options)}"
        for entry in kind.written:
            yield f"    as {entry.name} in workbench.toml: {_options(entry.options)}"


def _options(options: dict[str, str]) -> str:
    return " ".join(f"-o {name}={value}" for name, value in options.items()) or "default options"
