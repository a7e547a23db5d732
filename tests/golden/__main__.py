"""Freeze anew what users see, and write all of it into a folder, to be compared with that of another checkout.

Usage: python -m tests.golden FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.golden import frozen
from tests.golden.scenes import Scenes, surroundings
from tests.golden.shown import PARTS, REAL


def main() -> None:
    """Make every part, and freeze it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    absent = {part for part, place in REAL.items() if not place.exists()}
    # They stay: a runner whose database is gone would wait for it.
    place = folder / "projects"
    place.mkdir(parents=True)
    with surroundings(place):
        scenes = Scenes(place)
        shown = {part: dict(make(scenes)) for part, make in PARTS.items() if part not in absent}
    for part, pieces in shown.items():
        frozen.write(pieces, folder / part)
    unseen = {part: frozen.digests()[part] for part in absent}
    frozen.freeze(shown, unseen, set(REAL))


if __name__ == "__main__":
    main()
