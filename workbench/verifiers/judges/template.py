"""Templates: what a judge is told, as TOML files with placeholders. Ours and a user's have one format."""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct, structs

from workbench.config.toml import loads
from workbench.core.errors import UsageError
from workbench.llm.records import Role, Sampling
from workbench.verifiers.judges.parsers import parser
from workbench.verifiers.judges.placeholders import misplaced, required, used

ITEM_NAMES: Final = frozenset({"question", "reference", "completion", "example"})
"""Placeholders for an item's texts; the name of an earlier call stands for what was replied to it."""

MAX_BYTES = 256 * 1024
"""A template file is no longer than this."""

_FOLDER = Path(__file__).with_name("templates")
_FIELD = re.compile(r"field `(\w+)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_SAID_LINE = re.compile(r"\(at line (\d+),")
_NOTHING_CHOSEN = Sampling()

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]*$", max_length=100)]
CallName = Annotated[str, Meta(pattern=r"^[a-z][a-z_]+$", max_length=100)]


class _MessageForm(Struct, frozen=True, forbid_unknown_fields=True):
    role: Role
    content: Annotated[str, Meta(min_length=1)]


class _SamplingForm(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    temperature: Annotated[float, Meta(ge=0)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None


class _CallForm(Struct, frozen=True, forbid_unknown_fields=True):
    name: CallName
    messages: Annotated[tuple[_MessageForm, ...], Meta(min_length=1)]
    sampling: _SamplingForm = _SamplingForm()


class _TemplateFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A template file."""

    id: Name
    version: Annotated[int, Meta(ge=1)]
    parser: str
    calls: Annotated[tuple[_CallForm, ...], Meta(min_length=1)]
    sampling: _SamplingForm = _SamplingForm()


class TemplateCall(Struct, frozen=True, kw_only=True):
    """One request of a template.

    Attributes:
        messages: Roles and texts with placeholders.
        names: The placeholders in them.
        required: Those that stand outside a section of their own, so that nothing else can be asked without them.
        sampling: The template's, with what the user chose over it and the call's own settings over both.
    """

    name: str
    messages: tuple[tuple[Role, str], ...]
    names: frozenset[str]
    required: frozenset[str]
    sampling: Sampling


class Template(Struct, frozen=True, kw_only=True):
    """What a judge is told.

    Attributes:
        parser: Which parser reads the last reply, as `parsers.parser` takes it.
        calls: One request or several, in their order.
        sha256: Of the file's bytes, in hexadecimal.
    """

    id: str
    version: int
    parser: str
    calls: tuple[TemplateCall, ...]
    sha256: str

    def call(self, name: str) -> TemplateCall:
        """The call of that name.

        Raises:
            KeyError: There is none.
        """
        return {call.name: call for call in self.calls}[name]


def builtin(name: str, chosen: Sampling = _NOTHING_CHOSEN, names: frozenset[str] = frozenset()) -> Template:
    """One of our own templates; arguments as with `read`."""
    path = _FOLDER / f"{name}.toml"
    return read(_bytes(path), path.name, chosen, names)


def from_file(path: Path, chosen: Sampling = _NOTHING_CHOSEN) -> Template:
    """A user's own template.

    Raises:
        UsageError: The file can't be read or is no template; the message names file, line and field.
    """
    try:
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file.", "template= takes a TOML file.")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: a template has at most {MAX_BYTES // 1024} KiB.")
    template = read(data, str(path), chosen)
    if not any("completion" in call.names for call in template.calls):
        raise UsageError(f"{path}: none of its calls shows the completion.", "Put {completion} where it is to stand.")
    return template


def read(data: bytes, where: str, chosen: Sampling = _NOTHING_CHOSEN, names: frozenset[str] = frozenset()) -> Template:
    """A template from a file's bytes.

    Args:
        data: UTF-8 TOML.
        where: The file's name, for messages.
        chosen: Sampling that goes before the template's.
        names: Placeholders that may stand in it besides an item's texts and the names of earlier calls.

    Raises:
        UsageError: It is no template; the message names file, line and field.
    """
    try:
        text = data.decode()
        form = msgspec.convert(loads(text), _TemplateFile)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{where}:{line}: {error}.", "A template is UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        said = _SAID_LINE.search(str(error))
        line = int(said[1]) if said else text.count("\n") + 1
        raise UsageError(f"{where}:{line}: {error}.", "Correct that line.") from error
    except RecursionError as error:
        raise UsageError(f"{where}: brackets in brackets, too deep for TOML.") from error
    except msgspec.ValidationError as error:
        line = _line(text, _place(text, str(error)))
        raise UsageError(f"{where}:{line}: {error}.", "docs/judges.md shows the format.") from error
    _check_parser(form.parser, where, text)
    calls: list[TemplateCall] = []
    known = ITEM_NAMES | names
    for number, call in enumerate(form.calls):
        path = f"`$.calls[{number}]"
        if call.name in known:
            line = _line(text, _place(text, f"{path}.name`"))
            raise UsageError(f"{where}:{line}:name: {call.name!r} already stands for a text.", "Choose another name.")
        for place, message in enumerate(call.messages):
            slip = misplaced(message.content, known)
            if slip is not None:
                start = _place(text, f"{path}.messages[{place}].content`")
                line = _line(text, max(start, text.find(slip.mark, start)))
                raise UsageError(f"{where}:{line}:content: {slip.message}", slip.hint)
        calls.append(_call(call, known, (form.sampling, chosen, call.sampling)))
        known |= {call.name}
    return Template(
        id=form.id,
        version=form.version,
        parser=form.parser,
        calls=tuple(calls),
        sha256=hashlib.sha256(data).hexdigest(),
    )


@lru_cache(maxsize=64)
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def _call(form: _CallForm, known: frozenset[str], sampling: tuple[Struct, ...]) -> TemplateCall:
    contents = [message.content for message in form.messages]
    settings: dict[str, float] = {}
    for one in sampling:
        settings |= {name: value for name, value in structs.asdict(one).items() if value is not None}
    return TemplateCall(
        name=form.name,
        messages=tuple((message.role, message.content) for message in form.messages),
        names=frozenset().union(*(used(content, known) for content in contents)),
        required=frozenset().union(*(required(content, known) for content in contents)),
        sampling=msgspec.convert(settings, Sampling),
    )


def _check_parser(name: str, where: str, text: str) -> None:
    try:
        parser(name)
    except UsageError as error:
        line = _line(text, _place(text, "`$.parser`"))
        raise UsageError(f"{where}:{line}:parser: {error.message}", error.hint) from error


def _line(text: str, place: int) -> int:
    """The line of a place, from 1."""
    return text.count("\n", 0, place) + 1


def _place(text: str, message: str) -> int:
    """The place a validation error is about: the path in its message, followed through the file's headings and keys."""
    path = message.partition("`$")[2].partition("`")[0] + "".join(f".{name}" for name in _FIELD.findall(message))
    at, last = 0, ""
    for key, index in _STEP.findall(path):
        last = key or last
        heading = rf"\[+[\w.]*\b{last}\]"
        pattern = rf"^[ \t]*(?:{heading}|(?:\w+\.)*{last}[ \t]*=)" if key else rf"^[ \t]*{heading}"
        for _ in range(1 if key else int(index)):
            found = re.compile(pattern, re.MULTILINE).search(text, at)
            at = found.end() if found else at
    return at
