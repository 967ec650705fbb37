"""What was chosen before anything was found: one small question a predicate."""

from __future__ import annotations

import re

from audit.numbers import choices, cues
from audit.numbers.literals import parse_decimal
from audit.numbers.outcomes import ends_relation
from audit.numbers.references import DEFINERS
from audit.numbers.sight import Sight
from audit.numbers.tables import in_table

LIST = re.compile(r"^(?:[\s$]*(?:,|and|or|to|--?|\u2013)[\s$]*(?:and\s+|or\s+)?\d[\d,.]*)+")
"""The rest of a list of numbers."""
ARTICLES = re.compile(r"\s(?:the|our|these|all(?: the)?)$")
MIRROR_AFTER = re.compile(r"[\s$]*(?:and|to|,)[\s$+]*(\d+(?:\.\d+)?)")
MIRROR_BEFORE = re.compile(r"[-\u2212][\s$]*(\d+(?:\.\d+)?)[\s$]*(?:and|to|,)[\s$+]*$")


def is_confidence(sight: Sight) -> object:
    """`95 % CI`, a quantile, a fold."""
    value = parse_decimal(sight.literal.plain)
    if (sight.integer and choices.PERCENTILES.match(sight.after)) or choices.LEVELS.search(sight.before[-48:]):
        return True
    return choices.CONFIDENCE.match(sight.after) and (sight.literal.percent or not choices.BARE_INTERVAL.match(sight.after)) and (not sight.literal.percent or value is None or value >= 50 or re.match(r"\s*-?(?:level|signif)", sight.after))


def is_sample(sight: Sight) -> object:
    if sight.integer and choices.SAMPLE_OF.search(sight.before):
        return True
    ahead = (sight.left if sight.frame.math else sight.before).rstrip()
    found = cues.SAMPLE.search(ahead) if ahead.endswith(("=", "≥", "≤", "<", ">")) else None
    if not found or choices.SELECTED_BY.search(sight.lead) or (found["symbol"] in "TLSBJ" and cues.PHYSICAL.match(sight.after)) or (sight.claims and not sight.round):
        return False
    return sight.integer or (sight.literal.kind == "power" and found["symbol"] in "nN")


def is_precise(sight: Sight) -> bool:
    """Whether a decimal has three digits or more, as what was measured has."""
    return sight.literal.kind == "decimal" and len(re.sub(r"\D", "", sight.literal.plain).strip("0")) >= 3


def is_setting(sight: Sight) -> object:
    """`symbol = decimal` in a sentence that sets something."""
    return sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)


def is_chosen(sight: Sight) -> bool:
    """Whether a count looks like one that was chosen, not one that came out."""
    if sight.literal.kind == "decimal":
        return sight.round
    return sight.round or not sight.integer or bool(cues.PHYSICAL.match(sight.after)) or bool(choices.HOLDING.search(sight.lead))


def is_measured_noun(sight: Sight) -> object:
    """A count of things in a sentence without an outcome; of runs, seeds or machines in any sentence."""
    if not sight.prose or sight.literal.percent or not sight.integer or re.search(r"\bonly\s*$", sight.before[-6:], re.I):
        return False
    if re.search(r"\b(?:first|last|next)\s*$", sight.before[-8:]) and cues.COUNTED.match(sight.after):
        return True
    if choices.PARTS_OF_NET.match(sight.after) and sight.round and not choices.TAKES_AWAY.search(sight.before[-14:]):
        return True
    if sight.before.rstrip("$ ").endswith("(") and choices.STRONG_COUNT.match(sight.after) and re.match(r"[^()]{0,40}\)", sight.after) and not sight.claims:
        return True
    if choices.STRONG_COUNT.match(sight.after) and choices.DRAWN_FROM.search(sight.before[-20:]):
        return True
    return cues.COUNTED.match(sight.after) and not sight.claims and is_chosen(sight) and not choices.POINTS.match(sight.after)


