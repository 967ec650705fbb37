"""Texts and printed forms as LaTeX: every character a reader should see, and none that LaTeX would take for a command."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest

from audit.finding import Refusal

__all__ = ["Latex", "escape", "latex_text", "to_latex"]

NUMBER = re.compile(r"(?<![\w.,])(-?)([\d,]*\d(?:\.\d+)?)(?:e(-?\d+))?(%?)(?!\w)")
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho . sigma tau upsilon phi chi psi omega".split()
SIGNS = {">=": r"\ensuremath{\ge}", "<=": r"\ensuremath{\le}", ">": r"\ensuremath{>}", "<": r"\ensuremath{<}", "|": r"\textbar{}", "≥": r"\ensuremath{\ge}",
         "≤": r"\ensuremath{\le}", "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "−": r"\ensuremath{-}", "→": r"\ensuremath{\to}", "≈": r"\ensuremath{\approx}",
         "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\ldots{}", "°": r"\textdegree{}", "µ": r"\ensuremath{\mu}", "Ω": r"\ensuremath{\Omega}",
         "·": r"\ensuremath{\cdot}", "²": r"\ensuremath{^2}", "³": r"\ensuremath{^3}"}  # fmt: skip
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-])0*(\d+)(?!\w)")
"""A number as programs write it, in a text: a digest has no sign in it."""
JOINTS = {"–": r"\mbox{--}", " to ": r"\ \mbox{to}\ "}
"""What joins the numbers of one printed form, so that it holds in formulas too."""
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


class Latex(str):
    """Text that is already LaTeX: what the filters print."""


def to_latex(text: str, place: str = "text") -> Latex:
    """A printed form as LaTeX that holds in text, formulas, captions and tables."""
    if re.match("p [=<>] ", text):
        return Latex(rf"\ensuremath{{{text}}}")
    pieces, end = [], 0
    for number in NUMBER.finditer(text):
        pieces += [join(text[end : number.start()], place), latex_number(number)]
        end = number.end()
    return Latex("".join([*pieces, join(text[end:], place) if end else latex_text(text, place)]))


def latex_number(number: re.Match[str]) -> str:
    """One number: `\\ensuremath{-}`, `{,}` between thousands, a power of ten, `\\%`."""
    sign, digits, exponent, percent = number.groups()
    body = digits.replace(",", "{,}")
    if exponent is not None:
        return rf"\ensuremath{{{sign}{body}\times 10^{{{exponent}}}}}"
    return (r"\ensuremath{-}" if sign else "") + body + (r"\%" if percent else "")


def join(text: str, place: str) -> str:
    """What stands between the numbers of a printed form."""
    return JOINTS.get(text) or latex_text(text, place).replace(" to ", JOINTS[" to "]).replace(" ", r"\ ")


def escape(text: str) -> str:
    """Text with every character that LaTeX would take for a command made printable."""
    return "".join(ESCAPES.get(character, character) for character in text)


@lru_cache(maxsize=8192)
def latex_text(text: str, place: str = "text") -> Latex:
    """Escape text for LaTeX; a character that pdflatex has no form for is refused."""
    pieces = POWER.split(text)
    powers = (rf"\ensuremath{{{digits}\times 10^{{{sign.strip('+')}{power}}}}}" for digits, sign, power in zip(*(pieces[part::4] for part in (1, 2, 3)), strict=True))
    plain = ("".join(latex_sign(sign, place) for sign in re.findall(r">=|<=|.", piece, re.DOTALL)) for piece in pieces[::4])
    return Latex("".join(part for pair in zip_longest(plain, powers, fillvalue="") for part in pair))


def latex_sign(sign: str, place: str) -> str:
    if sign in SIGNS:
        return SIGNS[sign]
    if 0x3B1 <= ord(sign[0]) <= 0x3C9:
        return rf"\ensuremath{{\{GREEK[ord(sign) - 0x3B1]}}}"
    if len(sign) == 1 and (ord(sign) > 0x17F or (ord(sign) < 32 and sign not in "\n\t")):
        raise Refusal(place, "a character that LaTeX cannot print here", observed=f"U+{ord(sign):04X}", cure="write it in plain letters")
    return escape(sign)
