"""Plan files of completions: their contents, and every kind of error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drawn_pool import make_drawn_pool
from workbench.benchmarks.sampling.asking import CompletionPlan, QuestionPrompt
from workbench.benchmarks.sampling.planning import only, plan_in, plan_of
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.llm.records import PromptMessage, Sampling
from workbench.llm.server import Limits, Price

MODEL = '[[models]]\nname = "m"\nbase_url = "http://localhost:8000/v1"\n'
WHOLE = r"""
set = "pool@2"
max_cost = 12.5

[prompt]
system = "You are careful."
template = "Q: {question}\nUse \\boxed{} and {braces}."

[defaults]
base_url = "http://localhost:8000/v1"
api_key_env = "SOME_KEY"
temperature = 0.7
max_tokens = 512
samples = 2

[[models]]
name = "small"

[[models]]
name = "large"
model = "org/large-72b"
base_url = "http://a:1/v1"
server = "vllm"
temperature = 0
samples = 1
seed = 7
concurrency = 8
rpm = 60
tpm = 1e5
max_calls = 9
max_tokens_total = 1000
max_cost = 1.5
timeout = 30
price = { input = 0.5, output = 1, date = 2026-11-01 }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_drawn_pool(tmp_path_factory.mktemp("pool"), ["What?"])
    yield made
    made.close()


def read(project: Project, folder: Path, text: str) -> CompletionPlan:
    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    return plan_in(project, file)


def test_a_whole_plan(project: Project, tmp_path: Path) -> None:
    plan = read(project, tmp_path, WHOLE)
    assert (plan.set, plan.dataset, plan.max_cost, plan.own) == (SetName("pool", 2), None, 12.5, False)
    small, large = plan.models
    assert (small.name, small.server.model, small.samples, small.price) == ("small", "small", 2, None)
    assert small.sampling == Sampling(temperature=0.7, max_tokens=512)
    assert small.server.key_variable == "SOME_KEY"
    assert large.server.base_url == "http://a:1/v1"
    assert (large.server.profile, large.server.model, large.server.timeout_s) == ("vllm", "org/large-72b", 30.0)
    assert large.sampling == Sampling(temperature=0.0, max_tokens=512, seed=7)
    limits = Limits(concurrency=8, rpm=60, tpm=1e5, max_calls=9, max_tokens_total=1000, max_cost=1.5)
    assert (large.samples, large.limits) == (1, limits)
    assert large.price == Price(input=0.5, output=1.0, date="2026-11-01")


