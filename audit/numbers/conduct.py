"""How a work was conducted: softer signs that a number was chosen, each asked where nothing said that it was found."""

from __future__ import annotations

import re

from audit.numbers import choices, cues
from audit.numbers.design import LIST, is_chosen, is_lost, is_of_measured
from audit.numbers.outcomes import is_level
from audit.numbers.sight import Sight
from audit.numbers.tables import in_table

__all__ = ["is_allotted", "is_arranged", "is_bound", "is_conducted", "is_distributed", "is_protocol", "is_told_in_caption", "is_unasserted"]

ENGLISH = re.compile(r"\b(?:the|of|and|is|are|was|were|with|for|to|we)\b")


def asserts(sight: Sight) -> object:
    """Whether the sentence asserts an outcome, apart from its purposes and from what it says to follow from the number."""
    offset = sight.literal.end - sight.span[0]
    thereby = choices.THEREBY.search(sight.sentence, offset)
    return choices.ASSERTED.search(cues.NO_CLAIM.strip(sight.sentence[: thereby.start()] if thereby else sight.sentence))


def is_bound(sight: Sight) -> object:
    """A bound written with its sign, in no formula of its own: `aged $\\geq$18 years`, `(<50 vs. $\\geq$50 years)`."""
    if not sight.prose or in_table(sight) and not sight.frame.inside & {"caption", "footnote"}:
        return False
    if is_class_bound(sight):
        return True
    sign = choices.BOUND_SIGN.search(sight.before[-12:])
    if sign and sight.section == "result" and sight.literal.kind == "decimal" and not sight.plain_decimal:
        return False
    if sign and not choices.ASSERTED.search(sight.lead) and not (sight.literal.percent and sight.section != "method"):
        return sign["sign"] in "≥>≤" or (cues.PHYSICAL.match(sight.unit) and sight.section != "result") or re.match(r"\s*vs\b", sight.after)
    if sign and choices.MEETS.search(sight.lead):
        return True
    if choices.NOUN_OF_BOUND.match(sight.after):
        return True
    if choices.ONLY_WITH.search(sight.lead) or (choices.LEFT_OUT.search(sight.lead) and not sight.literal.percent and not is_lost(sight)):
        return True
    return choices.IF_BOUND.search(sight.lead) or choices.DEFINES_BOUND.search(sight.lead)


def is_class_bound(sight: Sight) -> object:
    """The bound of a class, of what is looked at, or of significance: `low income (< 1.3 PIR)`, `that have < 4 members`, `keep P below 0.05`."""
    if choices.FAR_FROM.search(sight.lead) or (sight.integer or sight.plain_decimal or sight.literal.kind == "power") and choices.HAVE_LESS.search(sight.before[-40:]):
        return True
    if sight.literal.percent:
        return choices.OF_DRAWS.match(sight.after)
    if sight.before.rstrip(" $")[-1:] in "<≤" and sight.before and not sight.frame.math and cues.STATISTIC_TEXT.search(sight.before) and is_level(sight):
        return True
    if sight.literal.plain.lstrip("0") in (".05", ".01", ".1", ".001") and choices.KEEPS_P.search(sight.lead):
        return True
    if "caption" in sight.frame.inside and sight.plain_decimal and choices.WITH_SIGN.search(sight.before[-40:]):
        return True
    return choices.CLASS_OF.search(sight.before) and choices.CLASS_UNIT.match(sight.after)


def is_alternative(sight: Sight) -> object:
    """One of three whole numbers or more of which one is taken at a time."""
    before, after = sight.before[-24:], sight.after
    if choices.OR_AFTER.match(after):
        return "or" in after[:24].split() and (after.count(",", 0, 24) > 1 or choices.OR_BEFORE.search(before))
    return re.search(r"\d,\s*\d+,?\s+or\s$", before)


def is_gone_about(sight: Sight) -> object:
    """How many things a procedure is run on, makes, or takes at a time."""
    if choices.PUT_TO.match(sight.after) or is_alternative(sight):
        return True
    return choices.TO_DERIVE.search(sight.lead) and not cues.PHYSICAL.match(sight.after)


