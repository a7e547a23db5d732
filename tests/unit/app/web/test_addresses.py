"""Hosts and origins accepted as the server's own."""

from __future__ import annotations

import pytest

from workbench.app.web.serve.addresses import Address, public_url
from workbench.core.errors import UsageError

HERE = Address(host="127.0.0.1", port=8000)
OPEN = Address(host="0.0.0.0", port=8000)
PROXIED = Address(host="127.0.0.1", port=8000, public_url="https://labels.example.org")


@pytest.mark.parametrize(
    ("address", "host", "good"),
    [
        (HERE, "127.0.0.1:8000", True),
        (HERE, "localhost:8000", True),
        (HERE, "LOCALHOST:8000", True),
        (HERE, "[::1]:8000", True),
        (HERE, "localhost:9000", True),  # through a tunnel
        (HERE, "localhost", True),
        (HERE, "", False),
        (HERE, "evil.example", False),
        (HERE, "evil.example:8000", False),
        (HERE, "localhost.evil.example:8000", False),
        (HERE, "127.0.0.1.evil.example", False),
        (HERE, "me@127.0.0.1:8000", False),
        (HERE, "127.0.0.1:8000:80", False),
        (HERE, "127.0.0.1:8000/", False),
        (HERE, "[::1", False),
        (HERE, "[localhost]evil", False),
        (HERE, "192.168.1.9:8000", False),
        (OPEN, "192.168.1.9:8000", True),  # an address can't be made to point elsewhere
        (OPEN, "box.local:8000", False),
        (Address(host="box.local", port=8000), "box.local:8000", True),
        (Address(host="box.local", port=8000), "localhost:8000", True),
        (PROXIED, "labels.example.org", True),
        (PROXIED, "127.0.0.1:8000", True),  # a proxy that doesn't pass the name on
        (PROXIED, "labels.example.org:444", False),
        (PROXIED, "example.org", False),
    ],
)
def test_hosts(address: Address, host: str, good: bool) -> None:
    assert address.answers_to(host) is good


@pytest.mark.parametrize(
    ("address", "origin", "host", "good"),
    [
        (HERE, "http://127.0.0.1:8000", "127.0.0.1:8000", True),
        (HERE, "http://localhost:9000", "localhost:9000", True),
        (HERE, "http://localhost:8000", "127.0.0.1:8000", False),
        (HERE, "http://127.0.0.1:8001", "127.0.0.1:8000", False),  # another server on this machine
        (HERE, "https://127.0.0.1:8000", "127.0.0.1:8000", False),
        (HERE, "http://evil.example", "127.0.0.1:8000", False),
        (HERE, "http://evil.example", "evil.example", False),
        (HERE, "http://127.0.0.1:8000.evil.example", "127.0.0.1:8000", False),
        (HERE, "null", "127.0.0.1:8000", False),
        (HERE, "", "127.0.0.1:8000", False),
        (HERE, None, "127.0.0.1:8000", False),
        (OPEN, "http://192.168.1.9:8000", "192.168.1.9:8000", True),
        (PROXIED, "https://labels.example.org", "labels.example.org", True),
        (PROXIED, "https://labels.example.org", "127.0.0.1:8000", True),
        (PROXIED, "http://labels.example.org", "labels.example.org", False),
        (PROXIED, "https://evil.example", "labels.example.org", False),
    ],
)
def test_origins(address: Address, origin: str | None, host: str, good: bool) -> None:
    assert address.trusts(origin, host) is good


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://labels.example.org", "https://labels.example.org"),
        ("https://Labels.Example.org/", "https://labels.example.org"),
        ("https://labels.example.org:443", "https://labels.example.org"),
        ("https://labels.example.org:8443", "https://labels.example.org:8443"),
        ("http://10.0.0.5:8000", "http://10.0.0.5:8000"),
    ],
)
def test_public_urls(text: str, url: str) -> None:
    assert public_url(text) == url


@pytest.mark.parametrize(
    "text",
    ["", "labels.example.org", "ftp://x", "https://", "https://x/path", "https://x?q", "https://u:p@x", "https://x:y"],
)
def test_an_invalid_public_url_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        public_url(text)


def test_printed_addresses_and_warnings() -> None:
    assert HERE.url == "http://127.0.0.1:8000"
    assert OPEN.url == "http://127.0.0.1:8000"
    assert Address(host="::1", port=80).url == "http://[::1]:80"
    assert PROXIED.url == "https://labels.example.org"
    assert [one.is_open for one in (HERE, OPEN, Address(host="localhost", port=1))] == [False, True, False]
    assert [one.is_secure for one in (HERE, PROXIED)] == [False, True]
