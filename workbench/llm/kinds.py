"""What kind of server answers at an address, by what such servers say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_OWNERS: Final = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama-cpp",
    "llama.cpp": "llama-cpp",
    "library": "ollama",
    "organization_owner": "lm-studio",
}
"""What the lists of models name as a model's owner."""

Sign = tuple[str, Callable[[Mapping[str, Any]], bool], str]
"""A path beside ``/v1``, what the JSON object there must be like, and the profile it speaks for."""


def _is_sglang(data: Mapping[str, Any]) -> bool:
    return "model_path" in data and ("is_generation" in data or "tokenizer_path" in data)


def _is_llama_cpp(data: Mapping[str, Any]) -> bool:
    return "default_generation_settings" in data or "total_slots" in data


def _has_version(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("version"), str)


SIGNS: Final[tuple[Sign, ...]] = (
    ("get_model_info", _is_sglang, "sglang"),
    ("get_server_info", _is_sglang, "sglang"),
    ("props", _is_llama_cpp, "llama-cpp"),
    ("api/version", _has_version, "ollama"),
    ("api/v0/models", lambda data: isinstance(data.get("data"), list), "lm-studio"),
    ("version", _has_version, "vllm"),
)
"""In the order they are looked for; the plainest comes last."""


def kind_of_models(listed: Any) -> str | None:
    """The profile that a list of models speaks for; None where it says nothing, or several things."""
    rows = listed.get("data") if isinstance(listed, dict) else None
    owners = {row.get("owned_by") for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
    kinds = {_OWNERS.get(owner.lower()) for owner in owners if isinstance(owner, str)} - {None}
    return kinds.pop() if len(kinds) == 1 else None