def is_arranged(sight: Sight) -> object:
    """What a rule of the procedure asks for, or a value is multiplied by: `should be at least 5`, `multiplied by 1.4`."""
    if not sight.prose or in_table(sight):
        return False
    if choices.PROCEEDS.search(sight.lead) or (sight.integer and is_gone_about(sight)):
        return True
    if choices.SET_TO.search(sight.lead) or choices.GIVEN.search(sight.lead) or choices.PARAMETERS_ARE.search(sight.lead):
        return True
    if choices.SAMPLED_FROM.search(sight.lead) or (choices.VARIED.search(sight.lead) and not choices.ASSERTED.search(cues.NO_CLAIM.strip(sight.lead))):
        return True
    if choices.HERE_SET.search(sight.lead) or choices.EITHER.search(sight.lead) or choices.EXPECTED.search(sight.lead) or choices.DEEPENED.search(sight.lead):
        return True
    if sight.before.rstrip(" $")[-1:] in ("=", "/") and not sight.claims and len(choices.ASSIGNED_WORD.findall(sight.sentence)) > 2:
        return True
    if not sight.literal.percent and choices.IDENTIFIED.search(sight.before[-32:]):
        return True
    if sight.integer and is_gathered(sight):
        return True
    if sight.integer and (choices.NAMED_ASSIGNMENT.search(sight.before[-30:]) or choices.CAN_BE.search(sight.lead) or (choices.LISTED_SIZES.search(sight.lead) and not choices.COUNTS_THINGS.match(sight.after)) or choices.SUSPENDED.match(sight.after) or (choices.HYPHEN_NOUN.match(sight.after) and not choices.CHANGE.match(sight.after))):
        return True
    if sight.integer and (choices.ENGAGED.search(sight.lead) or (sight.round and choices.SOME_OF.search(sight.lead))) and not choices.TOLD_APART.match(sight.after):
        return True
    if is_done(sight):
        return True
    return choices.MUST.search(sight.lead) or choices.MULTIPLIED.search(sight.lead) or (choices.OFFERED.search(sight.lead) and choices.REWARD.search(sight.lead[-30:] + sight.after[:20]))


def is_gathered(sight: Sight) -> object:
    """How many things were brought together: `the average of 10 networks`, `with 400 training samples`, `data from 12 sites`."""
    if sight.literal.percent:
        return False
    if choices.THE.search(sight.lead) and choices.LOOKED_AT.match(sight.after):
        return True
    if choices.SAME.search(sight.lead) and choices.MANY.match(sight.after) or (sight.round and choices.ANALYSIS_OF.search(sight.lead)):
        return True
    if choices.SAMPLE_CONSISTS.search(sight.lead) and choices.CASES.match(sight.after):
        return True
    if sight.round and choices.TIMES.match(sight.after) and sight.says(choices.RESAMPLED):
        return True
    if choices.MEAN_OF_MANY.search(sight.lead) and sight.round and choices.MANY.match(sight.after) and not choices.SPREAD_TOLD.match(sight.after):
        return True
    if choices.SPLIT_LEAD.search(sight.lead) and choices.SPLIT_ITEMS.match(past_list(sight)):
        return True
    if choices.GROUP_OF.search(sight.lead) and (sight.round or sight.lead.lstrip().lower().startswith(("starting", "beginning"))) and not choices.TOLD_APART.match(sight.after):
        return True
    if choices.DATA_ON.search(sight.lead) or (sight.round and choices.COLLATED.search(sight.lead) and not choices.TOLD_APART.match(sight.after)):
        return True
    if choices.RECRUITED.match(sight.after) or choices.PER_CELL.match(sight.after):
        return True
    if choices.ALL_OF.search(sight.lead) and choices.MANY.match(sight.after) and not choices.TOLD_APART.match(sight.after):
        return True
    if sight.section == "result":
        return False
    if choices.FROM.search(sight.lead) and choices.SOURCES.match(sight.after) and not choices.ASSERTED.search(sight.lead):
        return True
    return choices.IN_ARM.match(sight.after) and not choices.ASSERTED.search(sight.sentence)


def past_list(sight: Sight) -> str:
    """The text behind a number and behind those that it is listed with."""
    return LIST.sub("", sight.after)


