"""Custom prompts for the roles of a search, of the vote over subtasks and of test cases: one file each.

A role's file is TOML, with messages and placeholders as in a template, or a prompt as a paper prints it: text in which
``<|system|>``, ``<|user|>`` and ``<|assistant|>`` begin the turns and single braces contain the paper's own words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct, structs

from workbench.config.verifiers import PRINTED, ROLE_FILES, read_template, role_files
from workbench.core.errors import UsageError
from workbench.llm.records import Role, Sampling
from workbench.verifiers.judges.template import (
    ITEM_NAMES,
    MessageForm,
    SamplingForm,
    Template,
    TemplateCall,
    find_placeholders,
    find_slip,
    from_file,
    merge_sampling,
    parsed_form,
    plain_names,
    required_placeholders,
)

_NOTHING: Final = Sampling()
_PLAINLY: Final = Sampling(temperature=0.0, max_tokens=2048)
_YES_OR_NO: Final = "codejudge"
GLOBAL: Final = "global"
"""The role of the global evaluation, which uses the vanilla judge's prompt unless it has a file."""
ANALYSE: Final = "analyse"


_OF_SUBTASKS: Final = (ANALYSE, "assess")
_ANGLE: Final = frozenset({"title", "focus"})


def role_of(subtask: str) -> str:
    return f"{ANALYSE}-{subtask}"


class PromptRole(Struct, frozen=True, kw_only=True):
    """The placeholders of one role, in addition to an item's texts.

    Attributes:
        names: The role's own placeholders.
        printed: Placeholders as papers print them -> ours, where this role differs from `PRINTED_NAMES`.
        read_as: How its replies are parsed; "" for a judge's only role.
    """

    names: frozenset[str] = frozenset()
    printed: dict[str, str] = {}
    read_as: str = ""


PRINTED_NAMES: Final = {"problem": "question", "code": "completion", "reference_code": "reference"}
"""Names of an item's texts in MCTS-Judge's prompts (tables 8 to 13) -> our names."""
ROLES: Final = msgspec.toml.decode(Path(__file__).with_name("roles.toml").read_bytes(), type=dict[str, PromptRole])
"""Every role by its name, which is also its file's name."""
WRITING: Final = frozenset({"generate", "reformat", "validate"})
"""The roles that write tests."""


class RolePrompts(NamedTuple):
    """The prompts in a folder.

    Attributes:
        calls: The calls by role.
        digests: SHA-256 of the files' bytes, in hexadecimal, by role.
        printed: Whether a prompt is in a paper's format.
    """

    calls: dict[str, TemplateCall]
    digests: dict[str, str]
    printed: bool


def prompts_in(folder: Path, template: Template, wanted: Collection[str], *, hides_code: bool) -> RolePrompts:
    """Load the files of these roles in a folder; those of other roles are ignored.

    Args:
        template: The built-in template, whose calls set the sampling.
        wanted: The roles to load.
        hides_code: Whether tests are written from the problem alone, so that a problem's completions share them.

    Raises:
        UsageError: A file is not a prompt or has no role, two files have the same role, or no file has one of these
            roles.
    """
    calls: dict[str, TemplateCall] = {}
    digests: dict[str, str] = {}
    is_printed = False
    for path in role_files(folder):
        name = path.stem
        if (general := _require_role(path)) not in wanted:
            continue
        if name in calls:
            raise UsageError(f"{path}: there are two files for the role {name!r}.", "Keep one of them.")
        base = next((call.sampling for call in template.calls if call.name == general), template.calls[0].sampling)
        calls[name] = role_call(path, base)
        if hides_code and general in WRITING and "completion" in calls[name].names:
            raise UsageError(
                f"{path}: it contains the submission, but this strategy writes tests from the problem alone.",
                "strategy=test-verification writes them from the code.",
            )
        digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        is_printed = is_printed or path.suffix == PRINTED
    if not calls:
        listed = ", ".join(sorted(wanted))
        raise UsageError(
            f"{folder}: it has no prompt file for a role of this judge.", f"Such as {listed} with .txt or .toml."
        )
    return RolePrompts(calls, digests, is_printed)


def with_prompts(template: Template, prompts: RolePrompts) -> Template:
    """Return the template with the prompts' calls in place of its calls of the same name; other calls are appended."""
    kept = [prompts.calls.get(call.name, call) for call in template.calls]
    named = {call.name for call in template.calls}
    return structs.replace(
        template, calls=(*kept, *(call for name, call in prompts.calls.items() if name not in named))
    )


def role_call(path: Path, sampling: Sampling = _NOTHING) -> TemplateCall:
    """Build the request of a role's file.

    Args:
        sampling: Defaults, if the file sets none.

    Raises:
        UsageError: The file is not a prompt of a role; the message gives the position and the error.
    """
    role = ROLES[_require_role(path)]
    text = read_template(path)
    read = printed_call if path.suffix == PRINTED else _call_from_toml
    call = read(text, str(path), path.stem, role, sampling)
    if path.stem in _OF_SUBTASKS and not call.names & _ANGLE:
        raise UsageError(
            f"{path}: without {{title}} or {{focus}} every subtask would get the same prompt.",
            f"Put one in; a prompt of one subtask is called {role_of('ID')}{path.suffix}, by the subtask's id."
            if path.stem == ANALYSE
            else "Put one in.",
        )
    return call


def is_role(path: Path) -> bool:
    return path.suffix in ROLE_FILES and general_role(path.stem) in ROLES


def general_role(name: str) -> str:
    return ANALYSE if name.startswith(f"{ANALYSE}-") else name


