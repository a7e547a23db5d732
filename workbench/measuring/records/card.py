"""The data card: what readers of metrics must know about the data."""

from __future__ import annotations

from msgspec import Struct

from workbench.measuring.records.paper import CountsTable


class ImportedFile(Struct, frozen=True, kw_only=True):
    """A file items came from.

    Attributes:
        name: Without its folder.
        blake2b: BLAKE2b-128 of its bytes as hexadecimal digits; "" where it is not known.
        read: Rows; read = imported + unchanged + quarantined.
        swapped_types: Its two type columns stood the wrong way round and were taken the right way.
    """

    dataset: str
    name: str
    format: str
    blake2b: str
    read: int
    imported: int
    unchanged: int
    quarantined: int
    swapped_types: bool


class NamedCount(Struct, frozen=True, kw_only=True):
    """Items with gold that share a source or a model.

    Attributes:
        licence: Of a source, where it is known.
        drawn: How many questions of a source the items were chosen from; None where that isn't asked.
    """

    name: str
    items: int
    questions: int
    correct: int
    licence: str | None = None
    drawn: int | None = None


class LengthRow(Struct, frozen=True, kw_only=True):
    """Lengths of completions in characters: a quarter is shorter than ``low``, half than ``median``."""

    gold: str
    items: int
    low: float
    median: float
    high: float


class DataCard(Struct, frozen=True, kw_only=True):
    """A description of the data.

    Attributes:
        counts: The paper's table 1.
        crossing: Answer type and domain -> items with gold.
        gold: Items by where their gold comes from.
        lengths: By gold label; only where lengths are known.
        exclusions: Reason -> items, of the whole database.
        quarantined: Code -> refused rows, of all files.
        selection_judges: Data set -> judges whose verdicts chose what is in it.
        quirks: What is odd about the data, a sentence each.
    """

    counts: CountsTable
    crossing: dict[tuple[str, str], int]
    gold: dict[str, int]
    sources: list[NamedCount]
    models: list[NamedCount]
    lengths: list[LengthRow]
    exclusions: dict[str, int]
    files: list[ImportedFile]
    quarantined: dict[str, int]
    selection_judges: dict[str, list[str]]
    quirks: list[str]
