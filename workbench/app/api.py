"""The Python API: a project's items, verdicts, labels and metrics as pandas frames.

    import workbench

    with workbench.open_project("p.db") as project:
        table = project.accuracy(by="type")
        wrong = project.verdicts("rules", where="type=A").query("right_strict == 0")

Metrics come from the same functions as the command line's; nothing here writes to the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec import structs

from workbench.core import project as projects
from workbench.core.closing import Closing
from workbench.core.errors import UsageError
from workbench.core.selection import Selection, selection_of
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.data import querying
from workbench.data.querying import FIELDS

if TYPE_CHECKING:
    import sqlite_utils
    from pandas import DataFrame

    from workbench.measuring.records.review import Queue

Where = str | Sequence[str]
"""One condition such as ``"type=A"`` or several, all of which must hold; the grammar is that of ``--where``."""

Names = str | Sequence[str]
"""A verifier's name, or several."""

OVERALL = "overall"
"""The group of all items."""

_NAMES = {*FIELDS, "state", "gold_from", "verifier", "verdict", "group", "kind"}


class Project(Closing):
    """An open project; use it as a context manager, or call `close`.

    Every frame has in ``attrs`` the basis of its metrics: protocol, gold, run, seed. Undefined metrics are NaN; names
    such as those of types and verifiers are categories; an interval is two columns such as ``ci_low`` and ``ci_high``.
    """

    def __init__(self, opened: projects.Project) -> None:
        self._opened = opened

    @property
    def path(self) -> Path:
        return self._opened.path

    def close(self) -> None:
        self._opened.close()

    # -- what is stored ----------------------------------------------------------------------------

    def items(self, where: Where = (), *, texts: bool = False) -> DataFrame:
        """Return one row per completion: ids, type, subtype, domain, source, model, length, state, gold and its
        origin.

        Args:
            texts: Include question, reference and completion.

        Raises:
            UsageError: A condition is invalid, or names something unknown.
        """
        found = _categorized(_frame_of_result(querying.view(self._opened, "items", _selection(where))))
        found = found.set_index("item")
        found["gold"] = found["gold"].astype("boolean")
        if not texts:
            return found
        long = _frame_of_result(querying.view(self._opened, "item_texts", _selection(where))).set_index("item")
        # The items already have a column of this name: the question's row id.
        return found.drop(columns="question").join(long)

    def verdicts(self, verifier: str | None = None, where: Where = ()) -> DataFrame:
        """Return the verdicts that count next to gold, one row per verifier and item, judged by all three protocols.

        Items without gold are included, undefined in ``gold`` and by every protocol; ``attrs["without_gold"]`` counts
        their rows.

        Args:
            verifier: Only its verdicts; by default those of all verifiers with a complete run.

        Raises:
            UsageError: A condition is invalid, or names something unknown, or the verifier does not exist.
        """
        from workbench.measuring.judged import judges_of

        names = [judge.name for judge in judges_of(self._opened, () if verifier is None else (verifier,))]
        found = _frame_of_result(querying.view(self._opened, "verdicts", _selection(where)))
        for column in ("gold", "right_forced", "right_strict", "right_decided"):
            found[column] = found[column].astype("boolean")
        found = _categorized(found[found["verifier"].isin(names)].reset_index(drop=True))
        found.attrs = {"without_gold": int(found["gold"].isna().sum())}
        return found

    def labels(self, where: Where = ()) -> DataFrame:
        """Return each person's labels, adjudications and exclusions in force in the current round."""
        return _frame_of_result(querying.view(self._opened, "current_labels", _selection(where)))

    def reviews(self, where: Where = ()) -> DataFrame:
        """Return the reviewers' decisions on disagreements that are in force."""
        return _frame_of_result(querying.view(self._opened, "current_reviews", _selection(where)))

    def runs(self) -> DataFrame:
        """Return the runs that metrics are computed from: each verifier's newest complete run."""
        return _frame_of_result(querying.view(self._opened, "counted_runs"))

    def sql(self, statement: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> DataFrame:
        """Return the result of a read-only SQL statement; `docs/sql.md` describes the views.

        Raises:
            UsageError: The statement doesn't only read, or is not valid SQL.
        """
        return _frame_of_result(querying.query(self._opened, statement, parameters))

    @property
    def db(self) -> sqlite_utils.Database:
        """The database as sqlite-utils reads it; it can't be written through this."""
        import sqlite_utils

        return sqlite_utils.Database(self._opened.database.reader())

    # -- Metrics -----------------------------------------------------------------------------------

    def accuracy(
        self,
        by: str | None = None,
        verifiers: Names = (),
        *,
        protocol: Protocol3 | None = None,
        gold: GoldChoice = "final",
        where: Where = (),
    ) -> DataFrame:
        """Return the accuracy of verifiers, one row per verifier and group (`OVERALL`: all items), as
        ``workbench accuracy``.

        Args:
            by: ``type``, ``subtype``, ``domain``, ``source``, ``model``, ``dataset``, ``reason``, ``length``, or
                several with commas between them.

        Raises:
            UsageError: A verifier, group, protocol, gold or condition is unknown, or no item meets a condition.
        """
        _check_names(protocol, gold)
        from workbench.measuring.accuracy import accuracy
        from workbench.statistics.records.report import METRICS

        report = accuracy(
            self._opened,
            verifiers=_as_tuple(verifiers),
            by=by,
            protocol=protocol,
            gold=gold,
            selection=self._selection_with_items(where),
            notes=False,
        )
        rows = [structs.asdict(structs.replace(row, group=row.group or OVERALL)) for row in report.rows]
        found = _frame_of_rows(rows).drop(columns="groups")
        # Columns without any metric would have the value None.
        found = found.astype(dict.fromkeys((*METRICS, "delta", "p", "q"), float))
        found.attrs = {"protocol": report.protocol, "gold": report.gold_choice, "gold_from": report.gold}
        return found

    def compare(
        self, a: str, b: str, *, protocol: Protocol3 | None = None, gold: GoldChoice = "final", where: Where = ()
    ) -> DataFrame:
        """Compare two verifiers on the same items: one row of paired metrics, as ``workbench compare``.

        Raises:
            UsageError: A verifier, protocol, gold or condition is unknown, or no item counts for both.
        """
        _check_names(protocol, gold)
        from workbench.measuring.comparing import compare

        report = compare(self._opened, a, b, protocol=protocol, gold=gold, selection=self._selection_with_items(where))
        plain = {key: value for key, value in structs.asdict(report).items() if not isinstance(value, dict | list)}
        found = _frame_of_rows([plain])
        found.attrs = {"protocol": report.protocol, "gold": report.gold_choice, "gold_from": report.gold}
        return found

    def disagreements(
        self,
        queue: Queue = "verifier-gold",
        verifiers: Names = (),
        *,
        gold: GoldChoice = "final",
        where: Where = (),
        limit: int | None = None,
    ) -> DataFrame:
        """Return a queue of disagreements, most suspicious first, with one column per verifier that judged the items.

        Raises:
            UsageError: A queue, verifier, gold or condition is unknown, or the limit is below 0.
        """
        _check_names(None, gold)
        if limit is not None and limit < 0:
            raise UsageError(f"{limit} items can't be listed.", "Leave limit out for all.")
        from workbench.measuring.reviewing import queues

        found = queues.queue(
            self._opened, queue, verifiers=_as_tuple(verifiers), gold=gold, selection=self._selection_with_items(where)
        )
        rows = [
            {
                "item": row.id,
                "dataset": row.dataset,
                "question_id": row.question_id,
                "completion_id": row.completion_id,
                "type": row.type,
                "subtype": row.subtype,
                "gold": row.gold,
                "score": row.score,
                "why": row.why,
                **{vote.verifier: vote.verdict for vote in row.votes},
            }
            for row in found.rows(found.ids[:limit])
        ]
        frame = _frame_of_rows(rows)
        frame.attrs = {"queue": queue, "counted": found.text, "gold": gold}
        return frame

    def _selection_with_items(self, where: Where) -> Selection:
        selection = _selection(where)
        if selection is None:
            return Selection()
        querying.require_items(self._opened, selection)
        return selection


def open_project(path: Path | str) -> Project:
    """Open a database.

    Raises:
        StoreError: The database doesn't exist, or can't be read.
    """
    return Project(projects.open_project(path))


def _check_names(protocol: str | None, gold: str) -> None:
    for what, said, known in (("protocol", protocol, Protocol3), ("gold", gold, GoldChoice)):
        if said is not None and said not in get_args(known):
            raise UsageError(f"There is no {what} {said!r}.", f"Use {', '.join(get_args(known))}.")


def _as_tuple(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _selection(where: Where) -> Selection | None:
    texts = _as_tuple(where)
    return selection_of(texts) if texts else None


def _frame_of_result(found: querying.Result) -> DataFrame:
    from pandas import DataFrame

    return DataFrame.from_records(found.rows, columns=found.columns)


def _frame_of_rows(rows: list[dict[str, Any]]) -> DataFrame:
    from pandas import DataFrame

    found = DataFrame(rows)
    for name in [name for name in found.columns if name == "ci" or name.endswith("_ci")]:
        ends = [ends or (None, None) for ends in found[name]]
        found[[f"{name}_low", f"{name}_high"]] = DataFrame(ends, index=found.index, dtype=float)
        found = found.drop(columns=name)
    return _categorized(found)


def _categorized(found: DataFrame) -> DataFrame:
    """Return the frame with names as categories, in order of their first rows."""
    from pandas import CategoricalDtype

    kinds = {name: CategoricalDtype(found[name].dropna().unique()) for name in _NAMES & set(found.columns)}
    return found.astype(kinds)
