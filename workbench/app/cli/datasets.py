"""``workbench datasets DB``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import BY, By, Options, argument, option
from workbench.core.project import Project
from workbench.core.text.figures import counted

if TYPE_CHECKING:
    from workbench.benchmarks.curating.datasets import DatasetChanged
    from workbench.core.status import DatasetInfo

_NAMES: Final = {"list": "", "rename": "NAME NEW_NAME", "exclude": "NAME --reason TEXT", "restore": "NAME"}


class DatasetsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "rename", "exclude", "restore"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument("[NAME] [NEW_NAME]")] = ()
    reason: Annotated[str, option("Reason for excluding the data set.", metavar="TEXT")] = ""
    by: By = BY


@verb
def datasets_command(project: Project, options: DatasetsOptions) -> Output:
    """List data sets, rename one, exclude one from every table, or include it again.

    workbench datasets DB rename problems problems-wrong

    workbench datasets DB exclude problems-wrong --reason "tests call candidate"

    workbench datasets DB restore problems-wrong

    Nothing is deleted: every item of an excluded data set is excluded, with author and reason, and metrics, runs'
    tables and lists of code problems leave it out. Items that were excluded before stay excluded when the data set is
    restored. To import a corrected file under the same name, rename the data set first. None of this is possible while
    a run works on the data set.
    """
    if len(options.names) != len(_NAMES[options.verb].split(" --")[0].split()):
        raise UsageError(f"Write: workbench datasets DB {options.verb} {_NAMES[options.verb]}".rstrip())
    if options.reason and options.verb != "exclude":
        raise UsageError("--reason is only for exclude.")
    if options.verb == "list":
        from workbench.measuring.counting import every_dataset

        return Output(every_dataset(project), _dataset_lines)
    from workbench.benchmarks.curating import datasets

    name = options.names[0]
    if options.verb == "rename":
        changed = datasets.rename(project, *options.names)
    elif options.verb == "exclude":
        changed = datasets.take_out(project, name, reason=options.reason, by=options.by)
    else:
        changed = datasets.take_in_again(project, name, by=options.by)
    return Output(changed, lambda done: [_change_text(options, done)])


def _change_text(options: DatasetsOptions, done: DatasetChanged) -> str:
    if options.verb == "rename":
        return f"{options.names[0]} is now called {done.dataset}"
    where = "excluded from every table" if options.verb == "exclude" else "included again"
    return f"{done.dataset}: {counted(done.items, 'item')} and {counted(done.questions, 'question')} {where}"


def _dataset_lines(found: Sequence[DatasetInfo]) -> Iterator[str]:
    for one in found:
        out = f"\tout: {one.out}" if one.out is not None else ""
        yield f"{one.name}\t{counted(one.items, 'item')}\t{counted(one.questions, 'question')}{out}"
