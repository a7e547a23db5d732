"""Access control: every route, with and without a login, from own and foreign pages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from yarl import URL

from tests.background import PATIENCE_S
from tests.helpers import make_project
from tests.served_app import SIZE, browser, origin, served, sign_in, tab
from workbench.app.web.serve import server
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.server import FILES, HEADERS, OPEN_FILES
from workbench.core.project import Project
from workbench.labelling import tokens
from workbench.labelling.people import add_annotators

GOOD_SOCKET = f"/ws?{SIZE}"
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    add_annotators(project, ["ann", "ben"])
    return project


@pytest_asyncio.fixture
async def address(project: Project) -> AsyncIterator[Address]:
    async with served(project) as found:
        yield found


async def raw(address: Address, data: bytes) -> bytes:
    """Send malformed bytes and return the answer of the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(data)
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read(65_536)
    finally:
        writer.close()


@pytest.mark.few(4)
@pytest.mark.parametrize("path", ["/", *FILES, GOOD_SOCKET, "/nothing", "/static/", "/download/k", "/favicon.ico"])
async def test_without_a_login_other_routes_are_rejected(address: Address, path: str) -> None:
    async with browser(address) as client, client.get(path) as answer:
        assert answer.status == 403
        assert "a new one" in await answer.text()
        assert "Set-Cookie" not in answer.headers


async def test_only_routes_needed_by_a_link_are_public(address: Address) -> None:
    async with browser(address) as client:
        for path in ("/enter", *OPEN_FILES):
            async with client.get(path) as answer:
                assert answer.status == 200
                assert "//fonts" not in await answer.text()


async def test_a_login_gives_access_to_pages_and_files_only(project: Project, address: Address) -> None:
    async with sign_in(project, address, "ann") as client:
        for path in ("/", *FILES):
            async with client.get(path) as answer:
                assert (answer.status, int(answer.headers["Content-Length"]) > 100) == (200, True), path
        for path in (
            *("/static", "/static/", "/static/../gate.py", "/static/..%2f..%2fgate.py", "/static/%2e%2e/gate.py"),
            *("/static//etc/passwd", "/static/app.js/", "/static/app.js%00", "/download/k", "/..%2f..%2f"),
        ):
            async with client.get(URL(origin(address) + path, encoded=True)) as answer:
                assert answer.status == 404, path
        async with client.delete("/") as answer:
            assert answer.status == 405
        async with client.get("/ws") as answer:
            assert answer.status == 403


async def test_every_answer_has_the_headers_that_protect(project: Project, address: Address) -> None:
    async with sign_in(project, address, "ann") as client:
        for path, headers in (("/", {}), ("/x", {}), ("/", {"Host": "evil"}), ("/enter", {}), ("/static/app.js", {})):
            async with client.get(path, headers=headers) as answer:
                found = {name: answer.headers.get(name) for name in HEADERS}
                if path == "/static/app.js":
                    assert found.pop("Cache-Control") == "private, max-age=3600"
                assert found.items() <= HEADERS.items()
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy


async def test_pages_have_no_inline_script_and_no_other_host(project: Project, address: Address) -> None:
    async with sign_in(project, address, "ann") as client:
        for path in ("/", "/enter"):
            async with client.get(path) as answer:
                text = await answer.text()
            assert "<script>" not in text
            assert " on" not in text.replace(" one", "").replace(" once", "")
            assert "http" not in text


async def test_the_cookie(project: Project, address: Address) -> None:
    async with browser(address) as client:
        link = tokens.new_link(project, "ann")
        async with client.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
            cookie = answer.headers["Set-Cookie"]
    parts = {part.strip().partition("=")[0].lower() for part in cookie.split(";")[1:]}
    assert parts == {"httponly", "samesite", "path", "max-age"}
    assert "SameSite=Strict" in cookie
    assert "Path=/;" in f"{cookie};"
    assert cookie.startswith(f"workbench-{address.port}=")
    assert link not in cookie


