"""The class of each literal and why: an ordered table of named context rules, the first that fits decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as Choice

from audit.numbers import conduct, cues, design, formulas, outcomes, references
from audit.numbers.literals import Literal
from audit.numbers.quoting import is_attributed, is_quoted, is_quoted_statistic, is_quoted_value, is_told_of_others, own_beside_citation
from audit.numbers.sight import Page, Sight
from audit.numbers.stream import Reading
from audit.numbers.tables import in_design_column, is_heading, lists_parameters, stands_alone

__all__ = ["RULES", "Classified", "NumberClass", "Rule", "classify"]

NumberClass = Choice["result", "design", "layout", "reference", "mathematics"]
LISTED = re.compile(rf"[\s\u00a0$]*(?:(?P<unit>{cues.UNIT}|[kKMBG])(?![A-Za-z])[\s\u00a0$]*)?(?:,|and|or|to|\u2013|--?|/|,\s*and|,\s*or)[\s\u00a0$]*")
LEADING = re.compile(r"[\s$]*(?:,|,\s*and|,\s*or|and|or)[\s$]*")
LISTED_BEFORE = frozenset({"attribute", "hyphenated", "protocol", "counted", "condition's name", "list"})
NEXT_NAME = re.compile(r"\s*(?:,|and|,\s*and)\s+[A-Z][A-Za-z-]+[\s\u00a0]")
PARTED = re.compile(r"[\s~$]+(?:[a-z-]+\s+)?[a-z-]+[;,]\s*(?:and\s+)?[\s$]*")
OPENED = re.compile(r"[\s~]+[a-z-]+\s*\([\s$]*")
FIRST_PART = re.compile(r"[\s~$]+(?:[a-z-]+\s+)?[a-z-]+(?<!ed)[;,]\s*(?:and\s+)?[\s$]*\d+[\s~$]+(?:[a-z-]+\s+)?[a-z-]+(?<!ed)\)")
PART_END = re.compile(r"[\s~$]+(?:[a-z-]+\s+)?[a-z-]+\)")
"""The parts of a number, in parentheses behind it: `40 trials (20 old; 20 new)`."""
NEXT_VALUE = re.compile(r"[\s,$]*(?:and|or)?[\s$]*")
OTHER_END = re.compile(r"\$?(?:--?|\u2013)\$?")
FOUND = frozenset({"statistic", "spread", "found value"})
VERSIONS = frozenset({"proper name", "product version"})
LETTER = re.compile(r"[kKMBG](?![A-Za-z])")
INHERITED = frozenset({"named constant", "set up", "counted", "condition", "criterion", "method", "span", "physical", "dimensions", "setting", "sample size", "list", "bound", "arranged", "allotted", "distribution", "protocol", "conducted", "unasserted", "caption"})


@dataclass(frozen=True)
class Rule:
    """A named context rule: where it fits, the literal has this class for this reason."""

    name: str
    cls: NumberClass
    why: str
    fits: Callable[[Sight], object]


RULES: tuple[Rule, ...] = (
    Rule("verbatim", "design", "verbatim text or a listing", lambda s: s.frame.kind == "verbatim"),
    Rule("condition", "design", "a number of a claim's own condition", references.opaque("design")),
    Rule("layout argument", "layout", "an option, length, colour or coordinate", references.opaque("layout")),
    Rule("key", "reference", "a citation key, label, link or bibliography entry", references.opaque("reference")),
    Rule("unit argument", "mathematics", "an exponent of a unit", references.opaque("mathematics")),
    Rule("preamble", "layout", "set before the document begins", lambda s: s.frame.preamble and not references.in_definition(s) and not references.is_prose_of_preamble(s)),
    Rule("layout macro", "layout", "the value of a length or stretch", references.defines_layout),
    Rule("length", "layout", "a length of the page", references.is_length),
    Rule("multiple", "design", "a multiple in a sentence without an outcome", design.is_multiple),
    Rule("attributed", "reference", "told of a cited author", lambda s: is_attributed(s) or is_quoted_statistic(s)),
    Rule("words", "result", "a count or ratio in words", lambda s: s.literal.words and not s.frame.math and not is_quoted(s)),
    Rule("fraction", "mathematics", "part of a fraction or root", lambda s: bool(s.frame.inside & outcomes.FRACTIONS)),
    Rule("error", "result", "the error of a value", outcomes.is_bound_of_error),
    Rule("script", "mathematics", "an exponent or index", lambda s: s.frame.script),
    Rule("date", "reference", "a date, a time or a version", lambda s: s.literal.kind in ("date", "time", "version")),
    Rule("name", "reference", "part of a name", references.is_name),
    Rule("year", "reference", "a year, or the day of a month", lambda s: references.is_year(s) or references.is_month(s)),
    Rule("identifier", "reference", "part of an address or identifier", references.is_identifier),
    Rule("product version", "reference", "a version of a named product", lambda s: not s.literal.percent and cues.SOFTWARE.search(s.before[-28:])),
    Rule("bibliographic", "reference", "volume or page of a typed reference, or a postal code", references.is_bibliographic),
    Rule("address", "reference", "in the line of authors or an address", references.is_address),
    Rule("reference mark", "reference", "a typed citation", references.is_reference_mark),
    Rule("index", "reference", "counts a figure, section, step or the like", references.is_index),
    Rule("enumeration", "reference", "an item of an enumeration", references.is_enumeration),
    Rule("spread", "result", "a value with its spread", outcomes.is_spread),
    Rule("displayed value", "result", "a displayed value with its unit", outcomes.is_displayed),
    Rule("display", "mathematics", "a display formula", lambda s: s.frame.math == "display"),
    Rule("planned", "design", "in a sentence on the sample that a test needs", design.is_planned),
    Rule("condition's name", "design", "names a condition", design.names_condition),
    Rule("statistic", "result", "the value of a test statistic", outcomes.is_statistic),
    Rule("found range", "result", "the range of a symbol in a sentence about an outcome, or an interval", lambda s: outcomes.is_found_range(s) or formulas.is_inner_interval(s)),
    Rule("came out", "result", "a number of cases that came out, or one of the values listed for a thing found", lambda s: outcomes.is_counted_out(s) or outcomes.is_direction(s)),
    Rule("dropped out", "result", "a number of cases that dropped out", design.is_lost),
    Rule("sample size", "design", "a size that was set", design.is_sample),
    Rule("quoted value", "reference", "a symbol's value, quoted beside a citation", is_quoted_value),
    Rule("found value", "result", "a symbol's value in a sentence about an outcome", lambda s: not s.prose and (outcomes.is_found_value(s) or formulas.tells_found(s))),
    Rule("setting", "design", "a symbol's value", lambda s: not s.prose and s.literal.kind != "integer" and design.is_setting(s)),
    Rule("number as such", "mathematics", "a digit, a slope, a fraction or a factor as such", outcomes.is_as_such),
    Rule("formula", "mathematics", "a constant of a formula", lambda s: not s.prose),
    Rule("degrees of freedom", "result", "the degrees of freedom of a test", outcomes.is_freedom),
    Rule("screened", "result", "counts what a search found and kept", outcomes.is_screened),
    Rule("sigma", "result", "a distance in standard errors", outcomes.is_sigma),
    Rule("quoted here", "reference", "quoted beside a citation, in a sentence or table of one's own", lambda s: is_quoted(s) and own_beside_citation(s)),
    Rule("quoted", "reference", "quoted beside a citation", is_quoted),
    Rule("turned out", "result", "a whole of which a part is told, or how many different things there were", lambda s: outcomes.is_whole(s) or outcomes.is_distinct(s)),
    Rule("told value", "result", "a value with its spread, or of a named statistic", lambda s: outcomes.is_spread_in_prose(s) or outcomes.is_named_statistic(s)),
    Rule("comparison", "result", "a difference that was found", outcomes.is_comparison),
    Rule("legend", "design", "what a figure's marks stand for", design.is_legend),
    Rule("confidence", "design", "a level of confidence, a quantile or a fold", design.is_confidence),
    Rule("share", "result", "the percentage of a count", outcomes.is_share),
    Rule("proper name", "reference", "follows a proper name", references.is_proper),
    Rule("ordinal", "design", "counts a step, layer or the like", design.is_ordinal),
    Rule("attribute", "design", "a measure before a noun", design.is_attribute),
    Rule("hyphenated", "design", "part of a compound such as 12-layer", lambda s: cues.HYPHENATED.match(s.after)),
    Rule("dimensions", "design", "one of several dimensions, or of a proportion such as 3:2", lambda s: design.is_dimension(s) or design.is_proportion(s)),
    Rule("scale", "design", "the end of a scale", design.is_scale),
    Rule("heading", "design", "a table's row or column label", is_heading),
    Rule("column", "design", "in a table's column of things chosen", in_design_column),
    Rule("parameters", "design", "in a table or row of things that were set", lists_parameters),
    Rule("condition", "design", "a condition under which something is measured", design.is_condition),
    Rule("criterion", "design", "a bound that was drawn", design.is_criterion),
    Rule("span", "design", "over how much something is measured, or at which temperature", design.is_span),
    Rule("named constant", "design", "the value of a named constant", design.is_named_constant),
    Rule("set up", "design", "follows a verb of setting up", design.is_set_up),
    Rule("counted", "design", "counts machines, draws, or things in a sentence without an outcome", lambda s: design.is_hardware(s) or design.is_measured_noun(s)),
    Rule("physical", "design", "a size or physical setting in a sentence without an outcome", lambda s: design.is_weak_design(s) or design.is_method_unit(s)),
    Rule("method", "design", "in a section on methods, in a sentence without an outcome", design.is_method),
    Rule("bound", "design", "a bound written with its sign, in a definition or behind `if`", conduct.is_bound),
    Rule("arranged", "design", "what the procedure sets, offers or asks for", conduct.is_arranged),
    Rule("allotted", "design", "a share that was set aside or treated", conduct.is_allotted),
    Rule("distribution", "design", "a parameter of a distribution", conduct.is_distributed),
    Rule("protocol", "design", "the value of something that people set", conduct.is_protocol),
    Rule("caption", "design", "a condition told in a caption", conduct.is_told_in_caption),
    Rule("conducted", "design", "weak evidence of an outcome: in a section on methods, in a sentence that asserts nothing", conduct.is_conducted),
    Rule("unasserted", "design", "weak evidence of an outcome: a round number in a sentence with no word of one", conduct.is_unasserted),
    Rule("told of others", "reference", "in an introduction, in a paragraph with no word of this work", is_told_of_others),
    Rule("measured", "result", "a number a reader takes for measured", lambda s: True),
)


IN_FORMULAS = frozenset("error,display,displayed value,spread,found range,quoted value,found value,setting,formula".split(","))
OUTSIDE = tuple(rule for rule in RULES if rule.name not in IN_FORMULAS)
"""Those that can fit outside formulas."""
IN_CELLS = frozenset("verbatim,layout argument,key,unit argument,words,fraction,script,date,name,quoted here,quoted,heading,column,parameters,measured".split(","))
ALONE = tuple(rule for rule in RULES if rule.name in IN_CELLS)
"""Those that can fit a number that has a table's cell for itself: no word stands beside it."""


