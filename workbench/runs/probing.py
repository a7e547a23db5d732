"""Judging probes: as a run judges items, but nothing of it is stored among the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.probes.building import Companion, Probe, asked

_CHUNK = 64

Subject = Probe | Companion
Watch = Callable[[int], None]
"""Is told how many completions are judged."""


class JudgedSubject(Struct, frozen=True, kw_only=True):
    """A completion and its verdict.

    Attributes:
        subject: What was judged; its text is kept only where it was accepted.
        replies: What the servers said, where it was accepted.
    """

    subject: Subject
    verdict: Verdict
    replies: tuple[str, ...] = ()


class Collector:
    """Takes verdicts as a runner does, and keeps them in memory.

    Attributes:
        judged: In the order the verdicts came.
        skipped: Probes that were left out.
        slowest_ms: The longest that one completion took.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.judged: list[JudgedSubject] = []
        self.skipped: list[Probe] = []
        self.slowest_ms = 0.0
        self._watch = watch
        self._waiting: dict[int, Subject] = {}
        self._known: dict[bytes, Verdict] = {}

    def inputs(self, subjects: Iterable[Subject]) -> Iterator[list[VerifierInput]]:
        """What is to be judged, a few at a time; probes that were left out are noted."""
        chunk: list[VerifierInput] = []
        for subject in subjects:
            if isinstance(subject, Probe) and subject.completion is None:
                self.skipped.append(subject)
                continue
            item = asked(subject)
            self._waiting[item.item] = subject
            chunk.append(item)
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] | None = None) -> None:
        """Keep verdicts by the item's number and, with them, what workers found by key."""
        for item, verdict in results:
            self.take(item, verdict)
        self._known.update(found or {})

    def take(self, item: int, verdict: Verdict, replies: tuple[str, ...] = ()) -> None:
        """Keep one verdict; the text and the evidence only of what was accepted."""
        self.slowest_ms = max(self.slowest_ms, verdict.ms)
        subject = self._waiting.pop(item)
        if verdict.outcome is Outcome.CORRECT:
            self.judged.append(JudgedSubject(subject=subject, verdict=verdict, replies=replies))
        else:
            bare = Verdict(outcome=verdict.outcome, score=verdict.score)
            self.judged.append(JudgedSubject(subject=structs.replace(subject, completion=""), verdict=bare))

    def recall(self, key: bytes) -> Verdict | None:
        """What a worker has found for a key."""
        return self._known.get(key)

    def look_up(self) -> None:
        """Tell how far it is."""
        if self._watch is not None:
            self._watch(len(self.judged))
