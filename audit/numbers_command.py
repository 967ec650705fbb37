"""The command `audit numbers`: every number of any LaTeX file with its class and why, inside a project or not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.finding import HOLDS, UNCHECKED
from audit.numbers.scan import Scan, scan_tree

__all__ = ["main"]

MISSING = "included file is missing"


def main(files: Sequence[str], form: str) -> int:
    """List the numbers of files and of what they include; 2 where something could not be read."""
    here = Path.cwd()
    scans: dict[str, Scan] = {}
    broken: list[tuple[str, str]] = []
    for name in files:
        for item in scan_tree(Path(name), common_root(here, Path(name))):
            if isinstance(item, Scan):
                scans.setdefault(item.path, item)
            else:
                broken.append(item)
    unread = [*broken, *((f"{scan.path}:{lines.first}", lines.why) for scan in scans.values() for lines in scan.unread())]
    show = print_json if form == "json" else print_text
    show(list(scans.values()), unread)
    return UNCHECKED if unread else HOLDS


def common_root(here: Path, file: Path) -> Path:
    """The folder that names are relative to: the current one where the file lies below it."""
    return here if file.resolve().is_relative_to(here) else file.resolve().parent


def rows(scan: Scan) -> Iterator[dict[str, object]]:
    """One row a literal: where it begins, where it ends (just behind its last character), its text as it stands there."""
    for number in scan.numbers:
        start, end = number.literal.source_start, number.literal.source_end
        line, column = scan.reading.lines.place(start)
        end_line, end_column = scan.reading.lines.place(end)
        yield {
            "file": scan.path,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "text": scan.reading.source[start:end],
            "class": number.cls,
            "rule": number.rule,
            "why": number.why,
        }


def notes(scan: Scan) -> Iterator[tuple[str, str]]:
    """What a reader should know of a file: its encoding, and what TeX never typesets."""
    yield from ((scan.path, note) for note in scan.notes)
    for lines in scan.reading.passed:
        yield f"{scan.path}:{lines.first}", f"{lines.why}, to line {lines.last}: not read"


def print_text(scans: Sequence[Scan], unread: Sequence[tuple[str, str]]) -> None:
    """Aligned lines, unread places, and counts by class."""
    counts: Counter[str] = Counter()
    for scan in scans:
        for row in rows(scan):
            counts[str(row["class"])] += 1
            print(f"{row['file']}:{row['line']}:{row['column']}  {row['class']:11}  {' '.join(str(row['text']).split())}  ({row['why']})")
        for place, what in notes(scan):
            print(f"{place}  note: {what}")
    for place, why in unread:
        print(f"{place}  unread: {why}")
    if any(why.startswith(MISSING) for _, why in unread):
        print("cure: dvc repro render (or audit render) writes the generated files; write or restore any other that is missing")
    total = ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"
    print(f"{sum(counts.values())} numbers in {len(scans)} files: {total}; {len(unread)} places unread")


def print_json(scans: Sequence[Scan], unread: Sequence[tuple[str, str]]) -> None:
    """One JSON object."""
    value = {
        "kind": "numbers",
        "version": 1,
        "numbers": [row for scan in scans for row in rows(scan)],
        "unread": [{"place": place, "why": why} for place, why in unread],
        "notes": [{"place": place, "what": what} for scan in scans for place, what in notes(scan)],
    }
    print(json.dumps(value, indent=1, ensure_ascii=False))
