"""The options of a command, declared once as an annotated record, which the command line, the Python API and forms use.

    class ValidityOptions(Options):
        verifiers: Verifiers = ()
        gold: Gold = "final"
        size: Annotated[int, option("How many.", ge=1)] = 4

A field's type gives the accepted values, its default the value if the option is omitted (without one it is required),
and its `option` the description and how it is written. Types that several commands share are defined here. A record may
contain another record, such as a selection of problems: front ends show the inner record's fields in its place.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import NODEFAULT, Meta, Struct, structs

from workbench.core.errors import Option, UsageError, opt
from workbench.core.label import coordinator_name
from workbench.core.selection import FIELDS, Selection, selection_of
from workbench.core.text.figures import listed
from workbench.core.text.inert import inert
from workbench.core.verdict import PROTOCOL, GoldChoice, Protocol3

LARGEST = 2**63 - 1
"""Largest count or number: SQLite's largest integer."""


class Options(Struct, frozen=True, kw_only=True):
    """The base class of a command's options."""


class Written(Struct, frozen=True, kw_only=True):
    """The textual form of an option, as on the command line.

    Attributes:
        flags: The option's flags; if empty, ``--name-of-the-field``.
        is_argument: Whether it is positional.
        metavar: The placeholder for its value.
        choices: The accepted words, if the type does not give them.
        meanings: Descriptions of the accepted words, by word; shown in forms.
        shows_default: Whether the help text names the default; None: only if the default is neither empty nor false.
        bare: The value if only the flag is given.
        read: Parses the option's text (for an option with several pairs, each text); raises UsageError if it is
            invalid.
        names_file: Whether an option whose value is text names a file.
        names_verifier: Whether its values are verifiers that have run; forms list them.
        exists: Whether a path must exist.
        dash: Whether "-" stands for standard input, for a path to read.
        output: Set for a path that is written; for a ``"stream"``, "-" stands for standard output.
        folder: Whether a path may be a folder.
        later: Whether the option is rarely needed, so that forms hide it at first.
        only: The actions (values of the option ``verb``) that the option is for, separated by spaces; if empty, all.
        required_by: The actions that require it, separated by spaces.
        needs: The name of the field without which the option has no effect.
        words: For a positional option, the words that each action takes, such as ``{"rename": "NAME NEW_NAME"}``; a
            word in brackets is optional, and one with … repeatable.
    """

    flags: tuple[str, ...] = ()
    is_argument: bool = False
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    meanings: Mapping[str, str] = {}
    shows_default: bool | None = None
    bare: object = None
    read: Callable[[str], Any] | None = None
    names_file: bool = False
    names_verifier: bool = False
    exists: bool = False
    dash: bool = False
    output: Literal["stream", "file"] | None = None
    folder: bool = False
    later: bool = False
    only: str = ""
    required_by: str = ""
    needs: str = ""
    words: Mapping[str, str] | None = None


def option(
    description: str | None = None,
    *flags: str,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    **spelling: Any,
) -> Meta:
    """Declare an option: its description, its bounds, and how it is written (see `Written`)."""
    bounds: dict[str, Any] = {"ge": ge, "gt": gt, "le": le}
    said: dict[str, Any] = {side: bound for side, bound in bounds.items() if bound is not None}
    return Meta(description=description, extra={"written": Written(flags=flags, **spelling)}, **said)


def restricted(**rules: str) -> Meta:
    """Declare, for an option of a shared type, when it applies: ``only``, ``required_by`` or ``needs`` of `Written`."""
    return Meta(extra={"rules": rules})


def argument(metavar: str | None = None, /, **spelling: Any) -> Meta:
    """Declare a positional option (see `Written`)."""
    return Meta(extra={"written": Written(is_argument=True, **(spelling | {"metavar": metavar}))})


def plot_folder(plots: str) -> Meta:
    """Declare the option of a folder that gets these plots."""
    description = f"Write {plots} to this folder, as SVG, PDF and PNG (needs the extra figures)."
    return option(description, metavar="FOLDER", output="file", folder=True)


