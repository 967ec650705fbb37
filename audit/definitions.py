"""The LaTeX definitions of our macros: a look-up by name, so that no two keys can share one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from audit.links import LINKED, LINKS, MARKS

__all__ = ["KEPT", "OURS", "PREAMBLE", "define"]

OURS = frozenset({"val", "verdict", "ifverdict", "prov", "confirmatory", "unjudged", "valstyle", *MARKS})
"""Commands that only a generated file may define."""

KEPT = (
    "val", r"val\space", r"\string\val\space", "verdict", r"verdict\space", "ifverdict", r"ifverdict\space", "prov", r"prov\space", "confirmatory", r"confirmatory\space",
    "unjudged", r"unjudged\space", "audit@typeset", "audit@log", "audit@unknown", *LINKED,
    "audit@choice@met", "audit@choice@missed", "audit@choice@undecided", "audit@choice@not evaluated here",
    "audit@choice@met (post hoc)", "audit@choice@missed (post hoc)", "audit@choice@undecided (post hoc)",
)  # fmt: skip
"""Names of macros whose meaning at the end of the document must be the one they were defined with."""

PREAMBLE = r"""\makeatletter
\newcommand\audit@unknown[2]{\PackageError{audit}{No #1 for `#2'}{Run audit render; audit verify names the nearest keys.}}
\providecommand\auditval[3]{}
\newcommand\audit@log[2]{\if@filesw\protected@write\@auxout{}{\string\auditval{\detokenize{#1}}{\detokenize{#2}}{\thepage}}\fi}
\newcommand\audit@typeset[2]{\@ifundefined{audit@val@#1@\detokenize{#2}}{\audit@unknown{value}{#2}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#2}{#1}\audit@link{#1@#2}{\csname audit@val@#1@\detokenize{#2}\endcsname}}}
\DeclareRobustCommand\val[2][]{\audit@typeset{#1}{#2}}
\NewExpandableDocumentCommand\audit@plainval{O{}m}{\csname audit@plain@#1@\detokenize{#2}\endcsname}
\DeclareRobustCommand\verdict[1]{\@ifundefined{audit@verdict@\detokenize{#1}}{\audit@unknown{verdict}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{verdict}\csname audit@verdict@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\ifverdict[4]{\@ifundefined{audit@verdict@\detokenize{#1}}{\audit@unknown{verdict}{#1}}{%
  \audit@log{#1}{verdict}\csname audit@choice@\csname audit@verdict@\detokenize{#1}\endcsname\endcsname{#2}{#3}{#4}}}
\@namedef{audit@choice@met}#1#2#3{#1}
\@namedef{audit@choice@missed}#1#2#3{#2}
\@namedef{audit@choice@undecided}#1#2#3{#3}
\@namedef{audit@choice@met (post hoc)}#1#2#3{#1}
\@namedef{audit@choice@missed (post hoc)}#1#2#3{#2}
\@namedef{audit@choice@undecided (post hoc)}#1#2#3{#3}
\@namedef{audit@choice@not evaluated here}#1#2#3{[not evaluated here]}
\DeclareRobustCommand\prov[1]{\@ifundefined{audit@prov@\detokenize{#1}}{\audit@unknown{provenance value}{#1}}{%
  \csname audit@prov@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\confirmatory[1]{\@ifundefined{audit@label@\detokenize{#1}}{\audit@unknown{label}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{confirmatory}\csname audit@label@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\unjudged[2]{\@ifundefined{audit@unjudged@\detokenize{#1}}{\audit@unknown{unjudged registration}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{unjudged}\csname audit@unjudged@\detokenize{#1}\endcsname: not judged, #2}}
\newcommand\audit@meaning[1]{\expandafter\meaning\csname#1\endcsname}
\newcommand\audit@keep[1]{\expandafter\xdef\csname audit@was@#1\endcsname{\audit@meaning{#1}}\AtEndDocument{%
  \immediate\write\@auxout{\@percentchar audit-was #1=\csname audit@was@#1\endcsname}%
  \immediate\write\@auxout{\@percentchar audit-end #1=\audit@meaning{#1}}}}
\AtBeginDocument{\@ifundefined{pdfstringdefDisableCommands}{}{\pdfstringdefDisableCommands{%
  \let\val\audit@plainval\def\verdict#1{\csname audit@verdict@\detokenize{#1}\endcsname}%
  \def\prov#1{\csname audit@prov@\detokenize{#1}\endcsname}\def\confirmatory#1{\csname audit@label@\detokenize{#1}\endcsname}}}}
"""
"""What `generated/macros.tex` begins with."""


def define(
    values: Mapping[tuple[str, str], tuple[str, str]],
    verdicts: Mapping[str, str],
    provenance: Mapping[str, str],
    labels: Mapping[str, str],
    unjudged: Iterable[str],
) -> str:
    """The macros' file: (format, key) -> (LaTeX, plain), verdict words, provenance texts (LaTeX), labels, registrations without verdicts."""
    arguments = PREAMBLE.partition(r"\newcommand\audit@log[")[2][:1]
    lines = [PREAMBLE.rstrip(), LINKS.rstrip().replace("ARGUMENTS", arguments)]
    for (form, key), (latex, plain) in sorted(values.items()):
        lines.append(rf"\@namedef{{audit@val@{form}@{key}}}{{{latex}}}")
        lines.append(rf"\@namedef{{audit@plain@{form}@{key}}}{{{plain}}}")
    lines += [rf"\@namedef{{audit@verdict@{name}}}{{{word}}}" for name, word in sorted(verdicts.items())]
    lines += [rf"\@namedef{{audit@prov@{key}}}{{{text}}}" for key, text in sorted(provenance.items())]
    lines += [rf"\@namedef{{audit@label@{key}}}{{{word}}}" for key, word in sorted(labels.items())]
    lines += [rf"\@namedef{{audit@unjudged@{name}}}{{{name}}}" for name in sorted(unjudged)]
    computed = ("verdict", verdicts), ("label", labels)
    kept = (*KEPT, *(f"audit@{family}@{name}" for family, names in computed for name in sorted(names)))
    lines += [rf"\audit@keep{{{name}}}" for name in kept]
    return "\n".join([*lines, r"\makeatother", ""])
