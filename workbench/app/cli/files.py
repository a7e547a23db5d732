"""``workbench judge-file``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import REFUSED_SOME, cluster_at, say_nodes
from workbench.app.cli.verb import Output, verb
from workbench.core.options import (
    NONE_GIVEN,
    Force,
    OnCluster,
    Options,
    VerifierSettings,
    Workers,
    argument,
    option,
    run_job,
)
from workbench.core.text.figures import counted, listed
from workbench.core.text.run_words import LEVELS

if TYPE_CHECKING:
    from workbench.interchange.judging_files import JudgedFiles


class JudgeFileOptions(Options, frozen=True, kw_only=True):
    source: Annotated[Path, argument("IN", exists=True, folder=True)]
    target: Annotated[Path, argument("OUT", output="file")]
    verifier: Annotated[str, option("Verifier to run: `execution`, or one that needs only texts.", metavar="NAME")] = (
        "rules"
    )
    settings: VerifierSettings = NONE_GIVEN
    maps: Annotated[
        tuple[str, ...],
        option("Read FIELD from COLUMN, such as completion=response (repeatable).", "--map", metavar="FIELD=COLUMN"),
    ] = ()
    prefix: Annotated[str, option("Prefix of the names of the added columns, such as rules_.", metavar="TEXT")] = ""
    partition: Annotated[
        int, option("Number of rows per partition; finished partitions survive an interruption.", ge=1, le=10_000_000)
    ] = 10_000
    workers: Workers = None
    on: OnCluster = None
    force: Force = False


@verb
def judge_file_command(options: JudgeFileOptions) -> Output:
    """Judge the rows of a file without a database.

    IN is JSON Lines or Parquet; OUT has all its rows with the additional columns verdict, score and reason. The
    verdicts are those of `workbench verify` over the same rows. Memory is constant for any number
    of rows.

    With --verifier execution a row's completion is run in the sandbox, against the tests in its column tests,
    ground_truth, reward_model, input_output or test_list (--map reference=COLUMN names another one). Additional columns
    are outcomes (one letter per test), forgeable (passes that only the sandboxed process reports) and isolation (its
    level). With --on, the nodes of a Ray cluster do the work, with identical output.

    After an interruption the same command continues: it judges only missing partitions. Rejected rows are in
    _OUT.refused.jsonl, with file, line, field and reason; the exit code is then 3.
    """
    from workbench.data.formats.fields import parse_map
    from workbench.interchange.judging_files import judge_files

    cluster = cluster_at(options.on)
    done = run_job(
        judge_files,
        options,
        options.source,
        options.target,
        options.verifier,
        options.settings,
        columns=parse_map(options.maps),
        on=cluster,
    )
    say_nodes(cluster)
    return Output(done, _report_lines, code=REFUSED_SOME if done.refused else 0)


def _report_lines(done: JudgedFiles) -> Iterator[str]:
    said = ", ".join(f"{number:,} {word}" for word, number in sorted(done.verdicts.items())) or "none"
    yield f"{done.output}: {counted(done.rows, 'row')} by {done.verifier} {done.version}: {said}"
    if done.isolation is not None:
        yield f"  isolated at level {done.isolation} ({LEVELS[done.isolation]})"
    if done.forgeable:
        yield f"  of the correct ones {done.forgeable:,} with passes that could be forged (forgeable > 0)"
    if done.errors:
        reasons = listed([f"{count:,} {reason}" for reason, count in sorted(done.errors.items())])
        yield f"  {'not run' if done.isolation else 'errors'}: {reasons}"
    if done.reused:
        yield f"  {done.reused:,} of them had been judged before"
    if done.refused:
        yield f"  {counted(done.refused, 'row')} could not be judged: {', '.join(done.refusals)}"
