"""HTTP requests and bounded responses, whatever the other side does."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import pytest

from tests.servers.scripted import Scripted, scripted
from tests.unit.llm.calling import no_descriptor_left
from workbench.llm.dialects import read
from workbench.llm.failures import AttemptFailed
from workbench.llm.records import Halt
from workbench.llm.transport import Received, Transport


async def sent(url: str, *, timeout_s: float = 20.0, longest: int = 1000) -> Received:
    async with Transport() as transport:
        return await transport.send(url, {"accept-encoding": "identity"}, b"{}", timeout_s, longest)


async def failure(url: str, *, timeout_s: float = 20.0) -> AttemptFailed:
    with pytest.raises(AttemptFailed) as caught:
        await sent(url, timeout_s=timeout_s)
    return caught.value


@contextmanager
def raw(reply: bytes) -> Iterator[str]:
    """Run a server that sends fixed bytes and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(65_536)
                peer.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            thread.join()


async def test_a_response_is_returned_unchanged() -> None:
    with scripted(lambda _: Scripted(418, {"X-Kind": "teapot"}, b"short and stout")) as server:
        received = await sent(server.url)
    assert (received.status, received.headers["x-kind"], received.body) == (418, "teapot", b"short and stout")
    assert server.received[0].headers["accept-encoding"] == "identity"
    assert "cookie" not in server.received[0].headers


async def test_cookies_are_not_stored() -> None:
    with scripted(lambda _: Scripted(headers={"set-cookie": "a=b"})) as server:
        async with Transport() as transport:
            for _ in range(2):
                await transport.send(server.url, {}, b"{}", 20.0)
    assert "cookie" not in server.received[1].headers


async def test_redirects_are_not_followed() -> None:
    with scripted(lambda _: Scripted(307, {"location": "/elsewhere"})) as server:
        assert (await sent(server.url)).status == 307
    assert len(server.received) == 1


async def test_the_likeliest_tokens_of_a_long_reply_are_read() -> None:
    """As many as OpenAI sends for the longest reply of a judge, in its layout."""
    token = {"token": " compared", "logprob": -12.345678, "bytes": list(b" compared")}
    logprobs = {"content": [token | {"top_logprobs": [token] * 20}] * 2048, "refusal": None}
    message = {"role": "assistant", "content": "Final Judgment: Yes"}
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice]}, indent=2).encode()
    with scripted(lambda _: Scripted(body=body)) as server:
        async with Transport() as transport:
            received = await transport.send(server.url, {}, b"{}", 20.0)
    assert len(read(received.body, "chat", "openai").tokens) == 2048


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Scripted(body=b"x" * 1001), "malformed"),
        (Scripted(headers={"content-encoding": "gzip"}, body=gzip.compress(b"x" * 10_000_000, mtime=0)), "malformed"),
        (Scripted(body=b"x" * 100, cut=50), "transport"),
        (Scripted(body=b"", cut=0), None),
    ],
)
async def test_too_long_packed_or_cut(response: Scripted, code: str | None) -> None:
    with scripted(lambda _: response) as server:
        if code is None:
            assert (await sent(server.url)).body == b""
        else:
            assert (await failure(server.url)).code == code


async def test_large_headers_are_accepted() -> None:
    """Cookies, policies, and what a LiteLLM proxy passes on of every header behind it."""
    many = "".join(f"llm_provider-x-{number}: 1\r\n" for number in range(400)).encode()
    long = b"content-security-policy: " + b"x" * 30_000 + b"\r\n"
    with raw(b"HTTP/1.1 200 OK\r\n" + many + long + b"retry-after: 5\r\ncontent-length: 2\r\n\r\n{}") as url:
        received = await sent(url)
    assert (received.body, received.headers["retry-after"]) == (b"{}", "5")


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 99_999,
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}",
    ],
)
async def test_invalid_http_is_a_transport_failure(reply: bytes) -> None:
    with raw(reply) as url:
        found = await failure(url)
    assert found.code == "transport"
    assert "HTTP" in found.detail or not reply


async def test_a_chunked_reply_without_end_is_read_up_to_the_bound() -> None:
    with raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1000\r\n" + b"x" * 4096 + b"\r\n") as url:
        assert (await failure(url)).code == "malformed"


async def test_a_server_that_hangs_is_a_timeout_and_the_connection_is_dropped() -> None:
    with scripted(lambda _: Scripted(hold=threading.Event())) as server:
        found = await failure(server.url, timeout_s=1.0)
    assert (found.code, found.unreachable) == ("timeout", False)


async def test_unreachable_hosts_and_unknown_names() -> None:
    refused, unknown = await asyncio.gather(failure("http://127.0.0.1:9/"), failure("http://no-such-host.invalid/"))
    assert (refused.code, refused.unreachable) == ("transport", True)
    assert "refused" in refused.detail
    assert (unknown.code, unknown.unreachable) == ("transport", True)
    assert "name" in unknown.detail


@pytest.mark.few(6)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "no-such-host.invalid"])
@pytest.mark.parametrize("is_ready", [True, False], ids=["at a later call", "at the first"])
async def test_missing_descriptors_are_not_blamed_on_the_server(host: str, *, is_ready: bool) -> None:
    with scripted(lambda _: Scripted()) as server:
        async with Transport() as transport:
            if is_ready:
                await transport.send(server.url, {}, b"{}", 20.0)
            with no_descriptor_left(), pytest.raises(Halt, match="Too many open files") as caught:
                await transport.send(f"http://{host}:9/", {}, b"{}", 20.0)
    assert "not a fault of the server" in caught.value.message
    assert "ulimit -n" in caught.value.message


async def test_a_full_disk_is_not_blamed_on_the_server() -> None:
    with scripted(lambda _: Scripted(body=b"x" * 100_000)) as server, open("/dev/full", "wb", buffering=0) as full:
        async with Transport() as transport:
            with pytest.raises(Halt, match="No space left"):
                await transport.send(server.url, {}, b"{}", 20.0, 200_000, sink=full)


@pytest.mark.parametrize("error", [FileNotFoundError(2, "none", "a.json"), MemoryError(), TypeError("a bug")])
async def test_an_internal_error_is_not_a_server_failure(error: Exception) -> None:
    class Broken(BytesIO):
        def write(self, _: object) -> int:
            raise error

    with scripted(lambda _: Scripted(body=b"{}")) as server:
        async with Transport() as transport:
            with pytest.raises(type(error)):
                await transport.send(server.url, {}, b"{}", 20.0, sink=Broken())


async def test_a_server_without_tls_is_reported() -> None:
    with raw(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        found = await failure(url.replace("http:", "https:"))
    assert (found.code, found.unreachable) == ("transport", True)
    assert "TLS" in found.detail
