"""What was found, and what only calculates: one small question a predicate."""

from __future__ import annotations

import re

from audit.numbers import choices, cues
from audit.numbers.literals import parse_decimal
from audit.numbers.references import DEFINERS
from audit.numbers.sight import REACH, Sight
from audit.numbers.tables import in_table

FRACTIONS = frozenset("frac tfrac dfrac cfrac nicefrac sfrac binom sqrt".split())
COUNT_WITH_SHARE = re.compile(r"[\s\u00a0$]*(?:[A-Za-z-]+[\s\u00a0]+){0,3}\(\$?\d+(?:\.\d+)?\s*%")
"""A count before its percentage: `697 days (64 %)`."""
TITLED = re.compile(r"\b(?!(?:Of|About|Only|Among|Overall|Nearly|Almost|Some|Another|Just|Over|Exactly|Roughly|Approximately|These|Those|Their|With|From|Here)\b)[A-Z][a-z]{3,}\s$")
"""A noun with a capital that a number follows: `Tier 1 (27 %)`."""
PRODUCT = re.compile(r"\s*(?:[A-Za-z]|\\[a-z]+)[_\s\u200b]*$")
"""What a coefficient multiplies: `z = 0.25r`."""
STARS = re.compile(r"(?:[*+\u2020\u2021]|\\d?dagger)[\s}$]*p[\s$]*(?:[<≤]|\\textless)[\s$]*$")
"""What stars of a table stand for: `** p < .01`."""
CONDITIONS_AHEAD = re.compile(r"(?:^|\W)(?:[Aa]t|[Ff]or|[Ww]hen|[Ww]here|[Ww]ith|[Ii]f)\s+\S{1,20}\s?=\s?[\d.]+(?:\s*,\s*\S{1,20}\s?=\s?[\d.]+)*(?:,?\s+and|,)\s+$")
"""One condition behind another: `For a = 0.25 and b = 1.5`."""
INTERVAL_ENDED = re.compile(r"^.*[\])],")
APPLIED_LEVEL = re.compile(r"\b(?:(?:using|by|meet(?:s|ing)?|either|applied|applying|requir\w+|used|passing|satisf\w+)\s+(?:an?\s+|the\s+)?(?:\w+\s+){0,2}|(?:nominal|unadjusted)\s+)\$?[pPqQ]\$?\s*[<≤]\s*$")
"""A level that a rule applies: `using adjusted p < 0.05`."""
SELECTS_BY = re.compile(r"\b(?:(?:that|which|who)\s+have|with|whose|having|any|every|each)\s+(?:[\w-]+\s+){1,3}$")
"""What picks out the things that are looked at: `stars that have separations`."""
BAND_BEFORE = re.compile(r"\d[\s$]*(?:--?|\u2013|to)[\s$]*$")
THAN = re.compile(r"\b(?:(?:larg|great|small|high|low)er|more|less) than[\s$]*$")
NOUGHT = re.compile(THAN.pattern + r"|\b(?:above|below|exceeds?)[\s$]*$")
BARE = re.compile(r"[\s$]*(?:[.,;)]|$|(?:indicate|mean|for|and|or|whereas|while|when|if|in which|is|are)\b)")
"""Nought and one as bounds of a sign or of a quotient: `values below 0 indicate`."""
LOGGED = re.compile(r"\b(?:log|ln|exp|sqrt)(?:2|10)?\s?\([A-Za-z_ ]{1,14}[-+\u2212]\s*$")
"""What a function in prose adds to its argument: `log(TPM + 1)`."""
LETTERS = frozenset("zdgrRUWM")
"""Statistics with the name of a letter that names many other things."""


