"""The reader: walks the tokens of one file with a stack of frames, and says what it could not make sense of."""

from __future__ import annotations

import re

from audit.numbers import macros
from audit.numbers.lexer import Token, lex
from audit.numbers.stack import Stack
from audit.numbers.stream import ARGUMENT, CELL, CITE, MACRO, NUMERIC_COMMA, REF, ROW, SEAM, VALUE, Frame, Reading

__all__ = ["read"]

BARE = re.compile(r"\s*(?:[-+]?[\d.,]+\s*[a-z]{2}(?:\s*(?:plus|minus)\s*[-+]?[\d.]+\s*[a-z]{2,5})*|[^\s,;]+)")
ROW_SPACE = re.compile(r"\s*\[\s*-?\s*[\d.,]+\s*(?:[a-z]{2}|\\)")
TRIM = re.compile(r"\s*\((?:[lr]|\{[^{}()]*\}|\s)*\)\s*")  # between \cmidrule and its columns
RUN_IN = re.compile(r"\s*(?:\\(?:noindent|indent|medskip|smallskip|bigskip|item|par)\s*)*\\textbf\s*")
DOCUMENT = re.compile(r"\\begin\s*\{document\}")
KNOWN = macros.COMMANDS.keys() | macros.ENVIRONMENTS.keys()
MATH_COMMANDS = {"(": "inline", "[": "display"}


def read(source: str, preamble: bool | None = None) -> Reading:
    """Read one LaTeX source; never raises, whatever the text."""
    if preamble is None:
        preamble = DOCUMENT.search(source) is not None
    reader = Reader(source, preamble)
    for token in lex(source):
        reader.take(token)
    reader.finish()
    return reader.reading


