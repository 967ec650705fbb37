"""The one rounding rule and the printed forms of a quantity; macros, tables, figure labels and the audit all use this.

The rule: the stored value as its shortest decimal text (what the record shows), rounded half up (ties away from zero) in
decimal. A reader who rounds the number in the record by hand gets the printed one; 0.125 is 0.13 and 2.675 is 2.68, where
binary rounding prints 0.12 and 2.67, and half-even would print 0.12 and 2.68.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from statistics import stdev

from audit.finding import Refusal
from audit.records import Quantity

__all__ = ["FORMS", "format_quantity", "printed_value", "round_decimal"]

LIMIT = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
FORMS = "fixed[.digits], percent[.digits], integer, scientific[.digits], word, Word, ordinal, n, min, max, range, spread, p, p=, unit"
FORM = re.compile(r"(?:(?P<whole>integer|word|Word|ordinal|n|unit|)|(?P<style>fixed|percent|scientific|min|max|range|spread|p=?)(?:\.(?P<digits>\d|1[0-2]))?)")
WIDE = Context(prec=400)
LEVEL, MOST_DIGITS = Decimal("0.05"), 12
"""The level of significance that no other p-value may print as, and the digits that may be taken for it."""
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
    """The printed form of a quantity as plain text: `0.09`, `-1.25`, `12,345`, `31.2%`, `1.20e-5`, `eight`, `0.51 (0.40 to 0.62)`."""
    match = FORM.fullmatch(form)
    if match is None:
        raise Refusal(f"format [{form}]", "unknown format", expected=f"one of {FORMS}")
    style = match["whole"] or match["style"] or quantity.style
    digits = int(match["digits"]) if match["digits"] else fit_digits(quantity, style)
    try:
        return print_style(quantity, style, digits)
    except (ArithmeticError, ValueError):
        raise Refusal(f"format [{form}]", "a value of so many digits cannot be printed", cure="write another unit into the record") from None


def fit_digits(quantity: Quantity, style: str) -> int:
    """The record's digits; those of the same precision where a share is printed as a percentage, or a percentage as a share."""
    if style in ("p", "p="):
        return 3
    shift = (style == "fixed" and quantity.style == "percent") - (style == "percent" and quantity.style == "fixed")
    return max(0, quantity.digits + 2 * shift)


def print_style(quantity: Quantity, style: str, digits: int) -> str:
    """One quantity in one style."""
    match style:
        case "unit":
            if quantity.unit.strip() in ("", "1"):
                raise Refusal("format [unit]", "the quantity has no unit", cure="leave it out")
            return quantity.unit
        case "n" | "min" | "max" | "range" | "spread":
            return format_values(quantity, style, digits)
        case "p" | "p=":
            return format_chance(to_decimal(quantity.value), digits, "p " if style == "p=" else "")
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


def format_values(quantity: Quantity, style: str, digits: int) -> str:
    """What the per-unit values say: how many they are, the smallest, the largest, both, or the value with its spread."""
    if not (values := quantity.values):
        raise Refusal(f"format [{style}]", "the quantity has no per-unit values", cure="use another format")
    if style == "n":
        return format_number(Decimal(len(values)), "integer", 0)
    least, most = (format_number(to_decimal(bound), quantity.style, digits) for bound in (min(values), max(values)))
    if style == "range":
        return f"{least} to {most}" if "-" in least + most else f"{least}–{most}"
    if style != "spread":
        return least if style == "min" else most
    shown = format_number(to_decimal(quantity.value), quantity.style, digits)
    if quantity.summary == "median":
        return f"{shown} ({least} to {most})"
    if quantity.summary != "mean" or len(values) < 2:
        raise Refusal("format [spread]", "the quantity is neither a median nor a mean of two or more values", cure="use another format")
    deviation = WIDE.create_decimal(stdev(map(to_decimal, values)))
    return f"{shown} ± {format_number(deviation, quantity.style, digits)}"


def format_chance(value: Decimal, digits: int, name: str) -> str:
    """A p-value: `0.032`, or `<0.001` where it is smaller than its last digit can say; with a name, `p = 0.032`.

    One that would read as the usual level, and is not, has as many digits as tell the two apart: `0.0504`.
    """
    if not 0 <= value <= 1:
        raise Refusal("format [p]", "the value is no probability", expected="0 to 1", observed=str(value), cure="use another format")
    least = Decimal(1).scaleb(-max(digits, 1))
    if value < least or 1 - least < value < 1:
        relation, shown = ("<", least) if value < least else (">", 1 - least)
    else:
        told = (round_decimal(value, each) for each in range(max(digits, 1), MOST_DIGITS + 1))
        relation, shown = "=", next((each for each in told if each != LEVEL or value == LEVEL), value)
    return f"{name}{relation} {shown:f}" if name else f"{relation.strip('=')}{shown:f}"


def format_number(value: Decimal, style: str, digits: int) -> str:
    """One decimal in one style."""
    match style:
        case "fixed":
            return group(round_decimal(value, digits))
        case "percent":
            return group(round_decimal(WIDE.multiply(value, Decimal(100)), digits)) + "%"
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


def significant(value: Decimal) -> str:
    """A number with the digits it has, small ones with a power of ten: `0.05`, `1.2e-5`."""
    plain = value.normalize()
    if plain.is_zero() or plain.adjusted() >= -4:
        return f"{plain:f}"
    return format_scientific(plain, len(plain.as_tuple().digits) - 1)


def format_word(value: int, capital: bool) -> str:
    """`eight`, `twenty-one`; from 0 to 99."""
    if not 0 <= value <= 99:
        raise Refusal("format [word]", "only 0 to 99 are written out", observed=str(value), cure="use [integer]")
    tens, unit = divmod(value, 10)
    word = SMALL[value] if value < 20 else TENS[tens] + (f"-{SMALL[unit]}" if unit else "")
    return word.capitalize() if capital else word


def format_ordinal(value: int) -> str:
    """`1st`, `12th`, `23rd`."""
    if value < 0:
        raise Refusal("format [ordinal]", "a negative number has no rank", observed=str(value), cure="use [integer]")
    suffix = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{group(Decimal(value))}{suffix}"


def printed_value(text: str) -> Decimal | None:
    """The number that a printed form stands for (a percentage as its share, of a spread its middle), or None for words, bounds and units."""
    number = re.fullmatch(r"(?:p = )?(-?[\d,]+(?:\.\d+)?(?:e-?\d+)?)(%?)(?: [(±].*)?", text)
    if number is None:
        return None
    value = Decimal(number.group(1).replace(",", ""))
    return value / 100 if number.group(2) else value
