"""A local reward model in worker processes equals the library, on a small model with random weights."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.workers import verdicts_in
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.registry import Registry
from workbench.verifiers.reward import local

NEEDED = ("torch", "transformers", "safetensors")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_library = pytest.mark.skipif(
    bool(MISSING), reason=f"{', '.join(MISSING)} missing: pip install -e '.[transformers]'"
)

LONGEST = 64
TEMPLATE = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"
ITEMS = [
    VerifierInput(item=number, question=f"What is {number}?", reference="7", completion=f"It is {number * 3}. 한")
    for number in range(5)
]


def make_model(folder: Path, *, labels: int = 1, template: str | None = None) -> str:
    """A model of a few thousand random weights with a tokenizer of bytes."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(["<pad>", *letters])}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bytewise, pad_token="<pad>")
    tokenizer.chat_template = template
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=LONGEST,
        num_labels=labels,
        pad_token_id=0,
    )
    model = transformers.LlamaForSequenceClassification(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def expected(folder: str, texts: list[str]) -> list[list[float]]:
    """The library's numbers, asked in the plainest way."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return [model(**tokenizer(text, return_tensors="pt")).logits[0].tolist() for text in texts]


def through_workers(options: dict[str, str], items: list[VerifierInput]) -> dict[int, Verdict]:
    with WorkerPool(("reward-local", options), 1) as pool:
        return {item.item: verdict for item, verdict in zip(items, verdicts_in(pool, items), strict=True)}


@needs_library
def test_scores_equal_the_library(tmp_path: Path) -> None:
    folder = make_model(tmp_path)
    numbers = expected(folder, [f"{item.question}\n\n{item.completion}" for item in ITEMS])
    found = through_workers({"model": folder}, ITEMS)
    assert [found[item.item].score for item in ITEMS] == pytest.approx([one for (one,) in numbers], abs=1e-6)
    assert {verdict.reason for verdict in found.values()} == {"no_threshold"}
    assert len({verdict.score for verdict in found.values()}) == len(ITEMS)


@needs_library
def test_the_chat_template_of_the_model_and_one_of_two_classes(tmp_path: Path) -> None:
    folder = make_model(tmp_path, labels=2, template=TEMPLATE)
    numbers = expected(folder, [f"[user]{item.question}[assistant]{item.completion}" for item in ITEMS])
    middle = sorted(one for _, one in numbers)[2]
    options = {"model": folder, "chat": "true", "label": "1", "threshold": str(middle - 1e-6)}
    found = through_workers(options, ITEMS)
    assert [found[item.item].score for item in ITEMS] == pytest.approx([one for _, one in numbers], abs=1e-6)
    assert sum(verdict.outcome == Outcome.CORRECT for verdict in found.values()) == 3


@needs_library
def test_texts_are_never_truncated_and_several_numbers_are_no_score(tmp_path: Path) -> None:
    folder = make_model(tmp_path, labels=2)
    long = VerifierInput(item=9, question="Q", reference="7", completion="x" * LONGEST)
    found = through_workers({"model": folder}, [ITEMS[0], long])
    assert (found[9].outcome, found[9].reason) == (Outcome.ERROR, "context_length")
    assert (found[0].outcome, found[0].reason) == (Outcome.ERROR, "malformed")
    assert "label=" in (found[0].detail or "")


@needs_library
def test_a_model_that_cannot_score_is_rejected_before_any_item(tmp_path: Path) -> None:
    import transformers

    folder = make_model(tmp_path / "model")
    headless = tmp_path / "headless"
    transformers.AutoModel.from_pretrained(folder).save_pretrained(headless)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(headless)
    for options, words in (
        ({"model": str(headless)}, "no weights for score.weight"),
        ({"model": folder, "chat": "true"}, "no chat template"),
        ({"model": str(tmp_path / "nothing")}, "can't be loaded"),
    ):
        with pytest.raises(VerifierError, match=words):
            through_workers(options, ITEMS[:1])


@pytest.mark.skipif(not MISSING, reason="the library is here")
def test_a_missing_library_is_named_with_its_installation() -> None:
    with pytest.raises(VerifierError, match=r"pip install 'verifier-workbench\[transformers\]'"):
        Registry().load("reward-local", {"model": "any"})


class Placed:
    """A fake tokenizer and model that records the devices it is moved to."""

    chat_template = None
    config = SimpleNamespace(max_position_embeddings=None)

    def __init__(self) -> None:
        self.places: list[str] = []

    def to(self, device: str) -> None:
        if device not in ("cpu", "cuda:1"):
            raise RuntimeError(f"Expected one of cpu, cuda at start of device string: {device}\nand more")
        self.places.append(device)

    def eval(self) -> None:
        self.places.append("eval")

    def __call__(self, text: str = "", input_ids: Any = None) -> Any:
        if text:
            return {"input_ids": [len(text)]}
        self.places.append(input_ids)
        return SimpleNamespace(logits=[SimpleNamespace(float=lambda: SimpleNamespace(tolist=lambda: [2.5]))])


@pytest.mark.parametrize(("options", "device"), [({}, "cpu"), ({"device": "cuda:1"}, "cuda:1")])
def test_model_and_texts_are_on_the_chosen_device(
    options: dict[str, str], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = placed(monkeypatch, options)
    assert (found.verifier.verify(ITEMS[0]).score, found.model.places) == (2.5, [device, "eval", device])
    assert found.verifier.config().get("device") == options.get("device"), "what computed before keeps its identity"


def test_a_missing_device_is_rejected_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VerifierError, match="no device 'abacus' for the model: Expected one of cpu, cuda") as refused:
        placed(monkeypatch, {"device": "abacus"})
    assert "and more" not in str(refused.value)


def placed(monkeypatch: pytest.MonkeyPatch, options: dict[str, str]) -> SimpleNamespace:
    """A verifier that has loaded a model which tells where it is, whether or not the library is here."""
    model = Placed()
    kept: dict[str, list[str]] = {"missing_keys": []}
    transformers = SimpleNamespace(
        logging=SimpleNamespace(set_verbosity_error=lambda: None),
        AutoTokenizer=SimpleNamespace(from_pretrained=lambda *_, **__: model),
        AutoModelForSequenceClassification=SimpleNamespace(from_pretrained=lambda *_, **__: (model, kept)),
    )
    torch = SimpleNamespace(inference_mode=nullcontext, tensor=lambda _, device: device)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(local, "installed", lambda *_, **__: "any")
    verifier = local.RewardLocal(model="any", **options)
    verifier.prepare()
    return SimpleNamespace(model=model, verifier=verifier)


@needs_library
def test_invalid_options_are_rejected_with_a_message() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "model: it is missing"),
        ({"model": "m", "chat": "true", "format": "{question}{completion}"}, "the completion is sent separately"),
        ({"model": "m", "timeout": "-1"}, "timeout: it is a number above 0"),
    ]
    for options, words in wrong:
        with pytest.raises(UsageError, match=words):
            Registry().load("reward-local", options)
