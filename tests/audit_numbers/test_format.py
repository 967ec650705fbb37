"""One rounding rule: decimal, half up, on the shortest text of the stored value; and no form that no reader expects."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.finding import Refusal
from audit.numbers.format import format_quantity, printed_value, to_latex
from audit.records import Quantity


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
        ("eight", "eight"), ("run_a & 5%", r"run\_a \& 5\%"),
    ],
)  # fmt: skip
def test_latex(text: str, latex: str) -> None:
    """The LaTeX form of a printed form."""
    assert to_latex(text) == latex


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, st.integers(0, 12), st.sampled_from(["fixed", "percent", "scientific"]))
def test_printed_forms_are_plain(value: float, digits: int, style: str) -> None:
    """Never a negative zero, a padded exponent, nan or a type's name; and the number read back is the rounded value."""
    shown = format_quantity(make(value, digits, style))
    assert re.fullmatch(r"-?\d{1,3}(,\d{3})*(\.\d+)?%?|-?\d+(\.\d+)?(e-?[1-9]\d*)?%?", shown)
    assert not re.fullmatch(r"-[0.,]*%?", shown)
    back = printed_value(shown)
    assert back is not None
    unit = Decimal(1).scaleb(-digits - (2 if style == "percent" else 0))
    if style != "scientific":
        assert abs(back - Decimal(repr(value))) <= unit / 2
