"""A judge's custom template: created from the one that a run used, validated, and saved to a file.

The file is next to the database, and needs the same approval as other templates: no server gets it before the user has
approved it. A template that a verifier uses is never replaced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.config.file import FILE_NAME, write_whole
from workbench.config.verifiers import (
    PROMPTS,
    PUBLISHED,
    TEMPLATE,
    TEMPLATE_VERSION,
    NamedVerifier,
    read_template,
    role_files,
    verifiers,
)
from workbench.core.errors import UsageError, opt
from workbench.core.files import temporary_folder
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.llm.records import Sampling
from workbench.runs.previewing import PreviewedCall, preview_calls
from workbench.runs.store import runs as stored_runs
from workbench.verifiers.judges.published import ANSWER, PublishedPrompt, prompt_named, read_prompt, release_note
from workbench.verifiers.judges.roles import ROLES, general_role, is_role, role_call, template_in
from workbench.verifiers.judges.strategies import STRATEGIES
from workbench.verifiers.judges.template import (
    MAX_BYTES,
    Template,
    TemplateCall,
    inserted_placeholders,
    parse_custom_template,
)
from workbench.verifiers.judges.verifier import template_text

__all__ = ["MAX_BYTES", "TEMPLATE"]

ITS_OWN: Final = ("strategy", "variant", TEMPLATE_VERSION, PUBLISHED, "parser")
"""Options that a custom template replaces."""
_ENDING: Final = ".toml"
_FILE: Final = re.compile(r"\w[\w.+@-]{0,99}")
_OF_ROLES: Final = Sampling(temperature=0.4, top_p=0.95, top_k=40, max_tokens=2048)
"""Sampling of a role's replies if its file doesn't define it: MCTS-Judge, table 6."""
_ITEM_TEXTS: Final = ("question", "reference", "completion")


class TemplateDraft(Struct, frozen=True, kw_only=True):
    """A template to edit.

    Attributes:
        text: TOML.
        file: Its proposed file name, next to the database.
        stored: The file's content when it was read; None if there was no file.
    """

    text: str
    file: str
    stored: str | None = None


class CheckedCall(Struct, frozen=True, kw_only=True):
    """One request of a template.

    Attributes:
        roles: The roles of its messages, in their order.
        placeholders: The texts that are filled in.
        optional: Those of the placeholders that the request can omit.
        sampling: Sampling settings that are sent.
    """

    name: str
    roles: tuple[str, ...]
    placeholders: tuple[str, ...]
    optional: tuple[str, ...]
    sampling: dict[str, Any]


class CheckedTemplate(Struct, frozen=True, kw_only=True):
    """A file with a prompt, as the project interprets it.

    Attributes:
        kind: ``template``, ``rubric``, ``published prompt``, ``prompt of a role``, ``prompt for code`` or ``prompt for
            types``.
        standing: For a published prompt, a description of whether the file equals the released one; None for others.
        fence: Whether each text is enclosed by delimiter lines that its author can't guess.
        lacks: The texts of an item that no request includes.
        option: The command-line option that uses the file.
        command: The command that uses the file.
    """

    file: str
    kind: str
    id: str
    version: int
    sha256: str
    standing: str | None
    calls: tuple[CheckedCall, ...]
    fence: bool
    parser: str
    lacks: tuple[str, ...]
    option: str
    command: str = "verify DB llm-judge"


class TemplateShape(Struct, frozen=True, kw_only=True):
    """The requests of a template.

    Attributes:
        calls: Number of requests for each item.
        parser: The parser of the last reply.
        lacks: The texts of an item that no request includes.
    """

    calls: int
    parser: str
    lacks: tuple[str, ...]


def draft_of(project: Project, kind: str, options: Mapping[str, str], name: str) -> TemplateDraft:
    """Return the template that a verifier with these options uses, for editing; its text names the parser.

    Args:
        name: The verifier's name, from which the file's name is derived.

    Raises:
        UsageError: The verifier has no replaceable template, or its file can't be read.
    """
    if kind != "llm-judge":
        raise UsageError(f"{kind} uses no prompt template.", "llm-judge does.")
    given, stored, file = options.get(TEMPLATE), None, _unused_file_name(project, name)
    if given is not None:
        text = stored = read_template(Path(given))
        if Path(given).parent == project.path.parent.resolve():
            file = Path(given).name
    else:
        try:
            text = _with_toml_values(template_text(options), id=_file_stem(name))
        except ValueError as error:
            raise UsageError(f"{error}.", "Your prompt needs a judge with another strategy.") from error
    if (parser := options.get("parser")) is not None:
        text = _with_toml_values(text, parser=parser)
    return TemplateDraft(text=text, file=file, stored=stored)


def shape_of(text: str, file: str) -> TemplateShape:
    """Return the requests of a template.

    Args:
        file: The file's name in messages.

    Raises:
        UsageError: The template is invalid; the message names line and field.
    """
    template = parse_custom_template(_encode(text), file)
    return TemplateShape(calls=len(template.calls), parser=template.parser, lacks=_missing_texts(template, _ITEM_TEXTS))


def _missing_texts(template: Template, texts: Iterable[str]) -> tuple[str, ...]:
    put_in = frozenset[str]().union(
        *(inserted_placeholders(text) for call in template.calls for _, text in call.messages)
    )
    return tuple(name for name in texts if name not in put_in)


def checked_template(path: Path) -> CheckedTemplate:
    """Return a judge's interpretation of a file: a template or rubric, or a prompt from a copy of a paper's repository.

    Raises:
        UsageError: The file can't be read or has another format; the message names file, line and field.
    """
    published = prompt_named(path)
    if is_role(path):
        return _checked_role(path)
    if published is None:
        template, standing = _template_in(path), None
        option = f"{opt.option:{TEMPLATE}={path}}"
    else:
        template, standing = read_prompt(path, published, Sampling())
        option = _published_option(path, published)
    kind = "rubric" if template.criteria else "template" if published is None else "published prompt"
    return record_from(
        CheckedTemplate,
        template,
        file=str(path),
        kind=kind,
        standing=None if standing is None else release_note(standing),
        calls=tuple(map(checked_call, template.calls)),
        fence=not any(call.is_plain for call in template.calls),
        lacks=_missing_texts(template, _ITEM_TEXTS if published is None else sorted(published.names)),
        option=option,
    )


def _template_in(path: Path) -> Template:
    try:
        return template_in(path)
    except UsageError as error:
        if path.suffix != ".txt":
            raise
        hint = f"A judge's has turns, such as <|user|>:. Say what another one is for: {opt.for_:tests}, types …"
        raise UsageError(str(error), hint) from error


def checked_folder(folder: Path) -> list[CheckedTemplate]:
    """Return a search's interpretation of each file of a folder with prompts of its roles.

    Raises:
        UsageError: The folder is empty, or a file is not a prompt of a role; the message names file and line.
    """
    files = role_files(folder)
    if not files:
        raise UsageError(f"{folder}: there is no prompt in it.", f"Such as {', '.join(ROLES)} with .txt or .toml.")
    return [_checked_role(path) for path in files]


def _checked_role(path: Path) -> CheckedTemplate:
    call = role_call(path, _OF_ROLES)
    return CheckedTemplate(
        file=str(path),
        kind="prompt of a role",
        id=call.name,
        version=1,
        sha256=sha256(path.read_bytes()).hexdigest(),
        standing=None,
        calls=(checked_call(call),),
        fence=not call.is_plain,
        parser=ROLES[general_role(call.name)].read_as,
        lacks=(),
        option=f"{opt.option:strategy=mcts} {opt.option:{PROMPTS}={path.parent}}",
    )


def _published_option(path: Path, prompt: PublishedPrompt) -> str:
    folder = Path(os.path.abspath(path)).parent
    without = "" if ANSWER in prompt.names else f" {opt.option:reference=false}"
    if f"{folder.name}/{path.name}" != prompt.file:
        return f"{opt.option:{PUBLISHED}=FOLDER}{without} (once this file is FOLDER/{prompt.file})"
    above = path.parent.parent if path.parent.name == folder.name else folder.parent
    return f"{opt.option:{PUBLISHED}={above}}{without}"


def checked_call(call: TemplateCall) -> CheckedCall:
    return CheckedCall(
        name=call.name,
        roles=tuple(role for role, _ in call.messages),
        placeholders=tuple(sorted(call.names)),
        optional=tuple(sorted(call.names - call.required)),
        sampling=msgspec.to_builtins(call.sampling),
    )


def text_of(options: Mapping[str, str]) -> str:
    """Return the text of the template that a judge with these options uses.

    Raises:
        UsageError: An option is wrong, the file can't be read, or the strategy has no replaceable template.
    """
    if (given := options.get(TEMPLATE)) is not None:
        return read_template(Path(given))
    try:
        return template_text(options, whole_family=True)
    except ValueError as error:
        raise UsageError(f"{error}.", "Strategies: " + ", ".join(STRATEGIES)) from error


def preview(
    project: Project, kind: str, options: Mapping[str, str], draft: TemplateDraft, item: str | int | None
) -> list[PreviewedCall]:
    """Return a verifier's requests about an item with an unsaved template; nothing is sent.

    Raises:
        UsageError: The template or another option is wrong, or there is no such item.
    """
    shape_of(draft.text, draft.file)
    try:
        with temporary_folder("template") as folder:
            path = folder / draft.file
            path.write_bytes(_encode(draft.text))
            return preview_calls(project, kind, with_template(options, str(path)), item)
    except OSError as error:
        raise UsageError(f"There is no room to preview it: {error.strerror}.") from error


def with_template(options: Mapping[str, str], template: str) -> dict[str, str]:
    return {**{key: value for key, value in options.items() if key not in ITS_OWN}, TEMPLATE: template}


def save_template(project: Project, draft: TemplateDraft, name: str) -> str:
    """Write a template into a file next to the database.

    Args:
        name: The file's name; ``.toml`` is appended if it is missing.

    Returns:
        The file's name.

    Raises:
        UsageError: The text is not a template, the name is invalid, or another file has that name, or the file has
            changed since it was read, is used by a verifier, or can't be written. Nothing is written then.
    """
    file = name if name.endswith(_ENDING) else f"{name}{_ENDING}"
    if not _FILE.fullmatch(file) or file.casefold() == FILE_NAME:
        raise UsageError(f"{name!r} is not a valid template file name.", "Use up to 95 letters, digits and . _ + @ -")
    shape_of(draft.text, file)
    path = project.path.parent / file
    there = _read_if_exists(path)
    if there is not None and there == draft.text:
        return file
    if there is not None:
        hint = "Choose another name; nothing was written."
        if path.name != draft.file or draft.stored is None:
            raise UsageError(f"There is a file {path.name!r} already.", hint)
        if there != draft.stored:
            raise UsageError(f"{path.name!r} has changed since it was read.", hint)
        if users := _verifiers_using(project, path):
            raise UsageError(
                f"{path.name!r} is used by {', '.join(map(repr, users))}, "
                "whose stored requests would no longer match it.",
                hint,
            )
    write_whole(path, draft.text, replace=there is not None)
    return file


def _verifiers_using(project: Project, path: Path) -> list[str]:
    stored = {one.name: one.options for one in stored_runs.verifiers(project.database.reader())}
    written = {
        name: entry.options for name, entry in verifiers(project.path).items() if isinstance(entry, NamedVerifier)
    }
    places = {str(path), str(path.absolute()), str(path.resolve())}
    return sorted(name for name, options in (stored | written).items() if options.get(TEMPLATE) in places)


def _read_if_exists(path: Path) -> str | None:
    try:
        return read_template(path) if path.is_symlink() or path.exists() else None
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}.") from error


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _with_toml_values(text: str, **values: str) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        document.update(values)
        return tomlkit.dumps(document)
    except (TOMLKitError, RecursionError, ValueError):
        return text


def _file_stem(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).lstrip("-_0123456789").rstrip("-_")[:90] or "own"


def _unused_file_name(project: Project, name: str) -> str:
    names = (f"{_file_stem(name)}{'' if number == 1 else f'-{number}'}{_ENDING}" for number in count(1))
    taken = project.path.parent
    return next(one for one in names if one != FILE_NAME and not (taken / one).exists())


def template_lines(found: CheckedTemplate) -> Iterator[str]:
    yield f"{found.file}: {found.kind} {found.id}@{found.version}, sha256 {found.sha256}"
    if found.standing is not None:
        yield f"  {found.standing}"
    for call in found.calls:
        roles = ", ".join(call.roles)
        yield f"  call {call.name}: {roles}; put in: {', '.join(call.placeholders) or 'nothing'}"
        if call.optional:
            yield f"    left out where there is none: {', '.join(call.optional)}"
        settings = ", ".join(f"{name} {value}" for name, value in call.sampling.items())
        yield f"    sampling: {settings or 'the server’s'}"
    yield f"  texts stand {'between lines their author can’t guess' if found.fence else 'as they are, without a fence'}"
    yield f"  parser: {found.parser}"
    if found.lacks:
        yield f"  not used: {', '.join(found.lacks)}"
    yield f"  use it: workbench {found.command} {found.option}"
