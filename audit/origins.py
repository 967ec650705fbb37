"""Where the numbers of a PDF that no macro of ours printed may come from: typed in the sources, or given by LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from audit.alignment import NUMBER, Alignment, Token, number_tokens, plain
from audit.context import Context
from audit.document import Document, generated_inputs, load_document
from audit.layer import Page, read_layers
from audit.marks import Typeset
from audit.numbers.literals import SIUNITX
from audit.numbers.macros import MOVING
from audit.numbers.reader import read
from audit.numbers.references import DEFINERS
from audit.numbers.scan import decode
from audit.numbers.stream import BODIES, CELL, NUMERIC_COMMA, ROW, SEAM, Frame, Reading
from audit.pdf import bibliography_paths, graphic_paths
from audit.rows import Row

__all__ = ["Origins", "collect_origins", "generated_rows", "unaccounted"]

DEFINED = BODIES - {"ifverdict", "claim", "texorpdfstring", "hypersetup"}
READ = DEFINERS | {"title"}
"""Commands of the preamble in which a measured number is A401."""
OFTEN = 10**6
"""How often what a definition holds may be printed."""
DRAWINGS = frozenset({"tikzpicture", "tikz", "pgfpicture", "axis", "picture", "pspicture"})
NUMBERED = re.compile(r"\\numberline\s*\{([^{}]*)\}")
HEADINGS = ("section", "subsection", "subsubsection")
BRACED = re.compile(r"\{([^{}\\]+)\}")
BRACKETS = re.compile(r"\[\s*\d+(?:\s*[,;\u2013-]\s*\d+)*\s*\]")
EQUATION = re.compile(r"\([A-Z]?\d*(?:\.\d+)+[a-z]?\)")
"""The number of an equation at the end of its line."""
COUNTED = re.compile(r"\d+|\d{1,3}(?:\.(?:0|[1-9]\d?))+")
"""A number that counters give: 12, 3.1, 0.12, and neither 0.05 nor 0.424."""
NAMED = re.compile(r"(?<![A-Za-z])[A-Z][a-z]+\.?[ \n\u00a0]$")
POWER = re.compile(r"(?<=\d)[eE][+-]?\d")
"""What siunitx sets as a power of ten."""
BROKEN = re.compile(r"([\d.,]*[\d.,])\n$")
YEAR = re.compile(r"(?:19|20)\d\d")
BEFORE = re.compile(r"(?<![A-Za-z])([a-z]{2,})[ \n\u00a0]$")
BEHIND = re.compile(r"[ \n\u00a0\u2009\u200b]?([a-z]{2,})(?![A-Za-z])")
"""Also where the space behind a command is swallowed, as TeX does."""

@dataclass
class Origins:
    """How often each number may stand in the PDF without a macro of ours."""

    credits: Counter[str] = field(default_factory=Counter)
    """Number -> in how many places the sources type it, or LaTeX sets it."""
    free: set[str] = field(default_factory=set)
    """Numbers that stand in definitions and headings, which LaTeX may set any number of times."""
    given: Counter[str] = field(default_factory=Counter)
    """Those of the credits that LaTeX gives: references, numbers of headings, citations, figures."""
    split: bool = False
    """Whether a column of a table sets its decimal point itself (`r@{.}l`), so that two cells make one number."""
    named: set[str] = field(default_factory=set)
    """Numbers of headings, floats and references."""
    quiet: Counter[str] = field(default_factory=Counter)
    """Decimals typed where no sentence stands: lengths, options, the preamble. They account for none between two plain words."""
    sentences: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Number -> the plain words before and after it in each place where the sources type it; nothing where no plain word stands there."""

    def give(self, tokens: Iterable[str]) -> None:
        """Numbers that LaTeX sets once more."""
        listed = list(tokens)
        self.credits.update(listed)
        self.given.update(listed)

    def add(self, reading: Reading) -> None:
        """The numbers of one source."""
        text = reading.main.text().replace(NUMERIC_COMMA, ",")
        self.split |= "@{.}" in reading.source
        for match in NUMBER.finditer(text):
            frame = reading.main.frame(match.start())
            if is_quiet(frame, match.group()) and frame.preamble and not frame.inside & READ:
                self.quiet[plain(match.group())] += OFTEN if frame.inside & DEFINED else 1
                continue
            if frame.inside & (DEFINED | MOVING):
                self.free.add(plain(match.group()))
            self.credits[plain(match.group())] += 1
            self.sentences.setdefault(plain(match.group()), []).append(neighbours(text, *match.span()))
        self.credits["10"] += sum(bool(reading.main.frame(match.start()).inside & SIUNITX) for match in POWER.finditer(text))
        for piece, frame in zip(reading.aside.pieces, reading.aside.frames, strict=True):
            tokens = number_tokens(piece)
            for token in tokens:
                self.quiet[token] += is_quiet(frame, token) * (OFTEN if frame.inside & DEFINED else 1)
            self.credits.update(token for token in tokens if not is_quiet(frame, token))
            if frame.inside & DEFINED:
                self.free.update(token for token in tokens if not is_quiet(frame, token))


