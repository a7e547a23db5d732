"""What is asked before a set is built, and the build that the answers ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from msgspec import Struct, convert

from workbench.benchmarks.building.balanced import BalancedTargets, build_balanced
from workbench.benchmarks.building.hard import HardSetOptions, build_hard, queue_name
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.curating.drawing import DrawWish, draw
from workbench.benchmarks.records import SetLine
from workbench.core.errors import OptionError, UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.sets import Fill, FinalGold, Preset, SetKind, SetReport
from workbench.measuring import browsing
from workbench.measuring.records.curation import Scope

KINDS: Final = {
    "picks": "of each question 2 + 2 completions by a judge's verdicts, to label",
    "balanced": "so many questions of each type, one correct and one incorrect completion each",
    "hard": "what judges are split on: first the queue to label, then the set",
    "draw": "so many questions of each type of the pool",
}
"""What can be built, and what it is."""

_LARGEST: Final = 2**63 - 1
_YES: Final = "yes"


class FormField(Struct, frozen=True, kw_only=True):
    """One line of a form.

    Attributes:
        about: What it is for.
        value: What stands there to begin with.
        choices: Its values, each with what it means; none where it is typed.
        several: Any number of the choices.
    """

    name: str
    about: str
    value: str = ""
    choices: Mapping[str, str] = {}
    several: bool = False


class BuildForm(Struct, frozen=True, kw_only=True):
    """What is asked before a set of a kind is built."""

    kind: str
    fields: tuple[FormField, ...]


def begun(kind: str, judges: Sequence[str], sets: Sequence[SetLine], chosen: SetLine | None) -> BuildForm:
    """A form with what can be guessed: the set under the cursor, else the newest, that such a set is built from.

    Args:
        kind: One of `KINDS`.
        judges: Verifiers that have a complete run.
        sets: All sets, in the order they were frozen.
    """
    goes_on = kind == "hard" and chosen is not None and chosen.kind == "queue"
    ways = {"picks": _picks, "balanced": _balanced, "hard": _hard, "draw": _draw}
    name, fields = kind, ways[kind](judges)
    if chosen is not None and goes_on:
        name = chosen.name.removesuffix(queue_name(""))
    where = "" if goes_on else _where("picks" if kind == "balanced" else "draw", sets, chosen)
    seed = ("", "of the draws; 0, or that of its queue") if kind == "hard" else ("0", "of the draws")
    common = [
        FormField(name="seed", about=seed[1], value=seed[0]),
        FormField(name="name", about="what the set is called", value=name),
    ]
    if kind != "draw":
        about = "which items: conditions such as set=NAME type=A; empty: all" + (", or its queue's" * (kind == "hard"))
        common.insert(0, FormField(name="where", about=about, value=where))
    return BuildForm(kind=kind, fields=(*fields, *common))


def _where(kind: SetKind, sets: Sequence[SetLine], chosen: SetLine | None) -> str:
    if chosen is not None and chosen.kind == kind:
        return f"set={chosen.name}@{chosen.version}"
    newest = next((one for one in reversed(sets) if one.kind == kind), None)
    return "" if newest is None else f"set={newest.name}"


def _picks(judges: Sequence[str]) -> list[FormField]:
    return [
        FormField(name="judge", about="the verifier whose verdicts decide", choices=dict.fromkeys(judges, "")),
        FormField(name="each", about="how many of either verdict", value="2"),
    ]


def _balanced(_judges: Sequence[str]) -> list[FormField]:
    quotas = {"": "undivided", "verifybench": "as in the paper", "equal": "evenly", "proportional": "as they are there"}
    fills = {"none": "nobody", "subtypes": "other subtypes of its type", "types": "other types too"}
    return [
        FormField(name="per-type", about="questions of each type; 250"),
        FormField(name="quota", about="how a type is divided among its subtypes", choices=quotas),
        FormField(name="quota-file", about="or a TOML file that says how many of which; instead of both"),
        FormField(name="cap-source", about="the most questions of one source"),
        FormField(name="cap-model", about="the most completions of one model"),
        FormField(name="fill", about="who gives more where a subtype is short", choices=fills),
        _GOLD,
    ]


def _hard(judges: Sequence[str]) -> list[FormField]:
    return [
        FormField(
            name="judges",
            about="verifiers that vote, an odd number; none: those of its queue",
            choices=dict.fromkeys(judges, ""),
            several=True,
        ),
        FormField(name="minority", about="judges on the weaker side; 2, or as its queue"),
        FormField(name="annotate", about="items for people to label; 2000, or as its queue"),
        FormField(name="final", about="tuples of the set", value="1000"),
        _GOLD,
        FormField(name="partial", about="freeze it though some items still wait for labels", choices=_NO_OR_YES),
    ]


def _draw(_judges: Sequence[str]) -> list[FormField]:
    return [
        FormField(name="per-type", about="questions of each type; 2000 in the paper"),
        FormField(name="cap-source", about="the most questions of one source"),
        FormField(name="confirmed", about="only types that count: not one person's or a model's", choices=_NO_OR_YES),
        FormField(name="dataset", about="only questions of this data set"),
        FormField(name="source", about="only questions of this source"),
    ]


_NO_OR_YES: Final = {"no": "", _YES: ""}
_GOLD: Final = FormField(
    name="gold",
    about="whose labels count",
    choices={"people": "agreed, or settled by a third person", "imported": "the file's"},
)


def build(
    project: Project, kind: str, typed: Mapping[str, str], *, dry_run: bool = False, new_version: bool = False
) -> SetReport:
    """Build what a form asks for, or only plan it.

    Args:
        typed: Field -> what stands there; empty where nothing does.

    Raises:
        OptionError: A field can't be read.
        UsageError: As by the build.
    """
    given = _Given(project, typed)
    how: dict[str, Any] = {"name": given.text("name"), "dry_run": dry_run, "new_version": new_version}
    if kind == "hard":
        return build_hard(project, given.hard(), **how)
    how["seed"] = given.number("seed", least=0) or 0
    if kind == "draw":
        seed, name = how.pop("seed"), how.pop("name")
        return draw(project, given.draw(name, seed), **how)
    how["selection"] = given.selection() or Selection()
    if kind == "balanced":
        return build_balanced(project, given.balanced(), **how)
    each = given.required("each")
    return build_picks(project, given.text("judge", "Run a verifier first."), each=each, **how)


class _Given:
    """What stands in the fields, as the builds take it."""

    def __init__(self, project: Project, typed: Mapping[str, str]) -> None:
        self._project, self._typed = project, typed

    def hard(self) -> HardSetOptions:
        """What is asked of a hard set."""
        return HardSetOptions(
            judges=tuple(self._typed.get("judges", "").split()),
            minority=self.number("minority"),
            annotate=self.number("annotate"),
            final=self.required("final"),
            selection=self.selection(),
            seed=self.number("seed", least=0),
            gold=convert(self._typed["gold"], FinalGold),
            partial=self._typed["partial"] == _YES,
        )

    def balanced(self) -> BalancedTargets:
        """What a balanced set is to have."""
        quota, file = self._typed["quota"], self._typed["quota-file"]
        return BalancedTargets(
            per_type=self.number("per-type"),
            quota=convert(quota, Preset) if quota else None,
            file=Path(file).expanduser() if file else None,
            cap_source=self.number("cap-source"),
            cap_model=self.number("cap-model"),
            fill=convert(self._typed["fill"], Fill),
            gold=convert(self._typed["gold"], FinalGold),
        )

    def draw(self, name: str, seed: int) -> DrawWish:
        """Which questions are to be drawn."""
        return DrawWish(
            name=name,
            per_type=self.required("per-type"),
            scope=Scope(dataset=self._typed["dataset"] or None, source=self._typed["source"] or None),
            seed=seed,
            cap_source=self.number("cap-source"),
            confirmed=self._typed["confirmed"] == _YES,
        )

    def text(self, field: str, otherwise: str = "Something has to stand here.") -> str:
        """A text that is not empty."""
        return self._typed[field] or _refuse(field, otherwise)

    def number(self, field: str, *, least: int = 1) -> int | None:
        """A whole number; None where nothing stands."""
        text = self._typed[field].replace(",", "").replace("_", "")
        if not text:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= _LARGEST):
            _refuse(field, f"Write a whole number from {least} on.")
        return int(text)

    def required(self, field: str) -> int:
        """A whole number that has to be there."""
        found = self.number(field)
        return _refuse(field, "Write a whole number from 1 on.") if found is None else found

    def selection(self) -> Selection | None:
        """Which items; None where no condition stands."""
        text = self._typed["where"]
        if not text:
            return None
        try:
            return Selection(browsing.read_conditions(text, browsing.names(self._project)["verdict:"]))
        except UsageError as error:
            _refuse("where", f"{error.message} {error.hint}")


def _refuse(field: str, wrong: str) -> NoReturn:
    raise OptionError(f"{field}: {wrong}", option=field, wrong=wrong)
