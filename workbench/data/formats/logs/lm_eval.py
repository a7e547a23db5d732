"""EleutherAI's lm-evaluation-harness: the files of samples that ``--log_samples`` writes.

A row is one document under one filter: what was asked, every response, what the filter took from it, and the metrics.
Versions before 0.4.3 wrote one JSON list, without names of filters and metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from workbench.data.formats.explain import RefusedError
from workbench.data.formats.logs.kind import LogKind, Read
from workbench.data.formats.logs.lm_eval_choices import options_of
from workbench.data.formats.logs.lm_eval_results import Run, run_of
from workbench.data.formats.logs.logged import Grade, Logged, graded, sample_id, verifier_name
from workbench.data.formats.logs.prompts import question_in, question_of, text_of
from workbench.data.formats.logs.targets import several, targets_of

_ALWAYS: Final = frozenset({"doc_id", "doc", "target", "resps", "filtered_resps"})
_NO_METRIC: Final = "bypass"
"""Stands in for the metrics where a task was told to give none."""
_KNOWN: Final = _ALWAYS | {"arguments", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash"}
SEVERAL: Final = "of_several"
"""Reason of a grade that is about several completions together."""


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is a sample."""
    return element.keys() >= _ALWAYS


def dataset_of(path: Path) -> str | None:
    """The task that a file of samples is of."""
    return run_of(path).task


def begin(path: Path) -> Read:
    """A function that gives the completions of a sample, with what the harness made of each."""
    run = run_of(path)
    met: Counter[str] = Counter()

    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        key = repr(row.get("doc_id"))
        met[key] += 1
        return _completions(_LmEvalSample.of(row, run, met[key]))

    return read


class _LmEvalSample(Struct, frozen=True, kw_only=True):
    """A row, checked.

    Attributes:
        requests: The arguments of each request that was made for the document: the prompt, and what followed it.
        responses: The responses to each request.
        filter: The filter's name, "" where there is one filter that has none.
        metrics: Those that are higher for better responses, with their values.
        own: The row's keys that say nothing more of the document.
    """

    row: Mapping[str, Any]
    run: Run
    requests: list[list[Any]]
    responses: list[list[Any]]
    filter: str
    metrics: dict[str, Any]
    own: frozenset[str]

    @classmethod
    def of(cls, row: Mapping[str, Any], run: Run, occurrence: int) -> _LmEvalSample:
        """A row's sample.

        Args:
            occurrence: How often the document has stood in the file by now: old versions don't name their filters.

        Raises:
            RefusedError: It is none.
        """
        responses = row.get("resps")
        if not isinstance(responses, list) or not responses or not all(isinstance(one, list) for one in responses):
            raise RefusedError("wrong_type", "resps", "resps is no list of lists of responses. Write the log again.")
        named = row.get("filter", "" if occurrence == 1 else f"filter-{occurrence}")
        named_metrics = row.get("metrics")
        names = [name for name in row if name in named_metrics] if isinstance(named_metrics, list) else _unknown(row)
        return cls(
            row=row,
            run=run,
            requests=_requests(row.get("arguments")),
            responses=responses,
            filter="" if named == "none" else str(named),
            metrics={name: row[name] for name in names if name != _NO_METRIC and run.grades(name)},
            own=_KNOWN.union(names),
        )

    @property
    def generated(self) -> bool:
        """Whether texts were asked for: settings stand behind the prompt then, behind a text's likelihood nothing."""
        return not self.requests or any(isinstance(one, Mapping) for one in self.requests[0][1:])

    def grades(self, answer: str | None, *metrics: str) -> tuple[Grade, ...]:
        """What metrics (by default all) say of one completion; none where their values are no grades.

        Args:
            answer: What the filter took from it.
        """
        found = (graded(self.grader(name), self.metrics[name], answer) for name in metrics or self.metrics)
        return tuple(grade for grade in found if grade is not None)

    def grader(self, metric: str) -> str:
        """The name of the verifier that a metric under this filter is."""
        return verifier_name("lm-eval", self.run.task, f"{metric},{self.filter}" if self.filter else metric)

    def logged(self, question: str, reference: str, completion: str, grades: tuple[Grade, ...]) -> Logged:
        """One completion of this sample."""
        kept = {name: value for name, value in self.row.items() if name not in self.own}
        return Logged(
            item={
                **kept,
                "task": self.run.task,
                "doc_id": self.row.get("doc_id"),
                "doc": self.row.get("doc"),
                "question_id": sample_id(self.run.task, self.row.get("doc_id"), question, reference),
                "question": question,
                "reference": reference,
                "completion": completion,
                "model": self.run.model,
                "source": self.run.task,
            },
            grades=grades,
        )


