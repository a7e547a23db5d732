"""``workbench rescue DB OUT``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.common import REFUSED_SOME, say, say_some, show
from workbench.app.cli.progress import showing_progress
from workbench.app.cli.verb import Output, verb
from workbench.core.health import Rescued
from workbench.core.options import Database, Options, argument


class RescueOptions(Options, frozen=True, kw_only=True):
    database: Database
    out: Annotated[Path, argument("OUT")]


@verb
def command(options: RescueOptions) -> Output:
    """Write all that can be read of a hurt database into a new one, labels first.

    DB is read and never written; OUT is a whole database that can be worked on. What is missing is said table by
    table, and the exit code is 3 then. A label is kept also where the text of its item is lost.
    """
    from workbench.care.rescuing import rescue

    with showing_progress():
        found = rescue(Path(options.database), options.out)
    return Output(found, _show, code=0 if found.is_whole else REFUSED_SOME)


def _show(found: Rescued) -> None:
    for table in found.tables:
        if table.rows or not table.is_whole:
            show(f"{table.table}: {table.rows:,} rows{_lacking(table.missing, table.stand_ins, table.dropped)}")
    if found.lost_labels:
        say(f"{len(found.lost_labels):,} labels are lost:")
        say_some(
            [
                f"  event {lost.event}: {lost.annotator or '?'} on {lost.task or '?'} of {lost.item or '?'}"
                for lost in found.lost_labels
            ]
        )
    for note in found.notes:
        say(note)
    show(f"{found.database}: {'every row is there' if found.is_whole else 'something is missing, see above'}")


def _lacking(missing: int | None, stand_ins: int, dropped: int) -> str:
    told = []
    if missing is None:
        told.append("some missing, nobody can tell how many")
    elif missing:
        told.append(f"{missing:,} missing")
    if stand_ins:
        told.append(f"{stand_ins:,} stand for lost ones")
    if dropped:
        told.append(f"{dropped:,} dropped, as what they belong to is lost")
    return "".join(f"; {words}" for words in told)
