"""``workbench code select DB|--from FILE``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.code.common import SelectionRules, SolutionsEach, Source, Suites, Truth, require_one
from workbench.app.cli.common import REFUSED_SOME, print_line, project_at, refusal_lines, say, say_some, selection_of
from workbench.app.cli.verb import ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.core.options import DatabaseOrFile, Force, Options, Where, option
from workbench.core.text.figures import counted
from workbench.statistics.records.candidates import DROPPED, SHORTFALLS, SelectedLine

if TYPE_CHECKING:
    from workbench.coding.ranking.selecting import How, SelectedSet
    from workbench.core.item import Refusal


class CodeSelectOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    k: SolutionsEach = 5
    rules: SelectionRules = "released"
    filter_: Annotated[
        Literal["exception", "stderr"],
        option("Drop solutions that fail every test by no assertion: by the exception's type, or by standard error."),
    ] = "exception"
    exact: Annotated[bool, option("Compare distances as decimal fractions, not as floats.")] = False
    truth: Truth = None
    suites: Suites = ()
    where: Where = ()
    write: Annotated[Path | None, option("Write the set, with its texts, too.", metavar="FILE", output="stream")] = None
    force: Force = False


@verb(json=False, to_stdout=ToStdout("write"))
def command(options: CodeSelectOptions) -> None:
    """Select k solutions of each problem with scores spread from best to worst: a set for scoring and ranking.

    One JSON line a problem: "task_id", "selected" (ids in rank order), "scores", "ranks", "ground_truth", "dropped" by
    why, and a "reason" where there are fewer than k. FILE has lines with "task_id" and "candidates", each with "id",
    "average_test_score", "average_time_taken" and "rank" (1 for the ground truth). Exit code 3: some lines were
    refused.
    """
    from workbench.coding.ranking.selecting import How

    require_one(options.database, options.source, truth=options.truth, suite=options.suites, where=options.where)
    how = How(k=options.k, rules=options.rules, filter=options.filter_, exact=options.exact)
    if options.source is not None:
        refused = _from_file(options.source, how, options)
        say_some(refusal_lines(options.source, refused))
        if refused:
            sys.exit(REFUSED_SOME)
    else:
        _from_database(str(options.database), how, options)


def _from_file(source: Path, how: How, options: CodeSelectOptions) -> list[Refusal]:
    from workbench.coding.ranking.selecting import select_from
    from workbench.coding.ranking.set_files import write_rows

    found, write = select_from(source, how), options.write
    if write is not None:
        say(f"{shown(write)}: {counted(write_rows(found.sets, write, force=options.force), 'problem')}.")
    _print(found.sets)
    return found.refused


def _from_database(database: str, how: How, options: CodeSelectOptions) -> None:
    from workbench.coding.ranking.selecting import select_stored
    from workbench.coding.ranking.set_files import write_stored
    from workbench.coding.ranking.truth import runs_in_words, truth_of

    with project_at(database) as project:
        meant = truth_of(project, options.truth, options.suites)
        say(f"Scores by {meant.name} on {runs_in_words(meant.runs)}.")
        sets = list(select_stored(project, how, meant, selection_of(options.where)))
        if options.write is not None:
            count = write_stored(project, meant, sets, options.write, force=options.force)
            say(f"{shown(options.write)}: {counted(count, 'problem')}.")
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
