"""Batch APIs: calls that a provider answers together, within a day and at half the price.

server: one provider's addresses, with key and retries. files: a batch, its status and results, and providers that
exchange files (OpenAI, Gemini, Mistral). anthropic: all calls in the request that creates the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workbench.llm.batches.anthropic import AnthropicBatches
from workbench.llm.batches.files import BatchApi, GeminiBatches, MistralBatches
from workbench.llm.profiles import PROFILES

__all__ = ["BATCH_APIS", "titles"]

BATCH_APIS: Final[Mapping[str, BatchApi]] = {
    "openai": BatchApi(),
    "anthropic": AnthropicBatches(),
    "gemini": GeminiBatches(),
    "mistral": MistralBatches(),
}
"""Profile -> its batches."""


def titles() -> str:
    return ", ".join(PROFILES[name].title for name in BATCH_APIS)