def is_lost(sight: Sight) -> object:
    """A number of cases that dropped out: `after excluding 28 days with missing values`."""
    if sight.integer and sight.prose and (choices.LOST_HERE.match(sight.after) or (choices.LOST_BEFORE.search(sight.lead) and choices.CASES.match(LIST.sub("", sight.after)))):
        return True
    return sight.integer and sight.prose and "ing" in sight.lead[-24:] and choices.AFTER_LOSING.search(sight.lead[-40:]) and choices.FOR_A_REASON.match(sight.after)


def is_of_measured(sight: Sight) -> object:
    """The value of something that nobody sets: `an accuracy of 0.9`, `overhead (7--9 min)`."""
    return choices.MEASURED_NOUN.search(choices.RANGE_BEFORE.strip(sight.lead[-50:]))


def is_set_up(sight: Sight) -> object:
    """Follows a verb of setting up, with no outcome before it."""
    if in_table(sight):
        return False
    if re.search(r"\bassum(?:e[sd]?|ing)\b(?! that we)", sight.lead, re.I) and not cues.CLAIM.search(sight.lead):
        return True
    if choices.IS.search(sight.lead) or is_lost(sight) or choices.HAPPENED.match(sight.after):
        return False
    lead = choices.NAMES_ASIDE.sub("", sight.lead)
    found = cues.DESIGN_VERB.search(lead) or (not sight.literal.percent and (sight.integer or choices.MILLIONS.match(sight.after)) and choices.HOLDING.search(sight.lead))
    if found and sight.literal.percent and "%" in found.group():
        return False
    if not found:
        return not sight.claims and (sight.literal.percent or cues.PHYSICAL.match(sight.unit)) and choices.DONE_AFTER.match(sight.after)
    return not cues.CLAIM.search(sight.lead) and (is_chosen(sight) or choices.PREPARING.match(found.group())) and not is_of_measured(sight)


def is_band(sight: Sight) -> object:
    """One end of a band of which the number of cases is told: `25-34 (n = 18)`."""
    return sight.integer and not sight.literal.percent and (cues.BAND_SIZED.match(sight.after) or (cues.BAND_START.search(sight.before[-8:]) and cues.BAND_END.match(sight.after)))


def is_scale(sight: Sight) -> object:
    """The ends of a scale: `between 0 and 1`, `from 0 to 100`; a place on the map."""
    if is_band(sight) or (sight.integer and choices.OF_SCALE.match(sight.after)) or choices.PLACE.search(sight.before[-24:]):
        return True
    if (cues.COORDINATE.match(sight.after) and not sight.lead.rstrip().endswith("=")) or choices.SCALED.search(sight.lead):
        return True
    if sight.integer and not sight.claims and (choices.LABELLED_END.match(sight.after) or choices.LABELLED_START.search(sight.before)):
        return True
    if is_mirrored(sight):
        return True
    end = r"[\s$\u00a0]*(?:and|to|,|-|--|\u2013)[\s$\u00a0]*(?:1|100)\b(?![.,]?\d)"
    if sight.literal.plain == "0":
        return re.match(end, sight.after.replace("\u2009", " "))
    return sight.literal.plain in ("1", "100") and re.search(r"(?<![\d.,])0[\s$\u00a0]*(?:and|to|,|-|--|\u2013)[\s$\u00a0]*$", sight.before[-14:])


def is_mirrored(sight: Sight) -> bool:
    """One of two ends that differ in their sign: `from -1 to +1`."""
    plain = sight.literal.plain
    end = MIRROR_AFTER.match(sight.after) if plain.startswith("-") else MIRROR_BEFORE.search(sight.before[-24:])
    return end is not None and end[1] == plain.lstrip("-")


