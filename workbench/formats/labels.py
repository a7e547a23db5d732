"""Label files: JSON Lines, one label a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.errors import FormatError
from workbench.model.item import Refusal
from workbench.model.label import EXCLUSION_REASONS, LabelLine
from workbench.model.taxonomy import parse_type

_DECODER = msgspec.json.Decoder(LabelLine)


def read(path: Path) -> Iterator[tuple[int, LabelLine | Refusal]]:
    """Line numbers (from 1) with a label each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror}.") from error
    with file:
        for number, raw in enumerate(file, 1):
            if raw.strip():
                yield number, _line(number, raw)


def _line(number: int, raw: bytes) -> LabelLine | Refusal:
    try:
        line = _DECODER.decode(raw)
    except msgspec.ValidationError as error:
        field = _field(str(error))
        return Refusal(line=number, code="wrong_type", message=f"{error}", raw=raw, field=field)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Refusal(line=number, code="bad_json", message=f"not a JSON object: {error}", raw=raw)
    return _checked(number, raw, line)


def _checked(number: int, raw: bytes, line: LabelLine) -> LabelLine | Refusal:
    def refused(field: str, message: str) -> Refusal:
        return Refusal(line=number, code="wrong_type", message=message, raw=raw, field=field)

    if line.verdict is None and line.answer_subtype is None and not line.kind:
        return refused("verdict", "a line needs a verdict (correct, incorrect, unsuitable) or an answer_subtype")
    if line.verdict == "unsuitable" and line.reason not in EXCLUSION_REASONS:
        return refused("reason", f"an unsuitable item needs a reason: {', '.join(EXCLUSION_REASONS)}")
    if line.verdict != "unsuitable" and line.reason is not None:
        return refused("reason", "only an unsuitable item has a reason")
    if line.revision < 1:
        return refused("revision", "revisions count from 1")
    if line.answer_subtype is not None:
        parsed = parse_type(line.answer_subtype)
        if parsed is None or not parsed.is_subtype:
            return refused("answer_subtype", f"{line.answer_subtype!r} is no subtype code such as A1 or D2")
        line.answer_subtype = parsed.code
    return line


def _field(message: str) -> str | None:
    """The field a msgspec message names, as in "Expected `str` - at `$.annotator`"."""
    _, found, rest = message.rpartition("`$.")
    if found:
        return rest.rstrip("`")
    _, found, rest = message.partition("missing required field `")
    return rest.split("`", 1)[0] if found else None
