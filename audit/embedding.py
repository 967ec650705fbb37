"""Where a value is read before it is typeset: bookmarks, headings set in capitals, siunitx's numbers and columns."""

from __future__ import annotations

import re

__all__ = ["EMBEDDED", "EMBEDDING", "embed", "read_number"]

EMBEDDED = (*(f"audit@robust@{name}" for name in ("val", "verdict", "prov", "confirmatory")), "audit@siunitxval", "audit@cellval", "audit@whole", "audit@alone")
"""Macros of these that must keep their meaning."""
NUMERAL = re.compile(r"-?[\d,]+(?:\.\d+)?(?:e-?\d+)?")

EMBEDDING = r"""\let\audit@robust@val\val\protected\def\val{\audit@robust@val}
\let\audit@robust@verdict\verdict\protected\def\verdict{\audit@robust@verdict}
\let\audit@robust@prov\prov\protected\def\prov{\audit@robust@prov}
\let\audit@robust@confirmatory\confirmatory\protected\def\confirmatory{\audit@robust@confirmatory}
\NewExpandableDocumentCommand\audit@whole{O{}m}{\csname audit@whole@#1@\detokenize{#2}\endcsname}
\newcommand\audit@latexverdict[1]{\csname audit@verdict@\detokenize{#1}\endcsname}
\newcommand\audit@latexprov[1]{\csname audit@prov@\detokenize{#1}\endcsname}
\newcommand\audit@latexlabel[1]{\csname audit@label@\detokenize{#1}\endcsname}
\NewExpandableDocumentCommand\audit@siunitxval{O{}m}{\ifx\protect\@typeset@protect\expandafter\@firstoftwo\else\expandafter\@secondoftwo\fi
  {\audit@typeset{#1}{#2}}{\csname audit@number@#1@\detokenize{#2}\endcsname}}
\NewExpandableDocumentCommand\audit@cellval{O{}m}{\ifx\protect\@typeset@protect\else\protect\audit@beside{#1}{#2}\fi\audit@siunitxval[#1]{#2}}
\newcommand\audit@alone[2]{\begingroup\@ifundefined{audit@number@#1@\detokenize{#2}}{\audit@unknown{single number}{#2}}{%
  \@namedef{audit@val@#1@\detokenize{#2}}{}\audit@typeset{#1}{#2}}\endgroup}
\newcommand\audit@beside[2]{\audit@alone{#1}{#2}\kern1sp}
\newcommand\audit@collect[2][]{\@ifundefined{audit@number@#1@\detokenize{#2}}{\audit@unknown{single number}{#2}}{}\g@addto@macro\audit@collected{\audit@alone{#1}{#2}}}
\let\audit@collected\@empty
\g@addto@macro\@uclclist{\val\audit@whole\verdict\audit@latexverdict\prov\audit@latexprov\confirmatory\audit@latexlabel}
\ExplSyntaxOn
\cs_if_exist:NT\text_declare_expand_equivalent:Nn{
  \text_declare_expand_equivalent:Nn\val{\audit@whole}\text_declare_expand_equivalent:Nn\verdict{\audit@latexverdict}
  \text_declare_expand_equivalent:Nn\prov{\audit@latexprov}\text_declare_expand_equivalent:Nn\confirmatory{\audit@latexlabel}}
\cs_new_protected:Npn\audit@parse#1#2{\tl_if_in:nnTF{#1}{\val}
  {\setbox\z@\hbox{\let\val\audit@collect$#1$}\seq_gput_right:NV\g_audit_waiting_seq\audit@collected\global\let\audit@collected\@empty
   \begingroup\let\val\audit@siunitxval\protected@edef\audit@number{#1}\exp_args:NNV\endgroup\audit@siunitx@parse\audit@number#2}
  {\audit@siunitx@parse{#1}#2}}
\seq_new:N\g_audit_waiting_seq
\cs_new_protected:Npn\audit@print#1{\seq_gpop_left:NNT\g_audit_waiting_seq\audit@next{\audit@next}\audit@siunitx@print{#1}}
\cs_new_protected:Npn\audit@cell#1{\tl_if_in:nnT{#1}{\val}{\keys_set:nn{siunitx}{table-align-text-before=false}}\let\val\audit@cellval\audit@siunitx@cell{#1}}
\AtBeginDocument{
  \cs_if_exist:NT\siunitx_number_parse:nN{\let\audit@siunitx@parse\siunitx_number_parse:nN\let\siunitx_number_parse:nN\audit@parse
    \let\audit@siunitx@print\siunitx_print_number:n\let\siunitx_print_number:n\audit@print}
  \cs_if_exist:NT\__siunitx_table_collect_end:n{\let\audit@siunitx@cell\__siunitx_table_collect_end:n\let\__siunitx_table_collect_end:n\audit@cell}}
\ExplSyntaxOff
"""
"""What follows the definitions of our macros: what they expand to where LaTeX wants characters, and siunitx told to look there.

A number that siunitx prints is grouped as the author told siunitx to, and an empty value is typeset beside it, so that its use is noted as any other.
"""


def read_number(plain: str) -> str | None:
    """A printed form as siunitx reads it, where it is one number: `-0.22`, `12345`, `1.2e-5`."""
    return plain.replace(",", "") if NUMERAL.fullmatch(plain) else None


def embed(form: str, key: str, plain: str) -> list[str]:
    """Two definitions of a printed form: one token that capitals leave alone, and, where it is one number, what siunitx reads."""
    number = read_number(plain)
    whole = rf"\protected\@namedef{{audit@whole@{form}@{key}}}{{\audit@typeset{{{form}}}{{{key}}}}}"
    return [whole] if number is None else [whole, rf"\@namedef{{audit@number@{form}@{key}}}{{{number}}}"]
