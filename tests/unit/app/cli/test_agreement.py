"""``workbench agreement``: JSON shape, exit codes, rejected lines, and a million ratings."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from schemas.documents import schema
from tests.background import PATIENCE_S
from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.labelling.recording import Record
from tests.unit.statistics.agreement.tables import KRIPPENDORFF

CONTRACT = {
    "items",
    "annotators",
    "percent_agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "alpha_ci",
    "gwet_ac1",
}


def workbench(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return run("agreement", *arguments, stdin=(stdin or "").encode())


def document(*arguments: object, code: int = 0, stdin: str | None = None) -> Any:
    done = workbench(*arguments, "--json", stdin=stdin)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def krippendorff() -> str:
    return "".join(
        json.dumps({"item": item, "annotator": f"observer {person}", "value": int(value)}) + "\n"
        for person, row in enumerate(KRIPPENDORFF)
        for item, value in enumerate(row.split())
        if value != "."
    )


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    path.write_text(krippendorff())
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    project = make_project(tmp_path, [row | {"subtype": "A1"} for row in numbered(6)])
    record = Record(project)
    record.table(("ann", "bob"), ("c i c i c u", "c i c c c i"))
    record.table(("ann", "bob"), ("A1 A3", "A1 A1"), task="type")
    return project.path


@pytest.mark.parametrize(
    ("level", "alpha"),
    [
        ("nominal", 0.743421052632),
        ("ordinal", 0.815387503755),
        ("interval", 0.849107142857),
        ("ratio", 0.797402774712),
    ],
)
def test_a_file_has_the_golden_values_in_the_shape_of_the_contract(ratings: Path, level: str, alpha: float) -> None:
    found = document("--from", ratings, "--level", level)
    assert set(found) >= CONTRACT
    assert (found["items"], found["annotators"], found["level"]) == (12, 4, level)
    assert found["krippendorff_alpha"] == pytest.approx(alpha, abs=1e-9)
    assert found["gwet_ac1"] == pytest.approx(0.77544, abs=5e-6)
    assert found["fleiss_kappa"] is None
    assert (found["differing"], found["rarer"], found["alpha_ci"]) == (3, 9, None)
    assert len(found["cohen_kappa"]) == 6
    assert set(found["cohen_kappa"][0]) >= {"pair", "n", "kappa", "ci"}
    assert found["cohen_kappa"][0]["pair"] == ["observer 0", "observer 1"]
    assert (found["gwet_ac2"] is None) == (level == "nominal")
    jsonschema.validate(found, schema("agreement"))


def test_standard_input_is_read(ratings: Path) -> None:
    assert document("--from", "-", stdin=ratings.read_text()) == document("--from", ratings)


def test_a_database_has_the_same_shape(database: Path) -> None:
    found = document(database, "--by", "type")
    assert set(found) >= CONTRACT
    assert (found["items"], found["annotators"], found["task"]) == (6, 2, "correctness")
    assert found["percent_agreement"] == pytest.approx(4 / 6)
    assert [group["group"] for group in found["groups"]] == ["A"]
    assert "unsuitable" in found["prevalence"]
    jsonschema.validate(found, schema("agreement"))
    types = document(database, "--task", "type")
    assert (types["items"], types["percent_agreement"]) == (2, 0.5)
    assert document(database, "--task", "type", "--coarse")["percent_agreement"] == 1


def test_bad_lines_are_reported_and_the_others_used(ratings: Path) -> None:
    clean = document("--from", ratings)
    with ratings.open("a") as file:
        file.write('nonsense\n{"item": 0, "annotator": "observer 0", "value": 3}\n{"item": 1, "annotator": "x"}\n')
    done = workbench("--from", ratings, "--json")
    assert done.returncode == 3
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        f"{ratings}:42:line",
        f"{ratings}:43:annotator",
        f"{ratings}:44:value",
    ]
    found = json.loads(done.stdout)
    assert found.pop("refused") == 3
    clean.pop("refused")
    assert found == clean


def test_many_bad_lines_are_counted(ratings: Path) -> None:
    ratings.write_text(krippendorff() + "bad\n" * 500)
    lines = workbench("--from", ratings).stderr.splitlines()
    assert len(lines) == 21
    assert "480 more" in lines[-1]


def test_ordinal_words_need_an_order(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    said = {"a": ("poor", "fair", "good"), "b": ("poor", "good", "good")}
    lines = [
        {"item": item, "annotator": who, "value": word}
        for who, words in said.items()
        for item, word in enumerate(words)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = workbench("--from", path, "--level", "ordinal")
    assert done.returncode == 1
    assert "--order" in done.stderr
    found = document("--from", path, "--level", "ordinal", "--order", "poor, fair, good")
    assert list(found["prevalence"]) == ["poor", "fair", "good"]
    assert 0.5 < found["krippendorff_alpha"] < 1


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--from", "{file}", "{database}"),
        ("{database}", "--level", "ordinal"),
        ("{database}", "--order", "a,b"),
        ("--from", "{file}", "--by", "type"),
        ("--from", "{file}", "--task", "type"),
        ("--from", "{file}", "--round", "latest"),
        ("{database}", "--coarse"),
        ("{database}", "--by", "model"),
        ("--from", "nowhere.jsonl"),
    ],
    ids=range(10),
)
def test_invalid_arguments_are_usage_errors(ratings: Path, database: Path, arguments: tuple[str, ...]) -> None:
    done = workbench(*(argument.format(file=ratings, database=database) for argument in arguments))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_text_names_every_metric_and_its_context(database: Path) -> None:
    text = workbench(database).stdout
    for part in (
        "agreement %",
        "alpha nominal",
        "AC1",
        "PABAK",
        "labels: ",
        "Ceiling: ",
        "ann – bob",
        "Wilson by question",
    ):
        assert part in text


@pytest.mark.soak
def test_four_times_the_ratings_take_no_more_than_about_four_times_as_long(tmp_path: Path) -> None:
    """200 people on a sparse table: neither pairs nor resampling may grow with people squared times items."""
    seconds = []
    for items in (10_000, 40_000):
        generator, path = random.Random(1), tmp_path / f"{items}.jsonl"
        with path.open("w") as file:
            for item in range(items):
                true = generator.randrange(3)
                for person in generator.sample(range(200), 3):
                    value = true if generator.random() < 0.9 else generator.randrange(3)
                    file.write(f'{{"item": {item}, "annotator": "a{person}", "value": {value}}}\n')
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        command = [sys.executable, "-m", "workbench", "agreement", "--from", str(path), "--json"]
        found = json.loads(subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=True).stdout)
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began)
        assert (found["items"], found["annotators"]) == (items, 200)
        assert found["krippendorff_alpha"] == pytest.approx(0.81, abs=0.02)
    assert seconds[1] < 8 * seconds[0]
