"""Quotation: whether a number is told from somebody else's work, by the citation beside it or by who is speaking."""

from __future__ import annotations

import re

from audit.numbers import cues
from audit.numbers.sight import Sight
from audit.numbers.stream import CITE
from audit.numbers.tables import in_table, is_quoted_row

__all__ = ["is_quoted", "is_quoted_value", "own_beside_citation"]

REACH = 400
PARAGRAPH, SENTENCES = 900, 4
NAME = r"[A-Z][\w'\u2019-]+"
IN_TEXT = re.compile(
    rf"\([^()]*?\b{NAME},?\s(?:(?:and|&|et)[^()]{{0,40}}?)?,?\s?(?:19|20)\d\d[a-z]?[^()]*\)|\b{NAME}(?:,?\s+et\s+al\.?,?|\s+and\s+{NAME}|\s*&\s*{NAME})?\s*\((?:19|20)\d\d[a-z]?\)"
)
"""A citation that is typed: `(Name, 2018)`, `Name et al. (2018)`."""
OTHERS = re.compile(
    rf"\b(?:[Pp]revious(?:ly)?|[Pp]rior|[Ee]arlier|[Pp]ast|[Rr]ecent(?:ly)?|[Oo]ther|[Aa]nother|[Ee]xisting|[Pp]ublished)\s+(?:\w+\s+){{0,2}}(?:stud(?:y|ies)|works?|surveys?|analys[ei]s|papers?|"
    rf"reports?|experiments?|estimates?|results?|research|authors?|investigations?|reviews?|findings)\b|\b{NAME}(?:\s+et\s+al\.?(?!,\s*(?:19|20)\d\d)|\s+and\s+(?:colleagues|co-?workers|coworkers))"
)
"""Words by which a writer hands over to others, for as long as nobody else speaks."""
REPORTS = re.compile(
    rf"{CITE}\s*(?:have\s+|had\s+|also\s+)?(?:found|report\w*|show\w*|observ\w+|estimat\w+|measur\w+|identif\w+|document\w*|propos\w+|stud\w+|examin\w+|analy[sz]\w+|survey\w+)\b"
)
"""A citation as the subject of a sentence."""
PRONOUN = re.compile(r"\W*(?:It|They|Their|Its|He|She|The authors|These authors)\b")
AGREES = re.compile(r"\b(?:close to|near the|agree\w*|consistent with|in line with|similar to|accepted|literature value|(?:above|below|over|under) the)\b")
OUTDONE = re.compile(r"\b(?:than|against|versus|vs|compared (?:to|with))\b[^.]*\d")
POINTS_HERE = re.compile(r"\b(?:table|figure|fig\.|tab\.|appendix)\b", re.IGNORECASE)
SETS_AGAINST = re.compile(r"\b(?:than|against|above|below|over|unlike|while|whereas|but|agree\w*|close to|near|consistent|compar\w+|in line|similar\w*)\b")


def is_quoted(sight: Sight) -> object:
    """Beside a citation in a sentence that does not speak of this work, or in a passage that tells what others found."""
    if not sight.prose:
        return False
    if in_table(sight) and not sight.frame.inside & {"caption", "footnote"}:
        return is_quoted_row(sight)
    return is_told(sight)


def is_quoted_value(sight: Sight) -> object:
    """`x = 0.4` in a sentence that tells what others found."""
    return not sight.prose and sight.frame.math == "inline" and not sight.frame.script and sight.literal.kind != "integer" and is_told(sight)


def reviews(sight: Sight) -> bool:
    """Whether the paragraph belongs to an introduction or a review and cites others before the sentence."""
    if sight.section != "background":
        return False
    low = max(0, sight.span[0] - PARAGRAPH)
    return bool(cites(sight.text[low : sight.span[0]].rpartition("\n\n")[2].replace("\n", " ")))


def is_told(sight: Sight) -> object:
    """Whether the sentence is somebody else's."""
    if sight.page.once(("cites", sight.span), lambda: bool(cites(sight.sentence))):
        return handed_over(sight) if sight.says(cues.OWN) else not set_against(sight)
    return not sight.says(cues.OWN) and sight.page.once(("told", sight.span), lambda: bool(OTHERS.search(sight.sentence) or REPORTS.search(sight.sentence)) or goes_on_telling(sight) or reviews(sight))


def cites(text: str) -> object:
    """Whether a text holds a citation, by command or typed."""
    return CITE in text or (("19" in text or "20" in text) and IN_TEXT.search(text))


def handed_over(sight: Sight) -> bool:
    """Whether a citation follows the number closely, with no word of one's own between."""
    offset = sight.literal.start - sight.span[0]
    between, found, _ = sight.sentence[offset : offset + 60].partition(CITE)
    return bool(found) and not cues.OWN.search(between) and not SETS_AGAINST.search(between)


def set_against(sight: Sight) -> bool:
    """Whether the sentence sets the number against what it cites further on."""
    ahead, found, _ = sight.sentence[sight.literal.end - sight.span[0] :].partition(CITE)
    return bool(found and (AGREES.search(ahead) or OUTDONE.search(ahead)))


def goes_on_telling(sight: Sight) -> bool:
    """Whether an earlier sentence of the paragraph handed over to others, and nobody has spoken of this work since."""
    low = max(0, sight.span[0] - PARAGRAPH)
    passage = sight.text[low : sight.span[0]].rpartition("\n\n")[2].replace("\n", " ")
    last = passage[-REACH:].rstrip(". ").rpartition(". ")[2]
    if PRONOUN.match(sight.sentence) and cites(last):
        return not cues.OWN.search(last)
    told = max((match.end() for match in OTHERS.finditer(passage)), default=-1)
    if told < 0 or not cites(passage) or passage.count(". ", told) > SENTENCES:
        return False
    rest = passage[passage.rfind(". ", 0, told) + 1 :] + sight.sentence
    return not cues.OWN.search(rest) and not POINTS_HERE.search(rest)


def own_beside_citation(sight: Sight) -> bool:
    """Whether a quoted number stands in a sentence with words of one's own, or in a table."""
    return sight.says(cues.OWN) or in_table(sight)
