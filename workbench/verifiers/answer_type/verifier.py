"""The kind ``answer-type``: it suggests answer types, by our prompt or a published one, and judges no completion."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import ClassVar, Final

from msgspec import structs

from workbench.core.errors import UsageError
from workbench.core.taxonomy import ANSWER_TYPE, SUBTYPES, known_type, parse_type
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.llm.server import Limits
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase, PreparedPrompt, abstention_on
from workbench.verifiers.judges.parsers.base import own_lines
from workbench.verifiers.judges.parsers.thoughts import spoken
from workbench.verifiers.judges.published import ANSWER, read_text
from workbench.verifiers.judges.template import Prompt, plain_names, prompt
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.serving import InsertionOptions, OneServer, ServerOptions

# -- The request for a question's answer type.


READING: Final = "answer-type@1"
"""The version of the parser; it changes when the same reply would be parsed differently."""
PROMPT: Final[Prompt] = prompt(Path(__file__).with_name("prompt.txt"), "classify", frozenset({"question", "reference"}))
"""Our prompt, after section 3.1 and appendix C.1 of arXiv 2505.15801."""


def request(question: str, reference: str, secret: bytes) -> PreparedPrompt:
    """Build the request about one question, with delimiters around its texts.

    Args:
        secret: The database's secret, from which the delimiters are derived.
    """
    texts = {"question": question, "reference": reference}
    return JudgeCase(item=0, texts=texts, secret=secret, neutralise=True).prepare(PROMPT.call)


# -- Parsing the answer type from a model's reply.


OUTSIDE = {"PROOF": "proof", "OPEN": "open_ended"}
"""The model's code for a question without an answer type -> the reason for excluding the question."""
_LABEL = re.compile(r"answer[ \t*_]{1,6}type[ \t*_`]{0,6}[:：](.*)", re.IGNORECASE)
_CODE = re.compile(r"(?<![A-Za-z0-9])([A-D]\d|PROOF|OPEN)(?![A-Za-z0-9])")
MARKUP = " \t*_`$.[](){}\\"


def suggestion(reply: str, fence: str | None = None) -> str | None:
    """Return the answer type from the reply's last line with ``Answer type:``.

    It is a subtype's code (``"B5"``) or a reason of `OUTSIDE`; None without such a line, or if it has neither.

    Args:
        reply: The reply as recorded.
        fence: The delimiter around texts in the request: reply text before its last repetition is not the model's own
            statement.
    """
    labels = [label[1] for line in own_lines(reply, fence) if (label := _LABEL.search(line))]
    return _type_code(labels[-1]) if labels else None


def _type_code(text: str) -> str | None:
    found = set(_CODE.findall(text))
    if not found:
        named = parse_type(text.strip(MARKUP))
        return named.code if named is not None and named.code in SUBTYPES else None
    first = found.pop()
    return OUTSIDE.get(first, first if first in SUBTYPES else None) if not found else None


class AnswerType(OneServer):
    """Asks a model for the answer type of a question, from the question and its reference.

    The request is the same for all completions of a question, so it is sent only once. The verdict is always an
    abstention: its rule is the subtype's code, or ``proof`` or ``open_ended`` for a question outside the taxonomy.
    """

    description: ClassVar[str] = "Answer type of a question, suggested by a model for annotators"
    options: ClassVar[dict[str, str]] = meanings(ServerOptions, InsertionOptions, Limits)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(ServerOptions, InsertionOptions)
    name: str = ANSWER_TYPE
    version: str = "2"

    def __init__(self, **options: str) -> None:
        super().__init__(options)
        own = parse_record(InsertionOptions, options)
        self._fence, self._neutralise = own.fence is not False, own.neutralise is not False

    def config(self) -> dict[str, object]:
        return {
            **PROMPT.config(),
            "parser": READING,
            **self.server_config(),
            "fence": self._fence,
            "neutralise": self._neutralise,
        }

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        case = JudgeCase(
            item=item.item,
            texts={"question": item.question, "reference": item.reference},
            secret=secret if self._fence else None,
            neutralise=self._neutralise,
        )
        answer = await case.ask(ask, PROMPT.call)
        found = suggestion(answer.reply.text, answer.fence)
        if found is not None:
            return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason="suggested_type", rule=found))
        return Judged(verdict=abstention_on(answer))


READING_NAMED: Final = "answer-type-named@1"
"""The parser of replies to such prompts, whose format isn't known in advance."""
_NAMES: Final = frozenset({"question", ANSWER, "reference"})
_SUBTYPE_CODE = re.compile(r"(?<![A-Za-z0-9])([A-D]\d)(?![A-Za-z0-9])")
_OUTSIDE: Final = {"proof": "proof", "proof-based": "proof", "open-ended": "open_ended", "open": "open_ended"}
_QUOTES: Final = MARKUP + "\"',"


def prompt_in(path: Path) -> Prompt:
    """Load a prompt file, in which ``{question}`` and ``{answer}`` (or ``{reference}``) will be replaced.

    Raises:
        UsageError: The file can't be read, is not UTF-8, or lacks the question.
    """
    data, text = read_text(path, "It is a prompt with {question} and {answer}, as a text file.")
    names = plain_names(text, _NAMES)
    if "question" not in names:
        raise UsageError(f"{path}: {{question}} is missing.", "A prompt has {question}, and {answer} or {reference}.")
    call = structs.replace(PROMPT.call, messages=(("user", text),), names=names, required=names, is_plain=True)
    return Prompt(call, hashlib.sha256(data).hexdigest())


def published_request(prompt: Prompt, question: str, reference: str) -> PreparedPrompt:
    texts = {"question": question, "reference": reference, ANSWER: reference}
    return JudgeCase(item=0, texts=texts, secret=None, neutralise=False).prepare(prompt.call)


def named_in(reply: str) -> str | None:
    """Return the type or subtype that a reply names, or why the question has no type; None if it is unclear.

    The result comes from the last line in our format, else from the last line with only a type's name or code, else
    from the only subtype code in the reply.
    """
    start, end = spoken(reply, None)
    words = reply[start:end]
    if (ours := suggestion(words)) is not None:
        return ours
    for line in reversed(words.splitlines()):
        bare = line.strip(_QUOTES)
        for text in (bare, bare.rpartition(":")[2].strip(_QUOTES)):
            if (outside := _OUTSIDE.get(re.sub(r"[ _]", "-", text.lower()))) is not None:
                return outside
            if (code := known_type(text) or (text if text in "ABCD" and len(text) == 1 else None)) is not None:
                return code
    found = set(_SUBTYPE_CODE.findall(words))
    return known_type(found.pop()) if len(found) == 1 else None
