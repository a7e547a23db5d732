"""Two distributions of one version share no file, and the core alone trains, also next to other packages."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.background import PATIENCE_S
from tests.parts import APP, CORE, PROJECTS, ROOT, build_wheel, require_index, uv
from tests.test_layers import WHAT_TRAINS
from workbench import __version__

PEERS = {
    "hydra-core==1.3.8": "4.9.3",
    "verl==0.9.1": "4.9.3",
    "lm-eval[math]==0.4.13": "4.11.0",
    "lighteval==0.13.0": "4.13.2",
    "inspect-ai==0.3.285": "4.13.2",
    "trl==1.16.0": "4.13.2",
    "verifiers==0.4.0": "4.13.2",
}
"""A package that users may have installed -> the antlr runtime compatible with it."""
LEFT_OUT = (
    "textual",
    "pandas",
    "scipy",
    "numpy",
    "httpx",
    "aiohttp",
    "click",
    "rich",
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with both distributions."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS.values():
        build_wheel(project, folder)
    return folder


def wheel_of(wheels: Path, name: str) -> Path:
    return next(wheels.glob(f"{name.replace('-', '_')}-0*"))


def files(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def field(wheel: Path, name: str) -> list[str]:
    with ZipFile(wheel) as archive:
        (path,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return re.findall(rf"^{name}: (.*)$", archive.read(path).decode(), re.MULTILINE)


def test_distributions_share_no_file_and_miss_none(wheels: Path) -> None:
    core, app = (files(wheel_of(wheels, name)) for name in (CORE, APP))
    assert core & app == set()
    tracked = subprocess.run(["git", "ls-files", "workbench"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.split()) <= core | app
    assert {name.split("/")[1] for name in core if name.count("/") > 1} == {
        *("config", "core", "llm", "runs", "training", "verifiers"),
    }


def test_app_requires_the_core_in_the_same_version(wheels: Path) -> None:
    core, app = (wheel_of(wheels, name) for name in (CORE, APP))
    assert field(core, "Version") == field(app, "Version") == [__version__]
    assert f"{CORE}=={__version__}" in field(app, "Requires-Dist")
    assert field(core, "License-File") == field(app, "License-File") == ["LICENSE"]


@pytest.mark.parametrize("name", [CORE, APP])
def test_long_description_is_complete_without_a_checkout(wheels: Path, name: str) -> None:
    description = long_description(wheel_of(wheels, name))
    assert description.startswith(f"# {name}\n")
    # A package index resolves no relative address and hosts none of our files.
    targets = re.findall(r"\]\(([^)]*)\)|^\[[^]]+\]: *(\S+)|(?:src|href)=[\"']?([^\"'> ]+)", description, re.MULTILINE)
    assert [one for found in targets for one in found if one and not one.startswith("https://")] == []
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert {*re.findall(r"page `([\w-]+)`", description)} <= pages


def long_description(wheel: Path) -> str:
    with ZipFile(wheel) as archive:
        (path,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return archive.read(path).decode().partition("\n\n")[2]


def test_documentation_is_installed(wheels: Path) -> None:
    pages = {f"workbench/docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= files(wheel_of(wheels, APP))


@pytest.fixture
def environment(wheels: Path, tmp_path: Path) -> Path:
    """Create an environment with both distributions, without their requirements."""
    folder = tmp_path / "environment"
    assert uv("venv", str(folder)).returncode == 0
    install(folder, "--find-links", str(wheels), "--no-index", "--no-deps", CORE, APP)
    return folder / "bin"


def install(environment: Path, *what: str) -> None:
    done = uv("pip", "install", "--python", str(environment / "bin" / "python"), *what)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["workbench", "verifier-workbench"])
def test_command_names_the_package_that_replaced_workbench(environment: Path, command: str) -> None:
    package = next((environment.parent / "lib").glob("python*/site-packages/workbench"))
    # uv's files are hard links into its cache
    (package / "__init__.py").unlink()
    (package / "__init__.py").write_text('"""Workbench Main Classes."""\n__version__ = "0.8.506"\n', encoding="utf-8")
    done = subprocess.run([environment / command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"The package `workbench` in {package} is not verifier-workbench")
    assert "pipx install verifier-workbench" in done.stderr


@pytest.mark.soak
def test_checkout_satisfies_the_requirement_of_a_plugin(tmp_path: Path) -> None:
    require_index()
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "plugin.py").write_text("def ends_with(item): ...\n", encoding="utf-8")
    (plugin / "pyproject.toml").write_text(
        f"""
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "a-plugin"
version = "1"
dependencies = ["{CORE}"]
[tool.hatch.build.targets.wheel]
only-include = ["plugin.py"]
""",
        encoding="utf-8",
    )
    folder = tmp_path / "environment"
    assert uv("venv", str(folder)).returncode == 0
    install(folder, "--editable", str(PROJECTS[CORE]), "--editable", str(ROOT), str(plugin))
    done = run(
        folder / "bin" / "python",
        """
