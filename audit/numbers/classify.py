"""The class of each literal and why: an ordered table of named context rules, the first that fits decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as Choice

from audit.numbers import cues
from audit.numbers.contexts import (
    FRACTIONS, defines_layout, in_definition, is_address, is_attribute, is_bibliographic, is_bound_of_error, is_cause, is_comparison, is_condition, is_confidence, is_criterion, is_digit, is_enumeration, is_exponent, is_found_range, is_freedom, is_scale, is_found_value, is_index, is_legend, is_length, is_measured_noun, is_ordinal, is_method, is_method_unit, is_name, is_proper, is_prose_of_preamble, is_recruited, is_reference_mark, is_sample, is_set_up, is_setting, is_span, is_spread, is_statistic, is_weak_design, is_year, opaque,
)  # fmt: skip
from audit.numbers.literals import Literal
from audit.numbers.quoting import is_quoted, is_quoted_value
from audit.numbers.sight import Sight
from audit.numbers.stream import Reading
from audit.numbers.tables import in_design_column, in_table, is_heading

__all__ = ["RULES", "Classified", "NumberClass", "Rule", "classify"]

NumberClass = Choice["result", "design", "layout", "reference", "mathematics"]
LISTED = re.compile(rf"[\s\u00a0$]*(?:(?:{cues.UNIT}|[kKMBG])(?![A-Za-z])[\s\u00a0$]*)?(?:,|and|or|to|\u2013|--?|/|,\s*and|,\s*or)[\s\u00a0$]*")
INHERITED = frozenset({"named constant", "set up", "sized", "counted", "condition", "criterion", "method", "span", "physical", "dimensions", "setting", "sample size", "list"})


@dataclass(frozen=True)
class Rule:
    """A named context rule: where it fits, the literal has this class for this reason."""

    name: str
    cls: NumberClass
    why: str
    fits: Callable[[Sight], object]


RULES: tuple[Rule, ...] = (
    Rule("verbatim", "design", "verbatim text or a listing", lambda s: s.frame.kind == "verbatim"),
    Rule("layout argument", "layout", "an option, length, colour or coordinate", opaque("layout")),
    Rule("key", "reference", "a citation key, label, link or bibliography entry", opaque("reference")),
    Rule("unit argument", "mathematics", "an exponent of a unit", opaque("mathematics")),
    Rule("preamble", "layout", "set before the document begins", lambda s: s.frame.preamble and not in_definition(s) and not is_prose_of_preamble(s)),
    Rule("layout macro", "layout", "the value of a length or stretch", defines_layout),
    Rule("length", "layout", "a length of the page", is_length),
    Rule("words", "result", "a count or ratio in words", lambda s: s.literal.words and not s.frame.math and not is_quoted(s)),
    Rule("fraction", "mathematics", "part of a fraction or root", lambda s: bool(s.frame.inside & FRACTIONS)),
    Rule("error", "result", "the error of a value", is_bound_of_error),
    Rule("script", "mathematics", "an exponent or index", lambda s: s.frame.script),
    Rule("date", "reference", "a date, a time or a version", lambda s: s.literal.kind in ("date", "time", "version")),
    Rule("name", "reference", "part of a name", is_name),
    Rule("year", "reference", "a year", is_year),
    Rule(
        "month",
        "reference",
        "a day of a month",
        lambda s: s.integer and (cues.MONTH_BEFORE.search(s.before[-24:]) or cues.MONTH_AFTER.match(s.after)),
    ),
    Rule(
        "identifier",
        "reference",
        "part of an address or identifier",
        lambda s: not s.frame.math and not s.literal.percent and cues.IDENTIFIER.search(s.before[-40:]),
    ),
    Rule("product version", "reference", "a version of a named product", lambda s: not s.literal.percent and cues.SOFTWARE.search(s.before[-28:])),
    Rule("bibliographic", "reference", "volume or page of a typed reference, or a postal code", is_bibliographic),
    Rule("address", "reference", "in the line of authors or an address", is_address),
    Rule("reference mark", "reference", "a typed citation", is_reference_mark),
    Rule("index", "reference", "counts a figure, section, step or the like", is_index),
    Rule("enumeration", "reference", "an item of an enumeration", is_enumeration),
    Rule("display", "mathematics", "a display formula", lambda s: s.frame.math == "display"),
    Rule("statistic", "result", "the value of a test statistic", is_statistic),
    Rule("spread", "result", "a value with its spread", is_spread),
    Rule("found range", "result", "the range of a symbol in a sentence about an outcome", is_found_range),
    Rule("sample size", "design", "a size that was set", is_sample),
    Rule("quoted value", "reference", "a symbol's value, quoted beside a citation", is_quoted_value),
    Rule("found value", "result", "a symbol's value in a sentence about an outcome", lambda s: not s.prose and is_found_value(s)),
    Rule("setting", "design", "a symbol's value", lambda s: not s.prose and s.literal.kind != "integer" and is_setting(s)),
    Rule("exponent", "mathematics", "a slope or power", is_exponent),
    Rule("digit", "mathematics", "a digit as such", is_digit),
    Rule("formula", "mathematics", "a constant of a formula", lambda s: not s.prose),
    Rule("degrees of freedom", "mathematics", "the degrees of freedom of a test", is_freedom),
    Rule("coefficient", "mathematics", "multiplies a symbol", lambda s: re.match(r"[\s$]*×[\s$]*\\[a-z]+", s.after)),
    Rule("quoted", "reference", "quoted beside a citation", is_quoted),
    Rule("comparison", "result", "a difference that was found", is_comparison),
    Rule("legend", "design", "what a figure's marks stand for", is_legend),
    Rule("confidence", "design", "a level of confidence, a quantile or a fold", is_confidence),
    Rule("proper name", "reference", "follows a proper name", is_proper),
    Rule("ordinal", "design", "counts a step, layer or the like", is_ordinal),
    Rule("attribute", "design", "a measure before a noun", is_attribute),
    Rule("cause", "design", "a change at the head of a sentence on its effect", is_cause),
    Rule("hyphenated", "design", "part of a compound such as 12-layer", lambda s: cues.HYPHENATED.match(s.after)),
    Rule(
        "dimensions",
        "design",
        "one of several dimensions",
        lambda s: s.literal.kind in ("integer", "decimal") and (cues.PRODUCT.match(s.after) or re.search(r"\d[\s$]*(?:[A-Za-zμµ]{1,2}|\^?°\u200b?)?[\s$]*(?:[×x*]|[- ]by[- ])[\s$]*$", s.before)),
    ),
    Rule("scale", "design", "the end of a scale", is_scale),
    Rule("heading", "design", "a table's row or column label", is_heading),
    Rule("column", "design", "in a table's column of things chosen", in_design_column),
    Rule("condition", "design", "a condition under which something is measured", is_condition),
    Rule("criterion", "design", "a bound that was drawn", is_criterion),
    Rule("span", "design", "over how much something is measured, or at which temperature", is_span),
    Rule(
        "hardware",
        "design",
        "counts machines or draws",
        lambda s: s.literal.kind in ("integer", "decimal") and s.prose and cues.HARDWARE.match(s.after),
    ),
    Rule(
        "proportion",
        "design",
        "a proportion such as 3:2",
        lambda s: s.integer and s.prose and not s.claims and not cues.PREDICATE.search(s.lead) and (re.match(r":\d", s.after) or re.search(r"\d:$", s.before)),
    ),
    Rule(
        "named constant",
        "design",
        "the value of a named constant",
        lambda s: not in_table(s) and not s.literal.percent and (cues.CERTAIN_DESIGN.search(s.lead) or cues.LINKED_DESIGN.search(s.lead)),
    ),
    Rule("participants", "design", "who took part", is_recruited),
    Rule("set up", "design", "follows a verb of setting up", is_set_up),
    Rule("counted", "design", "counts things in a sentence without an outcome", is_measured_noun),
    Rule("sized", "design", "a size in a sentence without an outcome", is_weak_design),
    Rule("physical", "design", "a physical setting in a sentence without an outcome", is_method_unit),
    Rule("method", "design", "in a section on methods, in a sentence without an outcome", is_method),
    Rule("measured", "result", "a number a reader takes for measured", lambda s: True),
)


@dataclass(frozen=True)
class Classified:
    """A literal with its class, the rule that gave it, and the reason."""

    literal: Literal
    cls: NumberClass
    rule: str
    why: str


def classify(reading: Reading, literals: list[Literal]) -> list[Classified]:
    """Give each literal its class."""
    main, aside = reading.main.text(), reading.aside.text()
    reading.formulas.sort()
    starts = [start for start, _, _ in reading.formulas]
    found = []
    for literal in literals:
        sight = Sight(reading, main if literal.stream == "main" else aside, literal, starts)
        rule = next(rule for rule in RULES if rule.fits(sight))
        given = Classified(literal, rule.cls, rule.name, rule.why)
        found.append(continue_list(main, found[-1], given) if found else given)
    return found


def continue_list(text: str, last: Classified, given: Classified) -> Classified:
    """A number that goes on a list of design constants is one of them."""
    if given.rule != "measured" or last.rule not in INHERITED or "main" not in (last.literal.stream, given.literal.stream):
        return given
    between = text[last.literal.end : given.literal.start]
    return Classified(given.literal, "design", "list", "goes on a list of design constants") if LISTED.fullmatch(between) else given
