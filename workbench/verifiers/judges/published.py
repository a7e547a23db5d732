"""Published judges: the prompts are read from the user's copy of a paper's release."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from workbench.config.verifiers import PUBLISHED_FILES
from workbench.core.errors import UsageError
from workbench.core.files import read_small_file
from workbench.llm.records import Sampling
from workbench.verifiers.judges.template import MAX_BYTES, Template, TemplateCall, merge_sampling, plain_names

ANSWER: Final = "answer"
"""The releases' name of the reference."""


class PublishedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt as its authors released it.

    Attributes:
        file: The path of its file in the authors' repository.
        sha256: SHA-256 of the released file's bytes, in hexadecimal.
        names: The placeholders in it; other braces are text.
    """

    file: str
    sha256: str
    names: frozenset[str]


VERIFYBENCH: Final[dict[bool, PublishedPrompt]] = {
    True: PublishedPrompt(
        file=PUBLISHED_FILES[True],
        sha256="0c8636d070a7af9d2ab3bf5b1b7a9c41dcbe038850c45eda110fba0c8a0ad718",
        names=frozenset({"question", ANSWER, "completion"}),
    ),
    False: PublishedPrompt(
        file=PUBLISHED_FILES[False],
        sha256="3c59b3b793451a1c673d2cf9f6f367bad1c1af045adbacbfeb1672dd27a2a5fc",
        names=frozenset({"question", "completion"}),
    ),
}
"""VerifyBench's judge (arXiv 2505.15801, appendices C.2 and C.3): with a reference answer, and without."""
PARSER: Final = "verifybench@1"
"""The parser of that release: the last Yes or No anywhere."""
RELEASED: Final = Sampling(temperature=0.0, max_tokens=2048)
"""The sampling of that release."""
Standing = Literal["as released", "changed"]


def release_note(standing: Standing) -> str:
    if standing == "as released":
        return "the prompt's bytes are those that VerifyBench's authors released"
    return "the prompt is not the one that VerifyBench's authors released: its bytes differ"


def prompt_named(path: Path) -> PublishedPrompt | None:
    """Return the released prompt whose file has the same name; None if there is none."""
    return next((prompt for prompt in VERIFYBENCH.values() if Path(prompt.file).name == path.name), None)


def from_folder(folder: Path, chosen: Sampling, *, reference: bool) -> tuple[Template, Standing]:
    """Build the request of the prompt in a copy of VerifyBench's repository.

    Args:
        chosen: Sampling that overrides the release's.
        reference: Whether the judge sees the reference answer.

    Raises:
        UsageError: The file can't be read, is not UTF-8, or has other placeholders.
    """
    prompt = VERIFYBENCH[reference]
    return read_prompt(folder / prompt.file, prompt, chosen)


def read_prompt(path: Path, prompt: PublishedPrompt, chosen: Sampling) -> tuple[Template, Standing]:
    """Load a released prompt from any path; see `from_folder` for arguments and errors."""
    data, text = read_text(path, f"published= takes a copy of the authors' repository, in which {prompt.file} lies.")
    names = plain_names(text, frozenset({"question", ANSWER, "completion"}))
    digest = hashlib.sha256(data).hexdigest()
    if names != prompt.names:
        for other in VERIFYBENCH.values():
            if other.sha256 == digest:
                raise UsageError(
                    f"{path}: this is the file {other.file} of the release.", f"{prompt.file} is needed here."
                )
        odd = " and ".join(f"{{{name}}}" for name in sorted(names ^ prompt.names))
        says = "is missing" if prompt.names > names else "does not belong there"
        listed = ", ".join(f"{{{name}}}" for name in sorted(prompt.names))
        raise UsageError(f"{path}: {odd} {says}.", f"The release has {listed}, each at least once.")
    call = TemplateCall(
        name="judge",
        messages=(("user", text),),
        names=names,
        required=names,
        sampling=merge_sampling((RELEASED, chosen)),
        is_plain=True,
    )
    template = Template(id=path.stem, version=1, parser=PARSER, calls=(call,), sha256=digest)
    return template, "as released" if digest == prompt.sha256 else "changed"


def read_text(path: Path, hint: str) -> tuple[bytes, str]:
    """Load a prompt's file, as bytes and as unchanged text, including its line ends.

    Args:
        hint: The expected file, for the message if it doesn't exist.

    Raises:
        UsageError: The file can't be read, is too large, or not UTF-8.
    """
    data = read_small_file(path, "a prompt", MAX_BYTES, hint)
    try:
        return data, data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: {error}.", "It is UTF-8 text.") from None
