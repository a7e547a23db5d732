"""One version in two parts: they share no file, what trains works with the core alone, and beside other packages."""

from __future__ import annotations

import re
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.background import PATIENCE_S
from tests.parts import APP, CORE, ROOT, built, require_index, uv
from tests.test_layers import WHAT_TRAINS

BESIDE = {
    "hydra-core==1.3.8": "4.9.3",
    "verl==0.9.1": "4.9.3",
    "lm-eval[math]==0.4.13": "4.11.0",
    "lighteval==0.13.0": "4.13.2",
    "inspect-ai==0.3.285": "4.13.2",
    "trl==1.16.0": "4.13.2",
    "verifiers==0.4.0": "4.13.2",
}
"""What people have installed already -> the antlr runtime that it leaves us."""
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
    """A folder with both parts."""
    folder = tmp_path_factory.mktemp("wheels")
    for part in ("core", "app"):
        built(ROOT / "parts" / part, folder)
    return folder


def files(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def field(wheel: Path, name: str) -> list[str]:
    with ZipFile(wheel) as archive:
        (path,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return re.findall(rf"^{name}: (.*)$", archive.read(path).decode(), re.MULTILINE)


def test_the_parts_share_no_file_and_are_the_whole(wheels: Path, tmp_path: Path) -> None:
    core, app = (files(next(wheels.glob(f"{name.replace('-', '_')}-0*"))) for name in (CORE, APP))
    assert core & app == set()
    assert core | app == files(built(ROOT, tmp_path))
    assert {name.split("/")[1] for name in core if name.count("/") > 1} == {
        *("config", "core", "llm", "runs", "training", "verifiers"),
    }


def test_the_parts_require_together_what_the_whole_requires(wheels: Path) -> None:
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core, app = (next(wheels.glob(f"{name.replace('-', '_')}-0*")) for name in (CORE, APP))
    needs = [line for part in (core, app) for line in field(part, "Requires-Dist") if "extra ==" not in line]
    assert f"{CORE}=={whole['version']}" in needs
    assert len(needs) == len(whole["dependencies"]) + 1
    assert field(core, "Version") == field(app, "Version") == [whole["version"]]
    points = ConfigParser()
    points.optionxform = str  # type: ignore[assignment,method-assign]
    with ZipFile(core) as archive:
        points.read_string(archive.read(next(one for one in archive.namelist() if "entry_points" in one)).decode())
    assert {group: dict(points[group]) for group in points.sections()} == whole["entry-points"]


@pytest.fixture(scope="module")
def slim(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the core alone."""
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


@pytest.mark.parametrize("code", WHAT_TRAINS.values(), ids=WHAT_TRAINS)
def test_what_trains_works_with_the_core_alone(slim: Path, tmp_path: Path, code: str) -> None:
    done = run(slim, code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_core_alone_decides_what_only_algebra_can_tell(slim: Path, tmp_path: Path) -> None:
    code = r"""
import workbench
verdict = workbench.judge(r"\sum_{n=1}^3 n", r"\boxed{\sum_{k=1}^3 k}")
print(verdict.outcome.word, verdict.reason)
"""
    assert run(slim, code, tmp_path).stdout.split() == ["correct", "symbolic"]


def test_the_core_brings_nothing_of_the_app(slim: Path, tmp_path: Path) -> None:
    found = run(slim, f"from importlib.util import find_spec\nprint(*filter(find_spec, {LEFT_OUT}))", tmp_path)
    assert (found.stdout.split(), found.stderr) == ([], "")


def test_a_verifier_that_can_t_be_used_says_what_to_install(slim: Path, tmp_path: Path) -> None:
    code = """
from workbench.verifiers.registry import Registry
for kind in Registry().available():
    print(kind.name, kind.broken, sep=": ")
"""
    done = run(slim, code, tmp_path)
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert told["rules"] == told["exact"] == told["choice-letter"] == "None"
    assert set(told.values()) != {"None"}
    assert all("Run: pip install " in broken for broken in told.values() if broken != "None")


@pytest.mark.parametrize("call", ["open_project('p.db')", "reward('rules', database='p.db')"])
def test_what_takes_the_app_says_so(slim: Path, tmp_path: Path, call: str) -> None:
    done = run(slim, f"import workbench\nworkbench.{call}", tmp_path)
    assert done.stderr.splitlines()[-1].endswith(
        "take the whole of workbench; only verifier-workbench-core is installed. Run: pip install verifier-workbench"
    )


@pytest.mark.parametrize(
    ("part", "peer"),
    [(part, peer) for part in (CORE, APP) for peer in BESIDE if (part, peer) != (APP, "lighteval==0.13.0")],
)
def test_there_is_a_solution_beside_what_people_have(wheels: Path, part: str, peer: str) -> None:
    require_index()
    compiled = ("--no-header", "--no-annotate", "--find-links", str(wheels))
    done = uv("pip", "compile", "-", *compiled, given=f"{part}\n{peer}\n")
    assert done.returncode == 0, done.stderr
    assert f"antlr4-python3-runtime=={BESIDE[peer]}" in done.stdout.split()
