"""Resolve a verifier: a kind, or a name that ``workbench.toml`` or the database maps to a kind and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.verifiers import (
    EXAMPLES,
    EXAMPLES_DRAWN,
    MEMBERS,
    MEMBERS_MADE,
    NAME,
    OWN_PROMPTS,
    SEARCHED,
    STAGES_MADE,
    TEMPLATE_VERSION,
    NamedVerifier,
    PanelMember,
    named_verifier,
    verifiers,
)
from workbench.core.errors import Command, OptionError, UsageError
from workbench.core.project import Project
from workbench.core.run import GENERATION, IMPORTED, ConfiguredVerifier
from workbench.runs.store import runs as stored_runs
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.verifiers.base import AnyVerifier
from workbench.verifiers.registry import Registry, VerifierKind
from workbench.verifiers.stacks.stack import STAGES, stages

PANEL: Final = "judge-panel"
"""The kind whose members are other verifiers of the project."""
STACK: Final = "stack"
"""The kind whose stages are other verifiers of the project."""
_FILLED_IN: Final = frozenset({MEMBERS_MADE, STAGES_MADE})


class VerifierChoice(Struct, frozen=True, kw_only=True):
    """A verifier to construct.

    Attributes:
        kind: The registered kind.
        options: Option values by name.
        name: The name of the configuration.
        own: Whether the caller gave all options, and none comes from a file or the database.
        place: Its entry in the settings file as ``FILE:verifiers.NAME``; None if it isn't configured there.
        given: Names of the options that the caller gave.
    """

    kind: str
    options: dict[str, str]
    name: str
    own: bool
    place: str | None = None
    given: frozenset[str] = frozenset()


def resolve_verifier(
    project: Project, kind: str, options: Mapping[str, str], name: str | None = None
) -> VerifierChoice:
    """Return the verifier that a kind or name refers to.

    Args:
        kind: A registered kind, or the name of a verifier in the settings file or the database. No file can redefine
            the name of a kind; the settings file takes precedence over the database.
        options: Option values; they override the options stored under a name.
        name: The configuration's name; ``kind`` by default.

    Raises:
        UsageError: The name is unknown, or the settings file's entry of that name is wrong.
    """
    if name is not None:
        require_name(name)
    named = {option: str(Path(options[option]).absolute()) for option in OWN_PROMPTS & options.keys()}
    given = {**options, **named}
    written = None if Registry().knows(kind) else named_verifier(project.path, kind)
    if written is not None:
        return VerifierChoice(
            kind=written.kind,
            options=_with_bound_options(project, written.kind, {**written.options, **given}, name or kind),
            name=name or kind,
            own=False,
            place=written.place,
            given=frozenset(given),
        )
    stored = stored_runs.verifier_named(project.database.reader(), kind)
    require_runnable(stored)
    if stored is not None and stored.kind != kind:
        asked = {**stored.options, **given}
        options = _fill_in_options(project, stored.kind, asked, bound={})
        return VerifierChoice(kind=stored.kind, options=options, name=name or kind, own=False)
    options = _with_bound_options(project, kind, given, name or kind)
    return VerifierChoice(kind=kind, options=options, name=name or kind, own=not _FILLED_IN & options.keys())


def _with_bound_options(project: Project, kind: str, given: dict[str, str], name: str) -> dict[str, str]:
    stored = stored_runs.verifier_named(project.database.reader(), name)
    bound = {} if stored is None or stored.kind != kind else stored.options
    asked = _fill_in_options(project, kind, given, bound)
    kept = () if OWN_PROMPTS & given.keys() else (TEMPLATE_VERSION,)
    searched = SEARCHED if given.get("strategy") == bound.get("strategy") == "mcts" else ()
    return {**{option: bound[option] for option in (*kept, *searched) if option in bound}, **asked}


def _fill_in_options(project: Project, kind: str, options: dict[str, str], bound: Mapping[str, str]) -> dict[str, str]:
    asked = {name: value for name, value in options.items() if name not in _FILLED_IN}
    if kind == PANEL and MEMBERS in asked:
        members = [part.strip() for part in asked[MEMBERS].split(",") if part.strip()]
        return {**asked, MEMBERS_MADE: _configurations(project, MEMBERS, members, "in a panel")}
    if kind == STACK and STAGES in asked:
        try:
            named = [stage.name for stage in stages(asked[STAGES])]
        except ValueError as error:
            raise OptionError(STAGES, f"{str(error).removeprefix(f'{STAGES}: ')}.") from None
        return {**asked, STAGES_MADE: _configurations(project, STAGES, named, "a stage")}
    if EXAMPLES not in asked:
        return {name: value for name, value in asked.items() if name != EXAMPLES_DRAWN}
    if kind != "llm-judge":
        return asked
    from workbench.runs.examples import with_examples

    return with_examples(project, asked, bound)


def _configurations(project: Project, option: str, names: Iterable[str], what: str) -> str:
    found = []
    for name in dict.fromkeys(names):
        kind = _configured_kind(project, name)
        if kind is None and option == STAGES and Registry().knows(name):
            kind = name
        if kind in (None, STACK, *JUDGES_NOTHING) or (kind == PANEL and option == MEMBERS):
            raise OptionError(option, f"{name!r} is not a verifier of this project that can be {what}.")
        part = resolve_verifier(project, name, {})
        construct_verifier(part)
        found.append(PanelMember(name=name, kind=part.kind, options=part.options))
    return msgspec.json.encode(found).decode()


def _configured_kind(project: Project, name: str) -> str | None:
    written = named_verifier(project.path, name)
    stored = stored_runs.verifier_named(project.database.reader(), name)
    return written.kind if written is not None else stored.kind if stored is not None else None


def require_name(name: str) -> None:
    """Reject an invalid name for a verifier or a generation.

    Raises:
        UsageError: The name is invalid.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid verifier name.", "Use up to 100 letters, digits and . _ + @ / -")


