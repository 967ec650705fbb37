"""Quotation: whether a number is told from somebody else's work, by the citation beside it or by who is speaking."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from audit.numbers import cues
from audit.numbers.sight import Sight
from audit.numbers.stream import ARGUMENT, CITE, REF, SEAM
from audit.numbers.tables import in_table, is_quoted_row

__all__ = ["is_quoted", "is_quoted_statistic", "is_quoted_value", "is_told_of_others", "own_beside_citation"]

PARAGRAPH, NOTE, SENTENCES = 900, 600, 5
NAME = r"[A-Z][\w'\u2019-]+"
IN_TEXT = re.compile(
    rf"\([^()]{{0,200}}?\b{NAME},?\s(?:(?:and|&|et)[^()]{{0,40}}?)?,?\s?(?:19|20)\d\d[a-z]?[^()]{{0,200}}\)|\b{NAME}(?:,?\s+et\s+al\.?,?|\s+and\s+{NAME}|\s*&\s*{NAME})?\s*\((?:19|20)\d\d[a-z]?\)"
)
"""A citation that is typed: `(Name, 2018)`, `Name et al. (2018)`."""
OTHERS = re.compile(
    rf"\b(?:[Pp]revious(?:ly)?|[Pp]rior(?! to\b)|[Ee]arlier|[Pp]ast|[Rr]ecent(?:ly)?|[Oo]ther|(?<!part of )[Aa]nother|[Ee]xisting|[Pp]ublished)\s+(?:\w+\s+){{0,2}}(?:stud(?:y|ies)|works?|surveys?|analys[ei]s|papers?|"
    rf"reports?|experiments?|estimates?|results?|research|authors?|investigations?|reviews?|findings)\b|\b{NAME}(?:\s+et\s+al\.?(?!,\s*(?:19|20)\d\d)|\s+and\s+(?:colleagues|co-?workers|coworkers))"
)
"""Words by which a writer hands over to others, for as long as nobody else speaks."""
CITED = re.compile(CITE)
RELATIVE = re.compile(rf"{CITE},?\s+(?:who|which|where)\b[^,;]*$")
STUDY = re.compile(r"\b(?:stud(?:y|ies)|analys[ei]s|survey|paper|trial|report|work|review)\b")
USED_TO = re.compile(rf"{CITE}\s*\)?,?\s*(?:in order\s+)?to\s+[a-z]+")
REPORTS = re.compile(rf"(?:{CITE}|\b{NAME}(?:\s+et\s+al\.?[\s\\]*,?|\s+and\s+{NAME})?\s*\((?:19|20)\d\d[a-z]?\))[\s)\]]*(?:\w+ly\s+|also\s+)?(?:report|f[oi]und|finds|estimat|calculat|obtain|measur|deriv|g[ai]ve|show|identif|determin|conclu|infer|predict|noted|quot|claim|observ|record|constrain)\w*\b")
"""A cited author as the subject of a finding."""
METHOD_CITED = re.compile(rf"\b(?:tests?|methods?|algorithms?|procedures?|software|packages?|toolbox|library|criteri(?:on|a)|corrections?|thermometer|scale|questionnaire|inventory|classifier|optimi[sz]er|programm?e?|codes?|formula|equation|protocols?|approach(?:es)?|recipe|guidelines?|techniques?|implementations?|mechanisms?|strateg(?:y|ies)|frameworks?|practices|outliers?|loss)(?:\s+(?:of|by|from))?\s*\(?{CITE}|{CITE}\s*;\s*(?:{REF}|[Ss]upp|Fig|Tab|Appendix)|^\W*(?:Following|Using|Adopting|Applying|Employing)\b[^,;]{{0,90}}{CITE}")
"""A citation of the method by which one's own number was found, or beside one's own table."""
HANDED_ON = re.compile(rf"[\s$±)\d.\u2013-]{{0,16}}\s(?:reported|published|quoted|found|obtained|derived|measured|given|estimated)\s+(?:by|from|in|for)\b(?:(?!\b(?:we|our|us|this|here)\b|[.;]\s)[^\n]){{0,120}}{CITE}")
"""What a number is told from, behind it: `(0.45-0.53) reported from measurements of stars`, and a citation."""
WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
TURNS = re.compile(r";|\b(?:while|whereas|but|however|although|unlike)\b|\n\n")
"""Where another may begin to speak."""
PRONOUN = re.compile(r"\W*(?:It|They|Their|Its|He|She|The authors|These authors)\b")
AGREES = re.compile(r"\b(?:correspond\w*|as (?:much|many|high|low|large|fast|often) as|exceeds?|surpass\w*|outperform\w*|close to|near the|agree\w*|consistent with|in line with|similar to|accepted|literature value|(?:above|below|over|under) the)\b")
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


def is_attributed(sight: Sight) -> bool:
    """In parentheses at once behind a citation, or what a cited author is the subject of: `\\citet{x} ($d = 0.4$)`, `\\citet{x} found 0.4`."""
    start = max(sight.span[0], sight.literal.start - PARAGRAPH)
    if not sentence_cites(sight) or not cites(sight, start, sight.literal.start) or sight.frame.math == "display" or in_table(sight):
        return False
    told = sight.text[start : sight.literal.start].replace("\n", " ").replace(ARGUMENT, "")
    between = told.rpartition(CITE)[2]
    if CITE in told and not WORD.search(between) and between.lstrip().startswith("("):
        return True
    subjects = list(REPORTS.finditer(told))
    return bool(subjects) and not cues.OWN.search(told[subjects[-1].end() :]) and not TURNS.search(told, subjects[-1].end())


def cites_aside_of_notes(sight: Sight, start: int, end: int) -> bool:
    """Whether a stretch of running text cites, apart from its footnotes."""
    if "footnote" in sight.frame.inside or sight.literal.stream != "main":
        return cites(sight, start, end)
    main = sight.reading.main
    noted = sight.page.once("noted", lambda: [place.start() for place in CITED.finditer(sight.text) if "footnote" not in main.frame(place.start()).inside])
    return bisect_left(noted, start) < bisect_left(noted, end) or stands(sight, IN_TEXT, start, end)


def reviews(sight: Sight) -> bool:
    """Whether the paragraph cites others before the sentence, in an introduction, or with no word of this work from end to end."""
    start = paragraph_start(sight)
    if sight.section in ("result", "method") or not cites_aside_of_notes(sight, start, sight.span[0]):
        return False
    return sight.section == "background" or sight.page.once(("review", start), lambda: speaks_of_others_only(sight, start))


def speaks_of_others_only(sight: Sight, start: int) -> bool:
    """Whether a paragraph holds no word of this work and points to none of its tables and figures."""
    end = sight.text.find("\n\n", sight.span[1], sight.span[1] + PARAGRAPH)
    whole = sight.text[start : end if end >= 0 else sight.span[1] + PARAGRAPH].replace("\n", " ")
    return not cues.OWN.search(whole) and REF not in whole and not POINTS_HERE.search(whole)


def is_quoted_statistic(sight: Sight) -> bool:
    """`d = 0.62` with a citation at once behind it and no word of one's own between."""
    if sight.frame.math != "inline" or sight.frame.script:
        return False
    between, found, _ = sight.text[sight.literal.end : sight.literal.end + 25].partition(CITE)
    return bool(found) and not cues.OWN.search(between) and "," not in between


