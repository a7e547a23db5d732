"""Options of the commands that draw, build and publish benchmarks: one record for each command, for every front end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, get_args

from workbench.core.errors import UsageError, opt
from workbench.core.options import NONE_GIVEN, Options, Protocol, SeedNumber, Where, Whole, argument, option, split_pair
from workbench.core.sets import Fill, FinalGold, Preset, Strata
from workbench.core.taxonomy import TYPES
from workbench.measuring.records.curation import Scope

PRESETS: Final[tuple[str, ...]] = get_args(Preset)

SetTitle = Annotated[str, option("Name of the set.", "--name")]
DryRun = Annotated[bool, option("Show what the set would contain without writing anything.")]
NewVersion = Annotated[bool, option("Freeze the set as a new version if an earlier version has other members.")]
DrawSeed = Annotated[SeedNumber, option("Seed of the random draws.", "--seed")]
SetGold = Annotated[
    FinalGold,
    option(
        "Labels that decide which completions are correct: people (agreed or adjudicated by "
        "annotators) or imported (from the data file)."
    ),
]


class PicksOptions(Options, frozen=True, kw_only=True):
    judge: Annotated[
        str, option("Verifier whose verdicts decide which completions are picked.", metavar="NAME", names_verifier=True)
    ]
    run: Annotated[Whole | None, option("Number of the verifier's run to use.  [default: its newest complete run]")] = (
        None
    )
    each: Annotated[
        Whole, option("Number of completions per question for each verdict: N judged correct and N judged incorrect.")
    ] = 2
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "picks"
    dry_run: DryRun = False
    new_version: NewVersion = False


class RandomOptions(Options, frozen=True, kw_only=True):
    """The number of questions to draw, and the selection to draw from."""

    n: Annotated[Whole, option("Number of questions to draw.", "--n")]
    where: Where = ()
    seed: DrawSeed = 0
    name: SetTitle = "random"
    dry_run: DryRun = False
    new_version: NewVersion = False


class BalancedOptions(Options, frozen=True, kw_only=True):
    """The contents of a balanced benchmark; a file of quotas replaces the numbers of each type and subtype."""

    where: Where = ()
    per_type: Annotated[Whole | None, option("Number of questions per answer type.  [default: 250]")] = None
    quota: Annotated[
        str | None,
        option(
            "How each type's questions are divided among its subtypes: verifybench (as in the paper), equal, "
            "proportional (to the available questions), or a TOML file.",
            metavar=f"[{'|'.join(PRESETS)}|FILE]",
        ),
    ] = None
    cap_source: Annotated[Whole | None, option("Maximum number of questions per source.", metavar="N")] = None
    cap_model: Annotated[Whole | None, option("Maximum number of completions per model.", metavar="N")] = None
    fill: Annotated[
        Fill,
        option(
            "Where questions come from if a subtype has too few: none, subtypes (other subtypes of "
            "its type) or types (other types as well)."
        ),
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
    name, number = split_pair(text)
    if not number.isdecimal() or len(number) > 18:
        raise UsageError(f"{number!r} is not a run's number.")
    return name, int(number)


class HardOptions(Options, frozen=True, kw_only=True):
    """An option that is not given (None, no judge, no condition) has the value with which the queue was frozen, else
    the paper's value.
    """

    judges: Annotated[
        tuple[str, ...],
        option(
            "Verifier whose verdicts are votes; name an odd number of them (repeatable).",
            "--judge",
            metavar="NAME",
            names_verifier=True,
        ),
    ] = ()
    runs: Annotated[
        dict[str, int],
        option(
            "Use run N of the judge NAME (repeatable).  [default: its newest complete run]",
            "--run",
            metavar="NAME=N",
            read=run_of,
        ),
    ] = NONE_GIVEN
    minority: Annotated[Whole | None, option("Number of judges in the minority.  [default: 2]")] = None
    annotate: Annotated[Whole | None, option("Number of items for annotators to label.  [default: 2000]")] = None
    strata: Annotated[
        Strata | None,
        option(
            "How the items are divided among domains and sources: proportional (to the available items) "
            "or equal.  [default: proportional]"
        ),
    ] = None
    final: Annotated[Whole, option("Number of items in the finished set.")] = 1000
    where: Where = ()
    gold: SetGold = "people"
    partial: Annotated[bool, option("Freeze the set even if some items still lack labels.")] = False
    seed: Annotated[SeedNumber | None, option("Seed of the random draws.  [default: 0]")] = None
    name: SetTitle = "hard"
    dry_run: DryRun = False
    new_version: NewVersion = False


class DrawOptions(Options, frozen=True, kw_only=True):
    per_type: Annotated[Whole, option("Number of questions per answer type (2000 in the paper).")]
    types: Annotated[str, option("Answer types to draw from.", metavar="LETTERS", shows_default=True)] = ",".join(TYPES)
    cap_source: Annotated[Whole | None, option("Maximum number of questions per source.")] = None
    confirmed: Annotated[
        bool, option("Use only confirmed answer types, not those given by one annotator or by a model alone.")
    ] = False
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
            raise UsageError(f"{self.types[:100]!r} are not letters of answer types.", f"Write: {opt.types:A,B,C,D}")
        return letters


class PublishOptions(Options, frozen=True, kw_only=True):
    """The benchmarks to publish, the folder, and the publisher's details."""

    sets: Annotated[tuple[str, ...], argument("SET…")]
    folder: Annotated[Path, argument("FOLDER", output="file", folder=True)]
    title: Annotated[
        str | None, option("Title on the data card.  [default: the names of the sets]", metavar="TEXT")
    ] = None
    licence: Annotated[
        str | None,
        option(
            "Licence of the labels, the selection and the data card, such as cc-by-4.0; sources keep their "
            "own licences.",
            "--licence",
            "--license",
            metavar="NAME",
        ),
    ] = None
    languages: Annotated[
        tuple[str, ...],
        option("Language of the data, as an ISO 639 code such as en (repeatable).", "--language", metavar="CODE"),
    ] = ()
    protocol: Protocol = None
    names: Annotated[bool, option("Write annotators' names instead of pseudonyms.")] = False
    force: Annotated[bool, option("Overwrite a published folder that has not been changed since.")] = False
