"""What completions are wanted: of which questions, by which models, how drawn."""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct, structs

from workbench.core.sets import SetName
from workbench.llm.records import PromptMessage, Sampling
from workbench.llm.server import Limits, ModelServer, Price
from workbench.verifiers.base import SERVER_AT

QUESTION: Final = "{question}"
"""Where the question stands in a prompt; the only placeholder, all else is the prompt's own text."""


class QuestionPrompt(Struct, frozen=True, kw_only=True):
    """What a model is asked.

    Attributes:
        template: The user's message, with one `QUESTION`.
        system: The system message, if there is to be one.
    """

    template: str = QUESTION
    system: str | None = None

    def messages(self, question: str) -> tuple[PromptMessage, ...]:
        """The chat about a question."""
        before, _, after = self.template.partition(QUESTION)
        asked = PromptMessage("user", f"{before}{question}{after}")
        return (asked,) if self.system is None else (PromptMessage("system", self.system), asked)

    @property
    def sha256(self) -> str:
        """Of both texts."""
        return hashlib.sha256(f"{self.system or ''}\0{self.template}".encode()).hexdigest()


class PlannedModel(Struct, frozen=True, kw_only=True):
    """A model and how it is asked.

    Attributes:
        name: What it is called here, in the completions and their ids.
        samples: Completions of each question.
        price: None where it is not known.
    """

    name: str
    server: ModelServer
    sampling: Sampling
    samples: int
    limits: Limits
    price: Price | None

    def config(self, prompt: QuestionPrompt) -> dict[str, object]:
        """All that may change a reply; how hard the server is asked does not."""
        return {
            "server": self.server.profile,
            "model": self.server.model,
            SERVER_AT: list(self.server.places),
            "sampling": structs.asdict(self.sampling),
            "prompt_sha256": prompt.sha256,
        }


class CompletionPlan(Struct, frozen=True, kw_only=True):
    """What is wanted.

    Attributes:
        set: A set of questions.
        dataset: The data set whose questions are asked where no set is named.
        max_cost: US dollars of all models together, over all starts.
        own: Whether all of it is the caller's own word, and nothing comes from a file.
    """

    set: SetName | None
    dataset: str | None
    prompt: QuestionPrompt
    models: tuple[PlannedModel, ...]
    max_cost: float | None = None
    own: bool = False
