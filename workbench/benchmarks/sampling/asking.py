"""The requests of a plan of completions, part by part, and which of them have replies."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct, field

from workbench.core.database import sets
from workbench.core.errors import Command, UsageError, opt
from workbench.core.project import Project, batches
from workbench.core.sets import SetName
from workbench.llm.endpoint import Endpoint, PreparedRequest
from workbench.llm.failures import REPEATED
from workbench.llm.gate import MIN_ATTEMPTS
from workbench.llm.records import Chat, FailureCode, PromptMessage, Reply, Sampling, as_stored, ending
from workbench.llm.server import Limits, ModelServer, Price
from workbench.llm.waits import Clock
from workbench.runs.generating import CompletionRequest
from workbench.runs.store import completing as stored
from workbench.runs.store.completing import FailedKey, WrittenCompletion
from workbench.verifiers.base import SERVER_AT

if TYPE_CHECKING:
    from workbench.runs.lease import Lease


# -- The requested completions: questions, models, sampling.


QUESTION: Final = "{question}"
"""The placeholder for the question in a prompt; the only one, all other text is literal."""


class QuestionPrompt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The prompt with which a question is asked.

    Attributes:
        template: The user message, with exactly one placeholder `QUESTION`.
        system: The system message; None without one.
    """

    template: str = QUESTION
    system: str | None = None

    def messages(self, question: str) -> tuple[PromptMessage, ...]:
        before, _, after = self.template.partition(QUESTION)
        asked = PromptMessage("user", f"{before}{question}{after}")
        return (asked,) if self.system is None else (PromptMessage("system", self.system), asked)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(f"{self.system or ''}\0{self.template}".encode()).hexdigest()


class PlannedModel(Struct, frozen=True, kw_only=True):
    """A model of a plan and its options.

    Attributes:
        name: The model's name in this project, in the completions and in their ids.
        samples: Number of completions of each question.
        price: The price of its tokens; None if unknown.
    """

    name: str
    server: ModelServer
    sampling: Sampling
    samples: int
    limits: Limits
    price: Price | None

    def config(self, prompt: QuestionPrompt) -> dict[str, object]:
        return {
            "server": self.server.profile,
            "model": self.server.model,
            SERVER_AT: list(self.server.identities),
            "sampling": as_stored(self.sampling),
            "prompt_sha256": prompt.sha256,
            **self.server.extras.config(),
        }


class CompletionPlan(Struct, frozen=True, kw_only=True):
    """A plan of completions.

    Attributes:
        set: The benchmark whose questions are asked.
        dataset: The data set whose questions are asked if no benchmark is named.
        max_cost: Maximum cost in US dollars of all models together, over all starts.
        own: Whether the user stated everything in the command, so that nothing comes from a file.
    """

    set: SetName | None
    dataset: str | None
    prompt: QuestionPrompt
    models: tuple[PlannedModel, ...]
    max_cost: float | None = None
    own: bool = False


PART: Final = 32
"""Questions whose completions are stored together."""
_FINAL: Final[frozenset[FailureCode]] = frozenset({"bad_request", "context_length", "content_filter"})
"""Failures of a single request; a wrong key or a spent quota affects all requests."""
_NOT_THERE: Final = frozenset({404, 405})
"""HTTP statuses for a wrong address or model, which also affect all requests."""
_BATCH: Final = 500


class PlanQuestions(Struct, frozen=True, kw_only=True):
    """The questions of a plan.

    Attributes:
        set: The benchmark with its version; None for a whole data set.
        questions: The questions' row ids, in the order of import.
    """

    set: str | None
    dataset: str | None
    questions: tuple[int, ...]


class Survey(Struct, kw_only=True):
    """Counts of a model's existing and missing completions.

    Attributes:
        there: Number of completions in the data set.
        stored: Number of stored replies that are not in the data set yet.
        failed: Failure code -> number of requests that failed permanently.
        calls: Number of requests without a reply that can still be sent.
        prompt_tokens: Estimated prompt tokens of these requests.
    """

    there: int = 0
    stored: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    prompt_tokens: int = 0


def plan_questions(project: Project, plan: CompletionPlan) -> PlanQuestions:
    """Return the questions of a plan.

    Raises:
        UsageError: The benchmark or data set does not exist, has no questions or has code problems, or it is ambiguous
            which one is meant.
    """
    reader = project.database.reader()
    if (plan.set is None) == (plan.dataset is None):
        raise UsageError(
            "The questions are missing: name a set or a data set.", f"{opt.set:NAME}, or set = … in the plan."
        )
    if plan.set is None:
        assert plan.dataset is not None
        asked = PlanQuestions(
            set=None, dataset=plan.dataset, questions=tuple(stored.dataset_questions(reader, plan.dataset))
        )
    else:
        found = sets.require(reader, plan.set)
        members = tuple(member.question for member in sets.questions(reader, found.id))
        asked = PlanQuestions(set=found.full_name, dataset=None, questions=members)
    if not asked.questions:
        raise UsageError(
            f"There are no questions in {asked.set or asked.dataset}.",
            f"Draw some with: {Command('curate DB draw', per_type='2000')}",
        )
    if stored.hold_code(reader, asked.questions):
        raise UsageError("These questions are code problems.", "Write solutions", Command("code write-solutions DB …"))
    return asked


