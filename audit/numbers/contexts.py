"""Contexts: what stands around a literal, one small predicate a question."""

from __future__ import annotations

import re
from collections.abc import Callable

from audit.numbers import cues
from audit.numbers.literals import parse_decimal
from audit.numbers.sight import Sight
from audit.numbers.stream import CELL
from audit.numbers.tables import in_table

DEFINERS = frozenset("newcommand renewcommand providecommand newcommand* renewcommand* def gdef edef xdef DeclareRobustCommand".split())
FRACTIONS = frozenset("frac tfrac dfrac cfrac nicefrac sfrac binom sqrt".split())


LETTERS = frozenset("zdgrRUWM")
"""Statistics with the name of a letter that names many other things."""


def in_definition(sight: Sight) -> bool:
    return bool(sight.frame.inside & (DEFINERS | {"title"}))


def defines_layout(sight: Sight) -> object:
    """Inside the body of a definition whose name is a length's or stretch's."""
    frame = sight.frame
    while frame.parent is not None and not (frame.kind == "argument" and frame.name in DEFINERS):
        frame = frame.parent
    return frame.parent is not None and cues.LAYOUT_NAME.search(sight.reading.source, max(0, frame.start - 60), frame.start)


def is_length(sight: Sight) -> object:
    """A length of the page: in its own units, after a register or at once after a command."""
    if cues.LENGTH.match(sight.after):
        return True
    if "\\" not in sight.before:
        return False
    return cues.PRIMITIVE.search(sight.before) or (not sight.frame.math and cues.COMMAND.search(sight.before) and cues.TEX_UNIT.match(sight.after))


def opaque(name: str) -> Callable[[Sight], object]:
    return lambda sight: sight.frame.opaque == name


def is_year(sight: Sight) -> object:
    literal = sight.literal
    if in_definition(sight) and sight.before.strip() == "" or re.match(r"\s*\(\d+(?:[.,]\d+)?\s*%", sight.after):
        return False
    if sight.integer and len(literal.text) == 2 and cues.YEAR_RANGE.search(sight.before[-10:]):
        return True
    if not (sight.integer and re.fullmatch(r"(?:1[89]|20)\d\d|2100", literal.plain) and literal.text.isdigit()):
        return False
    if sight.before.strip() == "" and sight.after.strip() == "" and CELL in sight.text[max(0, literal.start - 80) : literal.end + 80]:
        return False
    if cues.YEAR_BEFORE.search(sight.before[-14:]) and cues.YEAR_AFTER.match(sight.after):
        return True
    if cues.PHYSICAL.match(sight.after) or sight.frame.math or in_table(sight):
        return False
    if cues.YEAR_PLACE.search(sight.before[-8:]) and not cues.COUNTED.match(sight.after):
        return True
    return cues.DETERMINER.search(sight.before[-8:]) or not (cues.COUNTED.match(sight.after) or cues.PLURAL.match(sight.after) or re.match(r"[\s\u00a0]*$", sight.after))


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
    if re.match(r"D\b", sight.after) or (re.match(r"[BM]\b", sight.after) and cues.MODEL.search(sight.before[-24:])):
        return True
    if re.search(r"#\s?$", sight.before[-3:]) and sight.integer:
        return True
    if sight.literal.text.isdigit() and len(sight.literal.text) > 2 and cues.CATALOGUED.search(sight.before[-12:]) and not cues.PHYSICAL.match(sight.after):
        return True
    return not sight.frame.math and (glued.isalpha() or glued == "_" or cues.NAME_HYPHEN.search(sight.before[-30:]))


def is_proper(sight: Sight) -> object:
    """`Model 2`, `Finding 1 (`: a small integer that counts a thing with a capital name."""
    if sight.frame.math or sight.literal.percent or not (sight.integer or sight.literal.kind == "decimal"):
        return False
    if cues.PRODUCT_NAME.search(sight.before[-24:]) and re.fullmatch(r"\d{1,4}|\d+\.\d", sight.literal.text):
        return True
    if not sight.integer or len(sight.literal.plain) > 2:
        return False
    if cues.PROPER.search(sight.before[-24:]):
        return not cues.PLURAL.match(sight.after) and not cues.PHYSICAL.match(sight.after)
    return cues.CAPITAL.search(sight.before[-24:]) and cues.SECTIONED.match(sight.after)


