"""Configure a verifier that calls a model server: list the fields of its form, and store the values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from workbench.config.file import file_of
from workbench.config.verifiers import NAME, OWN_PROMPTS, PROMPT_FOLDERS, resolve_inside, save_verifier, verifiers
from workbench.core.errors import OptionError, UsageError, opt
from workbench.core.project import Project
from workbench.core.run import ConfiguredVerifier
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.previewing import PreviewedCall, preview_calls
from workbench.runs.store import runs as stored_runs
from workbench.runs.trust import require_trust
from workbench.verifiers.base import SERVER_AT, Identified, identity, is_identity
from workbench.verifiers.registry import Registry, VerifierKind

if TYPE_CHECKING:
    import sqlite3

    from workbench.verifiers.judges.strategies import Kind


_STRATEGY = "strategy"
_FIRST: Final = ("llm-judge",)
_FREE: Final = frozenset({"parser", "threshold", "label"})
"""Options that only affect how stored replies are parsed: a new value needs no call."""
_REQUIRED: Final = frozenset({"base_url", "members", "model", "stages"})


class FormOption(Struct, frozen=True, kw_only=True):
    """One option of a form.

    Attributes:
        about: The option's description.
        choices: The values and their descriptions; empty for free text.
        strategies: The strategies that use it; empty if all do.
        required: Whether it must be filled in.
    """

    name: str
    about: str
    choices: dict[str, str] = {}
    strategies: frozenset[str] = frozenset()
    required: bool = False

    def is_used(self, values: Mapping[str, str]) -> bool:
        return not self.strategies or values.get(_STRATEGY, "") in self.strategies


class FormSection(Struct, frozen=True, kw_only=True):
    """A group of options.

    Attributes:
        folded: Whether the section is collapsed at first, since most users leave its options unchanged.
    """

    title: str
    options: tuple[FormOption, ...]
    folded: bool


class VerifierForm(Struct, frozen=True, kw_only=True):
    kind: str
    description: str
    sections: tuple[FormSection, ...]


def forms() -> list[VerifierForm]:
    """Return the kinds of verifiers that call model servers, judges first, each with its options in sections."""
    kinds = [kind for kind in Registry().available() if kind.isolation == "served" and kind.broken is None]
    return [_form(kind) for kind in sorted(kinds, key=lambda kind: (kind.name not in _FIRST, kind.name))]


def form_of(kind: str) -> tuple[FormSection, ...]:
    """Return the options of a kind of verifier in sections; empty if the kind has no options.

    Raises:
        UsageError: There is no such kind.
    """
    registry = Registry()
    registry.entry_point(kind)
    known = next(one for one in registry.available() if one.name == kind)
    if known.isolation == "served":
        return _form(known).sections
    options = tuple(
        FormOption(name=name, about=about, choices=dict.fromkeys(known.choices.get(name, ()), ""))
        for name, about in known.options.items()
    )
    return (FormSection(title="Options", options=options, folded=False),) if options else ()


def require_options(project: Project, kind: str, options: Mapping[str, str]) -> None:
    """Make sure that a kind of verifier accepts these options.

    Raises:
        OptionError: An option is wrong; the error names it.
        VerifierError: The kind can't be used.
    """
    Registry().load(kind, with_absolute_prompt_path(project, options))


def require_free_name(project: Project, kind: str, options: Mapping[str, str], name: str | None) -> None:
    """Check that a verifier can be started under a name, which must be unused or bound to the same options.

    Raises:
        OptionError: The name is bound to other options; the error is about the option ``name`` and suggests an unused
            name.
        UsageError: As with `workbench.runs.choosing.resolve_verifier`.
        VerifierError: The kind can't be used.
    """
    chosen = resolve_verifier(project, kind, options, name)
    reader = project.database.reader()
    bound, verifier = stored_runs.verifier_named(reader, chosen.name), construct_verifier(chosen)
    if bound is None or is_identity(verifier, bound.config_hash):
        return
    free = next(
        other for number in count(2) if stored_runs.verifier_named(reader, other := f"{chosen.name}-{number}") is None
    )
    wrong = f"{chosen.name!r} is bound to other options ({configuration_difference(bound, verifier)}); {free} is free"
    raise OptionError("name", wrong)


def require_batches(project: Project, kind: str, options: Mapping[str, str]) -> None:
    """Make sure that a verifier's calls can be sent in batches.

    Raises:
        OptionError: The calls can't be sent in batches; the error is about the option ``batch``.
        UsageError: As with `workbench.runs.choosing.resolve_verifier`.
        VerifierError: The kind can't be used.
    """
    # Only runs that call servers need the client's libraries.
    from workbench.runs import batching

    try:
        batching.require_batches(construct_verifier(resolve_verifier(project, kind, options)))
    except UsageError as error:
        raise OptionError("batch", error.message) from None


def verdict_options(kind: str) -> tuple[FormOption, ...]:
    """Return the options of a kind that may change a verdict, first those that can change without new requests."""
    sections = (one for one in form_of(kind) if one.title not in ("Server", "Limits")) if Registry().knows(kind) else ()
    options = [option for section in sections for option in section.options]
    return tuple(sorted(options, key=lambda option: option.name not in _FREE))


def check(project: Project, name: str, kind: str, options: Mapping[str, str]) -> None:
    """Check that a verifier can be stored with these values.

    Raises:
        OptionError: The name or an option is wrong, or the name is in use; the error names the option.
        UsageError: The settings file or a template can't be read.
        VerifierError: The kind can't be used.
    """
    if not NAME.fullmatch(name):
        raise OptionError("name", "Give it a name of up to 100 letters, digits and . _ + @ / -")
    if name in verifiers(project.path) or stored_runs.verifier_named(project.database.reader(), name) is not None:
        raise OptionError("name", f"A verifier {name!r} already exists. Choose another name.")
    registry = Registry()
    if registry.knows(name):
        raise OptionError("name", f"{name!r} is a kind of verifier. Choose another name.")
    registry.load(kind, with_absolute_prompt_path(project, options))


def save(project: Project, name: str, kind: str, options: Mapping[str, str]) -> Path:
    """Store a verifier in ``workbench.toml``; filling in a form approves the server and the template in it.

    Returns:
        The settings file.

    Raises:
        OptionError, UsageError, VerifierError: As with `check`; nothing has been written.
    """
    check(project, name, kind, options)
    path = file_of(project.path)
    save_verifier(path, name, kind, dict(options))
    whole = with_absolute_prompt_path(project, options)
    require_trust(project, Registry().load(kind, whole), whole, accept=True)
    return path


def preview(project: Project, kind: str, options: Mapping[str, str], completion: str | None) -> list[PreviewedCall]:
    """Return a verifier's requests about an item; see `preview_calls`.

    Raises:
        OptionError: An option is wrong; the error names it.
    """
    return preview_calls(project, kind, with_absolute_prompt_path(project, options), completion)


def with_absolute_prompt_path(project: Project, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options, with the path of a template or a folder of prompts made absolute.

    Raises:
        OptionError: The path is outside the project's folder.
    """
    whole = dict(options)
    for option in OWN_PROMPTS & options.keys():
        try:
            whole[option] = str(
                resolve_inside(project.path.parent, option, options[option], folder=option in PROMPT_FOLDERS)
            )
        except UsageError as error:
            raise OptionError(option, str(error).removeprefix(f"{option}: ")) from error
    return whole