def is_statistic(sight: Sight) -> object:
    """`p = .03`, `F(2, 87) = 5.3`; an inequality reports p, F or t, a bare letter otherwise has a decimal value."""
    if sight.prose and not sight.frame.math:
        timed = sight.integer and (cues.PHYSICAL.match(sight.after) or (sight.literal.percent and re.search(r"\bCI\s*=\s*$", sight.before)))
        return cues.STATISTIC_TEXT.search(sight.before) and not timed and not is_level(sight)
    if sight.frame.math != "inline" or sight.frame.script or not ends_relation(sight):
        return False
    found = cues.STATISTIC.search(sight.left)
    if not found and sight.literal.kind == "decimal" and cues.RELATION.search(sight.left) and cues.WITH_P.match(sight.text[sight.literal.end : sight.literal.end + 40]):
        return True
    if not found or choices.EFFECT_LABEL.match(sight.after) or (found["symbol"] in "pP" and is_level(sight)):
        return False
    if found["symbol"] == "T" and not sight.says(cues.OF_TEST):
        return False  # a temperature or a function at a place
    if found["symbol"] == "P" and found["relation"] in ">≥" and (parse_decimal(sight.literal.plain) or 0) >= 0.2:
        return False  # a probability that was asked for
    if found["symbol"] in LETTERS and (found["relation"] in "<>≤≥" or PRODUCT.match(sight.right)):
        return False
    if found["symbol"].startswith("\\") and "\\chi" not in found["symbol"] and sight.plain_decimal and not sight.claims:
        return False
    if found["relation"] in "<>≤≥" and (sight.literal.plain == "0" or (sight.plain_decimal and re.match(r"[rR]\s*\^", found["symbol"]) and re.search(r"\b(?:at|with)\s*$", sight.lead[: -len(sight.left)] if sight.left else ""))):
        return False
    if found["relation"] in "<>≤≥" and found["symbol"][0] in "pP" and (parse_decimal(sight.literal.plain) or 0) > 1:
        return False
    return not (sight.integer and found["symbol"] in LETTERS) and not re.search(r"[A-Za-z}\ue007\u200b]\s*\([^()]*$", sight.left)


def is_named_statistic(sight: Sight) -> object:
    """Follows the name of a statistic that nobody sets, or is an average: `odds ratio 2.3`, `247 ms on average`."""
    if not sight.prose or sight.literal.words:
        return False
    if (sight.literal.percent or sight.literal.kind == "decimal") and (cues.MEAN_TOLD.search(sight.lead) or (not sight.literal.percent and cues.INTERVAL_OF.search(sight.before[-48:]))):
        return True
    return cues.ON_AVERAGE.match(sight.after) or (sight.literal.kind == "decimal" and cues.STATISTIC_NAME.search(sight.before[-48:]))


def is_level(sight: Sight) -> object:
    """A threshold of significance that was set, not found."""
    if re.match(r"\s*\(?\s*(?:\*+|\\d?dagger|[\u2020\u2021])\s*\)?(?:$|[\s,;.)])", sight.after[:14]):
        return True  # what the stars of a table stand for
    if STARS.search(sight.before[-16:]):
        return True
    if "caption" in sight.frame.inside and sight.literal.plain.lstrip("0") in (".05", ".01", ".1", ".10"):
        return True
    if sight.literal.plain.lstrip("0") in (".05", ".01", ".1", ".001") and APPLIED_LEVEL.search(sight.lead):
        return True
    near = sight.sentence[max(0, sight.literal.start - sight.span[0] - 70) :][:150]
    return re.search(r"\b(?:considered|threshold|criterion|level|passe[sd]|genome-wide|cut-?off|regarded|defined|taken|set|declared|deemed|if|indicates? (?:statistical )?significan\w+|asterisks?)\b", near, re.I)


def ends_relation(sight: Sight) -> object:
    """Whether the literal is all that follows in its formula, units and further assignments apart."""
    if sight.literal.kind == "decimal" and re.match(r"\s*(?:--?|\u2013)\s*\d*\.\d+\s*(?:$|[,;)\]])", sight.right):
        return True
    if re.match(r"[eE]\s*\^", sight.right):
        return True
    return re.match(rf"[\s\u2009]*(?:%|‰|{cues.UNIT}(?![A-Za-z])|\u200b?[\s\u2009]*(?:[A-Za-z]{{1,3}}|\\[A-Za-z]+)(?:_\S{{1,8}})?(?=[\s\u200b]*$))?[\s\u2009\u200b]*(?:$|[,;)\]±.]|\\quad|\\text|\\ldots|[<>≤≥=≈])", sight.right)


def is_spread(sight: Sight) -> object:
    """A value with its spread, `2.24 \\pm 0.25`, in a formula."""
    if not sight.frame.math or sight.frame.script:
        return False
    if re.search(r"\d\(\d+\)", sight.literal.text) or re.match(r"\s*\^\W{0,2}\+\W{0,2}\d", sight.right):
        return True
    if cues.CONDITION.search(sight.lead) and not sight.claims and sight.round:
        return False
    return re.match(r"[^A-Za-z=<>+*/±]{0,4}±[\s\u2009{\ue007]*[\d.]", sight.right) or re.search(r"[\d.][^=<>]{0,24}±[\s\u2009{\ue007]*$", sight.left)