def _completions(sample: _LmEvalSample) -> Iterator[Logged]:
    first = sample.responses[0][0] if sample.responses[0] else None
    if isinstance(first, list):
        return _chosen(sample)
    if isinstance(first, str) and sample.generated:
        return _generated(sample)
    message = "There is no completion: the responses are neither texts nor likelihoods of options."
    raise RefusedError("unsupported", "resps", message)


def _generated(sample: _LmEvalSample) -> Iterator[Logged]:
    """Every response. What a filter took is the first one, unless it is what most of them say."""
    reference = _reference(sample.row.get("target"))
    filtered = sample.row.get("filtered_resps")
    took = filtered[0] if isinstance(filtered, list) and filtered else None
    one_graded = len(sample.responses) == 1 and isinstance(took, str) and not sample.run.votes(sample.filter)
    if one_graded or sum(len(responses) for responses in sample.responses) == 1:
        first, others = sample.grades(took if isinstance(took, str) else None), tuple[Grade, ...]()
    else:
        first = others = tuple(Grade(verifier=sample.grader(metric), reason=SEVERAL) for metric in sample.metrics)
    for place, responses in enumerate(sample.responses):
        request = sample.requests[place] if place < len(sample.requests) else []
        question = _question(sample.row, text_of(request[0]) if request else None, reference)
        for number, response in enumerate(responses):
            if not isinstance(response, str):
                raise RefusedError("wrong_type", "resps", "A response is no text. Write the log again.")
            yield sample.logged(question, reference, response, others if number else first)


def _chosen(sample: _LmEvalSample) -> Iterator[Logged]:
    """The option that each metric takes for the answer; those that take the same one share a completion."""
    options = options_of(sample.requests, sample.responses)
    chosen: dict[str, list[Grade]] = {}
    for metric in sample.metrics:
        number = options.chosen(metric)
        if number is not None:
            chosen.setdefault(options.texts[number], []).extend(sample.grades(None, metric))
    chosen = chosen or {options.texts[options.likeliest]: []}
    right = [text for text, grades in chosen.items() if any(grade.verdict == "correct" for grade in grades)]
    reference = right[0] if right else options.reference(sample.row.get("target"), chosen)
    question = _question(sample.row, options.prompt, reference)
    for text, grades in chosen.items():
        yield sample.logged(question, reference, text, tuple(grades))


def _unknown(row: Mapping[str, Any]) -> list[str]:
    return [name for name, value in row.items() if name not in _KNOWN and isinstance(value, bool | int | float)]


def _question(row: Mapping[str, Any], prompt: str | None, reference: str) -> str:
    found = question_in(prompt, row.get("doc"), reference) if prompt else question_of(row.get("doc"))
    if found is None:
        raise RefusedError("missing_field", "arguments", "There is neither a prompt nor a question in doc.")
    return found


def _reference(target: object) -> str:
    listed = targets_of(target)
    if listed is not None:
        return several(str(one) for one in listed)
    if isinstance(target, str | int | float):
        return str(target)
    raise RefusedError("wrong_type", "target", "target is no text. Write the log again.")


def _requests(value: object) -> list[list[Any]]:
    """The arguments of each request; they are lists, or objects with a key for each of them."""
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    each = [list(one.values()) if isinstance(one, Mapping) else one for one in found]
    return [one for one in each if isinstance(one, list)]


KIND: Final = LogKind(name="lm-eval", recognises=recognises, begin=begin, dataset_of=dataset_of)
