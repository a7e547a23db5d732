"""Options that several code commands share, or that need no models and files."""

from __future__ import annotations

from typing import Annotated

from workbench.core.options import AllowUnsafe, OnCluster, Options, Whole, option

OwnPromptFiles = Annotated[
    tuple[str, ...],
    option(
        "Ask by a prompt of your own, such as a paper's: a text file with placeholders (docs/code-synthetic.md).",
        "--template",
        metavar="[WHAT=]FILE",
    ),
]
Programs = Annotated[int | None, option("Programs executed at a time; one a core by default.", ge=1, le=256)]
ProblemSet = Annotated[str | None, option("The data set; needed only where several hold problems.", metavar="NAME")]


class Targets(Options, frozen=True, kw_only=True):
    """The chosen problems; by default all problems of the only data set."""

    dataset: ProblemSet = None
    tasks: Annotated[tuple[str, ...], option("Only this problem (repeatable).", "--problem", metavar="ID")] = ()
    since: Annotated[str | None, option("Only problems whose contest_date is this day or later.", metavar="DATE")] = (
        None
    )
    until: Annotated[str | None, option("Only problems whose contest_date is this day or earlier.", metavar="DATE")] = (
        None
    )
    limit: Annotated[Whole | None, option("Only the first so many problems.", "--limit")] = None


class ProgramOptions(Options, frozen=True, kw_only=True):
    """How programs are executed by a command that executes them itself."""

    workers: Programs = None
    cluster: OnCluster = None
    scratch: Annotated[
        str | None,
        option(
            "An empty folder of this size that a program may write in: scratch=16MB, an option of verify execution.",
            metavar="MEGABYTES",
        ),
    ] = None
    python: Annotated[
        str | None,
        option("Another interpreter, such as one with packages (python=… of verify execution).", metavar="PATH"),
    ] = None
    allow_unsafe: AllowUnsafe = False

    @property
    def execution(self) -> dict[str, str]:
        """Return the given options that are options of the verifier ``execution``."""
        given = {"scratch": self.scratch, "python": self.python}
        return {name: value for name, value in given.items() if value}


class RefinementOptions(Options, frozen=True, kw_only=True):
    """The number of tests of a rewritten problem: the requested number, and the accepted minimum."""

    asked: Annotated[int, option("Asked for.", "--tests", ge=1, le=200)] = 20
    fewest: Annotated[int, option("A problem needs so many.", ge=1, le=200)] = 5
    templates: OwnPromptFiles = ()


class SolutionOptions(Options, frozen=True, kw_only=True):
    """The solutions to be written by models; the reference's score is one of the ``k``."""

    kinds: Annotated[str, option("What models are asked for.", metavar="KINDS")] = "correct,incorrect"
    k: Annotated[int, option("Different scores of a problem.", ge=1, le=100)] = 5
    rounds: Annotated[int, option("Rounds of asking at most.", ge=1, le=100)] = 5
    suites: Annotated[
        tuple[str, ...], option("The tests that solutions are scored by (repeatable).", "--suite", metavar="NAME")
    ] = ("base", "plus")
    templates: OwnPromptFiles = ()


class TestOptions(Options, frozen=True, kw_only=True):
    """The tests to be written by a model, and how they are extracted from its replies."""

    __test__ = False

    with_solution: Annotated[bool, option("Tests of each solution, by a model that sees it.")] = False
    strip: Annotated[bool, option("Take off blanks around a test, which make it no Python otherwise.")] = False
    filters: Annotated[
        str | None,
        option(
            "What is left out: no_python, no_assert, no_call, duplicate, surplus (behind the first n), or all; "
            "nothing unless it is said, as in the paper.",
            metavar="CODES",
        ),
    ] = None
    templates: OwnPromptFiles = ()


class SuiteOptions(TestOptions, frozen=True, kw_only=True):
    """The tests to be written by a model, and their number."""

    count: Annotated[int, option("Tests asked for of each problem.", "--n", ge=1, le=100)] = 10