def is_told(sight: Sight) -> object:
    """Whether the sentence, or the clause around the literal, is somebody else's."""
    if CITE in sight.lead and RELATIVE.search(sight.lead):
        return True
    if (CITE in sight.lead and USED_TO.search(sight.lead)) or sight.page.once(("method", sight.span), lambda: cites_methods(sight)):
        return False
    if sentence_cites(sight):
        return handed_over(sight) if sight.says(cues.OWN) else not set_against(sight)
    return not sight.says(cues.OWN) and sight.page.once(("told", sight.span), lambda: tells(sight))


def cites_methods(sight: Sight) -> bool:
    """Whether all that a sentence cites is methods."""
    return CITE in sight.sentence and CITE not in METHOD_CITED.sub("", sight.sentence)


def tells(sight: Sight) -> bool:
    """Whether a sentence that cites nobody hands over to others, or goes on with what they found."""
    return stands(sight, OTHERS, *sight.span) or goes_on_telling(sight) or reviews(sight)


def stands(sight: Sight, words: re.Pattern[str], start: int, end: int) -> bool:
    """Whether one of the words begins in a stretch of the text; each is looked for once a page."""
    places = sight.page.once(words, lambda: [match.start() for match in words.finditer(sight.text)])
    return bisect_left(places, start) < bisect_left(places, end)


