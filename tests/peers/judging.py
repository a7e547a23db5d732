"""`judge` and rewards within other libraries, each in an environment with the core and no other package of ours.

python -m tests.peers.judging FOLDER [NAME ...]

Creates FOLDER/NAME, runs NAME's peer and writes tests/data/harnesses/NAME.json. An existing environment is reused
with the current core. UV_FIND_LINKS may name wheels that are on no index, such as a torch without CUDA.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.parts import CORE, ROOT, build_wheel, uv

TORCH = "torch==2.13.0"
PEERS = {
    "inspect_ai": ["inspect-ai==0.3.285"],
    "lm_eval": ["lm-eval[math]==0.4.13"],
    "lighteval": ["lighteval==0.13.0", TORCH, "xxhash<4"],
    "verifiers": ["verifiers==0.4.0"],
    "trl": ["trl==1.16.0", TORCH],
    "trl_tests": ["trl==1.16.0", TORCH],
    "verl": ["verl==0.9.1", TORCH],
}
"""Library, or library and task -> its packages; lighteval fails with later releases of xxhash."""
HARNESSES = ("inspect_ai", "lm_eval", "lighteval", "verifiers")
"""The libraries that `judge` serves; their peers get the cases."""
DATA = ROOT / "tests" / "data" / "harnesses"


def installed(folder: Path, name: str) -> Path:
    """Return the Python of a library's environment with the current core."""
    environment = folder.resolve() / name.removesuffix("_serialise_tests")
    python = environment / "bin" / "python"
    if not python.exists():
        require(uv("venv", str(environment)))
        require(uv("pip", "install", "--python", str(python), *PEERS[name]))
    with tempfile.TemporaryDirectory() as wheels:
        wheel = build_wheel(ROOT / "parts" / "core", Path(wheels))
        require(uv("pip", "install", "--python", str(python), "--reinstall-package", CORE, str(wheel)))
    return python


def require(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        sys.exit(done.stderr)


def results_of(python: Path, name: str) -> dict[str, Any]:
    """Return the library's results on the cases."""
    script = f"{name}_judge_peer.py" if name in HARNESSES else f"{name}_peer.py"
    input_file = DATA / ("evolved.jsonl" if name == "trl_tests" else "cases.json")
    command = [str(python), str(Path(__file__).with_name(script)), str(input_file)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd="/", stdout=subprocess.PIPE, text=True, timeout=600, check=True, env=os.environ | {"PATH": path}
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    folder, *names = sys.argv[1:]
    for name in names or PEERS:
        text = json.dumps(
            {"made_with": PEERS[name]} | results_of(installed(Path(folder), name), name), indent=1, ensure_ascii=False
        )
        (DATA / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
