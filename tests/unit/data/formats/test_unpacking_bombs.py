"""Decompression bombs: rejected, or read in bounded memory."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project
from workbench.core.errors import FormatError
from workbench.data.formats import documents, source
from workbench.data.formats.lines import Stream
from workbench.data.formats.source import file_hash, first_bytes, open_once, open_stream
from workbench.interchange.importing import import_files, plan_import

ROW = b'{"question": "a", "answer": "b", "completion": "c"}\n'
NOISE = random.Random(1).randbytes(200_000)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_RATIO_LIMIT", (1 << 20, 300))


def _member() -> bytes:
    return gzip.compress(bytes(4 << 20))


def _noise() -> bytes:
    return gzip.compress(NOISE * 20)


BOMBS: dict[str, Callable[[], bytes]] = {
    "one member": _member,
    "concatenated": lambda: gzip.compress(bytes(300_000)) * 20,
    "behind data": lambda: gzip.compress(NOISE * 5 + bytes(8 << 20)),
    "behind members": lambda: _noise() + _member() + _noise(),
    "long line": lambda: gzip.compress(ROW[:-2] + b', "x": "' + b"a" * (4 << 20) + b'"}\n'),
    "equal rows": lambda: gzip.compress(ROW * 100_000),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", BOMBS)
def test_a_gzip_bomb_is_rejected_at_any_position(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(BOMBS[name]())
    with pytest.raises(FormatError, match="hundreds of times its size"), open_once(path) as stream:
        _drain(stream)
    with pytest.raises(FormatError, match="hundreds of times its size"), open_stream(path) as (stream, _):
        _drain(stream)


def _drain(stream: Stream) -> int:
    return sum(map(len, iter(lambda: stream.read(1 << 16), b"")))


def test_a_bomb_leaves_nothing_imported(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(ROW + b" " * (8 << 20)))
    with pytest.raises(FormatError, match="hundreds of times"):
        import_files(project, plan_import([path]))
    assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)


def test_a_bomb_in_a_bomb_is_unpacked_once(tmp_path: Path) -> None:
    path = tmp_path / "nested.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.compress(gzip.compress(bytes(64 << 20)) * 40)))
    assert first_bytes(path).startswith(b"\x1f\x8b")
    assert len(first_bytes(path)) < 1 << 20


@pytest.mark.parametrize(("text", "rows"), [("a" * (2 << 20), 1), ("a" * 1_000, 9_000)], ids=["long", "many"])
def test_a_parquet_bomb_is_rejected(tmp_path: Path, text: str, rows: int) -> None:
    path = tmp_path / "bomb.parquet"
    table = pa.table({"question": [text] * rows, "answer": ["b"] * rows, "completion": ["c"] * rows})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    project = make_project(tmp_path)
    with pytest.raises(FormatError, match="hundreds of times"):
        import_files(project, plan_import([path]))
    assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)


def test_a_repeated_parquet_text_is_held_only_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "repeated.parquet"
    text = random.Random(2).randbytes(100_000).hex()
    pq.write_table(pa.table({"question": [text] * 500, "completion": ["c"] * 500}), path, use_dictionary=True)
    monkeypatch.setattr(documents, "_MAX_BATCH_BYTES", 2 << 20)
    held: list[int] = []
    batches = pq.ParquetFile.iter_batches

    def watched(file: pq.ParquetFile, **options: int) -> Iterator[pa.RecordBatch]:
        for batch in batches(file, **options):
            held.append(batch.nbytes)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    with path.open("rb") as stream:
        assert sum(1 for _ in documents.documents(stream, "parquet", path)) == 500
    assert max(held) <= 2 << 20


def test_ordinary_compressed_data_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    lines = b"".join(b'{"question": "%d", "answer": "b", "completion": "%s"}\n' % (n, b"c" * 400) for n in range(9_000))
    path.write_bytes(gzip.compress(lines))
    with open_stream(path) as (stream, _):
        assert _drain(stream) == len(lines)
    assert file_hash(path)


@pytest.mark.parametrize(("start", "name"), [(b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "Zstandard")])
def test_another_compression_is_named(tmp_path: Path, start: bytes, name: str) -> None:
    (tmp_path / "p.jsonl").write_bytes(start + NOISE)
    with pytest.raises(FormatError, match=f"packed with {name}"):
        first_bytes(tmp_path / "p.jsonl")


PEAK = """
import base64, pickle, sys, zlib
from tests.unit.data.formats.code.test_contests import problem, refused
from workbench.data.formats.code import contests
contests.LONGEST = 32 << 20
contests._RATIO_LIMIT = (32 << 20, 300)
size = 30 << 20
test = '{"input":"","output":"","testtype":"stdin"},'
text = {
    "spaces": " " * (4 * size),
    "lists": "[" + "[]," * (size // 3) + "[]]",
    "tests": "[" + test * (size // len(test)) + test[:-1] + "]",
    "objects": '[{"input":' + "[{}," * 4_000_000 + "1",
    "one text": '[{"input":"' + "a" * size + chr(0x1F600) + '","output":"","testtype":"stdin"}]',
    "numbers": "[" + "1," * (size // 2) + "1]",
    "more keys": '[{"input":"1","output":"","testtype":"stdin","more":[' + "[]," * (size // 3) + "1]}]",
}[sys.argv[1]]
packed = base64.b64encode(zlib.compress(pickle.dumps(text))).decode()
del text
open("/proc/self/clear_refs", "w").write("5")
status = lambda: int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before = status()
take = problem if sys.argv[1] in ("one text", "more keys") else refused
take("livecodebench", private_test_cases=packed)
print((status() - before) >> 10)
"""


OTHERS = ("spaces", "lists", "objects", "numbers", "more keys")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["tests", "one text", *(pytest.param(name, marks=pytest.mark.soak) for name in OTHERS)]
)
def test_the_private_tests_of_a_problem_take_no_more_memory_than_their_text(name: str) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("this system tells no peak of memory")
    root = Path(__file__).resolve().parents[4]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, name], cwd=root, check=True, capture_output=True, timeout=PATIENCE_S
    )
    assert int(done.stdout) < 32 * (9 if name == "one text" else 5), name