def is_bound_of_error(sight: Sight) -> object:
    """The upper and the lower error of `36^{+5}_{-4}`."""
    if not sight.frame.script or not sight.frame.math:
        return False
    signs = r"[{}\s\u200b\u2009\ue007]*"
    upper = re.search(rf"\d{signs}\^{signs}\+?$", sight.left) and re.match(rf"{signs}_{signs}[-\u2212]\d", sight.right)
    return upper or re.search(rf"\^{signs}\+[\d.]+{signs}_{signs}[-\u2212]?$", sight.left)


def is_spread_in_prose(sight: Sight) -> object:
    """`1091.7 $\\pm$ 0.2` in a sentence about an outcome, unless it sets the value."""
    if "±" not in sight.after[:8] + sight.before[-8:] or not sight.prose or not sight.claims or cues.DESIGN_VERB.search(sight.lead):
        return False
    return re.match(r"[^A-Za-z\d]{0,3}±[\s$\u2009]*[\d.]", sight.after) or re.search(r"\d[^A-Za-z\d]{0,3}±[\s$\u2009]*$", sight.before[-8:])


def is_displayed(sight: Sight) -> object:
    """A displayed symbol's value with its unit, behind words that announce an outcome."""
    if sight.frame.math != "display" or sight.frame.script:
        return False
    if sight.alone and sight.literal.percent:
        return True
    if not cues.RELATION.search(sight.left):
        return False
    if sight.literal.kind == "decimal" and len(re.sub(r"\D", "", sight.literal.plain).strip("0")) >= 3 and re.match(r"\s*[.,;]?\s*(?:\\qquad|\\quad|\\text\b|$|,)", sight.right):
        return sight.formula and cues.COMES_TO.search(sight.text[max(0, sight.formula[0] - REACH) : sight.formula[0]].rpartition(".")[2])
    ahead = sight.text[max(0, sight.formula[0] - REACH) : sight.formula[0]].rpartition(".")[2] if sight.formula else ""
    return cues.ANNOUNCES.search(ahead) and re.match(rf"[\s\u2009\u00a0]*(?:%|(?:\\?(?:rm|text|mathrm)\b\s*)?{cues.UNIT}(?![A-Za-z]))", sight.right)


def is_counted_out(sight: Sight) -> object:
    """`(n = 51)` that came out: beside its percentage, behind words such as `most`, or one of several in a sentence that sorts."""
    before = sight.before.replace("$", "")
    found = cues.SIZE.search(before) if sight.integer else None
    if not found:
        return False
    ahead, behind = before[: found.start()], sight.after.replace("$", "")
    if re.search(r"\b(?:at|exceed\w*|from|to)\s*\(?$", ahead + found.group()[:1]):
        return False
    if choices.SPLIT.search(ahead[-40:]) or choices.FOR_SPLIT.match(behind):
        return False
    if cues.PERCENT_AHEAD.search(ahead) or cues.PORTION.search(ahead) or (re.match(r"\W*Of\b", sight.lead) and "%" in sight.sentence):
        return True
    if (found["symbol"] == "n" or cues.AFTER_BAND.search(ahead)) and (cues.PERCENT_BEHIND.match(behind) or re.match(r"\s+(?:were|was|had|did)\b", behind)):
        return True
    if cues.CAME_OUT.match(behind) or cues.AT_LAST.search(ahead):
        return True
    if len(cues.SIZES.findall(sight.sentence)) < 2 or sight.says(cues.ASSIGNED):
        return False
    return sight.says(cues.SORTS) or (sight.section == "result" and not sight.round) or cues.AFTER_BAND.search(ahead)


def is_screened(sight: Sight) -> object:
    """Counts records, studies or the like that a search found and kept."""
    if not sight.integer or not sight.prose:
        return False
    if sight.before.endswith("(") and cues.SEXES.match(sight.after):
        return True
    if cues.FROM_THINGS.search(sight.before.replace("$", "")) and cues.REPORTS.match(sight.after):
        return True
    return cues.REPORTS.match(sight.after) and (sight.says(cues.SCREENED) or cues.KEPT.match(sight.after))


def is_whole(sight: Sight) -> object:
    """The whole of which a sentence goes on to tell a part, and the part: `Of the 57 studies, 44 had ...`."""
    if not sight.integer or not sight.prose:
        return False
    if cues.SORTED_AS.match(sight.after) and cues.SORTED.search(sight.lead):
        return True
    if (sight.literal.percent and cues.SHARED_OUT.match(sight.after)) or (cues.OF_THESE.search(sight.lead) and cues.FARED.match(sight.after)):
        return True
    return (cues.WHOLE.match(sight.lead + "|") and cues.GOES_ON_WITH.match(sight.after)) or cues.PART.match(sight.lead + "|") or cues.OF_WHOM.search(sight.before)