def is_address(sight: Sight) -> object:
    """In the line of authors, or in an address: institutions and commas, and nothing is found there."""
    return "author" in sight.frame.inside or (
        not sight.frame.math and sight.integer and sight.sentence.count(",") > 2 and cues.ADDRESS.search(sight.sentence) and not sight.claims
    )


def is_bibliographic(sight: Sight) -> object:
    """Volume and page of a reference that is typed out, or a postal code."""
    if sight.frame.math or not sight.literal.plain.replace("-", "").isdigit():
        return False
    if cues.STREET.match(sight.after):
        return True
    if len(sight.literal.plain) >= 4 and cues.POSTAL.search(sight.before[-12:]) and not sight.literal.percent:
        return True
    return cues.VOLUME_AFTER.match(sight.after) or (cues.VOLUME_BEFORE.search(sight.before[-24:]) and cues.PAGE_AFTER.match(sight.after))


def is_statistic(sight: Sight) -> object:
    """`p = .03`, `F(2, 87) = 5.3`; an inequality reports p, F or t, a bare letter otherwise has a decimal value."""
    if sight.prose and not sight.frame.math:
        return cues.STATISTIC_TEXT.search(sight.before) and not is_level(sight)
    if sight.frame.math != "inline" or sight.frame.script or not ends_relation(sight):
        return False
    found = cues.STATISTIC.search(sight.left)
    if not found or (found["symbol"] in "pP" and is_level(sight)):
        return False
    if found["relation"] in "<>≤≥" and found["symbol"] in LETTERS:
        return False
    if found["relation"] in "<>≤≥" and found["symbol"][0] in "pP" and (parse_decimal(sight.literal.plain) or 0) > 1:
        return False
    return not (sight.integer and found["symbol"] in LETTERS) and not re.search(r"[A-Za-z}\ue007\u200b]\s*\([^()]*$", sight.left)


def is_level(sight: Sight) -> object:
    """A threshold of significance that was set, not found."""
    near = sight.sentence[max(0, sight.literal.start - sight.span[0] - 70) :][:150]
    return re.search(r"\b(?:considered|threshold|criterion|level|cut-?off|regarded|defined|taken|set|declared|deemed|if)\b", near, re.I)


def ends_relation(sight: Sight) -> object:
    """Whether the literal is all that follows in its formula, units and further assignments apart."""
    return re.match(rf"[\s\u2009]*(?:%|‰|{cues.UNIT}(?![A-Za-z])|(?:[A-Za-z]{{1,3}}|\\[A-Za-z]+)(?:_\S{{1,8}})?(?=[\s\u200b]*$))?[\s\u2009\u200b]*(?:$|[,;)\]±.]|\\quad|\\text|\\ldots|[<>≤≥=≈])", sight.right)


def is_spread(sight: Sight) -> object:
    """A value with its spread, `2.24 \\pm 0.25`, in a formula that a sentence holds."""
    if sight.frame.math != "inline" or sight.frame.script or cues.CONDITION.search(sight.lead):
        return False
    if re.search(r"\)$", sight.literal.text) or re.match(r"\s*\^\W{0,2}\+\W{0,2}\d", sight.right):
        return True
    return re.match(r"[^A-Za-z=<>+*/±]{0,4}±[\s\u2009{\ue007]*[\d.]", sight.right) or re.search(r"[\d.][^=<>]{0,24}±[\s\u2009{\ue007]*$", sight.left)


def is_bound_of_error(sight: Sight) -> object:
    """The upper and the lower error of `36^{+5}_{-4}`."""
    if not sight.frame.script or sight.frame.math != "inline":
        return False
    signs = r"[{}\s\u200b\u2009\ue007]*"
    upper = re.search(rf"\d{signs}\^{signs}\+?$", sight.left) and re.match(rf"{signs}_{signs}[-\u2212]\d", sight.right)
    return upper or re.search(rf"\^{signs}\+[\d.]+{signs}_{signs}[-\u2212]?$", sight.left)