def _form(kind: VerifierKind) -> VerifierForm:
    from workbench.verifiers.judges.strategies import STRATEGIES
    from workbench.verifiers.serving import LIMIT_OPTIONS, SAMPLING_OPTIONS, SERVER_OPTIONS

    strategies = STRATEGIES if _STRATEGY in kind.options else {}
    groups: dict[str, list[str]] = {"Server": [], "Judging": [], "Sampling": [], "Limits": []}
    for name in kind.options:
        if name in SERVER_OPTIONS:
            groups["Server"].append(name)
        elif name in LIMIT_OPTIONS:
            groups["Limits"].append(name)
        elif name in SAMPLING_OPTIONS:
            groups["Sampling"].append(name)
        elif users := _strategies_using(strategies, name):
            groups.setdefault(f"Only for {', '.join(sorted(users))}", []).append(name)
        else:
            groups["Judging"].append(name)
    choices = _option_choices(kind, strategies)
    return VerifierForm(
        kind=kind.name,
        description=kind.description,
        sections=tuple(
            FormSection(
                title=title,
                options=tuple(
                    FormOption(
                        name=name,
                        about=kind.options[name],
                        choices=choices.get(name, {}),
                        strategies=frozenset(_strategies_using(strategies, name))
                        if title.startswith("Only")
                        else frozenset(),
                        required=name in _REQUIRED,
                    )
                    for name in names
                ),
                folded=title not in ("Server", "Judging"),
            )
            for title, names in groups.items()
            if names
        ),
    )


