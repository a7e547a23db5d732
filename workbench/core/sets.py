"""Frozen sets: the chosen questions or items, how they were chosen, and their gold and types at that time.

A set has a name and versions; ``--where set=NAME`` selects its newest version, ``set=NAME@2`` version 2.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.label import ExcludedItem
from workbench.core.verdict import GoldChoice

SetKind = Literal["draw", "picks", "queue", "balanced", "hard"]
"""``draw``: questions drawn by type. ``picks``: completions chosen for each question, to be annotated. ``queue``: items
on which judges disagree, to be annotated. ``balanced`` and ``hard``: the finished benchmark sets.
"""

GoldFrom = Literal["agreed", "adjudicated", "imported"]

FinalGold = Literal["people", "imported"]
"""The gold of a finished set: that of annotators (agreed or adjudicated), or that of the imported file."""

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
        version: The version's number; None for the newest version.
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
        name: The stratum's name: a type, a subtype, or a domain and source.
        population: Number of available members.
        quota: Number of requested members.
        taken: Number of drawn members.
    """

    name: str
    population: int
    quota: int
    taken: int


class Shortfall(Struct, frozen=True, kw_only=True):
    """Members that were requested for a set but are not available.

    Attributes:
        stratum: The stratum with too few members; None for the set as a whole.
        of: Whether questions or tuples are missing.
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
        version: The set's version; None for a plan that was not carried out, and in the report stored with the set.
        digest: The set's digest; None where ``version`` is None.
        unchanged: Whether the set already existed with the same members.
        strata: The strata with their quotas, counted in questions; in tuples for a set chosen by judges' splits.
        shortfall: What is missing; for a balanced set the types first, then their subtypes, so that a missing question
            occurs in both.
        excluded: Number of excluded items or questions by reason; see docs/building.md.
        stages: How many are left after each step of the choice, by step, in order.
        gold: Which labels count as gold; None for a set without gold.
        judges: Run ids of the verifiers whose verdicts decided the choice, by verifier.
        splits: Number of items by how many judges are on either side, such as ``3:2``; also of items that not every
            judge has decided.
        correct: Number of tuples whose gold is correct; None for a set without gold.
        always_incorrect: The accuracy of calling every tuple incorrect; None without gold or tuples. ``types``,
            ``domains``, ``sources`` and ``models`` are numbers of tuples by name.
        missing_models: Names of models in the same data sets that have no tuple in the set.
        left_out: Items that were excluded when it was frozen.
        next: What to do next; empty if nothing is left to do.
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
        subtype: The answer type or subtype for which it was drawn.
    """

    question: int
    stratum: str
    subtype: str | None = None


class NewSet(Struct, frozen=True, kw_only=True):
    """A set to be frozen.

    Attributes:
        config: The settings that the choice depends on in addition to the data, as JSON.
        report: A `SetReport` (or a record with more fields) as JSON.
        runs: Ids of the runs whose verdicts decided the choice.
    """

    name: str
    kind: SetKind
    seed: int
    config: str
    report: str = ""
    gold: GoldChoice | None = None
    guideline: str | None = None
    items: tuple[ItemMember, ...] = ()
    questions: tuple[QuestionMember, ...] = ()
    runs: tuple[int, ...] = ()


class StoredSet(Struct, frozen=True, kw_only=True):
    """A set as stored in the database.

    Attributes:
        digest: BLAKE2b-128 hash of the members' data sets, ids, texts, gold, subtypes and strata, in hexadecimal. Equal
            members give equal digests in every database.
        items, questions: Number of members of each kind.
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
