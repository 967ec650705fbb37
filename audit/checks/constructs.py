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
    **dict.fromkeys("count newcount countdef".split(), "keeps a number in a register"), "nofiles": "keeps LaTeX from saying what it typeset",
}  # fmt: skip
COUNTER = re.compile(r"\\(?:set|addto)counter\s*\{\s*([A-Za-z@]+)\s*\}")
COUNTERS = frozenset(
    "topnumber bottomnumber totalnumber dbltopnumber tocdepth secnumdepth page part chapter section subsection subsubsection paragraph figure table equation footnote mpfootnote "
    "enumi enumii enumiii enumiv MaxMatrixCols biburlnumpenalty biburlucpenalty biburllcpenalty LTchunksize algorithm subfigure subtable parentequation".split()
)  # fmt: skip
"""Counters of LaTeX's own pages, floats and headings."""


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
    for command, offset in [*scan.reading.commands, *scan.reading.named]:
        name = command.rstrip("*")
        if name in FORBIDDEN:
            yield f"\\{name}", scan.place(offset), FORBIDDEN[name]
        match = DEFINITION.match(source, offset)
        if match:
            yield f"\\{match.group(1) or match.group(2)}", scan.place(offset), "is redefined outside generated/"
        elif name in DIRECT and not DIRECT[name].match(source, offset):
            yield f"\\{name}", scan.place(offset), "stands without its arguments, as where it is redefined or copied"
        counter = COUNTER.match(source, offset)
        if counter and counter[1] not in COUNTERS:
            yield f"\\{name}", scan.place(offset), f"sets the counter {counter[1]}, which can print a number"
        if name == "^" and source.startswith("^", offset + 2):
            yield "^^", scan.place(offset), "writes a character by its number"
    yield from find_rounding(scan)
