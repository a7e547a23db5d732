"""Reads ``[verifiers.NAME]``: configured verifiers, with the options that ``-o`` has on the command line."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from workbench.config.file import loads, read_settings, read_text, require_table, table_in, write_whole
from workbench.core.errors import Command, UsageError, opt

NAME = re.compile(r"[\w.+@/-]{1,100}")
"""Valid names of verifiers."""
TEMPLATE = "template"
"""Option: a file with a custom prompt."""
PUBLISHED = "published"
"""Option: the folder of a paper's repository, whose prompt is used unchanged."""
TEMPLATE_VERSION = "template_version"
"""Option: the version of a built-in template."""
SEARCHED = ("reward_tests", "traj_weight")
"""Options of a search whose defaults have changed since; a search that was started before keeps its values."""
PUBLISHED_FILES = {True: "prompt/w_ref.txt", False: "prompt/wo_ref.txt"}
"""Paths of the prompts in such a repository, by whether the prompt contains the reference answer."""
PROMPTS = "prompts"
"""Option: a folder with a file for each role of a search."""
SUBTASKS = "subtasks"
"""Option: a file with a list of subtasks."""
OWN_PROMPTS = frozenset({TEMPLATE, PUBLISHED, PROMPTS, SUBTASKS})
"""Options that name a file or a folder with custom prompts."""
PROMPT_FOLDERS = frozenset({PUBLISHED, PROMPTS})
"""Options of `OWN_PROMPTS` that name a folder."""
PRINTED = ".txt"
"""Suffix of a prompt file as printed in a paper."""
ROLE_FILES = (PRINTED, ".toml")
"""Suffixes of a role's file."""
EXAMPLES = "examples"
"""Option: the number of adjudicated items shown to a judge."""
EXAMPLES_DRAWN = "examples_drawn"
"""Internal option: the items drawn as examples, fixed when a name is bound to a configuration."""
MEMBERS = "members"
"""Option: the verifiers on a panel."""
MEMBERS_MADE = "members_made"
"""Internal option: the kinds and options of a panel's members at the start of a run."""
STAGES_MADE = "stages_made"
"""Internal option: the kinds and options of a stack's stages at the start of a run."""
_OPTION = re.compile(r"[a-z][a-z0-9_]{0,40}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_SAMPLING = "sampling"
_TABLES = (".extra_body", ".test_extra_body", ".extra_headers")
"""Options that are JSON on the command line."""
_EXAMPLE = '[verifiers.my-judge] kind = "llm-judge", base_url = "http://localhost:8000/v1", model = "…"'
_MAX_TEMPLATE = 256 * 1024


class NamedVerifier(Struct, frozen=True, kw_only=True):
    """A verifier configured in the settings file.

    Attributes:
        options: Option values by name, all as text; the value of a template is its path.
        place: The entry's location, ``FILE:verifiers.NAME``, for messages.
    """

    name: str
    kind: str
    options: dict[str, str]
    place: str


class PanelMember(Struct, frozen=True, kw_only=True):
    name: str
    kind: str
    options: dict[str, str]


def members_in(options: Mapping[str, str]) -> tuple[PanelMember, ...]:
    """Return the members in the options of a panel; empty for other verifiers.

    Raises:
        ValueError: The members can't be read.
    """
    return _read_members(options, MEMBERS_MADE)


def stages_in(options: Mapping[str, str]) -> tuple[PanelMember, ...]:
    """Return the verifiers in the options of a stack, each once; empty for other verifiers.

    Raises:
        ValueError: The verifiers can't be read.
    """
    return _read_members(options, STAGES_MADE)


def all_options_in(options: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the options of a verifier and, recursively, of all its members.

    Raises:
        ValueError: The members can't be read.
    """
    yield options
    for one in (*members_in(options), *stages_in(options)):
        yield from all_options_in(one.options)


def _read_members(options: Mapping[str, str], name: str) -> tuple[PanelMember, ...]:
    try:
        return msgspec.json.decode(options.get(name, "[]"), type=tuple[PanelMember, ...])
    except msgspec.MsgspecError as error:
        raise ValueError(f"{name}: {error}") from None


def verifiers(database: Path) -> dict[str, NamedVerifier | UsageError]:
    """Return the verifiers in the settings file by name; the value of an invalid entry is an error that explains it.

    Raises:
        UsageError: The file can't be read, or ``verifiers`` is not a table.
    """
    place, table = table_in(database, "verifiers", _EXAMPLE)
    found: dict[str, NamedVerifier | UsageError] = {}
    for name, entry in table.items():
        try:
            found[name] = _parse_entry(database.parent, place, name, entry)
        except UsageError as error:
            found[name] = error
    return found


def named_verifier(database: Path, name: str) -> NamedVerifier | None:
    """Return a verifier of the settings file; None if it is not configured.

    Raises:
        UsageError: The file or the entry is invalid.
    """
    found = verifiers(database).get(name)
    if isinstance(found, UsageError):
        raise found
    return found


def custom_prompt_files(options: Mapping[str, str]) -> list[Path]:
    files = [Path(options[option]) for option in (TEMPLATE, SUBTASKS) if option in options]
    if PUBLISHED in options:
        released = (Path(options[PUBLISHED]) / file for file in PUBLISHED_FILES.values())
        files += [path for path in released if path.is_file()]
    if PROMPTS in options:
        files += role_files(Path(options[PROMPTS]))
    return files


def role_files(folder: Path) -> list[Path]:
    """Return the prompt files in a folder, one per role, sorted by name.

    Raises:
        UsageError: The folder doesn't exist or can't be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in ROLE_FILES and path.is_file())
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}.", "prompts= needs a folder of prompts.") from error