def test_a_prompt_is_text_with_one_placeholder(project: Project, tmp_path: Path) -> None:
    prompt = read(project, tmp_path, WHOLE).prompt
    asked = "Is {question} \\boxed{1}?"
    assert prompt.messages(asked) == (
        PromptMessage("system", "You are careful."),
        PromptMessage("user", "Q: Is {question} \\boxed{1}?\nUse \\boxed{} and {braces}."),
    )
    assert QuestionPrompt().messages(asked) == (PromptMessage("user", asked),)
    assert QuestionPrompt(system="a", template="b{question}").sha256 != QuestionPrompt(template="ab{question}").sha256


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models = 1", "plan.toml:models: Expected a list, got a whole number"),
        ("models = []", "plan.toml:models: Expected a list of length >= 1"),
        ("models = [1]", r"plan.toml:models\[1\] must be a table"),
        ("", "plan.toml:models is missing"),
        ("= 1", "plan.toml: .*line 1"),
        (f"sets = 1\n{MODEL}", "plan.toml:sets is unknown"),
        (f"set = 1\n{MODEL}", "plan.toml:set: Expected text"),
        (f'set = "a b"\n{MODEL}', "'a b' is not a valid set name"),
        (f"dataset = 1\n{MODEL}", "plan.toml:dataset: Expected text"),
        (f"max_cost = -1\n{MODEL}", "plan.toml:max_cost: Expected a number"),
        (f"max_cost = nan\n{MODEL}", "plan.toml:max_cost: Expected a number"),
        (f"max_cost = true\n{MODEL}", "plan.toml:max_cost: Expected a number"),
        (f"prompt = 1\n{MODEL}", "plan.toml:prompt: Expected a table"),
        (f'[prompt]\nuser = "x"\n{MODEL}', "plan.toml:prompt.user is unknown"),
        (f'[prompt]\ntemplate = "x"\n{MODEL}', "prompt.template: {question} occurs 0 times"),
        (f'[prompt]\ntemplate = "{{question}} {{question}}"\n{MODEL}', "prompt.template: {question} occurs 2 times"),
        (f"[prompt]\nsystem = 1\n{MODEL}", "prompt.system: Expected text"),
        (f"defaults = 1\n{MODEL}", "plan.toml:defaults: Expected a table"),
        (f'[defaults]\nmodel = "x"\n{MODEL}', "plan.toml:defaults: there is no field 'model'"),
        (f"[defaults]\ntemprature = 1\n{MODEL}", "plan.toml:defaults: there is no field 'temprature'"),
        ('[[models]]\nbase_url = "http://a/v1"', r"models\[1\].name: it is missing"),
        ('[[models]]\nname = "a b"\nbase_url = "http://a/v1"', r"models\[1\].name: 'a b' is not a valid model name"),
        (f'[[models]]\nname = "{"m" * 81}"\nbase_url = "http://a/v1"', "is not a valid model name"),
        ('[[models]]\nname = "m"', r"models\[1\].base_url: it is missing"),
        (f"{MODEL}{MODEL}", "plan.toml:models: two models are called 'm'"),
        (f'{MODEL}{MODEL.replace(chr(34) + "m", chr(34) + "n")}model = "m"', "'m' and 'n' ask the same model"),
        (f'{MODEL}key = "sk-secret"', r"models\[1\]: there is no field 'key'"),
        (f'{MODEL}api_key_env = "sk-secret"', r"models\[1\].api_key_env is not the name of an environment variable"),
        (f'{MODEL}temperature = "hot"', r"models\[1\].temperature: 'hot' is not a number"),
        (f"{MODEL}temperature = -1", r"models\[1\].temperature: it is a number at least 0"),
        (f"{MODEL}top_p = 2", r"models\[1\].top_p: "),
        (f"{MODEL}max_tokens = 0", r"models\[1\].max_tokens: "),
        (f"{MODEL}samples = 0", r"models\[1\].samples: "),
        (f"{MODEL}samples = 1001", r"models\[1\].samples: "),
        (
            f"{MODEL}samples = 2\ntemperature = 0",
            r"models\[1\].samples: more than one sample requires a temperature above 0",
        ),
        (f"{MODEL}concurrency = 0", r"models\[1\].concurrency: "),
        (f"{MODEL}rpm = 0", r"models\[1\].rpm: "),
        (f'{MODEL}server = "skynet"', r"models\[1\].server: it is "),
        (f"{MODEL}price = 1", r"models\[1\].price must be a table"),
        (f"{MODEL}price = {{ input = 1, output = 1 }}", r"models\[1\].price.date is missing"),
        (
            f'{MODEL}price = {{ input = "x", output = 1, date = "2026-11-01" }}',
            r"models\[1\].price.input: Expected a number, got text",
        ),
        (f"{MODEL}timeout = [1]", r"models\[1\].timeout must be text"),
    ],
)
def test_errors_are_named_with_their_position(project: Project, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as wrong:
        read(project, tmp_path, text)
    assert "sk-secret" not in str(wrong.value)


def test_an_invalid_file_is_rejected(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        plan_in(project, tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"bad\.toml"):
        plan_in(project, tmp_path / "bad.toml")


def test_the_settings_file_helps_with_servers_and_prices(tmp_path: Path) -> None:
    made = make_drawn_pool(tmp_path, ["What?"])
    (tmp_path / "workbench.toml").write_text(
        '[models.m]\nbase_url = "http://listed:1/v1"\nmodel = "org/m"\ntemperature = 0.2\n'
        '[prices."org/m"]\ninput = 1\noutput = 2\ndate = "2026-11-01"\n',
        encoding="utf-8",
    )
    (one,) = read(made, tmp_path, '[[models]]\nname = "m"\ntemperature = 0.9').models
    (by_hand,) = plan_of(made, ["m"], {"max_tokens": "5"}, 3).models
    made.close()
    assert (one.server.base_url, one.server.model) == ("http://listed:1/v1", "org/m")
    assert one.sampling.temperature == 0.9
    assert one.price == Price(input=1.0, output=2.0, date="2026-11-01")
    assert (by_hand.samples, by_hand.sampling) == (3, Sampling(temperature=0.2, max_tokens=5))


def test_models_by_hand(project: Project) -> None:
    options = {"base_url": "http://localhost:1/v1"}
    assert plan_of(project, ["m"], options, 1).own
    for names, given, message in (
        ([], {}, "No model is named"),
        (["m"], {}, "base_url: it is missing"),
        (["m"], options | {"samples": "2"}, "no field 'samples'"),
        (["m"], options | {"key": "x"}, "no field 'key'"),
        (["m", "m"], options, "two models are called"),
    ):
        with pytest.raises(UsageError, match=message):
            plan_of(project, names, given, 1)


def test_some_models_of_a_plan(project: Project, tmp_path: Path) -> None:
    plan = read(project, tmp_path, WHOLE)
    assert [one.name for one in only(plan, ["large"]).models] == ["large"]
    assert only(plan, []) == plan
    with pytest.raises(UsageError, match="no model 'huge'"):
        only(plan, ["huge"])
