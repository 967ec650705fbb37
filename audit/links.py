"""The LaTeX of the way from a number to the appendix line with its source and back, and of `\\valstyle`; part of the generated macros."""

from __future__ import annotations

__all__ = ["LINKED", "LINKS", "MARKS"]

MARKS = ("auditlinks", "auditanchor", "auditpages", "auditlinked", "auditpage")
"""Commands of the appendix and of the auxiliary file, which no source of an author's has."""

LINKED = ("audit@link", "audit@mark", "audit@hidden", *MARKS)
"""Macros that a number or its pages pass through: their meaning at the end of the document must be the one they were defined with."""

LINKS = r"""\newif\ifaudit@linked\newif\ifaudit@final\newif\ifaudit@draft
\ifdefined\auditfinal\audit@finaltrue\renewcommand\audit@log[3]{}\fi
\newcommand\valstyle[1]{\@ifundefined{audit@style@#1}{\PackageError{audit}{No style `#1' of numbers}{Write linked, draft or final.}}{\ifdefined\auditfinal\else\csname audit@style@#1\endcsname\fi}}
\@namedef{audit@style@linked}{\audit@draftfalse\audit@finalfalse}
\@namedef{audit@style@draft}{\audit@drafttrue\audit@finalfalse}
\@namedef{audit@style@final}{\audit@draftfalse\audit@finaltrue}
\newcommand\audit@mark[1]{\ifaudit@draft\@ifundefined{color}{#1}{\begingroup\color{blue}#1\endgroup}\else#1\fi}
\newcommand\audit@hidden[2]{\@ifundefined{hyperlink}{#2}{\begingroup\hypersetup{hidelinks}\hyper@linkstart{link}{#1}#2\hyper@linkend\endgroup}}
\newcommand\audit@link[2]{\ifaudit@final#2\else\ifaudit@linked\if@filesw\protected@write\@auxout{}{\string\auditpage{\detokenize{#1}}{\thepage}}\fi
  \audit@hidden{audit.\detokenize{#1}}{\audit@mark{#2}}\else\audit@mark{#2}\fi\fi}
\newcommand\auditlinked{\global\audit@linkedtrue}
\newcommand\auditpage[2]{\def\audit@this{#2}\expandafter\ifx\csname audit@last@#1\endcsname\audit@this\else
  \expandafter\xdef\csname audit@pages@#1\endcsname{\@ifundefined{audit@pages@#1}{}{\unexpanded\expandafter\expandafter\expandafter{\csname audit@pages@#1\endcsname}, }%
    \noexpand\audit@hidden{page.#2}{#2}}%
  \expandafter\gdef\csname audit@last@#1\endcsname{#2}\fi}
\newcommand\auditlinks{\if@filesw\immediate\write\@auxout{\string\auditlinked}\fi}
\def\auditanchor[#1]{\ifaudit@final\else\@ifundefined{hypertarget}{}{\raisebox{\baselineskip}[0pt][0pt]{\hypertarget{audit.\detokenize{#1}}{}}}\fi}
\def\auditpages[#1]{\ifaudit@final\else\@ifundefined{audit@pages@\detokenize{#1}}{}{\ \dotfill\ p.~\csname audit@pages@\detokenize{#1}\endcsname}\fi}
"""
"""`\auditlinks` opens the appendix: links are made from the next run on. `\auditfinal`, defined before the document, is `\valstyle{final}` for
one build, in which our macros leave nothing beside their text."""