def read_template(path: Path) -> str:
    """Return the text of a template file.

    Raises:
        UsageError: The file doesn't exist, is not UTF-8 or is too large.
    """
    try:
        return read_text(path, _MAX_TEMPLATE)
    except FileNotFoundError:
        raise UsageError(f"There is no template {path}.") from None


def _parse_entry(folder: Path, place: str, name: str, entry: Any) -> NamedVerifier:
    if not NAME.fullmatch(name):
        raise UsageError(f"{place}.{name!r} is not a valid verifier name.", "Up to 100 letters, digits and . _ + @ / -")
    place = f"{place}.{name}"
    fields = dict(require_table(place, entry, _EXAMPLE))
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or not kind:
        raise UsageError(f"{place}.kind must name a kind of verifier.", "List them with", Command("verifiers DB"))
    options = options_in(place, fields)
    for option in OWN_PROMPTS & options.keys():
        options[option] = str(
            resolve_inside(folder, f"{place}.{option}", options[option], folder=option in PROMPT_FOLDERS)
        )
    _require_within(folder, place, custom_prompt_files(options))
    return NamedVerifier(name=name, kind=kind, options=options, place=place)


def _require_within(home: Path, place: str, files: Iterable[Path]) -> None:
    """Check that no prompt file in a folder is a link that leads out of the project's folder.

    Raises:
        UsageError: A file is such a link.
    """
    for path in files:
        if not path.resolve().is_relative_to(home.resolve()):
            raise UsageError(
                f"{place}: {path} is outside the project's folder.", "Templates must be next to the database."
            )


def options_in(place: str, fields: dict[str, Any]) -> dict[str, str]:
    """Return the options in a table as text, as they would be written on the command line.

    Args:
        place: The table's location, for messages.

    Raises:
        UsageError: A field can't be an option. The message names the field, but not its value, which may be a secret
            key.
    """
    options = {key: _value_text(f"{place}.{key}", value) for key, value in _flatten_fields(place, fields).items()}
    if (variable := options.get("api_key_env")) is not None and not _VARIABLE.fullmatch(variable):
        raise UsageError(
            f"{place}.api_key_env is not the name of an environment variable.",
            "Put the key into an environment variable, and write the variable's name here.",
        )
    _require_no_program(place, options)
    return options