def is_done(sight: Sight) -> object:
    """To what, at what or with what something was done, outside sections of results: `was kept at 30`, `were coated with 5`."""
    if sight.section == "result" or sight.literal.percent or not (sight.plain_decimal or (sight.integer and sight.round)):
        return False
    found = choices.DONE_TO.search(sight.lead)
    if not found or (found["how"] in ("in", "on", "from") and sight.section != "method"):
        return False
    return not choices.ASSERTED.search(cues.NO_CLAIM.strip(sight.lead))


def is_allotted(sight: Sight) -> object:
    """A share of things that was set aside or treated: `80 % of the images to training`, `delivered on 50 % of trials`."""
    if not sight.prose or not sight.literal.percent or in_table(sight):
        return False
    if choices.RANDOM_PART.match(sight.after):
        return True
    if choices.SHARED_OUT.match(sight.after) and not choices.ASSERTED.search(sight.lead):
        return True
    return choices.AT_WHICH.search(sight.lead) or choices.APPLIED_TO.search(sight.lead) or choices.PROBABILITY.match(sight.after)


def is_distributed(sight: Sight) -> object:
    """A parameter of a distribution that is drawn from, or of an assumed one."""
    return sight.prose and not sight.literal.percent and choices.DISTRIBUTION.search(sight.lead)


def is_protocol(sight: Sight) -> object:
    """The value of a noun that somebody sets, in a phrase: `a bandwidth of 180 days`, `wait time of 5 minutes`, `duration: 800 ms`."""
    if not sight.prose or in_table(sight):
        return False
    if choices.SET_NOUN.search(sight.lead[-64:]) and not (sight.literal.percent and sight.before.rstrip().endswith(",")) and not choices.ASSERTED.search(cues.NO_CLAIM.strip(sight.lead)):
        return True
    if not sight.literal.percent and (choices.SET_AFTER.match(sight.after) or (choices.HYPHEN_UNIT.match(sight.after) and not choices.CHANGE.match(sight.after))):
        return True
    if sight.round and choices.SWEPT.search(sight.lead[-48:]) and choices.SWEPT_UNIT.match(sight.unit) and not choices.CHANGES.search(sight.lead) and not choices.ASSERTED.search(sight.lead):
        return True
    if choices.THREE.match(sight.after) and sight.round and choices.SIZED_NOUN.search(sight.lead[-48:]) and not sight.says(choices.RESPECTIVELY):
        return True
    if sight.claims or sight.literal.percent or sight.section == "result" or not is_chosen(sight):
        return False
    return choices.SIZED_NOUN.search(sight.lead[-48:]) and not choices.HAS_BUT.search(sight.lead)


def is_told_in_caption(sight: Sight) -> object:
    """A condition told in a figure's caption."""
    if "caption" not in sight.frame.inside or not sight.prose or not sight.round:
        return False
    if sight.integer and choices.RESULTS_OF.search(sight.lead) and not sight.literal.percent:
        return True
    return choices.UNDER.search(sight.lead) and not choices.CAPTION_ASSERTS.search(sight.sentence)


def is_conducted(sight: Sight) -> object:
    """In a section on methods, a number that people choose, in a sentence that asserts nothing."""
    if sight.section != "method" or not sight.prose or in_table(sight) or not is_chosen(sight) or is_lost(sight) or is_of_measured(sight) or choices.HAPPENED.match(sight.after):
        return False
    if sight.literal.percent and sight.literal.kind == "decimal" and not sight.plain_decimal:
        return False
    if (sight.literal.percent and choices.IS.search(sight.lead)) or (sight.integer and choices.THEREBY_COUNTED.search(sight.lead)):
        return False
    if sight.literal.kind == "decimal" and not sight.literal.percent and cues.CLAIM.search(sight.lead):
        return False
    return not asserts(sight)


def is_unasserted(sight: Sight) -> object:
    """Weak evidence: a round number in an English sentence without any word of an outcome, outside sections of results."""
    if sight.section == "result" or not sight.prose or sight.claims or in_table(sight) or sight.literal.percent or not is_chosen(sight):
        return False
    if not sight.integer or not choices.GOVERNED.search(sight.lead):
        return False
    return ENGLISH.search(sight.sentence) and not choices.COUNTED_OUT.search(sight.lead) and not choices.TOLD_APART.match(sight.after)
