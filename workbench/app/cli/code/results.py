"""``workbench code results DB`` and ``exclude``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.common import print_lines, say_without_outcomes
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import BY, By, Options, Run, Where, argument, option
from workbench.core.project import Project
from workbench.core.selection import selection_of

if TYPE_CHECKING:
    from workbench.coding.apart import ExcludedSuiteTest


class CodeResultsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[
        str | None,
        option("Name of the verifier that ran the solutions.  [default: all that ran solutions]", metavar="NAME"),
    ] = None
    run: Run = None
    suite: Annotated[str | None, option("Print only outcomes of this test suite.", metavar="NAME")] = None
    where: Where = ()


@verb(json=False)
def results_command(project: Project, options: CodeResultsOptions) -> None:
    """Print the outcome of every solution that was run, one JSON line per solution and suite, in the order of import.

    One letter per test: p passed, f assertion failed, e another error, t timed out, s syntax error, x killed or never
    reported, n not run because the solution had no time left or ended at an earlier test. A solution that was not run
    at all has no line; their number is reported.
    """
    from workbench.coding.problems import results

    selection = selection_of(options.where) if options.where else None
    found = results(project, options.verifier, options.run, options.suite, selection)
    print_lines(found)
    say_without_outcomes(found.left_out.without_tests, found.left_out.not_run)


# -- ``workbench code exclude DB TASK_ID NUMBER --reason TEXT``, ``--undo`` and ``--list``


class CodeExcludeOptions(Options, frozen=True, kw_only=True):
    problem: Annotated[str, argument("[TASK_ID]")] = ""
    number: Annotated[int | None, argument("[NUMBER]")] = None
    suite: Annotated[str, option("Test suite that contains the test.", metavar="NAME")] = "base"
    dataset: Annotated[
        str | None, option("Data set of the problem, if several contain a problem with this id.", metavar="NAME")
    ] = None
    reason: Annotated[str, option("Reason for excluding the test.", metavar="TEXT")] = ""
    by: By = BY
    undo: Annotated[bool, option("Include an excluded test again.")] = False
    listing: Annotated[bool, option("List excluded tests, with reason and author.", "--list")] = False


@verb
def exclude_command(project: Project, options: CodeExcludeOptions) -> Output:
    """Exclude a suspect test so that it never counts; list such tests, or include one again.

    workbench code exclude DB HumanEval/140 3 --reason "wants what the problem doesn't ask for"

    workbench code exclude DB HumanEval/140 3 --undo

    Tests are numbered as on the problem's screen, from 1. Metrics of stored outcomes change at once; verdicts change
    when the solutions are run again: workbench verify DB execution --where question_id=TASK_ID --ask-again
    """
    from workbench.coding import apart

    if options.listing:
        return Output(apart.excluded_tests(project), _test_lines)
    if not options.problem or options.number is None:
        raise UsageError("Write: workbench code exclude DB TASK_ID NUMBER --reason TEXT (or --list)")
    if options.undo and options.reason:
        raise UsageError("--undo takes no --reason.")
    question = apart.problem_named(project, options.problem, options.dataset)
    place = (question, options.suite, options.number - 1)
    changed = (
        apart.include_test(project, *place, by=options.by)
        if options.undo
        else apart.exclude_test(project, *place, reason=options.reason, by=options.by)
    )
    how = "counts again" if options.undo else "is excluded from all metrics"
    said = f"test {options.number} of {options.suite}, {options.problem}: {'' if changed else 'already '}{how}"
    return Output({"changed": changed}, lambda _: [said])


def _test_lines(found: Sequence[ExcludedSuiteTest]) -> Iterator[str]:
    for one in found:
        yield "\t".join((one.dataset, one.task_id, one.suite, str(one.test), one.by, one.reason))
    yield f"{len(found)} excluded"
