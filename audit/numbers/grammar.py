"""The condition of a claim: a small language over record keys and numbers, read by its own parser, never by Python's.

    claim   := both ("or" both)*            both := negated ("and" negated)*          negated := "not" negated | test
    test    := sum (op sum)+ | ("all of" | "at least" N "of") KEY op sum | REGISTRATION.PREDICTION "is" ["not"] VERDICT
    sum     := product (("+" | "-") product)*   product := factor (("*" | "/") factor)*
    factor  := NUMBER | KEY | ("min" | "max" | "n") "(" KEY ")" | "-" factor | "(" claim ")"
    op      := "<" | "<=" | ">" | ">=" | "=" | "!="     (also \\lt \\le \\leq \\gt \\ge \\geq \\ne \\neq and ==)

A key has a dot (`main.untreated.gap`, its underscores plain or as `\\_`); a hyphen between letters belongs to it, so a minus stands between blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from audit.finding import Refusal
from audit.numbers.condition import Comparison, Either, Every, Minus, Node, Not, Number, Operation, Standing, Term, Test, Units, Value

__all__ = ["parse_condition"]

LONGEST, DEEPEST = 2000, 40
WORDS = ("met", "missed", "undecided")
FORMS = ("min", "max", "n")
SPELLED = {
    "==": "=", r"\lt": "<", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\gt": ">", r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=",
    r"\ne": "!=", r"\neq": "!=",
}  # fmt: skip
OPERATORS = frozenset({"<", "<=", ">", ">=", "=", "!="})
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?)(?![\w.])|(?P<name>[A-Za-z]\w*(?:-\w+)*(?:\.\w+(?:-\w+)*)*)"
    r"|(?P<sign><=|>=|!=|==|[<>=+*/()-]|\\[A-Za-z]+))",
    re.ASCII,
)


def parse_condition(text: str, place: str) -> Test:
    """The condition that a text states; anything else is refused in one line with what was expected where."""
    return Parser(text, place).read()


class Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str, place: str):
        self.text, self.place, self.depth, self.at = " ".join(text.split()), place, 0, 0
        if len(self.text) > LONGEST:
            raise self.refuse("is too long", f"at most {LONGEST} characters", str(len(self.text)))
        self.tokens = list(self.cut())

    def refuse(self, what: str, expected: str, observed: str) -> Refusal:
        """The one line about a condition that cannot be read."""
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return Refusal(self.place, f"the condition {shown!r} {what}", expected=expected, observed=observed, cure="correct the condition")

    def unexpected(self, expected: str) -> Refusal:
        """What stands where something else was expected."""
        return self.refuse("cannot be read", expected, repr(self.here) if self.here else "its end")

    def cut(self) -> Iterator[tuple[str, str]]:
        """The tokens, each with its kind."""
        text, offset = self.text.replace(r"\_", "_"), 0
        while offset < len(text):
            match = TOKEN.match(text, offset)
            kind = str(match.lastgroup) if match else ""
            found = SPELLED.get(match[kind], match[kind]) if match else repr(text[offset : offset + 20].strip())
            if match is None or found.startswith("\\"):
                raise self.refuse("cannot be read", "keys, numbers, and, or, not, parentheses, + - * / < <= > >= = !=", found)
            yield kind, found
            offset = match.end()

    # tokens

    @property
    def here(self) -> str:
        """The next token; nothing at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def accept(self, *words: str) -> str:
        """Take the next token where it is one of these."""
        found = self.here if self.here in words else ""
        self.at += bool(found)
        return found

    def require(self, *words: str) -> str:
        """Take the next token, which must be one of these."""
        found = self.accept(*words)
        if not found:
            raise self.unexpected(" or ".join(words))
        return found

    def take(self, kind: str, expected: str) -> str:
        """Take the next token, which must be a number, or a key with its dot."""
        found = self.here
        if not found or self.tokens[self.at][0] != kind or (kind == "name" and "." not in found):
            raise self.unexpected(expected)
        self.at += 1
        return found

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level further in."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refuse("is nested too deeply", f"at most {DEEPEST} levels", "more")
        yield
        self.depth -= 1

    # what holds

    def read(self) -> Test:
        """The whole condition."""
        found = self.hold(self.read_either())
        if self.here:
            raise self.unexpected("its end, and, or")
        return found

    def hold(self, node: Node) -> Test:
        """A node that must hold or not."""
        if isinstance(node, Test):
            return node
        raise self.refuse("compares nothing", f"a comparison with {node}", "no sign such as < or >=")

    def weigh(self, node: Node) -> Term:
        """A node that must have a value."""
        if isinstance(node, Term):
            return node
        raise self.refuse("calculates with a comparison", "a number or a key", f"({node})")

    def read_either(self) -> Node:
        """Parts of which one must hold."""
        return self.join("or", self.read_both, Either)

    def read_both(self) -> Node:
        """Parts that must all hold."""
        return self.join("and", self.read_negated, Every)

    def join(self, word: str, read: Callable[[], Node], kind: type[Every] | type[Either]) -> Node:
        """Parts with a word between them."""
        parts = [read()]
        while self.accept(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else kind(tuple(map(self.hold, parts)))

    def read_negated(self) -> Node:
        """A test, or the contrary of one."""
        if not self.accept("not"):
            return self.read_test()
        with self.deeper():
            return Not(self.hold(self.read_negated()))

    def read_test(self) -> Node:
        """A verdict, units, or terms with signs between them."""
        if self.here in ("all", "at"):
            return self.read_units()
        first = self.read_sum()
        if isinstance(first, Value) and not first.form and self.accept("is"):
            return self.read_standing(first.key)
        terms, signs = [first], []
        while sign := self.accept(*OPERATORS):
            signs.append(sign)
            terms.append(self.read_sum())
        return Comparison(tuple(map(self.weigh, terms)), tuple(signs)) if signs else first

    def read_units(self) -> Test:
        """`all of KEY > 0`, `at least 9 of KEY > 0`."""
        least = None
        if not self.accept("all"):
            self.require("at")
            self.require("least")
            least = self.read_count()
        self.require("of")
        key = self.take("name", "a key such as main.gap")
        return Units(least, key, self.require(*sorted(OPERATORS)), self.weigh(self.read_sum()))

    def read_count(self) -> int:
        """How many units."""
        found = self.take("number", "a number of units")
        if not found.isdigit() or int(found) < 1:
            raise self.refuse("cannot be read", "a whole number of units from 1", found)
        return int(found)

    def read_standing(self, prediction: str) -> Test:
        """`pilot.P1 is met`, `pilot.P1 is not met`."""
        contrary = self.accept("not")
        found = Standing(prediction, self.require(*WORDS))
        return Not(found) if contrary else found

    # what has a value

    def read_sum(self) -> Node:
        """Terms that are added."""
        return self.fold(("+", "-"), self.read_product)

    def read_product(self) -> Node:
        """Terms that are multiplied."""
        return self.fold(("*", "/"), self.read_factor)

    def fold(self, signs: tuple[str, ...], read: Callable[[], Node]) -> Node:
        """Terms with signs between them, from left to right."""
        found = read()
        while sign := self.accept(*signs):
            found = Operation(sign, self.weigh(found), self.weigh(read()))
        return found

    def read_factor(self) -> Node:
        """A number, a key, a summary of a key, or something in parentheses."""
        kind, found = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "number":
            self.at += 1
            return Number(found)
        if self.accept("-", "("):
            with self.deeper():
                return Minus(self.weigh(self.read_factor())) if found == "-" else self.read_enclosed()
        form = self.accept(*FORMS)
        if form:
            self.require("(")
        value = Value(self.take("name", "a number, or a key with its record such as main.gap"), form)
        if form:
            self.require(")")
        return value

    def read_enclosed(self) -> Node:
        """What stands in parentheses, up to the closing one."""
        found = self.read_either()
        self.require(")")
        return found
