"""The verifier ``llm-judge``: a model on a server decides whether a completion is correct."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Struct, structs

from workbench.config.verifiers import EXAMPLES, EXAMPLES_DRAWN, PROMPTS, PUBLISHED, TEMPLATE_VERSION
from workbench.core.options import Options, option
from workbench.core.verdict import VerifierInput
from workbench.llm.records import Ask, CallFailed, Chat, Reply, Request, Sampling
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.base import Judged, ServedVerifier
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.examples import ExamplePlan, drawn_from, format_examples, plan_from
from workbench.verifiers.judges.grading import WORDS, by_score
from workbench.verifiers.judges.panel import PanelOptions, on_panel
from workbench.verifiers.judges.parsers import PARSERS, Parser, parser
from workbench.verifiers.judges.parsers.rubric import rubric
from workbench.verifiers.judges.published import ANSWER, Standing, from_folder, release_note
from workbench.verifiers.judges.roles import prompts_in, template_in, with_prompts
from workbench.verifiers.judges.strategies import RUBRIC, STRATEGIES, TEMPLATE, Kind
from workbench.verifiers.judges.template import WORD_NAMES, Template, builtin, builtin_text
from workbench.verifiers.judges.voting import VOTES, vote
from workbench.verifiers.option_record import choices, meanings, parse_record, quoted
from workbench.verifiers.serving import (
    SAMPLING_OPTIONS,
    InsertionOptions,
    OneServer,
    SamplingOptions,
    ServerOptions,
    require_sendable,
    required,
    sampling_from,
)

JUDGE_VERSION = "7"
"""Incremented with every change of the code that may change a request or a verdict; templates and parsers have
versions.
"""
TOP_LOGPROBS: Final = "top_logprobs"
VOTE: Final = "vote"


class JudgeOptions(Options, frozen=True, kw_only=True):
    """A judge's options, without those of its server and of single strategies."""

    strategy: Annotated[
        str | None,
        option(
            f"judging strategy: {', '.join(STRATEGIES)} (default: verifybench, or your template's)",
            choices=tuple(STRATEGIES),
        ),
    ] = None
    variant: Annotated[
        str | None,
        option(
            "variant of the strategy's prompt; "
            + "; ".join((f"{name}: {', '.join(kind.variants)}" for name, kind in STRATEGIES.items() if kind.variants))
        ),
    ] = None
    template: Annotated[
        str | None, option("your own prompt: a template or rubric (TOML file), or a prompt of a paper (.txt file)")
    ] = None
    prompts: Annotated[
        str | None,
        option(
            "folder with your own prompts, one file per role, for "
            + ", ".join((name for name, kind in STRATEGIES.items() if kind.roles))
        ),
    ] = None
    published: Annotated[
        str | None,
        option("folder of VerifyBench's repository: its prompts are used unchanged, without fence, with its parser"),
    ] = None
    template_version: Annotated[
        int | None, option("version of the strategy's built-in template (default: the newest)", ge=1)
    ] = None
    reference: Annotated[bool, option("whether the judge sees the reference answer")] = True
    parser: Annotated[
        str | None,
        option(
            f"parser that reads the verdict from a reply: {', '.join(one.id for one in PARSERS)}, "
            "or your own two words, such as words:VALID/INVALID (default: the template's)"
        ),
    ] = None
    top_logprobs: Annotated[
        int | None,
        option("number of most likely tokens to request; the score is then the probability of Yes", ge=1, le=20),
    ] = None
    threshold: Annotated[
        float | None, option("minimum probability or rubric score of a correct completion (rubric: 0.5)", ge=0, le=1)
    ] = None
    call_max_tokens: Annotated[
        str, option("maximum tokens of replies by call, such as summary:64 (codejudge's second call, 10 by default)")
    ] = ""
    few_shot: ExamplePlan = ExamplePlan()
    on_panel: PanelOptions = PanelOptions()
    samples: Annotated[int, option("number of replies per item; if there are several, they vote", ge=1, le=1000)] = 1
    vote: Annotated[
        Literal["majority", "unanimous"],
        option("rule for several samples: majority, or unanimous (correct only if all say so)"),
    ] = "majority"
    insertion: InsertionOptions = InsertionOptions()


