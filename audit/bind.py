"""The command `audit bind`: typed results become `\\val`, each change shown before it is made, and none chosen among equals in silence."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from audit.context import Context
from audit.document import generated_inputs, load_document
from audit.finding import FOUND, HOLDS, Refusal, several
from audit.load import read_bytes, write_bytes
from audit.numbers.exemptions import load_exemptions, match_exemptions
from audit.numbers.keys import Keys
from audit.numbers.literals import SIUNITX, Literal
from audit.numbers.matches import Match, Matches
from audit.numbers.scan import Scan, decode

__all__ = ["main"]

Ask = Callable[[str], str]
AROUND = 48
"""Characters of a line that are shown on either side of a number."""


@dataclass(frozen=True)
class Typed:
    """One typed result and the ways to print it from a record."""

    scan: Scan
    literal: Literal
    matches: tuple[Match, ...]
    nearest: str
    """The keys that a finding would name."""

    @property
    def place(self) -> str:
        return self.scan.place(self.literal.source_start)

    @property
    def certain(self) -> Match | None:
        """The one match that prints exactly what is typed, where no other does."""
        same = [match for match in self.matches if prints_the_same(match, self.literal)]
        return same[0] if len(same) == 1 else None

    def written(self, match: Match) -> str:
        """What stands in the number's place: a plus sign stays."""
        return ("+" if self.literal.text.startswith("+") else "") + match.macro

    def line(self, new: str | None = None) -> str:
        """The number's line, or what becomes of it, cut to what stands around the number."""
        source, start, end = self.scan.reading.source, self.literal.source_start, self.literal.source_end
        before, after = source[:start].rpartition("\n")[2], source[end:].partition("\n")[0]
        return before[-AROUND:] + (source[start:end] if new is None else new) + after[:AROUND]


def main(files: Sequence[Path], yes: bool, ask: Ask | None = None) -> int:
    """Bind what is chosen, file by file; 1 where a typed result is left."""
    context = Context.open()
    if ask is None and not yes and sys.stdin.isatty() and sys.stdout.isatty():
        ask = input
    typed = find_typed(context, files)
    chosen = choose(typed, None if yes else ask)
    for scan in dict.fromkeys(found.scan.path for found, _ in chosen):
        edits = [(found, match) for found, match in chosen if found.scan.path == scan]
        rewrite(context, edits, write=yes or ask is not None)
    left = len(typed) - (len(chosen) if yes or ask else 0)
    made = f"{several(len(chosen), 'number')} bound" if yes or ask else f"{several(len(chosen), 'number')} would be bound by --yes, nothing is changed"
    print(f"{made}; {several(left, 'typed result')} left" + (f"; then {what_follows(context)}" if chosen and (yes or ask) else ""))
    return FOUND if left else HOLDS


def what_follows(context: Context) -> str:
    """What makes the new macros print."""
    included = "macros.tex" in generated_inputs(context, load_document(context))
    return "audit render" if included else "audit render, and \\input{generated/macros} in the preamble"


def find_typed(context: Context, files: Sequence[Path]) -> list[Typed]:
    """The typed results of the manuscript, or of some of its files, that are not exempted."""
    document = load_document(context)
    wanted = {file.resolve() for file in files}
    read = {(context.root / scan.path).resolve() for scan in document.all}
    for file in files:
        if file.resolve() not in read:
            raise Refusal(file, "is no file of the manuscript", expected="a source that it inputs, or a template", cure="audit numbers lists those of any file")
    found = document.typed()
    exempted, _ = match_exemptions(load_exemptions(context), ((scan.path, number.literal.text) for scan, number in found))
    matches = Matches(Keys.of(context))
    return [
        Typed(scan, number.literal, tuple(fitting(matches.of(number.literal), number.literal)), matches.describe(number.literal))
        for scan, number in found
        if (scan.path, number.literal.text) not in exempted and (not files or (context.root / scan.path).resolve() in wanted)
    ]


def fitting(matches: Sequence[Match], literal: Literal) -> Iterator[Match]:
    """The matches that can stand where the number stands: none takes an uncertainty's place, and siunitx reads numbers only."""
    for match in matches:
        whole = not re.search(r"\(\d", literal.text) and literal.stream == "main"
        if whole and not (literal.frame.inside & SIUNITX and (literal.words or "%" in match.shown)):
            yield match


