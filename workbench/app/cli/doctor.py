"""``workbench doctor DB``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import say, show
from workbench.app.cli.progress import showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Database, Options, option

if TYPE_CHECKING:
    from workbench.core.health import Finding


class DoctorOptions(Options, frozen=True, kw_only=True):
    database: Database
    repairing: Annotated[
        bool,
        option(
            "First make anew what follows from the rest: indexes, item states, columns. What was there is kept.",
            "--repair",
        ),
    ] = False


@verb
def command(options: DoctorOptions) -> Output:
    """Check the database, this machine and the sandbox on it; exit 1 if something is wrong.

    The database is only read: page by page, table by table, texts against their hashes, states against label events.
    Where rows are lost nothing is repaired (exit 3): workbench rescue writes out what can be read.
    """
    from workbench.care.backups import diagnosis, sandbox
    from workbench.care.repairing import repair

    path = Path(options.database)
    with showing_progress():
        if options.repairing:
            repaired = repair(path)
            for line in repaired.done or ["There is nothing that can be made anew."]:
                say(line)
            for place in repaired.kept:
                say(f"What was there before: {place}")
        findings = [*diagnosis(path), *sandbox()]
    healthy = all(finding.ok for finding in findings)
    return Output(
        {"ok": healthy, "findings": findings},
        lambda _: _show(options.database, findings),
        code=0 if healthy else 1,
    )


def _show(database: str, findings: list[Finding]) -> None:
    for finding in findings:
        show(f"{'ok ' if finding.ok else 'BAD'}  {finding.name}: {finding.message}")
    _advise(database, findings)


def _advise(database: str, findings: list[Finding]) -> None:
    """What to do about what is wrong."""
    database = shlex.quote(database)
    if names := _named(findings, "rescue"):
        say(f"Hurt, and nowhere else in the file: {names}. Go back to a backup (workbench restore {database} BACKUP),")
        say(f"or write out all that can be read: workbench rescue {database} NEW.db")
    elif names := _named(findings, "repair"):
        say(f"Can be made anew, and nothing is lost: {names}: workbench doctor {database} --repair")


def _named(findings: list[Finding], remedy: str) -> str:
    return ", ".join(dict.fromkeys(finding.name for finding in findings if finding.remedy == remedy))