async def test_behind_tls_the_cookie_is_bound_to_it(project: Project) -> None:
    url = "https://labels.example.org"
    async with served(project, public_url=url) as address, browser(address) as client:
        headers = {"Host": "labels.example.org", "Origin": url}
        async with client.post("/enter", data=tokens.new_link(project, "ann"), headers=headers) as answer:
            cookie = answer.headers["Set-Cookie"]
        async with client.post("/enter", data="x", headers=headers | {"Origin": "http://labels.example.org"}) as answer:
            assert answer.status == 403
    assert cookie.startswith("__Host-workbench-")
    assert "Secure" in cookie
    assert "domain" not in cookie.lower()


async def test_a_used_link_is_rejected(project: Project, address: Address) -> None:
    link = tokens.new_link(project, "ann")
    async with browser(address, link), browser(address) as other:
        async with other.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
            assert answer.status == 403
            used = await answer.text()
        async with other.post("/enter", data="A" * 43, headers={"Origin": origin(address)}) as answer:
            assert (answer.status, await answer.text()) == (403, used)
        async with other.get("/") as answer:
            assert answer.status == 403


async def test_a_login_always_sets_a_new_cookie(project: Project, address: Address) -> None:
    fixed = "B" * 43
    async with browser(address) as client:
        client.cookie_jar.update_cookies({f"workbench-{address.port}": fixed})
        headers = {"Origin": origin(address)}
        async with client.post("/enter", data=tokens.new_link(project, "ann"), headers=headers) as answer:
            first = answer.cookies[f"workbench-{address.port}"].value
        async with client.post("/enter", data=tokens.new_link(project, "ann"), headers=headers) as answer:
            second = answer.cookies[f"workbench-{address.port}"].value
    assert len({fixed, first, second}) == 3
    assert tokens.name_of_login(project, fixed) is None
    assert tokens.name_of_login(project, first) is None
    assert tokens.name_of_login(project, second) == "ann"


FOREIGN = ["null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://localhost:{port}"]


@pytest.mark.parametrize("foreign", [None, "", *FOREIGN])
async def test_foreign_origins_are_rejected_despite_the_cookie(
    project: Project, address: Address, foreign: str | None
) -> None:
    headers = {} if foreign is None else {"Origin": foreign.format(port=address.port)}
    link = tokens.new_link(project, "ben")
    async with sign_in(project, address, "ann") as client:
        async with client.get(GOOD_SOCKET, headers=UPGRADE | headers) as answer:
            assert answer.status == 403
        async with client.post("/enter", data=link, headers=headers) as answer:
            assert answer.status == 403
    assert tokens.redeem_link(project, link) is not None


async def test_foreign_hosts_are_rejected_despite_the_cookie(project: Project, address: Address) -> None:
    evil = f"evil.example:{address.port}"
    async with sign_in(project, address, "ann") as client:
        for path in ("/", "/enter", GOOD_SOCKET):
            async with client.get(path, headers={"Host": evil, "Origin": f"http://{evil}"}) as answer:
                assert answer.status == 421
    assert b" 421 " in await raw(address, b"GET / HTTP/1.0\r\n\r\n")


async def test_the_socket_opens_with_both(project: Project, address: Address) -> None:
    async with sign_in(project, address, "ann") as client:
        async with tab(client, address) as page:
            await page.wait_for("I am ann")
        for query in ("", "?width=80", "?width=1e3&height=24", "?width=80&height=-1", "?width=&height="):
            async with client.get(f"/ws{query}", headers=UPGRADE | {"Origin": origin(address)}) as answer:
                assert answer.status == 400


async def test_a_cookie_of_one_is_never_another(project: Project, address: Address) -> None:
    for name in ("ann", "ben", "ann"):
        async with sign_in(project, address, name) as client, tab(client, address) as page:
            await page.wait_for(f"I am {name}")


