"""The pipeline from a pool of questions to two sets, stage by stage; each stage may be killed and restarted."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psutil

from tests.background import PATIENCE_S
from tests.documents import ROOT
from workbench.runs.lease import look

SAMPLE = ROOT / "sample_data"
JUDGES = tuple(f"judge-{number}" for number in range(1, 6))


def stages(url: str) -> dict[str, list[str]]:
    """Return the arguments of ``workbench``, stage by stage.

    Args:
        url: The address of the sample's models.
    """
    of_draw = ["--where", "set=draw"]
    votes = [word for judge in JUDGES for word in ("--judge", judge)]
    hard = ["build", "p.db", "hard", *votes, "--annotate", "20", "--final", "10", *of_draw]
    judging = {
        f"verify {judge}": [
            *("verify", "p.db", "llm-judge", "--name", judge, *of_draw),
            *("-o", f"model=sample-{judge}", "-o", f"base_url={url}"),
        ]
        for judge in JUDGES
    }
    return {
        "import": ["import", "p.db", str(SAMPLE / "questions.jsonl"), "--dataset", "pool"],
        "duplicates": ["curate", "p.db", "duplicates"],
        "types": ["curate", "p.db", "types", "--model", "sample-typer", "-o", f"base_url={url}"],
        "exclude": ["curate", "p.db", "exclude", "--candidates", "--accept"],
        "draw": ["curate", "p.db", "draw", "--per-type", "8", "--name", "draw"],
        "complete": ["complete", "p.db", "plan.toml", "--trust"],
        **judging,
        "picks": ["build", "p.db", "picks", "--judge", JUDGES[0], *of_draw],
        "queue": hard,
        "labels": ["labels", "p.db", "import", str(SAMPLE / "pool_labels.jsonl")],
        "balanced": ["build", "p.db", "balanced", "--where", "set=picks", "--per-type", "3"],
        "hard": hard,
        "rules": ["verify", "p.db", "rules"],
        "publish": ["publish", "p.db", "balanced", "hard", "published", "--licence", "apache-2.0"],
        "export": [
            *("export", "p.db", "sft.jsonl", "--format", "sft"),
            *("--where", "verdict=correct", "--verifier", "rules"),
        ],
    }


def prepare(folder: Path, url: str) -> None:
    """Write the plan of completions with the real address of the models."""
    text = (SAMPLE / "pool_plan.toml").read_text(encoding="utf-8")
    (folder / "plan.toml").write_text(text.replace("http://127.0.0.1:8900/v1", url), encoding="utf-8")


def run(folder: Path, arguments: list[str]) -> float:
    """Run a stage to its end and return the seconds it took; a stage whose file exists may report that."""
    began = time.monotonic()
    done = subprocess.run(
        _command(arguments), cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    already = "exists" in done.stderr and arguments[0] in ("publish", "export")
    assert done.returncode == 0 or already, f"{arguments}: {done.stderr}"
    return time.monotonic() - began


def kill_during(folder: Path, arguments: list[str], after: float) -> bool:
    """Start a stage and kill all its processes after some seconds; return whether it was still running."""
    process = subprocess.Popen(
        _command(arguments), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(after)
    alive = process.poll() is None
    for victim in _at_work(folder, process.pid):
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    process.wait()
    return alive


def outcome(folder: Path) -> dict[str, object]:
    """Return everything that must be the same however often a stage was killed."""
    with closing(sqlite3.connect(folder / "p.db")) as connection:
        sets = connection.execute("SELECT name, version, kind, hex(digest) FROM sets ORDER BY name, version")
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("questions", "completions", "verdicts", "responses", "label_events", "curation", "set_items")
        }
        found: dict[str, object] = {"sets": sets.fetchall(), "rows": counts}
    for file in ("sft.jsonl", "published/verifybench/balanced.jsonl", "published/verifybench/hard.jsonl"):
        found[file] = (folder / file).read_bytes()
    return found


def _command(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "workbench", *arguments]


def _at_work(folder: Path, first: int) -> Iterator[int]:
    """Return the processes of the command and of the database's runner."""
    roots = [first]
    if (pid := look(folder / "p.db")[0].pid) is not None:
        roots.append(pid)
    for pid in roots:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if pid != os.getpid() and "workbench" in " ".join(process.cmdline()):
                yield from (child.pid for child in process.children(recursive=True))
                yield pid
