"""Solutions of one problem as they are written, until there are enough different scores among them.

Source: Scoring Verifiers, 2.1 and 2.2: solutions are generated and filtered until the desired number of uniquely scored
ones is there; a problem that doesn't get there is supplemented by hand or discarded.
"""

from __future__ import annotations

from workbench.coding.ranking.scoring import as_scored, only_errors
from workbench.core.code import PASS, counted
from workbench.core.code_tests.assertion import parsed


class Gathering:
    """What one problem has.

    Args:
        k: How many different scores are wanted, the reference's among them.

    Attributes:
        scores: Those there are, rounded to two decimals.
        rounds: Rounds that were asked for.
        written: New solutions.
        repeated: Replies with the code of another solution.
        empty: Replies without Python in them.
        failed: Calls without a reply.
    """

    def __init__(self, k: int) -> None:
        self.scores: set[float] = set()
        self.rounds = self.written = self.repeated = self.empty = self.failed = 0
        self._k = k
        self._known: set[str] = set()

    @property
    def reached(self) -> bool:
        """Whether there are as many scores as were wanted."""
        return len(self.scores) >= self._k

    def know(self, code: str) -> None:
        """A solution was there before; the same code again is no new one."""
        self._known.add(code.strip())

    def takes(self, code: str) -> bool:
        """Whether the code of a reply is a new solution."""
        if not code.strip() or parsed(code) is None:
            self.empty += 1
            return False
        if code.strip() in self._known:
            self.repeated += 1
            return False
        self.know(code)
        self.written += 1
        return True

    def ran(self, outcomes: str) -> float | None:
        """Count the score of a solution by the letters of its tests; None where all failed by errors alone."""
        if not counted(outcomes) or only_errors(outcomes):
            return None
        score = as_scored(outcomes.count(PASS) / counted(outcomes), "released")
        self.scores.add(score)
        return score
