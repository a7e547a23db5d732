"""What two wordings of one question have in common, and what only two questions of one template have.

Of a template, "the capital of France" and "the capital of Spain" differ in one word of twenty, as two wordings of one
question may. So where each of two texts has words of its own, they say the same only if their reference answers do, and
that answer is one that hardly two questions share: no option letter, no digit, no "yes".
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from workbench.benchmarks.curating.tokens import tokens
from workbench.core.final_answer import reference_answer

_FUNCTION: Final = (
    "a an the this that these those it its he she they them his her their we you your i me my our us one ones of to in "
    "on at by for from with as into about and or but so if then than when while where there here is are was were be "
    "been being am do does did has have had will would can could shall should may might must which what who whom whose "
    "how why s t please find determine compute calculate evaluate solve answer question problem following given let "
    "suppose consider also just only now get give tell"
)
_FUNCTIONS: Final = frozenset(_FUNCTION.split())
"""Words in which wordings of one question differ, and that say little of what is asked."""

_COMMON: Final = frozenset(("yes", "no", "true", "false", "unknown", "proved", "disproved", "none", "uncertain"))


class Wording(NamedTuple):
    """A question as it is compared.

    Attributes:
        tokens: Of its text.
        answer: Its reference's final answer in tokens; "" for one that many questions share.
    """

    tokens: list[str]
    answer: str

    def words(self) -> set[tuple[str, int]]:
        """Those tokens that say what it is about, each with how often it has come: the second "red" is another one."""
        seen: Counter[str] = Counter()
        found = set()
        for token in self.tokens:
            if token not in _FUNCTIONS:
                seen[token] += 1
                found.add((token, seen[token]))
        return found


def wording(question: str, reference: str) -> Wording:
    """The wording of a question."""
    answer = " ".join(tokens(reference_answer(reference).text))
    return Wording(tokens(question), answer if len(answer) > 1 and answer not in _COMMON else "")


def may_say_the_same(one: Wording, other: Wording) -> bool:
    """Whether nothing speaks against two texts that are much alike."""
    words, others = one.words(), other.words()
    if words <= others or others <= words:
        return True
    return one.answer != "" and one.answer == other.answer