def cites(sight: Sight, start: int, end: int) -> bool:
    """Whether a stretch of the text holds a citation, by command or typed."""
    return sight.text.find(CITE, start, end) >= 0 or stands(sight, IN_TEXT, start, end)


def sentence_cites(sight: Sight) -> bool:
    """Whether the sentence holds a citation, or one stands behind the footnote that ends it."""
    return bool(sight.page.once(("cites", sight.span), lambda: cites(sight, *sight.span) or cites_behind_note(sight)))


def cites_behind_note(sight: Sight) -> bool:
    """Whether a citation follows the footnote that the sentence ends with, or is."""
    end = sight.span[1]
    if sight.text[end - 1 : end] != SEAM:
        return False
    inside, _, behind = sight.text[end : end + NOTE].partition(SEAM)
    return inside.lstrip().startswith(CITE) or behind.lstrip().startswith(CITE)


def paragraph_start(sight: Sight) -> int:
    """Where the paragraph around the literal begins, at most so far back as one reads."""
    low = max(0, sight.span[0] - PARAGRAPH)
    return max(low, sight.text.rfind("\n\n", low, sight.span[0]))


def handed_over(sight: Sight) -> bool:
    """Whether a citation follows the number closely, with no word of one's own between."""
    offset = sight.literal.start - sight.span[0]
    if HANDED_ON.match(sight.sentence, sight.literal.end - sight.span[0]):
        return True
    between, found, _ = sight.sentence[offset : offset + 60].partition(CITE)
    return bool(found) and not cues.OWN.search(between) and not SETS_AGAINST.search(between)


def set_against(sight: Sight) -> bool:
    """Whether the sentence sets the number against what it cites further on."""
    ahead, found, _ = sight.sentence[sight.literal.end - sight.span[0] :].partition(CITE)
    return bool(found and (AGREES.search(ahead) or OUTDONE.search(ahead)))


def goes_on_telling(sight: Sight) -> bool:
    """Whether an earlier sentence of the paragraph handed over to others, and nobody has spoken of this work since."""
    start, low, starts = sight.span[0], paragraph_start(sight), sight.page.starts
    if PRONOUN.match(sight.sentence):
        before = max(low, starts[index - 1] if (index := bisect_left(starts, start)) else 0)
        told = sight.text[before:start]
        study = not sight.sentence.lstrip().startswith(("It", "Its")) or STUDY.search(told)
        return bool(study) and cites(sight, before, start) and not cues.OWN.search(told)
    if not stands(sight, OTHERS, low, start) or not cites(sight, low, start):
        return False
    places = sight.page.once(OTHERS, list)
    told = places[bisect_left(places, start) - 1]
    first = max(0, bisect_right(starts, told) - 1)
    if bisect_left(starts, start) - first > SENTENCES:
        return False
    rest = sight.text[starts[first] if starts else 0 : start].replace("\n", " ") + sight.sentence
    return not cues.OWN.search(rest) and not POINTS_HERE.search(rest)


def is_told_of_others(sight: Sight) -> object:
    """In an introduction, in a paragraph without a word of this work."""
    return sight.section == "background" and not sight.frame.math and not in_table(sight) and sight.page.once(("others", sight.span), lambda: speaks_of_others_only(sight, paragraph_start(sight)))


def own_beside_citation(sight: Sight) -> bool:
    """Whether a quoted number stands in a sentence with words of one's own, or in a table."""
    return sight.says(cues.OWN) or in_table(sight)
