"""The LaTeX definitions of our macros: a look-up by name, so that no two keys can share one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from audit.embedding import EMBEDDED, EMBEDDING, embed
from audit.links import LINKED, LINKS, MARKS

__all__ = ["KEPT", "OURS", "PREAMBLE", "define"]

OURS = frozenset({"val", "verdict", "ifverdict", "prov", "confirmatory", "unjudged", "claim", "valstyle", *MARKS})
"""Commands that only a generated file may define."""

KEPT = (
    "val", r"val\space", r"\string\val\space", "verdict", r"verdict\space", "ifverdict", r"ifverdict\space", "prov", r"prov\space", "confirmatory", r"confirmatory\space",
    "unjudged", r"unjudged\space", "claim", r"claim\space code", "audit@claim@holds", "audit@claim@open", "audit@typeset", "audit@log", "audit@unknown",
    *EMBEDDED, *LINKED,
    "audit@choice@met", "audit@choice@missed", "audit@choice@undecided", "audit@choice@not evaluated here",
    "audit@choice@met (post hoc)", "audit@choice@missed (post hoc)", "audit@choice@undecided (post hoc)",
)  # fmt: skip
"""Names of macros whose meaning at the end of the document must be the one they were defined with."""

PREAMBLE = r"""\makeatletter
\newcommand\audit@unknown[2]{\PackageError{audit}{No #1 for `#2'}{Run audit render; audit verify names the nearest keys.}}
\providecommand\ReadonlyShipoutCounter{\c@page}
\ifdefined\pdfsavepos\else\ifdefined\savepos\let\pdfsavepos\savepos\let\pdflastxpos\lastxpos\let\pdflastypos\lastypos\fi\fi
\newcommand\audit@log[3]{\ifdefined\pdfsavepos\if@filesw\pdfsavepos\protected@write\@auxout{}{\@percentchar audit-val
  \noexpand\the\ReadonlyShipoutCounter\space\noexpand\the\pdflastxpos\space\noexpand\the\pdflastypos\space
  {\detokenize{#2}}{\detokenize{#1}}\detokenize\expandafter\expandafter\expandafter{\csname#3\endcsname}}\fi\fi}
\newcommand\audit@typeset[2]{\@ifundefined{audit@val@#1@\detokenize{#2}}{\audit@unknown{value}{#2}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#2}{#1}{audit@plain@#1@\detokenize{#2}}\audit@link{#1@#2}{\csname audit@val@#1@\detokenize{#2}\endcsname}}}
\DeclareRobustCommand\val[2][]{\audit@typeset{#1}{#2}}
\NewExpandableDocumentCommand\audit@plainval{O{}m}{\csname audit@plain@#1@\detokenize{#2}\endcsname}
\DeclareRobustCommand\verdict[1]{\@ifundefined{audit@verdict@\detokenize{#1}}{\audit@unknown{verdict}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{verdict}{audit@verdict@\detokenize{#1}}\csname audit@verdict@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\ifverdict[4]{\@ifundefined{audit@verdict@\detokenize{#1}}{\audit@unknown{verdict}{#1}}{%
  \audit@log{#1}{choice}{audit@verdict@\detokenize{#1}}\csname audit@choice@\csname audit@verdict@\detokenize{#1}\endcsname\endcsname{#2}{#3}{#4}}}
\@namedef{audit@choice@met}#1#2#3{#1}
\@namedef{audit@choice@missed}#1#2#3{#2}
\@namedef{audit@choice@undecided}#1#2#3{#3}
\@namedef{audit@choice@met (post hoc)}#1#2#3{#1}
\@namedef{audit@choice@missed (post hoc)}#1#2#3{#2}
\@namedef{audit@choice@undecided (post hoc)}#1#2#3{#3}
\@namedef{audit@choice@not evaluated here}#1#2#3{[not evaluated here]}
\DeclareRobustCommand\prov[1]{\@ifundefined{audit@prov@\detokenize{#1}}{\audit@unknown{provenance value}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{prov}{audit@prov@\detokenize{#1}}\csname audit@prov@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\confirmatory[1]{\@ifundefined{audit@label@\detokenize{#1}}{\audit@unknown{label}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{confirmatory}{audit@label@\detokenize{#1}}\csname audit@label@\detokenize{#1}\endcsname}}
\DeclareRobustCommand\unjudged[2]{\@ifundefined{audit@unjudged@\detokenize{#1}}{\audit@unknown{unjudged registration}{#1}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{unjudged}{audit@unjudged@\detokenize{#1}}\csname audit@unjudged@\detokenize{#1}\endcsname: not judged, #2}}
\NewDocumentCommand\claim{>{\TrimSpaces}m+m}{\@ifundefined{audit@claims@\detokenize{#1}}{\audit@unknown{true claim}{\detokenize{#1}}}{%
  \ifmmode\else\leavevmode\fi\audit@log{#1}{claim}{audit@claims@\detokenize{#1}}\csname audit@claim@\csname audit@claims@\detokenize{#1}\endcsname\endcsname{#2}}}
\newcommand\audit@claim@holds[1]{#1}
\newcommand\audit@claim@open[1]{[not evaluated here]}
\newcommand\audit@meaning[1]{\expandafter\meaning\csname#1\endcsname}
\newcommand\audit@keep[1]{\expandafter\xdef\csname audit@was@#1\endcsname{\audit@meaning{#1}}\AtEndDocument{%
  \immediate\write\@auxout{\@percentchar audit-was #1=\csname audit@was@#1\endcsname}%
  \immediate\write\@auxout{\@percentchar audit-end #1=\audit@meaning{#1}}}}
\AtBeginDocument{\@ifundefined{pdfstringdefDisableCommands}{}{\pdfstringdefDisableCommands{%
  \let\val\audit@plainval\def\verdict#1{\csname audit@verdict@\detokenize{#1}\endcsname}%
  \let\claim\@secondoftwo\def\prov#1{\csname audit@prov@\detokenize{#1}\endcsname}\def\confirmatory#1{\csname audit@label@\detokenize{#1}\endcsname}}}}
"""
"""What `generated/macros.tex` begins with."""


def define(
    values: Mapping[tuple[str, str], tuple[str, str]],
    verdicts: Mapping[str, str],
    provenance: Mapping[str, str],
    labels: Mapping[str, str],
    unjudged: Iterable[str],
    claims: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The macros' file: (format, key) -> (LaTeX, plain), verdict words, provenance texts (LaTeX), labels, registrations without verdicts, conditions of claims."""
    lines = [PREAMBLE.rstrip(), LINKS.rstrip(), EMBEDDING.rstrip()]
    for (form, key), (latex, plain) in sorted(values.items()):
        lines.append(rf"\@namedef{{audit@val@{form}@{key}}}{{{latex}}}")
        lines.append(rf"\@namedef{{audit@plain@{form}@{key}}}{{{plain}}}")
        lines += embed(form, key, plain)
    lines += [rf"\@namedef{{audit@verdict@{name}}}{{{word}}}" for name, word in sorted(verdicts.items())]
    lines += [rf"\@namedef{{audit@prov@{key}}}{{{text}}}" for key, text in sorted(provenance.items())]
    lines += [rf"\@namedef{{audit@label@{key}}}{{{word}}}" for key, word in sorted(labels.items())]
    lines += [rf"\@namedef{{audit@unjudged@{name}}}{{{name}}}" for name in sorted(unjudged)]
    lines += [rf"\@namedef{{audit@claims@\detokenize{{{condition}}}}}{{{state}}}" for condition, state in sorted(claims.items())]
    computed = ("verdict", verdicts), ("label", labels)
    kept = (*KEPT, *(f"audit@{family}@{name}" for family, names in computed for name in sorted(names)))
    lines += [rf"\audit@keep{{{name}}}" for name in kept]
    return "\n".join([*lines, r"\makeatother", ""])
