"""``workbench help``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from workbench.app.cli import root
from workbench.app.cli.verb import Output, verb
from workbench.app.verbs import COMMANDS, GROUPS
from workbench.core.errors import UsageError, nearest
from workbench.core.options import Options, argument


class HelpOptions(Options, frozen=True, kw_only=True):
    topic: Annotated[str | None, argument("[GROUP|COMMAND]")] = None


@verb(json=False)
def help_command(options: HelpOptions) -> Output | None:
    """List every command in one line, the commands of one group, or the help of one command.

    Groups are data, people, verifiers, figures, benchmarks, code, training and care.
    """
    topic = options.topic
    if topic is None:
        return Output(GROUPS, _help_lines)
    if len(names := list(GROUPS.get(topic, [topic]))) > 1:
        return Output([topic], _help_lines)
    if names[0] not in COMMANDS:
        known = nearest(topic, [*GROUPS, *COMMANDS], "Groups and commands")
        raise UsageError(f"There is no command and no group {topic!r}.", known)
    root.main([names[0], "--help"], prog_name="workbench", standalone_mode=False)
    return None


def _help_lines(groups: Iterable[str]) -> Iterator[str]:
    widest = max(map(len, COMMANDS))
    for group in groups:
        yield f"{group.capitalize()}:"
        yield from (f"  {name:<{widest}}  {words}" for name, (_, words) in GROUPS[group].items())
