"""CompassVerifier's data (VerifierBench), with what its verifier said where that stands beside it.

Fields: https://huggingface.co/datasets/opencompass/VerifierBench and the README of open-compass/CompassVerifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.core.taxonomy import SUBTYPES, TYPES, parse_type
from workbench.core.verdict import OutcomeWord
from workbench.data.formats.logs.cells import answer, kept, maybe_text, said
from workbench.data.formats.logs.kind import LogKind, always
from workbench.data.formats.logs.logged import Grade, Logged, unread, verifier_name

_GOLD: Final = {"A": True, "B": False}
_VERDICTS: Final[dict[str, OutcomeWord]] = {"A": "correct", "B": "incorrect", "C": "abstain"}
_INVALID: Final = "invalid"
_JUDGED: Final = ("processed_judgment", "ori_judgment", "judgment")
"""Where their verifier's judgment stands, the first one present: its letter, or the whole reply."""

_BOXED: Final = re.compile(r"boxed\{+([ABC])\}")
_LETTER: Final = re.compile(r"\b([ABC])\b")
_ALONE: Final = re.compile(r"\W*([ABC])\W*")
_TAKEN: Final = frozenset({"question", "gold_answer", "llm_response", "data_source", "domain", "model", "model_name"})


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is one of VerifierBench's rows."""
    return {"question", "gold_answer", "llm_response"} <= element.keys()


def _read(row: Mapping[str, Any]) -> Iterator[Logged]:
    gold = row.get("gold_judgment")
    yield Logged(
        item={
            "question": said(row, "question"),
            "reference": answer(row, "gold_answer") or "",
            "completion": said(row, "llm_response"),
            "model": maybe_text(row, "model", "model_name"),
            "source": _source(row),
            **_type(row.get("answer_type")),
            # "C", an invalid question or response, is no gold of ours; gold_judgment stays beside the item.
            "gold": _GOLD.get(gold.strip().upper()) if isinstance(gold, str) else None,
            **kept(row, _TAKEN.union(_JUDGED), "compassverifier"),
        },
        grades=tuple(_grade(row)),
    )


def _source(row: Mapping[str, Any]) -> str | None:
    """``domain/name``, as sources are called."""
    source, domain = maybe_text(row, "data_source"), maybe_text(row, "domain")
    return f"{domain}/{source}" if source and domain and "/" not in source else source


def _type(value: object) -> dict[str, str]:
    """Their answer type as ours, where its name is one of ours."""
    code = parse_type(value) if isinstance(value, str) else None
    if code is None or code.code not in TYPES | SUBTYPES:
        return {}
    return {"subtype" if code.is_subtype else "type": code.code}


def _grade(row: Mapping[str, Any]) -> Iterator[Grade]:
    reply = next((row[key] for key in _JUDGED if isinstance(row.get(key), str)), None)
    if reply is None:
        return
    letter = _letter(reply)
    name = verifier_name("compassverifier")
    if letter is None:
        yield unread(name, reply)
    else:
        yield Grade(verifier=name, verdict=_VERDICTS[letter], reason=_INVALID if letter == "C" else None)


def _letter(reply: str) -> str | None:
    """The letter of a reply: the last one boxed, that after "Final Judgment:", or the reply itself."""
    if boxed := _BOXED.findall(reply):
        return str(boxed[-1])
    _, named, judgment = reply.rpartition("Final Judgment:")
    letter = _LETTER.search(judgment) if named else _ALONE.fullmatch(reply)
    return letter[1] if letter else None


KIND: Final = LogKind(name="compassverifier", recognises=recognises, begin=always(_read))
