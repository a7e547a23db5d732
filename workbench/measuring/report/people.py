"""Sections of the report on agreement between annotators, methods, provenance, the data, and error examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from workbench.core.label import EXCLUSION_REASONS
from workbench.core.options import TableForm
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import NONE, counted
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.labelling.agreement.text import agreement_tables, ceiling_in_words, head
from workbench.measuring.paper import paper_counts
from workbench.measuring.records.documents import DataCard, ImportedFile, NamedCount
from workbench.measuring.report.common import best_constant, share
from workbench.measuring.report.contents import Contents, ErrorExample, ErrorKind, Errors, RunFacts
from workbench.statistics.records.agreement import AgreementReport
from workbench.tables.document import (
    Block,
    Case,
    Facts,
    Group,
    Paragraph,
    Passage,
    Section,
    Table,
    percentage,
)
from workbench.tables.files import format_tables
from workbench.tables.table import Column, Columns, count, table, text, word


def people_section(contents: Contents) -> Section | None:
    found = contents.agreement
    if found is None:
        return None
    return Section("people", "Agreement between people", agreement_blocks(with_aliases(found)))


def agreement_blocks(found: AgreementReport) -> tuple[Block, ...]:
    return Paragraph(f"{head(found)}."), *agreement_tables(found)


def agreement_as(found: AgreementReport, form: TableForm) -> str:
    return format_tables(agreement_tables(found), form)


def with_aliases(found: AgreementReport) -> AgreementReport:
    return renamed(found, {row.name: f"annotator {number}" for number, row in enumerate(found.per_annotator, 1)})


def renamed(found: AgreementReport, names: Mapping[str, str]) -> AgreementReport:
    def called(name: str) -> str:
        return names.get(name, "annotator")

    def of_two(pairs: Sequence[Any]) -> list[Any]:
        return [structs.replace(pair, pair=tuple(map(called, pair.pair))) for pair in pairs]

    return structs.replace(
        found,
        cohen_kappa=of_two(found.cohen_kappa),
        confounded=of_two(found.confounded),
        per_annotator=[structs.replace(row, name=called(row.name)) for row in found.per_annotator],
    )


# -- Methods and provenance: how the metrics were computed, and what is needed to reproduce them.


PROTOCOLS: dict[Protocol3, str] = {
    "forced": "an abstention or an error counts as the verdict “incorrect”",
    "strict": "an abstention or an error counts as wrong, whatever the gold label is",
    "decided": "abstentions and errors are left out",
}
_GOLDS: dict[GoldChoice, str] = {
    "final": "the adjudicated label, else the one annotators agree on, else the one from the imported data",
    "people": "the adjudicated label, else the one annotators agree on",
    "imported": "the label from the imported data",
}
_BLIND = "Agreement is of first-pass labels given blind; its intervals leave out one {} at a time."


def methods_section(contents: Contents) -> Section:
    counts = {row.of: sum(row.counts.values()) for row in contents.card.counts.rows if row.group is None}
    parts = [
        f"The metrics cover {counts.get('completions', 0):,} completions of {counts.get('questions', 0):,} questions, "
        f"{counts.get('correct', 0):,} of them correct (items: {contents.selection}). Gold is "
        f"{_GOLDS[contents.gold_choice]}; items in conflict, excluded items and checks have none.",
        f"Each verifier’s newest complete run counts. Under the protocol {contents.protocol}, "
        f"{PROTOCOLS[contents.protocol]}. “Correct” is the positive class; MCC is 0 where it has no denominator; "
        "averages are over items (micro) unless they say otherwise. Baselines are verifiers that look at no "
        "completion.",
        "Intervals have a nominal coverage of 95 %: Wilson’s, with the number of items divided by the design effect of "
        "clustering by question and Student’s t for the effective number of questions, or Clopper and Pearson’s where "
        "few questions differ.",
        *_tests_text(contents),
        *([_BLIND.format(contents.agreement.interval_by)] if contents.agreement is not None else []),
    ]
    return Section("methods", "Methods", (Paragraph(" ".join(parts)),))


def _tests_text(contents: Contents) -> list[str]:
    sentences = []
    tested = [report.tests for report in contents.by.values() if report.tests is not None]
    if tested:
        sentences.append(
            f"A group is tested against its type or all items by {tested[0].method}; q-values are Benjamini and "
            "Hochberg’s within tables, and Benjamini and Bogomolov’s over tables and types, as one tree. This report "
            f"took {counted(sum(one.hypotheses for one in tested), 'look')} (tests of a cell) in "
            f"{counted(len(tested), 'table')}."
        )
    if contents.family is not None and contents.family.family:
        sentences.append(
            "Two verifiers are compared on the items that count for both: difference with Newcombe’s interval, "
            "from those of the shares that only one judges correctly, by question, and the exact paired permutation "
            "test by question with Holm’s correction over all pairs."
        )
    return sentences


def provenance_section(contents: Contents) -> Section:
    software = contents.software
    facts = (
        ("workbench", software.workbench),
        ("Python", software.python),
        ("numpy, scipy", f"{software.numpy}, {software.scipy}"),
        ("Database", f"{contents.database}, tables of version {software.schema}"),
        ("Content (BLAKE2b-128 of texts, gold and verdicts)", software.content_hash),
        ("Made", contents.generated_at),
    )
    caption = "Runs behind the metrics, with the BLAKE2b of their verifiers' configurations."
    return Section("provenance", "Versions and hashes", (Facts(facts), runs_table(contents.runs, caption)))


def runs_table(runs: Sequence[RunFacts], caption: str) -> Table:
    known = any(run.identity for run in runs)
    columns: Columns[RunFacts] = (
        word("Verifier", lambda run: run.verifier),
        word("Kind", lambda run: run.kind),
        word("Version", lambda run: run.version),
        word("Configuration", lambda run: run.config_hash),
        word("What it is", lambda run: ", ".join(map(" ".join, run.identity.items())), there=known),
        word("Completed", lambda run: run.completed_at.replace("T", " ")[:19]),
        text("Run", lambda run: str(run.run)),
        count("Verdicts", lambda run: run.items),
    )
    return table(caption, columns, runs)


# -- The data card.


_MAX_NAMES = 60


def data_section(contents: Contents) -> Section:
    card = contents.card
    blocks: list[Block] = [
        paper_counts(card.counts, "Items with gold; completions by answer type and domain."),
        Facts(tuple(_data_facts(contents))),
    ]
    if len(card.crossing) > 1:
        blocks.append(_type_domain_table(card))
    named = [(title, rows) for title, rows in (("Source", card.sources), ("Model", card.models)) if rows]
    tables = tuple(_named_counts_table(title, rows) for title, rows in named)
    blocks.append(Group(title="Sources and models", blocks=tables, folded=any(len(rows) > 12 for _, rows in named)))
    if card.files:
        caption = "Files the items came from, with the BLAKE2b-128 of their bytes."
        blocks.append(table(caption, _FILES, card.files))
    return Section("data", "Data card", tuple(blocks))


def _data_facts(contents: Contents) -> list[tuple[str, str]]:
    card = contents.card
    gold = ", ".join(f"{number:,} {name}" for name, number in card.gold.items() if number)
    rows = [("Gold from", gold or "nothing")]
    if (found := best_constant(contents.overall.rows)) is not None:
        verdict = found.verifier.removeprefix("always-")
        rows.append((f"Accuracy of always “{verdict}”", f"{percentage(found.accuracy)}\u00a0%"))
    for name, judges in card.selection_judges.items():
        rows.append((f"Judges that selected {name}", ", ".join(judges)))
    for length in card.lengths:
        quarters = f"{length.low:,.0f} / {length.median:,.0f} / {length.high:,.0f} characters"
        rows.append((f"Length where gold is {length.gold}", f"quartiles {quarters}"))
    rows.append(
        ("Excluded", _counts_text({EXCLUSION_REASONS.get(code, code): n for code, n in card.exclusions.items()}))
    )
    if card.quarantined:
        rows.append(("Rows rejected at import", _counts_text(card.quarantined)))
    rows.append(("Label noise", _label_noise_text(contents)))
    rows += [("Known quirk", quirk) for quirk in card.quirks]
    return rows


def _counts_text(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "none"


def _label_noise_text(contents: Contents) -> str:
    if contents.agreement is None:
        return "No two people labelled an item blind, so the ceiling of label noise on accuracy is unknown."
    if not contents.agreement.ceiling:
        return "People agree too rarely, or on too few questions, to estimate the ceiling of label noise on accuracy."
    return " ".join(map(ceiling_in_words, contents.agreement.ceiling))


def _type_domain_table(card: DataCard) -> Table:
    def of_domain(domain: str) -> Column[str]:
        return count(domain or "no domain", lambda kind: card.crossing.get((kind, domain), 0))

    domains = dict.fromkeys(domain for _, domain in sorted(card.crossing, key=lambda key: key[1]))
    columns: Columns[str] = (word("Answer type", type_display), *map(of_domain, domains))
    caption = "Completions with gold by answer type and domain."
    return table(caption, columns, dict.fromkeys(kind for kind, _ in sorted(card.crossing)))


def _named_counts_table(title: str, rows: list[NamedCount]) -> Table:
    left = rows[_MAX_NAMES:]
    drawn = any(row.drawn is not None for row in rows)
    licensed = drawn or any(row.licence for row in rows)
    columns: Columns[NamedCount] = (
        word(title, lambda one: one.name or "(none)"),
        word("Licence", lambda one: one.licence or "unknown", there=licensed),
        text("Questions drawn", lambda one: NONE if one.drawn is None else f"{one.drawn:,}", there=drawn),
        count("Questions", lambda one: one.questions),
        count("Completions", lambda one: one.items),
        share("Correct (%)", lambda one: one.correct / one.items if one.items else None),
    )
    more = f"{len(left):,} more with {counted(sum(row.items for row in left), 'item')}."
    caption = f"Items with gold by {title.lower()}."
    return table(caption, columns, rows[:_MAX_NAMES], notes=(more,) if left else ())


_FILES: Columns[ImportedFile] = (
    word("File", lambda file: file.name),
    word("Data set", lambda file: file.dataset),
    word("BLAKE2b-128", lambda file: file.blake2b or NONE),
    word("Format", lambda file: file.format),
    count("Rows", lambda file: file.read),
    count("Taken", lambda file: file.imported + file.unchanged),
)


# -- Examples of items that verifiers judge wrongly, with the evidence for the verdict.


_KINDS: dict[ErrorKind, str] = {
    "accepted": "wrong completion accepted",
    "refused": "right completion rejected",
    "undecided": "without a verdict",
}
_MANY: dict[ErrorKind, str] = {
    "accepted": "wrong completions accepted",
    "refused": "right completions rejected",
    "undecided": "without a verdict",
}


def examples_section(contents: Contents) -> Section | None:
    found = [errors for errors in contents.errors if errors.examples]
    if not found:
        return None
    groups: list[Block] = [
        Paragraph(
            f"At most {contents.examples} of each kind of each verifier, first those that most other verifiers judge "
            "rightly. Texts are shown as stored; a shortened text says by how much."
        )
    ]
    for name in dict.fromkeys(errors.verifier for errors in found):
        own = [errors for errors in found if errors.verifier == name]
        counts = ", ".join(_error_count_text(errors) for errors in own)
        cases = tuple(_error_case(errors, example) for errors in own for example in errors.examples)
        groups.append(Group(title=f"{name}: {counts}", blocks=cases, folded=True))
    return Section("examples", "Examples of errors", tuple(groups))


def _error_count_text(errors: Errors) -> str:
    return f"{errors.count:,} {(_KINDS if errors.count == 1 else _MANY)[errors.kind]}"


def _error_case(errors: Errors, example: ErrorExample) -> Case:
    facts = [
        ("Item", f"{example.completion_id} of question {example.question_id}, {example.dataset}"),
        ("Type", type_display(example.subtype)),
        ("Source", " · ".join(text for text in (example.source, example.model) if text) or "unknown"),
        ("Gold", example.gold),
        (
            "Verdict",
            " · ".join(text for text in (example.verdict, _score_text(example), example.reason, example.rule) if text),
        ),
    ]
    if example.why:
        facts.append(("Why", example.why))
    if example.others:
        facts.append(("Others", f"{example.others_right} of {example.others} other verifiers judge it correctly"))
    passages = [
        ("Question", example.question),
        ("Reference’s final answer", example.answer),
        ("Extracted from the reference", example.reference_read if example.reference_read != example.answer else ""),
        ("Extracted from the completion", example.completion_read),
        ("The completion’s end", example.ending),
        ("Detail", example.detail),
    ]
    return Case(
        title=_KINDS[errors.kind].capitalize(),
        facts=tuple(facts),
        passages=tuple(Passage(name, text) for name, text in passages if text),
    )


def _score_text(example: ErrorExample) -> str:
    return "" if example.score is None else f"score {example.score:g}"
