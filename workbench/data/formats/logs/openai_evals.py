"""OpenAI evals' recordings: a line for the run, then events of its samples, which are joined here.

Events: ``evals/record.py`` (evals 3.0.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.data.formats.documents import Row, SourceDocument, documents
from workbench.data.formats.explain import RefusedError
from workbench.data.formats.lines import Stream
from workbench.data.formats.logs.cells import answer, asked, maybe_text, number, said
from workbench.data.formats.logs.kind import LogKind, always
from workbench.data.formats.logs.logged import Grade, Logged, graded, unread, verifier_name
from workbench.data.formats.logs.plain import plain_object
from workbench.data.formats.logs.targets import several
from workbench.data.formats.source import FileFormat

_TYPES: Final = ("sampling", "match", "metrics", "error")
"""Events that are taken; others (embeddings, raw samples, extras) say nothing of a completion."""

_AROUND: Final = (b'{"spec"', b'{"final_report"')


class _SampleEvents(Struct):
    """The events of one sample: their tokens by type, and where the first one stands."""

    line: int
    raw: bytes
    run_id: str
    events: dict[str, list[msgspec.Raw]]


class _Event(Struct):
    sample_id: str | int
    type: str
    data: msgspec.Raw
    run_id: str = ""


class _Spec(Struct):
    spec: msgspec.Raw


_event = msgspec.json.Decoder(_Event)
_spec = msgspec.json.Decoder(_Spec)


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is the line of a run, or one of its events."""
    spec = element.get("spec")
    if isinstance(spec, dict):
        return {"eval_name", "completion_fns"} <= spec.keys()
    return {"run_id", "event_id", "sample_id", "type", "data"} <= element.keys()


def rows(stream: Stream, kind: FileFormat, path: Path, max_line: int) -> Iterator[Row]:
    """The samples of an open file, each as one row with its run and its events, in the order of their first events.

    Events of a sample stand anywhere in the file (they come from threads): the file is held until its end.
    """
    samples: dict[str | int, _SampleEvents] = {}
    spec = msgspec.Raw(b"{}")
    for row in documents(stream, kind, path, max_line):
        if isinstance(row, Refusal):
            yield row
            continue
        event = _event_of(row.json)
        if event is None:
            if row.json.lstrip().startswith(_AROUND):
                spec = _spec_of(row.json) or spec
            else:
                # Read as a sample it has no events: it is refused with why.
                yield row
        elif event.type in _TYPES:
            sample = samples.setdefault(event.sample_id, _SampleEvents(row.line, row.raw, event.run_id, {}))
            sample.events.setdefault(event.type, []).append(event.data)
    for sample_id, sample in samples.items():
        joined = {"sample_id": sample_id, "run_id": sample.run_id, "spec": spec, "events": sample.events}
        yield SourceDocument(sample.line, msgspec.json.encode(joined), sample.raw)


def _read(row: Mapping[str, Any]) -> Iterator[Logged]:
    events = row.get("events")
    if not isinstance(events, dict):
        raise RefusedError("missing_field", "sample_id", "The line is no event: sample_id, type or data is missing.")
    spec = row["spec"] if isinstance(row["spec"], dict) else {}
    match = _data(events, "match")
    # The first sampling is the model's; later ones are those of a model that grades it.
    sampling = _data(events, "sampling")
    if not sampling:
        raise RefusedError("missing_field", "sampling", _unsampled(events))
    name = str(spec.get("base_eval") or spec.get("eval_name") or "eval")
    models = spec.get("completion_fns")
    yield Logged(
        item={
            "completion_id": f"{row['run_id']}/{row['sample_id']}",
            **asked(sampling, "prompt"),
            "reference": _expected(match),
            "completion": _completion(sampling, match),
            "model": str(models[0]) if isinstance(models, list) and models else None,
            "source": str(spec.get("eval_name") or name),
        },
        grades=(*_match(name, match), *_metrics(name, _data(events, "metrics"))),
    )


def _completion(sampling: Mapping[str, Any], match: Mapping[str, Any]) -> str:
    """What was sampled; of several at once, the one that was graded, which is the first."""
    graded = match.get("sampled")
    if isinstance(graded, str):
        return graded
    sampled = sampling.get("sampled")
    if isinstance(sampled, list) and sampled and isinstance(sampled[0], str):
        return sampled[0]
    return said(sampling, "sampled")


def _expected(match: Mapping[str, Any]) -> str:
    """What a match expects: an answer, or several of which any would do."""
    expected = match.get("expected")
    if isinstance(expected, list) and len(expected) > 1 and all(isinstance(one, str) for one in expected):
        return several(expected)
    return answer(match, "expected") or ""


def _match(name: str, match: Mapping[str, Any]) -> Iterator[Grade]:
    picked = match.get("picked")
    # Some evals pick the whole answer.
    told = isinstance(picked, str) and picked != match.get("sampled")
    grade = graded(verifier_name("openai-evals", name, "match"), match.get("correct"), picked if told else None)
    if grade is not None:
        yield grade


def _metrics(name: str, metrics: Mapping[str, Any]) -> Iterator[Grade]:
    """Each metric that is a number or a truth value is a grader; a choice alone is an abstention."""
    choice = maybe_text(metrics, "choice") if isinstance(metrics.get("choice"), str) else None
    for key, value in metrics.items():
        verifier = verifier_name("openai-evals", name, key)
        grade = graded(verifier, value)
        if grade is not None:
            yield msgspec.structs.replace(grade, detail=None if choice is None else f"choice {choice}")
        elif key == "score" and choice is not None and number(value) is None:
            yield unread(verifier, f"choice {choice}")


def _data(events: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """What the first event of a type says."""
    found = events.get(kind) or [{}]
    if not isinstance(found[0], dict):
        raise RefusedError("wrong_type", "data", f"The data of the event {kind} is no object.")
    return found[0]


def _unsampled(events: Mapping[str, Any]) -> str:
    fault = maybe_text(_data(events, "error"), "message") if "error" in events else None
    return f"The sample failed: {fault}" if fault else "The sample has no sampling event: nothing was answered."


def _event_of(line: bytes) -> _Event | None:
    try:
        return _event.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return _event.decode(msgspec.json.encode(plain_object(line)))
    except (RefusedError, msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _spec_of(line: bytes) -> msgspec.Raw | None:
    try:
        return _spec.decode(line).spec
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


KIND: Final = LogKind(name="openai-evals", recognises=recognises, begin=always(_read), rows=rows)
