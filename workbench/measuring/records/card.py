"""The data card: what readers of metrics must know about the data."""

from __future__ import annotations

from msgspec import Struct

from workbench.measuring.records.paper import CountsTable


class ImportedFile(Struct, frozen=True, kw_only=True):
    """A source file of items.

    Attributes:
        name: The file's name without the folder.
        blake2b: BLAKE2b-128 of its bytes in hexadecimal; "" if unknown.
        read: Number of rows; read = imported + unchanged + quarantined (rejected).
        swapped_types: Whether the file's two type columns were swapped, which the import corrected.
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
    """The number of items with gold from one source or model.

    Attributes:
        items: Number of items.
        questions: Number of their questions.
        correct: Number of items with gold correct.
        licence: The licence of a source; None if unknown.
        drawn: Number of questions of the source from which items were chosen; None if not applicable.
    """

    name: str
    items: int
    questions: int
    correct: int
    licence: str | None = None
    drawn: int | None = None


class LengthRow(Struct, frozen=True, kw_only=True):
    """Quartiles of the lengths of completions, in characters: ``low``, ``median`` and ``high``."""

    gold: str
    items: int
    low: float
    median: float
    high: float


class DataCard(Struct, frozen=True, kw_only=True):
    """A description of the data.

    Attributes:
        counts: The paper's table 1.
        crossing: Answer type and domain -> number of items with gold.
        gold: Origin of gold -> number of items.
        lengths: Lengths of completions by gold label; completions without a known length are left out.
        exclusions: Reason -> number of excluded items in the whole database.
        quarantined: Code of the reason -> number of rejected rows of all files.
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
