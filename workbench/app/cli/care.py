"""``workbench backup``, ``restore``, ``doctor`` and ``rescue``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.common import REFUSED_SOME, say, show, showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import Command
from workbench.core.options import Database, Options, argument, option
from workbench.core.text.figures import counted

if TYPE_CHECKING:
    from workbench.core.health import Finding


class BackupOptions(Options, frozen=True, kw_only=True):
    database: Database
    file: Annotated[Path, argument(output="file")]
    force: Annotated[
        bool, option("Overwrite an existing file, unless it is an intact backup with more data than DB.")
    ] = False
    discard: Annotated[
        bool,
        option(
            "With --force: overwrite even a backup that has more data than DB or belongs to another project.",
            needs="force",
        ),
    ] = False


@verb
def backup_command(options: BackupOptions) -> Output:
    """Write a checked copy of the database, even while people work on it.

    Copying the file by hand can miss data in its write-ahead log; this command doesn't. To return to a copy: workbench
    restore
    """
    from workbench.care.backups import backup_of

    with showing_progress():
        size = backup_of(Path(options.database), options.file, force=options.force, discard=options.discard)
    return Output(
        {"written": click.format_filename(options.file), "bytes": size}, lambda _: [f"{options.file}: {size} bytes"]
    )


# -- ``workbench restore DB FILE``


class RestoreOptions(Options, frozen=True, kw_only=True):
    database: Database
    file: Annotated[Path, argument()]


@verb
def restore_command(options: RestoreOptions) -> Output:
    """Replace a database by a backup, or by an archive (export --format workbench).

    The backup replaces the file at DB, which is kept next to it under another name, with its log. DB must not be open
    anywhere. The backup is checked first and not changed; only SQLite itself undoes a killed import in it.

    Data of an older version is migrated. Verifiers of an archive may name servers and templates: they are used only
    after you accept them here.
    """
    from workbench.care.backups import restore_backup

    with showing_progress():
        report = restore_backup(options.file, Path(options.database))
    if report.kept:
        say(f"The replaced file is kept: {', '.join(report.kept)}")
    if report.beyond:
        beyond = counted(report.beyond, "label event")
        back = Command(f"labels {shlex.quote(report.database)} import {shlex.quote(report.journal)}")
        say(f"Its journal of labels has {beyond} that the backup lacks. To bring them back: {back}")
    rows = report.rows
    return Output(
        report,
        lambda found: [
            f"{found.database}: {counted(sum(rows.values()), 'row')}, of them {counted(rows.get('items', 0), 'item')}"
        ],
    )


# -- ``workbench doctor DB``


class DoctorOptions(Options, frozen=True, kw_only=True):
    database: Database
    repairing: Annotated[
        bool,
        option("First rebuild derived data: indexes, item states and columns. The original file is kept.", "--repair"),
    ] = False


@verb
def doctor_command(options: DoctorOptions) -> Output:
    """Check the database, this machine and the sandbox on it; exit 1 if something is wrong.

    The command only reads the database; only SQLite itself first undoes a killed import. It runs SQLite's own check,
    and compares texts and labels with their hashes, and item states with label events. If rows are lost, nothing is
    repaired (exit 3): workbench rescue recovers what can be read.
    """
    from workbench.care.backups import check_sandbox, diagnosis
    from workbench.care.doctor import repair

    path = Path(options.database)
    with showing_progress():
        if options.repairing:
            repaired = repair(path)
            for line in repaired.done or ["There is nothing to rebuild."]:
                say(line)
            for place in repaired.kept:
                say(f"Original file: {place}")
        findings = [*diagnosis(path), *check_sandbox()]
    healthy = all(finding.ok for finding in findings)
    return Output(
        {"ok": healthy, "findings": findings},
        lambda _: _show_findings(options.database, findings),
        code=0 if healthy else 1,
    )


def _show_findings(database: str, findings: list[Finding]) -> None:
    for finding in findings:
        show(f"{'ok ' if finding.ok else 'BAD'}  {finding.name}: {finding.message}")
    database = shlex.quote(database)
    if names := _names_with_remedy(findings, "rescue"):
        say(f"Damaged data without a second copy in the file: {names}.")
        say(f"Restore a backup (workbench restore {database} BACKUP),")
        say(f"or recover what can be read: workbench rescue {database} NEW.db")
    elif names := _names_with_remedy(findings, "repair"):
        say(f"Can be rebuilt, if no row is lost: {names}: workbench doctor {database} --repair")


def _names_with_remedy(findings: list[Finding], remedy: str) -> str:
    return ", ".join(dict.fromkeys(finding.name for finding in findings if finding.remedy == remedy))


# -- ``workbench rescue DB OUT``


class RescueOptions(Options, frozen=True, kw_only=True):
    database: Database
    out: Annotated[Path, argument("OUT", output="file")]


@verb
def rescue_command(options: RescueOptions) -> Output:
    """Recover everything readable of a damaged database into a new one, labels first.

    DB is read and never written; OUT is a complete, usable database. Missing rows are reported by table, and the exit
    code is then 3. A label is kept even if the text of its item is lost.
    """
    from workbench.care.rescuing import rescue, rescued_lines

    with showing_progress():
        found = rescue(Path(options.database), options.out)
    return Output(found, rescued_lines, code=0 if found.is_whole else REFUSED_SOME)