from workbench.verifiers.registry import Registry
print(*(kind.name for kind in Registry().available() if kind.broken and "Both" in kind.broken))
import workbench
print(workbench.__file__)
""",
        tmp_path,
    )
    assert (done.stdout.split(), done.stderr) == ([str(ROOT / "workbench" / "__init__.py")], "")


@pytest.fixture(scope="module")
def slim(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the core alone."""
    require_index()
    folder = tmp_path_factory.mktemp("slim")
    assert uv("venv", str(folder)).returncode == 0
    python = folder / "bin" / "python"
    done = uv("pip", "install", "--python", str(python), "--find-links", str(wheels), CORE)
    assert done.returncode == 0, done.stderr
    return python


def run(python: Path, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-c", code], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("code", WHAT_TRAINS.values(), ids=WHAT_TRAINS)
def test_training_works_with_the_core_alone(slim: Path, tmp_path: Path, code: str) -> None:
    done = run(slim, code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_core_alone_decides_answers_that_need_algebra(slim: Path, tmp_path: Path) -> None:
    code = r"""
import workbench
verdict = workbench.judge(r"\sum_{n=1}^3 n", r"\boxed{\sum_{k=1}^3 k}")
print(verdict.outcome.word, verdict.reason)
"""
    assert run(slim, code, tmp_path).stdout.split() == ["correct", "symbolic"]


def test_core_installs_no_package_of_the_app(slim: Path, tmp_path: Path) -> None:
    found = run(slim, f"from importlib.util import find_spec\nprint(*filter(find_spec, {LEFT_OUT}))", tmp_path)
    assert (found.stdout.split(), found.stderr) == ([], "")


def test_unavailable_verifier_names_the_package_to_install(slim: Path, tmp_path: Path) -> None:
    code = """
from workbench.verifiers.registry import Registry
for kind in Registry().available():
    print(kind.name, kind.broken, sep=": ")
"""
    done = run(slim, code, tmp_path)
    output = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert output["rules"] == output["exact"] == output["choice-letter"] == "None"
    assert set(output.values()) != {"None"}
    assert all("Run: pip install " in broken for broken in output.values() if broken != "None")


@pytest.mark.parametrize("call", ["open_project('p.db')", "reward('rules', database='p.db')"])
def test_features_of_the_app_say_that_they_need_it(slim: Path, tmp_path: Path, call: str) -> None:
    done = run(slim, f"import workbench\nworkbench.{call}", tmp_path)
    assert done.stderr.splitlines()[-1].endswith(
        "take the whole of workbench; only verifier-workbench-core is installed. Run: pip install verifier-workbench"
    )


EACH_RUN = ((CORE, "verl==0.9.1"), (APP, "lm-eval[math]==0.4.13"))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("part", "peer"),
    [
        pytest.param(part, peer, marks=() if (part, peer) in EACH_RUN else pytest.mark.soak)
        for part in (CORE, APP)
        for peer in PEERS
        if (part, peer) != (APP, "lighteval==0.13.0")
    ],
)
def test_dependencies_resolve_next_to_common_packages(wheels: Path, part: str, peer: str) -> None:
    require_index()
    compiled = ("--no-header", "--no-annotate", "--find-links", str(wheels))
    done = uv("pip", "compile", "-", *compiled, stdin=f"{part}\n{peer}\n")
    assert done.returncode == 0, done.stderr
    assert f"antlr4-python3-runtime=={PEERS[peer]}" in done.stdout.split()
