"""Schema version 8, calls to model servers: stored replies belong to the server that gave them.

Until then a reply was found by model and request alone, so that servers of one model's name shared theirs. Each is
given to the address that its attempt was sent to, and found under that server's key from then on; nothing is asked
again at the same address. A reply whose attempt isn't there is kept for the verdicts that rest on it.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

VERSION_8: tuple[str, ...] = (
    # The server's place: its name, or its address.
    "ALTER TABLE responses ADD COLUMN server TEXT",
    # Who could make nothing of it, so that it is asked for again; '*' where nobody is to use it.
    "ALTER TABLE responses ADD COLUMN unread_by TEXT",
    # Up to which response a run is to ask again.
    "ALTER TABLE runs ADD COLUMN asked_after INTEGER",
)
"""In order."""

_CALLS = ("/chat/completions", "/messages", "/embeddings", "/score", "/classify", "/pooling", "/rerank")


def give_to_servers(db: Any) -> None:
    """Give every stored reply to the server it came from."""
    db.conn.create_function("place_of_call", 1, _place, deterministic=True)
    db.conn.create_function("reply_key", 3, _key, deterministic=True)
    # SQLite takes the plain column from the row with the greatest value: an attempt that is done.
    db.execute(
        "CREATE TEMP TABLE asked_at AS SELECT key, place_of_call(url) AS place, max(state = 'done') AS answered "
        "FROM attempts WHERE state IN ('done', 'sent') GROUP BY key"
    )
    db.execute("CREATE INDEX temp.asked_at_key ON asked_at (key)")
    db.execute(
        "CREATE TEMP TABLE moved AS SELECT r.id, r.key AS old, a.place, reply_key(q.hash, a.place, r.sample) AS new "
        "FROM responses AS r JOIN asked_at AS a ON a.key = r.key JOIN requests AS q ON q.id = r.request_id"
    )
    db.execute("CREATE INDEX temp.moved_old ON moved (old)")
    db.execute("UPDATE responses SET server = m.place, key = m.new FROM moved AS m WHERE m.id = responses.id")
    db.execute("UPDATE attempts SET key = m.new FROM moved AS m WHERE m.old = attempts.key")
    db.execute("DROP TABLE moved")
    db.execute("DROP TABLE asked_at")


def _place(url: str) -> str:
    """As `llm.urls.place_of` has it, of a call's whole address."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(call) for call in _CALLS if path.endswith(call)), path)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{path.rstrip('/').removesuffix('/v1').rstrip('/')}"


def _key(request: bytes, place: str, sample: int) -> bytes:
    """As `llm.lane.reply_key` has it."""
    return hashlib.sha256(b"\0".join((request, place.encode(), str(sample).encode()))).digest()
