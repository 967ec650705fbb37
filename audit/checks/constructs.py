"""A407: nothing in the sources redefines our macros or prints numbers behind the reader's back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.context import Context
from audit.definitions import OURS
from audit.document import load_document
from audit.finding import Finding
from audit.numbers.exemptions import load_exemptions
from audit.numbers.scan import Scan
from audit.numbers.siunitx import find_rounding

CODE = "A407"
NAMES = "|".join(sorted(OURS | {"auditval"}))
BLANK = r"(?:\s|%[^\n]*\n)*"
DIRECT = {name: re.compile(rf"\\{name}{BLANK}{option}\{{") for name, option in {**dict.fromkeys(OURS, ""), "val": rf"(?:\[[^\]]*\]{BLANK})?"}.items()}
"""The one way in which our macros may stand in a source: with their arguments."""
DEFINITION = re.compile(
    rf"\\(?:(?:re|provide)?newcommand|providecommand|(?:New|Renew|Provide|Declare)(?:Expandable)?(?:DocumentCommand|CommandCopy)|(?:renew|provide|new)robustcmd|DeclareRobustCommand|def|gdef|edef|xdef|let|global\\let)\*?\s*\{{?\s*\\({NAMES})(?![A-Za-z@])"
    rf"|\\(?:@namedef|csname)\s*\{{?\s*(audit@|{NAMES})"
)
FORBIDDEN = {
    "catcode": "changes what characters mean", "lccode": "changes letters", "uccode": "changes letters", "pdfliteral": "draws behind the text layer", "special": "draws behind the text layer",
    "directlua": "runs a program", "write18": "runs a program", "ShellEscape": "runs a program", "scantokens": "reads text again as source", "char": "prints a character by its number",
    "symbol": "prints a character by its number", "numexpr": "computes a number", "fpeval": "computes a number", "inteval": "computes a number", "dimexpr": "computes a number",
    "pgfmathparse": "computes a number", "pgfmathprintnumber": "computes a number", "nprounddigits": "rounds numbers", "pdfglyphtounicode": "changes the text layer",
    "BeginAccSupp": "changes the text layer", "pdfmapline": "changes the text layer", "number": "prints a register", "romannumeral": "prints a register",
    **dict.fromkeys("csname @namedef csdef csgdef csedef csxdef cslet csletcs letcs ExpandArgs ExplSyntaxOn".split(), "reaches macros by name"),
    **dict.fromkeys("verbatiminput VerbatimInput lstinputlisting InputIfFileExists openin CatchFileDef CatchFileEdef".split(), "reads a file that is not checked"),
    **dict.fromkeys("pgfmathsetmacro pgfmathtruncatemacro pgfmathresult pgfmathdeclarefunction".split(), "computes a number"),
    **dict.fromkeys("count newcount countdef".split(), "keeps a number in a register"),
    **dict.fromkeys("latelua luadirect luaexec luaeval".split(), "runs a program"),
    **dict.fromkeys("pdfobj pdfextension pdfrefobj pdfmapfile pdffontattr EndAccSupp".split(), "changes the text layer"),
    **dict.fromkeys("chardef mathchardef mathchar".split(), "prints a character by its number"),
    **dict.fromkeys("FPeval FPprint FPadd FPsub FPmul FPdiv FPset xintexpr xinteval xintfloateval intcalcAdd intcalcSub intcalcMul intcalcDiv calculatevalue dtlmean".split(), "computes a number"),
    **dict.fromkeys("pdfmathresult pgfmathroundto pgfmathfloattofixed fpfun luafp glueexpr muexpr dimeval skipeval".split(), "computes a number"),
    **dict.fromkeys("textpdfrender pdfrender".split(), "makes text invisible"),
    **dict.fromkeys("@auxout @mainaux @partaux protected@write audit@log pdfsavepos".split(), "writes into what LaTeX writes down"),
    **dict.fromkeys("pdfannot TextField ChoiceMenu CheckBox PushButton pdfcomment pdftooltip textattachfile".split(), "shows what is no text of the page"),
    **dict.fromkeys("DiscardShipoutBox AtBeginShipoutDiscard".split(), "leaves pages out"), "nofiles": "keeps LaTeX from saying what it typeset",
}  # fmt: skip
COUNTER = re.compile(r"\\(?:set|addto)counter\s*\{\s*([A-Za-z@]+)\s*\}")
COUNTERS = frozenset(
    "topnumber bottomnumber totalnumber dbltopnumber tocdepth secnumdepth page part chapter section subsection subsubsection paragraph figure table equation footnote mpfootnote "
    "enumi enumii enumiii enumiv MaxMatrixCols biburlnumpenalty biburlucpenalty biburllcpenalty LTchunksize algorithm subfigure subtable parentequation".split()
)  # fmt: skip
"""Counters of LaTeX's own pages, floats and headings."""
SOURCED = {
    re.compile(r"\\write\s*(?:18|\\shellescape)"): ("write18", "runs a program"),
    re.compile(r"\\(?:input|@@input|@input)\s*\{?\s*\"?\|"): ("input|", "runs a program"),
    re.compile(r"\\the\s*(?:\\(?:count|numexpr|dimexpr|glueexpr|value|dimen|skip|inputlineno|lccode|uccode|catcode|fontdimen|c@\w+)(?![A-Za-z@]))"): ("the", "prints a register"),
    re.compile(r"\\(?:text)?color\s*(?:\[\w+\]\s*)?\{\s*(?:white|1|1\s*,\s*1\s*,\s*1|0\s*,\s*0\s*,\s*0\s*,\s*0|[Ff]{6}|255\s*,\s*255\s*,\s*255|\w+!0)\s*\}"
               rf"[^\n]{{0,120}}?\\(?:{NAMES})(?![A-Za-z@])"): ("color", "prints a bound value in white"),
    re.compile(r"\\(?:text)?transparent\s*\{\s*0?(?:\.[0-2]\d*)?\s*\}"): ("transparent", "makes text invisible"),
    re.compile(r"\\mathcode\s*(?:`\\?\d|4[89]|5[0-7])"): ("mathcode", "changes what characters mean"),
    re.compile(r"\\fontsize\s*\{\s*(?:0?\.\d+|[0-2](?:\.\d+)?)\s*(?:pt)?\s*\}"): ("fontsize", "prints too small to be read"),
}  # fmt: skip
"""Constructs that only their arguments give away."""
STARTS = frozenset("write input @@input @input the color textcolor fontsize transparent texttransparent mathcode".split())
PRINTED = re.compile(r"\\(?:number|the|romannumeral)\s*\\(?:value\s*\{\s*([\w@]+)\s*\}|c@(\w+)|(?:year|month|day|time)(?![A-Za-z@]))")
"""Registers of LaTeX's own that may be printed."""
MAPPED = re.compile(r"/(?:ActualText|ToUnicode)\b|begincmap|beginbfchar")


