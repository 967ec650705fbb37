"""Stage `code`: for each script of this folder, the source files that it runs and their digests; what depends on that is stale when one changes."""

from __future__ import annotations

import sys
from pathlib import Path

from rankcollapse.sources import describe_sources, list_sources
from rankcollapse.stage import run_stage

FOLDER = Path("build/code")


def body() -> None:
    """Write one list a script."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    root = Path.cwd()
    for script, files in list_sources(root).items():
        (FOLDER / f"{script}.txt").write_text(describe_sources(root, files))


if __name__ == "__main__":
    sys.exit(run_stage(body))
