"""``workbench code select DB|--from FILE``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.code.common import (
    database_or_file,
    end_if_refused,
    from_option,
    k_option,
    require_one,
    rules_option,
    suite_option,
    truth_option,
)
from workbench.cli.common import (
    force_option,
    print_line,
    project_at,
    say,
    selection_of,
    where_option,
)
from workbench.cli.writing import OutputPath, shown, to_stdout
from workbench.model.candidates import DROPPED, SHORTFALLS, SelectedLine
from workbench.render.bars import counted

if TYPE_CHECKING:
    from workbench.model.item import Refusal
    from workbench.services.coding.ranking.selecting import How, SelectedSet


@click.command()
@database_or_file
@from_option
@k_option
@rules_option
@click.option(
    "--filter",
    "filter_",
    type=click.Choice(["exception", "stderr"]),
    default="exception",
    show_default=True,
    help="Drop solutions that fail every test by no assertion: by the exception's type, or by standard error.",
)
@click.option("--exact", is_flag=True, help="Compare distances as decimal fractions, not as floats.")
@truth_option
@suite_option
@where_option
@click.option(
    "--write",
    type=OutputPath(),
    metavar="FILE",
    help="Write the set, with its texts, too.",
)
@force_option
@to_stdout("write")
def command(
    database: str | None,
    source: Path | None,
    k: int,
    rules: Any,
    filter_: Any,
    exact: bool,
    truth: str | None,
    suites: tuple[str, ...],
    where: tuple[str, ...],
    write: Path | None,
    force: bool,
) -> None:
    """Select k solutions of each problem with scores spread from best to worst: a set for scoring and ranking.

    One JSON line a problem: "task_id", "selected" (ids in rank order), "scores", "ranks", "ground_truth", "dropped" by
    why, and a "reason" where there are fewer than k. FILE has lines with "task_id" and "candidates", each with "id",
    "average_test_score", "average_time_taken" and "rank" (1 for the ground truth). Exit code 3: some lines were
    refused.
    """
    from workbench.services.coding.ranking.selecting import How

    require_one(database, source, truth=truth, suite=suites, where=where)
    how = How(k=k, rules=rules, filter=filter_, exact=exact)
    if source is not None:
        end_if_refused(source, _from_file(source, how, write, force))
    else:
        _from_database(str(database), how, truth, suites, where, write, force)


def _from_file(source: Path, how: How, write: Path | None, force: bool) -> list[Refusal]:
    from workbench.services.coding.ranking.selecting import select_from
    from workbench.services.coding.ranking.set_files import write_rows

    found = select_from(source, how)
    if write is not None:
        say(f"{shown(write)}: {counted(write_rows(found.sets, write, force=force), 'problem')}.")
    _print(found.sets)
    return found.refused


def _from_database(
    database: str,
    how: How,
    truth: str | None,
    suites: tuple[str, ...],
    where: tuple[str, ...],
    write: Path | None,
    force: bool,
) -> None:
    from workbench.services.coding.ranking.selecting import select_stored
    from workbench.services.coding.ranking.set_files import write_stored
    from workbench.services.coding.ranking.truth import runs_in_words, truth_of

    with project_at(database) as project:
        meant = truth_of(project, truth, suites)
        say(f"Scores by {meant.name} on {runs_in_words(meant.runs)}.")
        sets = list(select_stored(project, how, meant, selection_of(where)))
        if write is not None:
            count = write_stored(project, meant, sets, write, force=force)
            say(f"{shown(write)}: {counted(count, 'problem')}.")
    _print(sets)


def _print(sets: Sequence[SelectedSet]) -> None:
    for one in sets:
        print_line(one.line)
    sys.stdout.flush()
    for text in _words([one.line for one in sets]):
        say(text)


def _words(lines: Sequence[SelectedLine]) -> Iterator[str]:
    """What the lines come to."""
    solutions = sum(len(line.selected) for line in lines)
    yield f"{counted(len(lines), 'problem')}, {counted(solutions, 'solution')} selected."
    stand_ins = sum(line.ground_truth_from == "stand_in" for line in lines)
    if stand_ins:
        yield f"{counted(stand_ins, 'problem')}: the fastest perfect solution stands in for the ground truth."
    dropped = Counter(why for line in lines for why, ids in line.dropped.items() for _ in ids)
    for why, text in DROPPED.items():
        if dropped[why]:
            yield f"{counted(dropped[why], 'solution')} left out: {text}."
    for reason, count in sorted(Counter(line.reason for line in lines if line.reason is not None).items()):
        yield f"{counted(count, 'problem')} with fewer than {lines[0].k}: {SHORTFALLS[reason]}."
