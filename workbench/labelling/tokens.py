"""Login from a browser: a link works once and starts a login, whose token a cookie holds.

Both are 256 random bits, of which the database keeps only a hash: a reader of the database can't log in with it, and a
look-up by hash has no timing side channel.
"""

from __future__ import annotations

import re
import secrets
import time
from hashlib import sha256

from msgspec import Struct

from workbench.core.database import people
from workbench.core.database.failures import explained
from workbench.core.project import Project
from workbench.labelling.store import admissions

LINK_S = 7 * 86_400
"""Seconds for which an unused link is valid."""

LOGIN_S = 30 * 86_400
"""Seconds for which a login is valid."""

_FORM = re.compile(r"[A-Za-z0-9_-]{43}")


class Login(Struct, frozen=True):
    """A successful login.

    Attributes:
        token: The token that the browser sends from now on.
    """

    name: str
    token: str


def new_link(project: Project, name: str) -> str:
    """Return a token with which a person can log in once, within `LINK_S` seconds; earlier links stay valid.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, name)
    token, at = secrets.token_urlsafe(32), time.time()
    with project.database.write("full") as connection:
        admissions.drop_expired(connection, at)
        admissions.add(connection, "link", _digest(token), person.id, at + LINK_S)
    return token


def redeem_link(project: Project, link: str, earlier: str = "") -> Login | None:
    """Redeem a link; None if it is invalid, used or expired, or its person is paused or removed.

    The person's other unused links are revoked, and so is the earlier login of the browser.
    """
    if not _FORM.fullmatch(link):
        return None
    digest, at = _digest(link), time.time()
    with explained(project.path):
        # Strangers' attempts must not block writers.
        if admissions.linked(project.database.reader(), digest, at) is None:
            return None
    with project.database.write("full") as connection:
        found = admissions.linked(connection, digest, at)
        if found is None:
            return None
        person, name = found
        token = secrets.token_urlsafe(32)
        admissions.drop_links(connection, person)
        admissions.drop(connection, _digest(earlier))
        admissions.add(connection, "login", _digest(token), person, at + LOGIN_S)
    return Login(name, token)


def name_of_login(project: Project, login: str) -> str | None:
    if not _FORM.fullmatch(login):
        return None
    with explained(project.path):
        return admissions.logged_in(project.database.reader(), _digest(login), time.time())


def revoke(project: Project, name: str) -> int:
    """End every link and login of a person; return how many there were.

    Raises:
        UsageError: No annotator has this name.
    """
    person = people.find(project.database, name)
    with project.database.write("full") as connection:
        return admissions.drop_all(connection, person.id)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
