"""Audit a training: store a seeded sample of the judged completions in a project, without delaying the training.

A reward hands over its verdicts and returns at once. A thread samples, counts and stores while no reward function is
running; if one always is, the thread does a small piece of work every few milliseconds. Completions beyond its
capacity are dropped, and their number is reported.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Final, NamedTuple

from workbench.core.database.values import now
from workbench.core.errors import WorkbenchError
from workbench.core.project import open_project
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.executor import is_encodable
from workbench.training.auditing import Audit
from workbench.training.store import trainings as store
from workbench.training.store.trainings import Because, StepCounts, TakenCompletion
from workbench.training.wordings import Alarm, WordingWatch

MAX_WAITING_CHARACTERS: Final = 64 << 20
"""Maximum characters of waiting completions; beyond it, completions are dropped."""
_MIN_STEP_COMPLETIONS: Final = 64
"""Minimum completions of a counted step, for trainers that don't report their step."""
_WEIGHTS: Final[dict[Because, float]] = {"chance": 1.0, "doubtful": 3.0, "rising": 5.0}
_DOUBTFUL: Final = (0.2, 0.8)
_MEMORY: Final = 1 / 2_000
_HELD: Final = 500
_FLUSH_S: Final = 2.0
_SAVE_S: Final = 30.0
"""Seconds between saves of the known phrasings."""
_PIECE_S: Final = 0.002
_PATIENCE_S: Final = 0.02
_RANGE: Final = 1 << 64


class _JudgedCall(NamedTuple):
    step: int | None
    items: Sequence[VerifierInput]
    verdicts: Sequence[Verdict]


class Sampler:
    """Samples each completion independently; doubtful verdicts and newly frequent phrasings get a higher
    probability."""

    def __init__(self, share: float, seed: int) -> None:
        self._share, self._seed = share, seed
        self._mean = 1.0
        self._step: int | None = None
        self._seen: dict[bytes, int] = {}

    def taken(self, item: VerifierInput, verdict: Verdict, step: int, *, rising: bool) -> TakenCompletion | None:
        if step != self._step:
            self._step, self._seen = step, {}
        because: Because = "rising" if rising else "doubtful" if _is_doubtful(verdict) else "chance"
        weight = _WEIGHTS[because]
        chance = min(1.0, self._share * weight / self._mean)
        self._mean += _MEMORY * (weight - self._mean)
        content = blake2b(repr((item.question, item.reference, item.completion)).encode(), digest_size=16).digest()
        time_ = self._seen[content] = self._seen.get(content, 0) + 1
        drawn = blake2b(f"{self._seed} {step} {time_} ".encode() + content, digest_size=8).digest()
        if int.from_bytes(drawn) / _RANGE >= chance:
            return None
        key = f"{step}/{content[:8].hex()}/{time_}"
        return TakenCompletion(key=key, item=item, verdict=verdict, step=step, chance=chance, because=because)


def _is_doubtful(verdict: Verdict) -> bool:
    if verdict.outcome not in (Outcome.CORRECT, Outcome.INCORRECT):
        return True
    return verdict.score is not None and _DOUBTFUL[0] < verdict.score < _DOUBTFUL[1]


