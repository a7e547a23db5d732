"""A panel: several models judge an item, and their verdicts are combined into one.

Source: Verga et al., "Replacing Judges with Juries: Evaluating LLM Generations with a Panel of Diverse Models" (arXiv
2404.18796).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Struct, structs

from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask, Reply, Request
from workbench.llm.server import ModelServer
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.strategy import Strategy
from workbench.verifiers.judges.voting import majority, run_concurrently
from workbench.verifiers.option_record import parse_record

ReducerName = Literal["majority", "mean", "min", "weighted"]


class ReducerOptions(Options, frozen=True, kw_only=True):
    """Options for combining several judges' verdicts."""

    reducer: Annotated[
        ReducerName,
        option("how verdicts are combined: majority, mean (of P(Yes), else of votes), min (all must accept), weighted"),
    ] = "majority"
    weights: Annotated[
        str | None, option("with reducer=weighted: weights of the votes, such as 2,1,1, the first for model=")
    ] = None


class PanelOptions(Options, frozen=True, kw_only=True):
    """A panel of models on one server."""

    panel: Annotated[
        str, option("further models on the same server that form a panel with the judge, such as m2,m3")
    ] = ""
    reducing: ReducerOptions = ReducerOptions()


_DECIDED: Final = (Outcome.CORRECT, Outcome.INCORRECT)


def on_panel(strategy: Strategy, options: Mapping[str, str], *, graded: bool) -> Strategy:
    """Return the strategy, run by each model of a panel if the options request one.

    Args:
        graded: Whether verdicts have a probability.

    Raises:
        ValueError: An option is wrong.
    """
    models = tuple(part.strip() for part in options.get("panel", "").split(",") if part.strip())
    if not models:
        for name in sorted({*ReducerOptions.__struct_fields__} & options.keys()):
            raise ValueError(f"{name}: only a panel has this option")
        return strategy
    if len({*models, options["model"]}) <= len(models):
        raise ValueError("panel: the same model is named twice; samples= asks one model several times")
    return Panel(strategy, models, reducer_from(options, 1 + len(models), graded=graded))


class Reducer(Struct, frozen=True, kw_only=True):
    """Combines several judges' verdicts into one.

    Attributes:
        weights: One weight for each judge.
        graded: Whether verdicts have a probability.
    """

    name: ReducerName
    weights: tuple[float, ...]
    graded: bool

    def config(self) -> dict[str, object]:
        return {"reducer": self.name, **({"weights": list(self.weights)} if self.name == "weighted" else {})}

    def reduced(self, votes: Sequence[Verdict]) -> Verdict:
        """Combine verdicts; without a decided vote return an abstention with the reason."""
        verdict = majority(votes)
        decided = [
            (self._vote_value(vote), weight)
            for vote, weight in zip(votes, self.weights, strict=True)
            if vote.outcome in _DECIDED
        ]
        if self.name == "majority" or not decided:
            return verdict
        if self.name == "min":
            return _reduce_by_minimum([value for value, _ in decided], votes, verdict)
        score = sum(value * weight for value, weight in decided) / sum(weight for _, weight in decided)
        outcome = Outcome.ABSTAIN if score == 0.5 else Outcome.CORRECT if score > 0.5 else Outcome.INCORRECT
        return structs.replace(verdict, outcome=outcome, score=score, reason="tie" if score == 0.5 else None)

    def _vote_value(self, vote: Verdict) -> float:
        graded = self.graded and self.name != "weighted"
        return vote.score if graded and vote.score is not None else float(vote.is_correct)


def reducer_from(options: Mapping[str, str], judges: int, *, graded: bool) -> Reducer:
    """Parse the options into a reducer.

    Raises:
        ValueError: An option is wrong.
    """
    own = parse_record(ReducerOptions, options)
    return Reducer(name=own.reducer, weights=_weights(own, judges), graded=graded)


def _weights(own: ReducerOptions, judges: int) -> tuple[float, ...]:
    if (own.reducer == "weighted") != (own.weights is not None):
        raise ValueError("weights: only reducer=weighted uses them")
    try:
        weights = tuple(float(part) for part in (own.weights or ",".join("1" * judges)).split(","))
    except ValueError:
        weights = ()
    if len(weights) != judges or not all(0 < weight < 1e6 for weight in weights):
        raise ValueError(f"weights: {judges} positive numbers are needed, one for each judge")
    return weights


class Panel:
    def __init__(self, strategy: Strategy, models: Sequence[str], reducer: Reducer) -> None:
        self._strategy, self._models, self._reducer = strategy, models, reducer

    def config(self) -> dict[str, object]:
        return {**self._strategy.config(), "panel": list(self._models), **self._reducer.config()}

    def servers(self, judge: ModelServer) -> dict[str, ModelServer]:
        others = {
            _model_role(place): structs.replace(judge, model=model) for place, model in enumerate(self._models, 1)
        }
        return {**self._strategy.servers(judge), **others}

    def calls_per_item(self) -> float:
        return self._strategy.calls_per_item() * (1 + len(self._models))

    async def judge(self, case: JudgeCase, ask: Ask) -> Judged:
        members = [ask, *(_ask_as(ask, _model_role(place)) for place in range(1, 1 + len(self._models)))]
        judged = await run_concurrently(self._strategy.judge(case, member) for member in members)
        votes = tuple(one.verdict for one in judged)
        return Judged(verdict=self._reducer.reduced(votes), votes=votes)


def _reduce_by_minimum(values: Sequence[float], votes: Sequence[Verdict], said: Verdict) -> Verdict:
    score = min(values)
    if score < 0.5:
        return structs.replace(said, outcome=Outcome.INCORRECT, score=score, reason=None)
    silent = next((vote for vote in votes if vote.outcome not in _DECIDED), None)
    if silent is not None:
        return structs.replace(said, outcome=Outcome.ABSTAIN, score=None, reason=silent.reason)
    return structs.replace(said, outcome=Outcome.CORRECT, score=score, reason=None)


def _model_role(place: int) -> str:
    return f"judge-{place + 1}"


def _ask_as(ask: Ask, member: str) -> Ask:
    async def ask_as_member(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        return await ask(request, step=step, role=member if role == "judge" else role, sample=sample)

    return ask_as_member
