"""What LaTeX wrote down while it typeset the document, and how the PDF carries it: key, form, text, page and place of each of our macros."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.load import read_bytes
from audit.numbers.scan import decode

__all__ = ["Mark", "Typeset", "attach", "auxiliary_lines", "collect", "read_attached", "read_marks"]

LINE = re.compile(r"%audit-val\s+(\d+)\s+(-?\d+)\s+(-?\d+)\s+\{([^{}]*)\}\{([^{}]*)\}(.*)")
POINTS = 72 / 72.27 / 65536
"""TeX's scaled points as the points of a PDF."""
LABEL = re.compile(r"\\newlabel\{([^{}]*)\}\{\{((?:[^{}]|\{[^{}]*\})*)\}\{([^{}]*)\}")
CONTENTS = re.compile(r"\\@writefile\{(\w+)\}\{\\contentsline \{[^{}]*\}\{(.*)\}\{([^{}]*)\}\{[^{}]*\}")
BIBCITE = re.compile(r"\\bibcite\{[^{}]*\}\{(.*)\}")
HEAD = b"%audit-typeset "
ATTACHED = re.compile(rb"(?:\n" + HEAD + rb"[^\n]*)+\nstartxref\n\d+\n%%EOF\n")
"""All that may follow the PDF that LaTeX made: what is added later may draw over it."""
END = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")


@dataclass(frozen=True)
class Mark:
    """One of our macros as LaTeX typeset it."""

    page: int
    """Page of the PDF, from 1."""
    x: float
    """Where its text begins, in points from the left edge."""
    y: float
    """Its baseline, in points from the lower edge."""
    form: str
    """The format of a value; `verdict`, `choice`, `prov`, `confirmatory`, `unjudged` or `claim` for the other macros."""
    key: str
    text: str
    """What the generated macros print."""

    @property
    def command(self) -> str:
        """The macro as it stands in the source."""
        name = {"verdict": "verdict", "choice": "ifverdict", "prov": "prov", "confirmatory": "confirmatory", "unjudged": "unjudged", "claim": "claim"}.get(self.form)
        return f"\\{name}{{{self.key}}}" if name else f"\\val{f'[{self.form}]' if self.form else ''}{{{self.key}}}"


@dataclass(frozen=True)
class Typeset:
    """What LaTeX said of a build: marks, and the numbers that it gave to what the sources only name."""

    marks: tuple[Mark, ...]
    labels: dict[str, tuple[str, str]]
    """Label -> (what `\\ref` prints, what `\\pageref` prints)."""
    contents: tuple[tuple[str, str, str], ...]
    """(list, entry, page) of each line of a table of contents, figures or tables."""
    cited: tuple[str, ...]
    """What citations print of each work, by the auxiliary file."""
    bibliography: str
    """The text of the bibliography that LaTeX read."""
    files: tuple[str, ...]
    """The project's files that LaTeX read, relative to its root."""


def auxiliary_lines(folder: Path) -> list[str]:
    """What LaTeX wrote to the auxiliary files, those of included files too."""
    return [line for path in sorted(folder.rglob("*.aux")) for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]


def read_marks(lines: Iterable[str]) -> tuple[Mark, ...]:
    """The marks in the order in which LaTeX shipped them."""
    found = (LINE.match(line) for line in lines)
    return tuple(
        Mark(int(match[1]), round(int(match[2]) * POINTS, 2), round(int(match[3]) * POINTS, 2), match[4].strip(), match[5].strip(), match[6].strip())
        for match in found if match
    )  # fmt: skip


def collect(folder: Path, source: Path, root: Path) -> Typeset:
    """What the build of `source` in `folder` left behind."""
    lines = auxiliary_lines(folder)
    text = "\n".join(lines)
    labels = {match[1]: (match[2], match[3]) for match in LABEL.finditer(text)}
    contents = tuple((match[1], match[2], match[3]) for match in CONTENTS.finditer(text))
    bibliography = "\n".join(decode(path.read_bytes())[0] for path in sorted(folder.glob("*.bbl")))
    return Typeset(read_marks(lines), labels, contents, tuple(BIBCITE.findall(text)), bibliography, read_files(folder, source, root))


def read_files(folder: Path, source: Path, root: Path) -> tuple[str, ...]:
    """The files that LaTeX read, by its own record: the project's by their path in it, of others those that belong to no TeX distribution."""
    record = folder / f"{source.stem}.fls"
    lines = record.read_text(encoding="utf-8", errors="replace").splitlines() if record.is_file() else []
    named = {line.removeprefix("INPUT ") for line in lines if line.startswith("INPUT ")}
    found = {(source.parent / name).resolve() for name in named}
    own = {path.relative_to(root.resolve()).as_posix() for path in found if path.is_relative_to(root.resolve()) and not path.is_relative_to(folder.resolve())}
    foreign = {path.as_posix() for path in found if not path.is_relative_to(root.resolve()) and not path.is_relative_to(folder.resolve())}
    return (*sorted(own), *sorted(path for path in foreign if not re.search(r"/(?:texmf[\w.-]*|texlive|tex-?live)/|^/etc/|^/var/|^/usr/", path)))


def attach(path: Path, typeset: Typeset) -> None:
    """Write what LaTeX said behind the end of a PDF, as comments that every reader of PDFs passes over."""
    data = path.read_bytes()
    end = END.search(data)
    if end is None:
        raise Refusal(path.name, "has no end of a PDF", cure="audit pdf")
    data = data.partition(b"\n" + HEAD)[0].rstrip()
    value = {**typeset.__dict__, "marks": [list(mark.__dict__.values()) for mark in typeset.marks], "before": sha256_bytes(data)}
    packed = base64.b64encode(zlib.compress(json.dumps(value, ensure_ascii=False, sort_keys=True).encode(), 9))
    lines = [HEAD + packed[start : start + 100] for start in range(0, len(packed), 100)]
    path.write_bytes(b"\n".join([data, *lines, b"startxref", end[1], b"%%EOF\n"]))


def read_attached(path: Path) -> Typeset | None:
    """What is written behind the end of a PDF; None where another program saved it or added to it, or nothing was ever there."""
    data = read_bytes(path)
    start = data.find(b"\n" + HEAD)
    if start < 0 or not ATTACHED.fullmatch(data, start):
        return None
    packed = b"".join(line.removeprefix(HEAD) for line in data[start + 1 :].split(b"\n") if line.startswith(HEAD))
    try:
        value: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
        if value["before"] != sha256_bytes(data[:start]):
            return None
        marks = tuple(Mark(*entry) for entry in value["marks"])
        labels = {name: (pair[0], pair[1]) for name, pair in value["labels"].items()}
        contents = tuple((entry[0], entry[1], entry[2]) for entry in value["contents"])
        return Typeset(marks, labels, contents, tuple(value["cited"]), value["bibliography"], tuple(value["files"]))
    except (ValueError, KeyError, TypeError, IndexError, zlib.error):
        raise Refusal(path.name, "what LaTeX wrote down is damaged in it", cure="audit pdf") from None
