"""The pages on which a build printed each value: by the auxiliary file that LaTeX left beside the manuscript or its PDF."""

from __future__ import annotations

import re
from pathlib import Path

from audit.context import Context
from audit.numbers.scan import decode

__all__ = ["find_pages"]

LINES = (
    re.compile(r"\\auditval\s*\{(?P<key>[^{}]*)\}\s*\{(?P<form>[^{}]*)\}\s*\{(?P<page>[^{}]*)\}"),
    re.compile(r"%audit-val\s+(?P<page>\d+)\s+-?\d+\s+-?\d+\s+\{(?P<form>[^{}]*)\}\{(?P<key>[^{}]*)\}"),
)


def find_pages(context: Context) -> dict[tuple[str, str], tuple[str, ...]]:
    """(form, key) -> pages in order; `verdict`, `confirmatory` and the like are the forms of the other macros. Empty without a build."""
    source, pdf = Path(context.config.paths.manuscript), Path(context.config.paths.pdf)
    files = (context.root / source.with_suffix(".aux"), context.root / pdf.with_suffix(".aux"))
    file = next((file for file in files if file.is_file()), None)
    pages: dict[tuple[str, str], dict[str, None]] = {}
    for line in decode(file.read_bytes())[0].splitlines() if file else ():
        found = next((match for form in LINES if (match := form.match(line))), None)
        if found:
            pages.setdefault((found["form"].strip(), found["key"].strip()), {})[found["page"]] = None
    return {use: tuple(found) for use, found in pages.items()}
