"""Items that verifiers judge wrongly, with what the verdict rests on."""

from __future__ import annotations

from workbench.core.taxonomy import type_display
from workbench.measuring.report.contents import Contents, ErrorExample, ErrorKind, Errors
from workbench.tables.document import Block, Case, Group, Paragraph, Passage, Section

_KINDS: dict[ErrorKind, str] = {
    "accepted": "wrong completion accepted",
    "refused": "right completion refused",
    "undecided": "without a verdict",
}
_MANY: dict[ErrorKind, str] = {
    "accepted": "wrong completions accepted",
    "refused": "right completions refused",
    "undecided": "without a verdict",
}


def examples_section(contents: Contents) -> Section | None:
    """The errors of each verifier, a few of each kind."""
    found = [errors for errors in contents.errors if errors.examples]
    if not found:
        return None
    groups: list[Block] = [
        Paragraph(
            f"At most {contents.examples} of each kind of each verifier, first those that most other verifiers judge "
            "rightly. Texts stand as they are stored; where one was cut, it says by how much."
        )
    ]
    for name in dict.fromkeys(errors.verifier for errors in found):
        own = [errors for errors in found if errors.verifier == name]
        counts = ", ".join(_counted(errors) for errors in own)
        cases = tuple(_case(errors, example) for errors in own for example in errors.examples)
        groups.append(Group(title=f"{name}: {counts}", blocks=cases, folded=True))
    return Section("examples", "Examples of errors", tuple(groups))


def _counted(errors: Errors) -> str:
    return f"{errors.count:,} {(_KINDS if errors.count == 1 else _MANY)[errors.kind]}"


def _case(errors: Errors, example: ErrorExample) -> Case:
    facts = [
        ("Item", f"{example.completion_id} of question {example.question_id}, {example.dataset}"),
        ("Type", type_display(example.subtype)),
        ("Source", " · ".join(text for text in (example.source, example.model) if text) or "unknown"),
        ("Gold", example.gold),
        (
            "Verdict",
            " · ".join(text for text in (example.verdict, _score(example), example.reason, example.rule) if text),
        ),
    ]
    if example.why:
        facts.append(("Why", example.why))
    if example.others:
        facts.append(("Others", f"{example.others_right} of {example.others} other verifiers judge it rightly"))
    passages = [
        ("Question", example.question),
        ("Reference’s final answer", example.answer),
        ("Read in the reference", example.reference_read if example.reference_read != example.answer else ""),
        ("Read in the completion", example.completion_read),
        ("The completion’s end", example.ending),
        ("Detail", example.detail),
    ]
    return Case(
        title=_KINDS[errors.kind].capitalize(),
        facts=tuple(facts),
        passages=tuple(Passage(name, text) for name, text in passages if text),
    )


def _score(example: ErrorExample) -> str:
    return "" if example.score is None else f"score {example.score:g}"
