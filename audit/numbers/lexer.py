"""The lexer: LaTeX source cut into tokens, with what TeX never typesets (comments, dead branches) and verbatim set apart."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Lines", "Token", "lex"]

VERBATIM = frozenset(
    "verbatim verbatim* Verbatim BVerbatim LVerbatim lstlisting minted alltt filecontents filecontents* filecontents** "
    "pycode pyblock sagesilent luacode".split()
)
HIDDEN = frozenset({"comment"})
INLINE_VERBATIM = frozenset({"\\verb", "\\verb*", "\\lstinline", "\\mintinline", "\\Verb", "\\Verb*"})

TOKEN = re.compile(
    r"(?P<comment>%[^\n]*(?:\n[ \t]*+(?!\n))?)"
    r"|(?P<command>\\(?:[A-Za-z@]+\*?|\n|[^A-Za-z@\n]|\Z))"
    r"|(?P<math>\$)"
    r"|(?P<open>\{)|(?P<close>\})"
    r"|(?P<par>\n[ \t]*\n\s*)"
    r"|(?P<mark>[\[\]&~^_#])"
    r"|(?P<text>[^\\%${}\[\]&~^_#\n]+|\n)"
)
ENVIRONMENT = re.compile(r"\s*\{([A-Za-z@]+\*{0,2})\}")
CONDITIONAL = re.compile(r"(?<!\\)%[^\n]*|\\(?:if(?!f\b)[A-Za-z@]*|else|fi)(?![A-Za-z@])")
FRACTIONS = frozenset({"\\frac", "\\tfrac", "\\dfrac", "\\nicefrac", "\\sfrac"})
QUOTIENT = re.compile(r"\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}")
REVIVED = re.compile(r"\\(?:let|g?def|(?:re)?newcommand\*?\s*\{?)\s*\\iffalse(?![A-Za-z@])")
PARAMETER = re.compile(r"#+[0-9]")


class Token(NamedTuple):
    """One token: its kind, its text (an environment's name for `begin`, `end`), and where it stands."""

    kind: str
    text: str
    start: int
    end: int


class Lines:
    """Line and column of an offset, both counted from 1."""

    def __init__(self, source: str):
        self.starts = [0, *(match.end() for match in re.finditer("\n", source))]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def lex(source: str) -> Iterator[Token]:
    """The tokens of a source, up to `\\endinput`'s line or `\\end{document}`; never raises."""
    offset, stop = 0, len(source)
    dead = REVIVED.search(source) is None
    while offset < stop:
        match = TOKEN.match(source, offset)
        if match is None:
            yield Token("text", source[offset], offset, offset + 1)
            offset += 1
            continue
        kind, text = match.lastgroup or "text", match.group()
        token = Token(kind, text, offset, match.end())
        if kind == "command":
            token = read_command(source, token, dead)
        elif text == "#":
            token = read_parameter(source, token)
        yield token
        offset = token.end
        if token.text == "\\endinput":
            line_end = source.find("\n", offset)
            stop = min(stop, len(source) if line_end < 0 else line_end)
        elif token.kind == "end" and token.text == "document":
            return


def read_parameter(source: str, token: Token) -> Token:
    """`#1` is a macro's parameter, not a digit of the text."""
    match = PARAMETER.match(source, token.start)
    return Token("parameter", match.group(), token.start, match.end()) if match else token


def read_command(source: str, token: Token, dead: bool) -> Token:
    """A command, or the larger token it opens: an environment, verbatim, a dead branch (unless the source gives `\\iffalse` another meaning)."""
    name = token.text
    if name in ("\\begin", "\\end"):
        return read_environment(source, token)
    if name in FRACTIONS and (match := QUOTIENT.match(source, token.end)):
        return Token("fraction", f"{match[1]}/{match[2]}", token.start, match.end())
    if name in INLINE_VERBATIM:
        return read_inline_verbatim(source, token)
    if dead and name == "\\iffalse":
        return read_dead_branch(source, token)
    return token


def read_environment(source: str, token: Token) -> Token:
    """`\\begin{name}` or `\\end{name}`; verbatim and comment environments whole."""
    match = ENVIRONMENT.match(source, token.end)
    if match is None:
        return token
    name, end = match.group(1), match.end()
    if token.text == "\\begin" and (name in VERBATIM or name in HIDDEN):
        closing = f"\\end{{{name}}}"
        found = source.find(closing, end)
        kind = "hidden" if name in HIDDEN else "verbatim"
        if found < 0:
            return Token("unclosed", name, token.start, len(source))
        return Token(kind, source[end:found], token.start, found + len(closing))
    return Token(token.text[1:], name, token.start, end)


def read_inline_verbatim(source: str, token: Token) -> Token:
    """`\\verb|...|` with any delimiter; `\\lstinline[...]` and `\\mintinline{lang}` skip their arguments first."""
    offset = token.end
    if not token.text.lower().startswith("\\verb"):
        offset = skip_argument(source, offset, "[", "]")
        if token.text == "\\mintinline":
            offset = skip_argument(source, offset, "{", "}")
    delimiter = source[offset : offset + 1]
    found = source.find("}" if delimiter == "{" else delimiter, offset + 1) if delimiter.strip() else -1
    line_end = source.find("\n", offset)
    if found < 0 or 0 <= line_end < found:
        return token
    return Token("verbatim", source[offset + 1 : found], token.start, found + 1)


def skip_argument(source: str, offset: int, opening: str, closing: str) -> int:
    """The offset after a flat argument, or the same offset where there is none."""
    if source[offset : offset + 1] != opening:
        return offset
    found = source.find(closing, offset)
    return offset if found < 0 else found + 1


def read_dead_branch(source: str, token: Token) -> Token:
    """`\\iffalse` up to its `\\else` or `\\fi`; conditionals inside are counted."""
    depth = 1
    for match in CONDITIONAL.finditer(source, token.end):
        word = match.group()
        if word.startswith("%"):
            continue
        if word == "\\fi":
            depth -= 1
        elif word != "\\else":
            depth += 1
        if depth == 0 or (depth == 1 and word == "\\else"):
            return Token("hidden", source[token.start : match.end()], token.start, match.end())
    return Token("unclosed", "iffalse", token.start, len(source))