def is_quiet(frame: Frame, token: str) -> bool:
    """Whether a number that no sentence types is one that would be noticed in a sentence: a decimal, outside of drawings."""
    return "." in token and not frame.inside & DRAWINGS


def collect_origins(context: Context, typeset: Typeset | None) -> Origins:
    """Every number that the sources, the figures, the bibliography and LaTeX itself can put into the PDF."""
    document, origins = load_document(context), Origins()
    figures = read_layers(path for path in graphic_paths(context, document) if path.suffix == ".pdf")
    commands = [entry for scan in document.scans for entry in scan.reading.commands]
    for scan in [*document.scans, *document.packages]:
        origins.add(scan.reading)
    for reading in generated_readings(context, document).values():
        for piece, frame in zip(reading.main.pieces, reading.main.frames, strict=True):
            if frame.inside & (DEFINED | MOVING):
                origins.free.update(number_tokens(piece))
        origins.give(token for piece in reading.aside.pieces for token in number_tokens(piece))
    for path in bibliography_paths(context, document):
        entries = number_tokens(decode(path.read_bytes())[0])
        origins.free.update(token for token in entries if typeset is None or YEAR.fullmatch(token))
    if typeset is not None:
        add_typeset(origins, document, typeset)
    else:
        origins.named.update(heading_numbers(document))
        origins.free |= origins.named
    for layer in figures:
        for page in layer.result():
            origins.give(number_tokens(page.text))
    if any(command == "today" for command, _ in commands) or {"maketitle", "date"} & {command for command, _ in commands} == {"maketitle"}:
        origins.free |= {"1", "1970"}  # the date that a build without a clock prints
    return origins


def add_typeset(origins: Origins, document: Document, typeset: Typeset) -> None:
    """The numbers that LaTeX gave: of headings, floats, references, citations and the bibliography."""
    for kind, entry, page in typeset.contents:
        listed = {"toc": "tableofcontents", "lof": "listoffigures", "lot": "listoftables"}.get(kind, "")
        numbered = NUMBERED.match(entry)
        origins.give(number_tokens(numbered[1]) if numbered else ())
        origins.named.update(number_tokens(numbered[1]) if numbered else ())
        if any(command == listed for scan in document.scans for command, _ in scan.reading.commands):
            shown = number_tokens(f"{entry} {page}")
            origins.give(token for token in shown if origins.credits[token] or not origins.quiet[token])
    origins.named.update(token for shown, _ in typeset.labels.values() for token in number_tokens(shown) if COUNTED.fullmatch(token))
    for scan in document.scans:
        for match in BRACED.finditer(scan.reading.source):
            for name in match[1].split(","):
                for shown in typeset.labels.get(name.strip(), ()):
                    origins.give(token for token in number_tokens(shown) if COUNTED.fullmatch(token))
    origins.give(number_tokens(read(typeset.bibliography, preamble=False).main.text()))
    origins.give(number_tokens(typeset.bibliography))
    origins.free.update(token for entry in typeset.cited for token in number_tokens(entry) if YEAR.fullmatch(token))


def heading_numbers(document: Document) -> Iterator[str]:
    """Numbers such as 3.1 that LaTeX gives to headings, where nothing says which it gave."""
    counts = [0, 0, 0]
    for scan in document.scans:
        for command, _ in scan.reading.commands:
            if command in HEADINGS:
                level = HEADINGS.index(command)
                counts[level] += 1
                counts[level + 1 :] = [0] * (2 - level)
                yield ".".join(str(count) for count in counts[: level + 1])


def generated_readings(context: Context, document: Document) -> dict[str, Reading]:
    """The generated files that the document includes, but the macros."""
    folder = context.root / context.config.paths.generated
    names = sorted(generated_inputs(context, document) - {"macros.tex"})
    return {name: read_generated(context, folder / name) for name in names if (folder / name).is_file()}


def read_generated(context: Context, path: Path) -> Reading:
    """What the reader makes of a generated file; the same bytes are read once a context."""
    known: dict[bytes, Reading] = context.__dict__.setdefault("_generated_read", {})
    data = path.read_bytes()
    if data not in known:
        known[data] = read(decode(data)[0], preamble=False)
    return known[data]


