"""Options that several code commands share, or that need no models and files."""

from __future__ import annotations

from typing import Annotated

from workbench.core.options import AllowUnsafe, OnCluster, Options, Whole, option

OwnPromptFiles = Annotated[
    tuple[str, ...],
    option(
        "Prompt file with placeholders, such as a paper's; WHAT names the prompt it replaces (docs/code-synthetic.md).",
        "--template",
        metavar="[WHAT=]FILE",
    ),
]
Programs = Annotated[
    int | None, option("Number of programs executed in parallel.  [default: one per core]", ge=1, le=256)
]
ProblemSet = Annotated[
    str | None, option("Data set of the problems; needed only if several data sets contain problems.", metavar="NAME")
]


class Targets(Options, frozen=True, kw_only=True):
    """The chosen problems; by default all problems of the only data set."""

    dataset: ProblemSet = None
    tasks: Annotated[
        tuple[str, ...], option("Use only the problem with this id (repeatable).", "--problem", metavar="ID")
    ] = ()
    since: Annotated[
        str | None, option("Use only problems whose contest_date is on or after this date.", metavar="DATE")
    ] = None
    until: Annotated[
        str | None, option("Use only problems whose contest_date is on or before this date.", metavar="DATE")
    ] = None
    limit: Annotated[Whole | None, option("Maximum number of problems; the first ones are used.", "--limit")] = None


class ProgramOptions(Options, frozen=True, kw_only=True):
    """Options for commands that execute programs themselves."""

    workers: Programs = None
    cluster: OnCluster = None
    scratch: Annotated[
        str | None,
        option(
            "Maximum size of the folder that programs may write in, such as 16MB; same as the option scratch of the "
            "verifier execution.",
            metavar="MEGABYTES",
        ),
    ] = None
    python: Annotated[
        str | None,
        option(
            "Python interpreter for the programs, such as one with packages; same as the option python of the "
            "verifier execution.",
            metavar="PATH",
        ),
    ] = None
    allow_unsafe: AllowUnsafe = False

    @property
    def execution(self) -> dict[str, str]:
        """Return the given options that are options of the verifier ``execution``."""
        given = {"scratch": self.scratch, "python": self.python}
        return {name: value for name, value in given.items() if value}


class RefinementOptions(Options, frozen=True, kw_only=True):
    """The number of tests of a rewritten problem: the requested number, and the accepted minimum."""

    asked: Annotated[int, option("Number of tests requested per problem.", "--tests", ge=1, le=200)] = 20
    fewest: Annotated[int, option("Minimum number of valid tests; problems with fewer are rejected.", ge=1, le=200)] = 5
    templates: OwnPromptFiles = ()


class SolutionOptions(Options, frozen=True, kw_only=True):
    """The solutions to be written by models; the reference's score is one of the ``k``."""

    kinds: Annotated[str, option("Kinds of solutions requested from the models.", metavar="KINDS")] = (
        "correct,incorrect"
    )
    k: Annotated[int, option("Number of different scores that each problem needs.", ge=1, le=100)] = 5
    rounds: Annotated[int, option("Maximum number of rounds of requests.", ge=1, le=100)] = 5
    suites: Annotated[
        tuple[str, ...], option("Test suite by which solutions are scored (repeatable).", "--suite", metavar="NAME")
    ] = ("base", "plus")
    templates: OwnPromptFiles = ()


class TestOptions(Options, frozen=True, kw_only=True):
    """The tests to be written by a model, and how they are extracted from its replies."""

    __test__ = False

    with_solution: Annotated[bool, option("Write tests for each solution, by a model that sees the solution.")] = False
    strip: Annotated[bool, option("Strip white space around a test, which would otherwise make it invalid Python.")] = (
        False
    )
    filters: Annotated[
        str | None,
        option(
            "Tests to leave out: no_python, no_assert, no_call, duplicate, surplus (beyond the first N), or "
            "all.  [default: none, as in the paper]",
            metavar="CODES",
        ),
    ] = None
    templates: OwnPromptFiles = ()


class SuiteOptions(TestOptions, frozen=True, kw_only=True):
    """The tests to be written by a model, and their number."""

    count: Annotated[int, option("Number of tests requested per problem.", "--n", ge=1, le=100)] = 10
