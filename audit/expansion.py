"""Sources without our macros: each is replaced by what it prints, token by token, so that TeX reads the same text as before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from audit.columns import Tables
from audit.finding import Refusal
from audit.macro_texts import Printed
from audit.numbers.lexer import Lines, Token, lex
from audit.numbers.literals import SIUNITX

__all__ = ["SHAPES", "SILENT", "Use", "expand", "find_uses"]

SHAPES = {
    "val": "om", "verdict": "m", "ifverdict": "mmmm", "prov": "m", "confirmatory": "m", "unjudged": "mm", "claim": "mm",
    "valstyle": "m", "auditlinks": "", "auditanchor": "o", "auditpages": "o",
}  # fmt: skip
"""Our macros with their arguments, `o` an optional one."""
SILENT = frozenset({"valstyle", "auditlinks", "auditanchor", "auditpages"})
"""Those that print nothing in a finished text."""
BRANCHES = {"met": 1, "missed": 2, "undecided": 3}
ELSEWHERE = "not evaluated here"
OPEN = f"[{ELSEWHERE}]"


@dataclass(frozen=True)
class Use:
    """One macro of ours in a source: its arguments (None for an optional one that is absent), and where it begins and ends."""

    name: str
    arguments: tuple[str | None, ...]
    start: int
    end: int
    before: Token | None
    """The token in front of it."""
    within: str
    """The command whose argument it stands in."""
    cell: bool = False
    """Whether it stands in a cell that siunitx reads."""

    def key(self) -> str:
        """The key, as the reader of the sources squeezes it."""
        return squeeze(self.arguments[1] if self.name == "val" else self.arguments[0])


def squeeze(text: str | None) -> str:
    return " ".join((text or "").split())


def expand(source: str, printed: Printed, place: str) -> str:
    """The source with every macro of ours replaced by what it prints; comments, verbatim text and dead branches are left alone."""
    pieces, position = [], 0
    for use in find_uses(source, place):
        start, end = whole_line(source, use) if use.name in SILENT else (use.start, use.end)
        pieces.append(source[position:start])
        if use.name not in SILENT:
            pieces.append(fit(print_use(use, printed, place), source, use))
        position = end
    return "".join([*pieces, source[position:]])


def find_uses(source: str, place: str) -> list[Use]:
    """The outermost uses of our macros in a source, in order."""
    tokens = list(lex(source))
    uses, index, around, tables = [], 0, Around(), Tables(source)
    while index < len(tokens):
        token = tokens[index]
        name = token.text[1:]
        index += 1
        if token.kind == "command" and name in SHAPES:
            before = tokens[index - 2] if index > 1 else None
            arguments, end, index = read_arguments(source, tokens, index, token, place)
            uses.append(Use(name, arguments, token.start, end, before, around.within, tables.is_number(len(around.open))))
        else:
            tables.pass_by(token, len(around.open))
            around.pass_by(token)
    return uses


class Around:
    """The commands in whose arguments one stands while passing over tokens."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.last = ""

    @property
    def within(self) -> str:
        return self.open[-1] if self.open else ""

    def pass_by(self, token: Token) -> None:
        """Take note of one token; an argument that follows another belongs to the same command."""
        if token.kind == "command":
            self.last = token.text[1:]
        elif token.kind == "open" or (token.text == "[" and self.last in SIUNITX):
            self.open.append(self.last)
            self.last = ""
        elif token.kind == "close" or (token.text == "]" and self.within in SIUNITX):
            self.last = self.open.pop() if self.open else ""
        elif not is_blank(token):
            self.last = ""


def read_arguments(source: str, tokens: Sequence[Token], index: int, command: Token, place: str) -> tuple[tuple[str | None, ...], int, int]:
    """The arguments of a command, the offset behind them, and the index of the token that follows."""
    found: list[str | None] = []
    end = command.end
    for letter in SHAPES[command.text[1:]]:
        opening = index
        while opening < len(tokens) and is_blank(tokens[opening]):
            opening += 1
        wanted = "[" if letter == "o" else "{"
        if opening == len(tokens) or tokens[opening].text != wanted:
            if letter == "o":
                found.append(None)
                continue
            line, column = Lines(source).place(command.start)
            raise Refusal(f"{place}:{line}:{column}", f"{command.text} stands without its arguments", cure="write them in braces")
        closing = find_closing(tokens, opening, "]" if letter == "o" else "}")
        if closing is None:
            line, column = Lines(source).place(command.start)
            raise Refusal(f"{place}:{line}:{column}", f"an argument of {command.text} is never closed", cure="close the brace")
        found.append(source[tokens[opening].end : tokens[closing].start])
        end, index = tokens[closing].end, closing + 1
    return tuple(found), end, index


