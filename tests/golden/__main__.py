"""Write `frozen.json` anew, and everything it is made of into a folder, to be compared with that of another checkout.

Usage: python -m tests.golden FOLDER
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
from pathlib import Path

from tests.golden.shown import FROZEN, digests, printed, seen

# The command line names the program after it.
__package__ = ""


def main() -> None:
    """Write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    os.environ["COLUMNS"] = "80"
    folder: Path = parser.parse_args().folder
    for part in ("printed", "seen"):
        (folder / part).mkdir(parents=True)
    shown = printed(folder / "printed") | asyncio.run(seen(folder / "seen"))
    for name, text in shown.items():
        (folder / re.sub(r"[^\w=.-]+", "_", f"{name}.txt")).write_text(text, encoding="utf-8")
    FROZEN.write_text(json.dumps(digests(shown), indent=1) + "\n", encoding="utf-8")


main()
