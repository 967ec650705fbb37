"""The command `audit verify --pdf FILE`: a PDF from elsewhere against the records of this checkout."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import click

from audit.alignment import Alignment, align, printed_skeleton
from audit.context import Context
from audit.document import load_document
from audit.finding import Finding, Refusal, Severity, exit_code, several
from audit.layer import extract_pages
from audit.marks import Typeset, read_attached
from audit.numbers.scan import Scan
from audit.origins import collect_origins, generated_rows, unaccounted
from audit.pdf import document_digest, read_stamp
from audit.printed import CURE, Compared, compare_pdf, family_of, find_lost, find_typed, find_unprinted, place_keys, printed_texts
from audit.rows import align_rows, bones_of

__all__ = ["main"]

CODE = "A509"
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
BREAK = re.compile(r"[\ue000-\ue007]|\\[A-Za-z@]+|\n\n|\^")
ENOUGH = 8
"""How many letters of a sentence name a place in it."""
BY_PLACE = "each bound value at the place where LaTeX put it"
BY_TEXT = "by text alone, for the PDF carries nothing of what LaTeX wrote down: a value between other words than those of the sources here is looked for anywhere"
SEEN = "not checked: numbers in pictures and in figures that no run made, and sentences"
UNSEEN = "not checked: text that is white or covered, numbers in pictures and in figures that no run made, and sentences"


def main(path: Path, form: str) -> int:
    """Compare, and print what was found, how, and what could not be checked."""
    context = Context.open()
    if load_document(context).main is None:
        raise Refusal(context.config.paths.manuscript, "no manuscript", cure="run inside the project that the PDF was made from")
    typeset = read_attached(path)
    compared = compare_pdf(context, path, typeset, path.name, ink=True) if typeset else compare_text(context, path)
    findings = [*find_strange(context, path, typeset), *compared.findings]
    findings += [*limits(path, typeset)]
    code = exit_code(findings)
    if form == "json":
        click.echo(json.dumps({"kind": "pdf", "version": 1, "exit": code, "findings": [finding.model_dump(mode="json") for finding in findings]}, indent=1))
        return code
    for finding in findings:
        click.echo(finding.line())
    standing = sum(finding.severity is Severity.FINDING for finding in findings)
    click.echo(f"{path.name}: {several(compared.pages, 'page')}, {compared.counted}, {several(standing, 'finding')}")
    return code


def find_strange(context: Context, path: Path, typeset: Typeset | None) -> Iterator[Finding]:
    """Whether the PDF was built from the sources that are here; if so, every use in them must have been typeset."""
    stamp, wanted = read_stamp(path), document_digest(context)
    if stamp != wanted:
        what = "built from other sources than those here: which keys it cites is taken from itself" if typeset else "carries no digest of these sources"
        observed = (stamp or "no digest")[:12]
        yield Finding(code="A504", severity=Severity.NOTE, place=path.name, what=what, expected=wanted[:12], observed=observed, cure="check out the commit that it was built from")
    elif typeset:
        yield from find_unprinted(context, typeset.marks)


def limits(path: Path, typeset: Typeset | None) -> Iterator[Finding]:
    """What cannot be told of this PDF; text that stands for other glyphs is named where there is any."""
    yield Finding(code=CODE, severity=Severity.NOTE, place=path.name, what=f"compared {BY_PLACE if typeset else BY_TEXT}; {SEEN if typeset else UNSEEN}")
    hidden = count_replaced(path.read_bytes())
    if hidden:
        what = f"its text layer says something else than its glyphs in {several(hidden, 'place')} (ActualText): look at the pages"
        yield Finding(code=CODE, severity=Severity.NOTE, place=path.name, what=what)


def count_replaced(data: bytes) -> int:
    """How often a PDF gives a text of its own for what it draws."""
    count = data.count(b"/ActualText")
    for match in STREAM.finditer(data):
        try:
            count += zlib.decompressobj().decompress(match[1]).count(b"/ActualText")
        except zlib.error:
            continue  # an image or a font in another filter
    return count


def compare_text(context: Context, path: Path) -> Compared:
    """Bound values between the words of their sentences, rows of generated tables, and numbers that come from nowhere."""
    pages = extract_pages(path)
    if not any(page.words for page in pages):
        raise Refusal(path.name, "has no text to compare", cure="bring a PDF with text, not scanned pages")
    found, uses = align(pages, []), [entry for scan in load_document(context).scans for entry in sentences(context, scan)]
    waiting = [entry for entry in sorted(uses, key=lambda entry: -len(entry[3]) - len(entry[4])) if not settle_in_sentence(found, *entry[2:])]
    rows = generated_rows(context)
    lost = [(file, row) for file, those in rows.items() for row in align_rows(found, those)]
    findings = []
    for place, use, wanted, before, after in waiting:
        standing = standing_between(found, before, after) or ("" if settle(found, "", wanted, "") else "it nowhere")
        if standing:
            what = f"{use} does not stand in the PDF where its sentence has it"
            findings.append(Finding(code="A502", place=place, what=what, expected=wanted, observed=standing, cure=CURE))
    findings += [find_lost(context, file, row) for file, row in lost]
    own = context.root / context.config.paths.pdf
    findings += find_typed(path.name, unaccounted(found, collect_origins(context, read_attached(own) if own.is_file() else None)))
    counted = f"{several(len(uses), 'bound value')} looked for, {several(sum(map(len, rows.values())), 'row')} of generated tables"
    return Compared(tuple(findings), len(pages), counted)


def sentences(context: Context, scan: Scan) -> Iterator[tuple[str, str, str, str, str]]:
    """Place and text of each use, and the skeletons of what it prints and of the plain text before and after it."""
    texts, main = printed_texts(context), scan.reading.main
    text = main.text()
    for (command, option, key, offset, _), piece in place_keys(scan.reading):
        form = option if command == "val" else command
        shown = texts.get((family_of(form), key))
        if shown is not None and offset not in scan.reading.optional:
            at = main.starts[piece]
            parts = shown, BREAK.split(text[max(0, at - 90) : at])[-1], BREAK.split(text[at + 1 : at + 91])[0]
            wanted, before, after = (printed_skeleton(part, form).replace("-", "") for part in parts)
            yield scan.place(offset), f"\\{command}{{{key}}}", wanted, before, after


def settle_in_sentence(found: Alignment, wanted: str, before: str, after: str) -> bool:
    """Account for a value between the words of its sentence."""
    sides = ((before[-30:], after[:12]), (before[-30:], ""), ("", after[:30]))
    return any(len(left) + len(right) >= ENOUGH and settle(found, left, wanted, right) for left, right in sides)


def standing_between(found: Alignment, before: str, after: str) -> str:
    """What stands in the PDF where a sentence has a value; nothing where the sentence is not found."""
    for page in found.pages:
        bones = bones_of(page)[0]
        at = bones.find(before[-20:]) if len(before) >= ENOUGH else -1
        if at >= 0:
            return bones[at + len(before[-20:]) :][:12]
        at = bones.find(after[:20]) if len(after) >= ENOUGH else -1
        if at >= 0:
            return bones[max(0, at - 12) : at]
    return ""


def settle(found: Alignment, left: str, wanted: str, right: str) -> bool:
    """Account for a value between two texts, where it stands as a whole number or word and nothing else was accounted for."""
    pattern = re.compile(rf"{re.escape(left)}({re.escape(wanted)}){re.escape(right)}")
    for page in found.pages:
        bones, places = bones_of(page)
        for match in pattern.finditer(bones):
            here = places[match.start(1) : match.end(1)]
            around = page.text[max(0, here[0] - 1) : here[0]], page.text[here[-1] + 1 : here[-1] + 3]
            whole = not (wanted[0].isdigit() and around[0].isdigit()) and not (wanted[-1].isdigit() and re.match(r"\d|[.,]\d", around[1]))
            if whole and not any(found.covered[page.number - 1][at] for at in here):
                for at in here:
                    found.covered[page.number - 1][at] = 1
                return True
    return False
