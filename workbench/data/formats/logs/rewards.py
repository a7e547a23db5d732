"""What reward functions gave the completions of a training run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.data.formats.logs.logged import Grade, graded, verifier_name


class Occurrences:
    """Ids of a file's completions: a policy may sample the same answer again, and each is one of its rows."""

    def __init__(self) -> None:
        self._met: Counter[bytes] = Counter()

    def key_of(self, *parts: object) -> str:
        """The id of the next completion with these parts: the same in every reading of the file."""
        same = blake2b(msgspec.msgpack.encode([str(part) for part in parts]), digest_size=16)
        self._met[same.digest()] += 1
        same.update(str(self._met[same.digest()]).encode())
        return same.hexdigest()


def rewarded(tool: str, rewards: Mapping[str, Any]) -> Iterator[Grade]:
    """A grade a reward function: 1 is correct, 0 and -1 are incorrect, any other number is a score alone.

    Args:
        rewards: Name -> what it gave; what is no finite number is no reward (such as NaN: it did not apply).
    """
    for name, value in rewards.items():
        grade = graded(verifier_name(tool, name), value)
        if grade is not None:
            yield replace(grade, verdict="incorrect") if grade.score == -1 else grade
