"""A reward model on a server: vLLM's score, classify, pooling and rerank, and the probability of a word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import Struct

from workbench.core.options import Options, option
from workbench.core.selection import is_usable_number
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, CallFailed, Reply, Scoring, Task
from workbench.llm.server import Limits
from workbench.verifiers.base import Judged
from workbench.verifiers.control_tokens import join_parts, neutralised
from workbench.verifiers.judges.grading import NO_LOGPROBS, word_probability
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.serving import OneServer, ServerOptions

# -- From a reward model's numbers to a score, and from a score to a verdict.


class GradingOptions(Options, frozen=True, kw_only=True):
    label: Annotated[
        int | None, option("index of the class whose value is the score, from 0 (required for several classes)")
    ] = None
    threshold: Annotated[
        float | None, option("minimum score of a correct completion (default: none, and the verdict is abstain)")
    ] = None


def verdict_by_threshold(score: float, threshold: float | None) -> Verdict:
    """Return "correct" iff the score reaches the threshold; abstain without a threshold; the verdict keeps the
    score."""
    if threshold is None:
        return Verdict(outcome=Outcome.ABSTAIN, reason="no_threshold", score=score)
    outcome = Outcome.CORRECT if score >= threshold else Outcome.INCORRECT
    return Verdict(outcome=outcome, reason="score", score=score)


def select_score(values: Sequence[float], label: int | None, *, last: bool = False) -> float:
    """Return the score among a model's numbers for one text.

    Args:
        label: The index of the score; None if not configured.
        last: Whether to use the last number without a label; else there may be only one number.

    Raises:
        ValueError: The score is ambiguous, or not a finite number.
    """
    if label is None and not last and len(values) > 1:
        raise ValueError(f"the model returns {len(values)} numbers per text; say which one is the score with label=")
    place = -1 if label is None else label
    if not -1 <= place < len(values) or not values:
        raise ValueError(f"the model returns {len(values)} numbers per text, none at position {max(place, 0)}")
    value = values[place]
    if not is_usable_number(value):
        raise ValueError(f"the score is {value}, which is not a finite number")
    return value


# -- A reward model's input from a question and a completion: texts are unchanged except for control tokens.


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_REFERENCE = "\n\nReference answer: {reference}"
_ASKS = "\n\nIs this answer correct? Yes or No:"
_FIELDS = ("question", "reference", "completion")


class FormOptions(Options, frozen=True, kw_only=True):
    format: Annotated[
        str | None,
        option(
            "text of the input, with {question}, {completion} and, with reference=true, {reference}; if "
            "question and completion are sent separately, the question's text (default: one below the other)"
        ),
    ] = None
    reference: Annotated[bool, option("whether the input includes the reference answer")] = False
    neutralise: Annotated[
        bool,
        option("whether control tokens of chat templates in inserted texts are made harmless", choices=("on", "off")),
    ] = True


class Form(Struct, frozen=True, kw_only=True):
    """A text with placeholders.

    Attributes:
        text: Known names in braces are replaced in one pass; other braces are text.
        reference: Whether the reference answer is inserted into the text.
        neutralise: Whether to break control tokens in the item's texts; control tokens in ``text`` itself are kept.
    """

    text: str
    reference: bool
    neutralise: bool

    def fill(self, item: VerifierInput) -> str:
        fields = {"question": item.question, "reference": item.reference, "completion": item.completion}
        # When splitting by a pattern with one group, every second part is the group's content.
        split = enumerate(_PLACEHOLDER.split(self.text))
        parts = [(self.alone(fields[part]), True) if number % 2 else (part, False) for number, part in split]
        return join_parts(parts) if self.neutralise else "".join(part for part, _ in parts)

    def alone(self, text: str) -> str:
        return neutralised(text) if self.neutralise else text

    def config(self) -> dict[str, object]:
        usual = {} if self.neutralise else {"neutralise": False}
        return {"format": self.text, "reference": self.reference, **usual}


def form_from(own: FormOptions, *, whole: bool, asks: bool = False) -> Form:
    """Return the form of a model's input.

    Args:
        whole: Whether the completion is part of the text; else it is sent separately.
        asks: Whether the default text ends with a question that Yes or No answers.

    Raises:
        ValueError: A placeholder is unknown, missing, or misplaced.
    """
    reference = own.reference
    plain = "{question}" + _REFERENCE * reference + "\n\n{completion}" * whole + _ASKS * asks
    text = plain if own.format is None else own.format
    wanted = {"question": True, "reference": reference, "completion": whole}
    found = set(_PLACEHOLDER.findall(text))
    for name in sorted(found - wanted.keys()):
        raise ValueError(f"format: there is no {{{name}}}; there are {', '.join(f'{{{name}}}' for name in _FIELDS)}")
    for name, is_wanted in wanted.items():
        if is_wanted and name not in found:
            raise ValueError(f"format: {{{name}}} is missing")
        if not is_wanted and name in found:
            why = "reference is not true" if name == "reference" else "the completion is sent separately"
            raise ValueError(f"format: {{{name}}} can't be used, since {why}")
    return Form(text=text, reference=reference, neutralise=own.neutralise)


def _answer_form(answer: str, form: Form) -> Form:
    text = answer.replace("{solution}", "{completion}")
    if set(_PLACEHOLDER.findall(text)) != {"completion"}:
        raise ValueError("answer: it contains {completion}, and no other placeholder")
    return Form(text=text, reference=False, neutralise=form.neutralise)


# -- The probability of a word as the next token, for models that score by it.


_YES_OR_NO: Final = ("Yes", "No")


def _checked_words(said: str, *, has_format: bool) -> tuple[str, ...]:
    """Check the number of words, and that they are distinguishable; return them.

    Raises:
        ValueError: No word, too many, or words with the same beginning are given, which can't be distinguished; or no
            question asks for them.
    """
    words = tuple(word.strip() for word in said.split(","))
    if not all(words) or len(words) > 2:
        raise ValueError("words: name one or two with a comma between them, such as Yes,No")
    folded = [word.lower() for word in words]
    if len(words) > 1 and (folded[0].startswith(folded[1]) or folded[1].startswith(folded[0])):
        raise ValueError("words: one is the beginning of the other, so a token can't distinguish them")
    if not {*words} <= {*_YES_OR_NO} and not has_format:
        raise ValueError(
            "format: say in the format how to answer with these words; the default format asks for Yes or No"
        )
    return words


_OF_CHATS: Final = ("reasoning_effort", "max_tokens_field")
_PAIRED: Final = ("score", "rerank")
"""Dialects that take question and completion separately."""
_ACTIVATE: Final = {"server": None, "on": True, "off": False}


class RewardModelOptions(Options, frozen=True, kw_only=True):
    dialect: Annotated[Task, option(f"API of the server: {', '.join(get_args(Task))}")] = "score"
    endpoint: ServerOptions
    form: FormOptions = FormOptions()
    chat: Annotated[
        bool, option("whether texts are sent as turns of a chat; only for the dialects classify and pooling")
    ] = False
    answer: Annotated[
        str, option("with chat=true: text of the assistant's turn, with {completion}", shows_default=False)
    ] = "{completion}"
    words: Annotated[
        str,
        option(
            "with dialect=completions: words for a correct and an incorrect completion, whose probability is the score"
        ),
    ] = "Yes,No"
    logprobs: Annotated[
        int, option("with dialect=completions: number of most likely tokens to request", ge=1, le=100)
    ] = 5
    activation: Annotated[
        Literal["server", "on", "off"],
        option("whether the server applies its activation (softmax, sigmoid): on, off, or server for its own default"),
    ] = "server"
    grading: GradingOptions = GradingOptions()
    limits: Limits = Limits()


class RewardModel(OneServer):
    """Scores a completion by one call.

    Raw and activated scores need different thresholds: which of them are requested is part of the configuration, like
    the threshold.
    """

    description: ClassVar[str] = "Reward model on a server: a score, and a verdict by a threshold"
    options: ClassVar[dict[str, str]] = meanings(RewardModelOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(RewardModelOptions)
    name: str = "reward-model"
    version: str = "2"

    def __init__(self, **options: str) -> None:
        own = self._own = parse_record(RewardModelOptions, options)
        for name in _OF_CHATS:
            if name in options:
                raise ValueError(f"{name}: it is an option for chat; {own.dialect} returns a number")
        super().__init__(options)
        if own.chat and own.dialect in _PAIRED:
            raise ValueError(f"chat: {own.dialect} already sends question and completion separately")
        self._likeliest = self._words = None
        asks = own.dialect == "completions"
        if asks:
            _require_only_text(options, chat=own.chat)
            self._words = _checked_words(own.words, has_format="format" in options)
            self._likeliest = own.logprobs
        elif useless := sorted({"words", "logprobs"} & options.keys()):
            raise ValueError(f"{useless[0]}: it requires dialect=completions")
        self._form = form_from(own.form, whole=own.dialect not in _PAIRED and not own.chat, asks=asks)
        if "answer" in options and not own.chat:
            raise ValueError("answer: only a chat has an answer turn: chat=true")
        self._answer = _answer_form(own.answer, self._form)

    def config(self) -> dict[str, object]:
        return {
            **self.server_config(),
            "dialect": self._own.dialect,
            **self._form.config(),
            **({"chat": True, "answer": self._answer.text} if self._own.chat else {}),
            **({"words": list(self._words), "logprobs": self._likeliest} if self._words else {}),
            "activation": self._own.activation,
            "label": self._own.grading.label,
            "threshold": self._own.grading.threshold,
        }

    def request(self, item: VerifierInput) -> Scoring:
        activate = _ACTIVATE[self._own.activation]
        text = self._form.fill(item)
        if self._own.dialect in _PAIRED:
            return Scoring(
                task=self._own.dialect, query=text, texts=(self._form.alone(item.completion),), activate=activate
            )
        if self._own.chat:
            return Scoring(task=self._own.dialect, query=text, texts=(self._answer.fill(item),), activate=activate)
        return Scoring(task=self._own.dialect, texts=(text,), activate=activate, likeliest=self._likeliest)

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        reply = await ask(self.request(item), step="score")
        if self._words:
            return _judge_by_words(reply, self._words, self._own.grading.threshold)
        try:
            score = select_score(_score_numbers(reply), self._own.grading.label, last=self._own.dialect == "pooling")
        except ValueError as error:
            raise CallFailed("malformed", str(error)) from error
        # Raw scores are assumed only if they were requested; the server doesn't report the applied activation.
        known = None if self._own.activation == "off" else reply.activation
        trace: dict[str, object] = {"activation": known or self._own.activation}
        if reply.vectors:
            trace["numbers"] = list(reply.vectors[0])
        return Judged(verdict=verdict_by_threshold(score, self._own.grading.threshold), trace=trace)


def _require_only_text(options: Mapping[str, str], *, chat: bool) -> None:
    if chat:
        raise ValueError("chat: dialect completions sends a plain text; for a chat use llm-judge with top_logprobs")
    for name in ("activation", "label"):
        if name in options:
            raise ValueError(f"{name}: the probability of a word has no such option")


def _judge_by_words(reply: Reply, words: tuple[str, ...], threshold: float | None) -> Judged:
    score = word_probability(reply.tokens[0], tuple(map(str.lower, words))) if reply.tokens else None
    trace = {"tokens": [msgspec.to_builtins(token) for token in reply.tokens[:1]]}
    if score is None:
        return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason=NO_LOGPROBS), trace=trace)
    return Judged(verdict=verdict_by_threshold(score, threshold), trace=trace)


def _score_numbers(reply: Reply) -> tuple[float, ...]:
    """Return the numbers for the one text that was sent.

    Raises:
        ValueError: The reply has numbers for no text, or for several.
    """
    found = reply.vectors or tuple((score,) for score in reply.scores)
    if len(found) != 1:
        raise ValueError(f"the server scored {len(found)} texts instead of 1")
    return found[0]