async def test_a_valid_link_works_despite_failures_from_the_same_address(project: Project, address: Address) -> None:
    """Behind a proxy or tunnel all clients share an address: a stranger's guesses lock out no annotator."""
    headers = {"Origin": origin(address)}
    links = {name: tokens.new_link(project, name) for name in ("ann", "ben")}
    async with browser(address) as stranger:
        for number in range(30):
            async with stranger.post("/enter", data=f"{number:A>43}", headers=headers) as answer:
                assert answer.status == 403
    for name, link in links.items():
        async with browser(address) as client:
            async with client.post("/enter", data=link, headers=headers) as answer:
                assert answer.status == 204
            async with tab(client, address) as page:
                await page.wait_for(f"I am {name}")
    async with browser(address) as stranger:
        for guess in (links["ann"], "A" * 43, "", "x"):
            async with stranger.post("/enter", data=guess, headers=headers) as answer:
                assert answer.status == 403


async def test_strangers_connections_give_way(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Holding every connection neither locks out annotators nor ends their work."""
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 6)
    held: list[asyncio.StreamWriter] = []

    async def flood(address: Address, start: bytes) -> None:
        for _ in range(20):
            _, writer = await asyncio.open_connection("127.0.0.1", address.port)
            writer.write(start)
            held.append(writer)
        await asyncio.sleep(0.05)

    slow = b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 43\r\nOrigin: http://127.0.0.1:%d\r\n\r\nA"
    async with served(project) as address:
        await flood(address, b"")
        async with sign_in(project, address, "ann") as client, tab(client, address) as page:
            await page.wait_for("I am ann")
            for start in (b"", b"GET /", slow % address.port, b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
                await flood(address, start)
            await page.press("x")
            await page.wait_for("x")
            async with sign_in(project, address, "ben") as other, other.get("/") as answer:
                assert answer.status == 200
        for writer in held:
            writer.close()
    assert "Traceback" not in caplog.text


async def test_rejected_requests_write_nothing(
    project: Project, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guesses cost a look-up by a hash each, and never the database's one writer."""
    written: list[object] = []
    monkeypatch.setattr(type(project.database), "write", lambda *_: written.append(1))
    async with browser(address) as stranger:
        for guess in (*("B" * 43,) * 15, "short", "ä" * 43, "A" * 43 + "\n"):
            async with stranger.post("/enter", data=guess.encode(), headers={"Origin": origin(address)}) as answer:
                assert answer.status in (403, 429)
    assert written == []


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"A" * 43 + b"\n", b"\x00" * 43], ids=repr)
async def test_invalid_link_bodies_are_rejected(address: Address, body: bytes) -> None:
    headers = {"Origin": origin(address), "Content-Type": "text/plain; charset=nonsense"}
    async with browser(address) as client, client.post("/enter", data=body, headers=headers) as answer:
        assert answer.status == 403


async def test_a_large_body_is_not_read(address: Address) -> None:
    headers = {"Origin": origin(address)}
    async with browser(address) as client, client.post("/enter", data=b"A" * 2_000, headers=headers) as answer:
        assert answer.status == 413