def check_constructs(context: Context) -> Iterator[Finding]:
    """Each construct of the list, unless it is exempted by name and place."""
    exempted = {(exemption.place, exemption.pattern) for exemption in load_exemptions(context)}
    for scan in load_document(context).all:
        for name, place, reason in find_constructs(scan):
            if (scan.path, name) not in exempted:
                yield Finding(code=CODE, place=place, what=f"{name} {reason}", cure="remove it: numbers come from \\val, definitions from generated/")


def find_constructs(scan: Scan) -> Iterator[tuple[str, str, str]]:
    """(name, place, reason) of each construct that a source executes."""
    source = scan.reading.source
    for match in MAPPED.finditer(source):
        yield match[0].lstrip("/"), scan.place(match.start()), "changes the text layer"
    for command, offset in [*scan.reading.commands, *scan.reading.named]:
        name = command.rstrip("*")
        if name in FORBIDDEN and not is_fair(source, offset):
            yield f"\\{name}", scan.place(offset), FORBIDDEN[name]
        match = DEFINITION.match(source, offset)
        if match:
            yield f"\\{match.group(1) or match.group(2)}", scan.place(offset), "is redefined outside generated/"
        elif name in DIRECT and not DIRECT[name].match(source, offset):
            yield f"\\{name}", scan.place(offset), "stands without its arguments, as where it is redefined or copied"
        counter = COUNTER.match(source, offset)
        if counter and counter[1] not in COUNTERS:
            yield f"\\{name}", scan.place(offset), f"sets the counter {counter[1]}, which can print a number"
        for pattern, (shown, reason) in SOURCED.items():
            if name in STARTS and pattern.match(source, offset) and not is_fair(source, offset):
                yield f"\\{shown}", scan.place(offset), reason
        if name == "^" and source.startswith("^", offset + 2):
            yield "^^", scan.place(offset), "writes a character by its number"
    yield from find_carets(scan)
    yield from find_rounding(scan)


def is_fair(source: str, offset: int) -> bool:
    """Whether a register that is printed is one of LaTeX's own: a page, a section, the year."""
    printed = PRINTED.match(source, offset)
    return printed is not None and (not (printed[1] or printed[2]) or (printed[1] or printed[2]) in COUNTERS)


def find_carets(scan: Scan) -> Iterator[tuple[str, str, str]]:
    """`^^31` outside comments and verbatim text."""
    text = scan.reading.main.text()
    for match in re.finditer(r"\^{2,}", text) if "^^" in scan.reading.source else ():
        offset = scan.reading.main.source(match.start())
        if scan.reading.source.startswith("^^", offset):
            yield "^^", scan.place(offset), "writes a character by its number"