_RECORDS: Final = (ServerOptions, JudgeOptions, SamplingOptions, Limits)
_COMMON: Final = meanings(*_RECORDS)


def _strategy_meanings() -> dict[str, str]:
    """Return the options of single strategies; each description begins with the strategies' names."""
    users: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, str] = {}
    for strategy, kind in STRATEGIES.items():
        for name, text in kind.options.items() if kind.records else ():
            users[name].append(strategy)
            texts[name] = text
    return {name: f"{', '.join(sorted(users[name]))}: {text}" for name, text in texts.items() if name not in _COMMON}


_OURS = frozenset({"template", TEMPLATE_VERSION, "variant", EXAMPLES})
"""Options that change the words of a request."""
_VOTE_TEMPERATURE = 0.7


class LlmJudge(OneServer):
    """A judge: strategy, template, parser and server, configured by the options."""

    description: ClassVar[str] = "LLM judge: VerifyBench, ICE-Score, CodeJudge … or your own template"
    options: ClassVar[dict[str, str]] = _COMMON | _strategy_meanings()
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(
        *_RECORDS, *(record for kind in STRATEGIES.values() for record in kind.records)
    )
    filled_in: ClassVar[frozenset[str]] = frozenset({EXAMPLES_DRAWN})
    name: str = "llm-judge"
    version: str = JUDGE_VERSION

    def __init__(self, **options: str) -> None:
        super().__init__(options)
        own = parse_record(JudgeOptions, options)
        self._samples, self._vote = own.samples, own.vote
        if VOTE in options and self._samples == 1:
            raise ValueError(f"{VOTE}: a vote needs several replies; ask for them with samples=")
        self._with_reference = own.reference
        self._standing: Standing | None = None
        self._prompts: dict[str, str] = {}
        self._strategy_name = own.strategy or (TEMPLATE if own.template is not None else "verifybench")
        kind = STRATEGIES[self._strategy_name]
        self._template = self._template_for_samples(options, kind)
        as_it_is = any(call.is_plain for call in self._template.calls)
        if as_it_is:
            _require_unchanged_request(options, PUBLISHED if self._standing else "the prompt as it is")
        self._fence = not as_it_is if own.insertion.fence is None else own.insertion.fence
        self._neutralise = not as_it_is if own.insertion.neutralise is None else own.insertion.neutralise
        if self._template.criteria and self._strategy_name == TEMPLATE:
            self._strategy_name = RUBRIC
        if (self._strategy_name == RUBRIC) != bool(self._template.criteria):
            raise ValueError(
                "template: a template with [[criteria]] needs strategy=rubric, and that strategy needs such a template"
            )
        hidden = not self._with_reference and self._standing is None
        if hidden and any("reference" in call.required for call in self._template.calls):
            raise ValueError(
                f"reference: the template {self._template.id!r} needs the reference; to make it optional, put it "
                "between {?reference} and {/reference}"
            )
        self._parser = _parser(options, self._template)
        self._plan, self._drawn_examples = plan_from(options), drawn_from(options)
        if self._plan is not None and kind.file is not None:
            raise ValueError(f"{EXAMPLES}: {self._strategy_name} takes none")
        self._threshold = own.threshold
        if VOTE in options and self._threshold is not None:
            raise ValueError(f"threshold: it applies to the mean score; with {VOTE}= the samples vote instead")
        self._template = self._template_with_logprobs(own.top_logprobs, kind)
        strategy = kind.make(self._template, self._parser, _strategy_options(options, self._strategy_name, kind))
        if kind.file is not None and "panel" in options:
            raise ValueError(f"panel: the strategy {self._strategy_name} has no panel")
        self._strategy = on_panel(strategy, options, graded=self.is_graded)
        # A search makes random draws by its own seed.
        asked = (options.keys() & {*SAMPLING_OPTIONS, TOP_LOGPROBS}) - kind.options.keys()
        for server in self.servers().values():
            for call in self._template.calls:
                require_sendable(server, call.sampling, asked)

    def config(self) -> dict[str, object]:
        """Return everything that may change a verdict; limits on calls don't."""
        return {
            "strategy": self._strategy_name,
            "template": f"{self._template.id}@{self._template.version}",
            "template_sha256": self._template.sha256,
            "parser": self._parser.id,
            **self.server_config(),
            "sampling": {call.name: msgspec.to_builtins(call.sampling) for call in self._template.calls},
            "samples": self._samples,
            **({} if self._vote == "majority" else {VOTE: self._vote}),
            "reference": self._with_reference,
            "fence": self._fence,
            "neutralise": self._neutralise,
            **({} if self._standing is None else {PUBLISHED: self._standing}),
            **({PROMPTS: self._prompts} if self._prompts else {}),
            **({} if self._threshold is None else {"threshold": self._threshold}),
            **({} if self._drawn_examples is None else self._drawn_examples.config()),
            **self._strategy.config(),
        }

    def servers(self) -> dict[str, ModelServer]:
        return self._strategy.servers(self._server)

    def calls_per_item(self) -> float:
        return self._strategy.calls_per_item() * self._samples

    @property
    def rounds(self) -> int | None:
        """Return the number of an item's calls that are made one after the other; None for a search, where it
        varies."""
        return len(self._template.calls) if STRATEGIES[self._strategy_name].file is None else None

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        texts = {"question": item.question, "completion": item.completion}
        if self._with_reference:
            texts["reference"] = texts[ANSWER] = item.reference
        texts |= {name: said for name in ("example", *WORD_NAMES) if (said := getattr(item, name))}
        fences = secret if self._fence else None
        case = JudgeCase(
            item=item.item,
            texts=texts,
            secret=fences,
            neutralise=self._neutralise,
            examples=self._format_examples(item, fences),
            reward=item.reward,
        )
        if self._samples > 1:
            judged = await vote(self._strategy, case, ask, self._samples, VOTES[self._vote])
        else:
            judged = await self._strategy.judge(case, ask)
        if self._threshold is None:
            return judged
        return structs.replace(judged, verdict=by_score(judged.verdict, self._threshold))

    def _format_examples(self, item: VerifierInput, secret: bytes | None) -> str:
        if self._plan is None:
            return ""
        if self._drawn_examples is None:
            raise ValueError(f"{EXAMPLES}: the examples are drawn when a run starts")
        about = self._drawn_examples.about(item)
        return format_examples(about, secret, reference=self._with_reference, neutralise=self._neutralise)

    @property
    def is_graded(self) -> bool:
        """Return whether its verdicts have a graded score: a probability, or a rubric's share of met criteria."""
        return bool(self._template.criteria) or self._template.calls[-1].sampling.top_logprobs is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes for the user: for a published prompt, whether it is unchanged since its release."""
        return () if self._standing is None else (release_note(self._standing),)

    def _template_with_logprobs(self, count: int | None, kind: Kind) -> Template:
        if count is None:
            if self._threshold is not None and not self._template.criteria:
                raise ValueError(f"threshold: only a rubric's score, or {TOP_LOGPROBS}, has a threshold")
            return self._template
        if kind.file is not None or self._parser.name not in WORDS:
            raise ValueError(
                f"{TOP_LOGPROBS}: a verdict of {self._strategy_name} ({self._parser.id}) is not a single word"
            )
        *before, last = self._template.calls
        last = structs.replace(last, sampling=structs.replace(last.sampling, top_logprobs=count))
        return structs.replace(self._template, calls=(*before, last))

    def _template_for_samples(self, options: Mapping[str, str], kind: Kind) -> Template:
        chosen = sampling_from(options)
        template = self._base_template(options, kind, chosen)
        is_drawn = "temperature" in chosen.left_out or any(call.sampling.temperature for call in template.calls)
        if self._samples == 1 or is_drawn:
            return _set_reply_lengths(template, options)
        if chosen.temperature == 0:
            raise ValueError(
                "temperature: more than one sample requires a temperature above 0, else all samples are the same"
            )
        chosen = structs.replace(chosen, temperature=_VOTE_TEMPERATURE)
        return _set_reply_lengths(self._base_template(options, kind, chosen), options)

    def _base_template(self, options: Mapping[str, str], kind: Kind, chosen: Sampling) -> Template:
        if PUBLISHED not in options:
            template = _template(options, self._strategy_name, kind, chosen)
            return template if PROMPTS not in options else self._with_prompts(template, options, kind)
        if self._strategy_name != "verifybench":
            raise ValueError(f"{PUBLISHED}: the published prompts are VerifyBench's; they need strategy=verifybench")
        for name in sorted((_OURS - {EXAMPLES}) & options.keys()):
            raise ValueError(f"{name}: it would change the request that {PUBLISHED} asks for")
        folder = Path(required(options, PUBLISHED))
        template, self._standing = from_folder(folder, chosen, reference=self._with_reference)
        return template

    def _with_prompts(self, template: Template, options: Mapping[str, str], kind: Kind) -> Template:
        if not kind.roles:
            raise ValueError(f"{PROMPTS}: {self._strategy_name} has no roles; give your own prompt with template=")
        found = prompts_in(Path(required(options, PROMPTS)), template, kind.roles, hides_code=kind.hides_code)
        self._prompts = found.digests
        return with_prompts(template, found)


def _require_unchanged_request(options: Mapping[str, str], what: str) -> None:
    own = parse_record(InsertionOptions, options)
    added = [name for name in own.__struct_fields__ if getattr(own, name)]
    for name in (*added, *sorted({EXAMPLES} & options.keys())):
        raise ValueError(f"{name}: it would change the request that {what} asks for")


def _parser(options: Mapping[str, str], template: Template) -> Parser:
    if not template.criteria:
        return parser(options.get("parser", template.parser))
    if "parser" in options:
        raise ValueError("parser: a rubric uses its own parser")
    return rubric(template.criteria)


def _set_reply_lengths(template: Template, options: Mapping[str, str]) -> Template:
    """Return the template with the maximum reply lengths that options set for single calls.

    Raises:
        ValueError: The template has no such call, or the value is not a length.
    """
    calls = {call.name: call for call in template.calls}
    for part in options.get("call_max_tokens", "").split(",") if "call_max_tokens" in options else ():
        name, _, length = (word.strip() for word in part.partition(":"))
        if name not in calls:
            raise ValueError(f"call_max_tokens: write CALL:TOKENS; the calls are {', '.join(calls)}")
        try:
            tokens = parse_record(SamplingOptions, {"max_tokens": length}).max_tokens
        except ValueError as error:
            raise ValueError(f"call_{error}") from None
        sampling = structs.replace(calls[name].sampling, max_tokens=tokens)
        calls[name] = structs.replace(calls[name], sampling=sampling)
    return structs.replace(template, calls=tuple(calls.values()))


def _template(options: Mapping[str, str], strategy: str, kind: Kind, chosen: Sampling) -> Template:
    variant = _variant(options, strategy, kind)
    if "template" in options:
        if not kind.own_template or variant:
            raise ValueError(f"template: the strategy {strategy} uses its own template")
        ours = None if strategy in (TEMPLATE, RUBRIC) else builtin(_builtin_name(strategy, variant, kind), chosen)
        return template_in(Path(required(options, "template")), chosen, ours)
    version = parse_record(JudgeOptions, options).template_version
    return builtin(_builtin_name(strategy, variant, kind), chosen, kind.names, version)


def _variant(options: Mapping[str, str], strategy: str, kind: Kind) -> str:
    if "variant" in options and not kind.variants:
        raise ValueError(f"variant: the strategy {strategy} has no variants")
    if "variant" in options and options["variant"] not in kind.variants:
        raise ValueError(f"variant: it is {' or '.join(kind.variants)}, not {quoted(options['variant'])}")
    return options.get("variant", "")


def _builtin_name(strategy: str, variant: str, kind: Kind) -> str:
    if strategy in (TEMPLATE, RUBRIC):
        raise ValueError("template: it is missing")
    return kind.file or (f"{strategy}-{variant}" if variant else strategy)


def template_text(options: Mapping[str, str], *, whole_family: bool = False) -> str:
    """Return the text of the built-in template that a judge with these options uses.

    Args:
        whole_family: Whether to accept a template that several strategies share, whose roles have separate files.

    Raises:
        ValueError: An option is wrong, or no custom template may replace it.
    """
    own = parse_record(JudgeOptions, options)
    strategy = own.strategy or "verifybench"
    kind = STRATEGIES[strategy]
    if not kind.own_template and not whole_family:
        raise ValueError(f"template: the strategy {strategy} uses its own template")
    name = _builtin_name(strategy, _variant(options, strategy, kind), kind)
    return builtin_text(name, own.template_version)


def _strategy_options(options: Mapping[str, str], strategy: str, kind: Kind) -> dict[str, str]:
    """Return the options that belong to the strategy.

    Raises:
        ValueError: An option belongs to another strategy.
    """
    others = {name for one in STRATEGIES.values() for name in one.options} - kind.options.keys() - _COMMON.keys()
    for name in sorted(others & options.keys()):
        raise ValueError(f"{name}: the strategy {strategy} has no such option")
    return {name: value for name, value in options.items() if name in kind.options}


# -- A judge's requests about an item, without sending them.


_ENOUGH = 2000


class PlannedRequest(Struct, frozen=True):
    """One request.

    Attributes:
        step: The call's purpose.
        role: The role of the verifier's server.
        exact: Whether the request is complete; if False, a placeholder stands for text that a model has yet to write.
    """

    step: str
    role: str
    request: Request
    exact: bool


class _PreviewStopped(Exception):
    pass


def prompt_notes(verifier: ServedVerifier) -> tuple[str, ...]:
    return verifier.notes if isinstance(verifier, LlmJudge) else ()


async def preview(verifier: ServedVerifier, item: VerifierInput, secret: bytes) -> list[PlannedRequest]:
    """Build the requests about an item, one for each step: the first exactly, later ones with placeholders for replies.

    Args:
        verifier: A judge or another verifier that calls servers.
        item: The item.
        secret: The database's secret, from which delimiters are derived.
    """
    planned: dict[tuple[str, str], PlannedRequest] = {}
    stand_ins: set[str] = set()
    calls = 0

    async def noted(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        nonlocal calls
        calls += 1
        if calls > _ENOUGH:
            raise _PreviewStopped
        exact = not any(text in content for content in _request_texts(request) for text in stand_ins)
        planned.setdefault((step, role), PlannedRequest(step, role, request, exact))
        stand_in = f"⟨what the model replies to “{step}”⟩"
        stand_ins.add(stand_in)
        return Reply(text=stand_in, finish_reason="stop")

    # A verifier that can't parse a placeholder makes no further calls.
    with suppress(_PreviewStopped, CallFailed):
        await verifier.judge(item, noted, secret)
    return list(planned.values())


def _request_texts(request: Request) -> tuple[str, ...]:
    if isinstance(request, Chat):
        return tuple(message.content for message in request.messages)
    return request.texts
