"""Texts that share most of their shingles: an exact search, by prefixes of rare shingles.

Two sets of sizes n and m whose Jaccard index reaches t share at least t * max(n, m) members. So, with members in one
order for all, the first n - ceil(t * n) + 1 of one meet those of the other: only texts that do are compared, and none
is missed (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). Rare members come first. A text is compared
with those that stay alone: ten thousand copies of one text cost ten thousand comparisons.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.data.alike import Duplicate

if TYPE_CHECKING:
    from workbench.benchmarks.curating.wording import Wording
    from workbench.statistics.arrays import BoolArray, IntArray

_SLACK: Final = 1e-9
"""A threshold such as 0.7 has no exact binary form: what reaches it but for rounding counts."""


class _Sets(NamedTuple):
    """Sets of numbers, one after the other, and where each begins."""

    flat: IntArray
    starts: IntArray

    def of(self, place: int) -> IntArray:
        """One set."""
        return self.flat[self.starts[place] : self.starts[place + 1]]

    def sizes(self, places: IntArray) -> IntArray:
        """How many members some sets have."""
        found: IntArray = self.starts[places + 1] - self.starts[places]
        return found

    def shared(self, places: IntArray, marked: BoolArray) -> IntArray:
        """How many members of some sets are marked."""
        import numpy as np

        sizes = self.sizes(places)
        ends = np.cumsum(sizes)
        members = np.arange(int(sizes.sum())) + np.repeat(self.starts[places] - (ends - sizes), sizes)
        sums = np.concatenate(([0], np.cumsum(marked[self.flat[members]])))
        found: IntArray = sums[ends] - sums[ends - sizes]
        return found


def near_duplicates(texts: Sequence[Wording], threshold: float, size: int) -> list[Duplicate]:
    """The texts that go, each with one that stays and their Jaccard index.

    Args:
        texts: In the order in which they have a right to stay.
        threshold: Least Jaccard index of two texts that say the same, above 0.
        size: Tokens in a shingle.
    """
    pool = _TextPool(texts, size)
    stay: dict[int, list[int]] = {}
    gone = []
    for place in range(len(texts)):
        prefix = pool.prefix(place, threshold)
        met: set[int] = set()
        for member in prefix:
            met.update(stay.get(member, ()))
        found = pool.nearest(place, met) if met else None
        if found is not None and found[1] >= threshold - _SLACK:
            gone.append(Duplicate(place, *found))
            continue
        for member in prefix:
            stay.setdefault(member, []).append(place)
    return gone


class _TextPool:
    """Texts as sets of numbers: their shingles, the rarest first, and their words."""

    def __init__(self, texts: Sequence[Wording], size: int) -> None:
        import numpy as np

        self._shingles = _shingles([text.tokens for text in texts], size)
        self._words = _numbered(text.words() for text in texts)
        answers: dict[str, int] = {"": 0}
        self._answers = np.array([answers.setdefault(text.answer, len(answers)) for text in texts])
        self._marked = [np.zeros(int(one.flat.max(initial=0)) + 1, dtype=bool) for one in (self._shingles, self._words)]

    def prefix(self, place: int, threshold: float) -> list[int]:
        """The shingles one of which another text must share, to be alike."""
        own = self._shingles.of(place)
        found: list[int] = own[: len(own) - ceil(threshold * len(own) - _SLACK) + 1].tolist()
        return found

    def nearest(self, place: int, met: set[int]) -> tuple[int, float]:
        """The most similar of some texts that may say the same (`may_say_the_same`), the first of equals.

        Returns:
            Its place, and the Jaccard index; 0 where none may.
        """
        import numpy as np

        others = np.sort(np.fromiter(met, dtype=np.int64, count=len(met)))
        shared = self._shared(0, self._shingles, place, others)
        union = len(self._shingles.of(place)) + self._shingles.sizes(others) - shared
        words = self._shared(1, self._words, place, others)
        within = (words == len(self._words.of(place))) | (words == self._words.sizes(others))
        answered = (self._answers[place] > 0) & (self._answers[others] == self._answers[place])
        similarities = np.where(within | answered, shared / union, 0.0)
        best = int(np.argmax(similarities))
        return int(others[best]), float(similarities[best])

    def _shared(self, kind: int, sets: _Sets, place: int, others: IntArray) -> IntArray:
        marked, own = self._marked[kind], sets.of(place)
        marked[own] = True
        found = sets.shared(others, marked)
        marked[own] = False
        return found


def _numbered(sets: Iterable[set[tuple[str, int]]]) -> _Sets:
    import numpy as np

    known: dict[tuple[str, int], int] = {}
    numbers, sizes = array("q"), [0]
    for one in sets:
        numbers.extend(known.setdefault(word, len(known)) for word in one)
        sizes.append(len(one))
    return _Sets(np.array(numbers), np.cumsum(sizes))


def _shingles(texts: Sequence[Sequence[str]], size: int) -> _Sets:
    """The distinct shingles of texts; a shingle's number is its place in the order from rare to frequent."""
    import numpy as np

    codes, owners = _runs(texts, size)
    first = np.unique(owners * (int(codes.max(initial=0)) + 1) + codes, return_index=True)[1]
    owners, codes = owners[first], codes[first]
    _, codes, frequencies = np.unique(codes, return_inverse=True, return_counts=True)
    rank = np.empty(len(frequencies), dtype=np.int64)
    rank[np.argsort(frequencies, kind="stable")] = np.arange(len(frequencies))
    codes = rank[codes]
    flat = codes[np.lexsort((codes, owners))]
    return _Sets(flat, np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(texts))))))


def _runs(texts: Sequence[Sequence[str]], size: int) -> tuple[IntArray, IntArray]:
    """A number a run of so many tokens, equal for equal runs, and the place of the text it is from.

    A shorter text is filled up, and is one run.
    """
    import numpy as np

    known: dict[str, int] = {}
    found = array("q")
    for text in texts:
        found.extend(known.setdefault(word, len(known) + 1) for word in text)
        found.extend([0] * (size - len(text)))
    codes = numbers = np.array(found)
    owners = np.repeat(np.arange(len(texts)), [max(len(text), size) for text in texts])
    for step in range(1, size):
        # Pairs of (a shorter run, the next token), numbered anew each time: no two runs get one number.
        codes = np.unique(codes[:-1] * (len(known) + 1) + numbers[step:], return_inverse=True)[1]
    inside = owners[: len(codes)] == owners[size - 1 :]
    return codes[inside], owners[: len(codes)][inside]