def is_criterion(sight: Sight) -> object:
    """A bound that was drawn: `with a support higher than 75 %`, `classified as minor (below 10 %)`."""
    if not sight.prose:
        return False
    if sight.integer and re.search(r"\btop[\s-]*$", sight.before[-6:], re.I) and (sight.literal.percent or choices.RANKED_BY.match(sight.after)):
        return True
    if choices.CONSIDERED.match(sight.after) and re.search(r"\b(?:of|than|below|above|least)\s*$", sight.lead):
        return True
    if not sight.literal.percent and "(" in sight.lead and choices.CLASS_BOUND.search(sight.lead):
        return True
    if choices.BOUND_WORD.search(sight.lead[-14:]) and sight.says(choices.EXCLUDED_IF):
        return True
    if not sight.claims and choices.BOUND_WORD.search(sight.lead[-14:]) and choices.DEVIATIONS.match(sight.after):
        return True
    selecting = choices.BOUND_WORD.search(sight.lead[-14:]) and choices.SELECTING.search(sight.lead)
    if selecting and not sight.literal.percent and not cues.CLAIM.search(choices.COMPARED.strip(selecting["between"])):
        return True
    if choices.AGED.search(sight.lead) and choices.AGE.match(sight.after):
        return True
    if choices.OR_MORE.match(sight.after) or re.search(r"\baged\s+(?:between\s+)?(?:\d+\s*(?:and|to|--?|\u2013)\s*)?$", sight.lead):
        return True
    if (choices.SUBJECT_BOUND.match(sight.lead) and choices.GOES_ON.match(sight.after) and not cues.CLAIM.search(sight.lead)) or (choices.BOUNDED.search(sight.lead) and choices.SELECTS.match(sight.after)):
        return True
    restricted = choices.RESTRICTED.search(sight.lead) and not cues.CLAIM.search(choices.COMPARED.strip(sight.sentence))
    return restricted or choices.LIMIT_CLASS.search(sight.lead)


def is_planned(sight: Sight) -> object:
    """In a sentence on how large a sample a test needs."""
    return sight.says(choices.POWER) and sight.says(choices.PLANNED) and not sight.frame.script


def names_condition(sight: Sight) -> object:
    """Part of a condition's name: `the 5 mg group`, `in the SR=1.0 condition`, and the same symbol's values elsewhere."""
    if sight.frame.math == "display" or sight.frame.script:
        return False
    if choices.NAMED_BEFORE.search(sight.before[-32:]) and choices.NAMES_CONDITION.match(sight.after):
        return True
    symbol = "=" in sight.before[-4:] and choices.SYMBOL_VALUE.search(sight.before[-16:])
    if not symbol or cues.STATISTIC_TEXT.search(sight.before):
        return False
    named = sight.page.once("conditions", lambda: {found["first"] or found["second"] for found in choices.CONDITION_SYMBOL.finditer(sight.text)})
    return symbol["symbol"] in named


def is_condition(sight: Sight) -> object:
    """Under which something is measured: `with a load of 3`, `at x = 0.4`, `9.4 T in all experiments`."""
    if not sight.prose or is_lost(sight):
        return False
    if sight.literal.percent:
        if is_cause(sight):
            return True
        if choices.LEVEL_OF.search(sight.lead) and choices.NOUN.match(sight.after):
            return True
        return choices.FRONTED.search(sight.lead) or re.search(r"\bat an? (?:\w+\s)?(?:FDR|level|threshold|cut-?off|significance|confidence)(?: level)? of\s*$", sight.lead)
    if sight.lead.rstrip().endswith(" of") and cues.CONDITION.search(sight.lead):
        return not sight.claims or not re.search(r"\bwith\b", sight.lead[-60:])
    lead = sight.lead.rstrip(" \u00a0")
    if (lead.endswith("=") and choices.AT_VALUE.search(sight.lead) and not (sight.claims and is_precise(sight))) or (lead.endswith(("$", "£", "€")) and choices.PAID.search(sight.lead)):
        return True
    if sight.integer and re.fullmatch(r"\W*With", lead) and choices.WITH_THINGS.match(sight.after):
        return True
    if lead.endswith((" every", " per")) and cues.PHYSICAL.match(sight.after):
        return True
    if lead.endswith(" per") or sight.says(choices.POWER) or (not sight.claims and sight.says(choices.EVERYWHERE)):
        return True
    if sight.says(choices.CONDITIONAL) and not is_of_measured(sight) and not choices.AVERAGE_OF.search(sight.lead) and (choices.CLAUSE.search(sight.lead) or choices.FRONTED.search(sight.lead)):
        return True
    return is_cause(sight) or choices.LASTING.search(sight.lead) or re.match(r"\s*=\s*[a-z]{3,}", sight.after)