def generated_rows(context: Context) -> dict[str, list[Row]]:
    """The numbers and verdicts of each row, and each stretch between rows, of the generated files that the document includes."""
    rows = {}
    for name, reading in generated_readings(context, load_document(context)).items():
        text = "".join(
            " " if frame.inside & DEFINED else piece for piece, frame in zip(reading.main.pieces, reading.main.frames, strict=True)
        ).replace(CELL, " ")  # fmt: skip
        rows[name] = [row for part in re.split(f"[{ROW}{SEAM}]|\n\n", text) if (row := Row.of(part)).tokens]
    return rows


def unaccounted(found: Alignment, origins: Origins) -> Iterator[tuple[Token, str]]:
    """Each number of the PDF that has no origin, with the text around it; those made of bound values first."""
    yield from ((token, around(found.pages[token.page - 1], token)) for token in found.joined)
    left, given, quiet = Counter(origins.credits), Counter(origins.given), Counter(origins.quiet)
    waiting: list[Token] = []
    for token in found.tokens():
        page = found.pages[token.page - 1]
        if is_glued(found, token):
            yield token, around(page, token)
        elif not is_conventional(page, token, origins.named) and not origins.free & {token.text, joined(page, token)} and not (left + origins.quiet)[joined(page, token)]:
            waiting.append(token)
    for token in waiting:
        page = found.pages[token.page - 1]
        if "." in token.text or len(token.text) >= 4:
            left[token.text] -= 1
            lonely = left[token.text] < 0 and not in_sentence(page.text, token)
            quiet[token.text] -= lonely
            missing = left[token.text] < 0 and not (lonely and quiet[token.text] >= 0) and not (origins.split and all(left[part] for part in token.text.split(".")))
        else:
            missing = is_unsaid(page, token, origins) and given[token.text] < 1
            given[token.text] -= is_unsaid(page, token, origins)
        if missing:
            yield token, around(page, token)


def joined(page: Page, token: Token) -> str:
    """The whole of a number of which the end stands on a new line; nothing where the token is no such end."""
    before = BROKEN.search(page.text, max(0, token.start - 12), token.start)
    return plain(before[1] + token.text) if before else ""


def neighbours(text: str, start: int, end: int) -> tuple[str, str]:
    """The plain words directly before and after a number, in small letters throughout; nothing where another thing stands there."""
    before, after = BEFORE.search(text, max(0, start - 30), start), BEHIND.match(text, end)
    return before[1] if before else "", after[1] if after else ""


def in_sentence(text: str, token: Token) -> bool:
    """Whether a number follows a plain word and another follows it, or a unit is set right behind it."""
    return bool(BEFORE.search(text, max(0, token.start - 30), token.start) and BEHIND.match(text, token.end))


def is_unsaid(page: Page, token: Token, origins: Origins) -> bool:
    """Whether a small number stands between two plain words of a sentence, and the sources type it between no such words."""
    before, after = neighbours(page.text, token.start, token.end)
    said = origins.sentences.get(token.text, [])
    return bool(before and after) and not any(
        (not left or left.endswith(before) or before.endswith(left)) and (not right or right.startswith(after)) for left, right in said
    )


def is_glued(found: Alignment, token: Token) -> bool:
    """Whether a digit was set directly before or after a bound value, so that a reader takes both for one number."""
    covered, text = found.covered[token.page - 1], found.pages[token.page - 1].text
    before = token.start > 0 and covered[token.start - 1] and text[token.start - 1].isdigit()
    after = token.end < len(text) and covered[token.end] and text[token.end].isdigit()
    return bool(before or after)


def is_conventional(page: Page, token: Token, named: set[str]) -> bool:
    """Whether a number is a page's own, that of a heading, float or equation, a citation's in brackets, or a note's mark."""
    index = page.word_of(token.start)
    word = page.words[index]
    edge = word.bottom > page.height * 0.9 or word.top < page.height * 0.09
    if token.text in named and (edge or NAMED.search(page.text, max(0, token.start - 20), token.start)):
        return True
    if EQUATION.fullmatch(word.text) and page.text[page.starts[index] + len(word.text) :][:1] in ("\n", ""):
        return True
    if "." in token.text or len(token.text) > 3:
        return False
    bracketed = any(match.start() <= token.start < match.end() for match in BRACKETS.finditer(page.text, max(0, token.start - 40), token.end + 40))
    return edge or bracketed or page.gaps[index] == "^"


def around(page: Page, token: Token) -> str:
    """The words around a number, for the reader of a finding."""
    start, end = max(0, token.start - 30), min(len(page.text), token.end + 20)
    return " ".join(page.text[start:end].split())