class Reader(Stack):
    """A stack of frames over one source; `take` is given each token once."""

    def __init__(self, source: str, preamble: bool):
        super().__init__(source, preamble)
        self.pending: tuple[str, str, str] | None = None
        self.script = False
        self.skip_to = 0
        self.option = ""
        self.handlers = {
            "text": self.on_text, "command": self.on_command, "open": self.on_open, "close": self.on_close, "mark": self.on_mark, "math": self.on_math,
            "par": self.on_paragraph, "begin": self.on_begin, "end": self.on_end, "verbatim": self.on_verbatim, "unclosed": self.on_unclosed,
            "parameter": self.on_parameter, "fraction": self.on_fraction,
        }  # fmt: skip

    def take(self, token: Token) -> None:
        """Read one token in its context."""
        self.seen_to = token.end
        if token.kind == "hidden":
            self.pass_over(token.start, token.end, "a dead branch or a comment environment")
        if token.start < self.skip_to or token.kind in ("comment", "hidden") or (self.pending and self.take_argument(token)):
            return
        self.handlers[token.kind](token)

    # arguments

    def expect(self, name: str, arguments: str, opaque: str) -> None:
        self.pending = (name, arguments, opaque) if arguments else None

    def take_argument(self, token: Token) -> bool:
        """Offer the token to the command that waits for an argument; False when it is not one."""
        name, letters, opaque = self.pending or ("", "", "")
        blank = token.kind == "text" and not token.text.strip()
        spaced = blank and name in KNOWN and (letters.strip("oT") or (name in ("\\", "\\*") and ROW_SPACE.match(self.source, token.end)))
        trimmed = token.kind == "text" and name == "cmidrule" and TRIM.fullmatch(token.text)
        if spaced or trimmed or (token.kind == "parameter" and name in macros.DEFINERS):
            return True
        self.pending = None
        if token.text == "[" and letters[0] in "oT" and (name not in ("\\", "\\*") or ROW_SPACE.match(self.source, token.start)):
            self.open_argument("option", token, name, letters, opaque)
            return True
        letters = letters.lstrip("oT")
        if token.kind == "open" and letters:
            self.open_argument("argument", token, name, letters, opaque)
            return True
        return bool(letters) and letters[0] == "m" and self.take_bare(token, name, letters, opaque)

    def open_argument(self, kind: str, token: Token, name: str, letters: str, opaque: str) -> None:
        hidden = opaque if letters[0] in "om" else ""
        if not hidden and not (name in macros.SILENT and name not in macros.SEAMS):
            self.emit(SEAM if name in macros.SEAMS else ARGUMENT, token.start, 0)
        math = "" if hidden or name in macros.UPRIGHT else None
        frame = self.push(kind, name, token.start, opaque=hidden, math=math, script=name in ("textsuperscript", "textsubscript"))
        frame.rest, frame.rest_class = letters[1:], opaque

    def close_argument(self, token: Token) -> None:
        closed = self.top
        body = self.source[closed.start + 1 : token.start]
        self.pop()
        if closed.opaque:
            self.reading.aside.add(SEAM, token.start, 0, closed)
            self.note(closed, body)
        elif not (closed.name in macros.SILENT and closed.name not in macros.SEAMS):
            self.emit(SEAM if closed.name in macros.SEAMS else ARGUMENT, token.start, 0)
        rank = macros.SECTIONS.get(closed.name.rstrip("*"))
        if rank is not None and closed.kind == "argument" and (closed.name != "textbf" or self.runs_in(closed, body)):
            self.reading.sections.append((self.reading.main.length, body, rank))
        self.expect(closed.name, closed.rest, closed.rest_class)

    def runs_in(self, bold: Frame, body: str) -> bool:
        """Whether bold words stand as a head at the start of a line: `\\textbf{Methods.}`, `\\noindent\\textbf{Data:}`."""
        line = self.source[self.source.rfind("\n", 0, bold.start) + 1 : bold.start]
        following = self.source[bold.start + len(body) + 2 :][:1]
        return len(body) < 60 and (body.rstrip()[-1:] in (".", ":") or following == ":") and RUN_IN.fullmatch(line) is not None

    def take_bare(self, token: Token, name: str, letters: str, opaque: str) -> bool:
        """An argument without braces: `\\vskip 3pt`, `\\input file`, `\\setlength\\parskip`."""
        if token.kind == "command":
            self.reading.named.append((token.text[1:], token.start))
            self.expect(name, letters[1:], opaque)
            return True
        match = BARE.match(token.text) if token.kind == "text" else None
        if match is None:
            return False
        frame = self.push("argument", name, token.start, opaque=opaque, math="")
        self.emit(match.group(), token.start)
        self.pop()
        self.note(frame, match.group())
        self.on_text(Token("text", token.text[match.end() :], token.start + match.end(), token.end))
        return True

    def note(self, frame: Frame, body: str) -> None:
        """Remember our macros' arguments and the files that are included."""
        name, body = frame.name, macros.detokenize(body)
        if name in macros.BOUND or name in ("ifverdict", "claim"):
            if frame.kind == "option":
                self.option = body
            else:
                self.reading.uses.append((name, self.option, body, frame.start, bool(frame.inside & macros.MOVING)))
                self.reading.optional |= {frame.start} if frame.parent is None or frame.parent.need_not_print else set()
                self.option = ""
        elif name.rstrip("*") in macros.INCLUDES and frame.kind == "argument":
            if name.rstrip("*") in macros.FOLDERED and frame.rest:
                self.option = body
            else:
                self.reading.inputs.append((name.rstrip("*"), f"{self.option.rstrip('/')}/{body}".lstrip("/") if self.option else body, frame.start, frame.preamble))
                self.option = ""

    # tokens

    def on_text(self, token: Token) -> None:
        text, start = token.text, token.start
        if self.script and text.strip():
            text = text.lstrip()
            start = token.end - len(text)
            self.push("script", "", start, script=True)
            self.emit(text[0], start)
            self.pop()
            text, start, self.script = text[1:], start + 1, False
        self.emit(text, start)

    def on_paragraph(self, token: Token) -> None:
        self.script = False
        while self.top.kind in ("argument", "option") and self.top.opaque and self.top.name not in ("hypersetup", "lstset", "tikzset", "pgfplotsset"):
            self.mark_unread(self.top.start, token.start, f"{self.top.describe()} is open at the end of a paragraph")
            self.pop()
        formula = self.find(("math", "math$", "math$$")) if self.top.math else None
        if formula is not None:
            self.close_to(formula, token.start)
            self.mark_unread(formula.start, token.start, "a formula is open at the end of a paragraph")
            self.pop()
        self.emit("\n\n", token.start, token.end - token.start)

    def on_verbatim(self, token: Token) -> None:
        self.push("verbatim", "verbatim", token.start, opaque="design")
        self.emit(token.text, self.source.find(token.text, token.start))
        self.emit(SEAM, token.end, 0)
        self.pop()
        self.emit(MACRO, token.start, token.end - token.start)

    def on_unclosed(self, token: Token) -> None:
        self.mark_unread(token.start, token.end, f"{token.text} is never closed")

    def on_fraction(self, token: Token) -> None:
        self.script = False
        self.emit(token.text, token.start, token.end - token.start)

    def on_parameter(self, token: Token) -> None:
        self.emit(MACRO, token.start, token.end - token.start)

    def on_mark(self, token: Token) -> None:
        sign = token.text
        if sign == "]" and self.top.kind == "option":
            return self.close_argument(token)
        if sign in "^_" and not self.top.opaque:
            self.script = True
        self.emit({"~": "\u00a0", "&": CELL}.get(sign, sign), token.start)

    def on_open(self, token: Token) -> None:
        if self.source.startswith("{,}", token.start):
            self.skip_to = token.start + 3
            return self.emit(NUMERIC_COMMA, token.start, 3)
        self.push("group", "", token.start, script=self.script)
        self.script = False

    def on_close(self, token: Token) -> None:
        if self.top.kind == "argument":
            return self.close_argument(token)
        target = self.find(("group", "argument"))
        if target is None or (self.find(("environment",)) is not None and self.beyond_environment(target)):
            return self.mark_unread(token.start, token.end, "a brace closes nothing")
        self.close_to(target, token.start)
        if target.kind == "argument":
            self.close_argument(token)
        else:
            self.pop()

    def beyond_environment(self, target: Frame) -> bool:
        """Whether an environment was opened inside the frame and still stands open."""
        frame = self.top
        while frame is not target and frame.parent is not None:
            if frame.kind == "environment":
                return True
            frame = frame.parent
        return False

    def on_math(self, token: Token) -> None:
        double = self.source.startswith("$$", token.start)
        if self.top.math:
            target = self.find(("math$", "math$$"))
            if target is None:
                return self.mark_unread(token.start, token.end, "a dollar sign inside a formula that it did not open")
            self.close_to(target, token.start)
            self.pop()
            self.skip_to = token.start + 2 if target.kind == "math$$" and double else self.skip_to
        elif double:
            self.skip_to = token.start + 2
            self.push("math$$", "", token.start, math="display")
        else:
            self.push("math$", "", token.start, math="inline")

    def on_begin(self, token: Token) -> None:
        name = token.text
        self.script = False
        self.emit(SEAM, token.start, 0)
        math = "display" if name in macros.MATH_ENVIRONMENTS else None
        frame = self.push("environment", name, token.start, opaque=macros.OPAQUE_ENVIRONMENTS.get(name, ""), math=math)
        if name == "document":
            frame.preamble, frame.kind = False, "document"
            return
        spec = macros.ENVIRONMENTS.get(name, macros.Spec("o"))
        self.expect(name, spec.arguments, spec.opaque)

    def on_end(self, token: Token) -> None:
        target = self.find(("environment", "document"), token.text)
        if target is None:
            return self.mark_unread(token.start, token.end, f"environment {token.text} ends and never began")
        self.close_to(target, token.start)
        self.pop()
        self.emit(SEAM, token.start, 0)

    def on_command(self, token: Token) -> None:
        name = token.text[1:]
        self.reading.commands.append((name, token.start))
        if name in MATH_COMMANDS and not self.top.math:
            self.push("math", "", token.start, math=MATH_COMMANDS[name])
        elif name in (")", "]") and self.find(("math",)) is not None:
            self.close_to(self.find(("math",)) or self.root, token.start)
            self.pop()
        else:
            self.print_command(name, token)
            self.pass_trim(name, token.end)
            self.await_arguments(name)

    def pass_trim(self, name: str, start: int) -> None:
        """The lengths in parentheses between `\\cmidrule` and its columns."""
        trim = TRIM.match(self.source, start) if name == "cmidrule" else None
        if trim is not None:
            self.push("argument", name, start, opaque="layout", math="")
            self.emit(trim.group(), start)
            self.pop()
            self.skip_to = trim.end()

    def print_command(self, name: str, token: Token) -> None:
        """What a command leaves in the text: a character, a sign for what stands there, or its name."""
        width = token.end - token.start
        base = name.rstrip("*")
        if name in ("textsuperscript", "textsubscript"):
            self.emit("^", token.start, width)
        elif base in macros.BOUND:
            self.emit(VALUE, token.start, width)
        elif macros.cites(name) or name in macros.REFS:
            self.emit(CITE if macros.cites(name) else REF, token.start, width)
        elif name in ("\\", "\\*", "tabularnewline", "cr"):
            self.emit(ROW, token.start, width)
        elif base in macros.PRINTED:
            self.emit(macros.PRINTED[base], token.start, width)
        elif base not in macros.SILENT and name[:1].isalpha():
            self.emit(token.text, token.start)
        self.script = False

    def await_arguments(self, name: str) -> None:
        if name in macros.DEFINERS:
            return self.expect(name, "mt", "layout")
        spec = macros.COMMANDS.get(name) or macros.COMMANDS.get(name.rstrip("*"))
        if spec is None and macros.cites(name):
            spec = macros.COMMANDS["cite"]
        if spec is None and name[:1].isalpha():
            spec = macros.UNKNOWN_MATH if self.top.math else macros.UNKNOWN
        if spec is not None:
            self.expect(name, spec.arguments, spec.opaque)
