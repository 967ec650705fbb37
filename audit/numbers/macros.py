"""What commands and environments do with their arguments: tables, one entry a line of LaTeX knowledge.

A specification has one letter per argument: `o` optional and `m` mandatory, opaque (of the entry's class, no prose); `T`
optional and `t` mandatory, prose or mathematics that a reader sees.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "BOUND", "COMMANDS", "DEFINERS", "ENVIRONMENTS", "FOLDERED", "INCLUDES", "MATH_ENVIRONMENTS", "MOVING", "OPAQUE_ENVIRONMENTS", "PRINTED", "REFS", "SEAMS", "SECTIONS",
    "SILENT", "UPRIGHT", "Spec", "cites", "detokenize",
]  # fmt: skip


class Spec(NamedTuple):
    """How arguments are read, and the class of what stands in the opaque ones."""

    arguments: str
    opaque: str = "layout"


UNKNOWN, UNKNOWN_MATH = Spec("otttt"), Spec("tttt")
"""How the arguments of a command that is in no table are read, in text and in formulas."""


def table(opaque: str, entries: str) -> dict[str, Spec]:
    """`name letters; name letters` as a dictionary."""
    pairs = (entry.split() for entry in entries.replace("\n", " ").split(";") if entry.strip())
    return {name: Spec(letters, opaque) for names, letters in pairs for name in names.split("|")}


COMMANDS: dict[str, Spec] = {
    **table(
        "layout",
        """documentclass|usepackage|RequirePackage|LoadClass|PassOptionsToPackage omo; geometry m; hypersetup m; sisetup m;
        vspace|hspace|vspace*|hspace*|addvspace|vskip|hskip|kern m; setlength|addtolength mm; setcounter|addtocounter mm;
        definecolor|colorlet mmm; color|pagecolor om; textcolor|colorbox|highlight omt; fcolorbox ommt; rowcolor|columncolor|cellcolor om;
        includegraphics|includegraphics*|includesvg|includepdf oom; graphicspath m; fontsize mm; selectfont|linespread|baselinestretch m;
        rule omm; raisebox moot; parbox ooomt; makebox|framebox oot; scalebox mot; resizebox|resizebox* mmt; rotatebox omt; adjustbox mt;
        multicolumn mmt; multirow omomt; cmidrule|cline om; specialrule mmm; addlinespace|toprule|midrule|bottomrule|hline o;
        captionsetup|subcaptionsetup|DeclareCaptionFont|lstset|pgfplotsset|tikzset|setlist|usetikzlibrary om; tikz ot; draw|fill|node|path|coordinate|addplot o;
        newcolumntype omm; arraystretch m; pagestyle|thispagestyle|pagenumbering m; enlargethispage|needspace m; titleformat mmmmm; titlespacing mmmm;
        newlength|newcounter|newif|newenvironment|newtheorem|theoremstyle om; hyphenation m; bibliographystyle m; setstretch m;
        subfloat Tt; subcaptionbox Tomt; item T; captionof mTt; caption|section|subsection|subsubsection|paragraph|subparagraph|chapter|part|title Tt; linebreak|pagebreak|nolinebreak|nopagebreak o; pdfinfo|special|pdfliteral|directlua m;
        DeclareSIUnit omm; DeclareMathOperator mt; providecommand|newcommand|renewcommand|DeclareRobustCommand moot; newcommand*|renewcommand* moot;
        rowcolors ommm; arrayrulecolor|doublerulesepcolor om; cdashline|epsfig|psfig|epsscale|plotone|tablecolumns|tablenum|figurenum|tablewidth|tabletypesize m; epsfbox om;
        plottwo|pgfmathsetmacro|pgfmathsetlengthmacro mm; @setfontsize mmm; marginpar Tt; hspace m; phantom|hphantom|vphantom m; today o; tabcolsep|textfloatsep m; input|include|subfile|subfileinclude m; InputIfFileExists mtt;
        import|subimport|inputfrom|subinputfrom|includefrom|subincludefrom mm;
        val|verdict|prov|confirmatory om; ifverdict mttt; unjudged mt; begin|end m; tag m""",
    ),
    **table(
        "reference",
        """ref|eqref|autoref|cref|Cref|pageref|nameref|vref|Vref|labelcref|subref|autopageref|ref*|hyperref o; label|cref*|Cref* m;
        cite|citep|citet|citealp|citealt|citeauthor|citeyear|citeyearpar|citenum|parencite|textcite|autocite|footcite|supercite|nocite|Citet|Citep|cite*|citep*|citet*|fullcite|onlinecite oom;
        bibitem om; bibliography|addbibresource om; url|path|nolinkurl|doi|arxiv|eprint|pmid|orcid m; href mt; hyperlink|hypertarget mt;
        nocite m; crefrange|Crefrange mm; gls|Gls|glspl|acrshort|acrlong|ac|acp m; date m; email m; affil|address|affiliation|institute|institution|inst|affiliations|ead|corref|altaffiliation|homepage om;
        pubyear|pubmonth|volume|pagerange|received|accepted|revised|journal|journalinfo|issn|jyear|copyrightyear|acmYear|acmVolume|acmNumber|acmArticle|acmMonth|acmDOI|setcopyright om; thanks t; footnotemark|footnotetext oT""",
    ),
    **{name: Spec("m", "reference") for name in "ref eqref autoref cref Cref pageref nameref vref Vref labelcref subref autopageref ref*".split()},
    "hyperref": Spec("ot", "reference"),
    "footnotetext": Spec("ot", "reference"),
    "footnotemark": Spec("o", "reference"),
    **table(
        "mathematics", "SI|qty otm; SIrange|qtyrange ottm; SIlist|qtylist otm; num|ang|tablenum ot; numrange ott; numlist ot; si|unit om; sqrt Tt"
    ),
    "\\": Spec("o"),
    "\\*": Spec("o"),
    "footnote": Spec("ot"),
    "claim": Spec("mt", "design"),
}
"""Commands whose arguments are not all prose; any other command's optional arguments are layout, its mandatory ones prose."""