def is_confidence(sight: Sight) -> object:
    """`95 % CI`, a quantile, a fold."""
    value = parse_decimal(sight.literal.plain)
    return cues.CONFIDENCE.match(sight.after) and (not sight.literal.percent or value is None or value >= 50 or re.match(r"\s*-?(?:level|signif)", sight.after))


def is_sample(sight: Sight) -> object:
    if sight.claims and not sight.round:
        return False
    found = cues.SAMPLE.search(sight.left if sight.frame.math else sight.before)
    if not found or (found["symbol"] in "TLSBJ" and cues.PHYSICAL.match(sight.after)):
        return False
    return found and (sight.integer or (sight.literal.kind == "power" and found["symbol"] in "nN"))


def is_found_value(sight: Sight) -> object:
    """`symbol = number` closing an inline formula, in a sentence about an outcome."""
    if sight.formula is None:
        return False
    return (
        sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)
        and not re.search(r"[0-9]", re.sub(r"[_^][^_^\u200b]*\u200b", "", sight.left).replace(" ", "")[:-1][-12:]) and (sight.claims or not sight.plain_decimal) and not cues.DESIGN_VERB.search(sight.lead) and sight.literal.plain not in ("0", "1")
        and not is_level(sight) and not re.search(r"\b(?:at|with|for|where|when|if|let|using|setting|choose|fix|take)\s*$", sight.text[max(0, sight.formula[0] - 12) : sight.formula[0]], re.I)
        and "∈" not in sight.left and "→" not in sight.left
        and not (re.search(r"[<>≤≥][^=]*$", sight.left[-8:]) and re.search(r"\b(?:to|over|between|from|in|below|above|and)\s*$", sight.text[max(0, sight.formula[0] - 12) : sight.formula[0]]))
    )  # fmt: skip


def is_found_range(sight: Sight) -> object:
    """`0.33 < x < 0.55` in a sentence about an outcome, unless it says where to look."""
    if sight.frame.math != "inline" or sight.frame.script or sight.formula is None or not sight.claims:
        return False
    start, end, _ = sight.formula
    where = re.search(r"\b(?:at|for|with|where|when|if|over|in|from|to|on)\s*$", sight.text[max(0, start - 12) : start])
    return not where and cues.BOTH_SIDES.match(sight.text[start:end])


def is_setting(sight: Sight) -> object:
    """`symbol = decimal` in a sentence that sets something."""
    return sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)


def is_enumeration(sight: Sight) -> object:
    return (
        sight.integer and len(sight.literal.plain) <= 2 and not sight.frame.math
        and not sight.literal.percent and re.search(r"(?:^|[\s:,;.])\($", sight.before) and re.match(r"\)(?:$|\s)", sight.after) and not re.search(r"[\d%]\s*\($", sight.before)
    )  # fmt: skip


def is_chosen(sight: Sight) -> bool:
    """Whether a count looks like one that was chosen, not one that came out."""
    if sight.literal.kind == "decimal":
        return sight.round
    return sight.round or not sight.integer or bool(cues.PHYSICAL.match(sight.after)) or bool(cues.HOLDING.search(sight.lead))


def is_measured_noun(sight: Sight) -> object:
    """A count of things in a sentence without an outcome; of runs, seeds or machines in any sentence."""
    if not sight.prose or sight.literal.percent or not sight.integer:
        return False
    if cues.STRONG_COUNT.match(sight.after) and cues.DRAWN_FROM.search(sight.before[-20:]):
        return True
    return cues.COUNTED.match(sight.after) and not sight.claims and is_chosen(sight)


def is_set_up(sight: Sight) -> object:
    """Follows a verb of setting up, with no outcome before it."""
    if in_table(sight):
        return False
    found = cues.DESIGN_VERB.search(sight.lead) or cues.HOLDING.search(sight.lead)
    return found and not cues.CLAIM.search(sight.lead) and (is_chosen(sight) or cues.PREPARING.match(found.group()))