def split_pair(text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE`` into its two sides.

    Raises:
        UsageError: The text has another form.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        # The value may be a secret key, so it is not shown.
        raise UsageError("It is not KEY=VALUE.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{inert(key)}: it is not valid UTF-8 text.")
    return key, value


def sizes_up_to(most: int) -> Callable[[str], tuple[int, ...]]:
    """Return a parser of ``1,2,4``: whole numbers from 1 to ``most``, sorted."""

    def read(text: str) -> tuple[int, ...]:
        words = text.split(",")
        if not all(word.strip().isdecimal() and len(word) < 10 and 1 <= int(word) <= most for word in words):
            raise UsageError(f"Write whole numbers from 1 to {most:,} separated by commas.")
        return tuple(sorted(set(map(int, words))))

    return read


read_sizes: Final = sizes_up_to(100_000)

Whole = Annotated[int, Meta(ge=1, le=LARGEST)]
"""A count, or a number from 1."""
SeedNumber = Annotated[int, Meta(ge=0, le=LARGEST)]

NONE_GIVEN: Final[dict[str, Any]] = {}
"""The default of options that take KEY=VALUE pairs: none."""

Where = Annotated[
    tuple[str, ...],
    option(
        "Use only items that match a condition, such as type=A; the operators !=, < and > work, too (repeatable: all "
        "must match). "
        f"Fields: {', '.join(FIELDS)}, verdict:NAME, column:NAME.",
        metavar="FIELD=VALUE",
    ),
]
Verifiers = Annotated[tuple[str, ...], option("Include only this verifier (repeatable).", "--verifier", metavar="NAME")]
VerifierSettings = Annotated[
    dict[str, str],
    option("Set an option of the verifier (repeatable).", "-o", "--option", metavar="KEY=VALUE", read=split_pair),
]
VerifierTitle = Annotated[
    str | None, option("Name for the verifier with these options.  [default: the verifier's own name]", "--name")
]
Gold = Annotated[
    GoldChoice,
    option(
        "Gold labels to compare with: final (adjudicated, else agreed, else imported), people (only labels by "
        "annotators) or imported (only labels from the data file)."
    ),
]
Protocol = Annotated[
    Protocol3 | None,
    option(
        "How abstentions and errors are counted: strict (as wrong), forced (as the verdict incorrect) or decided (left "
        f"out).  [default: {PROTOCOL}, unless workbench.toml sets another]"
    ),
]
Run = Annotated[Whole | None, option("Use the run with this number.  [default: the newest complete run]")]
Limit = Annotated[Whole | None, option("Maximum number of items.")]
FirstItems = Annotated[Whole | None, option("Maximum number of items; the first ones are used.", "--limit")]
Drawn = Annotated[Whole | None, option("Maximum number of items, drawn at random.", "--limit")]
Seed = Annotated[
    SeedNumber, option("Seed of the random draw; with the same seed, a larger draw contains the smaller one.")
]
BootstrapSeed = Annotated[SeedNumber, option("Seed of the bootstrap resampling.")]
Workers = Annotated[int | None, option("Number of worker processes.  [default: one per core]", ge=1, le=256)]
OnCluster = Annotated[
    str | None,
    option(
        "Run on the nodes of a Ray cluster: ray (the cluster of this machine) or ray://HOST:PORT.",
        "--on",
        metavar="CLUSTER",
    ),
]
By = Annotated[str, option("Name recorded as the author of the decision.", metavar="NAME")]
BY: Final[Any] = msgspec.field(default_factory=coordinator_name)
"""Default of the option for the acting person: the name of the logged-in user."""
Force = Annotated[bool, option("Overwrite an existing file.")]
Trust = Annotated[
    bool,
    option(
        "Trust the model servers, API key variables and prompt templates that workbench.toml or the database names."
    ),
]
AllowUnsafe = Annotated[
    bool,
    option(
        "Allow solutions to run with resource limits only (level L1): malicious code could then read and "
        "change your files.",
        "--allow-unsafe-execution",
    ),
]
DatabaseOrFile = Annotated[str | None, argument("[DB]", names_file=True)]
Database = Annotated[str, argument("DB", names_file=True)]


class Basis(Options, frozen=True, kw_only=True):
    """The basis of metrics: which items count, what is their gold, and how abstentions are counted (the protocol)."""

    protocol: Protocol = None
    gold: Gold = "final"
    where: Where = ()

    @property
    def selection(self) -> Selection:
        return selection_of(self.where)


TableFormat = Literal["text", "csv", "markdown", "latex"]
_LABEL = re.compile(r"[\w:.+-]{1,100}", re.ASCII)


PEOPLE: Final = "names separated by commas or blanks"


def split_people(text: str) -> tuple[str, ...]:
    """Split people's names at commas or spaces; names with spaces must be separated by commas or quoted.

    Raises:
        UsageError: A quote is not closed, or there is no name.
    """
    try:
        names = (name.strip("\"'") for name in names_between_commas(text)) if "," in text else shlex.split(text)
    except ValueError:
        raise UsageError("A quote is not closed.", "Put commas between the names.") from None
    if found := tuple(filter(None, names)):
        return found
    raise UsageError(f"No name is given in {text!r}.", "Separate names by commas or spaces.")


def split_people_words(words: Sequence[str]) -> tuple[str, ...]:
    """Split words into people's names: a word is one name, or several names separated by commas."""
    return tuple(name for word in words for name in names_between_commas(word))


def names_between_commas(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


class TableForm(Options, frozen=True, kw_only=True):
    """The format of tables, and which columns and rows are written. CSV always has all metrics at full precision.

    Raises:
        UsageError: Columns or rows are chosen for a format that always has all, or the label is invalid.
    """

    format: Annotated[
        TableFormat, option("Output format: csv has all metrics at full precision; latex needs the package booktabs.")
    ] = "text"
    columns: Annotated[
        tuple[str, ...],
        option(
            "Show only these table columns, named by their headings, in this order.",
            metavar="NAME[,NAME…]",
            read=names_between_commas,
        ),
    ] = ()
    label: Annotated[str, option("Label of the LaTeX table, for \\ref; further tables get the suffixes -2, -3 …")] = ""
    no_baselines: Annotated[bool, option("Omit the rows of baselines from tables.")] = False

    def __post_init__(self) -> None:
        if self.format == "csv" and self.is_choosing:
            raise UsageError(
                "CSV always has all columns and rows.",
                f"Leave {opt.columns} and {opt.no_baselines} out, or {opt.format:csv}.",
            )
        if self.label and self.format != "latex":
            raise UsageError("Only LaTeX has labels.", f"Add: {opt.format:latex}")
        if self.label and not _LABEL.fullmatch(self.label):
            raise UsageError(
                f"{inert(self.label)!r} is not a valid label.",
                "Use letters, digits, and : . _ + -, such as tab:accuracy.",
            )

    @property
    def is_choosing(self) -> bool:
        return bool(self.columns) or self.no_baselines


# -- A record as read by front ends.


Asked = TypeVar("Asked", bound=Options)
T = TypeVar("T")


class RecordField(NamedTuple):
    """A field of a record.

    Attributes:
        type: The type of its value without None; if it takes several values, the type of one.
        is_several: Whether the option takes any number of values.
        flags: The option's flags; the first one is its name.
        default: The default value; `msgspec.NODEFAULT` if the option is required.
        bounds: The bounds ``ge``, ``gt`` and ``le`` that it has.
    """

    name: str
    type: Any
    is_several: bool
    flags: tuple[str, ...]
    description: str | None
    default: Any
    bounds: dict[str, Any]
    written: Written

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT

    @property
    def shown(self) -> str:
        """Return its name for messages."""
        if self.written.is_argument:
            return (self.written.metavar or self.name.upper()).strip("[]")
        return str(Option(self.flags[-1].lstrip("-")))


def fields_of(record: type[Options]) -> Iterator[RecordField]:
    """Yield the fields of a record in order; a contained record is replaced by its fields."""
    hints = get_type_hints(record, include_extras=True)
    for field in structs.fields(record):
        if _is_record(hints[field.name]):
            yield from fields_of(hints[field.name])
            continue
        default = field.default if field.default_factory is NODEFAULT else field.default_factory()
        yield field_of(field.name, hints[field.name], default)


def build_record(record: type[Asked], said: Mapping[str, Any]) -> Asked:
    """Build a record, and the records in it, from values by field name; other fields get their defaults."""
    hints = get_type_hints(record)
    given = {name: build_record(hint, said) for name, hint in hints.items() if _is_record(hint)}
    return record(**given, **{name: said[name] for name in record.__struct_fields__ if name in said})


def require_fitting(options: Options, command: str) -> None:
    """Check that the given options go together, as their declarations say.

    Args:
        command: The command's name, for messages.

    Raises:
        UsageError: An option is for another action, or lacks the option that it needs; or the action takes other words.
    """
    values = dict(_fields_with_values(options))
    action = values.get("verb", "")
    fields = {field.name: field for field in fields_of(type(options))}
    for name, field in fields.items():
        value, written = values[name], field.written
        if written.words is not None:
            words = written.words.get(action, "")
            if not _are_fitting(words, len(value) if isinstance(value, tuple) else int(value not in (None, ""))):
                raise UsageError(f"Write: {command} DB {action} {words}".rstrip())
        elif value == field.default:
            if action in written.required_by.split():
                raise UsageError(f"{action} requires {field.shown}.")
        elif written.only and action not in written.only.split():
            raise UsageError(f"{field.shown} is only for {listed(written.only.split())}.")
        elif (other := fields.get(written.needs)) is not None and values[other.name] == other.default:
            raise UsageError(f"{field.shown} requires {other.shown}.")


def require_one(options: Options, *names: str, optional: bool = False) -> None:
    """Check that one of these options is given, and no other of them.

    Args:
        names: Names of fields.
        optional: Whether all may be left out.

    Raises:
        UsageError: Several are given, or none.
    """
    fields = {field.name: field for field in fields_of(type(options))}
    count = sum(getattr(options, name) != fields[name].default for name in names)
    if count > 1 or not (count or optional):
        raise UsageError(f"Give one of {listed([fields[name].shown for name in names])}.")


def _are_fitting(words: str, count: int) -> bool:
    names = words.split()
    fewest = sum(not name.startswith("[") for name in names)
    return fewest <= count and (count <= len(names) or "…" in words)


def run_job(job: Callable[..., T], options: Options, /, *args: Any, **more: Any) -> T:
    """Call a job with the fields of the options that it takes, by name; ``selection`` is derived from ``where``.

    Fields that the job has no parameter for are left out.

    Args:
        args: Its first arguments.
        more: Arguments that are not fields, or replace one.

    Raises:
        TypeError: The job has ``**`` parameters, so the fields that it takes are unknown.
    """
    given = dict(_fields_with_values(options))
    if "where" in given:
        given["selection"] = selection_of(given["where"])
    parameters = inspect.signature(job).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        raise TypeError(f"{job} has to name the options that it takes.")
    taken = [one.name for one in parameters][len(args) :]
    return job(*args, **{name: given[name] for name in taken if name in given} | more)


def _fields_with_values(options: Options) -> Iterator[tuple[str, Any]]:
    for name in options.__struct_fields__:
        value = getattr(options, name)
        yield name, value
        if isinstance(value, Options):
            yield from _fields_with_values(value)


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Options)


def field_of(name: str, hint: Any, default: Any) -> RecordField:
    type_, metas = _split_annotation(hint)
    extras = [meta.extra for meta in reversed(metas) if meta.extra]
    written = next((extra["written"] for extra in extras if "written" in extra), Written())
    written = structs.replace(written, **next((extra["rules"] for extra in extras if "rules" in extra), {}))
    is_several = get_origin(type_) is dict or (get_origin(type_) is tuple and written.read is None)
    if get_origin(type_) is tuple and is_several:
        type_, more = _split_annotation(get_args(type_)[0])
        metas = [*metas, *more]
    return RecordField(
        name=name,
        type=type_,
        is_several=is_several,
        flags=written.flags or (f"--{name.rstrip('_').replace('_', '-')}",),
        description=next((meta.description for meta in reversed(metas) if meta.description), None),
        default=default,
        bounds={side: bound for meta in metas for side in _SIDES if (bound := getattr(meta, side)) is not None},
        written=written,
    )


_SIDES: Final = ("ge", "gt", "le")


def _split_annotation(hint: Any) -> tuple[Any, list[Meta]]:
    metas: list[Meta] = []
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            metas = [*(one for one in more if isinstance(one, Meta)), *metas]
        elif get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
            hint = Union[tuple(one for one in get_args(hint) if one is not NoneType)]  # noqa: UP007
        else:
            return hint, metas


Record = TypeVar("Record", bound=Struct)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def record_from(kind: type[Record], source: object, /, **others: Any) -> Record:
    """Build a record from `others`, and for all other fields from the attributes of `source` with the same names."""
    names = [name for name in kind.__struct_fields__ if name not in others and hasattr(source, name)]
    return kind(**{name: getattr(source, name) for name in names}, **others)


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, in the order of the pairs; keys are in the order of their first pair."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
