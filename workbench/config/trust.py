"""Grants: what this user allows a project to use, such as a server to send texts to, a key and a template.

A database and the settings next to it may come from another person. Both can name a server, the variable whose key goes
to it, and a template; none of them is used before the user has accepted it for this project. That holds for servers on
this machine too: a text sent to one of them can have effects there. Accepted grants are kept in the user's own
configuration folder, never in the project: one file per grant, named by a hash.

Three more grants are stored in the same way: for the model that a project wants to load on this machine, for the
interpreter that it wants to run solutions with, and for running solutions with limits alone, where a malicious solution
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
from workbench.config.verifiers import all_options_in, custom_prompt_files, read_template
from workbench.core.errors import Command, UsageError, opt
from workbench.llm.keys import KeySource
from workbench.llm.profiles import PROFILES
from workbench.llm.server import ModelServer
from workbench.llm.waits import Clock


class Grant(Struct, frozen=True):
    """Something that a project wants to use, and that the user must accept.

    Attributes:
        fact: What exactly is requested; its hash identifies the grant.
        text: A description for the user, in one line.
        content: The text of a template; "" for other grants.
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
    """Untrusted code would run with limits alone, and the user has not allowed that for this project."""

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
    """Return the grant for a Python interpreter that a project names; it is started before the sandbox exists."""
    return Grant(("interpreter", path), f"the Python interpreter {path}")


def model_grants(verifier: object) -> list[Grant]:
    """Return the grants for the models that a verifier loads on this machine; a name may refer to any hub or folder.

    Args:
        verifier: The verifier; ``loads`` is the name of its model, ``parts`` are the members of a composite.
    """
    names = [name for one in (verifier, *getattr(verifier, "parts", ())) if (name := getattr(one, "loads", None))]
    return [Grant(("model", str(name)), f"the model {name}, loaded on this machine") for name in names]


def grants_of(servers: Mapping[str, ModelServer], options: Mapping[str, str]) -> list[Grant]:
    """Return the grants that a verifier needs: one per server (with its key), and one per custom template.

    Args:
        servers: The verifier's servers, by role.
        options: Its options; built-in templates need no grant.

    Raises:
        UsageError: The template can't be read.
    """
    grants = dict.fromkeys(map(_server_grant, servers.values()))
    templates = dict.fromkeys(path for one in all_options_in(options) for path in custom_prompt_files(one))
    return [*grants, *(_template_grant(str(path), read_template(path)) for path in templates)]


def missing_grants(database: Path, grants: list[Grant]) -> list[Grant]:
    # `Path.is_file` would raise an error for an unreadable folder.
    return [grant for grant in grants if not os.path.isfile(_grant_file(database, grant))]


def accept_grants(database: Path, grants: list[Grant]) -> None:
    """Store the user's acceptance of these grants.

    Raises:
        UsageError: The configuration folder can't be written.
    """
    try:
        _grants_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{_grants_folder()}, the folder of your accepted grants, can't be created: {error.strerror}.",
            f"Name a writable folder in the environment variable {FOLDER_VARIABLE}.",
        ) from error
    for grant in grants:
        write_whole(_grant_file(database, grant), f"{os.fspath(database.resolve())!a}\n{grant.text}\n")


def require_grants(database: Path, grants: list[Grant]) -> None:
    """Raise an error unless the user has accepted these grants.

    Raises:
        NotTrustedError: A grant is missing; the message shows it.
    """
    if wanted := missing_grants(database, grants):
        raise NotTrustedError(
            "This project wants to use what you haven't accepted: " + "; ".join(grant.text for grant in wanted) + ".",
            f"To accept this, use {opt.trust}.",
            tuple(wanted),
        )


def _grants_folder() -> Path:
    return user_folder() / "trusted"


def _grant_file(database: Path, grant: Grant) -> Path:
    canonical = json.dumps([os.fspath(database.resolve()), *grant.fact])
    return _grants_folder() / hashlib.sha256(canonical.encode()).hexdigest()


def _server_grant(server: ModelServer) -> Grant:
    url = server.base_url
    key = KeySource(server, PROFILES[server.profile], Clock()).place
    variables = sorted(value for value in server.extras.headers.values() if value.startswith("$"))
    text = f"the server {url} {f'with the key in {key}' if key else 'without a key'}"
    text += f" and {' and '.join(variables)} in its headers" if variables else ""
    text += f" through the proxy {server.route.proxy}" if server.route.proxy else ""
    text += f" trusting {server.route.ca_file}" if server.route.ca_file else ""
    way = [f"{name} {value}" for name, value in structs.asdict(server.route).items() if value is not None]
    return Grant(("server", url, key or "", *variables, *way), text)


def _template_grant(path: str, text: str) -> Grant:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Grant(("template", digest), f"the template {path} (sha256 {digest[:12]}…)", text)
