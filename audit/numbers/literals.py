"""Literals: each number of a reading found once, as one number, digits and words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from audit.numbers.stream import NUMERIC_COMMA, SCRIPT_END, Frame, Reading, Stream

__all__ = ["WORD_VALUES", "Literal", "find_literals", "parse_decimal"]

SPACE, GAP = "[ \u2009\u00a0]", "[ \n\u2009\u00a0]"
MINUS = "\\-\u2212\u2013"
THIN = "\u2009\u00a0"
INTEGER = rf"[1-9]\d{{0,2}}(?:(?P<sep>[,{NUMERIC_COMMA}{THIN}'\u2019])\d{{3}}(?!\d))(?:(?P=sep)\d{{3}}(?!\d))*"
BODY = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])/(?:(?:19|20)\d\d|\d\d)(?![/\d])|\d+(?:\.\d+){{2,}}|\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?!\d)|{INTEGER}(?:[.]\d+)?"
    rf"|0,{SPACE}\d{{3}}(?!\d|,)|\d+[.,{NUMERIC_COMMA}]\d+|(?<![A-Za-z\d])\.\d+|\d{SPACE}\.\d+|\d+)"
)
POWER = rf"{SPACE}*[×·]{SPACE}*10{SPACE}*\^{SPACE}*[+{MINUS}]?\d+{SCRIPT_END}?|[eE][+{MINUS}]?\d+(?!\w|\.\d)|(?<=(?<![\d.,])10)\^[+{MINUS}]?\d+{SCRIPT_END}?"
TAIL = (
    rf"(?P<uncertainty>\(\d+(?:\.\d+)?\)(?=\W|$))?(?P<power>{POWER})?(?P<fraction>(?<![.,{NUMERIC_COMMA}{THIN}]\d)(?<![.,]\d\d)(?<![.,{NUMERIC_COMMA}{THIN}]\d\d\d)(?<![.,]\d\d\d\d)/\d+(?:\.\d+)?(?!\d|,\d\d\d))?"
    rf"(?P<percent>{GAP}?[%‰]|{GAP}per\s?cent(?:age points?)?\b|-percent\b)?"
)
HEAD = rf"(?=[\d.+±{MINUS}])(?P<sign>(?<![\w.,)\]{MINUS}{SCRIPT_END}])[{MINUS}+±](?=[\d.]))?"
NUMBER = re.compile(rf"{HEAD}(?<!\d)(?P<body>{BODY}){TAIL}")
FORMULA_NUMBER = re.compile(rf"{HEAD}(?<!\d)(?P<body>{INTEGER}(?:[.]\d+)?|\d+[.{NUMERIC_COMMA}]\d+|\.\d+|\d+){TAIL}")
"""In a formula a plain comma separates numbers: `[0,1]` are two."""

SIUNITX = frozenset("num SI qty numrange SIrange qtyrange numlist SIlist qtylist ang tablenum".split())
DAY_MONTH = re.compile(r"0[1-9]/(?:0[1-9]|1[0-2])|(?:[12]\d|3[01])/0[1-9]")
SIMPLE = re.compile(r"(?:(?<![\w.])[-+\u2212])?(?:\d+(?:[.,]\d+)*|\.\d+)")

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
WORD_VALUES: dict[str, int] = {**{word: number for number, word in enumerate(UNITS)}, **TENS}
CARDINAL = (
    "(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(?:one|two|three|four|five|six|seven|eight|nine)|" + "|".join(WORD_VALUES) + ")"
)
DIGITS = rf"(?:\d{{1,3}}(?:[,{NUMERIC_COMMA}]\d{{3}})+|\d+)"
PARTS = "(?:hal(?:f|ves)|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)"
VERBS = "(?:recover|collaps|fail|succe|improv|converg|diverg|surviv|respond|reach|remain|stay|show|met\\b|pass|died|emerg|report|chang|occur|relaps|withdr|heal|settl|had to be (?:exclu|remov|drop|discard)|(?:were|was) (?:exclu|remov|lost|dropped|discard)|exceed|rose|fell|drop|outperform|agree|replicat)"
WORDS = re.compile(
    rf"\b(?:(?P<of>(?:none|all|both|neither|{CARDINAL}|{DIGITS})\s+(?:out\s+)?of\s+(?:the\s+|these\s+|our\s+|all\s+)?(?:{CARDINAL}|{DIGITS}))\b"
    rf"|(?P<some>(?!one\b|a\b|half\b)(?:both|{CARDINAL}))\s+of\s+(?:the|these|our|them|its)\b(?!\s+(?:most|main|best|key|largest|major|oldest|simplest|authors?|few))"
    rf"|(?P<none>none)\s+of\s+(?:the|these|our|them|its)\b"
    rf"|(?P<fold>(?:{CARDINAL}|two|three)-?fold)\b(?!\s+(?:nested|cross|aims?|goals?|purposes?|contributions?|objectives?|strateg|approach|task|role))"
    rf"|(?P<part>(?:a|one|two|three|four)[ -](?!half\b){PARTS}|(?:one\s+)?half)\s+(?:of|as)\b"
    rf"|(?P<thirds>(?:one|two|three|four)[ -](?!half\b){PARTS}\b(?![ -](?:party|person|order|time|parties)))|(?P<dozen>(?:a|one|two|three|several)\s+dozens?)\s+(?:of\b|[a-z]+s\b)"
    rf"|(?P<rate>(?!zero)(?:{CARDINAL})\s+in\s+(?:every\s+)?(?:{CARDINAL}))\b"
    rf"|(?:by|to)\s+(?P<cut>half|(?:a|one)[ -](?!half\b){PARTS})\b"
    rf"|(?P<times>twice|(?:two|three|four|five|six|seven|eight|nine|ten)\s+times)\s+(?:the|as|more|higher|larger|faster|greater)\b"
    rf"|(?P<percent>{CARDINAL}\s+per\s?cent(?:age points?)?)\b"
    rf"|(?P<echoed>{CARDINAL})(?=\s+\(\d+\))|(?P<source>{CARDINAL})(?=\s+[a-z]+s\s+from\s+(?:{CARDINAL}|\d+)\s)"
    rf"|(?<!the )(?<!these )(?P<count>{CARDINAL})(?=\s+(?:\w+\s+){{1,2}}{VERBS}))",
    re.IGNORECASE,
)

FOUND = re.compile(r"\b(?:kept|found|gave|identified|yielded|produced|revealed|detected|observed|caused|lost|won|there (?:were|have been)|after|saw|(?:evaluations|reports|studies|papers|trials|articles|estimates) from)\s$", re.IGNORECASE)
OBJECTS = re.compile(rf"(?P<count>(?!one\b|zero\b){CARDINAL})(?=\s+(?:\w+\s+)?[a-z]+s\b)(?!\s+(?:\w+\s+)?(?:weeks|days|months|years|hours|minutes|seconds|steps|epochs|trials|sessions|blocks|rounds))", re.IGNORECASE)
"""A count in words behind a verb of finding."""
WORD = re.compile(r"[A-Za-z]+|\d+")
FIRST_WORDS = frozenset({*WORD_VALUES, "none", "all", "both", "neither", "a", "half", "by", "to", "twice", "several"})


@dataclass(slots=True)
class Literal:
    """One number in a source: its text there, its place in the stream, and what the grammar saw."""

    text: str
    plain: str
    """The form without LaTeX: decimal point, no separators."""
    start: int
    end: int
    source_start: int
    source_end: int
    frame: Frame
    stream: str
    """`main` or `aside`."""
    words: bool = False
    percent: bool = False
    kind: str = ""
    """What the grammar calls it: integer, decimal, date, version, time, fraction, words."""


def find_literals(reading: Reading) -> list[Literal]:
    """Every literal of a reading, in source order."""
    main = reading.main.text()
    words = list(find_words(reading, main))
    found = [*find_digits(reading, main), *find_aside(reading)]
    starts, ends = [word.start for word in words], [word.end for word in words]

    def covered(literal: Literal) -> bool:
        index = bisect_right(starts, literal.start) - 1
        return literal.stream == "main" and index >= 0 and literal.start < ends[index]

    return sorted([*(literal for literal in found if not covered(literal)), *words], key=lambda literal: literal.source_start)


def find_digits(reading: Reading, text: str) -> Iterator[Literal]:
    """Numbers written in digits, in prose and formulas."""
    position = 0
    while match := NUMBER.search(text, position):
        frame = reading.main.frame(match.start("body"))
        bracketed = text[match.start() - 1 : match.start()] == "[" and text[match.end() : match.end() + 1] == "]"
        if "," in match["body"] and (frame.math or bracketed) and not frame.inside & SIUNITX:
            match = FORMULA_NUMBER.match(text, match.start()) or match
        position = match.end()
        start = match.start("sign") if match["sign"] and match["sign"].strip() not in ("", "±") and not (frame.script and match["sign"] == "+") else match.start("body")
        end = match.end()
        if frame.script and match["power"] and match["power"].startswith("^"):
            end = match.end("body")
        yield build(reading, reading.main, "main", text, start, end, frame, match)


def build(reading: Reading, stream: Stream, name: str, text: str, start: int, end: int, frame: Frame, match: re.Match[str]) -> Literal:
    source_start, source_end = stream.source(start), stream.source_end(end - 1)
    while text[end - 1] == SCRIPT_END:
        end -= 1
        source_end = stream.source_end(end - 1)
    source_start, source_end = close_pairs(reading.source, source_start, source_end)
    return Literal(
        " ".join(reading.source[source_start:source_end].split()), plain_form(match, text[start:end]), start, end, source_start, source_end, frame, name,
        percent=bool(match["percent"]) and "‰" not in match["percent"], kind=kind_of(match),
    )  # fmt: skip


def close_pairs(source: str, start: int, end: int) -> tuple[int, int]:
    """Let the source text of a literal include the braces and dollar signs that belong to it."""
    missing = source.count("{", start, end) - source.count("}", start, end)
    while missing > 0 and source[end : end + 1] == "}":
        end, missing = end + 1, missing - 1
    while missing < 0 and source[start - 1 : start] == "{":
        start, missing = start - 1, missing + 1
    if source.count("$", start, end) % 2:
        if source[end : end + 1] == "$":
            end += 1
        elif source[start - 1 : start] == "$":
            start -= 1
    return start, end


def kind_of(match: re.Match[str]) -> str:
    body = match["body"]
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{2,4}", body):
        return "date"
    if ":" in body:
        return "time"
    if body.count(".") > 1:
        return "version"
    if match["fraction"] and re.fullmatch(r"(?:19|20)\d\d/\d\d", body + match["fraction"]):
        return "date"
    if match["fraction"] and DAY_MONTH.fullmatch(body + match["fraction"]):
        return "date"
    if match["fraction"]:
        return "fraction"
    if match["power"]:
        return "power"
    return "integer" if re.fullmatch(r"\d+", body) or match["sep"] else "decimal"


def plain_form(match: re.Match[str], shown: str) -> str:
    """The number as Python's Decimal reads it, or the text itself for dates, versions and fractions."""
    body = match["body"]
    if kind_of(match) in ("date", "time", "version", "fraction"):
        return shown
    if match["sep"]:
        body = body.replace(match["sep"], "")
    body = re.sub(rf"[,{NUMERIC_COMMA}]{SPACE}?", ".", re.sub(r"(\d) \.", r"\1.", body))
    sign = "-" if match["sign"] and match["sign"].strip() in "-\u2212\u2013" else ""
    power = re.search(rf"([+{MINUS}]?\d+){SCRIPT_END}?$", match["power"] or "")
    if power is None:
        return sign + body
    exponent = re.sub(f"[{MINUS}]", "-", power.group(1))
    if match["power"].startswith("^"):
        return f"{sign}1e{exponent}" if body == "10" else sign + body
    return f"{sign}{body}e{exponent}"


