"""Renders the data card as a document, and as the README of a folder on the Hugging Face Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import structs

from workbench.benchmarks.card.contents import CardContents, SetContents
from workbench.benchmarks.card.methods import KINDS, SECTIONS, methods
from workbench.benchmarks.records import COLUMNS, PublishedFile
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.measuring.records.documents import NamedCount
from workbench.measuring.report.common import share
from workbench.tables.document import Case, Document, Facts, Passage, Section, Table
from workbench.tables.markdown import escaped, markdown, markdown_table
from workbench.tables.table import Columns, count, table, text, word

# -- Identifiers of licences on the Hugging Face Hub.


_NAMES = """
afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0 bigscience-openrail-m bsd
bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0
cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0
creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 gemma gfdl gpl gpl-2.0
gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openrail
openrail++ osl-3.0 pddl postgresql unlicense wtfpl zlib
"""
HUB: Final = frozenset(_NAMES.split())
"""Identifiers the Hub knows (https://huggingface.co/docs/hub/repositories-licenses)."""
_OTHER = re.compile(r"[^a-z0-9.+-]+")


def hub_licence(licence: str | None) -> dict[str, str]:
    """Return the licence keys of a card's metadata; a licence unknown to the Hub is ``other``.

    Args:
        licence: An identifier or a name, in any case; None for an unknown one.
    """
    if licence is None:
        return {"license": "unknown"}
    name = _OTHER.sub("-", licence.strip().lower()).strip("-")
    if name in HUB:
        return {"license": name}
    return {"license": "other", "license_name": name or "other", "license_link": "LICENSE.md"}


SPLIT = "test"
"""The only split of every benchmark: test data, not training data."""
_FOLDERS = (
    ("data", "the items, as datasets loads them"),
    ("verifybench", "the same in VerifyBench's released schema, one JSON line per item"),
    ("annotations", "each person's own labels and each third person's decisions, with times and guidelines"),
    ("leaderboard", "verifiers by accuracy, as JSON lines, CSV and Markdown"),
    ("manifest.json, checksums.txt", "versions, counts and the hash of every file"),
)
"""Subfolders and their contents."""
_TAGS = ("verifier-evaluation", "llm-as-a-judge", "answer-verification", "reward-model", "verifier-workbench")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MORE = "1M<n<10M"
_NO_YAML = re.compile("[\ufffe\uffff]")
"""Characters that JSON allows and YAML doesn't, besides those that `inert` replaces."""
Value: TypeAlias = "str | int | bool | Sequence[Value] | Mapping[str, Value]"


def card_text(card: CardContents) -> str:
    return front_matter(metadata(card)) + "\n" + markdown(card_document(card))


def data_path(config: str) -> str:
    return f"data/{config}/{SPLIT}-00000-of-00001.parquet"


def metadata(card: CardContents) -> dict[str, Value]:
    """Return the metadata that the Hub and ``datasets`` read from a card.

    The keys are those of https://github.com/huggingface/hub-docs/blob/main/datasetcard.md.
    """
    tuples = sum(found.stored.items for found in card.sets)
    size = next((name for bound, name in _SIZES if tuples < bound), _MORE)
    return {
        "pretty_name": card.title,
        **hub_licence(card.licence),
        **({"language": list(card.languages)} if card.languages else {}),
        "task_categories": ["text-classification"],
        "size_categories": [size],
        "tags": list(_TAGS),
        "configs": [_config_metadata(found.config, first=number == 0) for number, found in enumerate(card.sets)],
    }


def _config_metadata(name: str, *, first: bool) -> dict[str, Value]:
    found: dict[str, Value] = {"config_name": name, "data_files": [{"split": SPLIT, "path": data_path(name)}]}
    return {**found, "default": True} if first else found


def card_document(card: CardContents) -> Document:
    sections = [_overview_section(card)]
    for found in card.sets:
        made = (*(make(found) for make in SECTIONS), methods(found))
        sections += [_with_set_name(section, found, card) for section in made if section is not None]
    named = ", ".join(found.name for found in card.sets)
    return Document(
        title=card.title,
        lead=f"Questions, reference answers and completions, each with the annotators' verdict: {named}. "
        "For measuring verifiers: rules, judges, reward models.",
        generated_at=max(found.stored.created_at for found in card.sets)[:10],
        sections=(*sections, _files_section(card)),
    )


def _with_set_name(section: Section, found: SetContents, card: CardContents) -> Section:
    if len(card.sets) == 1:
        return section
    key, title = f"{section.key}-{found.config}", f"{section.title}: {found.name}"
    return structs.replace(section, key=key, title=title)


_SETS: Columns[SetContents] = (
    word("Set", lambda found: found.name),
    word("Configuration", lambda found: found.config),
    word("What it holds", lambda found: KINDS[found.stored.kind]),
    word("Frozen", lambda found: found.stored.created_at[:10]),
    count("Questions", lambda found: found.stored.questions),
    count("Completions", lambda found: found.stored.items),
    share("Correct (%)", lambda found: found.correct / found.stored.items),
)
_COLUMNS: Columns[str] = (word("Column", str), word("What it holds", lambda name: COLUMNS[name][1]))
_FILES: Columns[PublishedFile] = (
    word("File", lambda file: file.path),
    word("SHA-256", lambda file: file.sha256),
    count("Bytes", lambda file: file.bytes),
    text("Rows", lambda file: "" if file.rows is None else f"{file.rows:,}"),
)


def _overview_section(card: CardContents) -> Section:
    licence = card.licence or "not stated by the publisher; each source has its own (LICENSE.md)"
    sets = table("Sets of this folder; each is a configuration with one split.", _SETS, card.sets)
    columns = table("Columns of the items.", _COLUMNS, COLUMNS)
    facts = Facts((("Licence", licence), *_FOLDERS))
    return Section("overview", "What it is", (sets, facts, _loading_example(card), columns))


def _loading_example(card: CardContents) -> Case:
    calls = [
        f'{"# " if number else ""}load_dataset("FOLDER", "{found.config}", split="{SPLIT}")'
        for number, found in enumerate(card.sets)
    ]
    text = "\n".join(["from datasets import load_dataset", "", *calls])
    return Case(title="To read it", facts=(), passages=(Passage("In Python", text),))


def _files_section(card: CardContents) -> Section:
    caption = "Files, with the SHA-256 of their bytes; checksums.txt has them for sha256sum -c."
    facts = [
        ("Published with", f"workbench {card.workbench}, tables of version {card.schema}"),
        *(
            (
                f"{found.name}",
                f"digest {found.stored.digest} (BLAKE2b-128 of its {counted(found.stored.items, 'item')} "
                f"with gold and types), frozen {found.stored.created_at} with workbench {found.stored.code_version}",
            )
            for found in card.sets
        ),
    ]
    return Section("versions", "Versions and hashes", (Facts(tuple(facts)), table(caption, _FILES, card.files)))


def front_matter(values: Mapping[str, Value]) -> str:
    """Return the YAML front matter, with its lines of dashes: each value as JSON, which is YAML.

    Args:
        values: The metadata. Keys must be plain words; texts may contain anything, and invisible characters are
            replaced.
    """
    lines = (f"{key}: {json.dumps(_inert_value(value), ensure_ascii=False)}" for key, value in values.items())
    text = "\n".join(["---", *lines, "---", ""])
    return _NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _inert_value(value: Value) -> Value:
    if isinstance(value, str | int):
        return inert(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        return {key: _inert_value(one) for key, one in value.items()}
    return [_inert_value(one) for one in value]


# -- The file on licences: the licence of the published data, and that of each source.


def licences_text(card: CardContents) -> str:
    text = card.licence or "The publisher has not stated a licence for this folder."
    parts = [
        f"# {escaped(f'Licences of {card.title}')}",
        escaped(f"Labels, selection and card: {text}" if card.licence else text),
        escaped(
            "Questions, reference answers and completions belong to their sources; a source without a known licence is "
            "listed as unknown, and nothing is assumed of it."
        ),
        *(markdown_table(_sources_table(found)).rstrip("\n") for found in card.sets),
    ]
    return "\n\n".join(parts) + "\n"


def _sources_table(found: SetContents) -> Table:
    sources = [source for source in found.contents.card.sources if source.items]
    columns: Columns[NamedCount] = (
        word("Source", lambda one: one.name or "(none)"),
        word("Licence", lambda one: one.licence or "unknown"),
        count("Questions", lambda one: one.questions),
        count("Completions", lambda one: one.items),
    )
    return table(f"Sources of {found.name}.", columns, sources)
