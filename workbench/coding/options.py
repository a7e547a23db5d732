"""What the verbs of code problems are asked for, as far as several share it or do without models and files."""

from __future__ import annotations

from typing import Annotated

from workbench.core.options import Options, Whole, option

ProblemSet = Annotated[str | None, option("The data set; needed only where several hold problems.", metavar="NAME")]


class Targets(Options, frozen=True, kw_only=True):
    """Which problems are meant; all of the only data set there is unless something is said."""

    dataset: ProblemSet = None
    tasks: Annotated[tuple[str, ...], option("Only this problem (repeatable).", "--problem", metavar="ID")] = ()
    limit: Annotated[Whole | None, option("Only the first so many problems.", "--limit")] = None


class RefinementOptions(Options, frozen=True, kw_only=True):
    """How many tests a problem written anew has: those that are asked for, and without which it is refused."""

    asked: Annotated[int, option("Asked for.", "--tests", ge=1, le=200)] = 20
    fewest: Annotated[int, option("A problem needs so many.", ge=1, le=200)] = 5
