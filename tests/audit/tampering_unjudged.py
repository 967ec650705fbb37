"""Ways in which a registration is never heard of again, and the honest forms of the same acts."""

from __future__ import annotations

from project import Project
from tampering import ELSEWHERE, SECOND

PAPER = r"""\documentclass{article}
\input{generated/macros}
\begin{document}
Of \val{pilot.of} predictions \val{pilot.met} were met: \verdict{pilot.P1}, \verdict{pilot.P2}.
\end{document}
"""
SAID = "\\unjudged{second}{the scale it was meant for costs too much}"


def write_paper(p: Project, sentence: str = "") -> None:
    """A manuscript that shows the verdicts of the pilot, and a sentence."""
    p.edit("audit.toml", "[records]\n", '[records]\npilot = "results/evaluate/pilot.json"\n')
    p.write("manuscript/paper.tex", PAPER.replace("\\end{document}", f"{sentence}\n\\end{{document}}"))
    p.commit("Write")


def seal_second(p: Project) -> None:
    """Seal a second registration, for another scale, at which nothing is ever run."""
    p.write("prereg/second.yaml", SECOND.replace("holds_for: {scale: laptop, seed_sets.main: pilot}", ELSEWHERE))
    p.edit("params.yaml", "scale: laptop", "scale: paper")
    p.commit("Register a second")
    p.seal("second")
    p.commit("Seal the second")
    p.edit("params.yaml", "scale: paper", "scale: laptop")
    p.commit("Back to the laptop")


def run_in_part(p: Project) -> None:
    """The metric is there, and nobody judged it."""
    p.train()
    p.analyse()
    p.lock()
    p.commit("Results, not judged")


def trained_only(p: Project) -> None:
    """A run under the seal whose analysis never came, and whose record is gone again."""
    p.train()
    p.commit("Trained")
    p.git("rm", "-q", "results/train/shallow.json", "results/train/shallow.run.json")
    p.lock()
    p.commit("Forget it")


def passed_over(p: Project) -> None:
    """Sealed first, never run, while a later one was run, judged and written up."""
    seal_second(p)
    write_paper(p)
    p.sealed()
    p.ran()


def passed_over_and_said(p: Project) -> None:
    """The honest form: the manuscript says so, with a reason."""
    seal_second(p)
    write_paper(p, SAID)
    p.sealed()
    p.ran()


def dropped(p: Project) -> None:
    """Registration and seal leave the tree; history keeps them."""
    p.git("rm", "-q", "-r", "prereg")
    p.lock()
    p.commit("Tidy up")


def looked_away(p: Project) -> None:
    """The tool is told to look for registrations where there are none."""
    p.write("audit.toml", p.read("audit.toml") + '[paths]\nprereg = "registered"\n')
    p.lock()
    p.commit("Another folder")


def run_in_part_and_said(p: Project) -> None:
    """The honest form of half a run."""
    run_in_part(p)
    p.write("manuscript/paper.tex", "\\begin{document}\n\\unjudged{pilot}{its evaluation was stopped by a fault of the disk}\n\\end{document}\n")
    p.commit("Say so")
