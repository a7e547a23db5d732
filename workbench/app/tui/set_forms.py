"""The form for building a benchmark set, and the build itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from workbench.app.tui.form import FormField
from workbench.benchmarks.building.balanced import FILE_SAYS_ALL, build_balanced
from workbench.benchmarks.building.hard import build_hard, queue_name
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.curating.drawing import draw
from workbench.benchmarks.options import PRESETS, BalancedOptions, DrawOptions, HardOptions, PicksOptions
from workbench.benchmarks.records import SetLine
from workbench.core.errors import OptionError, UsageError
from workbench.core.options import Options, RecordField, build_record, fields_of
from workbench.core.project import Project
from workbench.core.sets import SetKind, SetReport
from workbench.measuring import browsing

KINDS: Final = {
    "picks": "2 + 2 completions per question by a judge's verdicts, to label",
    "balanced": "a quota of questions per type, with one correct and one incorrect completion each",
    "hard": "items on which judges are split: first the queue to label, then the set",
    "draw": "a quota of questions per type from the pool",
}
"""Kind of set -> its description."""

_BUILDS: Final[dict[str, tuple[type[Options], Callable[[Project, Any], SetReport]]]] = {
    "picks": (PicksOptions, build_picks),
    "balanced": (BalancedOptions, build_balanced),
    "hard": (HardOptions, build_hard),
    "draw": (DrawOptions, draw),
}
_YES: Final = "yes"
_NO_OR_YES: Final = {"no": "", _YES: ""}


class BuildForm(Struct, frozen=True, kw_only=True):
    kind: str
    fields: tuple[FormField, ...]


def prefilled_form(kind: str, judges: Sequence[str], sets: Sequence[SetLine], chosen: SetLine | None) -> BuildForm:
    """Return a form with initial values: the source set is the one under the cursor, else the newest suitable one.

    Args:
        kind: One of `KINDS`.
        judges: Names of the verifiers that have a complete run.
        sets: All sets, in the order they were frozen.
    """
    begin: dict[str, str] = {}
    if kind == "hard" and chosen is not None and chosen.kind == "queue":
        begin["name"] = chosen.name.removesuffix(queue_name(""))
    elif kind != "draw":
        begin["where"] = _where("picks" if kind == "balanced" else "draw", sets, chosen)
    known = {field.name: field for field in fields_of(_BUILDS[kind][0])}
    lines = {name: _line(known.get(name), name, about, judges) for name, about in _LINES[kind].items()}
    return BuildForm(
        kind=kind, fields=tuple(replace(line, value=begin.get(name, line.value)) for name, line in lines.items())
    )


def _where(kind: SetKind, sets: Sequence[SetLine], chosen: SetLine | None) -> str:
    if chosen is not None and chosen.kind == kind:
        return f"set={chosen.name}@{chosen.version}"
    newest = next((one for one in reversed(sets) if one.kind == kind), None)
    return "" if newest is None else f"set={newest.name}"


_FILE: Final = "quota-file"
_WHERE: Final = "which items: conditions such as set=NAME type=A; empty: all"
_LINES: Final[dict[str, dict[str, str]]] = {
    "picks": {"judge": "", "each": "", "where": _WHERE, "seed": "", "name": ""},
    "balanced": {
        "per_type": "",
        "quota": "how a type is divided among its subtypes",
        _FILE: "TOML file with quotas, which replaces per-type and quota",
        "cap_source": "maximum questions per source",
        "cap_model": "maximum completions per model",
        "fill": "what fills a shortfall of a subtype",
        "gold": "source of labels",
        "where": _WHERE,
        "seed": "",
        "name": "",
    },
    "hard": {
        "judges": "verifiers that vote, an odd number; empty: those of the queue",
        "minority": "judges in the minority; empty: 2, or as in the queue",
        "annotate": "items to label; empty: 2000, or as in the queue",
        "strata": "how items are divided among domains and sources",
        "final": "",
        "gold": "source of labels",
        "partial": "freeze it even if some items still need labels",
        "where": f"{_WHERE}, or those of the queue",
        "seed": "seed of the draws; empty: 0, or that of the queue",
        "name": "",
    },
    "draw": {
        "per_type": "questions of each type; 2000 in the paper",
        "cap_source": "maximum questions per source",
        "confirmed": "use only confirmed types, not those of one annotator or a model",
        "dataset": "",
        "source": "",
        "seed": "",
        "name": "",
    },
}
"""Kind of set -> field, in the form's order -> its explanation; "" to use the option's help."""
_CHOICES: Final[dict[str, dict[str, str]]] = {
    "quota": {"": "undivided", "verifybench": "as in the paper", "equal": "evenly", "proportional": "as in the data"},
    "strata": {"": "as in the queue, or in proportion", "proportional": "in proportion", "equal": "evenly"},
    "fill": {"none": "nothing", "subtypes": "other subtypes of its type", "types": "other types too"},
    "gold": {"people": "agreed, or decided by a third person", "imported": "those of the imported file"},
}


def _line(field: RecordField | None, name: str, about: str, judges: Sequence[str]) -> FormField:
    if field is None:
        return FormField(name=name, about=about)
    votes = field.name in ("judge", "judges")
    choices = dict.fromkeys(judges, "") if votes else _NO_OR_YES if field.type is bool else _CHOICES.get(name, {})
    is_empty = field.is_required or field.is_several or field.default is None or field.default is False
    return FormField(
        name=_shown(field),
        about=about or _words(field.description or ""),
        value="" if is_empty else str(field.default),
        choices=choices,
        several=field.is_several and votes,
    )


def _shown(field: RecordField) -> str:
    return field.name.replace("_", "-")


def _words(help: str) -> str:
    words, _, unsaid = help.partition("  [default: ")
    words = f"{words[:1].lower()}{words[1:].removesuffix('.')}"
    return f"{words}; {unsaid.removesuffix(']')}" if unsaid else words


def build(
    project: Project, kind: str, typed: Mapping[str, str], *, dry_run: bool = False, new_version: bool = False
) -> SetReport:
    """Build the set, or only plan it.

    Args:
        typed: Field -> its value; "" for none.

    Raises:
        OptionError: A field can't be parsed.
        UsageError: The set can't be built like this.
    """
    record, make = _BUILDS[kind]
    asked = (field for field in fields_of(record) if _shown(field) in typed)
    given = {field.name: _value(project, field, typed[_shown(field)]) for field in asked}
    if file := typed.get(_FILE):
        if given["quota"] is not None:
            raise UsageError(*FILE_SAYS_ALL)
        path = Path(file).expanduser()
        given["quota"] = str(path.absolute() if file in PRESETS else path)
    return make(project, build_record(record, {**given, "dry_run": dry_run, "new_version": new_version}))


def _value(project: Project, field: RecordField, text: str) -> Any:
    if not text and not field.is_required and not field.default:
        return field.default
    if field.name == "where":
        return _conditions(project, text)
    if field.type is int:
        return _number(field, text.replace(",", "").replace("_", ""))
    if field.type is bool:
        return text == _YES
    if field.is_several:
        return tuple(text.split())
    return text or _refuse(field, "Run a verifier first." if field.name == "judge" else "A value is required.")


def _number(field: RecordField, text: str) -> int:
    least, most = field.bounds["ge"], field.bounds["le"]
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        _refuse(field, f"Write a whole number of at least {least}.")
    return int(text)


def _conditions(project: Project, text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, browsing.read_conditions(text, browsing.field_values(project)["verdict:"])))
    except UsageError as error:
        raise OptionError("where", str(error)) from None


def _refuse(field: RecordField, wrong: str) -> NoReturn:
    raise OptionError(_shown(field), wrong)
