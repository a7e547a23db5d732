"""OpenAI's batches: the output files, with the questions from the input files that lie beside them.

Its own description: https://platform.openai.com/docs/guides/batch. Bodies of chat completions, completions and
responses are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from workbench.data.formats.explain import RefusedError
from workbench.data.formats.logs.cells import content, maybe_text, messages, wrong
from workbench.data.formats.logs.kind import LogKind, Read
from workbench.data.formats.logs.logged import Logged
from workbench.data.formats.logs.openai_batch_requests import Asked, asked_beside, is_request

_UNASKED: Final = "unknown_request"
"""Why a row is refused whose request isn't there (yet): the same file may say more another time."""


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is a line of a batch's output, of its file of errors, or of its input."""
    return {"custom_id", "response", "error"} <= element.keys() or is_request(element)


def begin(path: Path) -> Read:
    """A function that gives the completions of a line: each choice is one."""
    asked = asked_beside(path)
    return lambda row: _read(row, asked, path)


def _read(row: Mapping[str, Any], requests: Mapping[str, Asked | None], path: Path) -> Iterator[Logged]:
    if is_request(row):
        message = "The line is a request, not an answer. Import the batch's output file; leave this one beside it."
        raise RefusedError("missing_field", "response", message)
    body = _body(row)
    custom_id = maybe_text(row, "custom_id") or ""
    if custom_id not in requests:
        message = (
            f"No file beside {path.name} has the request {custom_id[:80]!r}: a batch's output doesn't say what was "
            "asked. Put the batch's input file (.jsonl) into the same folder, and import again."
        )
        raise RefusedError(_UNASKED, "custom_id", message)
    request = requests[custom_id]
    if request is None:
        message = f"Files beside {path.name} have different requests {custom_id[:80]!r}. Leave one of them there."
        raise RefusedError("conflict", "custom_id", message)
    for number, (completion, ending) in enumerate(_completions(body)):
        yield Logged(
            item={
                **request,
                "custom_id": custom_id,
                "completion_id": f"{row.get('id') or body.get('id') or custom_id}/{number}",
                "completion": completion,
                "model": maybe_text(body, "model"),
                "finish_reason": ending,
            }
        )


def _body(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body of an answered request.

    Raises:
        RefusedError: It failed, or is none.
    """
    response = row.get("response")
    error = row.get("error")
    if isinstance(error, dict):
        raise _failed(error)
    if not isinstance(response, dict) or not isinstance(response.get("body"), dict):
        raise wrong("response", "an object with a body")
    body: Mapping[str, Any] = response["body"]
    if isinstance(body.get("error"), dict):
        raise _failed(body["error"], response.get("status_code"))
    return body


def _failed(error: Mapping[str, Any], status: object = None) -> RefusedError:
    words = [str(part) for part in (status, error.get("code") or error.get("type"), error.get("message")) if part]
    message = f"The request failed: {', '.join(words)[:300].rstrip('.') or 'no reason is given'}. Send it again."
    return RefusedError("failed_request", "error", message)


def _completions(body: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """What was answered, each with how it ended.

    Raises:
        RefusedError: There is nothing.
    """
    choices, output = body.get("choices"), body.get("output")
    if isinstance(choices, list) and choices:
        for choice in choices:
            if not isinstance(choice, dict):
                raise wrong("choices", "objects with a message or text")
            yield _of_choice(choice), maybe_text(choice, "finish_reason")
    elif isinstance(output, list) and output:
        yield _of_output(output), maybe_text(body, "status")
    else:
        raise RefusedError("missing_field", "choices", "The body has no choices and no output: nothing was answered.")


def _of_choice(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    if isinstance(message, dict):
        return content(message.get("content") or message.get("refusal"), "message")
    text = maybe_text(choice, "text")
    if text is None:
        raise RefusedError("missing_field", "message", "A choice has no message and no text.")
    return text


def _of_output(output: list[Any]) -> str:
    """The messages among what a response consists of; it has reasoning and calls of tools, too."""
    said = [part for part in output if isinstance(part, dict) and part.get("type") == "message"]
    return "\n".join(text for _, text in messages(said, "output"))


KIND: Final = LogKind(name="openai-batch", recognises=recognises, begin=begin, later=frozenset({_UNASKED}))
