"""Softer signs of a choice: what a section, a head, a table or a sentence says of the numbers in it."""

from __future__ import annotations

import pytest

from audit.numbers.scan import scan_text
from audit.numbers.sight import kinds_of_sections

HEADED = {
    "a subsection is about what its section is about": (r"\section{Methods} \subsection{Mice} They ran. \subsection{Maze} It ran.", ["method"] * 3),
    "a subsection of its own kind": (r"\section{Methods} \subsection{Findings of the pilot} It ran.", ["method", "result"]),
    "an evaluation within methods is one of them": (r"\section{Methods} \subsection{Evaluation} It ran.", ["method", "method"]),
    "methods and results": (r"\section{Methods and results} \subsection{Maze} It ran.", ["", ""]),
    "the next section": (r"\section{Methods} \subsection{Maze} It ran. \section{Coda} It ended.", ["method", "method", ""]),
    "bold heads of an abstract": ("\\textbf{Methods:} It ran.\n\n\\noindent\\textbf{Results.} It ended.", ["method", "result"]),
    "bold words in a sentence are none": (r"All \textbf{Methods:} they ran, and \textbf{results} came.", []),
    "bold words within a section": ("\\section{Setup}\n\\textbf{Mice.} They ran.\n\n\\section{Results} It ended.", ["method", "method", "result"]),
}


@pytest.mark.parametrize(("source", "wanted"), HEADED.values(), ids=HEADED)
def test_kinds_of_sections(source: str, wanted: list[str]) -> None:
    """Each section is of its title's kind, else of the kind of the section around it."""
    assert list(kinds_of_sections(scan_text(source, preamble=False).reading)) == wanted


TOLD = {
    "the same sentence under methods": (r"\section{Methods} The pump is quiet at 40 knocks.", "design"),
    "the same sentence under results": (r"\section{Results} The pump is quiet at 40 knocks.", "result"),
    "a count that is odd": (r"\section{Methods} Overall, 1,873 layers came loose.", "result"),
    "a purpose is no outcome": (r"\section{Methods} To reduce noise, the pump rests at 40 knocks.", "design"),
    "an outcome": (r"\section{Methods} The pump failed at 40 knocks.", "result"),
    "a table of settings": (r"\begin{table}\caption{Settings of the model}\begin{tabular}{lr} Rain & 0.35 \\ \end{tabular}\end{table}", "design"),
    "a table of estimated parameters": (r"\begin{table}\caption{Estimated model parameters}\begin{tabular}{lr} Rain & 0.35 \\ \end{tabular}\end{table}", "result"),
    "a table without a caption": (r"\begin{tabular}{lr} Rain & 0.35 \\ \end{tabular}", "result"),
    "a row of a setting": (r"\begin{tabular}{lrr} Tolerance & 0.35 \\ Rain & low \\ \end{tabular}", "design"),
    "a row's label": (r"\begin{tabular}{lr} Full (queue = 64) & high \\ \end{tabular}", "design"),
    "a condition in a caption": (r"\begin{figure}\caption{Pumps with 40 knocks.}\end{figure}", "design"),
    "a finding in a caption": (r"\begin{figure}\caption{A loss of 40 knocks.}\end{figure}", "result"),
    "those lost": (r"\section{Results} After excluding 12 pumps with leaks, many remained.", "result"),
    "those left out": (r"\section{Results} The mean is taken excluding 12 Hz for its hum.", "design"),
    "a mean over many": (r"\section{Results} Dots are the mean of 20 pumps.", "design"),
    "a mean that was found": (r"\section{Results} The pumps ran for a mean of 20 hours.", "result"),
    "what was expected": (r"\section{Results} We expected to see 30 pumps fail.", "design"),
    "what came instead": (r"\section{Results} We expected to see pumps fail, but saw 37.", "result"),
    "training samples": (r"\section{Results} The net learns with 400 training samples.", "design"),
    "what nobody chooses how often": (r"\section{Methods} The trial had 30 relapses.", "result"),
    "citations of a footnote": (r"\section{Wells} Rain is rare.\footnote{So says \citet{a}.} Around 57\% of wells leak.", "result"),
    "a citation behind a footnote": (r"\section{Wells} Around 57\% of wells leak\footnote{In spring.} \citep{a}.", "reference"),
    "an option of a program": (r"\section{Results} Peaks were those of findHills (minHillWidth 70).", "design"),
    "how long a period was made to last": (r"\section{Rounds} The dark periods, which lasted 0.5 h, came often.", "design"),
    "a citation in a paragraph on methods": (r"\section{Methods} Wells were dug as elsewhere \citep{a}. Leaks came to 23.7\% of wells.", "result"),
    "a currency": (r"\section{Results} A well costs EUR 384.", "result"),
    "a lag that was found": (r"\section{Results} The hum peaked at lag 9.", "result"),
}


@pytest.mark.parametrize(("source", "wanted"), TOLD.values(), ids=TOLD)
def test_context_tells_choices(source: str, wanted: str) -> None:
    """The one number of each source has the class that its context gives it."""
    assert [number.cls for number in scan_text(source, preamble=False).numbers] == [wanted]
