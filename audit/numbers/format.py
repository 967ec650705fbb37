"""The one rounding rule and the printed forms of a quantity; macros, tables, figure labels and the audit all use this.

The rule: the stored value as its shortest decimal text (what the record shows), rounded half up (ties away from zero) in
decimal. A reader who rounds the number in the record by hand gets the printed one; 0.125 is 0.13 and 2.675 is 2.68, where
binary rounding prints 0.12 and 2.67, and half-even would print 0.12 and 2.68.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal

from audit.finding import Refusal
from audit.records import Quantity

__all__ = ["FORMS", "escape", "format_quantity", "printed_value", "round_decimal", "to_latex"]

LIMIT = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
FORMS = "fixed[.digits], percent[.digits], integer, scientific[.digits], word, Word, ordinal, n, min, max, unit"
FORM = re.compile(r"(fixed|percent|integer|scientific|word|Word|ordinal|n|min|max|unit|)(?:\.(\d{1,2}))?")
WIDE = Context(prec=400)
GROUPED_FROM = 10_000
SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def to_decimal(value: float | int) -> Decimal:
    """The shortest decimal that reads back as the stored value."""
    return Decimal(repr(float(value)) if isinstance(value, float) else str(int(value)))


def round_decimal(value: Decimal, digits: int) -> Decimal:
    """Round half up (away from zero on a tie) to so many decimal places; never a negative zero."""
    rounded = value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=WIDE)
    return abs(rounded) if rounded.is_zero() else rounded


def format_quantity(quantity: Quantity, form: str = "") -> str:
    """The printed form of a quantity as plain text: `0.09`, `-1.25`, `12,345`, `31.2%`, `1.20e-5`, `eight`."""
    match = FORM.fullmatch(form)
    if match is None:
        raise Refusal(f"format [{form}]", "unknown format", expected=f"one of {FORMS}")
    style, digits = match.group(1) or quantity.style, quantity.digits if match.group(2) is None else int(match.group(2))
    if style in ("n", "min", "max"):
        return format_values(quantity, style)
    if style == "unit":
        return quantity.unit
    return format_number(to_decimal(quantity.value), style, digits)


def format_beside(quantity: Quantity, target: str) -> str:
    """A value as its record prints it, and its unit; the whole value where rounding would carry it to or over a number of its target."""
    try:
        shown = format_quantity(quantity)
    except Refusal:
        shown = str(quantity.value)
    printed, exact = printed_value(shown), to_decimal(quantity.value)
    limits = [Decimal(number) for number in LIMIT.findall(target)]
    if printed is None or any((printed > limit, printed < limit) != (exact > limit, exact < limit) for limit in limits):
        shown = str(quantity.value)
    return shown if quantity.unit == "1" else f"{shown} {quantity.unit}"


def format_values(quantity: Quantity, style: str) -> str:
    """How many units there are, or their smallest or largest value."""
    if not quantity.values:
        raise Refusal(f"format [{style}]", "the quantity has no per-unit values", cure="use another format")
    if style == "n":
        return format_number(Decimal(len(quantity.values)), "integer", 0)
    chosen = min(quantity.values) if style == "min" else max(quantity.values)
    return format_number(to_decimal(chosen), quantity.style, quantity.digits)


def format_number(value: Decimal, style: str, digits: int) -> str:
    """One decimal in one style."""
    match style:
        case "fixed":
            return group(round_decimal(value, digits))
        case "percent":
            return group(round_decimal(value * 100, digits)) + "%"
        case "scientific":
            return format_scientific(value, digits)
    if value != value.to_integral_value():
        raise Refusal(f"format [{style}]", "the value is not a whole number", observed=str(value), cure="use a fixed format")
    whole = int(value)
    if style == "integer":
        return group(Decimal(whole))
    return format_ordinal(whole) if style == "ordinal" else format_word(whole, capital=style == "Word")


def group(value: Decimal) -> str:
    """Plain digits, with commas between thousands from five digits on."""
    text = f"{value:f}"
    return f"{value:,f}" if abs(value) >= GROUPED_FROM else text


def format_scientific(value: Decimal, digits: int) -> str:
    """Mantissa with one digit before the point, `e`, exponent without padding: `1.20e-5`."""
    if value.is_zero():
        return f"{Decimal(0):.{digits}f}"
    exponent = value.adjusted()
    mantissa = round_decimal(value.scaleb(-exponent, context=WIDE), digits)
    if abs(mantissa) >= 10:
        exponent += 1
        mantissa = round_decimal(value.scaleb(-exponent, context=WIDE), digits)
    return f"{mantissa:f}" if exponent == 0 else f"{mantissa:f}e{exponent}"


def format_word(value: int, capital: bool) -> str:
    """`eight`, `twenty-one`; from 0 to 99."""
    if not 0 <= value <= 99:
        raise Refusal("format [word]", "only 0 to 99 are written out", observed=str(value), cure="use [integer]")
    tens, unit = divmod(value, 10)
    word = SMALL[value] if value < 20 else TENS[tens] + (f"-{SMALL[unit]}" if unit else "")
    return word.capitalize() if capital else word


def format_ordinal(value: int) -> str:
    """`1st`, `12th`, `23rd`."""
    suffix = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{suffix}"


def to_latex(text: str) -> str:
    """A printed form as LaTeX that holds in text, formulas, captions and tables."""
    number = re.fullmatch(r"(-?)([\d,]+(?:\.\d+)?)(?:e(-?\d+))?(%?)", text)
    if number is None:
        return escape(text)
    sign, digits, exponent, percent = number.groups()
    body = digits.replace(",", "{,}")
    if exponent is not None:
        return rf"\ensuremath{{{sign}{body}\times 10^{{{exponent}}}}}"
    return (r"\ensuremath{-}" if sign else "") + body + (r"\%" if percent else "")


ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escape(text: str) -> str:
    """Text with every character that LaTeX would take for a command made printable."""
    return "".join(ESCAPES.get(character, character) for character in text)


def printed_value(text: str) -> Decimal | None:
    """The number that a printed form stands for (a percentage as its share), or None for words and units."""
    number = re.fullmatch(r"(-?[\d,]+(?:\.\d+)?(?:e-?\d+)?)(%?)", text)
    if number is None:
        return None
    value = Decimal(number.group(1).replace(",", ""))
    return value / 100 if number.group(2) else value
