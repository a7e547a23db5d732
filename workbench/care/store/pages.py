"""A database file page by page, past SQLite: what can be read of it however it is hurt.

SQLite gives a damaged tree up at its first fault, and its recovery API is in no build that Python carries. Here each
page stands for itself: cells are decoded one by one, and what does not decode is left out. Nothing is ever written.
The format is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

Value = int | float | str | bytes | None
Values = tuple[Value, ...]

INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE = 2, 5, 10, 13
_KINDS: Final = frozenset({INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE})

_USUAL_PAGE: Final = 4096
_HEAD: Final = 100
_FRAME: Final = struct.Struct(">6I")
_LOG_HEAD: Final = struct.Struct(">8I")
_LOG_MAGIC: Final = {0x377F0682: "<", 0x377F0683: ">"}
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_REAL: Final = struct.Struct(">d")


class Undecodable(Exception):
    """These bytes are no cell, record or page."""


class PageCell(NamedTuple):
    """A cell of a page.

    Attributes:
        left: The page below it that stands before it; 0 on a leaf.
        rowid: None in an index.
        size: Bytes of its record; 0 where it has none.
        local: Where the part of its record begins that is on the page.
        end: Where the cell ends.
    """

    left: int
    rowid: int | None
    size: int
    local: int
    end: int


class PageFile:
    """The pages of a database, those in its write-ahead log before those in the file.

    Only what the log holds of whole transactions counts, as for SQLite itself.

    Args:
        log: Its write-ahead log; None to leave it alone.
    """

    def __init__(self, path: Path, log: Path | None = None) -> None:
        self._file = path.open("rb", buffering=0)
        self._log = log.open("rb", buffering=0) if log is not None and log.is_file() else None
        head = self._read(self._file, 0, _HEAD)
        self._in_log: dict[int, int] = {}
        logged, size = self._read_log() if self._log is not None else (0, 0)
        self.size = logged or _page_size(head)
        own = os.fstat(self._file.fileno()).st_size
        self.count = size or -(-own // self.size)
        first = self.page(1)
        self.usable = self.size - (first[20] if len(first) > 20 and first[20] <= self.size - 480 else 0)

    def __enter__(self) -> PageFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()

    @property
    def logged(self) -> int:
        """How many pages are taken from the log."""
        return len(self._in_log)

    def page(self, number: int) -> bytes:
        """A page's bytes; fewer than a page's where the file ends."""
        at = self._in_log.get(number)
        if at is not None and self._log is not None:
            return self._read(self._log, at, self.size)
        return self._read(self._file, (number - 1) * self.size, self.size) if number > 0 else b""

    def header(self, at: int) -> int:
        """One of the four-byte numbers of the database's header."""
        first = self.page(1)
        return int.from_bytes(first[at : at + 4], "big")

    def free(self) -> tuple[set[int], str]:
        """The pages of the freelist, and what is wrong with it."""
        found: set[int] = set()
        trunk, told = self.header(32), self.header(36)
        while trunk:
            if trunk in found or not 1 < trunk <= self.count:
                return found, f"the list of free pages leads to page {trunk:,}"
            found.add(trunk)
            words = struct.unpack(f">{self.size // 4}I", self.page(trunk).ljust(self.size, b"\0"))
            leaves = words[2 : 2 + words[1]]
            if words[1] > self.usable // 4 - 2 or any(not 1 < leaf <= self.count or leaf in found for leaf in leaves):
                return found, f"page {trunk:,} of the list of free pages is hurt"
            found.update(leaves)
            trunk = words[0]
        return found, "" if len(found) == told else f"{len(found):,} pages are free, the header says {told:,}"

    def kind(self, number: int, data: bytes) -> int:
        """What kind of page it says it is; 0 for none."""
        at = _HEAD if number == 1 else 0
        return data[at] if len(data) > at and data[at] in _KINDS else 0

    def below(self, number: int, data: bytes) -> list[int]:
        """The pages right below an interior one, as far as they can be read; 0 where one can't."""
        at = (_HEAD if number == 1 else 0) + 8
        found = []
        for place in self._places(number, data, interior=True):
            child = int.from_bytes(data[place : place + 4], "big") if place else 0
            found.append(child if 1 < child <= self.count else 0)
        last = int.from_bytes(data[at : at + 4], "big")
        return [*found, last if 1 < last <= self.count else 0]

    def cells(self, number: int, data: bytes, kind: int) -> Iterator[PageCell | None]:
        """The cells of a page that is taken to be of this kind, in their order; None for one that is none."""
        interior = kind in (INTERIOR_INDEX, INTERIOR_TABLE)
        for place in self._places(number, data, interior=interior):
            yield self.cell(data, place, kind) if place else None

    def cell(self, data: bytes, place: int, kind: int) -> PageCell | None:
        """The cell that begins here, if one does."""
        try:
            at, left, rowid = place, 0, None
            if kind in (INTERIOR_INDEX, INTERIOR_TABLE):
                left, at = int.from_bytes(data[at : at + 4], "big"), at + 4
            if kind == INTERIOR_TABLE:
                rowid, at = _varint(data, at)
                return PageCell(left, _signed(rowid), 0, at, at)
            size, at = _varint(data, at)
            if kind == LEAF_TABLE:
                rowid, at = _varint(data, at)
                rowid = _signed(rowid)
        except IndexError:
            return None
        local = self._local(size, kind)
        end = at + local + (4 if local < size else 0)
        return PageCell(left, rowid, size, at, end) if size and end <= self.usable else None

    def accounted(self, number: int, data: bytes, kind: int) -> bool:
        """Whether every byte of a page is part of a cell, of a free block or of what its header says is free."""
        at = _HEAD if number == 1 else 0
        interior = kind in (INTERIOR_INDEX, INTERIOR_TABLE)
        count, begin = int.from_bytes(data[at + 3 : at + 5], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        pointers = at + (12 if interior else 8) + 2 * count
        spans = [(at, pointers), (pointers, begin or 65536)]
        for place, cell in zip(
            self._places(number, data, interior=interior), self.cells(number, data, kind), strict=True
        ):
            if cell is None:
                return False
            # Nothing is smaller than what a free block needs.
            spans.append((place, max(cell.end, place + 4)))
        block = int.from_bytes(data[at + 1 : at + 3], "big")
        while block:
            following, size = (
                int.from_bytes(data[block : block + 2], "big"),
                int.from_bytes(data[block + 2 : block + 4], "big"),
            )
            if size < 4 or (following and following <= block):
                return False
            spans.append((block, block + size))
            block = following
        spans.sort()
        gaps = 0
        for (_, end), (following, _) in zip(spans, [*spans[1:], (self.usable, self.usable)], strict=True):
            if following < end:
                return False
            gaps += following - end
        return gaps == data[at + 7]

    def record(self, data: bytes, cell: PageCell, kind: int) -> tuple[Values, list[int]]:
        """A cell's values, and the pages besides its own that they are on.

        Raises:
            Undecodable: They are no record.
        """
        local = self._local(cell.size, kind)
        payload, pages = data[cell.local : cell.local + local], list[int]()
        if local < cell.size:
            if cell.size > (self.count + 1) * self.size:
                raise Undecodable
            pieces = [payload]
            left = cell.size - local
            following = int.from_bytes(data[cell.local + local : cell.local + local + 4], "big")
            while left > 0:
                if not 1 < following <= self.count or len(pages) > left // (self.usable - 4) + len(pieces):
                    raise Undecodable
                pages.append(following)
                page = self.page(following)
                piece = page[4 : min(4 + left, self.usable)]
                if not piece:
                    raise Undecodable
                pieces.append(piece)
                left -= len(piece)
                following = int.from_bytes(page[:4], "big")
            if following:
                raise Undecodable
            payload = b"".join(pieces)
        return decoded(payload), pages

    def _places(self, number: int, data: bytes, *, interior: bool) -> Iterator[int]:
        """Where each cell of a page begins; 0 where its pointer leads nowhere."""
        at = _HEAD if number == 1 else 0
        first = at + (12 if interior else 8)
        count = min(int.from_bytes(data[at + 3 : at + 5], "big"), (len(data) - first) // 2)
        for pointer in range(first, first + 2 * max(count, 0), 2):
            place = data[pointer] << 8 | data[pointer + 1]
            yield place if first <= place < self.usable else 0

    def _local(self, size: int, kind: int) -> int:
        """How many bytes of a record are on the page of its cell."""
        least = (self.usable - 12) * 32 // 255 - 23
        most = self.usable - 35 if kind == LEAF_TABLE else (self.usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        some = least + (size - least) % (self.usable - 4)
        return some if some <= most else least

    def _read(self, file: object, at: int, size: int) -> bytes:
        return os.pread(file.fileno(), size, at)  # type: ignore[attr-defined]

    def _read_log(self) -> tuple[int, int]:
        """Find the pages that the log holds; returns their size and how many the database has, 0 if it says none."""
        assert self._log is not None
        head = self._read(self._log, 0, _LOG_HEAD.size)
        if len(head) < _LOG_HEAD.size:
            return 0, 0
        magic, _, size, _, *salts, one, two = _LOG_HEAD.unpack(head)
        order = _LOG_MAGIC.get(magic)
        if order is None or not _is_page_size(size) or _sums(order, head[:24], 0, 0) != (one, two):
            return 0, 0
        held: dict[int, int] = {}
        pages, at = 0, _LOG_HEAD.size
        while len(frame := self._read(self._log, at, _FRAME.size + size)) == _FRAME.size + size:
            number, committed, salt_one, salt_two, *sums = _FRAME.unpack_from(frame)
            one, two = _sums(order, frame[:8], one, two)
            one, two = _sums(order, frame[_FRAME.size :], one, two)
            if [salt_one, salt_two] != salts or sums != [one, two] or not number:
                break
            held[number] = at + _FRAME.size
            if committed:
                self._in_log.update(held)
                held.clear()
                pages = committed
            at += _FRAME.size + size
        return (size, pages) if pages else (0, 0)


def decoded(payload: bytes) -> Values:
    """The values of a record.

    Raises:
        Undecodable: It is none, or one of its texts is no UTF-8.
    """
    try:
        length, at = _varint(payload, 0)
        if not at <= length <= len(payload):
            raise Undecodable
        kinds = []
        while at < length:
            kind, at = _varint(payload, at)
            kinds.append(kind)
        if at != length:
            raise Undecodable
        values = []
        for kind in kinds:
            value, at = _value(payload, at, kind)
            values.append(value)
    except (IndexError, UnicodeDecodeError, struct.error) as error:
        raise Undecodable from error
    if at != len(payload):
        raise Undecodable
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind >= 12:
        end = at + (kind - 12) // 2
        if end > len(payload):
            raise Undecodable
        piece = payload[at:end]
        return (piece.decode() if kind % 2 else piece), end
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        if end > len(payload):
            raise Undecodable
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return _REAL.unpack_from(payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind == 0:
        return None, at
    raise Undecodable


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at]
    at += 1
    if value < 128:
        return value, at
    value &= 127
    for _ in range(7):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at
    return value << 8 | data[at], at + 1


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _page_size(head: bytes) -> int:
    """The page size that a header tells, or the one that every database of ours has."""
    size = int.from_bytes(head[16:18], "big")
    size = 65536 if size == 1 else size
    # Only whose name stands before it is believed.
    return size if _is_page_size(size) and head[:16] == b"SQLite format 3\0" else _USUAL_PAGE


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0


def _sums(order: str, data: bytes, one: int, two: int) -> tuple[int, int]:
    """The log's running checksum over some more bytes."""
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for first, second in zip(words, words, strict=True):
        one = one + first + two & 0xFFFFFFFF
        two = two + second + one & 0xFFFFFFFF
    return one, two