def is_recruited(sight: Sight) -> object:
    """Who took part: numbers of a sentence on recruitment that tells no outcome but ages."""
    if not sight.prose or sight.literal.percent or not cues.RECRUITED.search(sight.sentence):
        return False
    counted = sight.integer and not cues.DESCRIBED.search(sight.before[-40:])
    return counted and not cues.CLAIM.search(cues.DESCRIBED.strip(sight.sentence)) and is_chosen(sight)


def is_digit(sight: Sight) -> object:
    """A single digit alone in a formula, with no noun behind it, in a sentence without an outcome: `a $0$ otherwise`."""
    if not sight.frame.math or len(sight.literal.text) > 1 or sight.claims or in_table(sight) or (sight.left + sight.right).strip():
        return False
    return re.match(r"[\s$]*(?:[.,;:)'\u2019`]|$|(?:if|otherwise|at|in|on|when|and|or|for|as|with|to|the|we|should|is|are|by|else)\b)", sight.after)


def is_exponent(sight: Sight) -> object:
    """Whole numbers and fractions that name slopes and powers: `slopes $-2$ and $1/2$`."""
    return sight.frame.math == "inline" and sight.literal.kind in ("integer", "fraction") and cues.SLOPES.search(sight.lead.replace("$", ""))


def is_scale(sight: Sight) -> object:
    """The ends of a scale: `between 0 and 1`, `from 0 to 100`."""
    end = r"[\s$\u00a0]*(?:and|to|,|-|--|\u2013)[\s$\u00a0]*(?:1|100)\b(?![.,]?\d)"
    if sight.literal.plain == "0":
        return re.match(end, sight.after.replace("\u2009", " "))
    return sight.literal.plain in ("1", "100") and re.search(r"(?<![\d.,])0[\s$\u00a0]*(?:and|to|,|-|--|\u2013)[\s$\u00a0]*$", sight.before[-14:])


def is_freedom(sight: Sight) -> object:
    """The degrees of freedom in `t(29)`, `F(2, 87)`, written as text."""
    return not sight.literal.percent and re.search(r"(?:\b[tFrHQz]|2\u200b?)[\s$]*\((?:\d+,[\s$]*)?$", sight.before[-16:]) and re.match(r"(?:,[\s$]*[\d.]+)?[\s$]*\)[\s$]*[=<>]", sight.after)


def is_criterion(sight: Sight) -> object:
    """A bound that was drawn: `with a support higher than 75 %`, `classified as minor (below 10 %)`."""
    if not sight.prose:
        return False
    restricted = cues.RESTRICTED.search(sight.lead) and not cues.CLAIM.search(cues.COMPARED.strip(sight.sentence))
    return restricted or cues.LIMIT_CLASS.search(sight.lead)


def is_condition(sight: Sight) -> object:
    """Under which something is measured: `with a load of 3`, `at x = 0.4`, `9.4 T in all experiments`."""
    if not sight.prose:
        return False
    if sight.literal.percent:
        return cues.FRONTED.search(sight.lead)
    if sight.lead.rstrip().endswith(" of") and cues.CONDITION.search(sight.lead):
        return not sight.claims or not re.search(r"\bwith\b", sight.lead[-60:])
    if cues.CLAUSE.search(sight.lead) or cues.FRONTED.search(sight.lead) or cues.LASTING.search(sight.lead) or re.search(r"\bper\s*$", sight.lead) or re.match(r"\s*=\s*[a-z]{3,}", sight.after):
        return True
    return cues.AT_VALUE.search(sight.lead) or (not sight.claims and cues.EVERYWHERE.search(sight.sentence))


def is_weak_design(sight: Sight) -> object:
    found = cues.WEAK_DESIGN.search(sight.lead) or cues.QUALIFIED.search(sight.lead)
    return sight.prose and found and not sight.claims and not sight.literal.percent and is_chosen(sight)


def is_span(sight: Sight) -> object:
    """`over 9 years`, `across 5 seeds`; `at 60 degrees`; `at 5 years`."""
    if not sight.prose or sight.literal.percent:
        return False
    spanned = sight.integer and cues.SPAN.search(sight.lead) and (cues.COUNTED.match(sight.after) or cues.PHYSICAL.match(sight.after)) and is_chosen(sight)
    timed = sight.integer and re.search(r"\b(?:at|within)\s*$", sight.lead) and cues.TIME.match(sight.after)
    timed = timed or (sight.integer and re.search(r"\bafter\s*$", sight.lead, re.I) and cues.POINT_IN_TIME.match(sight.after))
    return spanned or timed or (re.search(r"\bat\s*\$?$", sight.lead) and cues.THERMAL.match(sight.after))