class Asking:
    """The `CompletionWork` of a plan: the completions to write, part by part, and how they are stored.

    Args:
        runs: Model -> its run; a model that was never asked has no entry.
        again: Whether to repeat calls that failed permanently.
    """

    def __init__(
        self,
        project: Project,
        plan: CompletionPlan,
        questions: Sequence[int],
        runs: Mapping[str, int],
        *,
        again: bool = False,
        lease: Lease | None = None,
    ) -> None:
        self._database = project.database
        self._plan = plan
        self._lease = lease
        self._parts = list(batches(questions, PART))
        self._models = {model.name: model for model in plan.models}
        self._endpoints = {model.name: Endpoint(model.server, model.price, Clock()) for model in plan.models}
        reader = project.database.reader()
        self._failed: dict[str, dict[bytes, FailedKey]] = {
            name: _permanent_failures(stored.failed_keys(reader, run)) for name, run in runs.items() if not again
        }

    @property
    def parts(self) -> int:
        return len(self._parts)

    def size(self, model: str, part: int) -> int:
        return len(self._parts[part]) * self._models[model].samples

    def missing(self, model: str, part: int) -> list[CompletionRequest]:
        failed = self._failed.get(model)
        missing = self._missing_requests(self._models[model], self._parts[part])
        return [
            wanted for wanted in missing if not failed or failed.keys().isdisjoint(self._request_keys(model, wanted))
        ]

    def store(self, replies: Iterator[tuple[str, CompletionRequest, Reply]]) -> int:
        found = [
            self._make_completion(self._models[model], wanted, reply)
            for model, wanted, reply in replies
            if _rejection_code(reply) is None
        ]
        if not found:
            return 0
        assert self._lease is not None
        with self._lease.write(patient=False) as connection:
            return stored.add(connection, found)

    def survey(self, name: str) -> Survey:
        model = self._models[name]
        found = Survey()
        reader = self._database.reader()
        replies = stored.has_responses(reader)
        failed = self._failed.get(name, {})
        for questions in batches([one for part in self._parts for one in part], _BATCH):
            missing = [self._prepare(name, wanted) for wanted in self._missing_requests(model, questions)]
            found.there += len(questions) * model.samples - len(missing)
            keys = [key for one in missing for key in one.keys.values()]
            answered = stored.answered(reader, keys) if replies else set()
            for one in missing:
                own = one.keys.values()
                if there := next((key for key in own if key in answered), None):
                    reply = stored.reply(self._database.reader(), there)
                    code = "malformed" if reply is None else _rejection_code(reply)
                    if code is None:
                        found.stored += 1
                    else:
                        found.failed[code] += 1
                elif gone := next((key for key in own if key in failed), None):
                    found.failed[failed[gone].code] += 1
                else:
                    found.calls += 1
                    found.prompt_tokens += one.estimate.prompt
        return found

    def _missing_requests(self, model: PlannedModel, questions: Sequence[int]) -> list[CompletionRequest]:
        reader = self._database.reader()
        there = stored.keys_of(reader, questions, model.name)
        return [
            CompletionRequest(question.id, key, Chat(messages=messages, sampling=model.sampling), sample)
            for question in stored.texts(reader, questions)
            for messages in [self._plan.prompt.messages(question.text)]
            for sample in range(model.samples)
            if (question.id, key := f"{question.key}/{model.name}/{sample + 1}") not in there
        ]

    def _request_keys(self, model: str, wanted: CompletionRequest) -> set[bytes]:
        return set(self._prepare(model, wanted).keys.values())

    def _prepare(self, model: str, wanted: CompletionRequest) -> PreparedRequest:
        return self._endpoints[model].prepare(wanted.request, wanted.sample)

    def _make_completion(self, model: PlannedModel, wanted: CompletionRequest, reply: Reply) -> WrittenCompletion:
        about = {
            "sample": wanted.sample + 1,
            "sampling": {name: value for name, value in as_stored(model.sampling).items() if value is not None},
            "finish_reason": reply.finish_reason,
        }
        return WrittenCompletion(
            question=wanted.question,
            key=wanted.key,
            text=as_written(reply),
            model=model.name,
            extra=msgspec.json.encode(about).decode(),
        )


def as_written(reply: Reply) -> str:
    """Return a reply as the model wrote it, with its reasoning between ``<think>`` and ``</think>`` at the start.

    Some servers return the reasoning separately, but a verifier that rewards training sees it in the completion. If
    the reasoning used all the tokens, it was never closed, and ``</think>`` is not added.
    """
    if reply.reasoning is None or "</think>" in reply.text:
        return reply.text
    thought = f"<think>\n{reply.reasoning.strip()}\n"
    if not reply.text and reply.finish_reason == "length":
        return thought
    return f"{thought}</think>\n\n{reply.text.lstrip()}"


def _rejection_code(reply: Reply) -> FailureCode | None:
    if ending(reply) in ("content_filter", "refused"):
        return "content_filter"
    return "malformed" if "\0" in as_written(reply) else None


def _permanent_failures(failed: Mapping[bytes, FailedKey]) -> dict[bytes, FailedKey]:
    return {
        key: one
        for key, one in failed.items()
        if (one.code in _FINAL and one.status not in _NOT_THERE and not 300 <= (one.status or 0) < 400)
        or (one.code in REPEATED - {"rate_limit"} and one.attempts >= MIN_ATTEMPTS)
    }