class Watcher:
    """Stores a sample of judged completions, in a separate thread.

    Attributes:
        dropped: Number of completions that were dropped.

    Raises:
        StoreError: The project can't be opened.
        UsageError: The project already uses the training's name for something else.
    """

    def __init__(self, audit: Audit, verifier: str, version: str) -> None:
        self.dropped = 0
        self.trouble: str | None = None
        self._training = audit.training
        self._project = open_project(audit.database, create=True)
        with self._project.database.write() as connection:
            self._ids = store.find_or_create_training(connection, audit, verifier, version, now())
        reader = self._project.database.reader()
        self._sampler = Sampler(audit.share, audit.seed)
        self._wordings = WordingWatch(store.load_phrasings(reader, self._ids[0]))
        self._lock = threading.Lock()
        self._waiting: deque[_JudgedCall] = deque()
        self._characters = 0
        self._busy = 0
        self._ending = False
        self._awake = threading.Event()
        self._step: int | None = None
        self._counted = store.next_step(reader, self._ids[0])
        self._kept_at, self._kept_steps = time.monotonic(), self._wordings.steps
        self._of_step = 0
        self._held: list[TakenCompletion] = []
        self._counts: dict[int, StepCounts] = {}
        self._alarms: list[Alarm] = []
        self._unsaid = self._failures = 0
        self._stored_at = time.monotonic()
        self._thread = threading.Thread(target=self._run_thread, name="workbench-audit", daemon=True)
        self._thread.start()

    @contextmanager
    def judging(self) -> Iterator[None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def offer(self, items: Sequence[VerifierInput], verdicts: Sequence[Verdict], step: int | None = None) -> None:
        """Queue judged completions; this neither blocks nor fails.

        Args:
            step: The training's step; None if the trainer doesn't report it: then a step ends with the call in which
                it has at least 64 completions.
        """
        characters = sum(map(len, [item.completion for item in items]))
        with self._lock:
            if self._ending or self._characters + characters > MAX_WAITING_CHARACTERS:
                self.dropped += len(items)
                self._unsaid += len(items)
                return
            self._characters += characters
            self._waiting.append(_JudgedCall(step, items, verdicts))
        self._awake.set()

    def flush(self, seconds: float = 60.0) -> None:
        end, failures = time.monotonic() + seconds, self._failures
        while time.monotonic() < end and self._thread.is_alive():
            with self._lock:
                is_seen = not self._waiting and not self._characters
                if is_seen and (self._failures > failures or not (self._held or self._counts)):
                    return
            self._stored_at = self._kept_at = 0.0
            self._awake.set()
            time.sleep(_PIECE_S)

    def close(self) -> None:
        with self._lock:
            self._ending = True
        self._awake.set()
        self._thread.join()
        self._project.close()

    @property
    def warnings(self) -> list[str]:
        said = []
        if self.dropped:
            said.append(f"The audit of {self._training!r} dropped {self.dropped:,} completions.")
        if self.trouble is not None:
            said.append(f"The audit of {self._training!r} could not be stored: {self.trouble}")
        return said

    # -- The work of the thread that samples and stores.

    def _run_thread(self) -> None:
        while True:
            self._awake.wait(_FLUSH_S)
            self._awake.clear()
            while self._waiting:
                self._process_call(self._waiting[0])
                with self._lock:
                    judged = self._waiting.popleft()
                    self._characters -= sum(len(item.completion) for item in judged.items)
                self._store_if_due()
            if self._ending and not self._waiting:
                if self._step is not None:
                    self._end_step(self._step)
                self._store()
                self.dropped += len(self._held)
                return
            self._store_if_due()

    def _process_call(self, judged: _JudgedCall) -> None:
        step = self._step_of(judged)
        if self._step is not None and step != self._step:
            self._end_step(self._step)
        self._step = step
        counts = self._counts.setdefault(step, StepCounts())
        for item, verdict in zip(judged.items, judged.verdicts, strict=True):
            self._wait_while_judging()
            self._process_completion(item, verdict, step, counts)

    def _step_of(self, judged: _JudgedCall) -> int:
        if judged.step is not None:
            return judged.step
        if self._of_step >= _MIN_STEP_COMPLETIONS:
            self._counted, self._of_step = self._counted + 1, 0
        self._of_step += len(judged.items)
        return self._counted

    def _process_completion(self, item: VerifierInput, verdict: Verdict, step: int, counts: StepCounts) -> None:
        if not is_encodable(item):
            counts.dropped += 1
            self.dropped += 1
            return
        rising = False
        if verdict.outcome in (Outcome.CORRECT, Outcome.INCORRECT):
            accepted = verdict.outcome is Outcome.CORRECT
            rising = self._wordings.add((item.question, item.reference), item.completion, accepted=accepted)
            counts.accepted += accepted
            counts.rejected += not accepted
        else:
            counts.undecided += 1
        if (taken := self._sampler.taken(item, verdict, step, rising=rising)) is not None:
            self._held.append(taken)

    def _end_step(self, step: int) -> None:
        self._alarms += self._wordings.close(step, self._wait_while_judging)

    def _wait_while_judging(self) -> None:
        waited = 0.0
        while self._busy and waited < _PATIENCE_S and not self._ending:
            time.sleep(_PIECE_S)
            waited += _PIECE_S

    def _store_if_due(self) -> None:
        if len(self._held) >= _HELD or time.monotonic() - self._stored_at >= _FLUSH_S:
            self._wait_while_judging()
            self._store()

    def _store(self) -> None:
        with self._lock:
            dropped, self._unsaid = self._unsaid, 0
        if dropped:
            self._counts.setdefault(self._step or 0, StepCounts()).dropped += dropped
        if not (self._held or self._counts or self._alarms or self._is_save_due()):
            return
        try:
            self._write_to_project()
            self.trouble = None
        except WorkbenchError as error:
            self.trouble = str(error)
            self._failures += 1
            self._drop_oldest()
        self._stored_at = time.monotonic()

    def _write_to_project(self) -> None:
        training, dataset = self._ids
        held, later = self._held, False
        with self._project.database.explained(), self._project.database.write() as connection:
            later = store.is_importing(connection)
            if held and not later:
                store.put_taken(connection, training, dataset, held)
            store.put_counts(connection, training, self._counts.items())
            store.put_alarms(connection, training, self._alarms)
            keeps = self._is_save_due()
            if keeps:
                store.store_phrasings(connection, training, self._wordings.learnt)
        if keeps:
            self._kept_at, self._kept_steps = time.monotonic(), self._wordings.steps
        self._counts, self._alarms = {}, []
        if later:
            self._drop_oldest()
        else:
            self._held = []

    def _is_save_due(self) -> bool:
        due = self._ending or time.monotonic() - self._kept_at >= _SAVE_S
        return due and self._wordings.steps != self._kept_steps

    def _drop_oldest(self) -> None:
        over = self._held[: -10 * _HELD]
        self._held = self._held[-10 * _HELD :]
        for one in over:
            self._counts.setdefault(one.step, StepCounts()).dropped += 1
        self.dropped += len(over)
