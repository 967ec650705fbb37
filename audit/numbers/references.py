"""What only names, dates, counts or lays out: one small question a predicate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from audit.numbers import cues
from audit.numbers.macros import SECTIONS, SILENT, UPRIGHT
from audit.numbers.sight import Sight
from audit.numbers.stream import CELL, CITE
from audit.numbers.tables import in_table

DEFINERS = frozenset("newcommand renewcommand providecommand newcommand* renewcommand* def gdef edef xdef DeclareRobustCommand".split())


NUMBERED = re.compile(r"[a-z,]\s\(\d{1,3}(?:\s?(?:,|--?|\u2013)\s?\d{1,3})*\)[.,;]")
"""A citation by number in parentheses at the end of a clause; several in a text that cites by no command."""
NUMBERED_OPEN, NUMBERED_CLOSE = re.compile(r"[a-z,]\s\((?:\d{1,3}\s?(?:,|--?|\u2013)\s?)*$"), re.compile(r"(?:\s?(?:,|--?|\u2013)\s?\d{1,3})*\)")
ENTRY = 600
OF_WHICH = re.compile(r"\s+of\s+(?:which|whom|them|these|those)\b")
STOPPED = re.compile(r"\b[a-z]{6,}\.\s+$")
"""A word in full, and the end of its sentence: what follows is counted by no `section`."""
YEAR = re.compile(r"(?<![\d.,$-])(?:19[5-9]|20[0-4])\d(?![\d%]|[.,]\d)")
"""What a text that tells it again and again means for a year."""
LENGTH_ALONE = re.compile(r"\{\s*[-+]?(?:\d+\.?\d*|\.\d+)\s?(?:pt|pc|in|bp|cm|mm|ex|em|sp|\\(?:text|line|column|paper)(?:width|height))\s*\}")
KEYWORDED = frozenset("author keywords keyword IEEEkeywords keywords* subjclass pacs ccsdesc".split())


def in_definition(sight: Sight) -> bool:
    return bool(sight.frame.inside & (DEFINERS | {"title"}))


def defines_layout(sight: Sight) -> object:
    """Inside the body of a definition whose name is a length's or stretch's."""
    frame = sight.frame
    while frame.parent is not None and not (frame.kind == "argument" and frame.name in DEFINERS):
        frame = frame.parent
    return frame.parent is not None and cues.LAYOUT_NAME.search(sight.reading.source[max(0, frame.start - 60) : frame.start])


def is_length(sight: Sight) -> object:
    """A length of the page: in its own units, after a register or at once after a command."""
    if "\\" in sight.after[:4] and cues.LENGTH.match(sight.after):
        return True
    if is_whole_argument(sight) or (sight.frame.name == "ra" and sight.frame.kind == "argument" and not sight.frame.math):
        return True
    if "\\" not in sight.before:
        return False
    return cues.PRIMITIVE.search(sight.before) or (not sight.frame.math and cues.COMMAND.search(sight.before) and cues.TEX_UNIT.match(sight.after))


def is_whole_argument(sight: Sight) -> bool:
    """Whether a length, with its unit at once behind it, is all that an argument holds, unless the command only changes the type: `{-4cm}`, `{0.5em}`."""
    frame, source = sight.frame, sight.reading.source
    if frame.kind not in ("argument", "group") or frame.math or frame.name in SILENT or frame.name in UPRIGHT:
        return False
    return source[frame.start - 1 : frame.start].strip() not in ("", "$") and LENGTH_ALONE.match(source, frame.start) is not None


def opaque(name: str) -> Callable[[Sight], object]:
    return lambda sight: sight.frame.opaque == name


def is_prose_of_preamble(sight: Sight) -> bool:
    """Whether a command of the preamble holds sentences: an abstract, a title."""
    return sight.frame.kind == "argument" and not sight.frame.opaque and len(re.findall(r"\b[a-z]{2,}\b", sight.before + " " + sight.after)) >= 6


def is_year(sight: Sight) -> object:
    literal = sight.literal
    if in_definition(sight) and sight.before.strip() == "" or re.match(r"\s*\(\d+(?:[.,]\d+)?\s*%", sight.after):
        return False
    if cues.AVERAGED.search(sight.before[-40:]):
        return False
    if sight.integer and re.fullmatch(r"(?:1[89]|20)\d0", literal.text) and re.match(r"['\u2019]?s\b", sight.after):
        return True
    if sight.integer and re.fullmatch(r"(?:19|20)\d\d", literal.text) and re.search(r"\b[A-Z][a-z]+[\s\u00a0]$", sight.before[-20:]) and re.match(r"\s*(?:[;,)]|$)", sight.after):
        return True
    if sight.integer and len(literal.text) == 2 and cues.YEAR_RANGE.search(sight.before[-10:]):
        return True
    if sight.integer and re.fullmatch(r"20\d\d", literal.text) and cues.YEAR_RANGE.search(sight.before[-10:]) and not cues.PHYSICAL.match(sight.after):
        return True
    if sight.integer and re.fullmatch(r"1[5-7]\d[1-9]", literal.text) and cues.EARLY_YEAR.search(sight.before[-24:]) and cues.YEAR_AFTER.match(sight.after):
        return True
    if not (sight.integer and re.fullmatch(r"(?:1[89]|20)\d\d|2100", literal.plain) and literal.text.isdigit()):
        return False
    if sight.before.strip() == "" and sight.after.strip() == "" and CELL in sight.text[max(0, literal.start - 80) : literal.end + 80]:
        return False
    if cues.YEAR_BEFORE.search(sight.before[-14:]) and cues.YEAR_AFTER.match(sight.after):
        return True
    if cues.PHYSICAL.match(sight.after) or sight.frame.math or in_table(sight):
        return False
    if cues.YEAR_PAIR.search(sight.before[-24:]) or sight.page.once("years", lambda: Counter(YEAR.findall(sight.text)))[literal.plain] > 2:
        return True
    if re.search(r"\b[Ee]xclud(?:ed|es?|ing)\s$", sight.before[-12:]) and not cues.COUNTED.match(sight.after) and not cues.PLURAL.match(sight.after):
        return True
    if cues.PROPER.search(sight.before[-24:]) or re.search(r"\b[A-Z][a-z]+\sof\s$", sight.before[-24:]):
        return True
    if cues.YEAR_PLACE.search(sight.before[-8:]) and not cues.COUNTED.match(sight.after):
        return True
    return cues.DETERMINER.search(sight.before[-8:]) or not (cues.COUNTED.match(sight.after) or cues.PLURAL.match(sight.after) or re.match(r"[\s\u00a0]*$", sight.after))


def is_month(sight: Sight) -> object:
    """A day of a month, or an hour of the day."""
    if sight.integer and len(sight.literal.plain.lstrip("-")) <= 4 and (cues.CLOCK.match(sight.after) or cues.UTC_OFFSET.search(sight.before[-6:])):
        return True
    return sight.integer and (cues.MONTH_BEFORE.search(sight.before[-24:]) or cues.MONTH_AFTER.match(sight.after))


def is_index(sight: Sight) -> object:
    if not sight.prose or sight.literal.percent or not (sight.integer or sight.literal.kind in ("decimal", "fraction")):
        return False
    if STOPPED.search(sight.before[-24:]) or OF_WHICH.match(sight.after) or sight.literal.text.startswith("."):
        return False
    if sight.integer and cues.IN_PARENTHESES.search(sight.before[-40:]) and re.match(r"[a-z]?\)", sight.after):
        return True
    if cues.CERTAIN_INDEX.search(sight.before[-48:]) and "=" not in sight.before[-3:]:
        return sight.integer or not re.search(r"\bp\.?\s*$|\b(?:conditions?|steps?|no|app|questions?|claims?|issues?)\.?\s*$|\bvolume\s*\($", sight.before)
    if sight.integer and len(sight.literal.plain) <= 2 and not sight.frame.math and cues.NOUN_NUMBERED.search(sight.before[-40:]) and cues.NUMBERED_ON.match(sight.after):
        return True
    if not (sight.integer and cues.INDEX.search(sight.before[-40:])) or re.match(r"\s*(?:out of\s|\(\d+(?:\.\d+)?\s*%)", sight.after):
        return False
    verb = cues.VERBISH.search(sight.before[-12:]) and cues.PLURAL.match(sight.after)
    return not verb and (not cues.PHYSICAL.match(sight.after) or re.match(r"[A-Z]\b", sight.after))


def is_name(sight: Sight) -> object:
    """Part of a name: a letter or hyphen before it, a letter that makes it one behind it, a catalogue's number."""
    glued, shown, following = sight.text[sight.literal.start - 1 : sight.literal.start], sight.literal.text, sight.after[:1]
    if following.isalpha() and names_behind(sight):
        return True
    if glued == "." and sight.before[-2:-1].isalpha() and not sight.frame.math:
        return True
    if sight.integer and (sight.before[-2:].rstrip().endswith("#") or (shown.startswith("0") and shown[1:2].isdigit())):
        return True
    if shown.isdigit() and len(shown) > 2 and cues.CATALOGUED.search(sight.before[-12:]) and not cues.PHYSICAL.match(sight.after):
        return True
    if not sight.frame.math and re.search(r"(?:^|[\s(,])[a-zA-Z]\+$", sight.before[-3:]):
        return True
    return not sight.frame.math and (glued.isalpha() or glued == "_" or cues.NAME_HYPHEN.search(sight.before[-30:]))