def is_distinct(sight: Sight) -> object:
    """How many different things something turned out to hold, or how much was left in the end."""
    if not sight.integer or not sight.prose:
        return False
    return cues.CAME_UP.match(sight.after) or (cues.HOLDS.search(sight.before) and cues.DISTINCT.match(sight.after)) or cues.LEFT.search(sight.lead)


def is_direction(sight: Sight) -> object:
    """One of several values that a parenthesis lists for a thing found: `32.5° N, 189.5° E, N = 15, k = 37.4`."""
    if re.search(r"\b(?:at|with|for|when)\s+\S{1,3}\s*=\s*$", sight.before[-20:]):
        return False
    if sight.frame.math or not sight.prose or not (cues.COORDINATE.match(sight.after) or cues.SAMPLE.search(sight.before)):
        return False
    low, high = max(sight.span[0], sight.literal.start - REACH), min(sight.span[1], sight.literal.end + REACH)
    listing = re.split(r"[(;]", sight.text[low : sight.literal.start])[-1] + "0" + re.split(r"[);]", sight.text[sight.literal.end : high])[0]
    return "=" in listing.replace(":", "=") and len(cues.STATISTIC_LISTED.findall(listing)) > 1


def is_sigma(sight: Sight) -> object:
    """A distance in standard errors: `2.3-$\\sigma$ larger`, `within 1 $\\sigma$ of`."""
    return cues.SIGMA.match(sight.after) and (sight.claims or sight.says(cues.AGREES))


def is_found_value(sight: Sight) -> object:
    """`symbol = number` closing an inline formula, in a sentence about an outcome."""
    if sight.formula is None or choices.DISTRIBUTION.search(sight.text[max(0, sight.formula[0] - REACH) : sight.formula[0]].replace("\n", " ")):
        return False
    return (
        sight.frame.math == "inline" and not sight.frame.script and cues.RELATION.search(sight.left) and ends_relation(sight)
        and not re.search(r"[0-9]", INTERVAL_ENDED.sub("", re.sub(r"[_^][^_^\u200b]*\u200b", "", sight.left)).replace(" ", "")[:-1][-12:]) and (sight.claims or not (sight.plain_decimal or sight.says(cues.ADOPTS) or sight.left.rstrip(" -\u2212+")[-1:] in "<>≤≥")) and not cues.DESIGN_VERB.search(sight.lead) and sight.literal.plain not in ("0", "1")
        and not (sight.plain_decimal and is_level(sight)) and not re.search(r"\b(?:at|with|for|where|when|if|let|using|setting|choose|fix|take|by|from)(?:\s+(?:small|smaller|large|larger|low|high|fixed|constant|moderate|intermediate|finite|given))?\s*$", sight.text[max(0, sight.formula[0] - 24) : sight.formula[0]], re.I)
        and not (sight.left.rstrip(" -\u2212+\u200b")[-1:] in "<>≤≥" and (SELECTS_BY.search(sight.text[max(0, sight.formula[0] - 40) : sight.formula[0]].replace("\n", " ")) or sight.says(choices.WE_SELECT)))
        and not CONDITIONS_AHEAD.search(sight.text[max(0, sight.formula[0] - 50) : sight.formula[0]])
        and not cues.SETTING_NOUN.search(sight.text[max(0, sight.formula[0] - 24) : sight.formula[0]]) and "∈" not in sight.left and "→" not in sight.left
        and not (re.search(r"[<>≤≥][^=]*$", sight.left[-8:]) and re.search(r"\b(?:to|over|between|from|in|below|above|and)\s*$", sight.text[max(0, sight.formula[0] - 12) : sight.formula[0]]))
    )  # fmt: skip


def is_found_range(sight: Sight) -> object:
    """`0.33 < x < 0.55` in a sentence about an outcome, unless it says where to look."""
    if sight.frame.math != "inline" or sight.frame.script or sight.formula is None or not sight.claims:
        return False
    start, end, _ = sight.formula
    if end - start > REACH:
        return False
    where = re.search(r"\b(?:at|for|with|where|when|if|over|in|from|to|on)\s*$", sight.text[max(0, start - 12) : start])
    return not where and cues.BOTH_SIDES.match(sight.text[start:end])


