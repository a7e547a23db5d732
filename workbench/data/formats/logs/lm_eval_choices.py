"""Options of a multiple-choice task in lm-eval's samples: the one that a metric takes for the model's answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf, isnan
from typing import Any

from msgspec import Struct

from workbench.data.formats.explain import RefusedError
from workbench.data.formats.logs.prompts import text_of
from workbench.data.formats.logs.targets import several, targets_of


class Options(Struct, frozen=True, kw_only=True):
    """The options of one document, in their order.

    Attributes:
        prompt: What stands before each option.
        likelihoods: The log-likelihood of each option after the prompt, in nats.
        alone: The same without the prompt; empty where the task did not ask for it.
    """

    prompt: str
    texts: list[str]
    likelihoods: list[float]
    alone: list[float]

    @property
    def likeliest(self) -> int:
        """The number of the option with the largest log-likelihood."""
        return _largest(self.likelihoods)

    def chosen(self, metric: str) -> int | None:
        """The number of the option that a metric takes for the answer, as the harness's ``process_results`` does.

        None for a metric that judges something else, such as a rank or a probability.
        """
        if metric == "acc":
            return self.likeliest
        if metric == "acc_norm":
            return self._largest_by([len(text) for text in self.texts])
        if metric == "acc_bytes":
            return self._largest_by([len(text.encode(errors="replace")) for text in self.texts])
        if metric == "acc_mutual_info" and self.alone:
            return _largest([given - alone for given, alone in zip(self.likelihoods, self.alone, strict=True)])
        return None

    def reference(self, target: object, taken: Collection[str]) -> str:
        """The right option's text; several, which the harness writes as Python's text of a list, with "or" between.

        Args:
            target: The option's number, or its text.
            taken: Options that metrics took and called wrong: where a target may be read both ways, it is none of them.
        """
        listed = targets_of(target)
        if listed is not None:
            return several(self.reference(one, ()) for one in listed)
        readings = list(self._readings(target))
        return next((text for text in readings if text not in taken), (readings or [str(target)])[0])

    def _readings(self, target: object) -> Iterator[str]:
        text = str(target).strip()
        if text.isascii() and text.isdigit() and int(text) < len(self.texts):
            yield self.texts[int(text)]
        if text in self.texts:
            yield text

    def _largest_by(self, lengths: list[int]) -> int:
        pairs = zip(self.likelihoods, lengths, strict=True)
        return _largest([likelihood / length if length else -inf for likelihood, length in pairs])


def options_of(requests: list[list[Any]], responses: list[list[Any]]) -> Options:
    """The options that requests ask the likelihoods of.

    Raises:
        RefusedError: They are none, or a likelihood is no number.
    """
    pairs = [(text_of(one[0]), one[1]) for one in requests if len(one) > 1]
    if len(pairs) != len(responses) or not all(isinstance(text, str) for _, text in pairs):
        raise RefusedError("wrong_type", "arguments", "arguments don't name an option for each response.")
    likelihoods = [_number(one) for one in responses]
    prompt, options = pairs[0][0] or "", [text.strip() for _, text in pairs]
    asked = [text for (before, _), text in zip(pairs, options, strict=True) if before == prompt]
    alone = likelihoods[len(asked) :]
    if len(asked) < 2 or options[len(asked) :] != (asked if alone else []):
        message = "The likelihoods are not of several options after one prompt: nothing tells what the model says."
        raise RefusedError("unsupported", "resps", message)
    return Options(prompt=prompt, texts=asked, likelihoods=likelihoods[: len(asked)], alone=alone)


def _number(response: list[Any]) -> float:
    """A log-likelihood, which stands beside whether its option is what the model would say first."""
    try:
        number = float(response[0][0])
    except (TypeError, ValueError, OverflowError, IndexError, KeyError):
        number = float("nan")
    if isnan(number):
        raise RefusedError("wrong_type", "resps", "A log-likelihood is no number. Run the task again.")
    return number


def _largest(values: list[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)
