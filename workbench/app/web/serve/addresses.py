"""The server's addresses, and the pages that may talk to it.

A foreign page in an annotator's browser can send requests to this server: by its address (its Origin is another), or
under a name of its own that it lets point here (the Host is another: DNS rebinding). Both are recognised by headers
that the browser sets and a page can't change.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from workbench.core.errors import UsageError

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?")
_WILDCARDS = {"0.0.0.0", "::"}


class Address(Struct, frozen=True):
    """The address the server listens on, and the public URL if it differs.

    Attributes:
        public_url: ``https://name`` of a proxy before the server; empty without one.
    """

    host: str
    port: int
    public_url: str = ""

    @property
    def url(self) -> str:
        if self.public_url:
            return self.public_url
        name = "127.0.0.1" if self.host in _WILDCARDS else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def is_secure(self) -> bool:
        return self.public_url.startswith("https:")

    @property
    def is_open(self) -> bool:
        """Tell whether other machines can reach the server directly."""
        return not _is_loopback(self.host)

    def answers_to(self, host: str) -> bool:
        """Tell whether a Host header names this server.

        The port may be any: a tunnel (``ssh -L``) has its own.
        """
        host = host.lower()
        return (bool(self.public_url) and host == urlsplit(self.public_url).netloc) or self._is_own(host)

    def trusts(self, origin: str | None, host: str) -> bool:
        """Tell whether a request to ``host`` comes from a page of this server: a missing or opaque Origin does not."""
        if not origin:
            return False
        if self.public_url and origin == self.public_url:
            return True
        return self._is_own(host.lower()) and origin == f"http://{host.lower()}"

    def _is_own(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].strip("[]")
        return name == self.host.lower() or _is_loopback(name) or (self.host in _WILDCARDS and _is_ip(name))


def public_url(text: str) -> str:
    """Normalise a ``--public-url`` to the form in which browsers write an origin.

    Raises:
        UsageError: It is not an http or https URL, or has a path, under which the pages would not be found.
    """
    try:
        parts = urlsplit(text.strip().lower())
        good = parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.netloc) and parts.path in {"", "/"}
        port = parts.port
    except ValueError:
        good = port = None
    if not good or parts.query or parts.fragment:
        raise UsageError(f"{text!r} is not a public URL.", "Write https://NAME or https://NAME:PORT, without a path.")
    # Browsers leave the scheme's own port out of an Origin.
    usual = {"http": 80, "https": 443}[parts.scheme]
    netloc = parts.netloc.rpartition(":")[0] if port == usual else parts.netloc
    return f"{parts.scheme}://{netloc}"


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_ip(name) and ip_address(name).is_loopback)