def _require_role(path: Path) -> str:
    name = general_role(path.stem)
    if name not in ROLES:
        hint = f"There are {', '.join(ROLES)}, and {role_of('ID')} for one subtask."
        raise UsageError(f"{path}: {path.stem!r} is not a valid role.", hint)
    return name


def template_in(path: Path, chosen: Sampling = _NOTHING, ours: Template | None = None) -> Template:
    """Load a custom template: a TOML file, or the text of one request with or without marked turns.

    Args:
        chosen: Sampling that overrides the file's.
        ours: The strategy's built-in template, whose parser and sampling a text gets; if None, the reply is Yes or No.

    Raises:
        UsageError: The file is invalid; the message gives the position and the error.
    """
    if path.suffix != PRINTED or not path.is_file() or _TABLES.search(text := read_template(path)):
        return from_file(path, chosen)
    sampling = ours.calls[-1].sampling if ours is not None else merge_sampling((_PLAINLY, chosen))
    call = printed_call(text, str(path), "judge", PromptRole(), sampling)
    if "completion" not in call.names:
        raise UsageError(
            f"{path}: it has no placeholder for the completion.", "Write {completion} or {code} where the text belongs."
        )
    return Template(
        id=path.stem,
        version=1,
        parser=_YES_OR_NO if ours is None else ours.parser,
        calls=(call,),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


# -- TOML files: messages and sampling.


class _RoleFile(Struct, frozen=True, forbid_unknown_fields=True):
    messages: Annotated[tuple[MessageForm, ...], Meta(min_length=1)]
    sampling: SamplingForm = SamplingForm()


def _call_from_toml(text: str, where: str, name: str, role: PromptRole, sampling: Sampling) -> TemplateCall:
    form = parsed_form(text, where, _RoleFile, "a role's file")
    known = ITEM_NAMES | role.names
    contents = [message.content for message in form.messages]
    for content in contents:
        if (slip := find_slip(content, known)) is not None:
            raise UsageError(f"{where}:{_line_number(text, text.find(slip.mark))}: {slip.message}", slip.hint)
    return TemplateCall(
        name=name,
        messages=tuple((message.role, message.content) for message in form.messages),
        names=frozenset().union(*(find_placeholders(content, known) for content in contents)),
        required=frozenset().union(*(required_placeholders(content, known) for content in contents)),
        sampling=merge_sampling((sampling, form.sampling)),
    )


# -- Printed prompts: turns with marks, the paper's names in single braces, doubled braces for literal ones.


_TURN: Final = re.compile(r"^<\|(system|user|assistant)\|>[ \t]*:?", re.MULTILINE)
_TABLES: Final = re.compile(r"^\[\[(calls|criteria)\]\]", re.MULTILINE)
_BRACES: Final = re.compile(r"\{\{|\}\}|\{([^{}\n]{1,60})\}")
_WORDS: Final = re.compile(r"[A-Za-z][\w ]*")


def printed_call(
    text: str, where: str, name: str, role: PromptRole, sampling: Sampling, known: Collection[str] = ITEM_NAMES
) -> TemplateCall:
    """Build the request of a prompt as a paper prints it; its names in braces will be replaced by the item's texts.

    A text without a mark is one message of the user. White space after a mark and before the next is removed.

    Args:
        where: The file's name in messages.
        known: Placeholders for an item's texts.

    Raises:
        UsageError: A name in braces is not a placeholder, or a turn is empty; the message names the line.
    """
    names = {one: one for one in (*known, *role.names)} | PRINTED_NAMES | role.printed
    messages = tuple(
        (turn, _convert_placeholders(content, names, where, _line_number(text, start)))
        for turn, content, start in _turns(text, where)
    )
    found = frozenset().union(*(plain_names(content, frozenset(names.values())) for _, content in messages))
    return TemplateCall(name=name, messages=messages, names=found, required=found, sampling=sampling, is_plain=True)


def _turns(text: str, where: str) -> Iterator[tuple[Role, str, int]]:
    marks = list(_TURN.finditer(text))
    if not marks:
        if not text.strip():
            raise UsageError(f"{where}: it is empty.")
        yield "user", text, 0
        return
    if text[: marks[0].start()].strip():
        raise UsageError(f"{where}:1: there is text before the first <|…|>.", "A turn begins with its mark.")
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        turn = text[mark.end() : end]
        if not turn.strip():
            raise UsageError(f"{where}:{_line_number(text, mark.start())}: the turn {mark[0]} is empty.")
        yield msgspec.convert(mark[1], Role), turn.strip(), mark.end() + len(turn) - len(turn.lstrip())


def _convert_placeholders(content: str, names: Mapping[str, str], where: str, first: int) -> str:
    put_in = 0

    def one(mark: re.Match[str]) -> str:
        nonlocal put_in
        if mark[1] is None:
            return mark[0][0]
        name = names.get(re.sub(r"\s+", "_", mark[1].strip().lower()))
        if name is None and _WORDS.fullmatch(mark[1]):
            line = first + content.count("\n", 0, mark.start())
            listed = ", ".join(f"{{{word}}}" for word in sorted(names))
            hint = f"There are {listed}. Braces that are not placeholders are doubled: {{{{so}}}}."
            raise UsageError(f"{where}:{line}: {mark[0]} is not a placeholder here.", hint)
        put_in += name is not None
        return mark[0] if name is None else f"{{{name}}}"

    said = _BRACES.sub(one, content)
    if sum(said.count(f"{{{name}}}") for name in set(names.values())) != put_in:
        raise UsageError(f"{where}:{first}: doubled braces around a placeholder's name can't be sent as text.")
    return said


def _line_number(text: str, place: int) -> int:
    return text.count("\n", 0, max(place, 0)) + 1
