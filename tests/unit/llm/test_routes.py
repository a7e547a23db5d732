"""Connections: through a configured proxy, with custom certificate authorities; compressed replies."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import subprocess
import zlib
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.servers.scripted import Scripted, chat_reply, scripted
from tests.unit.llm.test_extras import GIVEN
from workbench.config import trust
from workbench.llm.dialects import read
from workbench.llm.failures import AttemptFailed, classify_response
from workbench.llm.records import Halt
from workbench.llm.server import Route
from workbench.llm.transport import MAX_REPLY_BYTES, Received, Transport
from workbench.verifiers.base import identity
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.serving import server_from

BODY = json.dumps(chat_reply("Yes")).encode()


async def got(url: str, **more: Any) -> Received:
    async with Transport() as transport:
        return await transport.send(url, {}, b"{}", 20.0, **more)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("", BODY),
        # As gateways do it: without zlib's frame, with a word too many.
        ("deflate", zlib.compress(BODY, wbits=-zlib.MAX_WBITS)),
        ("gzip, identity", gzip.compress(BODY)),
        ("UTF-8", b" \n" + BODY),
        ("utf-8, gzip", gzip.compress(BODY)),
    ],
)
async def test_an_unrequested_compressed_reply_is_read(encoding: str, packed: bytes) -> None:
    headers = {"content-encoding": encoding} if encoding else {}
    with scripted(lambda _: Scripted(headers=headers, body=packed)) as server:
        received = await got(f"{server.url}/chat/completions")
    assert read(received.body, "chat", "openai").text == "Yes"


@pytest.mark.parametrize(
    ("encoding", "packed", "says"),
    [
        ("gzip", MAX_REPLY_BYTES + 1, "longer than"),
        pytest.param("gzip", 2**29, "longer than", marks=pytest.mark.soak),
        ("gzip", b"\x1f no gzip at all", "can't be unpacked"),
        ("gzip", BODY, "can't be unpacked"),
        ("gzip", gzip.compress(BODY)[:-12], "the reply is no JSON"),
        ("br", b"\x0b\x02\x80", "the reply is no JSON"),
    ],
)
async def test_compressed_replies_are_bounded_and_complete(encoding: str, packed: bytes | int, says: str) -> None:
    body = packed if isinstance(packed, bytes) else gzip.compress(bytes(packed))
    answer = Scripted(headers={"content-encoding": encoding}, body=body)
    with scripted(lambda _: answer) as server, pytest.raises(AttemptFailed, match=says) as caught:
        read((await got(server.url)).body, "chat", "openai")
    assert caught.value.may_be_repeated


@pytest.mark.parametrize(
    "answer",
    [
        Scripted(429, {"content-encoding": "br", "retry-after": "7"}, b"\x0b\x02\x80"),
        Scripted(429, {"content-encoding": "gzip", "retry-after": "7"}, b"\x1f no gzip"),
        Scripted(429, {"retry-after": "7"}, b"x" * (MAX_REPLY_BYTES + 1)),
        Scripted(429, {"retry-after": "7"}, b'{"error": "slow"}', cut=9),
    ],
    ids=["packed otherwise", "badly packed", "too long", "cut"],
)
async def test_a_refusal_is_one_although_its_words_cannot_be_read(answer: Scripted) -> None:
    with scripted(lambda _: answer) as server:
        received = await got(server.url)
    failure = classify_response(received.status, received.headers, received.body)
    assert (failure.code, failure.wait) == ("rate_limit", 7.0)


async def test_a_proxy_is_used_only_if_configured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with scripted(lambda _: "Yes") as proxy, scripted(lambda _: "Yes") as server:
        address = f"http://127.0.0.1:{proxy.port}"
        target = f"{server.url}/chat/completions"
        monkeypatch.setenv("http_proxy", address)
        monkeypatch.delenv("no_proxy", raising=False)
        await got(target)
        assert (len(server.received), len(proxy.received)) == (1, 0)
        for asked in (address, "environment"):
            await got(target, route=Route(proxy=asked))
        assert (len(server.received), len(proxy.received)) == (1, 2)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        await got(target, route=Route(proxy="environment"))
        assert (len(server.received), len(proxy.received)) == (2, 2)


@pytest.mark.skipif(which("openssl") is None, reason="makes a certificate")
async def test_custom_certificate_authorities_are_trusted_if_configured(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        assert (await got(url, route=Route(ca_file=str(certificate)))).body == b"{}"
        with pytest.raises(AttemptFailed, match="no secure connection"):
            await got(url)
        for path in (tmp_path / "none.pem", key):
            with pytest.raises(Halt, match="Check ca_file"):
                await got(url, route=Route(ca_file=str(path)))


def test_a_route_changes_no_judges_name_and_has_to_be_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CONFIG_DIR", str(tmp_path))
    routed = GIVEN | {"ca_file": "ours.pem", "proxy": "http://proxy.example:3128"}
    assert identity(LlmJudge(**routed)) == identity(LlmJudge(**GIVEN))
    database = tmp_path / "p.db"
    trust.accept_grants(database, trust.grants_of({"judge": server_from(GIVEN)}, {}))
    with pytest.raises(trust.NotTrustedError, match=r"through the proxy http://proxy\.example:3128 trusting ours\.pem"):
        trust.require_grants(database, trust.grants_of({"judge": server_from(routed)}, {}))
    for wrong in ("proxy.example", "http://me:secret@proxy.example:3128"):
        with pytest.raises(ValueError, match=r"^proxy: use an address") as caught:
            server_from(GIVEN | {"proxy": wrong})
        assert "secret" not in str(caught.value)
