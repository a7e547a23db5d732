"""Grants of this account's user: which project may send texts to which server, with which key and template.

A database and the settings next to it may come from another person. Both can name a server, the variable whose key goes
to it, and a template; none of them is used before the user has accepted it for this project. That holds for servers on
this machine too: a text sent to one of them can have effects there. Accepted grants are kept in the user's own
configuration folder, never in the project: one file per grant, named by a hash.

Three more grants are kept in the same way: the model that a project wants to load here, the interpreter that it
wants solutions to run with, and the user's consent to running them with limits alone, where a malicious solution
can read and change the user's files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from workbench.config.file import FOLDER_VARIABLE, user_folder, write_whole
from workbench.config.verifiers import everyone_in, own_prompts, read_template
from workbench.core.errors import Command, UsageError, opt
from workbench.llm.clock import Clock
from workbench.llm.keys import KeySource
from workbench.llm.profiles import PROFILES
from workbench.llm.server import ModelServer


class Grant(Struct, frozen=True):
    """One thing a project wants to use.

    Attributes:
        fact: The exact request, for the hash.
        text: A description in one line.
        content: A template's text; "" for a server.
    """

    fact: tuple[str, ...]
    text: str
    content: str = ""


class NotTrustedError(UsageError):
    """A project wants to use servers or templates that its user has not accepted.

    Attributes:
        grants: The missing grants.
    """

    title = "Not trusted yet"

    def __init__(self, message: str, hint: str, grants: tuple[Grant, ...]) -> None:
        super().__init__(message, hint)
        self.grants = grants


class UnsafeError(UsageError):
    """Untrusted code would run with limits alone, and the user has not agreed to that here."""

    title = "Not safe here"

    def __init__(self) -> None:
        super().__init__(
            "With limits alone (L1) a malicious solution can read and change your files and open connections.",
            f"{Command('doctor DB')} explains why no better level works here. If you trust all of this code",
            Command("verify DB execution", allow_unsafe_execution=True),
        )


UNSAFE: Final = Grant(("unsafe execution",), "solutions are run with limits alone (L1)")
"""Never offered together with other grants: it needs a separate flag."""


def interpreter_grant(path: str) -> Grant:
    """Return the grant for an interpreter named by a project, which starts before any sandbox exists."""
    return Grant(("interpreter", path), f"the Python interpreter {path}")


def model_grants(verifier: object) -> list[Grant]:
    """Return grants for what a verifier loads into local processes: a name in a file may refer to any hub or folder.

    Args:
        verifier: A verifier that loads models has ``loads``; a composite has its members in ``parts``.
    """
    names = [name for one in (verifier, *getattr(verifier, "parts", ())) if (name := getattr(one, "loads", None))]
    return [Grant(("model", str(name)), f"the model {name}, loaded on this machine") for name in names]


def grants_of(servers: Mapping[str, ModelServer], options: Mapping[str, str]) -> list[Grant]:
    """Return the grants a verifier needs: each server with the key it gets, and a user's template.

    Args:
        servers: Its servers by role.
        options: Its options; a built-in template needs no trust.

    Raises:
        UsageError: The template can't be read.
    """
    grants = dict.fromkeys(map(_server, servers.values()))
    templates = dict.fromkeys(path for one in everyone_in(options) for path in own_prompts(one))
    return [*grants, *(_template(str(path), read_template(path)) for path in templates)]


def missing(database: Path, grants: list[Grant]) -> list[Grant]:
    # For an unreadable folder, `Path.is_file` would raise instead.
    return [grant for grant in grants if not os.path.isfile(_place(database, grant))]


def accept(database: Path, grants: list[Grant]) -> None:
    """Store the user's acceptance of these grants.

    Raises:
        UsageError: The configuration folder can't be written.
    """
    try:
        _folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{_folder()}, the folder of your accepted grants, can't be created: {error.strerror}.",
            f"Name a writable folder in the environment variable {FOLDER_VARIABLE}.",
        ) from error
    for grant in grants:
        write_whole(_place(database, grant), f"{os.fspath(database.resolve())!a}\n{grant.text}\n")


def require(database: Path, servers: Mapping[str, ModelServer], options: Mapping[str, str]) -> None:
    """Raise unless the user has accepted everything a verifier needs; for the arguments see `grants_of`.

    Raises:
        NotTrustedError: A grant is missing; the message shows it.
        UsageError: The template can't be read.
    """
    require_grants(database, grants_of(servers, options))


def require_grants(database: Path, grants: list[Grant]) -> None:
    """Raise unless the user has accepted these grants.

    Raises:
        NotTrustedError: A grant is missing; the message shows it.
    """
    if wanted := missing(database, grants):
        raise NotTrustedError(
            "This project wants to use what you haven't accepted: " + "; ".join(grant.text for grant in wanted) + ".",
            f"To accept this, use {opt.trust}.",
            tuple(wanted),
        )


def _folder() -> Path:
    return user_folder() / "trusted"


def _place(database: Path, grant: Grant) -> Path:
    canonical = json.dumps([os.fspath(database.resolve()), *grant.fact])
    return _folder() / hashlib.sha256(canonical.encode()).hexdigest()


def _server(server: ModelServer) -> Grant:
    url = server.base_url
    key = KeySource(server, PROFILES[server.profile], Clock()).place
    variables = sorted(value for value in server.extras.headers.values() if value.startswith("$"))
    said = f"the server {url} {f'with the key in {key}' if key else 'without a key'}"
    said += f" and {' and '.join(variables)} in its headers" if variables else ""
    said += f" through the proxy {server.route.proxy}" if server.route.proxy else ""
    said += f" trusting {server.route.ca_file}" if server.route.ca_file else ""
    way = [f"{name} {value}" for name, value in structs.asdict(server.route).items() if value is not None]
    return Grant(("server", url, key or "", *variables, *way), said)


def _template(path: str, text: str) -> Grant:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Grant(("template", digest), f"the template {path} (sha256 {digest[:12]}…)", text)
