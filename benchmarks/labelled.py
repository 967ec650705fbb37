"""Precision and recall of the number scanner on the labelled development set: `PYTHONPATH=. python benchmarks/labelled.py [FOLDER]`.

A line of the set ends in `%= class:text class:text ...`, one label a number, in order; `@` stands for a blank in a text.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from audit.numbers.scan import scan_text

FOLDER = Path(__file__).parents[1] / "tests/audit_numbers/labelled"
LABELS = re.compile(r"%= (.*)$")
CLASSES = ("result", "design", "layout", "reference", "mathematics")
Confusions = Counter[tuple[str, str]]
"""(labelled class, given class); MISSING and EXTRA stand for no partner."""


def labels_of(line: str) -> list[tuple[str, str]]:
    """(text, class) of each label of a line."""
    found = LABELS.search(line)
    pairs = (label.split(":", 1) for label in found.group(1).split()) if found else ()
    return [(text.replace("@", " ").strip("$"), cls) for cls, text in pairs]


def count_confusions(files: Iterable[Path]) -> Confusions:
    """What was given to each labelled number, over files."""
    confusions: Confusions = Counter()
    for file in files:
        lines = list(part_sentences(file.read_text(encoding="utf-8").splitlines()))
        scan = scan_text("\n".join(lines), file.name, preamble=False)
        given: dict[int, list[tuple[str, str]]] = {}
        for number in scan.numbers:
            line = scan.reading.lines.place(number.literal.source_start)[0]
            given.setdefault(line, []).append((number.literal.text.strip("$"), number.cls))
        for line, text in enumerate(lines, start=1):
            compare_line(labels_of(text), given.get(line, []), confusions)
    return confusions


def part_sentences(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with an empty one behind each that ends a sentence: they come from different papers, and no paragraph holds two."""
    for line in lines:
        yield line
        if line.partition("%=")[0].rstrip().endswith((".", "!", "?")):
            yield ""


def compare_line(wanted: list[tuple[str, str]], given: list[tuple[str, str]], confusions: Confusions) -> None:
    """Pair the labels of a line with what was found there."""
    left = list(given)
    for text, cls in wanted:
        partner = (text, cls) if (text, cls) in left else next((found for found in left if found[0] == text), None)
        confusions[cls, partner[1] if partner else "MISSING"] += 1
        if partner:
            left.remove(partner)
    for _, cls in left:
        confusions["EXTRA", cls] += 1


def share(confusions: Confusions, cls: str, given: str = "result") -> float:
    """Of the numbers labelled with a class, the share that was given another; of results, this is recall."""
    return confusions[cls, given] / max(1, sum(count for (wanted, _), count in confusions.items() if wanted == cls))


def precision(confusions: Confusions) -> float:
    """Of the numbers taken for results, the share that are labelled so."""
    return confusions["result", "result"] / max(1, sum(count for (_, given), count in confusions.items() if given == "result"))


def table(confusions: Confusions) -> Iterator[str]:
    """The confusions as aligned lines: a row a labelled class, a column a given one."""
    columns = (*CLASSES, "MISSING")
    yield f"{'labelled':12}" + "".join(f"{name:>12}" for name in columns) + f"{'as result':>12}"
    for cls in CLASSES:
        yield f"{cls:12}" + "".join(f"{confusions[cls, name]:12}" for name in columns) + f"{share(confusions, cls):12.3f}"
    yield f"recall of results {share(confusions, 'result'):.3f}, precision {precision(confusions):.3f}"


def main(arguments: list[str]) -> int:
    """Print the table for a folder of labelled files."""
    files = sorted(Path(arguments[0] if arguments else FOLDER).glob("*.tex"))
    lines = sum(bool(LABELS.search(line)) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    print(f"{len(files)} files, {lines} labelled lines")
    print("\n".join(table(count_confusions(files))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
