"""A reward model in local processes, using the transformers library."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from workbench.core.errors import VerifierError, opt
from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.judging import Allowance
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.reward.served import (
    FormOptions,
    GradingOptions,
    form_from,
    select_score,
    verdict_by_threshold,
)
from workbench.verifiers.similarity.verifier import installed

_HINT: Final = "Run: pip install 'verifier-workbench[transformers]'"
_START_S: Final = 3600.0
_DEADLINE_S: Final = 600.0
_CPU: Final = "cpu"
_MEMORY_BYTES: Final = 2**34
"""Memory in addition to the model: the activations of a long text."""


class LocalModelOptions(Options, frozen=True, kw_only=True):
    model: Annotated[str, option("folder or Hugging Face name of a sequence-classification model")]
    revision: Annotated[str | None, option("commit, branch or tag of a Hugging Face model")] = None
    device: Annotated[str, option("torch device of the model: cpu, cuda, cuda:1, mps; each worker loads a copy")] = _CPU
    form: FormOptions = FormOptions()
    chat: Annotated[
        bool, option("whether the model's chat template is applied; format is then the text of the user's turn")
    ] = False
    grading: GradingOptions = GradingOptions()
    timeout: Annotated[float, option("time limit per completion, in seconds", gt=0)] = _DEADLINE_S


class RewardLocal:
    """Scores a completion with a sequence-classification model; the score is its raw output.

    Every worker process holds a copy of the model. Only weights in the safetensors format are read, and no code that
    comes with a model is run.
    """

    description: ClassVar[str] = "Reward model on this machine: a score, and a verdict by a threshold"
    options: ClassVar[dict[str, str]] = meanings(LocalModelOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(LocalModelOptions)
    preload: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    name: str = "reward-local"
    isolation: Isolation = "process"

    def __init__(self, **options: str) -> None:
        self.version = f"2+{installed('transformers', 'torch', hint=_HINT)}"
        own = parse_record(LocalModelOptions, options)
        self._model_name, self._revision, self._chat = own.model.strip(), own.revision, own.chat
        self._device = own.device or _CPU
        self._form = form_from(own.form, whole=not self._chat)
        self._label, self._threshold = own.grading.label, own.grading.threshold
        self.allowance = Allowance(start_s=_START_S, deadline_s=own.timeout, memory_bytes=_MEMORY_BYTES)
        self._model: Any = None
        self._tokenizer: Any = None

    @property
    def loads(self) -> str:
        """Return the model's name and revision, which determine the model that is downloaded and loaded."""
        return self._model_name if self._revision is None else f"{self._model_name} at {self._revision}"

    def config(self) -> dict[str, object]:
        return {
            "model": self._model_name,
            "revision": self._revision,
            **({} if self._device == _CPU else {"device": self._device}),
            **self._form.config(),
            "chat": self._chat,
            "activation": "off",
            "label": self._label,
            "threshold": self._threshold,
        }

    def prepare(self) -> None:
        """Load the model and its tokenizer.

        Raises:
            VerifierError: The model doesn't exist, is incomplete, or lacks a requested chat template, or the device
                doesn't exist.
        """
        import transformers

        transformers.logging.set_verbosity_error()
        where = {"revision": self._revision or "main", "trust_remote_code": False}
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(self._model_name, **where)
            self._model, found = transformers.AutoModelForSequenceClassification.from_pretrained(
                self._model_name, use_safetensors=True, output_loading_info=True, **where
            )
        except (OSError, ValueError) as error:
            raise VerifierError(f"The model {self._model_name!r} can't be loaded: {error}") from error
        if found["missing_keys"]:
            missing = ", ".join(sorted(found["missing_keys"])[:3])
            raise VerifierError(f"{self._model_name!r} is not a trained reward model: it has no weights for {missing}.")
        if self._chat and not self._tokenizer.chat_template:
            raise VerifierError(f"{self._model_name!r} has no chat template.", "Leave chat=true out.")
        try:
            self._model.to(self._device)
        except (RuntimeError, AssertionError) as error:
            why = str(error).partition("\n")[0]
            raise VerifierError(
                f"There is no device {self._device!r} for the model: {why}", f"See {opt.option:device=…}"
            ) from error
        self._model.eval()

    def verify(self, item: VerifierInput) -> Verdict:
        """Return the score of one completion, and the verdict by threshold; a text that is too long is an error."""
        import torch

        tokens = self._tokens(item)
        longest = getattr(self._model.config, "max_position_embeddings", None)
        if longest is not None and len(tokens) > longest:
            detail = f"The input has {len(tokens)} tokens, the model takes {longest}."
            return Verdict(outcome=Outcome.ERROR, reason="context_length", detail=detail)
        with torch.inference_mode():
            numbers = self._model(input_ids=torch.tensor([tokens], device=self._device)).logits[0].float().tolist()
        try:
            return verdict_by_threshold(select_score(numbers, self._label), self._threshold)
        except ValueError as error:
            return Verdict(outcome=Outcome.ERROR, reason="malformed", detail=str(error))

    def _tokens(self, item: VerifierInput) -> list[int]:
        text = self._form.fill(item)
        if not self._chat:
            return list(self._tokenizer(text)["input_ids"])
        messages = [
            {"role": "user", "content": text},
            {"role": "assistant", "content": self._form.alone(item.completion)},
        ]
        return list(self._tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False))