def _require_no_program(place: str, options: Mapping[str, object]) -> None:
    """Check that a project's file, which may come from another person, sets no program that prints an API key.

    Raises:
        UsageError: The table sets such a program.
    """
    if "api_key_command" in options:
        raise UsageError(
            f"{place}.api_key_command is not allowed in a project's file: it would start a program chosen by the file.",
            f"Give it where you start the run: {opt.option:api_key_command=…}",
        )


def _flatten_fields(place: str, fields: dict[str, Any]) -> dict[str, Any]:
    sampling = require_table(f"{place}.{_SAMPLING}", fields.pop(_SAMPLING, {}), "sampling = { temperature = 0.0 }")
    prompt = {TEMPLATE: fields.pop("prompt")} if "prompt" in fields else {}
    flat: dict[str, Any] = {}
    for part in (fields, prompt, sampling):
        for key, value in part.items():
            if not _OPTION.fullmatch(key):
                raise UsageError(f"{place}.{key!r} is not an option name.", "Use small letters, digits and _.")
            if key in flat:
                raise UsageError(
                    f"{place}.{key} occurs twice.", f"It is given both directly and in {_SAMPLING} or prompt: keep one."
                )
            flat[key] = value
    return flat


def _value_text(place: str, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case dict() if place.endswith(_TABLES):
            with suppress(TypeError, ValueError):
                return json.dumps(value, ensure_ascii=False, allow_nan=False)
        case [str(), *_] if all(isinstance(one, str) and "," not in one for one in value):
            return ",".join(map(str, value))
    raise UsageError(f"{place} must be text, a number, true or false, or a list of texts without commas.")


def resolve_inside(home: Path, place: str, name: str, *, folder: bool = False) -> Path:
    """Resolve a file or folder within the project's own folder.

    Raises:
        UsageError: The name leads out of the folder, by its spelling or by a link, or the file doesn't exist.
    """
    path = Path(name)
    try:
        real, home = (home / path).resolve(), home.resolve()
        stays = not path.is_absolute() and ".." not in path.parts and real.is_relative_to(home)
    except (OSError, ValueError, RuntimeError):
        stays = False
    if not stays:
        raise UsageError(
            f"{place}: {name!r} is not inside the project's folder.", "Templates must be next to the database."
        )
    if not (real.is_dir() if folder else real.is_file()):
        what = "folder" if folder else "file"
        raise UsageError(f"{place}: there is no {what} {name!r} in the project's folder.")
    return real


# -- Adding a verifier to the settings file; the rest of the file, including comments, stays unchanged.


Value = str | int | float | bool


def save_verifier(path: Path, name: str, kind: str, options: Mapping[str, Value]) -> None:
    """Write ``[verifiers.NAME]`` into a settings file, replacing an earlier entry of that name.

    Args:
        path: The settings file; created if missing.
        name: The verifier's name.
        kind: The verifier's kind.
        options: Option values by name.

    Raises:
        UsageError: The name is invalid, or the file is not TOML, can't contain the entry, or can't be read or written.
    """
    from tomlkit.exceptions import TOMLKitError

    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid verifier name.", "Use up to 100 letters, digits and . _ + @ / -")
    _require_no_program(f"{path}:verifiers.{name}", options)
    try:
        before = read_settings(path)
    except FileNotFoundError:
        before = ""
    entry = {"kind": kind, **options}
    try:
        wanted = loads(before)
        after = _with_entry(before, name, entry)
        wanted.setdefault("verifiers", {})[name] = entry
        kept = tomllib.loads(after) == wanted
    except (ValueError, TypeError, AttributeError, RecursionError, TOMLKitError) as error:
        raise UsageError(f"{path}: {error}", "Is it TOML, with a table verifiers?") from error
    if not kept:
        raise UsageError(
            f"{path} is written in a form to which no verifier can be added.", f"Write [verifiers.{name}] by hand."
        )
    write_whole(path, after)


def _with_entry(text: str, name: str, entry: dict[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if "verifiers" not in document:
        document["verifiers"] = tomlkit.table(is_super_table=True)
    named: Any = document["verifiers"]
    if name not in named:
        named[name] = tomlkit.table()
    for key in [key for key in named[name] if key not in entry]:
        del named[name][key]
    named[name].update(entry)
    return tomlkit.dumps(document)
