"""What building a set needs of the outside: a model that writes, and a sandbox that executes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from workbench.core.code import Execution, Program
from workbench.llm.records import PromptMessage

Key = TypeVar("Key")


class WritingRequest(Struct, frozen=True, kw_only=True):
    """One text that a model is to write.

    Attributes:
        messages: What the model is sent.
        sample: Tells apart independent replies to the same messages, from 0.
        step: What it is for, such as ``"tests"``, for people who look at the calls.
        model: Which of the writer's models, by its name there; "" is the first.
    """

    messages: tuple[PromptMessage, ...]
    sample: int = 0
    step: str = "write"
    model: str = ""


class Writer(Protocol):
    """Models that write; equal requests with equal samples get the same reply, for ever."""

    def ask(self, asked: Sequence[WritingRequest]) -> list[str | None]:
        """The replies, in the order of what was asked; None where a call failed for good."""
        ...


class Executor(Protocol):
    """Runs programs against their tests, without harm."""

    def run(self, jobs: Iterable[tuple[Key, Program]]) -> Iterator[tuple[Key, Execution]]:
        """What came of every job, each with its key, in the order they end."""
        ...