BAD_REQUESTS = [
    *(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, b"GET / HTTP/9.9\r\n\r\n", b"G" * 20_000),
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\rInjected: c\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\x00c\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    b"GET //evil.example/%0d%0aSet-Cookie:a=b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: " + b"a=b; " * 5_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
    # Smuggled, misnamed and forwarded: none of it is believed.
    *(
        b"%s\r\nConnection: close\r\n%s\r\n\r\n%s" % (first, second, rest)
        for first, second, rest in (
            (b"GET / HTTP/1.1\r\nHost: evil", b"X-Forwarded-Host: 127.0.0.1", b""),
            (b"GET / HTTP/1.1\r\nHost: evil", b"Forwarded: host=127.0.0.1;proto=https", b""),
            (b"GET / HTTP/1.1\r\nHost: 127.0.0.1@evil", b"X-Real-Ip: 127.0.0.1", b""),
            (b"GET / HTTP/1.1\r\nHost: 127.0.0.1.evil", b"Accept: */*", b""),
            (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80:80", b"Accept: */*", b""),
            (b"GET / HTTP/1.1\r\nHost: 0x7f000001.evil", b"Accept: */*", b""),
            (b"GET / HTTP/1.1\r\nHost: [::1", b"Accept: */*", b""),
            (b"GET / HTTP/1.1\r\nHost: localhost\x00", b"Accept: */*", b""),
            (b"GET / HTTP/1.1\r\nHost: localhost", b"X-Original-Url: /static/app.js", b""),
            (b"GET /;/static/page.css HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"GET /static/page.css/../app.js HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"GET /%2e%2e/static/app.js HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"GET /enter/../ HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"GET //static/app.js HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"GET /STATIC/APP.JS HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"OPTIONS * HTTP/1.1\r\nHost: localhost", b"Access-Control-Request-Method: POST", b""),
            (b"TRACE / HTTP/1.1\r\nHost: localhost", b"Max-Forwards: 0", b""),
            (b"CONNECT evil:443 HTTP/1.1\r\nHost: localhost", b"Accept: */*", b""),
            (b"PUT /enter HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost", b"Content-Length: 0", b""),
            (b"GET /ws?width=80&height=24 HTTP/1.1\r\nHost: localhost", b"Upgrade: h2c\r\nHTTP2-Settings: A", b""),
            (b"POST /enter HTTP/1.1\r\nHost: localhost", b"Transfer-Encoding: chunked, identity", b"0\r\n\r\n"),
            (b"POST /enter HTTP/1.1\r\nHost: localhost", b"Content-Length: 1\r\nContent-Length: 2", b"ab"),
        )
    ),
]


@pytest.mark.few(5)
@pytest.mark.parametrize("data", BAD_REQUESTS, ids=lambda data: repr(data[:60]))
async def test_bad_requests_get_an_answer_and_no_traceback(
    address: Address, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = await raw(address, data)
    assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), answer[:200]
    assert b"Set-Cookie" not in answer
    assert "Traceback" not in caplog.text


async def test_logs_hold_neither_links_nor_cookies(
    project: Project, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        link = tokens.new_link(project, "ann")
        async with browser(address, link) as client:
            login = next(iter(client.cookie_jar)).value
            async with tab(client, address) as page:
                await page.wait_for("I am ann")
            async with client.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
                assert answer.status == 403
            async with client.get(f"/{'x' * 5_000}\x1b[31m") as answer:
                assert answer.status == 404
    assert "ann has come in" in caplog.text
    ours = "".join(record.getMessage() for record in caplog.records if record.name.startswith("workbench"))
    assert link not in ours
    assert login not in ours
    assert "\x1b" not in ours


async def test_a_busy_database_is_no_crash(project: Project, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.core.errors import StoreError

    def fail(*_: object) -> None:
        raise StoreError("it is locked")

    async with sign_in(project, address, "ann") as client:
        monkeypatch.setattr(tokens, "name_of_login", fail)
        async with client.get("/") as answer:
            assert answer.status == 503
            assert "locked" not in await answer.text()


async def test_one_person_s_connections_keep_no_newcomer_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest connections of the person who holds them all are dropped; others within their share lose none."""
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 12)
    monkeypatch.setattr(server, "CONNECTIONS_PER_PERSON", 4)
    held: list[asyncio.StreamWriter] = []
    add_annotators(project, ["cat"])
    async with served(project) as address, sign_in(project, address, "ann") as client:
        async with sign_in(project, address, "cat") as third, tab(third, address) as page:
            await page.wait_for("I am cat")
            cookies = client.cookie_jar.filter_cookies(URL(origin(address)))
            cookie = "; ".join(f"{one.key}={one.value}" for one in cookies.values())
            for _ in range(30):
                reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
                writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
                assert b"200" in await reader.readline()
                held.append(writer)
            async with sign_in(project, address, "ben") as other, other.get("/") as answer:
                assert answer.status == 200
            await page.press("x")
            await page.wait_for("x")
        for writer in held:
            writer.close()