def require_runnable(stored: ConfiguredVerifier | None) -> None:
    """Reject a verifier whose verdicts were imported, and one that only writes texts.

    Raises:
        UsageError: The verifier can't be run.
    """
    if stored is not None and stored.kind == GENERATION:
        raise UsageError(
            f"{stored.name!r} is not a verifier: it is the name of a run that generates texts.",
            "Continue it with the command that started it.",
        )
    if stored is not None and stored.kind == IMPORTED:
        raise UsageError(
            f"The verdicts of {stored.name!r} were imported from a file; it can't be run here.",
            f"Import more with: {Command('verdicts DB import FILE')}",
        )


def construct_verifier(choice: VerifierChoice) -> AnyVerifier:
    """Construct the verifier of a choice.

    Raises:
        UsageError: The kind or an option doesn't exist, or a value is wrong; the message names the file and field that
            the value comes from.
        VerifierError: The verifier can't be used.
    """
    try:
        return Registry().load(choice.kind, choice.options)
    except OptionError as error:
        if choice.place is None or error.option is None or error.option in choice.given:
            raise
        raise UsageError(f"{choice.place}.{error.option}: {error.wrong}.") from error


def verifiers_in_settings(
    project: Project, kinds: Iterable[VerifierKind]
) -> tuple[list[NamedVerifier], list[UsageError]]:
    """Return the verifiers that the settings file configures, and the errors of invalid entries.

    Args:
        project: The project with the file.
        kinds: The registered kinds.
    """
    options = {kind.name: kind.options for kind in kinds}
    good: list[NamedVerifier] = []
    wrong: list[UsageError] = []
    try:
        entries = verifiers(project.path)
    except UsageError as error:
        return [], [error]
    for name, entry in entries.items():
        problem = entry if isinstance(entry, UsageError) else _entry_error(name, entry, options)
        if problem is not None:
            wrong.append(problem)
        elif isinstance(entry, NamedVerifier):
            good.append(entry)
    return good, wrong


def _entry_error(name: str, entry: NamedVerifier, options: Mapping[str, Mapping[str, str]]) -> UsageError | None:
    if name in options:
        return UsageError(f"{entry.place} has the name of a kind of verifier.", "Give it another name.")
    if entry.kind not in options:
        return UsageError(f"{entry.place}.kind: there is no verifier named {entry.kind!r}.")
    unknown = sorted(entry.options.keys() - options[entry.kind].keys())
    if unknown:
        known = ", ".join(sorted(options[entry.kind])) or "it has none"
        return UsageError(f"{entry.place}.{unknown[0]} is not an option of {entry.kind}.", f"Its options: {known}.")
    return None
