"""Reads plans of completions, and estimates their calls, tokens, cost and time before any request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, structs

from workbench.benchmarks.records import CompletionsPlanned, Expected, ModelPlan, PlanTotal
from workbench.benchmarks.sampling.asking import (
    QUESTION,
    Asking,
    CompletionPlan,
    PlannedModel,
    QuestionPrompt,
    Survey,
    plan_questions,
)
from workbench.benchmarks.sampling.completing import runs_of
from workbench.config.file import decode, read_toml, require_table
from workbench.config.models import named_model, parse_price, prices_of
from workbench.config.verifiers import NAME, options_in
from workbench.core.errors import UsageError, opt
from workbench.core.installed import find_page
from workbench.core.options import Options, option, record_from
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.core.text.figures import NONE, Narration, compact_count, counted, dollars
from workbench.llm.gate import ASSUMED_REPLY_TOKENS, cost_of
from workbench.llm.records import Sampling, Usage
from workbench.runs.store import calls
from workbench.verifiers.option_record import parse_record
from workbench.verifiers.serving import (
    LIMIT_OPTIONS,
    SAMPLING_OPTIONS,
    SERVER_OPTIONS,
    limits_from,
    require_sendable,
    sampling_from,
    server_from,
)

_MINUTE_S: Final = 60.0


def planned(
    project: Project, plan: CompletionPlan, *, again: bool = False, watch: Callable[[str], None] | None = None
) -> CompletionsPlanned:
    """Return the estimate of a plan.

    Args:
        again: Whether to include calls that failed permanently.
        watch: Receives the name of the model being estimated.

    Raises:
        UsageError: It is ambiguous which questions are meant, or a name belongs to another configuration.
    """
    asked = plan_questions(project, plan)
    runs = runs_of(project, plan)
    asking = Asking(project, plan, asked.questions, runs, again=again)
    models = []
    for model in plan.models:
        if watch is not None:
            watch(model.name)
        survey = asking.survey(model.name)
        measured = _mean_reply_tokens(project, runs.get(model.name))
        models.append(_model_plan(model, len(asked.questions), survey, measured))
    return CompletionsPlanned(
        set=asked.set,
        dataset=asked.dataset,
        questions=len(asked.questions),
        models=tuple(models),
        total=_plan_total(models),
        max_cost=plan.max_cost,
        missing=tuple(one.model for one in models if one.there < one.questions * one.samples),
    )


def _model_plan(model: PlannedModel, questions: int, found: Survey, measured: float | None) -> ModelPlan:
    most = model.sampling.max_tokens
    usual = measured
    if usual is None:
        usual = float(ASSUMED_REPLY_TOKENS if most is None else min(most, ASSUMED_REPLY_TOKENS))
    completion = Expected(usual=usual * found.calls, most=None if most is None else float(most * found.calls))
    cost = _estimate_cost(model, found.prompt_tokens, completion.usual)
    longest = None if completion.most is None else _estimate_cost(model, found.prompt_tokens, completion.most)
    limits = model.limits
    times = [
        amount / rate * _MINUTE_S
        for amount, rate in ((float(found.calls), limits.rpm), (found.prompt_tokens + completion.usual, limits.tpm))
        if rate is not None
    ]
    return record_from(
        ModelPlan,
        found,
        model=model.name,
        questions=questions,
        samples=model.samples,
        failed=dict(sorted(found.failed.items())),
        completion_tokens=completion,
        reply_tokens=usual,
        measured=measured is not None,
        cost=None if cost is None else Expected(usual=cost, most=longest),
        seconds=max(times, default=None),
    )


def _estimate_cost(model: PlannedModel, prompt: int, completion: float) -> float | None:
    return cost_of(Usage(prompt_tokens=prompt, completion_tokens=round(completion)), model.price)


def _mean_reply_tokens(project: Project, run: int | None) -> float | None:
    used = None if run is None else calls.get(project.database.reader(), run)
    if used is None or not used.answered or not used.completion_tokens:
        return None
    return used.completion_tokens / used.answered


def _plan_total(models: list[ModelPlan]) -> PlanTotal:
    priced = [one.cost for one in models if one.cost is not None and one.calls]
    return PlanTotal(
        models=len(models),
        completions=sum(one.questions * one.samples for one in models),
        failed=sum(sum(one.failed.values()) for one in models),
        **{name: sum(getattr(one, name) for one in models) for name in ("there", "stored", "calls", "prompt_tokens")},
        completion_tokens=_sum_expected([one.completion_tokens for one in models if one.calls]),
        cost=_sum_expected(priced) if priced else None,
        unpriced=sum(one.cost is None and one.calls > 0 for one in models),
        seconds=max((one.seconds for one in models if one.seconds is not None), default=None),
    )


def _sum_expected(parts: list[Expected]) -> Expected:
    most = [one.most for one in parts]
    return Expected(
        usual=sum(one.usual for one in parts),
        most=None if None in most else sum(one for one in most if one is not None),
    )


# -- Plans of completions: untrusted TOML, or the options of the command line.


SAMPLES: Final = "samples"
MOST_SAMPLES: Final = 1000
EXAMPLE: Final = '[[models]] name = "qwen", base_url = "http://localhost:8000/v1", model = "Qwen/Qwen2.5-7B-Instruct"'


class _SampleOptions(Options, frozen=True, kw_only=True):
    samples: Annotated[int, option(ge=1, le=MOST_SAMPLES)] = 1


_OPTIONS: Final = {*SERVER_OPTIONS, *SAMPLING_OPTIONS, *LIMIT_OPTIONS, SAMPLES}
_DEFAULTS: Final = tuple(sorted(_OPTIONS - {"model"}))
_NAME_HINT: Final = "Up to 80 letters, digits and . _ + @ / -"
_MAX_NAME: Final = 80


class _PlanTables(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    set: str | None = None
    dataset: str | None = None
    max_cost: Annotated[float, Meta(ge=0, le=1e100)] | None = None
    prompt: QuestionPrompt = QuestionPrompt()
    defaults: dict[str, Any] = {}
    models: Annotated[list[Any], Meta(min_length=1, max_length=1_000)]


def plan_in(project: Project, file: Path) -> CompletionPlan:
    """Read a plan from a file.

    Raises:
        UsageError: The file can't be read or is not a plan; the message names the table and the field.
    """
    tables = decode(f"{file}:", _read_plan_file(file), _PlanTables, EXAMPLE)
    if tables.prompt.template.count(QUESTION) != 1:
        raise UsageError(
            f"{file}:prompt.template: {QUESTION} occurs {tables.prompt.template.count(QUESTION)} times.",
            "Write it once, where the question belongs.",
        )
    _require_known(f"{file}:defaults", tables.defaults, _DEFAULTS)
    defaults = options_in(f"{file}:defaults", tables.defaults)
    models = [
        _read_model_entry(project, f"{file}:models[{number}]", defaults, one)
        for number, one in enumerate(tables.models, 1)
    ]
    _require_different(f"{file}:models", models)
    return CompletionPlan(
        set=None if tables.set is None else SetName.parse(tables.set),
        dataset=tables.dataset,
        prompt=tables.prompt,
        models=tuple(models),
        max_cost=tables.max_cost,
    )


def plan_of(project: Project, names: Sequence[str], options: Mapping[str, str], samples: int) -> CompletionPlan:
    """Make a plan without a file, from names of models that all have the same options.

    Args:
        names: Names of tables ``[models.NAME]`` in ``workbench.toml``, or names by which the server knows the models.

    Raises:
        UsageError: There is no name, or an option is unknown, missing or invalid.
    """
    if not names:
        raise UsageError(
            "No model is named.", f"Give a plan, or name a model: {opt.model:NAME} {opt.option:base_url=URL}"
        )
    known = tuple(sorted(_OPTIONS - {SAMPLES}))
    _require_known(str(opt.option), options, known)
    models = []
    for name in names:
        place = f"{opt.model:{name}}"
        models.append(_planned_model(project, place, name, {**options, SAMPLES: str(samples)}, None))
    _require_different(str(opt.model), models)
    return CompletionPlan(
        set=None,
        dataset=None,
        prompt=QuestionPrompt(),
        models=tuple(models),
        own=not any(named_model(project.path, name) for name in names),
    )


def only(plan: CompletionPlan, names: Sequence[str]) -> CompletionPlan:
    """Limit a plan to the named models; without names it keeps all of them.

    Raises:
        UsageError: The plan has no model of this name.
    """
    known = {one.name: one for one in plan.models}
    for name in names:
        if name not in known:
            raise UsageError(f"The plan has no model {name!r}.", f"It has: {', '.join(known)}.")
    return structs.replace(plan, models=tuple(one for one in plan.models if not names or one.name in names))


def _read_plan_file(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file)
    except FileNotFoundError:
        raise UsageError(f"There is no file {file}.", f"A plan is a TOML file: {find_page('building')}") from None


def _read_model_entry(project: Project, place: str, defaults: Mapping[str, str], given: object) -> PlannedModel:
    entry = require_table(place, given, EXAMPLE)
    name, price = entry.pop("name", None), entry.pop("price", None)
    if not isinstance(name, str):
        raise UsageError(f"{place}.name: it is missing, or no text.", f"Example: {EXAMPLE}")
    _require_known(place, entry, ("name", "price", *sorted(_OPTIONS)))
    return _planned_model(project, place, name, {**defaults, **options_in(place, entry)}, price)


def _planned_model(project: Project, place: str, name: str, options: dict[str, str], price: object) -> PlannedModel:
    if not NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise UsageError(f"{place}.name: {name[:_MAX_NAME]!r} is not a valid model name.", _NAME_HINT)
    written = named_model(project.path, name) or {}
    _require_known(f"[models.{name}]", written, sorted(_OPTIONS))
    chosen = {"model": name, **written, **options}
    try:
        server, sampling, limits = server_from(chosen), sampling_from(chosen), limits_from(chosen)
        require_sendable(server, sampling, Sampling.__struct_fields__)
        samples = parse_record(_SampleOptions, chosen).samples
        if samples > 1 and sampling.temperature == 0:
            raise ValueError(
                "samples: more than one sample requires a temperature above 0, else all samples are the same"
            )
    except ValueError as error:
        raise UsageError(f"{place}.{error}.", f"Example: {EXAMPLE}") from error
    return PlannedModel(
        name=name,
        server=server,
        sampling=sampling,
        samples=samples,
        limits=limits,
        price=parse_price(f"{place}.price", price)
        if price is not None
        else prices_of(project.path, [server]).get(server.model),
    )


def _require_different(place: str, models: Sequence[PlannedModel]) -> None:
    names: set[str] = set()
    seen: dict[object, str] = {}
    for one in models:
        if one.name in names:
            raise UsageError(f"{place}: two models are called {one.name!r}.", "Give each its own name.")
        names.add(one.name)
        what = (one.server.profile, one.server.model, one.sampling, repr(one.server.extras.config()))
        if what in seen:
            raise UsageError(
                f"{place}: {seen[what]!r} and {one.name!r} ask the same model in the same way.",
                "They would get the same replies. For more completions, raise samples of one of them.",
            )
        seen[what] = one.name


def _require_known(place: str, table: Mapping[str, object], known: Iterable[str]) -> None:
    for name in table:
        if name not in known:
            raise UsageError(f"{place}: there is no field {name!r}.", f"There are: {', '.join(known)}.")


def planned_lines(report: CompletionsPlanned) -> Iterator[str]:
    yield f"{counted(report.questions, 'question')} of {report.set or report.dataset}"
    for one in report.models:
        yield f"  {one.model}: {', '.join(_planned_words(one))}"
    total = report.total
    words = [
        f"{total.there:,} of {counted(total.completions, 'completion')} there",
        f"{counted(total.calls, 'call')} to make",
        f"{compact_count(total.prompt_tokens)} tokens in, {_tokens_text(total.completion_tokens)} out",
        _cost_text(total.cost, total.unpriced) if total.calls else "nothing to pay",
        _time_text(total.seconds),
    ]
    yield f"All {counted(total.models, 'model')}: {', '.join(words)}"
    if report.max_cost is not None:
        yield f"  At most {dollars(report.max_cost)} will be spent."
    yield Narration(
        "  Estimates: one token per 4 bytes of a request; replies as long as previous ones, else 1,000 tokens."
    )
    if report.missing:
        yield Narration(f"  Not complete: {', '.join(report.missing)}")


def _planned_words(one: ModelPlan) -> Iterator[str]:
    yield f"{one.there:,} of {one.questions * one.samples:,} there"
    if one.stored:
        yield f"{one.stored:,} answered before"
    for code, count in one.failed.items():
        yield f"{count:,} failed ({code})"
    yield f"{counted(one.calls, 'call')} to make"
    if one.calls:
        yield f"{compact_count(one.prompt_tokens)} tokens in, {_tokens_text(one.completion_tokens)} out"
        yield _cost_text(one.cost, 0)
        yield _time_text(one.seconds)


def _tokens_text(found: Expected) -> str:
    most = "without a limit" if found.most is None else f"at most {compact_count(round(found.most))}"
    return f"{compact_count(round(found.usual))} ({most})"


def _cost_text(found: Expected | None, unpriced: int) -> str:
    if found is None:
        return "cost unknown"
    unknown = f", without {counted(unpriced, 'model')} with unknown price" if unpriced else ""
    most = NONE if found.most is None else dollars(found.most)
    return f"{dollars(found.usual)} (at most {most}){unknown}"


def _time_text(seconds: float | None) -> str:
    if seconds is None:
        return "no rate configured"
    minutes = ceil(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min at the configured rate"