ENVIRONMENTS: dict[str, Spec] = {
    **table(
        "layout",
        """tabular|array|longtable|supertabular|tabu om; tabular*|tabularx|tabulary mom; tblr|longtblr|talltblr om; adjustwidth|adjustwidth*|changemargin mm; overpic|floatingfigure|floatingtable om; SCfigure|SCtable oo; mdframed|columns o; column om; minipage ooom; wrapfigure|wraptable omom; subfigure|subtable om;
        multicols m; figure|table|figure*|table*|sidewaystable|sidewaysfigure|algorithm|threeparttable|tablenotes o; itemize|enumerate|description o; adjustbox m;
        algorithmic o; tcolorbox o; spacing m; list mm; landscape o; letter m; picture o""",
    ),
    "thebibliography": Spec("m", "reference"),
}

OPAQUE_ENVIRONMENTS = {
    **dict.fromkeys("tikzpicture pgfpicture axis semilogyaxis semilogxaxis loglogaxis picture pspicture scope tikzcd forest".split(), "layout"),
    "thebibliography": "reference",
}
"""Environments whose whole content is of one class."""

MATH_ENVIRONMENTS = frozenset(
    "equation equation* align align* alignat alignat* gather gather* multline multline* displaymath math eqnarray eqnarray* flalign flalign* "
    "split aligned gathered cases dcases matrix pmatrix bmatrix vmatrix Bmatrix Vmatrix smallmatrix IEEEeqnarray IEEEeqnarray* subequations".split()
)

