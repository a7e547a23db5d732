"""Frozen sets: the chosen questions or items, the rule of the choice, and the data at that time.

A set is named and versioned; ``--where set=NAME`` means its newest version, ``set=NAME@2`` that one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.label import ExcludedItem
from workbench.core.verdict import GoldChoice

SetKind = Literal["draw", "picks", "queue", "balanced", "hard"]
"""``draw``: a number of questions of each type. ``picks``: completions of each question, to annotate. ``queue``: items
on which judges are split, to annotate. ``balanced`` and ``hard``: the finished sets.
"""

GoldFrom = Literal["agreed", "adjudicated", "imported"]

FinalGold = Literal["people", "imported"]
"""The gold of a finished set: labels agreed by annotators or given by a third person, or the file's."""

Preset = Literal["verifybench", "equal", "proportional"]
"""How questions of a type are divided among its subtypes: as in the paper, evenly, or in proportion to their
numbers.
"""

Strata = Literal["proportional", "equal"]
"""How a sample is divided among domains and sources: in proportion to their sizes, or evenly."""

Fill = Literal["none", "subtypes", "types"]
"""How a shortfall of a subtype is filled: not at all, from other subtypes of its type, or also from other types."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]{0,99}")
_WRITTEN = re.compile(rf"(?P<name>{NAME.pattern})(?:@(?P<version>[1-9][0-9]{{0,8}}))?")


class SetName(NamedTuple):
    """The name of a set: ``hard`` or ``hard@2``.

    Attributes:
        version: None for the newest.
    """

    name: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> SetName:
        """Parse the text after ``set=``.

        Raises:
            UsageError: It is not a valid name of a set.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise UsageError(
                f"{text[:100]!r} is not a valid set name.",
                "Use up to 100 letters, digits and . _ + / -, and @VERSION for another than the newest.",
            )
        return cls(found["name"], int(found["version"]) if found["version"] else None)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


class Stratum(Struct, frozen=True, kw_only=True):
    """A stratum from which members are drawn.

    Attributes:
        name: A type, a subtype, or domain and source.
        population: Number of available members.
        quota: Number of requested members.
        taken: Number of drawn members.
    """

    name: str
    population: int
    quota: int
    taken: int


class Shortfall(Struct, frozen=True, kw_only=True):
    """Requested members that a set lacks.

    Attributes:
        stratum: The stratum that lacks them; None for the set as a whole.
        of: The unit that is missing.
    """

    stratum: str | None
    of: Literal["questions", "tuples"]
    wanted: int
    available: int
    taken: int
    why: str


class SetReport(Struct, frozen=True, kw_only=True):
    """The result of building a set; also ``--json``.

    Attributes:
        version: None for a plan that was not carried out, and in the report that is stored with the set.
        digest: The set's digest; None like ``version``.
        unchanged: Whether the set already existed with the same members.
        strata: The strata, each with its quota; in questions, for judges' splits in tuples.
        shortfall: For a balanced set types first, then their subtypes: a question missing in one is missing in both.
        excluded: Reason -> number of items or questions excluded for it; see docs/building.md.
        stages: Numbers left after each step, in order.
        gold: Whose labels count as gold; None for a set without gold.
        judges: Verifier whose verdicts decided -> its run.
        splits: Judges on either side, such as ``3:2`` -> items; and items that not every judge has decided.
        correct: Tuples whose gold is correct; None for a set without gold.
        always_incorrect: The accuracy of calling every tuple incorrect; None without gold or tuples. types, domains,
        sources, models: Numbers of tuples of each.
        missing_models: Models of the same datasets without a tuple.
        left_out: Items that were excluded when it was frozen.
        next: The next step; empty if nothing is left to do.
    """

    name: str
    version: int | None
    kind: SetKind
    questions: int
    tuples: int
    strata: tuple[Stratum, ...]
    shortfall: tuple[Shortfall, ...]
    excluded: dict[str, int]
    seed: int
    digest: str | None = None
    unchanged: bool = False
    stages: dict[str, int] = {}
    gold: GoldChoice | None = None
    judges: dict[str, int] = {}
    splits: dict[str, int] = {}
    correct: int | None = None
    always_incorrect: float | None = None
    types: dict[str, int] = {}
    domains: dict[str, int] = {}
    sources: dict[str, int] = {}
    models: dict[str, int] = {}
    missing_models: tuple[str, ...] = ()
    left_out: tuple[ExcludedItem, ...] = ()
    next: str = ""


class ItemMember(Struct, frozen=True, kw_only=True):
    """An item of a set, as it was when the set was frozen."""

    item: int
    stratum: str
    gold: bool | None = None
    gold_from: GoldFrom | None = None
    subtype: str | None = None


class QuestionMember(Struct, frozen=True, kw_only=True):
    """A question of a set of questions.

    Attributes:
        subtype: The answer type or subtype it was drawn as.
    """

    question: int
    stratum: str
    subtype: str | None = None


class NewSet(Struct, frozen=True, kw_only=True):
    """A set to be frozen.

    Attributes:
        config: Everything that the choice depends on besides the data, as JSON.
        report: A `SetReport`, or a record with more fields; JSON.
        runs: The runs whose verdicts decided.
    """

    name: str
    kind: SetKind
    seed: int
    config: str
    report: str
    gold: GoldChoice | None = None
    guideline: str | None = None
    items: tuple[ItemMember, ...] = ()
    questions: tuple[QuestionMember, ...] = ()
    runs: tuple[int, ...] = ()


class StoredSet(Struct, frozen=True, kw_only=True):
    """A set as stored in the database.

    Attributes:
        digest: BLAKE2b-128 of its members: their datasets, ids, texts, gold, subtypes and strata, as
            hexadecimal digits. Equal members give equal digests in every database.
        items, questions: Number of members.
    """

    id: int
    name: str
    version: int
    kind: SetKind
    seed: int
    config: str
    report: str
    gold: GoldChoice | None
    guideline: str | None
    code_version: str
    digest: str
    created_at: str
    items: int
    questions: int
    runs: tuple[int, ...]

    @property
    def full_name(self) -> str:
        return str(SetName(self.name, self.version))