def names_behind(sight: Sight) -> object:
    """`3D`, `18AFC`, `Llama 7B`, `6p21`, a bold `3a`."""
    if re.match(r"D\b|[A-Z]{3,}(?![A-Za-z])", sight.after) or (sight.literal.plain in "23456" and re.match(r"G\b", sight.after)) or (re.match(r"[BM]\b", sight.after) and cues.MODEL.search(sight.before[-24:])):
        return True
    return sight.integer and re.match(r"[A-Za-wyz]\d" + (r"|[a-f]\b" if "textbf" in sight.frame.inside else ""), sight.after)


def is_proper(sight: Sight) -> object:
    """`Model 2`, `Finding 1 (`: a small integer that counts a thing with a capital name."""
    if sight.frame.math or sight.literal.percent or not (sight.integer or sight.literal.kind == "decimal"):
        return False
    if cues.PRODUCT_NAME.search(sight.before[-24:]) and not re.match(r"\s+(?:were|was|had|did)\b", sight.after) and re.fullmatch(r"\d{1,4}|\d+\.\d", sight.literal.text):
        return True
    if not sight.integer or len(sight.literal.plain) > 2:
        return False
    if cues.PROPER.search(sight.before[-24:]):
        return not cues.PLURAL.match(sight.after) and not cues.PHYSICAL.match(sight.after)
    return cues.CAPITAL.search(sight.before[-24:]) and cues.SECTIONED.match(sight.after)