def prints_the_same(match: Match, literal: Literal) -> bool:
    """Whether a match prints what is typed, sign for sign; a decimal comma, `percent` in words and a comma in 1,404 are not what it prints."""
    if match.why or ("," in literal.text and "," not in match.shown):
        return False
    if literal.kind in ("words", "fraction"):
        return match.shown == " ".join(literal.text.split())
    shown = match.shown.removesuffix("%").replace(",", "")
    return literal.plain == shown and ("." in literal.text or "." not in shown) and (not literal.percent or literal.text.endswith(r"\%"))


def choose(typed: Sequence[Typed], ask: Ask | None) -> list[tuple[Typed, Match]]:
    """The match of each number that is to be bound: asked for, or the certain ones."""
    chosen = []
    for found in typed:
        print(f"{found.place}  {found.literal.text}" + ("" if found.matches else f"  {found.nearest}"))
        for number, match in enumerate(found.matches, start=1):
            print(f"  {number}  {match.describe()}")
        if not found.matches:
            continue
        match = found.certain if ask is None else inquire(found, ask)
        if match is QUIT:
            break
        if match is not None:
            chosen.append((found, match))
        elif ask is None:
            print("  left: " + ("several keys print it" if len(found.matches) > 1 else "it would be printed otherwise") + "; choose in a terminal, or by hand")
    return chosen


QUIT = Match("", "", "")


def inquire(found: Typed, ask: Ask) -> Match | None:
    """Show the change and ask: `y` where there is one key, else its number; `n` leaves the number, `q` ends the questions."""
    print(f"  - {found.line()}")
    for number, match in enumerate(found.matches, start=1):
        print(f"  {number if len(found.matches) > 1 else '+'} {found.line(found.written(match))}")
    answers = {str(number): match for number, match in enumerate(found.matches, start=1)}
    answers |= {"y": found.matches[0]} if len(found.matches) == 1 else {}
    prompt = f"bind? [{'y' if len(found.matches) == 1 else f'1-{len(found.matches)}'}/n/q] "
    while True:
        try:
            answer = ask(prompt).strip().lower()
        except EOFError:
            return QUIT
        if answer in answers:
            return answers[answer]
        if answer in ("", "n", "q"):
            return QUIT if answer == "q" else None


def rewrite(context: Context, edits: Sequence[tuple[Typed, Match]], write: bool) -> None:
    """Show the difference to one file and write it whole, in its own encoding and with its own line ends."""
    scan = edits[0][0].scan
    path = (context.root / scan.path).resolve()
    if not path.is_relative_to(context.root.resolve()):
        raise Refusal(scan.path, "lies outside the project", observed=str(path), cure="bind it there")
    data = read_bytes(path)
    old, encoding = decode_exactly(data)
    new = replace(old, scan, edits)
    sys.stdout.writelines(unified_diff(split(old), split(new), scan.path, scan.path, n=0))
    if write:
        mode = path.stat().st_mode
        write_bytes(path, new.encode(encoding))
        path.chmod(mode)


def decode_exactly(data: bytes) -> tuple[str, str]:
    """The text of a file with its line ends, and the encoding that gives the same bytes back."""
    encoding = "latin-1" if any("Latin-1" in note for note in decode(data)[1]) else "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    return data.decode(encoding), encoding


def replace(text: str, scan: Scan, edits: Sequence[tuple[Typed, Match]]) -> str:
    """The text with every chosen number replaced; places are those of the scan, where a line end is one character."""
    source = scan.reading.source
    doubled = [match.start() - index for index, match in enumerate(re.finditer("\r\n", text))]
    pieces, done = [], 0
    for found, match in edits:
        literal = found.literal
        start, end = (place + bisect_left(doubled, place) for place in (literal.source_start, literal.source_end))
        same = text[start:end].replace("\r\n", "\n") == source[literal.source_start : literal.source_end]
        if not same or len(text) != len(source) + len(doubled):
            raise Refusal(found.place, "the file has changed since it was read", cure="audit bind again")
        pieces += [text[done:start], found.written(match)]
        done = end
    return "".join([*pieces, text[done:]])


def split(text: str) -> list[str]:
    """Lines for a difference, each with one line end."""
    return [line + "\n" for line in text.replace("\r\n", "\n").split("\n")]