PRINTED = {
    "%": "%", "$": "$", "&": "&", "#": "#", "_": "_", "{": "{", "}": "}", ",": "\u2009", ";": "\u2009", ":": "\u2009", " ": " ", "\n": " ",
    "!": "", "-": "", "/": "", ">": "\u2009", "quad": " ", "qquad": " ", "thinspace": "\u2009", "space": " ", "nobreakspace": " ", "xspace": "",
    "pm": "±", "mp": "∓", "times": "×", "cdot": "·", "approx": "≈", "sim": "≈", "simeq": "≈", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥",
    "geqslant": "≥", "ll": "≪", "gg": "≫", "lt": "<", "gt": ">", "to": "→", "rightarrow": "→", "in": "∈", "ldots": "…", "dots": "…", "cdots": "…",
    "textellipsis": "…", "textendash": "–", "textemdash": "—", "textminus": "−", "textpm": "±", "texttimes": "×", "pounds": "£", "textsterling": "£",
    "euro": "€", "texteuro": "€", "textdollar": "$", "textpercent": "%", "degree": "°", "textdegree": "°", "circ": "°", "permil": "‰", "textperthousand": "‰",
    "percent": "%", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "middle": "", "textasciitilde": "≈", "neq": "≠", "ne": "≠",
    "par": "\n\n", "textperiodcentered": "·", "mu": "μ", "textmu": "μ", "textgreater": ">", "textless": "<", "lesssim": "≤", "gtrsim": "≥", "AA": "Å", "angstrom": "Å", "lbrace": "{", "rbrace": "}", "textbar": "|", "equiv": "=",
}  # fmt: skip
"""Commands that print one character that the number reader must see."""

SILENT = frozenset(
    "textbf textit emph textsc texttt textrm textsf textnormal textup textmd underline uline mathbf mathrm mathit boldsymbol bm mathsf text mbox hbox "
    "textsubscript textsuperscript displaystyle textstyle scriptstyle small footnotesize scriptsize tiny normalsize large Large bfseries itshape ttfamily "
    "centering noindent protect relax ensuremath makecell shortstack thead num SI qty SIlist qtylist numlist ang tablenum limits nolimits "
    "footnote caption captionof section subsection subsubsection paragraph subparagraph chapter part item title author date abstract centerline hfill vfill "
    "toprule midrule bottomrule hline cmidrule cline addlinespace newline linebreak multicolumn multirow textcolor colorbox rowcolor cellcolor phantom "
    "claim label raggedright em it bf rm sf tt sc sl leavevmode nonumber notag break allowbreak smallskip medskip bigskip clearpage newpage maketitle strut "
    "thanks footnotetext footnotemark textquotesingle href hyperref enquote hspace vspace vspace* hspace* resizebox scalebox adjustbox rotatebox raisebox parbox makebox mathop".split()
)
"""Commands that print nothing by themselves: what they wrap reads on without a seam."""

BOUND = frozenset({"val", "verdict", "prov", "confirmatory", "unjudged"})
REFS = frozenset("ref eqref autoref cref Cref pageref nameref vref Vref labelcref subref ref* crefrange Crefrange".split())


def cites(name: str) -> bool:
    """Whether a command cites: `\\citep`, `\\citeA`, `\\parencite` and all their kin."""
    return "cite" in name.lower()


SEAMS = frozenset(
    "footnote footnotetext caption captionof section subsection subsubsection paragraph chapter item title author thanks marginpar subfloat caption* "
    "section* subsection* subsubsection* paragraph* chapter* abstract keywords "
    "newcommand renewcommand providecommand newcommand* renewcommand* DeclareRobustCommand def gdef edef xdef includegraphics input include bibitem".split()
)
DEFINERS = frozenset({"def", "gdef", "edef", "xdef"})
SECTIONS = {name: rank for rank, name in enumerate("part chapter section subsection subsubsection paragraph subparagraph textbf".split())}
"""Commands that open a section, each with its rank; bold words that end in a stop or colon at the start of a line do too."""
MOVING = frozenset("section subsection subsubsection chapter part paragraph caption captionof title author".split())
UPRIGHT = frozenset({"text", "mbox", "hbox", "intertext", "textrm", "textnormal", "shortintertext", "footnote", "caption"})
FOLDERED = frozenset("import subimport inputfrom subinputfrom includefrom subincludefrom".split())
"""Commands that read a file from a folder, in which that file's own inputs are looked for first."""
INCLUDES = FOLDERED | {"input", "include", "subfile", "subfileinclude", "InputIfFileExists", "includegraphics", "bibliography", "addbibresource"}


def detokenize(argument: str) -> str:
    """An argument as TeX spells it when it makes one word of it: without comments, one blank for several and after a command's name."""
    plain = re.sub(r"(?<!\\)%[^\n]*(?:\n[ \t]*)?", "", argument)
    return " ".join(re.sub(r"(\\[A-Za-z]+)\s*", r"\1 ", plain).split())