def is_weak_design(sight: Sight) -> object:
    found = choices.WEAK_DESIGN.search(sight.lead[-56:]) or choices.QUALIFIED.search(sight.lead)
    return sight.prose and found and not sight.claims and not sight.literal.percent and is_chosen(sight)


def is_span(sight: Sight) -> object:
    """`over 9 years`, `across 5 seeds`; `at 60 degrees`; `at 5 years`."""
    if not sight.prose or sight.literal.percent:
        return False
    last = ARTICLES.sub("", sight.lead.rstrip("\u00a0 $")).rstrip().rpartition(" ")[2].lower()
    spanned = sight.integer and last in ("over", "across", "for") and choices.SPAN.search(sight.lead[-24:]) and (
        choices.STRONG_COUNT.match(sight.after) or cues.PHYSICAL.match(sight.after) or (not sight.claims and cues.COUNTED.match(sight.after))
    ) and (is_chosen(sight) if not sight.claims else sight.round)
    if spanned or last not in ("at", "within", "after"):
        return spanned
    timed = sight.integer and (choices.POINT_IN_TIME if last == "after" else choices.TIME).match(sight.after)
    return timed or (last == "at" and choices.THERMAL.match(sight.after))


def is_method_unit(sight: Sight) -> object:
    """A physical setting in a sentence without an outcome."""
    if choices.DOSED.match(sight.after) or (choices.SIZED.match(sight.after) and not sight.claims):
        return True
    return (
        sight.prose
        and not (sight.literal.kind == "decimal" and (not sight.round or sight.lead.rstrip().endswith("=")))
        and cues.PHYSICAL.match(sight.unit)
        and not sight.claims
        and not in_table(sight)
        and not choices.PREDICATE.search(choices.RANGE_BEFORE.strip(sight.lead))
        and not sight.says(choices.COPULA)
        and (sight.says(choices.PASSIVE) or sight.section == "method")
        and not is_of_measured(sight)
    )


def is_ordinal(sight: Sight) -> object:
    """`3rd quintile`: which one, unless the sentence ranks."""
    if not sight.integer or not any(ending in sight.after[:6] for ending in ("st", "nd", "rd", "th")):
        return False
    if choices.ORDINAL.match(sight.after) or choices.OF_QUANTILES.match(sight.after):
        return True
    ranked = re.search(r"\b(?:rank\w*|plac\w+|came|comes|finish\w*|is|was)\s*$", sight.lead, re.I)
    if ranked:
        return False
    following = re.match(r"[\^$\s\ue007]*(?:st|nd|rd|th)\b[\s\u200b$\ue007-]*(?P<noun>[A-Za-z]{3,})?", sight.after)
    return following and (following["noun"] or re.search(r"\bthe\s*$", sight.before[-5:]))


def is_attribute(sight: Sight) -> object:
    """A measure before a noun, unless the noun is a change: `a 2-min cadence`, `4 mm disk`, `63x objective`."""
    if not sight.prose or sight.literal.percent:
        return False
    if re.match(r"[x×][\s-](?:objective|magnification|zoom|lens|oil|coverage)", sight.after):
        return True
    if choices.SIGMA_NOUN.match(sight.after) or (choices.SINGULAR.match(sight.after) and not choices.CHANGE.match(sight.after)):
        return True
    found = choices.ATTRIBUTIVE.match(sight.after)
    if sight.integer and sight.round and choices.ARTICLE.search(sight.before[-28:]) and choices.ATTRIBUTIVE.match(sight.unit) and not choices.CHANGE.match(sight.unit):
        return True
    return found and not choices.CHANGE.match(sight.after) and (found["hyphen"] or not sight.claims)


