"""Reads the samples that EleutherAI's lm-evaluation-harness writes with ``--log_samples``.

A row holds one document (question) as seen by one filter: every response, the filter's output, and the metrics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from math import inf, isnan
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from workbench.data.formats.lines import RefusedError
from workbench.data.formats.logs.logged import Format, Grade, Logged, Read, graded, sample_id, verifier_name
from workbench.data.formats.logs.prompts import join_alternatives, question_in, question_of, targets_of, text_of

# -- Options of a multiple-choice task in lm-eval's samples: the one that a metric treats as the model's answer.


class DocumentChoices(Struct, frozen=True, kw_only=True):
    """The options of one document, in their order.

    Attributes:
        prompt: The text before each option.
        likelihoods: The log-likelihood of each option given the prompt, in nats.
        alone: The log-likelihood of each option without the prompt; empty if the task did not request them.
    """

    prompt: str
    texts: list[str]
    likelihoods: list[float]
    alone: list[float]

    @property
    def likeliest(self) -> int:
        return _index_of_largest(self.likelihoods)

    def chosen(self, metric: str) -> int | None:
        """Return the index of the option that a metric treats as the model's answer, as ``process_results`` in the
        harness does.

        Return None for a metric that does not judge one option, such as a rank or a probability.
        """
        if metric == "acc":
            return self.likeliest
        if metric == "acc_norm":
            return self._largest_normalised([len(text) for text in self.texts])
        if metric == "acc_bytes":
            return self._largest_normalised([len(text.encode(errors="replace")) for text in self.texts])
        if metric == "acc_mutual_info" and self.alone:
            return _index_of_largest([given - alone for given, alone in zip(self.likelihoods, self.alone, strict=True)])
        return None

    def reference(self, target: object, taken: Collection[str]) -> str:
        """Return the text of the right option; several right options (a Python list in the harness) are joined by "or".

        Args:
            target: The option's index, or its text.
            taken: Texts of options that a metric scored as wrong; an ambiguous target is read as another option.
        """
        listed = targets_of(target)
        if listed is not None:
            return join_alternatives(self.reference(one, ()) for one in listed)
        readings = list(self._possible_targets(target))
        return next((text for text in readings if text not in taken), (readings or [str(target)])[0])

    def _possible_targets(self, target: object) -> Iterator[str]:
        text = str(target).strip()
        if text.isascii() and text.isdigit() and int(text) < len(self.texts):
            yield self.texts[int(text)]
        if text in self.texts:
            yield text

    def _largest_normalised(self, lengths: list[int]) -> int:
        pairs = zip(self.likelihoods, lengths, strict=True)
        return _index_of_largest([likelihood / length if length else -inf for likelihood, length in pairs])


def options_of(requests: list[list[Any]], responses: list[list[Any]]) -> DocumentChoices:
    """Return the options whose likelihoods were requested.

    Raises:
        RefusedError: There are no options, or a likelihood is not a number.
    """
    pairs = [(text_of(one[0]), one[1]) for one in requests if len(one) > 1]
    if len(pairs) != len(responses) or not all(isinstance(text, str) for _, text in pairs):
        raise RefusedError("wrong_type", "arguments", "arguments don't name an option for each response.")
    likelihoods = [_log_likelihood(one) for one in responses]
    prompt, options = pairs[0][0] or "", [text.strip() for _, text in pairs]
    asked = [text for (before, _), text in zip(pairs, options, strict=True) if before == prompt]
    alone = likelihoods[len(asked) :]
    if len(asked) < 2 or options[len(asked) :] != (asked if alone else []):
        message = "The likelihoods are not of several options after one prompt: nothing tells what the model says."
        raise RefusedError("unsupported", "resps", message)
    return DocumentChoices(prompt=prompt, texts=asked, likelihoods=likelihoods[: len(asked)], alone=alone)


def _log_likelihood(response: list[Any]) -> float:
    try:
        number = float(response[0][0])
    except (TypeError, ValueError, OverflowError, IndexError, KeyError):
        number = float("nan")
    if isnan(number):
        raise RefusedError("wrong_type", "resps", "A log-likelihood is not a number. Run the task again.")
    return number


def _index_of_largest(values: list[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


# -- Files next to lm-eval's samples: the run's results, which name the model and the metrics'
# direction.


_SAMPLES: Final = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)")
_SUFFIXES: Final = re.compile(r"(\.(jsonl|json|parquet|gz))+$")
_NAME: Final = re.compile(r"(?:^|,)(?:pretrained|model)=([^,]+)")
_MAX_BYTES: Final = 64 << 20
"""Most bytes of a results file."""


class Run(Struct, frozen=True, kw_only=True):
    """The evaluation run that wrote a file of samples.

    Attributes:
        model: The model that answered; None if unknown.
        worse: Names of metrics that are lower for better responses.
        voting: Names of filters that take the majority answer of several responses.
    """

    task: str
    model: str | None = None
    worse: frozenset[str] = frozenset()
    voting: frozenset[str] = frozenset()

    def grades(self, metric: str) -> bool:
        return metric not in self.worse

    def is_voting(self, filter: str) -> bool:
        return filter in self.voting or filter.startswith("maj")


def run_of(path: Path) -> Run:
    stem = _SUFFIXES.sub("", path.name)
    named = _SAMPLES.fullmatch(stem)
    if named is None:
        return Run(task=stem)
    task, time = named["task"], named["time"]
    others = sorted(one for one in path.parent.glob("*.json") if one.stem.endswith(f"_{time}"))
    for file in (path.with_name(f"results_{time}.json"), *others):
        found = _read_json(file)
        configs = found.get("configs")
        if isinstance(configs, dict) and task in configs:
            directions = _value_at(_value_at(found, "higher_is_better"), task)
            filters = _value_at(configs[task], "filter_list")
            return Run(
                task=task,
                model=_model_name(found),
                worse=frozenset(name for name, better in directions.items() if better is False)
                if isinstance(directions, dict)
                else frozenset(),
                voting=frozenset(_voting_filters(filters if isinstance(filters, list) else [])),
            )
    return Run(task=task)


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _model_name(results: Mapping[str, Any]) -> str | None:
    arguments = _value_at(_value_at(results, "config"), "model_args")
    said = _NAME.search(arguments) if isinstance(arguments, str) else None
    for name in (
        results.get("model_name"),
        said and said[1],
        _value_at(arguments, "pretrained"),
        _value_at(arguments, "model"),
    ):
        if isinstance(name, str) and name.strip():
            return name
    return None


def _voting_filters(filters: list[Any]) -> Iterator[str]:
    for one in filters:
        steps = _value_at(one, "filter")
        functions = [_value_at(step, "function") for step in steps] if isinstance(steps, list) else []
        if isinstance(name := _value_at(one, "name"), str) and "majority_vote" in functions:
            yield name


def _value_at(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


_ALWAYS: Final = frozenset({"doc_id", "doc", "target", "resps", "filtered_resps"})
_NO_METRIC: Final = "bypass"
"""The placeholder for metrics of a task without metrics."""
_KNOWN: Final = _ALWAYS | {"arguments", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash"}
SEVERAL: Final = "of_several"
"""Reason code of a grade that applies to several completions together."""


def dataset_of(path: Path) -> str | None:
    return run_of(path).task


def begin(path: Path) -> Read:
    run = run_of(path)
    return lambda row: _completions(_LmEvalSample.of(row, run))


class _LmEvalSample(Struct, frozen=True, kw_only=True):
    """A validated row of a file of samples.

    Attributes:
        requests: The arguments of each request for the document: the prompt, and the continuation.
        responses: The responses to each request.
        filter: The filter's name, "" for a single unnamed filter.
        metrics: Values of the metrics that are higher for better responses, by metric.
        own: The row's keys that the harness writes, as opposed to those of the document.
    """

    row: Mapping[str, Any]
    run: Run
    requests: list[list[Any]]
    responses: list[list[Any]]
    filter: str
    metrics: dict[str, Any]
    own: frozenset[str]

    @classmethod
    def of(cls, row: Mapping[str, Any], run: Run) -> _LmEvalSample:
        """Validate a row.

        Raises:
            RefusedError: The row is not a sample.
        """
        responses = row.get("resps")
        if not isinstance(responses, list) or not responses or not all(isinstance(one, list) for one in responses):
            raise RefusedError("wrong_type", "resps", "resps is not a list of lists of responses. Write the log again.")
        named, metrics = row.get("filter"), row.get("metrics")
        if not isinstance(named, str) or not isinstance(metrics, list):
            message = "filter or metrics is missing, as in logs of lm-eval before 0.4.3. Write the log again."
            raise RefusedError("missing_field", "filter" if isinstance(metrics, list) else "metrics", message)
        names = [name for name in row if name in metrics]
        return cls(
            row=row,
            run=run,
            requests=_requests(row.get("arguments")),
            responses=responses,
            filter="" if named == "none" else named,
            metrics={name: row[name] for name in names if name != _NO_METRIC and run.grades(name)},
            own=_KNOWN.union(names),
        )

    @property
    def generated(self) -> bool:
        return not self.requests or any(isinstance(one, Mapping) for one in self.requests[0][1:])

    def grades(self, answer: str | None, *metrics: str) -> tuple[Grade, ...]:
        """Return the grades that metrics (by default all) give one completion; values that are no grades are left out.

        Args:
            answer: The filter's output.
        """
        found = (graded(self.grader(name), self.metrics[name], answer) for name in metrics or self.metrics)
        return tuple(grade for grade in found if grade is not None)

    def grader(self, metric: str) -> str:
        return verifier_name("lm-eval", self.run.task, f"{metric},{self.filter}" if self.filter else metric)

    def logged(self, question: str, reference: str, completion: str, grades: tuple[Grade, ...]) -> Logged:
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
        return _chosen_completions(sample)
    if isinstance(first, str) and sample.generated:
        return _generated_completions(sample)
    message = "There is no completion: the responses are neither texts nor likelihoods of options."
    raise RefusedError("unsupported", "resps", message)


def _generated_completions(sample: _LmEvalSample) -> Iterator[Logged]:
    reference = _reference(sample.row.get("target"))
    filtered = sample.row.get("filtered_resps")
    took = filtered[0] if isinstance(filtered, list) and filtered else None
    one_graded = len(sample.responses) == 1 and isinstance(took, str) and not sample.run.is_voting(sample.filter)
    if one_graded or sum(len(responses) for responses in sample.responses) == 1:
        first, others = sample.grades(took if isinstance(took, str) else None), tuple[Grade, ...]()
    else:
        first = others = tuple(Grade(verifier=sample.grader(metric), reason=SEVERAL) for metric in sample.metrics)
    for place, responses in enumerate(sample.responses):
        request = sample.requests[place] if place < len(sample.requests) else []
        question = _question(sample.row, text_of(request[0]) if request else None, reference)
        for number, response in enumerate(responses):
            if not isinstance(response, str):
                raise RefusedError("wrong_type", "resps", "A response is not text. Write the log again.")
            yield sample.logged(question, reference, response, others if number else first)


def _chosen_completions(sample: _LmEvalSample) -> Iterator[Logged]:
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


def _question(row: Mapping[str, Any], prompt: str | None, reference: str) -> str:
    found = question_in(prompt, row.get("doc"), reference) if prompt else question_of(row.get("doc"))
    if found is None:
        raise RefusedError("missing_field", "arguments", "There is neither a prompt nor a question in doc.")
    return found


def _reference(target: object) -> str:
    listed = targets_of(target)
    if listed is not None:
        return join_alternatives(str(one) for one in listed)
    if isinstance(target, str | int | float):
        return str(target)
    raise RefusedError("wrong_type", "target", "target is not text. Write the log again.")


def _requests(value: object) -> list[list[Any]]:
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    each = [list(one.values()) if isinstance(one, Mapping) else one for one in found]
    return [one for one in each if isinstance(one, list)]


KIND: Final = Format(name="lm-eval", keys=(_ALWAYS,), begin=begin, dataset_of=dataset_of)