def find_aside(reading: Reading) -> Iterator[Literal]:
    """Numbers in arguments that hold no prose: lengths, keys, colours, verbatim text."""
    stream = reading.aside
    text = stream.text()
    for match in SIMPLE.finditer(text):
        first, last = match.span()
        begin, end = stream.source(first), stream.source_end(last - 1)
        yield Literal(
            reading.source[begin:end], match.group().replace(",", "."), first, last, begin, end, stream.frame(first), "aside", kind="decimal"
        )


def find_words(reading: Reading, text: str) -> Iterator[Literal]:
    """Numbers written in words, where the words around make them a count or a ratio."""
    position = 0
    for word in WORD.finditer(text):
        if word.start() < position or not (word.group().isdigit() or word.group().lower().removesuffix("fold") in FIRST_WORDS):
            continue
        match = WORDS.match(text, word.start()) or (FOUND.search(text, max(0, word.start() - 24), word.start()) and OBJECTS.match(text, word.start()))
        if not match:
            continue
        position = match.end()
        start, end = next((match.span(name) for name, shown in match.groupdict().items() if shown), match.span())
        frame = reading.main.frame(start)
        begin, stop = reading.main.source(start), reading.main.source_end(end - 1)
        shown = " ".join(reading.source[begin:stop].split())
        yield Literal(shown, word_value(shown), start, end, begin, stop, frame, "main", words=True, kind="words")


def word_value(shown: str) -> str:
    """The first number that the words name, where there is one."""
    first = re.split(r"\s+(?:out\s+)?of\s+|-?fold|\s", shown.lower())[0]
    tens, _, unit = first.partition("-")
    if first in WORD_VALUES:
        return str(WORD_VALUES[first])
    if tens in TENS and unit in WORD_VALUES:
        return str(TENS[tens] + WORD_VALUES[unit])
    return "0" if first == "none" else first if first.isdigit() else ""


def parse_decimal(plain: str) -> Decimal | None:
    """A literal's value, where its plain form is a number."""
    try:
        return Decimal(plain)
    except (InvalidOperation, ValueError):
        return None
