"""Options of the commands that draw, build and publish benchmarks: a record each, for every front end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, get_args

from workbench.core.errors import UsageError, opt
from workbench.core.options import NONE_GIVEN, Options, Protocol, SeedNumber, Where, Whole, argument, option, pair
from workbench.core.sets import Fill, FinalGold, Preset, Strata
from workbench.core.taxonomy import TYPES
from workbench.measuring.records.curation import Scope

PRESETS: Final[tuple[str, ...]] = get_args(Preset)

SetTitle = Annotated[str, option("What the set is called.", "--name")]
DryRun = Annotated[bool, option("Show what it would be, and write nothing.")]
NewVersion = Annotated[bool, option("Freeze it as a new version next to an earlier one that differs.")]
DrawSeed = Annotated[SeedNumber, option("Of the draws.", "--seed")]
SetGold = Annotated[
    FinalGold, option("Whose labels count: what people agreed on or a third person gave; or the file's.")
]


class PicksOptions(Options, frozen=True, kw_only=True):
    """The completions to label."""

    judge: Annotated[str, option("The verifier whose verdicts decide.", metavar="NAME")]
    run: Annotated[Whole | None, option("Its run; by default the newest complete one.")] = None
    each: Annotated[Whole, option("How many of either verdict.")] = 2
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "picks"
    dry_run: DryRun = False
    new_version: NewVersion = False


class RandomOptions(Options, frozen=True, kw_only=True):
    """The number of questions to draw, and the selection to draw from."""

    n: Annotated[Whole, option("Questions.", "--n")]
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "random"
    dry_run: DryRun = False
    new_version: NewVersion = False


class BalancedOptions(Options, frozen=True, kw_only=True):
    """The contents of a balanced benchmark; a file of quotas replaces the numbers of each type and subtype."""

    where: Where = ()
    per_type: Annotated[Whole | None, option("Questions of each type.  [default: 250]")] = None
    quota: Annotated[
        str | None,
        option(
            "Divide each type among its subtypes: as in the paper, evenly, as they are there, or by a TOML file.",
            metavar=f"[{'|'.join(PRESETS)}|FILE]",
        ),
    ] = None
    cap_source: Annotated[Whole | None, option("At most N questions of one source.", metavar="N")] = None
    cap_model: Annotated[Whole | None, option("At most N completions of one model.", metavar="N")] = None
    fill: Annotated[
        Fill, option("Who gives more where a subtype is short: nobody, other subtypes of its type, other types too.")
    ] = "none"
    gold: SetGold = "people"
    seed: DrawSeed = 0
    name: SetTitle = "balanced"
    dry_run: DryRun = False
    new_version: NewVersion = False

    @property
    def file(self) -> Path | None:
        return None if self.quota is None or self.quota in PRESETS else Path(self.quota)


def run_of(text: str) -> tuple[str, int]:
    """Parse a judge and its run, ``NAME=N``.

    Raises:
        UsageError: The text doesn't have this form.
    """
    name, number = pair(text)
    if not number.isdecimal() or len(number) > 18:
        raise UsageError(f"{number!r} is no run's number.")
    return name, int(number)


class HardOptions(Options, frozen=True, kw_only=True):
    """An option that is not given (None, no judge, no condition) has the value of the frozen queue, else the
    paper's.
    """

    judges: Annotated[
        tuple[str, ...], option("A verifier that votes (an odd number of them).", "--judge", metavar="NAME")
    ] = ()
    runs: Annotated[
        dict[str, int],
        option("A judge's run; else its newest complete one.", "--run", metavar="NAME=N", read=run_of),
    ] = NONE_GIVEN
    minority: Annotated[Whole | None, option("Judges on the weaker side.  [default: 2]")] = None
    annotate: Annotated[Whole | None, option("Items for people to label.  [default: 2000]")] = None
    strata: Annotated[
        Strata | None,
        option("Divide them among domains and sources by how much each has, or evenly.  [default: proportional]"),
    ] = None
    final: Annotated[Whole, option("Number of tuples in the benchmark.")] = 1000
    where: Where = ()
    gold: SetGold = "people"
    partial: Annotated[bool, option("Freeze the set though some items still wait for labels.")] = False
    seed: Annotated[SeedNumber | None, option("Of the draws.  [default: 0]")] = None
    name: SetTitle = "hard"
    dry_run: DryRun = False
    new_version: NewVersion = False


class DrawOptions(Options, frozen=True, kw_only=True):
    """The questions to draw from a pool."""

    per_type: Annotated[Whole, option("Questions wanted of each type (the paper: 2000).")]
    types: Annotated[str, option("Types to draw from.", metavar="LETTERS", shows_default=True)] = ",".join(TYPES)
    cap_source: Annotated[Whole | None, option("At most so many questions of one source.")] = None
    confirmed: Annotated[bool, option("Only types that count, not one person's or a model's alone.")] = False
    scope: Scope = Scope()
    seed: DrawSeed = 0
    name: SetTitle = "pool"
    dry_run: DryRun = False
    new_version: NewVersion = False

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the types, in the order of the report.

        Raises:
            UsageError: The types are not letters.
        """
        letters = tuple(dict.fromkeys(word.strip().upper() for word in self.types.split(",")))
        if not all(len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in letters):
            raise UsageError(f"{self.types[:100]!r} are no letters of types.", f"Write: {opt.types:A,B,C,D}")
        return letters


class PublishOptions(Options, frozen=True, kw_only=True):
    """The benchmarks to publish, the folder, and the publisher's details."""

    sets: Annotated[tuple[str, ...], argument("SET…")]
    folder: Annotated[Path, argument("FOLDER", output="file", folder=True)]
    title: Annotated[str | None, option("What the card calls it; by default the sets' names.", metavar="TEXT")] = None
    licence: Annotated[
        str | None,
        option(
            "Of labels, selection and card, such as cc-by-4.0; sources keep their own.",
            "--licence",
            "--license",
            metavar="NAME",
        ),
    ] = None
    languages: Annotated[
        tuple[str, ...], option("ISO 639 code, such as en (repeatable).", "--language", metavar="CODE")
    ] = ()
    protocol: Protocol = None
    names: Annotated[bool, option("Annotators' names instead of pseudonyms.")] = False
    force: Annotated[bool, option("Replace a folder that was published and not changed since.")] = False
