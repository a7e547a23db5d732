"""A verifier over batches of rows, as Ray Data's ``map_batches`` calls it; Ray is not imported.

judged = dataset.map_batches(workbench.Judge, fn_constructor_args=("rules",), concurrency=8)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from workbench.core.columns import FieldError, column, completion_text, prompt_text, subtype, text
from workbench.core.errors import UsageError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.training.frameworks import reference_column
from workbench.training.reward import Reward

COLUMNS: Final = ("verdict", "score", "reason")
"""The columns that are added to a batch."""
NOT_TEXT: Final = "not_text"
"""The reason of a row without a verdict because a value is missing or is not a text."""


class _VerdictColumns(NamedTuple):
    verdict: list[str | None]
    score: list[float | None]
    reason: list[str | None]


class Judge:
    """One verifier for batches of rows; it can be pickled and sent to another process.

    A batch is a mapping of columns (lists or NumPy arrays), a pandas data frame or an Arrow table. The result has the
    same type, with the columns ``verdict``, ``score`` and ``reason`` appended. Verdicts are those of ``workbench
    verify`` with the same version of the verifier. A row whose question, reference or completion is not a text, or
    whose tests are invalid, has the verdict None and the reason ``not_text``: one bad row doesn't affect the others. A
    column ``subtype``, if there is one, gives the type of the answers.

    Args:
        verifier: An installed kind such as ``"rules"``, or ``"execution"``, whose references are tests; with a database
            also a configured name.
        options: The verifier's options.
        database: A project whose names and settings are used.
        question: The column of questions; without it questions are empty. Of a conversation the last turn is used.
        reference: The column of references or of tests; by default the one that `workbench.reward` uses.
        completion: The column of completions.
        prefix: A prefix for the names of the new columns.
        workers: Number of worker processes of each copy of this object.
        timeout: Seconds of processor time an item may take in a worker; by default the verifier's own limit, as in a
            run.

    Raises:
        UsageError: No such verifier or option exists, or the verifier calls model servers.
        NotTrustedError: The database's settings were not accepted yet.
        VerifierError: The verifier can't be used.
    """

    def __init__(
        self,
        verifier: str = "rules",
        *,
        options: Mapping[str, str] | None = None,
        database: Path | str | None = None,
        question: str = "question",
        reference: str | None = None,
        completion: str = "completion",
        prefix: str = "",
        workers: int = 1,
        timeout: float | None = None,
    ) -> None:
        self._reward = Reward(verifier, options=options, database=database, workers=workers, timeout=timeout)
        self._question, self._reference, self._completion = question, reference, completion
        self._names = tuple(f"{prefix}{name}" for name in COLUMNS)

    def __call__(self, batch: Any) -> Any:
        """Return the batch with its verdicts.

        Raises:
            UsageError: A column is missing, or the batch already has a column with the name of a new column.
            VerifierError: The workers can't start.
        """
        columns = _columns_of(batch)
        for name in self._names:
            if name in columns:
                raise UsageError(f"The batch has a column {name!r} already.", 'Name the new ones: prefix="judged_"')
        items = self._items(columns)
        verdicts = self._reward.verdicts([item for item in items if item is not None])
        return _with_columns(batch, dict(zip(self._names, _verdict_columns(items, verdicts), strict=True)))

    def close(self) -> None:
        self._reward.close()

    def _items(self, columns: Mapping[str, Any]) -> list[VerifierInput | None]:
        if self._completion not in columns:
            raise FieldError(self._completion, "is missing: the completions must be in a column")
        completions = column(self._completion, columns[self._completion])
        references = self._references(columns, len(completions))
        questions = columns.get(self._question)
        subtypes = columns.get("subtype")
        return [
            self._item(
                row,
                "" if questions is None else questions[row],
                references[row],
                completion,
                None if subtypes is None else subtypes[row],
            )
            for row, completion in enumerate(completions)
        ]

    def _item(self, row: int, question: Any, reference: Any, completion: Any, kind: Any) -> VerifierInput | None:
        try:
            found = VerifierInput(
                item=row,
                question=prompt_text("question", question),
                reference=text("reference", reference),
                completion=completion_text("completion", completion),
                subtype=subtype("subtype", kind),
            )
            if self._reward.by_tests:
                from workbench.verifiers.execution.given import problem_in

                problem_in(found.reference)
        except UsageError:
            return None
        return found

    def _references(self, columns: Mapping[str, Any], rows: int) -> Sequence[Any]:
        if not self._reward.by_tests:
            name = reference_column(columns, self._reference)
            return column(name, columns[name], rows)
        from workbench.verifiers.execution.given import tests_columns

        try:
            return tests_columns(columns, self._reference, rows)
        except FieldError:
            # Single rows may have invalid tests; each is checked separately to find out which.
            if rows == 1:
                return [None]
            one = ({name: [values[row]] for name, values in columns.items()} for row in range(rows))
            return [self._references(cells, 1)[0] for cells in one]


def _verdict_columns(items: Sequence[VerifierInput | None], verdicts: Sequence[Verdict]) -> _VerdictColumns:
    found = _VerdictColumns([], [], [])
    left = iter(verdicts)
    for item in items:
        verdict = None if item is None else next(left)
        found.verdict.append(None if verdict is None else verdict.outcome.word)
        found.score.append(None if verdict is None else verdict.score)
        found.reason.append(NOT_TEXT if verdict is None else verdict.reason)
    return found


def _columns_of(batch: Any) -> Mapping[str, Any]:
    if isinstance(batch, Mapping):
        return batch
    if hasattr(batch, "column_names") and hasattr(batch, "append_column"):
        return {name: batch.column(name).to_pylist() for name in batch.column_names}
    if hasattr(batch, "columns") and hasattr(batch, "assign"):
        return {name: batch[name].tolist() for name in batch.columns}
    raise UsageError(
        f"A {type(batch).__name__} is not a batch.", "Give columns by name, or a frame of pandas or Arrow."
    )


def _with_columns(batch: Any, new: Mapping[str, list[Any]]) -> Any:
    if not isinstance(batch, Mapping):
        return _with_arrow(batch, new) if hasattr(batch, "append_column") else batch.assign(**new)
    if not any(hasattr(values, "dtype") for values in batch.values()):
        return {**batch, **new}
    import numpy as np

    verdict, score, reason = new
    texts = {name: np.array(new[name], dtype=object) for name in (verdict, reason)}
    return {**batch, verdict: texts[verdict], score: np.array(new[score], dtype=np.float64), reason: texts[reason]}


def _with_arrow(table: Any, new: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    for (name, values), kind in zip(new.items(), (pa.string(), pa.float64(), pa.string()), strict=True):
        table = table.append_column(name, pa.array(values, type=kind))
    return table