def is_legend(sight: Sight) -> object:
    """What bars and bands of a figure stand for; the band of frequencies in parentheses."""
    if sight.literal.plain in ("1", "2") and re.search(r"(?:±|\+/-)[\s$]*$", sight.lead[-6:]) and choices.SHADED.match(sight.after):
        return True
    return sight.prose and (choices.LEGEND.search(sight.lead) or (re.search(r"\bthe[\s$]*$", sight.before[-6:]) and choices.LINE_AT.match(sight.after)) or (re.search(r"[a-z]\s*\(\s*(?:\d+(?:\.\d+)?[\s$]*(?:--?|\u2013|to)[\s$]*)?$", sight.lead) and choices.BAND.match(sight.after)) or (choices.ZONE.search(sight.lead) and choices.ZONE_END.match(sight.after)))


def is_cause(sight: Sight) -> object:
    """The change at the head of a sentence that says what it causes: `A 10 % rise in x lowers y`."""
    return sight.prose and choices.SUBJECT.search(sight.lead) and choices.CAUSES.match(sight.after) and re.match(r"[\s-]*\w*[\s-]*(?:points?\s+)?(?:increase|decrease|rise|fall|cut|change|drop|reduction|unit|sd|standard)", sight.after, re.I)


def is_method(sight: Sight) -> object:
    """In a section on methods, in a sentence without an outcome."""
    if sight.literal.percent and sight.literal.kind == "decimal" and not sight.plain_decimal:
        return False
    return sight.section == "method" and sight.prose and not sight.claims and not in_table(sight) and is_chosen(sight) and not is_of_measured(sight) and not choices.HAPPENED.match(sight.after)


def is_dimension(sight: Sight) -> object:
    """One of several dimensions: `28 x 28`."""
    return sight.literal.kind in ("integer", "decimal") and (choices.PRODUCT.match(sight.after) or choices.FACTOR.search(sight.before[-24:]))


def is_hardware(sight: Sight) -> object:
    """Counts machines or draws."""
    return sight.prose and (sight.literal.kind == "decimal" or (sight.integer and sight.round)) and choices.HARDWARE.match(sight.after)


def is_multiple(sight: Sight) -> object:
    """`four times as much`, with no outcome before it and no quality behind it."""
    if not sight.literal.words or not re.search(r"(?:\btimes|^twice)$", sight.literal.text, re.I):
        return False
    return not cues.CLAIM.search(sight.lead) and re.match(r"\s+(?:the\b(?!\s+[\d$])|as (?:much|many|often))\b", sight.after)


def is_proportion(sight: Sight) -> object:
    """A proportion such as 3:2 that nobody found."""
    if not sight.integer or not sight.prose or (sight.claims and not choices.PARITY.match(sight.after)) or re.search(r"\b(?:is|was|were|are)\s*$", sight.lead):
        return False
    return re.match(r":\d", sight.after) or re.search(r"\d:$", sight.before)


def is_macro_of_setting(sight: Sight) -> object:
    """All that a definition holds, where its name is that of something set: `\\newcommand{\\BatchSize}{32}`."""
    return sight.frame.inside & DEFINERS and choices.MACRO_OF_SETTING.search(sight.reading.source[max(0, sight.literal.source_start - 50) : sight.literal.source_start])


def is_named_constant(sight: Sight) -> object:
    """The value of a named constant: `learning rate of 3e-4`."""
    if is_macro_of_setting(sight):
        return True
    if in_table(sight) or choices.HAPPENED.match(sight.after):
        return False
    if choices.OF_CONSTANT.match(sight.after) or (sight.integer and not sight.claims and choices.NAMED_VALUE.search(sight.lead)):
        return True
    found = choices.CERTAIN_DESIGN.search(sight.lead) or (not sight.literal.percent and choices.LINKED_DESIGN.search(sight.lead))
    return found and not choices.PEAKS_AT.search(sight.lead)