def _strategies_using(strategies: Mapping[str, Kind], option: str) -> set[str]:
    return {name for name, kind in strategies.items() if option in kind.options}


def _option_choices(kind: VerifierKind, strategies: Mapping[str, Kind]) -> dict[str, dict[str, str]]:
    from workbench.llm.profiles import PROFILES
    from workbench.verifiers.judges.parsers import PARSERS

    return {
        **{name: dict.fromkeys(words, "") for name, words in kind.choices.items()},
        "parser": dict.fromkeys((one.id for one in PARSERS), ""),
        "server": {name: profile.title for name, profile in PROFILES.items()},
        _STRATEGY: {name: kind.description for name, kind in strategies.items()},
    }


# -- Names of verifiers: each is bound to one configuration, and has one run for each version.


def bound_run(connection: sqlite3.Connection, name: str, verifier: Identified, options: dict[str, str]) -> int:
    """Return the run of a verifier's version under a name, creating it if it is missing; raises as `bind` does."""
    bound = bind(connection, name, verifier, options)
    found = stored_runs.find(connection, bound, verifier.version)
    return stored_runs.add(connection, bound, verifier.version) if found is None else found.id


def bind(connection: sqlite3.Connection, name: str, verifier: Identified, options: dict[str, str]) -> int:
    """Bind a name to a configuration, if it isn't bound yet; return the configured verifier's row id.

    Options that change no verdict (a budget, a timeout) may differ: the latest ones are stored.

    Raises:
        UsageError: The name is bound to another configuration.
    """
    bound = stored_runs.verifier_named(connection, name)
    if bound is None:
        return stored_runs.add_verifier(
            connection,
            name=name,
            kind=verifier.name,
            options=options,
            config=verifier.config(),
            config_hash=identity(verifier),
        )
    require_same_configuration(bound, verifier)
    # A configuration that was stored before configurations named the server has another hash.
    if (bound.options, bound.config_hash) != (options, hashed := identity(verifier)):
        changed = structs.replace(bound, options=options, config=verifier.config(), config_hash=hashed)
        stored_runs.put_configuration(connection, changed)
    return bound.id


def require_same_configuration(bound: ConfiguredVerifier, verifier: Identified) -> None:
    """Make sure that a name is bound to this verifier.

    Raises:
        UsageError: The name is bound to another configuration.
    """
    if not is_identity(verifier, bound.config_hash):
        places = bound.config.get(SERVER_AT)
        place = str(places[0]) if isinstance(places, list) and len(places) == 1 else None
        moved = f" If only the server's address is another: {opt.option:server_name={place}}" if place else ""
        raise UsageError(
            f"The name {bound.name!r} has another configuration: {configuration_difference(bound, verifier)}.",
            f"Give this one another name with {opt.name}.{moved}",
        )


def configuration_difference(bound: ConfiguredVerifier, verifier: Identified) -> str:
    if bound.kind != verifier.name:
        return f"it is {bound.kind}, not {verifier.name}"
    before, after = bound.config, verifier.config()
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return ", ".join(f"{key} is {_value_text(before.get(key))}, not {_value_text(after.get(key))}" for key in keys)


def _value_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
