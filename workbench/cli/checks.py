"""``workbench checks DB add``, ``import FILE``, ``list``, ``remove`` and ``report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    print_json,
    project_at,
    say,
    say_some,
    seed_option,
    selection_of,
    show,
    where_option,
    whole_number,
)
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.model.check import CheckInfo, ChecksChanged, CheckScore


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(["add", "import", "list", "remove", "report"]), default="list")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option(
    "--from",
    "source",
    type=click.Choice(["imported", "people"]),
    default="imported",
    show_default=True,
    help="Where the known answer of added items comes from.",
)
@where_option
@click.option("--limit", type=whole_number, help="At most so many items; add draws them by chance.")
@seed_option
@json_option
def command(
    database: str,
    verb: str,
    file: Path | None,
    source: Literal["imported", "people"],
    where: tuple[str, ...],
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Mix items whose answer is known in among everybody's items, silently.

    workbench checks DB add --where source=algebra --limit 40

    workbench checks DB import known.jsonl

    workbench checks DB report

    With --limit N items are added that were drawn by chance, spread over their questions: people are then seen on all
    kinds of items. The same --seed draws the same ones.

    They leave the benchmark: no gold, no overlap, no state. A line to import: {"completion_id": …, "verdict":
    "correct" | "incorrect" | "unsuitable"}, optionally with dataset and question_id. An item that people have labelled
    or are to label can't become a check, unless they have settled it and it is added --from people. Rate, threshold
    and minimum stand in workbench.toml under [annotation]. Exit code 3: some items or lines were refused.
    """
    from workbench.services.labelling import checks

    if (verb == "import") != (file is not None):
        raise UsageError("Write: workbench checks DB import FILE; no other verb takes a file.")
    if verb in ("add", "remove") and not (where or limit):
        raise UsageError(f"Say which items to {verb}: --where, --limit.")
    with project_at(database) as project:
        if verb == "list":
            _list(checks.checks(project), as_json)
        elif verb == "report":
            _report(checks.report(project), as_json)
        elif verb == "remove":
            removed = checks.remove_checks(project, selection_of(where, limit))
            print_json({"removed": removed}) if as_json else show(f"{removed} checks are ordinary items again.")
        elif file is not None:
            _changed(checks.import_checks(project, file), as_json, file)
        else:
            _changed(checks.add_checks(project, selection_of(where, limit), source, seed), as_json)


def _list(listed: list[CheckInfo], as_json: bool) -> None:
    if as_json:
        print_json(listed)
        return
    for check in listed:
        names = f"{check.dataset}\t{check.question_id}\t{check.completion_id}"
        show(f"{names}\t{check.verdict}\t{check.right} of {check.answered} right")


def _report(scores: list[CheckScore], as_json: bool) -> None:
    if as_json:
        print_json(scores)
        return
    if not scores:
        say("Nobody has answered a check.")
    for score in scores:
        share = "–" if score.accuracy is None else f"{score.accuracy:.1%} [{score.lo:.1%}, {score.hi:.1%}]"
        paused = f"\tpaused{f': {score.why}' if score.why else ''}" if score.paused else ""
        show(f"{score.annotator}\t{score.right} of {score.n} right\t{share}{paused}")


def _changed(report: ChecksChanged, as_json: bool, file: Path | None = None) -> None:
    if as_json:
        print_json(report)
    else:
        show(f"{report.added} added, {report.unchanged} unchanged, {report.refused} refused")
        if report.seed is not None:
            show(f"Drawn by chance of {report.chosen_from:,}, spread over their questions (seed {report.seed}).")
    word = "passed over" if report.passed_over else "refused"
    say_some([_reason(refusal, file, word) for refusal in report.refusals])
    if report.refused:
        sys.exit(REFUSED_SOME)


def _reason(refusal: dict[str, object], file: Path | None, word: str) -> str:
    if file is None:
        return f"{refusal['items']} {word}: {refusal['message']}"
    return f"{file}:{refusal['line']}:{refusal['field'] or 'line'}: {refusal['message']}"
