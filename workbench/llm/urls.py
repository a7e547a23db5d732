"""Addresses of servers: what is taken, where a call goes, what may be shown."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

_QUERY = {"api-version"}
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|[0-9a-f]*:[0-9a-f:.]*")
_LONGEST = 2000


def checked(url: str) -> str:
    """A base URL as it is to be used.

    Raises:
        ValueError: It is no http(s) address of a server, or holds what belongs elsewhere (a name, a key).
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError("base_url: this is no address; use one such as http://localhost:8000/v1") from error
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= _LONGEST
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host or "") or not is_plain:
        raise ValueError("base_url: use an address such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise ValueError("base_url: a name or key before the host is not taken; put the key in an environment variable")
    if parts.fragment or {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - _QUERY:
        raise ValueError("base_url: only api-version may follow a '?'; put a key in an environment variable")
    return url


def endpoint(base: str, path: str, query: str = "") -> str:
    """Where a call goes: the path after the base's own; the base's query, or else the given one, stays behind it."""
    parts = urlsplit(base)
    query = parts.query or query
    return SplitResult(parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{path}", query, "").geturl()


def without_version(base: str) -> str:
    """The base without a last ``/v1``, for servers that have calls outside of it."""
    parts = urlsplit(base)
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")).geturl()


def place_of(url: str, path: str = "") -> str:
    """A server's place: its address without query, last ``/v1`` and, where one is given, the path of a call there.

    ``http://h:8000``, ``http://h:8000/v1/`` and a call's ``http://h:8000/v1/chat/completions`` are one place.
    """
    parts = urlsplit(url)
    rest = parts.path.rstrip("/").removesuffix(path).rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{rest}"


def is_local(url: str) -> bool:
    """Whether the host is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
