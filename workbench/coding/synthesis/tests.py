"""Have a model write tests, parse its replies, and decide which tests are kept. Nothing is executed here."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct, field, structs

from workbench.coding.options import SuiteOptions, Targets
from workbench.coding.problems import EVERY_PROBLEM, Dataset, code_dataset, problems_for
from workbench.coding.records.figures import TestsWritten
from workbench.coding.synthesis.asking import PROMPTS, request_for_tests
from workbench.coding.templates import OwnPrompt, own_prompts
from workbench.core.code import CodeTest, Problem
from workbench.core.code_tests.assertion import form_of
from workbench.core.code_tests.broken import bound_names, spelling, tree_of
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError, opt
from workbench.core.final_answer import reply_start
from workbench.core.project import Project, batches
from workbench.core.selection import Selection
from workbench.data.store import tests as suites
from workbench.data.store.tests import problems_of
from workbench.llm.records import Sampling
from workbench.runs.generation import Models, Watch, Writer, WritingRequest, generating
from workbench.verifiers.execution.interpreter import EXTRACTORS, code_of

EXTRACTOR: Final = "assertion-tags-1"
"""Name and version of the extraction of tests; the version changes when the same reply would be parsed differently."""
FILTERS: Final[dict[str, str]] = {
    "no_python": "no Python, too long or nested too deeply",
    "no_assert": "no assert statement in it",
    "no_call": "doesn't name what is to be tested",
    "duplicate": "a duplicate, in the same or another spelling",
    "surplus": "beyond the requested number of tests",
}
"""Why a test may be rejected, by code."""
SURPLUS: Final = "surplus"
"""The code of tests after the first n; it is checked last."""
MAX_FOUND_TESTS: Final = 1_000
"""Maximum tests of a reply that are parsed."""
_OPEN, _CLOSE = "<assertion>", "</assertion>"


class ParsedTests(Struct, frozen=True):
    """The tests of a reply.

    Attributes:
        tests: The kept tests.
        found: Number of tests in the reply.
        dropped: Numbers of rejected tests, by code.
    """

    tests: tuple[CodeTest, ...]
    found: int
    dropped: Counter[str]


def read_tests(reply: str, problem: Problem, wish: SuiteOptions) -> ParsedTests:
    """Return the tests in a reply. Scoring Verifiers neither strips nor filters them.

    Tests are between ``<assertion>`` and ``</assertion>`` after the last ``</think>``. A test without an end tag is
    lost, as is the rest of a test whose text contains an end tag. Source: the released code of Scoring Verifiers.
    """
    found, filters = extracted(reply), filters_of(wish)
    faults = _fault_checks(problem, filters)
    kept: dict[str, CodeTest] = {}
    dropped: Counter[str] = Counter()
    for place, source in enumerate(found):
        text = source.strip() if wish.strip else source
        key = spelling(text) if "duplicate" in filters else str(place)
        tree = tree_of(text)
        fault = next((code for code, has in faults.items() if has(tree)), "duplicate" if key in kept else None)
        if fault is None and SURPLUS in filters and len(kept) == wish.count:
            fault = SURPLUS
        if fault is None:
            kept[key] = CodeTest(form=form_of(text), source=text)
        else:
            dropped[fault] += 1
    return ParsedTests(tuple(kept.values()), len(found), dropped)


def extracted(reply: str) -> list[str]:
    """Return the texts between the tags, in order, unchanged except that lone surrogates are replaced."""
    at, found = reply_start(reply), list[str]()
    while len(found) < MAX_FOUND_TESTS and (opened := reply.find(_OPEN, at)) >= 0:
        start = opened + len(_OPEN)
        end = reply.find(_CLOSE, start)
        if end < 0:
            break
        found.append(reply[start:end].encode("utf-8", "replace").decode())
        at = end + len(_CLOSE)
    return found


def _fault_checks(problem: Problem, filters: Collection[str]) -> dict[str, Callable[[ast.Module | None], bool]]:
    names = frozenset(filter(None, (problem.entry_point, *bound_names(problem.setup))))
    checks: dict[str, Callable[[ast.Module | None], bool]] = {
        "no_python": lambda tree: tree is None,
        "no_assert": lambda tree: tree is not None and not any(isinstance(node, ast.Assert) for node in ast.walk(tree)),
        "no_call": lambda tree: (
            tree is not None
            and bool(names)
            and not names & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        ),
    }
    return {code: check for code, check in checks.items() if code in filters}


# -- Tests written by a model, as a separate suite: for each problem, or for each solution, which the model sees.


USUAL: Final = Sampling(temperature=1.0)
"""The default sampling of tests (Scoring Verifiers, 4.1)."""
_BATCH_PROBLEMS: Final = 64
"""Problems whose requests are in progress at a time; their replies are stored together."""
_CODE: Final = "fence"
"""The method of extracting code from a solution that is a reply."""


def _made(wish: SuiteOptions, models: Models, own: OwnPrompt | None) -> dict[str, object]:
    return {
        "models": models.config(),
        "asked": wish.count,
        "with_solution": wish.with_solution,
        "prompt_sha256": PROMPTS["tests"] if own is None else own.sha256,
        "extractor": EXTRACTOR,
        "strip": wish.strip,
        "filters": sorted(filters_of(wish)),
        "code_extractor": str(EXTRACTORS[_CODE]) if wish.with_solution else None,
    }


class _SuiteTarget(Struct, frozen=True):
    """The problem or solution that tests are written for.

    Attributes:
        owner: Row id of the question, or of the completion.
        code: The part of the solution that the model sees; "" for none.
    """

    owner: int
    problem: Problem
    code: str


class _WritingCounts(Struct):
    found: int = 0
    kept: int = 0
    dropped: dict[str, int] = {}


class _SuiteDescription(Struct):
    """The stored description of how a suite was made.

    Attributes:
        made: The settings that the suite depends on; see `_suite_settings`.
        empty: Row ids of targets whose reply has no kept test.
    """

    made: dict[str, Any]
    counts: _WritingCounts = field(default_factory=_WritingCounts)
    empty: list[int] = []


def filters_of(wish: SuiteOptions) -> frozenset[str]:
    """Return the codes of `FILTERS` by which tests are rejected.

    Raises:
        UsageError: A filter is unknown.
    """
    filters = wish.filters or "none"
    words = {"none": [], "all": [*FILTERS]}.get(filters, [one.strip() for one in filters.split(",")])
    for word in words:
        if word not in FILTERS:
            raise UsageError(f"There is no filter {word!r}.", f"There are: {', '.join(FILTERS)}; or all, or none.")
    return frozenset(words)


def own_prompt(wish: SuiteOptions) -> OwnPrompt | None:
    """Return the custom prompt.

    Raises:
        UsageError: The prompt can't be read, it includes a solution although none is to be shown, or it lacks a
            required
            solution.
    """
    found = own_prompts(wish.templates, ("tests",)).get("tests")
    if found is not None and ("solution" in found.texts) != wish.with_solution:
        hint = f"{'Leave out' if wish.with_solution else 'Add'} {opt.with_solution}."
        shows = "shows no solution" if wish.with_solution else "shows a solution"
        raise UsageError(f"The prompt {shows}.", hint)
    return found


def write_tests(
    project: Project,
    suite: str,
    wish: SuiteOptions,
    models: Models,
    *,
    targets: Targets = EVERY_PROBLEM,
    trust: bool = False,
    watch: Watch | None = None,
) -> TestsWritten:
    """Have a model write a suite of tests, or continue an interrupted suite; finished problems are unchanged.

    Args:
        suite: The suite's name.
        models: The model that writes.
        targets: The problems that tests are written for, or whose solutions tests are written for.
        trust: Whether the user approves servers that ``workbench.toml`` names.
        watch: Called with the progress of the calls.

    Raises:
        UsageError: A filter is unknown, several models are given, the name belongs to another suite, or the problems
            are ambiguous.
        NotTrustedError: The user has not approved the servers.
        RunError: No call can succeed now, or another process has locked the database; replies received are stored.
    """
    if len(models.models) != 1:
        raise UsageError("A suite is written by one model.", "Give each model its own suite.")
    dataset = code_dataset(project, targets.dataset)
    chosen, skipped = problems_for(project, dataset, targets, needs_calls=True)
    own = own_prompt(wish)
    about = _made(wish, models, own)
    row, stored = _suite(project, dataset, suite, about)
    with generating(project, f"tests/{suite}", models, about, trust=trust, watch=watch) as writer:
        writing = _SuiteWriting(project, wish, own, row, stored, writer)
        for some in batches(chosen, _BATCH_PROBLEMS):
            writing.write(_suite_targets(project, some, wish.with_solution))
    return TestsWritten(
        suite=suite,
        dataset=dataset.name,
        run=writer.run,
        model=next(iter(models.models)),
        with_solution=wish.with_solution,
        targets=writing.targets,
        unchanged=writing.unchanged,
        failed=dict(writer.failed),
        empty=len(stored.empty),
        skipped=skipped,
        **structs.asdict(stored.counts),
    )


def _suite(project: Project, dataset: Dataset, name: str, made: dict[str, object]) -> tuple[int, _SuiteDescription]:
    """Return the suite's row id, created if need be, and its stored description.

    Raises:
        UsageError: A different suite has this name.
    """
    with project.database.write() as connection:
        found = suites.find_suite(connection, dataset.id, name)
        if found is None:
            new = _SuiteDescription(made=made)
            return suites.add_suite(connection, dataset.id, name, "generated", _encode(new)), new
    if found.origin != "generated":
        raise UsageError(f"There is a suite {name!r} already; it was {found.origin}.", f"Choose another {opt.suite}.")
    stored = msgspec.json.decode(found.about, type=_SuiteDescription)
    if differing := [key for key, value in made.items() if stored.made.get(key) != value]:
        raise UsageError(
            f"There is a suite {name!r} already, made with other settings: {', '.join(differing)}.",
            f"Choose another {opt.suite}.",
        )
    return found.id, stored


def _suite_targets(project: Project, some: Sequence[int], with_solution: bool) -> list[_SuiteTarget]:
    problems = problems_of(project.database, some, ())
    if not with_solution:
        return [_SuiteTarget(question, problems[question], "") for question in some]
    reader = project.database.reader()
    rows = suites.solutions_by_problem(reader, Selection(), some)
    texts = suites.texts(reader, [row.item for row in rows])
    return [
        _SuiteTarget(
            row.item, problems[row.question], code_of(problems[row.question], found.text, found.form, _CODE).source
        )
        for row in rows
        if (found := texts[row.item]).text
    ]


class _SuiteWriting:
    """Has tests written for some problems at a time, and stores them.

    Attributes:
        targets: Number of targets that tests were requested for.
        unchanged: Number of targets that already had their tests.
    """

    def __init__(
        self,
        project: Project,
        wish: SuiteOptions,
        own: OwnPrompt | None,
        suite: int,
        stored: _SuiteDescription,
        writer: Writer,
    ) -> None:
        reader = project.database.reader()
        self._own = own
        self._project, self._wish, self._suite, self._stored, self._writer = project, wish, suite, stored, writer
        self._secret = secret(reader)
        self._owner: suites.Owner = "completion" if wish.with_solution else "question"
        self._done = suites.owners_with_tests(reader, self._owner, suite).union(stored.empty)
        self.targets = self.unchanged = 0

    def write(self, targets: Sequence[_SuiteTarget]) -> None:
        wanted = [one for one in targets if one.owner not in self._done]
        self.targets += len(targets)
        self.unchanged += len(targets) - len(wanted)
        replies = self._writer.ask([self._test_request(one) for one in wanted])
        tests = {
            target.owner: self._read_reply(reply, target)
            for target, reply in zip(wanted, replies, strict=True)
            if reply is not None
        }
        self._stored.empty += (owner for owner, some in tests.items() if not some)
        with self._project.database.write() as connection:
            suites.put_tests(connection, self._owner, self._suite, tests)
            suites.put_about(connection, self._suite, _encode(self._stored))

    def _test_request(self, target: _SuiteTarget) -> WritingRequest:
        count = self._wish.count
        return WritingRequest(
            messages=request_for_tests(target.problem, count, self._secret, target.code, self._own), step="tests"
        )

    def _read_reply(self, reply: str, target: _SuiteTarget) -> tuple[CodeTest, ...]:
        written = read_tests(reply, target.problem, self._wish)
        counts = self._stored.counts
        counts.found += written.found
        counts.kept += len(written.tests)
        counts.dropped = dict(Counter(counts.dropped) + written.dropped)
        return written.tests


def _encode(about: _SuiteDescription) -> str:
    return msgspec.json.encode(about).decode()
