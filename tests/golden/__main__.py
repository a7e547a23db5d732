"""Freeze what users see: everything, or some groups.

Usage: python -m tests.golden [GROUP…] [--values | --wording]
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden import frozen
from tests.golden.frozen import KINDS
from tests.golden.scenes import Scenes, surroundings
from tests.golden.shown import GROUPS, REAL
from tests.tui.quiet import pilots_wait_for_the_loop
from tests.tui.styles import sheets_are_shared


def main() -> None:
    """Generate the groups, report the changes, and freeze them."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"one of: {', '.join(GROUPS)}")
    parser.add_argument("--values", action="store_const", const=("values",), dest="kinds", help="freeze no wording")
    parser.add_argument("--wording", action="store_const", const=("wording",), dest="kinds", help="freeze no values")
    arguments = parser.parse_args()
    if unknown := set(arguments.groups) - GROUPS.keys():
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as place,
        surroundings(Path(place)),
        closing(Scenes(Path(place))) as scenes,
    ):
        for group in arguments.groups or GROUPS:
            if group in REAL and not REAL[group].exists():
                print(f"{group}: stays as it was, {REAL[group].name} is not here", file=sys.stderr)
                continue
            with sheets_are_shared(), pilots_wait_for_the_loop():
                shown = dict(GROUPS[group](scenes))
            print(frozen.report(group, shown, as_digests=group in REAL) or f"{group}: as it was")
            for kind in arguments.kinds or KINDS:
                frozen.freeze(group, shown, kind, as_digests=group in REAL)


if __name__ == "__main__":
    main()