def is_method_unit(sight: Sight) -> object:
    """A physical setting in a sentence without an outcome."""
    if cues.SIZED.match(sight.after) and not sight.claims:
        return True
    return (
        sight.prose
        and not (sight.literal.kind == "decimal" and not sight.round)
        and cues.PHYSICAL.match(sight.after)
        and not sight.claims
        and not in_table(sight)
        and not cues.PREDICATE.search(sight.lead)
    )


def is_ordinal(sight: Sight) -> object:
    """`3rd quintile`: which one, unless the sentence ranks."""
    if cues.ORDINAL.match(sight.after):
        return True
    ranked = re.search(r"\b(?:rank\w*|plac\w+|came|comes|finish\w*|is|was)\s*$", sight.lead, re.I)
    return sight.integer and not ranked and re.match(r"[\^$\s\ue007]*(?:st|nd|rd|th)\b[\s\u200b$\ue007-]+[A-Za-z]{3,}", sight.after)


def is_attribute(sight: Sight) -> object:
    """A measure before a noun, unless the noun is a change: `a 2-min cadence`, `4 mm disk`, `63x objective`."""
    if not sight.prose or sight.literal.percent:
        return False
    if re.match(r"[x×][\s-](?:objective|magnification|zoom|lens|oil|coverage)", sight.after):
        return True
    found = cues.ATTRIBUTIVE.match(sight.after)
    return found and not cues.CHANGE.match(sight.after) and (found["hyphen"] or not sight.claims)


def is_comparison(sight: Sight) -> object:
    """`3.1 x fewer`, `3.5 days earlier`: a difference, which somebody found."""
    return sight.prose and not sight.literal.words and cues.COMPARATIVE.match(sight.after)


def is_legend(sight: Sight) -> object:
    """What bars and bands of a figure stand for; the band of frequencies in parentheses."""
    return sight.prose and (cues.LEGEND.search(sight.lead) or (re.search(r"[a-z]\s*\(\s*(?:\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to)[\s$]*)?$", sight.lead) and cues.BAND.match(sight.after)))


def is_cause(sight: Sight) -> object:
    """The change at the head of a sentence that says what it causes: `A 10 % rise in x lowers y`."""
    return sight.prose and cues.SUBJECT.search(sight.lead) and cues.CAUSES.match(sight.after) and re.match(r"[\s-]*\w*[\s-]*(?:points?\s+)?(?:increase|decrease|rise|fall|cut|change|drop|reduction|unit|sd|standard)", sight.after, re.I)


def is_reference_mark(sight: Sight) -> object:
    """`[12]`, `[3, 4]` in running text: a typed citation."""
    if sight.frame.math or not sight.literal.text.isdigit() or len(sight.literal.text) > 3:
        return False
    opened = re.search(r"(?P<word>[A-Za-z.,~\u00a0]+)[\s\u00a0]*\[(?:\d{1,3}\s*[,;\u2013-]+\s*)*$", sight.before[-40:])
    return opened and not re.search(r"(?:\b(?:CI|CrI|HDI|IQR|interval|range|between|domain|in|from)|,)$", opened["word"]) and re.match(r"(?:\s*[,;\u2013-]+\s*\d{1,3})*\s*\]", sight.after)


def is_method(sight: Sight) -> object:
    """In a section on methods, in a sentence without an outcome."""
    return sight.section == "method" and sight.prose and not sight.claims and not in_table(sight) and is_chosen(sight)


def is_prose_of_preamble(sight: Sight) -> bool:
    """Whether a command of the preamble holds sentences: an abstract, a title."""
    return sight.frame.kind == "argument" and not sight.frame.opaque and len(re.findall(r"\b[a-z]{2,}\b", sight.before + " " + sight.after)) >= 6
