"""A verifier as a reward function for TRL, verl and OpenRLHF.

    import workbench

    reward = workbench.reward("rules")
    trainer = GRPOTrainer(model, reward_funcs=reward, ...)   # TRL
    compute_score = reward.compute_score                      # verl
    reward_func = reward.reward_func                          # OpenRLHF

Verdicts are those of ``workbench verify`` with the same verifier, at the same version.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

from msgspec import structs

from workbench.core.closing import Closing
from workbench.core.columns import column, is_number
from workbench.core.errors import UsageError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.training import frameworks
from workbench.training.choosing import Scale, is_undecided, load_reward_verifier
from workbench.training.pay import Forgeable, Pay, SuitePay, SuiteVerdict, Timeouts

if TYPE_CHECKING:
    from workbench.runs.executor import LocalExecutor
    from workbench.training.on_call import CallingExecutor
    from workbench.training.testing import SolutionExecutor
    from workbench.verifiers.base import SandboxedVerifier

    Executor = LocalExecutor | CallingExecutor | SolutionExecutor

SETTINGS: Final = (
    *("options", "database", "journal", "undecided", "own_score", "workers", "timeout", "deadline"),
    *("pay", "forgeable", "timeouts"),
)
"""Arguments of `workbench.reward` that harnesses and verl may pass."""


class Reward(Closing):
    """One verifier as a reward; any thread may call it, and it can be pickled and sent to another process.

    Items that may hang or crash are judged in worker processes, each within limits of time and memory, as in a run: a
    bad item gets an abstention and doesn't affect others. The workers start with the reward.

    Attributes:
        name: The verifier's name.
        version: The verifier's version.
        deadline: The argument of that name.

    Args:
        verifier: An installed kind such as ``"rules"``; with a database also a configured name.
        options: The verifier's options.
        database: A project whose names and settings are used.
        journal: The database for the calls of a verifier that calls model servers, created if missing; by default
            ``NAME.rewards.db`` next to the project ``NAME.db``. Each training process needs a separate one.
        undecided: The reward of an abstention or an error. None excludes the completion in TRL, and is 0.0 in verl
            and OpenRLHF, which need a number.
        own_score: Return the verifier's score if it has one.
        reference: The column with the reference answers in TRL's data set; by default the one of ``reference``,
            ``ground_truth``, ``solution`` and ``answer`` that exists.
        workers: Worker processes; by default one per core.
        timeout: Seconds of processor time an item may take in a worker; by default the verifier's own limit, as in a
            run.
            If the verifier calls model servers, seconds that an item may take there; by default unlimited.
        deadline: Seconds of wall time for one call, however many items it has; items without a verdict by then are
            undecided.
        pay: The test reward of ``execution``: 1 if all tests pass, else 0 (``"all"``), the share passed (``"share"``),
            or that share by difficulty (``"difficulty"``: a test's weight is the share of solutions that fail it).
        forgeable: Passes that a program could forge count (``"pays"``), count as failures (``"nothing"``), or make the
            verdict undecided (``"undecided"``).
        timeouts: A solution that fails only because it takes too long is ``"wrong"`` or ``"undecided"``.

    Raises:
        UsageError: No such verifier or option exists, a verifier that calls model servers has no database or journal,
            or an argument is out of range.
        NotTrustedError: The database's settings were not accepted yet.
        VerifierError: The verifier can't be used.
    """

    def __init__(
        self,
        verifier: str = "rules",
        *,
        options: Mapping[str, str] | None = None,
        database: Path | str | None = None,
        undecided: float | None = None,
        own_score: bool = False,
        reference: str | None = None,
        workers: int | None = None,
        timeout: float | None = None,
        journal: Path | str | None = None,
        deadline: float | None = None,
        pay: Pay = "all",
        forgeable: Forgeable = "pays",
        timeouts: Timeouts = "wrong",
    ) -> None:
        options = dict(options or {})
        # All arguments as given, from which a copy in another process is made.
        self._made_of = {name: value for name, value in locals().items() if name != "self"}
        _require_above_0("timeout", timeout)
        _require_above_0("deadline", deadline)
        if workers is not None and not (isinstance(workers, int) and workers > 0):
            raise UsageError(
                f"workers={workers!r} is not valid.", "Give a whole number above 0, or None for one per core."
            )
        if database is not None and journal is None:
            journal = Path(database).with_suffix(".rewards.db")
        self._selection_with_items = load_reward_verifier(verifier, options, database, asking=True, journal=journal)
        for warning in self._selection_with_items.warnings:
            warnings.warn(warning, stacklevel=2)
        self.name = self._selection_with_items.name
        self.version = self._selection_with_items.verifier.version
        # Trainers log the reward under this name.
        self.__name__ = f"workbench:{self.name}"
        tests = SuitePay(
            pay=one_of("pay", pay, Pay),
            forgeable=one_of("forgeable", forgeable, Forgeable),
            timeouts=one_of("timeouts", timeouts, Timeouts),
        )
        self._scale = Scale(undecided=undecided, own_score=own_score, tests=tests)
        self._reference = reference
        self._workers, self._timeout, self.deadline = workers, timeout, deadline
        self._lock = threading.Lock()
        self._executor: tuple[int, Executor] | None = None
        if self._selection_with_items.journal is None and not self.by_tests:
            # The workers load while the trainer does.
            self._process_executor()

    def __call__(self, prompts: Any = None, completions: Any = None, **columns: Any) -> list[float | None]:
        """Return the rewards of completions, called as TRL does.

        Args:
            prompts: Texts or conversations; they are the questions unless there is a column ``question``.
            completions: Texts or conversations, one for each prompt.
            **columns: The data set's other columns as lists: the references, and ``question`` and ``subtype`` if they
                exist. A row whose reference is None or NaN has no reward.

        Raises:
            UsageError: The column of references is missing, or a value is not a text; the message names it.
            VerifierError: The workers can't start.
        """
        if self._selection_with_items.by_tests:
            from workbench.training.testing import with_tests

            columns = with_tests(columns, self._reference, len(column("completions", completions)))
        rows = frameworks.trl_inputs(prompts, completions, columns, self._reference)
        verdicts = self.verdicts([row for row in rows if row is not None])
        self._log_to_trl(rows, verdicts, columns)
        return frameworks.align_with_rows([self._scale.reward(verdict) for verdict in verdicts], rows)

    def compute_score(
        self, data_source: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Return the score of one completion, called as verl does; the question is ``extra_info["question"]``.

        Raises:
            UsageError: A value is not a text.
            VerifierError: The workers can't start.
        """
        item = frameworks.one_input(solution_str, self._serialise_reference(ground_truth), extra_info)
        (verdict,) = self.verdicts([item])
        return structs.asdict(frameworks.score(verdict, self._scale))

    def compute_scores(
        self, data_sources: Any, solution_strs: Any, ground_truths: Any, extra_infos: Any = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Return the scores of a batch, called as verl's batch reward manager does; raises as `compute_score` does."""
        given = column("ground_truths", ground_truths)
        truths = [self._serialise_reference(one, f"s[{row}]") for row, one in enumerate(given)]
        verdicts = self.verdicts(frameworks.batch_inputs(solution_strs, truths, extra_infos))
        return [structs.asdict(frameworks.score(verdict, self._scale)) for verdict in verdicts]

    def reward_func(self, queries: Any, prompts: Any, labels: Any, **_: Any) -> dict[str, Any]:
        """Return the rewards of completions, called as OpenRLHF does: tensors if torch is loaded, else lists.

        Raises:
            UsageError: A value is not a text.
            VerifierError: The workers can't start.
        """
        found = frameworks.rewards(self.verdicts(frameworks.inputs(queries, prompts, labels)), self._scale)
        return {
            "rewards": _tensor(found.rewards),
            "scores": _tensor(found.scores),
            "extra_logs": {name: _tensor(values) for name, values in found.extra_logs.items()},
        }

    def number(self, verdict: Verdict) -> float:
        """Return a verdict's reward as a number: 0.0 for an undecided verdict, unless ``undecided`` is set."""
        return self._scale.number(verdict)

    def verdicts(self, items: Sequence[VerifierInput], deadline: float | None = None) -> list[Verdict]:
        """Return the verdicts on items, in order.

        Args:
            deadline: Seconds of wall time for all items; by default the reward's ``deadline``.

        Raises:
            VerifierError: The workers can't start.
            RunError: No call to a model server can succeed now, calls can't be stored, or another process has locked
                the journal.
        """
        return self._process_executor().judge(items, self.deadline if deadline is None else deadline)

    @property
    def by_tests(self) -> bool:
        return self._selection_with_items.by_tests

    def close(self) -> None:
        with self._lock:
            if self._executor is not None and self._executor[0] == os.getpid():
                self._executor[1].close()
            self._executor = None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Reward, **self._made_of), ()

    def _process_executor(self) -> Executor:
        with self._lock:
            if self._executor is None or self._executor[0] != os.getpid():
                self._executor = (os.getpid(), self._make_executor())
            return self._executor[1]

    def _serialise_reference(self, given: Any, place: str = "") -> Any:
        if not self._selection_with_items.by_tests:
            return given
        from workbench.verifiers.execution.given import tests_text

        return tests_text(f"ground_truth{place}", given)

    def _make_executor(self) -> Executor:
        if self._selection_with_items.by_tests:
            from workbench.training.testing import SolutionExecutor

            return SolutionExecutor(
                cast("SandboxedVerifier", self._selection_with_items.verifier),
                self._workers,
                self._timeout,
            )
        if self._selection_with_items.journal is None:
            executor = self._selection_with_items.executor(self._workers, self._timeout)
            executor.warm()
            return executor
        from workbench.training.on_call import CallingExecutor

        return CallingExecutor(self._selection_with_items, self._workers, self._timeout)

    def _log_to_trl(
        self, rows: Sequence[VerifierInput | None], verdicts: Sequence[Verdict], columns: Mapping[str, Any]
    ) -> None:
        if callable(log_extra := columns.get("log_extra")):
            log_extra(
                f"{self.name} verdict", frameworks.align_with_rows([verdict.outcome.word for verdict in verdicts], rows)
            )
            log_extra(f"{self.name} reason", frameworks.align_with_rows([verdict.reason for verdict in verdicts], rows))
        if verdicts and callable(log_metric := columns.get("log_metric")):
            log_metric(f"{self.name}/undecided", sum(map(is_undecided, verdicts)) / len(verdicts))
            if self._selection_with_items.by_tests:
                forgeable = [isinstance(one, SuiteVerdict) and one.forgeable > 0 for one in verdicts]
                log_metric(f"{self.name}/forgeable", sum(forgeable) / len(verdicts))


Word = TypeVar("Word", bound=str)


def _require_above_0(option: str, seconds: float | None) -> None:
    if seconds is not None and not (is_number(seconds) and 0 < seconds < inf):
        raise UsageError(f"{option}={seconds!r} is not a time.", "Give seconds above 0, or None.")


def one_of(option: str, given: Word, known: Any) -> Word:
    """Return an option's value if it is one of the option's choices.

    Raises:
        UsageError: The value is not one of the option's choices.
    """
    words = get_args(known)
    if given not in words:
        raise UsageError(f"{option}={given!r} is not one of {', '.join(words)}.")
    return given


def _tensor(numbers: list[float]) -> Any:
    torch = sys.modules.get("torch")
    return numbers if torch is None else torch.tensor(numbers)