def rules_for(sight: Sight) -> tuple[Rule, ...]:
    """The rules that are worth asking."""
    if stands_alone(sight):
        return ALONE
    return RULES if sight.frame.math else OUTSIDE


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
    pages = {"main": Page(reading, main), "aside": Page(reading, aside)}
    found = []
    for literal in literals:
        sight = Sight(pages[literal.stream], literal)
        for rule in rules_for(sight):
            if rule.fits(sight):
                break
        given = Classified(literal, rule.cls, rule.name, rule.why)
        found.append(continue_list(main, found[-1], given) if found else given)
    return lead_lists(main, found)


def lead_lists(text: str, found: list[Classified]) -> list[Classified]:
    """Numbers that lead up to a design constant at the end of their list are of its kind: `1, 3, and 6 day steps`."""
    for index in range(len(found) - 2, -1, -1):
        given, following = found[index], found[index + 1]
        if given.rule != "measured" or following.rule not in LISTED_BEFORE or "main" not in (given.literal.stream, following.literal.stream):
            continue
        if given.literal.percent == following.literal.percent and LEADING.fullmatch(text[given.literal.end : following.literal.start]):
            found[index] = Classified(given.literal, "design", "list", "leads up to a design constant in a list")
    return found


def continue_list(text: str, last: Classified, given: Classified) -> Classified:
    """A number that goes on a list of design constants is one of them; so is a version that follows a version."""
    if given.rule == "measured" and last.rule in VERSIONS and NEXT_NAME.fullmatch(text[last.literal.end : given.literal.start]):
        return Classified(given.literal, "reference", last.rule, last.why)
    if given.rule == "formula" and last.rule in FOUND and given.literal.kind == "decimal" and NEXT_VALUE.fullmatch(text[last.literal.end : given.literal.start]):
        return Classified(given.literal, "result", last.rule, last.why)
    if given.rule in ("quoted", "formula") and given.literal.kind == last.literal.kind == "decimal" and last.rule in FOUND and OTHER_END.fullmatch(text[last.literal.end : given.literal.start]):
        return Classified(given.literal, "result", last.rule, last.why)
    between = text[last.literal.end : given.literal.start]
    inherits = last.rule in INHERITED or (last.rule == "scale" and OTHER_END.fullmatch(between) is not None)
    if given.rule != "measured" or not inherits or "main" not in (last.literal.stream, given.literal.stream):
        return given
    if given.literal.percent and not last.literal.percent or (last.rule == "setting" and not given.literal.frame.math and between.strip(" $") == "to"):
        return given
    if PARTED.fullmatch(between) and text[max(0, last.literal.start - 3) : last.literal.start].rstrip("$ ").endswith("(") and PART_END.match(text[given.literal.end : given.literal.end + 40]):
        return Classified(given.literal, "design", "list", "goes on a list of design constants")
    if OPENED.fullmatch(between) and FIRST_PART.match(text[given.literal.end : given.literal.end + 80]):
        return Classified(given.literal, "design", "list", "goes on a list of design constants")
    if between.strip(" $") == "to" and given.literal.kind == "decimal" and last.literal.kind == "integer":
        return given
    listed = LISTED.fullmatch(between)
    if listed is None or (listed["unit"] and between.rstrip().endswith(",") and not cues.PHYSICAL.match(text[given.literal.end : given.literal.end + 12]) and not LETTER.match(text, given.literal.end)):
        return given
    return Classified(given.literal, "design", "list", "goes on a list of design constants")
