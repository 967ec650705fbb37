"""The class of each literal and why: an ordered table of named context rules, the first that fits decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as Choice

from audit.numbers import cues
from audit.numbers.literals import Literal
from audit.numbers.sight import Sight
from audit.numbers.stream import CITE, Reading
from audit.numbers.tables import in_table, is_heading, row_of

__all__ = ["RULES", "Classified", "NumberClass", "Rule", "classify"]

NumberClass = Choice["result", "design", "layout", "reference", "mathematics"]
DEFINERS = frozenset("newcommand renewcommand providecommand newcommand* renewcommand* def gdef edef xdef DeclareRobustCommand".split())
FRACTIONS = frozenset("frac tfrac dfrac cfrac nicefrac sfrac binom sqrt".split())
LISTED = re.compile(r"[\s\u00a0$]*(?:,|and|or|to|\u2013|--?|/|,\s*and|,\s*or)[\s\u00a0$]*")
INHERITED = frozenset({"named constant", "set up", "sized", "counted", "list"})


@dataclass(frozen=True)
class Rule:
    """A named context rule: where it fits, the literal has this class for this reason."""

    name: str
    cls: NumberClass
    why: str
    fits: Callable[[Sight], object]


def in_definition(sight: Sight) -> bool:
    return bool(sight.frame.inside & (DEFINERS | {"title"}))


def defines_layout(sight: Sight) -> object:
    """Inside the body of a definition whose name is a length's or stretch's."""
    frame = sight.frame
    while frame.parent is not None and not (frame.kind == "argument" and frame.name in DEFINERS):
        frame = frame.parent
    return frame.parent is not None and cues.LAYOUT_NAME.search(sight.reading.source, max(0, frame.start - 60), frame.start)


def opaque(name: str) -> Callable[[Sight], object]:
    return lambda sight: sight.frame.opaque == name


def is_year(sight: Sight) -> object:
    literal = sight.literal
    if not (sight.integer and re.fullmatch(r"(?:1[89]|20)\d\d", literal.plain) and literal.text.isdigit()):
        return False
    return cues.YEAR_BEFORE.search(sight.before[-14:]) and cues.YEAR_AFTER.match(sight.after)


def is_index(sight: Sight) -> object:
    if not sight.prose or sight.literal.percent or not (sight.integer or sight.literal.kind == "decimal"):
        return False
    if cues.CERTAIN_INDEX.search(sight.before[-48:]) and "=" not in sight.before[-3:]:
        return sight.integer or not re.search(r"\bp\.?\s*$|\b(?:conditions?|steps?|no|app|questions?|claims?|issues?)\.?\s*$", sight.before)
    if not (sight.integer and cues.INDEX.search(sight.before[-40:])) or re.match(r"\s*out of\s", sight.after):
        return False
    verb = cues.VERBISH.search(sight.before[-12:]) and cues.PLURAL.match(sight.after)
    return not verb and not cues.PHYSICAL.match(sight.after)


def is_name(sight: Sight) -> object:
    glued = sight.text[sight.literal.start - 1 : sight.literal.start]
    return not sight.frame.math and (glued.isalpha() or glued == "_" or cues.NAME_HYPHEN.search(sight.before[-30:]))


def is_proper(sight: Sight) -> object:
    if sight.frame.math or sight.literal.percent or not sight.integer or len(sight.literal.plain) > 2:
        return False
    return cues.PROPER.search(sight.before[-24:]) and not cues.PLURAL.match(sight.after) and not cues.PHYSICAL.match(sight.after)


def is_quoted(sight: Sight) -> object:
    """Beside a citation, in a sentence that does not speak of this work, or whose own words lie on its other side."""
    if not sight.prose:
        return False
    if in_table(sight) and not sight.frame.inside & {"caption", "footnote"}:
        return CITE in row_of(sight)
    if CITE not in sight.text[max(0, sight.literal.start - 400) : sight.literal.end + 400] or CITE not in sight.sentence:
        return False
    offset = sight.literal.start - sight.span[0]
    if not cues.OWN.search(sight.sentence):
        return True
    between = sight.sentence[offset : offset + 60].partition(CITE)
    return (
        bool(between[1])
        and not cues.OWN.search(between[0])
        and not re.search(
            r"\b(?:than|against|above|below|over|unlike|while|whereas|but|agree\w*|consistent|compar\w+|in line|similar\w*)\b", between[0]
        )
    )


def is_statistic(sight: Sight) -> object:
    if sight.prose and not sight.frame.math:
        return cues.STATISTIC_TEXT.search(sight.before) and not is_level(sight)
    return (
        bool(sight.frame.math)
        and sight.frame.math != "display"
        and not sight.frame.script
        and cues.STATISTIC.search(sight.left)
        and not is_level(sight)
        and ends_relation(sight)
    )


def is_level(sight: Sight) -> object:
    """A threshold of significance that was set, not found."""
    return re.search(r"\b(?:considered|threshold|criterion|level|cut-?off|regarded|defined|taken|set|declared|deemed|if)\b", sight.sentence, re.I)


def ends_relation(sight: Sight) -> object:
    """Whether the literal is all that follows in its formula, units and further assignments apart."""
    return re.match(rf"[\s\u2009]*(?:%|‰|{cues.UNIT}(?![A-Za-z]))?[\s\u2009]*(?:$|[,;)\]±.]|\\quad|\\text|\\ldots|[<>≤≥=≈])", sight.right)


def is_sample(sight: Sight) -> object:
    return sight.literal.kind in ("integer", "power") and cues.SAMPLE.search(sight.left if sight.frame.math else sight.before)


def is_found_value(sight: Sight) -> object:
    """`symbol = number` closing an inline formula, in a sentence about an outcome."""
    if sight.formula is None:
        return False
    return (
        sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)
        and not re.search(r"[0-9]", sight.left.replace(" ", "")[:-1][-12:]) and sight.claims and not cues.DESIGN_VERB.search(sight.lead) and sight.literal.plain not in ("0", "1")
        and not is_level(sight) and not re.search(r"\b(?:at|with|for|where|when|if|let|using|setting|choose|fix|take)\s*$", sight.text[max(0, sight.formula[0] - 12) : sight.formula[0]], re.I)
        and "∈" not in sight.left and "→" not in sight.left
    )  # fmt: skip


def is_setting(sight: Sight) -> object:
    """`symbol = decimal` in a sentence that sets something."""
    return sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)


def is_enumeration(sight: Sight) -> object:
    return (
        sight.integer and len(sight.literal.plain) <= 2 and not sight.frame.math
        and re.search(r"(?:^|[\s:,;.])\($", sight.before) and re.match(r"\)(?:$|\s)", sight.after) and not re.search(r"[\d%]\s*\($", sight.before)
    )  # fmt: skip


def is_measured_noun(sight: Sight) -> object:
    if not sight.prose or sight.literal.percent or not sight.integer:
        return False
    return cues.COUNTED.match(sight.after) and not sight.claims


def is_weak_design(sight: Sight) -> object:
    found = cues.WEAK_DESIGN.search(sight.lead) or cues.QUALIFIED.search(sight.lead)
    return sight.prose and found and not sight.claims and not sight.literal.percent


def is_span(sight: Sight) -> object:
    """`over 9 years`, `across 5 seeds`; `at 60 degrees`."""
    if not sight.prose or sight.literal.percent:
        return False
    spanned = sight.integer and cues.SPAN.search(sight.lead) and (cues.COUNTED.match(sight.after) or cues.PHYSICAL.match(sight.after))
    return spanned or (re.search(r"\bat\s*\$?$", sight.lead) and cues.THERMAL.match(sight.after))


def is_method_unit(sight: Sight) -> object:
    return (
        sight.prose
        and re.search(r"\b(?:at|for|every|after|in|of|over)\s*$", sight.before, re.I)
        and cues.PHYSICAL.match(sight.after)
        and not sight.claims
    )


RULES: tuple[Rule, ...] = (
    Rule("verbatim", "design", "verbatim text or a listing", lambda s: s.frame.kind == "verbatim"),
    Rule("condition", "design", "a number of a claim's own condition", opaque("design")),
    Rule("layout argument", "layout", "an option, length, colour or coordinate", opaque("layout")),
    Rule("key", "reference", "a citation key, label, link or bibliography entry", opaque("reference")),
    Rule("unit argument", "mathematics", "an exponent of a unit", opaque("mathematics")),
    Rule("preamble", "layout", "set before the document begins", lambda s: s.frame.preamble and not in_definition(s)),
    Rule("layout macro", "layout", "the value of a length or stretch", defines_layout),
    Rule("length", "layout", "a length of the page", lambda s: cues.LENGTH.match(s.after) or ("\\" in s.before and cues.PRIMITIVE.search(s.before))),
    Rule("words", "result", "a count or ratio in words", lambda s: s.literal.words and not s.frame.math and not is_quoted(s)),
    Rule("fraction", "mathematics", "part of a fraction or root", lambda s: bool(s.frame.inside & FRACTIONS)),
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
    Rule("index", "reference", "counts a figure, section, step or the like", is_index),
    Rule("enumeration", "reference", "an item of an enumeration", is_enumeration),
    Rule("display", "mathematics", "a display formula", lambda s: s.frame.math == "display"),
    Rule("statistic", "result", "the value of a test statistic", is_statistic),
    Rule("sample size", "design", "a size that was set", is_sample),
    Rule("found value", "result", "a symbol's value in a sentence about an outcome", lambda s: not s.prose and is_found_value(s)),
    Rule("setting", "design", "a symbol's value", lambda s: not s.prose and s.literal.kind != "integer" and is_setting(s)),
    Rule("formula", "mathematics", "a constant of a formula", lambda s: not s.prose),
    Rule("quoted", "reference", "quoted beside a citation", is_quoted),
    Rule("confidence", "design", "a level of confidence, a quantile or a fold", lambda s: cues.CONFIDENCE.match(s.after)),
    Rule("proper name", "reference", "follows a proper name", is_proper),
    Rule("ordinal", "design", "counts a step, layer or the like", lambda s: cues.ORDINAL.match(s.after)),
    Rule("hyphenated", "design", "part of a compound such as 12-layer", lambda s: cues.HYPHENATED.match(s.after)),
    Rule(
        "dimensions",
        "design",
        "one of several dimensions",
        lambda s: s.integer and (cues.PRODUCT.match(s.after) or re.search(r"\d\s*(?:×|[- ]by[- ])\s*$", s.before)),
    ),
    Rule("heading", "design", "a table's row or column label", is_heading),
    Rule(
        "condition",
        "design",
        "a condition under which something is measured",
        lambda s: s.prose and not s.literal.percent and s.lead.rstrip().endswith(" of") and cues.CONDITION.search(s.lead),
    ),
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
        lambda s: s.integer and s.prose and (re.match(r":\d", s.after) or re.search(r"\d:$", s.before)),
    ),
    Rule(
        "named constant",
        "design",
        "the value of a named constant",
        lambda s: not in_table(s) and not s.literal.percent and (cues.CERTAIN_DESIGN.search(s.lead) or cues.LINKED_DESIGN.search(s.lead)),
    ),
    Rule(
        "set up",
        "design",
        "follows a verb of setting up",
        lambda s: not in_table(s) and cues.DESIGN_VERB.search(s.lead) and not cues.CLAIM.search(s.lead),
    ),
    Rule("counted", "design", "counts things in a sentence without an outcome", is_measured_noun),
    Rule("sized", "design", "a size in a sentence without an outcome", is_weak_design),
    Rule("physical", "design", "a physical setting in a sentence without an outcome", is_method_unit),
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
