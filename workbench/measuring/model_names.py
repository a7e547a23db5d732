"""Models by name: which one stands behind a verifier, and when two names mean the same."""

from __future__ import annotations

from workbench.core.run import IMPORTED, ConfiguredVerifier


def model_of(verifier: ConfiguredVerifier) -> str | None:
    """The model a verifier asks; for verdicts that came in a file the verifier's own name; None for one without."""
    model = verifier.config.get("model")
    return str(model) if model else verifier.name if verifier.kind == IMPORTED else None


def plain_name(model: str) -> str:
    """A model's name without its publisher and case: ``Qwen/Qwen3-32B`` and ``qwen3-32b`` are one."""
    return model.rpartition("/")[2].casefold()