def is_address(sight: Sight) -> object:
    """In the line of authors or of keywords, or in an address: institutions and commas, and nothing is found there."""
    return bool(sight.frame.inside & KEYWORDED) or (
        not sight.frame.math and sight.integer and sight.sentence.count(",") > 2 and sight.says(cues.ADDRESS) and not sight.claims
    )


def is_bibliographic(sight: Sight) -> object:
    """Volume and page of a reference that is typed out, or a postal code."""
    if sight.section == "references" or sight.page.once(("entry", sight.span), lambda: is_entry(sight)):
        return True
    if sight.frame.math or not sight.literal.plain.replace("-", "").isdigit():
        return False
    if cues.STREET.match(sight.after):
        return True
    if len(sight.literal.plain) >= 4 and re.search(r"\b[A-Z][a-z]+,?\s+$", sight.before[-20:]) and re.match(r",\s+[A-Z][a-z]", sight.after):
        return True
    if len(sight.literal.plain) >= 4 and cues.POSTAL.search(sight.before[-12:]) and not sight.literal.percent:
        return True
    return cues.VOLUME_AFTER.match(sight.after) or (cues.VOLUME_BEFORE.search(sight.before[-24:]) and cues.PAGE_AFTER.match(sight.after))


def is_entry(sight: Sight) -> bool:
    """Whether the paragraph is an entry of a typed bibliography: it opens with an author's name, and tells the year in parentheses or a volume."""
    start = sight.text.rfind("\n\n", max(0, sight.literal.start - ENTRY), sight.literal.start)
    return start >= 0 and bool(cues.ENTRY.match(sight.text[start : sight.literal.end + 40].strip()))


