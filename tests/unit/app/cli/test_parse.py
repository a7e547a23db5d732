"""``parse`` in pipes: every line is returned, rejected ones are named, and exit codes are set."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.background import PATIENCE_S

COMMAND = [sys.executable, "-m", "workbench", "parse"]


def parse(*arguments: object, given: bytes = b"") -> tuple[int, str, str]:
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE_S, check=False)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_line_keeps_its_fields_and_gets_three(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": 1.50, "raw": "3 - half", "big": 123456789012345678901234567890, "ü": ["\\ud83d\\ude00"]}\n')
    code, out, err = parse("ice-score", file)
    assert (code, err) == (0, "")
    assert out == (
        '{"id":1.50,"raw":"3 - half","big":123456789012345678901234567890,"ü":["\\ud83d\\ude00"],'
        '"verdict":"incorrect","score":3,"label":null}\n'
    )
    assert parse("ice_score@2", "-", given=out.encode())[1] == out


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("name", "raw", "verdict", "score", "label"),
    [
        ("verifybench@1", "Yes. Note", "incorrect", None, None),
        ("verifybench", "Yes. Note", "correct", None, None),
        ("codejudge@2", "Perhaps", "abstain", None, None),
        ("ice_score@1", "nothing", "incorrect", 0, None),
        ("ice-score@1", "9" * 400, "incorrect", int("9" * 400), None),
        ("compassverifier", "INVALID", "abstain", None, "C"),
        ("xverify", "[Correct]", "correct", None, None),
    ],
)
def test_what_each_parser_adds(name: str, raw: str, verdict: str, score: int | None, label: str | None) -> None:
    code, out, _ = parse(name, "-", given=json.dumps({"raw": raw}).encode())
    assert code == 0
    assert json.loads(out) == {"raw": raw, "verdict": verdict, "score": score, "label": label}


@pytest.mark.few(2)
@pytest.mark.parametrize("piped", [True, False])
def test_gzip_is_accepted(tmp_path: Path, piped: bool) -> None:
    lines = b'{"raw": "Yes"}\n' * 3
    file = tmp_path / "replies.jsonl.gz"
    file.write_bytes(gzip.compress(lines))
    code, out, _ = parse("codejudge", "-", given=file.read_bytes()) if piped else parse("codejudge", file)
    assert (code, out.count('"correct"')) == (0, 3)


def test_rejected_lines_are_named_and_the_others_parsed(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    good = b'{"raw": "No"}\n'
    bad = [b"nonsense", b'["raw"]', b'{"text": "Yes"}', b'{"raw": null}', b'{"raw": 4}', b'{"raw": "\\ud800"}']
    bad += [b'{"raw": "Yes", "note": "\xff"}', b'{"raw": "Ye']
    file.write_bytes(b"\xef\xbb\xbf\n" + b"".join(good + line + b"\n" for line in bad) + good)
    code, out, err = parse("codejudge", file)
    assert code == 3
    assert out == '{"raw":"No","verdict":"incorrect","score":null,"label":null}\n' * (len(bad) + 1)
    told = err.splitlines()
    fields = ["line", "line", "raw", "raw", "raw", "line", "line", "line"]
    assert [line.split(": ")[0] for line in told] == [
        f"{file}:{3 + 2 * number}:{field}" for number, field in enumerate(fields)
    ]
    assert all(line.endswith(".") for line in told if "character" not in line)
    assert parse("codejudge", "-", given=b"{}\n")[2].startswith("standard input:1:raw: raw is missing.")


@pytest.mark.soak
def test_a_damaged_gzip_is_reported_after_its_good_lines() -> None:
    whole = gzip.compress(b"".join(b'{"raw": "Yes", "n": %d}\n' % number for number in range(50_000)))
    code, out, err = parse("codejudge", "-", given=whole[: len(whole) // 2])
    assert code == 3
    assert out.count("\n") > 1000
    assert "damaged" in err


def test_no_line_no_output() -> None:
    assert parse("xverify", "-") == (0, "", "")


def test_an_unknown_parser_exits_with_2_and_the_list() -> None:
    code, out, err = parse("verifybench@3", "-", given=b'{"raw": "Yes"}\n')
    assert (code, out) == (2, "")
    assert "'verifybench@3'" in err
    for name in ("verifybench", "ice-score", "codejudge", "compassverifier", "xverify"):
        assert f"{name}@1, {name}@2" in err


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    assert parse("xverify", tmp_path / "absent.jsonl")[0] == 2
    assert parse("xverify", tmp_path)[0] == 2
    assert "packed with xz" in parse("xverify", "-", given=b"\xfd7zXZ\0")[2]
    script = f"{' '.join(COMMAND)} xverify - <&-"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("File: standard input: ")


def test_a_closed_pipe_is_no_error() -> None:
    line = json.dumps({"raw": "Yes " * 100})
    script = f"yes '{line}' | {' '.join(COMMAND)} verifybench - | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert json.loads(done.stdout)["verdict"] == "correct"
    assert done.stderr == ""


@pytest.mark.soak
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b'{"raw": "B"}\n'),))
    writer.start()
    code, out, _ = parse("compassverifier", pipe)
    writer.join()
    assert code == 0
    assert json.loads(out)["label"] == "B"


@pytest.mark.soak
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Sixty megabytes go through in less than the room they would take."""
    line = json.dumps({"raw": "<think>" + "so " * 300 + "</think>\nFinal Judgment: Yes"}) + "\n"
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from workbench.runs.previewing import parse_replies\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in parse_replies('verifybench', Path(sys.argv[1])))\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    file = tmp_path / "many.jsonl"
    file.write_text(line * (60_000_000 // len(line)))
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=True)
    count, kib = map(int, done.stdout.split())
    assert count == 60_000_000 // len(line)
    assert kib < 30_000
