"""The strategies by name: templates, options, and construction of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from workbench.core.options import Options
from workbench.verifiers.judges.mcts.judge import MajorityOptions, MajorityVote, Mcts
from workbench.verifiers.judges.mcts.subtasks import MCTS_NAMES, MctsOptions, SubtaskOptions
from workbench.verifiers.judges.parsers import Parser
from workbench.verifiers.judges.roles import ROLES, WRITING
from workbench.verifiers.judges.strategy import ByCriteria, Chain, Strategy
from workbench.verifiers.judges.template import Template
from workbench.verifiers.judges.testcases import TestCaseOptions, TestCases, TestServerOptions, TestVerification
from workbench.verifiers.option_record import meanings

Maker = Callable[[Template, Parser, Mapping[str, str]], Strategy]
"""Creates a strategy from its template, the parser of its verdict and its options."""


def _make_chain(template: Template, parser: Parser, options: Mapping[str, str]) -> Strategy:
    return ByCriteria(template, parser) if template.criteria else Chain(template, parser)


class Kind(Struct, frozen=True):
    """A strategy of a judge: its procedure, options and template.

    Attributes:
        description: A short description of its procedure.
        variants: Names of other phrasings of its prompt; the template's file is ``<strategy>.toml`` or
            ``<strategy>-<variant>.toml``.
        records: The records of the strategy's options.
        own_template: Whether a custom template may replace the built-in one.
        file: The template's name if it isn't the strategy's own.
        names: Placeholders of its template for trusted words.
        roles: Roles whose prompt a user's file may contain.
        hides_code: Whether the model that writes tests sees no submission.
    """

    description: str
    variants: tuple[str, ...] = ()
    make: Maker = _make_chain
    records: tuple[type[Options], ...] = ()
    own_template: bool = True
    file: str | None = None
    names: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    hides_code: bool = True

    @property
    def options(self) -> dict[str, str]:
        """Return the strategy's options and their descriptions."""
        return meanings(*self.records)


def _mcts_kind(description: str, make: Maker, roles: frozenset[str], *records: type[Options]) -> Kind:
    return Kind(description, make=make, records=records, own_template=False, file="mcts", names=MCTS_NAMES, roles=roles)


_TESTING: Final = WRITING | {"execute", "compare"}
_VOTING: Final = frozenset({"analyse", "summarise"})
TEMPLATE: Final = "template"
"""The strategy that requires a custom template."""
RUBRIC: Final = "rubric"
"""The strategy that requires a custom rubric."""

STRATEGIES: Final[dict[str, Kind]] = {
    "verifybench": Kind("VerifyBench's judge: an analysis that ends in Yes or No"),
    "vanilla": Kind("MCTS-Judge's baseline: a reply of Yes or No and nothing else"),
    "ice-score": Kind("ICE-Score: 0 to 4, where 4 is correct", ("usefulness", "cot", "usefulness-cot")),
    "codejudge": Kind("CodeJudge: one call analyses the code, a second one summarises the analysis as Yes or No"),
    "codejudge-fault": Kind("CodeJudge's fault localisation: a list of faults by severity; correct if there are none"),
    "compassverifier": Kind("CompassVerifier: A correct, B incorrect, C no valid answer", ("cot",)),
    "xverify": Kind("xVerify: [Correct] or [Incorrect]", ("no-question",)),
    "test-cases": _mcts_kind(
        "test cases that a model writes, validates and executes by reasoning",
        TestCases,
        _TESTING,
        TestCaseOptions,
        TestServerOptions,
    ),
    "test-verification": Kind(
        "MCTS-Judge's test-case baseline: tests written from the code and its public examples, executed by reasoning",
        make=TestVerification,
        records=(TestCaseOptions, TestServerOptions),
        own_template=False,
        file="test-verification",
        names=MCTS_NAMES,
        roles=_TESTING,
        hides_code=False,
    ),
    "majority-vote": _mcts_kind(
        "every subtask of MCTS-Judge once, and the majority of their verdicts",
        MajorityVote,
        _VOTING,
        SubtaskOptions,
        MajorityOptions,
    ),
    "mcts": _mcts_kind(
        "MCTS-Judge: a tree search over subtasks, rewarded by simulated execution",
        Mcts,
        frozenset(ROLES),
        SubtaskOptions,
        MctsOptions,
        TestServerOptions,
    ),
    RUBRIC: Kind("the weighted criteria of your own file, each met or not"),
    TEMPLATE: Kind("the calls of your own template"),
}
"""Every strategy by its value of the option ``strategy``."""