def is_blank(token: Token) -> bool:
    return token.kind == "comment" or (token.kind == "text" and not token.text.strip())


def find_closing(tokens: Sequence[Token], opening: int, wanted: str) -> int | None:
    """The token that closes an argument: the first `wanted` outside inner braces."""
    depth = 0
    for index in range(opening + 1, len(tokens)):
        token = tokens[index]
        if token.text == wanted and depth == 0 and token.kind in ("close", "mark"):
            return index
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < 0:
            return None
    return None


def print_use(use: Use, printed: Printed, place: str) -> str:
    """What a use prints, as LaTeX."""
    key = use.key()
    match use.name:
        case "val":
            shown = (squeeze(use.arguments[0]), key)
            return printed.numbers[shown] if (use.cell or use.within in SIUNITX) and shown in printed.numbers else look_up(printed.values, shown, place)
        case "verdict":
            return look_up(printed.verdicts, key, place)
        case "prov":
            return look_up(printed.provenance, key, place)
        case "confirmatory":
            return look_up(printed.labels, key, place)
        case "unjudged":
            return f"{look_up(printed.unjudged, key, place)}: not judged, {inner(use, 1, printed, place)}"
        case "claim":
            return inner(use, 1, printed, place) if printed.claims.get(key, "holds") == "holds" else OPEN
    verdict = look_up(printed.verdicts, key, place)
    return OPEN if verdict == ELSEWHERE else inner(use, BRANCHES[verdict.removesuffix(" (post hoc)")], printed, place)


def look_up(texts: dict, key: object, place: str) -> str:
    """A printed form; the keys were checked before."""
    if key not in texts:
        raise Refusal(place, f"nothing is rendered for {key!r}", cure="audit verify")
    return str(texts[key])


def inner(use: Use, number: int, printed: Printed, place: str) -> str:
    """An argument that is text, with what a line's end at its border would become outside of its braces."""
    text = drop_last_comment(expand(use.arguments[number] or "", printed, place))
    for border in (r"\A[ \t]*\n[ \t]*(?=\S|\Z)", r"(?<=\S)[ \t]*\n[ \t]*\Z"):
        text = re.sub(border, " ", text)
    return text


def drop_last_comment(text: str) -> str:
    """The text without a comment at its very end, whose line's end must not meet another."""
    tokens = list(lex(text))
    return text[: tokens[-1].start] if tokens and tokens[-1].kind == "comment" else text


def fit(text: str, source: str, use: Use) -> str:
    """The text as it must stand so that its neighbours are read as they were: no command swallows it, no empty line begins."""
    before = use.before if use.before is not None and use.before.end == use.start else None
    follows = source[use.end : use.end + 1]
    if not text.strip():
        text = f"{{}}{text}" if text else "{}"
    elif before is not None:
        text = part(text, before)
    if re.search(r"\\[A-Za-z@]+\Z", text) and (follows.isalpha() or follows.isspace() or follows == "@"):
        text += "{}"
    return text


def part(text: str, before: Token) -> str:
    """The text parted from the token in front of it."""
    first = text[0]
    if before.kind == "mark" and before.text in "^_":
        return f"{{{text}}}"
    named = before.kind == "command" and before.text[-1].isalpha()
    if named and first.isalpha():
        return f" {text}"
    swallowed = (named and first.isspace()) or (first in "[*(" and (before.kind in ("command", "close") or before.text == "]"))
    joined = before.kind == "text" and before.text[-1].isalnum() and first.isalnum()
    return f"{{}}{text}" if swallowed or joined else text


def whole_line(source: str, use: Use) -> tuple[int, int]:
    """The place of a macro that prints nothing; with its line where it stands there alone."""
    start, end = source.rfind("\n", 0, use.start) + 1, source.find("\n", use.end) + 1 or len(source)
    alone = not source[start : use.start].strip() and not source[use.end : end].strip()
    return (start, end) if alone else (use.start, use.end)
