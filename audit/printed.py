"""What one PDF prints, against what the records of this commit say it must: values, rows of tables, and numbers from nowhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from audit.alignment import Alignment, Token, align, printed_skeleton
from audit.context import Context
from audit.denominator import verdict_records
from audit.document import Document, Use, generated_inputs, load_document
from audit.finding import Finding, Refusal, several
from audit.ink import find_invisible
from audit.layer import extract_pages, skeleton
from audit.marks import Mark, Typeset
from audit.numbers.format import format_quantity
from audit.numbers.keys import Keys
from audit.numbers.stream import VALUE, Reading
from audit.origins import collect_origins, generated_rows, read_generated, unaccounted
from audit.render import generate
from audit.rows import Row, align_rows

__all__ = ["CURE", "Compared", "arguments", "compare_pdf", "family_of", "find_lost", "find_typed", "find_unprinted", "place_keys", "printed_texts"]

DEFINED = re.compile(r"^\\@namedef\{audit@(plain@[^@}]*|verdict|prov|label|unjudged)@([^{}]*)\}\{(.*)\}$", re.MULTILINE)
FAMILIES = {"verdict": "verdict", "choice": "verdict", "prov": "prov", "confirmatory": "label", "unjudged": "unjudged"}
SCALERS = frozenset("resizebox resizebox* scalebox rotatebox reflectbox adjustbox turn rotate sideways sidewaystable sidewaysfigure sidewaystable* landscape tcolorbox mdframed".split())
SCALING = re.compile(rf"[\\{{](?:{'|'.join(re.escape(name) for name in sorted(SCALERS))})(?![A-Za-z])")
DRAWING = re.compile(r"\\begin\{(tikzpicture|pgfpicture|axis|pspicture|tcolorbox)\}.*?\\end\{\1\}|\\tikz[^;]*;", re.DOTALL)
CITED = re.compile(r"\\(?:val|verdict|prov|confirmatory)\s*(?:\[[^\]]*\]\s*)?\{([^{}]*)\}")
CURE = "audit render, audit pdf"
LETTERS = re.compile(r"\s*([A-Za-z][A-Za-z ,]*)")


@dataclass(frozen=True)
class Compared:
    """What comparing one PDF gave."""

    findings: tuple[Finding, ...]
    pages: int
    counted: str
    """How much was compared, for the report."""


def compare_pdf(context: Context, path: Path, typeset: Typeset, name: str = "", *, ink: bool = False) -> Compared:
    """Bound values that do not stand where LaTeX put them, rows of tables that do not stand in it, and numbers that come from nowhere."""
    name = name or context.config.paths.pdf
    with ThreadPoolExecutor() as pool:
        layer = pool.submit(extract_pages, path)
        marks, rows, origins = [*expected(context, typeset.marks)], generated_rows(context), collect_origins(context, typeset)
    pages = layer.result()
    found = align(pages, marks, scaling(load_document(context)))
    found.tiny += find_pale(path, found) if ink else []
    lost = [(file, row) for file, those in rows.items() for row in align_rows(found, those)]
    typed = list(unaccounted(found, origins))
    seen = [mark for mark, _ in marks if mark not in found.tiny and all(mark != bare for bare, _ in found.bare)]
    findings = (
        *find_bare(found, name),
        *find_unshown(context, seen, {file for file, _ in lost}),
        *(find_lost(context, file, row) for file, row in lost),
        *find_typed(name, typed),
    )
    counted = f"{several(len(typeset.marks), 'bound value')} typeset, {several(sum(map(len, rows.values())), 'row')} of generated tables"
    return Compared(findings, len(pages), counted)


def find_typed(name: str, typed: Iterable[tuple[Token, str]]) -> Iterator[Finding]:
    """Numbers that come from nowhere."""
    for token, shown in typed:
        what, cure = f"number {token.text} in the PDF has no source", "cite it with \\val, or find what prints it"
        yield Finding(code="A503", place=f"{name}:{token.page}", what=what, observed=f"...{shown}... on page {token.page}", cure=cure)


def printed_texts(context: Context) -> dict[tuple[str, str], str]:
    """(family, key) -> what each macro of ours prints, by the records of this commit."""
    try:
        return {(family, key): text for family, key, text in DEFINED.findall(generate(context).files["macros.tex"].decode())}
    except Refusal:
        return {}  # the same refusal is A402 or A408 of the first pass


def family_of(form: str) -> str:
    """The family of definitions that a macro looks its text up in."""
    return FAMILIES.get(form, f"plain@{form}")


def expected(context: Context, marks: Iterable[Mark]) -> Iterator[tuple[Mark, str]]:
    """Each mark with its text by the records of this commit, and what of that must stand in the PDF."""
    texts, chosen, keys = printed_texts(context), beginnings(context), Keys.of(context)
    for mark in marks:
        family = family_of(mark.form)
        if mark.form == "claim":
            continue  # it prints a sentence of the source
        if mark.form == "choice":
            begun = chosen.get((mark.key, texts.get((family, mark.key), "").partition(" ")[0]), [""])
            yield replace(mark, text=f"a sentence that begins {' or '.join(begun)}"), "|".join(begun)
        else:
            text = texts.get((family, mark.key)) or recompute(keys, mark)
            yield replace(mark, text=text), printed_skeleton(text, mark.form)


def scaling(document: Document) -> Callable[[Mark], bool]:
    """Whether a mark may stand in a box that LaTeX scales or turns: the place that it writes down is the one before."""
    opening = [scan.reading.source.partition("\\begin{document}")[0] for scan in document.scans if "\\begin{document}" in scan.reading.source]
    if any(SCALING.search(text) for text in (*opening, *(scan.reading.source for scan in document.packages))):
        return lambda _: True
    keys = {key for scan in document.scans for key in (*scaled_keys(scan.reading), *drawn_keys(scan.reading.source))}
    return lambda mark: mark.key in keys


def scaled_keys(reading: Reading) -> Iterator[str]:
    """The keys that a source cites in boxes or environments that are scaled or turned."""
    return (use[2] for use, piece in place_keys(reading) if reading.main.frames[piece].inside & SCALERS)


def drawn_keys(source: str) -> Iterator[str]:
    """The keys that a drawing of the source cites: its coordinates are not those of the page."""
    return (key for drawing in DRAWING.finditer(source) for key in CITED.findall(drawing[0]))


def place_keys(reading: Reading) -> Iterator[tuple[tuple[str, str, str, int, bool], int]]:
    """Each use of a macro of ours that prints a text, with the piece of the stream that stands for it."""
    pieces = [(start, index) for index, (start, text) in enumerate(zip(reading.main.sources, reading.main.pieces, strict=True)) if text == VALUE]
    for use in reading.uses:
        at = bisect_right(pieces, use[3], key=lambda piece: piece[0]) - 1
        if at >= 0 and use[0] not in ("ifverdict", "claim"):
            yield use, pieces[at][1]


def recompute(keys: Keys, mark: Mark) -> str:
    """The printed form of a value that the sources here do not cite; what the PDF itself says where it has no record."""
    try:
        return mark.text if mark.form in FAMILIES else format_quantity(keys.resolve(mark.key, mark.key), mark.form)
    except Refusal:
        return mark.text


def beginnings(context: Context) -> dict[tuple[str, str], list[str]]:
    """(prediction, verdict) -> how the sentences begin that `\\ifverdict` may choose; nothing where they begin with no letter."""
    found: dict[tuple[str, str], list[str]] = {}
    for scan in load_document(context).all:
        for command, _, key, offset, _ in scan.reading.uses:
            if command == "ifverdict":
                for verdict, sentence in zip(("met", "missed", "undecided"), arguments(scan.reading.source, offset)[1:], strict=False):
                    words = LETTERS.match(sentence)
                    found.setdefault((key, verdict), []).append(skeleton(words[1])[:12] if words else "")
    return found


def arguments(source: str, offset: int) -> list[str]:
    """The texts in the braces that follow a command."""
    found, depth, start = [], 0, 0
    for match in re.compile(r"\\.|[{}]|\n\s*\n", re.DOTALL).finditer(source, offset):
        if match[0] == "{":
            depth, start = depth + 1, match.end() if depth == 0 else start
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                found.append(source[start : match.start()])
        if depth < 0 or len(found) == 4:
            break
    return found


def find_pale(path: Path, found: Alignment) -> list[Mark]:
    """Marks of which the text layer has a text and the page shows nothing."""
    owners = [(mark, box) for mark, boxes in found.standing for box in boxes]
    return list(dict.fromkeys(owners[index][0] for index in find_invisible(path, [box for _, box in owners])))


def find_bare(found: Alignment, name: str) -> Iterator[Finding]:
    """Marks whose text is not at its place, or is too small to be read."""
    for mark, standing in found.bare:
        what = f"{mark.command} is typeset on page {mark.page} and its text does not stand there"
        yield Finding(code="A502", place=f"{name}:{mark.page}", what=what, expected=mark.text, observed=standing, cure=CURE)
    for mark in found.tiny:
        what = f"{mark.command} cannot be read on the page: too small, too pale or covered"
        yield Finding(code="A505", place=f"{name}:{mark.page}", what=what, observed=mark.text, cure="print it like the text around it")


def find_unshown(context: Context, seen: Iterable[Mark], lost: set[str]) -> Iterator[Finding]:
    """Verdicts that the sources show and no reader of the PDF sees: in a phantom, a box that nobody uses, print too small."""
    shown = {mark.key for mark in seen if mark.form in ("verdict", "choice")}
    document = load_document(context)
    try:
        tables = generate(context).shown
    except Refusal:
        return  # the same refusal is A402 or A408 of the first pass
    shown = shown.union(*(tables.get(file, set()) for file in generated_inputs(context, document) - lost))
    named = {use.key for use in document.uses() if use.command in ("verdict", "ifverdict")}
    for registration, (path, record) in sorted(verdict_records(context).items()):
        for row in record["predictions"]:
            if (key := f"{registration}.{row['id']}") in named - shown:
                yield Finding(code="A508", place=context.config.paths.pdf, what=f"no reader sees the verdict of {key}", expected=f"{row['verdict']}, by {path}", cure="print it in the text")


def find_lost(context: Context, file: str, row: Row) -> Finding:
    """A row of a generated table that does not stand in the PDF."""
    return Finding(
        code="A502", place=f"{context.config.paths.generated}/{file}", what="a row of this file does not stand in the PDF", expected=" ".join(row.tokens)[:80], cure=CURE
    )


def demanded_uses(context: Context, document: Document) -> list[Use]:
    """Every use of a macro of ours that LaTeX must typeset, those of the included generated files too."""
    generated = context.config.paths.generated
    uses = [use for use in document.uses() if use.demanded and not use.place.split(":")[0].endswith(".j2")]
    for name in sorted(generated_inputs(context, document)):
        path = context.root / generated / name
        if path.name != "macros.tex" and path.is_file():
            reading = read_generated(context, path)
            uses += [Use(*use[:3], f"{generated}/{name}", use[4]) for use in reading.uses if use[3] not in reading.optional]
    return uses


def form_of(use: Use) -> tuple[str, str]:
    """Key and form of a use, as LaTeX writes them down."""
    return use.key, {"val": use.option, "ifverdict": "choice"}.get(use.command, use.command)


def find_unprinted(context: Context, marks: Iterable[Mark]) -> Iterator[Finding]:
    """A502: uses that LaTeX did not typeset (in a branch, a box that nobody uses), and what it is said to have typeset and no source uses."""
    document = load_document(context)
    printed, wanted, first = Counter((mark.key, mark.form) for mark in marks), Counter[tuple[str, str]](), dict[tuple[str, str], Use]()
    demanded = demanded_uses(context, document)
    for use in demanded:
        wanted[form_of(use)] += 1
        first.setdefault(form_of(use), use)
    for shown, count in wanted.items():
        if printed[shown] < count:
            what = f"{count - printed[shown]} of {count} uses of \\{first[shown].command}{{{shown[0]}}} print nothing"
            expected, cure = f"{count} typeset by the generated macros", "look for a redefinition of our macros, or remove the use"
            yield Finding(code="A502", place=first[shown].place, what=what, expected=expected, observed=str(printed[shown]), cure=cure)
    known = {form_of(use) for use in (*demanded, *document.uses())}
    for mark in {(mark.key, mark.form): mark for mark in marks if (mark.key, mark.form) not in known}.values():
        what = f"{mark.command} is written down as typeset on page {mark.page}, and no source uses it"
        yield Finding(code="A502", place=f"{context.config.paths.pdf}:{mark.page}", what=what, observed=mark.text, cure=CURE)
