"""Write judged rows to partitions next to the target file, and join them when all exist.

A partition has consecutive rows of the file. Its judged rows are in ``NNNNNN.rows``, in the target's format, its
rejected
rows in ``NNNNNN.refused``. ``NNNNNN.json`` is written last: a partition without it counts as missing.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import Refusal
from workbench.core.verdict import Outcome
from workbench.data.formats.writing import new_file
from workbench.interchange.row_files import RowFile, RowVerdict

PARTS: Final = ".parts"
"""Suffix of the folder of a file's partitions."""
REFUSED: Final = ".refused.jsonl"
"""Suffix of the file of rejected rows."""


class Partition(Struct, frozen=True, kw_only=True):
    """The record of an existing partition.

    Attributes:
        last: The number of its last row in the file.
        rows: Number of rows read.
        refused: Number of rejected rows.
        verdicts: Number of judged rows, by verdict.
        errors: Reason -> number of verdicts "error"; for solutions, those that were not run.
        forgeable: Number of correct solutions with passes that could be forged.
    """

    last: int
    rows: int
    refused: int
    verdicts: dict[str, int]
    errors: dict[str, int] = {}
    forgeable: int = 0


class FilePartitions:
    """The partitions of one file, in a folder next to the target file; the folder is locked while this object is open.

    Args:
        made_of: The settings that determine the content; partitions made with other settings are not continued.
        anew: Whether to drop existing partitions.

    Attributes:
        found: Existing partitions, in order.

    Raises:
        UsageError: Existing partitions were made with other settings, or another process works on them.
        FormatError: The folder can't be written.
    """

    def __init__(self, target: Path, made_of: Mapping[str, object], *, anew: bool) -> None:
        self.folder, self._target = parts_of(target), target
        try:
            if anew:
                drop_partitions(target)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            why = error.strerror or error
            raise FormatError(f"{self.folder}: {why}.", "Check the folder and the free space.") from error
        try:
            _lock(self._descriptor, self.folder)
            self.found: list[Partition] = []
            while (known := self._read_partition(f"{len(self.found):06}.json")) is not None:
                self.found.append(known)
            _require_same_settings(self.folder / _MADE_OF, made_of, begun=bool(self.found))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._descriptor)

    def put(
        self, file: RowFile, judged: Sequence[tuple[Any, RowVerdict]], refused: Sequence[Refusal], last: int
    ) -> None:
        """Write the next partition.

        Raises:
            FormatError: The partition can't be written.
        """
        number = f"{len(self.found):06}"
        found = [one.verdict for _, one in judged]
        known = Partition(
            last=last,
            rows=len(judged) + len(refused),
            refused=len(refused),
            verdicts=Counter(verdict.outcome.word for verdict in found),
            errors=Counter(verdict.reason or "" for verdict in found if verdict.outcome is Outcome.ERROR),
            forgeable=sum(one.is_forgeable for _, one in judged),
        )
        with new_file(self.folder / f"{number}.rows", force=True) as out:
            file.write(out, judged)
        with new_file(self.folder / f"{number}.refused", force=True) as out:
            for one in refused:
                out.write(_refused_line(file.plan.path, one))
        with new_file(self.folder / f"{number}.json", force=True) as out:
            out.write(msgspec.json.encode(known))
        self.found.append(known)

    def join(self, file: RowFile) -> bool:
        """Join all partitions and their rejected rows; return whether any row was rejected.

        Raises:
            FormatError: The target can't be written.
        """
        numbers = [f"{number:06}" for number in range(len(self.found))]
        refused, some = refusals_of(self._target), any(known.refused for known in self.found)
        if some:
            with new_file(refused, force=True) as out:
                for number in numbers:
                    out.write((self.folder / f"{number}.refused").read_bytes())
        else:
            refused.unlink(missing_ok=True)
        with new_file(self._target, force=True) as out:
            file.join(out, [self.folder / f"{number}.rows" for number in numbers])
        return some

    def _read_partition(self, name: str) -> Partition | None:
        try:
            return msgspec.json.decode((self.folder / name).read_bytes(), type=Partition)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise FormatError(f"{self.folder / name} can't be read: {error}.", f"Start again: {opt.force}") from error


def parts_of(target: Path) -> Path:
    """Return the folder of a file's partitions until the file is complete."""
    return target.with_name(target.name + PARTS)


def refusals_of(target: Path) -> Path:
    return target.with_name(f"_{target.name}{REFUSED}")


def drop_partitions(target: Path) -> None:
    """Remove a file's partitions: the folder is renamed first, then deleted, so that they disappear together."""
    folder = parts_of(target)
    over = folder.with_name(f"{folder.name}{_OVER}")
    shutil.rmtree(over, ignore_errors=True)
    with suppress(FileNotFoundError):
        folder.rename(over)
    shutil.rmtree(over, ignore_errors=True)


_OVER: Final = ".over"
_MADE_OF: Final = "made-of.json"


def _require_same_settings(path: Path, made_of: Mapping[str, object], *, begun: bool) -> None:
    wanted = msgspec.json.encode(made_of, order="sorted")
    if not begun:
        with new_file(path, force=True) as out:
            out.write(wanted)
        return
    try:
        before = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise FormatError(f"{path} can't be read: {error}.", f"Start again: {opt.force}") from error
    after = msgspec.json.decode(wanted, type=dict[str, object])
    apart = [name for name in made_of if before.get(name) != after[name]]
    if apart:
        raise UsageError(
            f"{path.parent} was started with another {', '.join(apart)}.",
            f"Continue with the same settings, or start again: {opt.force}",
        )


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UsageError(f"Another process works on {folder}.", "Wait for it, or stop it.") from error


def _refused_line(path: Path, one: Refusal) -> bytes:
    line = {
        "file": str(path),
        "line": one.line,
        "field": one.field,
        "code": one.code,
        "message": one.message,
        "raw": one.raw.decode(errors="replace"),
    }
    return msgspec.json.encode(line) + b"\n"
