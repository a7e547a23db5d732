"""The data card: what readers of metrics must know about the data."""

from __future__ import annotations

from msgspec import Struct

from workbench.measuring.records.paper import CountsTable


class ImportedFile(Struct, frozen=True, kw_only=True):
    """A source file of items.

    Attributes:
        name: Its name without the folder.
        blake2b: BLAKE2b-128 of its bytes in hexadecimal; "" if unknown.
        read: Number of rows; read = imported + unchanged + quarantined.
        swapped_types: Whether its two type columns were swapped, which the import corrected.
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
        licence: The licence of a source, if known.
        drawn: Questions of the source from which items were chosen; None if not applicable.
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
        gold: Origin of gold -> items.
        lengths: Lengths by gold label, of completions with a known length.
        exclusions: Reason -> items, of the whole database.
        quarantined: Code -> rejected rows of all files.
        selection_judges: Data set -> judges whose verdicts chose its items.
        quirks: Peculiarities of the data, one sentence each.
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
