"""Replaces the app in a browser: speaks its protocol, draws what is typed, and misbehaves on request.

Usage: python tests/servers/drawn.py NAME
"""

import os
import signal
import sys
import time

FLOOD = 64 << 20


def packet(kind: bytes, payload: bytes) -> bytes:
    return kind + len(payload).to_bytes(4, "big") + payload


def read_packet() -> tuple[bytes, bytes] | None:
    head = sys.stdin.buffer.read(5)
    return (head[:1], sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))) if len(head) == 5 else None


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def misbehave(what: bytes) -> None:
    if what == b"quit":
        write(packet(b"M", b'{"type": "exit"}'))
        sys.exit(0)
    if what == b"crash":
        raise RuntimeError("it \x1b[31mcrashed")
    if what == b"flood":
        write(packet(b"D", bytes(1 << 16)) * (FLOOD >> 16))
    if what == b"tempt":
        write(packet(b"M", b'{"type": "open_url", "url": "https://example.org", "new_tab": true}'))
        write(packet(b"M", b'{"type": "deliver_file_start", "key": "k", "path": "/etc/passwd"}'))
        write(packet(b"M", b"no json") + packet(b"P", b"l1:ae") + packet(b"?", b"x"))
    if what == b"stay":
        signal.pause()
    if what == b"linger":
        time.sleep(0.3)


def main() -> None:
    write(b"some noise\n__GANGLION__\n" + packet(b"D", f"I am {sys.argv[1]}".encode()))
    try:
        while (found := read_packet()) is not None:
            kind, payload = found
            if kind == b"D":
                misbehave(payload)
            write(packet(b"D", kind + payload))
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
