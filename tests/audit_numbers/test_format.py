"""One rounding rule: decimal, half up, on the shortest text of the stored value; and no form that no reader expects."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.finding import Refusal
from audit.numbers.format import FORMS, format_quantity, printed_value
from audit.numbers.latex import to_latex
from audit.records import Quantity

pytestmark = pytest.mark.usefixtures("subnormal_numbers")


def make(value: float, digits: int, style: str = "fixed", **more: object) -> Quantity:
    return Quantity(value=value, digits=digits, style=style, tolerance=0.0, **more)  # type: ignore[arg-type]


ROUNDED = [
    (0.125, 2, "0.13"), (2.675, 2, "2.68"), (0.285, 2, "0.29"), (1.005, 2, "1.01"), (-0.125, 2, "-0.13"), (0.5, 0, "1"), (1.5, 0, "2"), (2.5, 0, "3"),
    (-0.001, 2, "0.00"), (-0.0, 2, "0.00"), (1e-05, 2, "0.00"), (1e-05, 6, "0.000010"), (0.1 + 0.2, 1, "0.3"), (9.995, 2, "10.00"), (1234.5, 1, "1234.5"),
    (12345.678, 1, "12,345.7"), (-1234567.0, 0, "-1,234,567"), (1e22, 0, "10,000,000,000,000,000,000,000"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "digits", "shown"), ROUNDED)
def test_fixed(value: float, digits: int, shown: str) -> None:
    """The known cases; the binary round would give 0.12, 2.67, 0.28 and 1.00 for the first four."""
    assert format_quantity(make(value, digits)) == shown


STYLES = [
    (make(8, 0, "integer"), "", "8"), (make(8.0, 0, "integer"), "", "8"), (make(41250, 0, "integer"), "", "41,250"), (make(0.312, 1, "percent"), "", "31.2%"),
    (make(0.996, 0, "percent"), "", "100%"), (make(-0.0004, 1, "percent"), "", "0.0%"), (make(1.234e-05, 1, "scientific"), "", "1.2e-5"),
    (make(9.96, 1, "scientific"), "", "1.0e1"), (make(-0.00025, 1, "scientific"), "", "-2.5e-4"), (make(0.0, 2, "scientific"), "", "0.00"), (make(3.14, 2, "scientific"), "", "3.14"),
    (make(0.0887, 4), "fixed.2", "0.09"), (make(0.0887, 4), "percent.1", "8.9%"), (make(8, 0), "word", "eight"), (make(21, 0), "Word", "Twenty-one"), (make(22, 0), "ordinal", "22nd"),
    (make(111, 0), "ordinal", "111th"), (make(0.5, 1, values=(0.25, 0.75, 0.5)), "n", "3"), (make(0.5, 1, values=(0.25, 0.75, 0.5)), "min", "0.3"),
    (make(0.5, 1, values=(0.25, 0.75, 0.5)), "max", "0.8"), (make(0.5, 1, unit="nats"), "unit", "nats"),
    (make(0.0887, 4), "percent", "8.87%"), (make(0.312, 1, "percent"), "fixed", "0.312"), (make(1000, 0), "ordinal", "1000th"), (make(1e17, 0), "ordinal", "100,000,000,000,000,000th"),
    (make(0.5, 2, values=(0.25, 0.75, 0.5)), "range", "0.25–0.75"), (make(0.5, 2, values=(-0.25, 0.75, 0.5)), "range", "-0.25 to 0.75"), (make(0.5, 2, values=(0.25, 0.75)), "min.1", "0.3"),
    (make(0.5, 2, values=(0.25, 0.75, 0.5), summary="median"), "spread", "0.50 (0.25 to 0.75)"), (make(0.5, 2, values=(0.25, 0.75), summary="mean"), "spread", "0.50 ± 0.35"),
    (make(0.5, 0, "percent", values=(0.25, 0.75), summary="mean"), "spread.1", "50.0% ± 35.4%"),
    (make(0.0321, 4), "p", "0.032"), (make(0.0009, 4), "p", "<0.001"), (make(0.0321, 4), "p=", "p = 0.032"), (make(1e-9, 4), "p=", "p < 0.001"), (make(0.001, 4), "p", "0.001"), (make(0.05, 4), "p", "0.050"),
    (make(0.0504, 4), "p=", "p = 0.0504"), (make(0.04999, 4), "p", "0.04999"), (make(0.05041051793981482, 4), "p", "0.0504"), (make(0.052, 4), "p.2", "0.052"),
    (make(0.9996, 4), "p", ">0.999"), (make(1, 0), "p", "1.000"), (make(0, 0), "p.2", "<0.01"), (make(10**40, 0), "percent.0", "1" + ",000" * 14 + "%"),
]  # fmt: skip


@pytest.mark.parametrize(("quantity", "form", "shown"), STYLES)
def test_styles(quantity: Quantity, form: str, shown: str) -> None:
    """Each style and each format prints exactly this."""
    assert format_quantity(quantity, form) == shown


@pytest.mark.parametrize(
    ("quantity", "form", "reason"),
    [
        (make(8.5, 1), "word", "not a whole number"),
        (make(100, 0), "word", "only 0 to 99"),
        (make(8.5, 1), "integer", "not a whole number"),
        (make(8, 0), "roman", "unknown format"),
        (make(8, 0), "n", "no per-unit values"),
        (make(8, 0), "spread", "no per-unit values"),
        (make(8, 0, values=(3, 5), summary="sum"), "spread", "neither a median nor a mean"),
        (make(8, 0, values=(8,), summary="mean"), "spread", "two or more values"),
        (make(1.2, 1), "p", "no probability"),
        (make(-3, 0), "ordinal", "has no rank"),
        (make(3, 0), "unit", "has no unit"),
        (make(3, 0), "integer.2", "unknown format"),
        (make(3, 0), "fixed.13", "unknown format"),
        (make(10**500, 0), "", "so many digits"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(quantity: Quantity, form: str, reason: str) -> None:
    """One line, never a wrong form."""
    with pytest.raises(Refusal, match=reason):
        format_quantity(quantity, form)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("-0.22", r"\ensuremath{-}0.22"), ("12,345.7", "12{,}345.7"), ("31.2%", r"31.2\%"), ("1.2e-5", r"\ensuremath{1.2\times 10^{-5}}"),
        ("eight", "eight"), ("m_2/s & µ", r"m\_2/s \& \ensuremath{\mu}"), ("22nd", "22nd"), ("<0.001", r"\ensuremath{<}0.001"), ("p < 0.001", r"\ensuremath{p < 0.001}"),
        ("0.40–0.62", r"0.40\mbox{--}0.62"), ("-1 to 2", r"\ensuremath{-}1\ \mbox{to}\ 2"), ("0.5 (0.4 to 0.6)", r"0.5\ (0.4\ \mbox{to}\ 0.6)"), ("1 ± 2", r"1\ \ensuremath{\pm}\ 2"),
    ],
)  # fmt: skip
def test_latex(text: str, latex: str) -> None:
    """The LaTeX form of a printed form."""
    assert to_latex(text) == latex


FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBER = r"-?(?:\d{1,3}(?:,\d{3})+|\d{1,4})(?:\.\d+)?(?:e-?[1-9]\d*)?%?"
PRINTED = re.compile(rf"(?:p [<>=] |[<>])?{NUMBER}|{NUMBER}(?:–| to ){NUMBER}|{NUMBER} (?:± {NUMBER}|\({NUMBER} to {NUMBER}\))|[\d,]+(?:st|nd|rd|th)|[a-z]+(?:-[a-z]+)?", re.IGNORECASE)
ANY = st.builds(
    lambda values, digits, style, summary, whole: make(int(values[0]) if whole else values[0], digits, style, values=tuple(values), summary=summary),
    st.lists(FINITE | st.integers(-20, 120).map(float), min_size=1, max_size=5), st.integers(0, 12), st.sampled_from(["fixed", "percent", "scientific", "integer"]),
    st.sampled_from(["median", "mean", "sum", None]), st.booleans(),
)  # fmt: skip
FORM = st.sampled_from([form.removesuffix("[.digits]") for form in FORMS.split(", ")] + [f"{style}.{digits}" for style in ("fixed", "percent", "scientific", "p") for digits in (0, 7)])


@settings(max_examples=400)
@given(ANY, FORM)
def test_printed_forms_are_plain(quantity: Quantity, form: str) -> None:
    """Whatever the value, style, digits and format: a plain form or a refusal of one line; never a negative zero, a padded exponent, nan or a type's name."""
    try:
        shown = format_quantity(quantity, form)
    except Refusal as refusal:
        assert "\n" not in str(refusal) and str(refusal).startswith("format [")
        return
    assert PRINTED.fullmatch(shown), shown
    assert not re.search(r"(?<![\d.,e])-[0.,]+(?![\d.,])|nan|inf|np\.|e[-+]0", shown), shown
    assert not re.search(r"[^\x00-\x7f]", to_latex(shown))


@given(FINITE, st.integers(0, 12), st.sampled_from(["fixed", "percent"]))
def test_the_number_read_back_is_the_rounded_value(value: float, digits: int, style: str) -> None:
    """Half a unit of the last printed digit is the most that a printed form is away from its value."""
    back = printed_value(format_quantity(make(value, digits, style)))
    assert back is not None
    assert abs(back - Decimal(repr(value))) <= Decimal(1).scaleb(-digits - (2 if style == "percent" else 0)) / 2
