"""Presets from the paper: complete, readable by their commands, and licences only for sources of the same name."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from tests.helpers import make_project
from workbench.benchmarks.presets import PRESETS, license_as_published, paper_sources, preset_text
from workbench.benchmarks.sampling.planning import plan_in
from workbench.config.verifiers import NamedVerifier, verifiers
from workbench.core.errors import UsageError
from workbench.core.verdict import VerifierInput
from workbench.verifiers.registry import Registry
from workbench.verifiers.reward.served import RewardModel

call = pytest.fixture(in_process)


def test_the_sources_are_those_of_table_7() -> None:
    found = paper_sources()
    assert len({one.source for one in found}) == len(found) == 41
    by_domain = Counter(one.source.partition("/")[0] for one in found)
    assert by_domain == {"general_reasoning": 4, "logic_reasoning": 21, "math_reasoning": 16}
    assert Counter(one.licence for one in found) == {
        "MIT": 17,
        "Apache 2.0": 6,
        "CC-BY-NC 4.0": 4,
        "CC-BY-4.0": 2,
        "CC-BY-SA-4.0": 1,
        None: 11,
    }
    assert sum(one.questions for one in found) == 122_889


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("source", "licence"),
    [
        ("general_reasoning/BBH-dyck_languages", "MIT"),
        ("general_reasoning/bbeh_boolean_expressions", "Apache 2.0"),
        ("math_reasoning/NuminaMath-CoT-cn_k12", "Apache 2.0"),
        ("math_reasoning/OBen", "MIT"),
        ("math_reasoning/GSM8K", "MIT"),
        ("Math_Odyssey", "MIT"),
        ("math_reasoning/MATH", "MIT"),
        ("math_reasoning/MATH-Vision", None),
        ("math_reasoning/MATH500", None),
        ("logic_reasoning/gsm8k", None),
        ("math_reasoning/BBH", None),
        ("math_reasoning/gsm8k*", None),
        ("logic_reasoning/logicqa", None),
    ],
)
def test_a_licence_applies_only_to_the_source_of_that_name(tmp_path: Path, source: str, licence: str | None) -> None:
    project = make_project(tmp_path, [{"question_id": "q", "source": source}])
    assert license_as_published(project).given == ({source: licence} if licence else {})


def test_existing_licences_of_a_source_are_kept(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n')
    for number, (source, licence) in enumerate([("math_reasoning/gsm8k", "GPL-3.0"), ("math_reasoning/SVAMP", "/")]):
        said = call("import", "p.db", "a.jsonl", "--source", source, "--licence", licence, "--dataset", f"d{number}")
        assert said[0] == 0
    code, out, _ = call("curate", "p.db", "licence", "--as-published")
    assert code == 0
    assert "math_reasoning/SVAMP: MIT\n" in out
    assert "math_reasoning/gsm8k: GPL-3.0 stays" in out
    assert call("curate", "p.db", "licence", "--as-published", "a", "MIT")[0] == 2
    assert call("curate", "p.db", "licence", "math_reasoning/gsm8k")[0] == 2


def test_the_plan_has_the_22_models(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(preset_text("verifybench-models"))
    plan = plan_in(make_project(tmp_path, [{"question_id": "q"}]), path)
    assert len({model.name for model in plan.models}) == 22
    assert {model.samples for model in plan.models} == {1}


def test_the_five_judges_are_read_and_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "workbench.toml").write_text(preset_text("verifybench-judges"))
    found = verifiers(tmp_path / "p.db")
    assert len(found) == 5
    for name, one in found.items():
        assert isinstance(one, NamedVerifier), one
        assert Registry().load(one.kind, one.options)
        assert f"--judge {name}" in preset_text("verifybench-judges")


def test_the_reward_models_of_code_are_shown_turns_of_user_and_assistant(tmp_path: Path) -> None:
    (tmp_path / "workbench.toml").write_text(preset_text("code-reward-models"))
    found = verifiers(tmp_path / "p.db")
    assert set(found) == {"AceCodeRM-7B", "AceCodeRM-32B", "Nemotron-70B-Reward"}
    assert "neither releases nor how they were served" in preset_text("code-reward-models")
    item = VerifierInput(item=1, question="Add one. [sep]", reference="r", completion="def f(x): ...")
    for one in found.values():
        assert isinstance(one, NamedVerifier), one
        made = Registry().load(one.kind, one.options)
        assert isinstance(made, RewardModel)
        asked = made.request(item)
        assert asked.task == "pooling"
        assert asked.query is not None
        assert asked.query.endswith(f"\n\n{item.question}")
        (turn,) = asked.texts
        assert turn.endswith(f"\n\n{item.completion}")
        assert len(asked.query) > len(item.question) + 20
        assert len(turn) > len(item.completion) + 10


def test_the_ablations_of_mcts_are_read_in_settings_in_which_they_can_show(tmp_path: Path) -> None:
    (tmp_path / "workbench.toml").write_text(preset_text("mcts-ablations"))
    found = verifiers(tmp_path / "p.db")
    searches = [one for one in found.values() if isinstance(one, NamedVerifier) and one.options["strategy"] == "mcts"]
    assert (len(found), len(searches)) == (6, 4)
    for one in found.values():
        assert isinstance(one, NamedVerifier), one
        assert Registry().load(one.kind, one.options)
    assert {one.options["traj_weight"] for one in searches} == {"node_q"}
    assert {one.options.get("reward_tests") for one in searches if "reward" not in one.options} == {"per_rollout"}


def test_they_are_printed(call: Call) -> None:
    assert [line.partition(":")[0] for line in call("preset")[1].splitlines()] == list(PRESETS)
    code, out, _ = call("preset", "verifybench-models")
    assert code == 0
    assert len(tomllib.loads(out)["models"]) == 22
    code, _, said = call("preset", "../verifybench-models")
    assert code == 2
    assert "no preset" in said
    with pytest.raises(UsageError):
        preset_text("*")
