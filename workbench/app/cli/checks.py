"""``workbench checks DB add``, ``import FILE``, ``list``, ``remove`` and ``report``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import REFUSED_SOME, say, selection_of, show, some
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import Options, Seed, Where, Whole, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.labelling.records import CheckInfo, ChecksChanged, CheckScore


class ChecksOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["add", "import", "list", "remove", "report"], argument()] = "list"
    file: Annotated[Path | None, argument()] = None
    source: Annotated[
        Literal["imported", "people"], option("Where the known answer of added items comes from.", "--from")
    ] = "imported"
    where: Where = ()
    limit: Annotated[Whole | None, option("At most so many items; add draws them by chance.")] = None
    seed: Seed = 0


@verb
def command(project: Project, options: ChecksOptions) -> Output:
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
    from workbench.labelling import checks

    if (options.verb == "import") != (options.file is not None):
        raise UsageError("Write: workbench checks DB import FILE; no other verb takes a file.")
    if options.verb in ("add", "remove") and not (options.where or options.limit):
        raise UsageError(f"Say which items to {options.verb}: --where, --limit.")
    selection = selection_of(options.where, options.limit)
    if options.verb == "list":
        return Output(checks.checks(project), _check_lines)
    if options.verb == "report":
        return Output(checks.report(project), _show_scores)
    if options.verb == "remove":
        removed = checks.remove_checks(project, selection)
        return Output({"removed": removed}, lambda _: [f"{removed} checks are ordinary items again."])
    if options.file is not None:
        return _changed(checks.import_checks(project, options.file), options.file)
    return _changed(checks.add_checks(project, selection, options.source, options.seed))


def _check_lines(listed: Sequence[CheckInfo]) -> Iterator[str]:
    for check in listed:
        names = f"{check.dataset}\t{check.question_id}\t{check.completion_id}"
        yield f"{names}\t{check.verdict}\t{check.right} of {check.answered} right"


def _show_scores(scores: Sequence[CheckScore]) -> None:
    if not scores:
        say("Nobody has answered a check.")
    for score in scores:
        share = "–" if score.accuracy is None else f"{score.accuracy:.1%} [{score.lo:.1%}, {score.hi:.1%}]"
        paused = f"\tpaused{f': {score.why}' if score.why else ''}" if score.paused else ""
        show(f"{score.annotator}\t{score.right} of {score.n} right\t{share}{paused}")


def _changed(report: ChecksChanged, file: Path | None = None) -> Output:
    word = "passed over" if report.passed_over else "refused"
    return Output(
        report,
        _changed_lines,
        after=some([_reason(refusal, file, word) for refusal in report.refusals]),
        code=REFUSED_SOME if report.refused else 0,
    )


def _changed_lines(report: ChecksChanged) -> Iterator[str]:
    yield f"{report.added} added, {report.unchanged} unchanged, {report.refused} refused"
    if report.seed is not None:
        yield f"Drawn by chance of {report.chosen_from:,}, spread over their questions (seed {report.seed})."


def _reason(refusal: dict[str, object], file: Path | None, word: str) -> str:
    if file is None:
        return f"{refusal['items']} {word}: {refusal['message']}"
    return f"{file}:{refusal['line']}:{refusal['field'] or 'line'}: {refusal['message']}"
