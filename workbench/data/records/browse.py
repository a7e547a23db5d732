"""Rows of the Browse screen, and an item's detail."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.selection import Condition

SORTABLE = ("completion_id", "question_id", "dataset", "subtype", "domain", "source", "model", "state", "gold")
"""Columns by which the Browse screen can sort."""


class BrowseQuery(Struct, frozen=True, kw_only=True):
    """The items of a list, and their order.

    Attributes:
        search: Part of an id, question, reference or completion; ASCII letters match in either case.
        sort: One of ``SORTABLE``, or None for the order of import.
    """

    conditions: tuple[Condition, ...] = ()
    search: str = ""
    sort: str | None = None
    descending: bool = False


class ItemProperties(Struct, frozen=True, kw_only=True):
    """The names of an item and its properties; "" if it has none."""

    id: int
    completion_id: str
    question_id: str
    dataset: str
    subtype: str
    domain: str
    source: str
    model: str
    state: str
    gold: str


class BrowseRow(ItemProperties, frozen=True, kw_only=True):
    """One line of the table. ``question`` is its beginning only.

    Attributes:
        found: The first match of the search with its context and field; "" without a search.
    """

    question: str
    verdicts: dict[str, str]
    found: str = ""


class ItemVerdict(Struct, frozen=True, kw_only=True):
    """A verifier's newest verdict on an item, with its evidence.

    Attributes:
        calls: Number of model replies that the verdict is based on.
        recorded: Whether some of these replies were recorded, not given by a live model.
    """

    verifier: str
    run: int
    version: str = ""
    verdict: str
    score: float | None
    reason: str | None
    rule: str | None = None
    ms: float
    reference_final: str | None = None
    candidate_final: str | None = None
    reference_span: tuple[int, int] | None = None
    candidate_span: tuple[int, int] | None = None
    detail: str | None = None
    calls: int = 0
    recorded: bool = False


class ItemLabel(Struct, frozen=True, kw_only=True):
    """A current label, adjudication, exclusion or flag of an item, or the event that began its labelling round, with
    its author's name.
    """

    annotator: str
    kind: str
    task: str
    value: str
    reason: str
    note: str
    unsure: bool
    unblinded: bool
    created_at: str


class ItemDetail(ItemProperties, frozen=True, kw_only=True):
    """All data of one item; showing it is recorded, since it reveals labels and gold."""

    gold_from: str
    imported_gold: str
    reason: str
    question: str
    reference: str
    completion: str
    labels: tuple[ItemLabel, ...]
    verdicts: tuple[ItemVerdict, ...]