def is_digit(sight: Sight) -> object:
    """A single digit alone in a formula, with no noun behind it, in a sentence without an outcome: `a $0$ otherwise`."""
    if not sight.frame.math or len(sight.literal.text) > 1 or in_table(sight) or (sight.left + sight.right).strip():
        return False
    if sight.claims and not re.search(r"\ban? \$?$", sight.before[-5:]):
        return False
    return re.match(r"[\s$]*(?:[.,;:)'\u2019`]|$|(?:if|otherwise|into|at|in|on|when|and|or|for|as|with|to|the|we|should|is|are|by|else)\b)", sight.after)


def is_exponent(sight: Sight) -> object:
    """Whole numbers and fractions that name slopes and powers: `slopes $-2$ and $1/2$`."""
    return sight.frame.math == "inline" and sight.literal.kind in ("integer", "fraction") and cues.SLOPES.search(sight.lead.replace("$", ""))


def is_part(sight: Sight) -> object:
    """A fraction alone in a formula that is no part of anything: `$\\frac12$`."""
    if sight.literal.text.startswith("\\") and sight.frame.inside & DEFINERS:
        return True
    return sight.frame.math and sight.literal.kind == "fraction" and not sight.claims and not re.match(r"[\s$]*of\b", sight.after)


def is_as_such(sight: Sight) -> object:
    """A number that counts and measures nothing."""
    if (LOGGED.search(sight.before[-28:]) and sight.after.startswith(")")) or (sight.literal.plain in ("0", "1") and (THAN if sight.literal.plain == "0" else NOUGHT).search(sight.before[-24:]) and BARE.match(sight.after)):
        return True
    return re.match(r"\s+by (?:construction|definition)\b", sight.after) or is_exponent(sight) or is_digit(sight) or is_part(sight) or is_coefficient(sight)


def is_freedom(sight: Sight) -> object:
    """The degrees of freedom in `t(29)`, `F(2, 87)`, written as text, or named so."""
    if re.match(r"[\s\u00a0]+(?:degrees of freedom|d\.?o\.?f)\b", sight.after):
        return True
    return not sight.literal.percent and re.search(r"(?:\b[tFrHQz]|2\u200b?)[\s$]*\((?:\d+,[\s$]*)?$", sight.before[-16:]) and re.match(r"(?:,[\s$]*[\d.]+)?[\s$]*\)[\s$]*[=<>]", sight.after)


def is_coefficient(sight: Sight) -> object:
    """Multiplies a symbol."""
    return "×" in sight.after[:4] and re.match(r"[\s$]*×[\s$]*\\[a-z]+", sight.after)


def is_share(sight: Sight) -> object:
    """The percentage in parentheses behind a count, `1,876 (80 %)`, or one of several in a sentence."""
    if BAND_BEFORE.search(sight.before[-8:]) and not sight.literal.percent:
        return False
    if sight.literal.percent and sight.before.rstrip("$ ").endswith("(") and len(re.findall(r"\(\$?\d+(?:\.\d+)?\s*%", sight.sentence)) > 1:
        return True
    if TITLED.search(sight.before[-24:]):
        return False
    if sight.integer and sight.prose and not sight.literal.percent and (COUNT_WITH_SHARE.match(sight.after) or re.search(r"\d[\s\u2009]?%[\s$]*\([\s$]*$", sight.before[-8:])):
        return True
    return sight.prose and sight.literal.percent and (re.search(r"\d[\s\u00a0$]*\([\s$]*$", sight.before[-8:]) or cues.SOME_OF_THEM.search(sight.lead))


def is_comparison(sight: Sight) -> object:
    """`3.1 x fewer`, `3.5 days earlier`: a difference, which somebody found."""
    if not sight.prose or sight.literal.words:
        return False
    if re.search(r"[$£€]\s*$", sight.before) and re.match(r"\s+(?:more|less|higher|lower)\b", sight.after) or sight.says(choices.EXCLUDED_IF):
        return not sight.says(choices.EXCLUDED_IF)
    if sight.literal.text[0] in "-\u2212+" and cues.GAP.search(sight.before) and not cues.SET_GAP.search(sight.lead):
        return True
    by = sight.lead.rstrip(" $\u00a0").endswith(" by")
    return cues.COMPARATIVE.match(sight.after) or (sight.literal.percent and re.match(r"[\s\u00a0$]+(?:fewer|more|less)\s+[a-z]", sight.after)) or (by and sight.claims and (sight.literal.percent or cues.INCREMENT.match(sight.after)))
