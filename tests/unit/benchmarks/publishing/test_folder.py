"""A folder is published completely or not at all, and only published folders are replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from workbench.benchmarks.publishing import publishing as folders
from workbench.benchmarks.publishing.publishing import new_folder
from workbench.benchmarks.records import FORMAT, FORMAT_VERSION, FolderManifest
from workbench.core.errors import FormatError


def publish(path: Path, content: bytes = b"one", *, force: bool = False) -> None:
    with new_folder(path, force=force) as folder:
        folders.write(folder, "data/a.txt", content)
        manifest = FolderManifest(
            format=FORMAT,
            version=FORMAT_VERSION,
            workbench="0",
            schema=7,
            title="t",
            licence=None,
            sets=[],
            files=[folders.described(folder, "data/a.txt")],
        )
        folders.write_json(folder, folders.MANIFEST, manifest)
        folders.write(folder, folders.CHECKSUMS, folders.checksums(manifest.files))


def content(path: Path) -> bytes:
    return (path / "data/a.txt").read_bytes()


def test_a_published_folder_is_replaced_only_by_force(tmp_path: Path) -> None:
    out = tmp_path / "out"
    publish(out)
    with pytest.raises(FormatError, match="exists"):
        publish(out, b"two")
    assert content(out) == b"one"
    publish(out, b"two", force=True)
    assert content(out) == b"two"
    assert os.listdir(tmp_path) == ["out"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    publish(tmp_path / "out")
    assert content(tmp_path / "out") == b"one"


@pytest.mark.parametrize("what", ["foreign", "file", "link", "added", "changed", "linked", "emptied", "manifest"])
def test_force_replaces_nothing_else(tmp_path: Path, what: str) -> None:
    out, aside = tmp_path / "out", tmp_path / "aside"
    publish(aside)
    if what == "foreign":
        (out / "thesis").mkdir(parents=True)
        (out / "thesis/chapter.txt").write_text("years of work")
    elif what == "file":
        out.write_text("mine")
    elif what == "link":
        out.symlink_to(aside)
    else:
        publish(out)
    if what == "added":
        (out / ".git").mkdir()
    elif what == "changed":
        (out / "data/a.txt").write_bytes(b"by hand")
    elif what == "linked":
        (out / "data/a.txt").unlink()
        (out / "data/a.txt").symlink_to(aside / "data/a.txt")
    elif what == "emptied":
        (out / "data/a.txt").unlink()
    elif what == "manifest":
        (out / "manifest.json").write_text('{"format": "another"}')
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(FormatError):
        publish(out, b"two", force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_failed_publication_leaves_no_folder(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    out = tmp_path / "out"

    def killed() -> None:
        with new_folder(out) as folder:
            folders.write(folder, "data/a.txt", b"half")
            assert not out.exists()
            raise Killed

    with pytest.raises(Killed):
        killed()
    assert os.listdir(tmp_path) == []


def test_a_replacement_that_was_killed_is_undone(tmp_path: Path) -> None:
    """Between its two steps the old folder is next to it under another name."""
    out = tmp_path / "out"
    publish(out)
    out.rename(tmp_path / ".out.replaced")
    with pytest.raises(FormatError, match="exists"):
        publish(out, b"two")
    assert content(out) == b"one"
    shutil.copytree(out, tmp_path / ".out.replaced")
    publish(out, b"two", force=True)
    assert content(out) == b"two"
    assert os.listdir(tmp_path) == ["out"]


def test_a_kill_while_the_replaced_folder_is_removed_stops_no_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    publish(out)
    with monkeypatch.context() as patch:

        def killed(folder: Path, *_: object, **__: object) -> None:
            for manifest in Path(folder).rglob(folders.MANIFEST):
                manifest.unlink()
            raise KeyboardInterrupt

        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            publish(out, b"two", force=True)
    assert content(out) == b"two"
    for part in tmp_path.glob(".*.part"):
        # As the next command does, once the process is no more.
        shutil.rmtree(part)
    publish(out, b"three", force=True)
    assert content(out) == b"three"


def test_a_foreign_folder_of_that_name_is_not_removed(tmp_path: Path) -> None:
    out, theirs = tmp_path / "out", tmp_path / ".out.replaced"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    publish(out)
    with pytest.raises(FormatError, match="replaced"):
        publish(out, b"two", force=True)
    assert (theirs / "thesis.txt").exists()
    assert content(out) == b"one"


def test_the_folder_above_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no folder"):
        publish(tmp_path / "no" / "out")


@pytest.mark.parametrize("path", [".", "/", ""], ids=["here", "root", "nothing"])
def test_a_folder_needs_a_name(path: str) -> None:
    with pytest.raises(FormatError, match="is not a valid name of a new folder"), new_folder(Path(path), force=True):
        pass