def is_identifier(sight: Sight) -> object:
    """Part of an address or identifier."""
    if sight.literal.plain.startswith("10.") and sight.after.startswith("/") and len(sight.literal.plain) > 6:
        return True
    return not sight.frame.math and not sight.literal.percent and cues.IDENTIFIER.search(sight.before[-40:])


def is_enumeration(sight: Sight) -> object:
    if sight.frame.kind == "option" and sight.frame.name == "item":
        return True
    if sight.frame.name != "textbf" and sight.frame.name.rstrip("*") in SECTIONS and sight.frame.kind == "argument" and not sight.before.strip() and re.fullmatch(r"\d{1,2}(?:\.\d{1,2})*\.?", sight.literal.text):
        return True  # a section's typed number
    if sight.integer and len(sight.literal.plain) == 1 and re.match(r"\)\s", sight.after) and (re.search(r"[;:]\s*$", sight.before[-3:]) or (re.search(r"(?:,|and)\s*$", sight.before[-5:]) and re.search(r"[:;]\s*1\)\s", sight.sentence))):
        return True
    return (
        sight.integer and len(sight.literal.plain) <= 2 and not sight.frame.math
        and not sight.literal.percent and re.search(r"(?:^|[\s:,;.])\($", sight.before) and re.match(r"\)(?:$|\s)", sight.after) and not re.search(r"(?:[\d%]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\s*\($", sight.before, re.I)
    )  # fmt: skip


def is_reference_mark(sight: Sight) -> object:
    """`[12]`, `[3, 4]` in running text, or `study.12` set without a blank: a typed citation."""
    if sight.frame.math or not sight.literal.text.isdigit() or len(sight.literal.text) > 3:
        return False
    if "hyperlink" in sight.frame.inside and re.search(r"(?:^|\\hyperlink)\s*$", sight.before) and re.match(r"\s*(?:$|[\]),;.])", sight.after):
        return True  # all that a link prints
    if NUMBERED_OPEN.search(sight.before[-16:]) and NUMBERED_CLOSE.match(sight.after) and sight.page.once("numbered", lambda: CITE not in sight.text and len(NUMBERED.findall(sight.text)) > 3):
        return True
    if re.search(r"[a-z)]{2}\s?\)?[.,;](?:\d{1,3}[,\u2013-]+)*$", sight.before[-16:]) and re.match(r"(?:[,\u2013-]+\d{1,3})*(?:\s|$)", sight.after):
        return True
    opened = re.search(r"(?P<word>[A-Za-z.,~\u00a0]+)[\s\u00a0]*\[(?:\d{1,3}\s*[,;\u2013-]+\s*)*$", sight.before[-40:])
    return opened and not re.search(r"(?:\b(?:CI|CrI|HDI|IQR|interval|range|between|within|domain|in|from)|,)$", opened["word"]) and re.match(r"(?:\s*[,;\u2013-]+\s*\d{1,3})*\s*\]", sight.after)
