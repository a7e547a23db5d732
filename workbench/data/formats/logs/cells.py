"""Values in a row of a log as text, numbers and keys that are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import msgspec

from workbench.data.formats.explain import RefusedError
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.logs.logged import number_of
from workbench.data.formats.logs.targets import targets_of

_SYSTEM: Final = ("system", "developer")
_CHAT: Final = "text, or messages with a role and content"


def maybe_text(row: Mapping[str, Any], *keys: str) -> str | None:
    """The text of the first of these cells that is there and not null; a number as it is written.

    Raises:
        RefusedError: It is neither.
    """
    for key in keys:
        value = row.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, bool | list | dict):
            raise wrong(key, "text")
        if value is not None:
            return written(value)
    return None


def answer(row: Mapping[str, Any], *keys: str) -> str | None:
    """A reference answer: text, a number, or any other JSON as it is written.

    A list of one stands for its member, also where it is Python's text of a list with one text.

    Raises:
        RefusedError: It can't be written as text.
    """
    value = next((row[key] for key in keys if row.get(key) is not None), None)
    members = targets_of(value)
    if members is not None and len(members) == 1 and (isinstance(value, list) or isinstance(members[0], str)):
        value = members[0]
    return value if value is None or isinstance(value, str) else written(value)


def written(value: object) -> str:
    """A value as JSON text.

    Raises:
        RefusedError: It can't be written.
    """
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, RecursionError, UnicodeEncodeError):
        raise RefusedError("bad_json", None, "A number is too long, or a value is nested too deeply.") from None


def number(value: object) -> float | None:
    """A finite number (true is 1, false 0); None for anything else."""
    if isinstance(value, str):
        return None
    return number_of(int(value) if isinstance(value, bool) else value)


def asked(row: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """The question of what a model was asked, text or the messages of a chat, and what its system told the model.

    One message stands for itself; several are each headed by who speaks.

    Raises:
        RefusedError: It is missing, or neither.
    """
    key = _first(row, keys)
    if isinstance(row[key], str):
        return {"question": row[key]}
    turns = list(messages(row[key], key))
    spoken = [turn for turn in turns if turn[0] not in _SYSTEM]
    if not spoken:
        raise wrong(key, _CHAT)
    told = "\n\n".join(said for who, said in turns if who in _SYSTEM)
    question = spoken[0][1] if len(spoken) == 1 else "\n\n".join(f"{who}:\n{said}" for who, said in spoken)
    return {"question": question, **({"system": told} if told else {})}


def said(row: Mapping[str, Any], *keys: str) -> str:
    """What a model answered: text, or the last message of a chat.

    Raises:
        RefusedError: It is missing, or neither.
    """
    key = _first(row, keys)
    if isinstance(row[key], str):
        return str(row[key])
    turns = list(messages(row[key], key))
    if not turns:
        raise wrong(key, _CHAT)
    return turns[-1][1]


def messages(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Who speaks and what they say, message by message.

    Args:
        key: The field the messages are from, for errors.

    Raises:
        RefusedError: They are no messages.
    """
    for message in value if isinstance(value, list) else [value]:
        if not isinstance(message, dict) or not message.keys() & {"role", "content"}:
            raise wrong(key, _CHAT)
        yield str(message.get("role") or "user"), content(message.get("content"), key)


def content(value: object, key: str) -> str:
    """The text of a message's content: text, or parts of which those without text are named.

    Raises:
        RefusedError: It is neither.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        texts = (part.get("text") for part in value)
        parts = zip(value, texts, strict=True)
        return "\n".join(said if isinstance(said, str) else f"[{part.get('type') or 'part'}]" for part, said in parts)
    raise wrong(key, _CHAT)


def kept(row: Mapping[str, Any], taken: Collection[str], tool: str) -> dict[str, Any]:
    """What is left of a row, to be kept beside the item.

    Args:
        taken: Keys that the item has taken.
        tool: Stands before a key that is called like a field of ours and means something else.
    """
    left = {key: value for key, value in row.items() if key not in taken}
    return {f"{tool}.{key}" if key in FIELDS else key: value for key, value in left.items()}


def wrong(key: str, wanted: str) -> RefusedError:
    """A cell holds something else."""
    return RefusedError("wrong_type", key, f"{key} holds something else. Write it as {wanted}.")


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    key = next((key for key in keys if row.get(key) is not None), None)
    if key is None:
        raise RefusedError("missing_field", keys[0], f"{' or '.join(keys)} is missing. Add it.")
    return key
