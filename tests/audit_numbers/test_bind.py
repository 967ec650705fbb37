"""`audit bind`: shows keys and the change, asks, never chooses among equals, and writes files whole, as they were but for the numbers."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from paper_project import Paper, main_record, quantity

from audit.bind import main
from audit.finding import Refusal

TEX = "manuscript/paper.tex"
GAP, NEG, SHARE, TINY, COUNT, ARM = (
    f"main.{key}" for key in ("untreated.gap", "untreated.neg", "untreated.share", "untreated.tiny", "untreated.recovered", "arms.0.gap")
)


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    return made


def say(paper: Paper, text: str) -> None:
    paper.replace(TEX, "\\end{document}", text + "\n\\end{document}")


def said(paper: Paper) -> str:
    """The last line before the end of the document."""
    return (paper.root / TEX).read_text().split("\n")[-3]


BOUND = {
    "printed form": ("The gap was 0.0887 nats.", rf"The gap was \val{{{GAP}}} nats."),
    "in a formula": ("The gain was $-0.22$.", rf"The gain was $\val{{{NEG}}}$."),
    "a plus sign stays": ("It rose by +0.51.", rf"It rose by +\val{{{ARM}}}."),
    "percentage": (r"It won 31.2\% of all.", rf"It won \val{{{SHARE}}} of all."),
    "power of ten": (r"It fell to $1.2\times 10^{-5}$.", rf"It fell to $\val{{{TINY}}}$."),
    "siunitx": (r"It fell to \qty{0.0887}{\nat}.", rf"It fell to \qty{{\val{{{GAP}}}}}{{\nat}}."),
    "count of units": ("In total 8 of 10 recovered.", rf"In total \val{{{COUNT}}} of \val[n]{{{COUNT}}} recovered."),
    "words": ("In total eight runs recovered.", rf"In total \val[word]{{{COUNT}}} runs recovered."),
    "footnote": (r"A gap\footnote{It fell to 0.0887.}.", rf"A gap\footnote{{It fell to \val{{{GAP}}}.}}."),
    "two in a line": ("It fell from 0.51 to 0.0887.", rf"It fell from \val{{{ARM}}} to \val{{{GAP}}}."),
}
LEFT = {
    "rounding": ("The gap was 0.09 nats.", r"\val[fixed.2]{main.untreated.gap} = 0.09, a rounding of 0.0887"),
    "percentage of a share": (r"It won 8.9\% of all.", r"\val[percent.1]{main.untreated.gap} = 8.9%, the percentage of 0.0887"),
    "decimal comma": ("It fell to 0,0887.", "it would be printed otherwise"),
    "percent in words": ("It won 31.2 percent of all.", "it would be printed otherwise"),
    "whole in words": ("Eight of ten runs recovered.", "Eight of 10, its whole in digits"),
    "uncertainty": ("It fell to 0.0887(2).", "nearest: \\val{main.untreated.gap}"),
    "percentage in siunitx": (r"It won \SI{31.2}{\percent}.", "nearest: \\val[percent.1]{main.untreated.share}"),
    "invented": ("The gap was 0.7777 nats.", "matches nothing: no record's quantity prints it"),
    "comment": ("It fell. % to 0.0887", "0 numbers bound; 0 typed results left"),
    "verbatim": (r"It fell: \verb|gap 0.0887|.", "0 numbers bound; 0 typed results left"),
    "design": ("We used seed 8 and 12 layers.", "0 numbers bound; 0 typed results left"),
    "bound already": (r"It fell to \val{main.untreated.gap}.", "0 numbers bound; 0 typed results left"),
}


@pytest.mark.parametrize(("text", "wanted"), BOUND.values(), ids=BOUND)
def test_a_printed_form_is_bound(paper: Paper, text: str, wanted: str) -> None:
    """`--yes` writes the macro in its place and nothing else; the number is no finding any more, and a second time changes nothing."""
    say(paper, text)
    assert any(finding.code == "A401" for finding in paper.report().findings)
    assert main([], yes=True) == 0
    assert said(paper) == wanted
    assert not [finding for finding in paper.report().findings if finding.code in ("A401", "A402")]
    before = (paper.root / TEX).read_bytes()
    assert main([], yes=True) == 0 and (paper.root / TEX).read_bytes() == before


@pytest.mark.parametrize(("text", "words"), LEFT.values(), ids=LEFT)
def test_what_would_be_printed_otherwise_is_left(paper: Paper, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    """Roundings, percentages and inventions are named and left to the author; what is no result is not touched."""
    say(paper, text)
    left = main([], yes=True)
    shown = capsys.readouterr().out
    assert words in shown and said(paper) == text and left == (" 0 typed" not in shown)


def test_without_a_terminal_nothing_is_changed(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe the difference is shown, and the file keeps its bytes."""
    say(paper, "The gap was 0.0887 nats.")
    before = (paper.root / TEX).read_bytes()
    assert main([], yes=False) == 1
    shown = capsys.readouterr().out
    assert "-The gap was 0.0887 nats." in shown and rf"+The gap was \val{{{GAP}}} nats." in shown and "nothing is changed" in shown
    assert (paper.root / TEX).read_bytes() == before


def test_equal_keys_are_never_chosen_among(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong key that prints the same would be wrong for ever: all are shown, and `--yes` leaves the number."""
    paper.record("results/analyse/main.json", main_record() | {"treated": {"gap": quantity(0.08871, 4)}})
    say(paper, "The gap was 0.0887 nats.")
    assert main([], yes=True) == 1
    shown = capsys.readouterr().out
    assert r"1  \val{main.untreated.gap} = 0.0887" in shown and r"2  \val{main.treated.gap} = 0.0887" in shown and "several keys print it" in shown
    answers = iter(["y", "9", "2"])
    assert main([], yes=False, ask=lambda _: next(answers)) == 0
    assert said(paper) == r"The gap was \val{main.treated.gap} nats."


@pytest.mark.parametrize(("answers", "wanted"), {"yes": ("yy", 0), "no": ("ny", 1), "quit": ("q", 2), "end of input": ("", 2), "only the first": ("yq", 1)}.values())
def test_each_change_is_asked_for(paper: Paper, answers: str, wanted: int) -> None:
    """One answer a number; what was chosen before `q` is written."""
    say(paper, "The gap was 0.0887 nats, then 0.09 nats.")
    given = iter(answers)

    def ask(prompt: str) -> str:
        assert prompt == "bind? [y/n/q] "
        answer = next(given, None)
        if answer is None:
            raise EOFError
        return answer

    assert main([], yes=False, ask=ask) == (1 if wanted else 0)
    assert said(paper).count(r"\val") == 2 - wanted


KEPT = {
    "line ends of Windows": "x \u00e4\r\nThe gap was 0.0887 nats.\r\nIt fell from 0.51 to 0.0887.\r\n".encode(),
    "Latin-1": "x \u00e4\nThe gap was 0.0887 nats.\n".encode("latin-1"),
    "byte-order mark": b"\xef\xbb\xbf" + "x \u00e4 The gap was 0.0887 nats.".encode(),
    "old line ends, no last one": b"x\rThe gap was 0.0887 nats.\ry",
}


@pytest.mark.parametrize("data", KEPT.values(), ids=KEPT)
def test_encoding_and_line_ends_are_kept(paper: Paper, data: bytes) -> None:
    """All other bytes and the mode of the file stay; it is written whole, so no staging file is left."""
    say(paper, "\\input{more}")
    file = paper.root / "manuscript/more.tex"
    file.write_bytes(data)
    file.chmod(0o664)
    assert main([file], yes=True) == 0
    assert file.read_bytes() == data.replace(b"0.0887", f"\\val{{{GAP}}}".encode()).replace(b"0.51", f"\\val{{{ARM}}}".encode())
    assert stat.S_IMODE(file.stat().st_mode) == 0o664 and sorted(path.name for path in file.parent.iterdir()) == ["more.tex", "paper.tex", "tables"]


def test_files_can_be_named(paper: Paper) -> None:
    """Only those are changed, templates among them; a file that is none of the manuscript is refused."""
    say(paper, "The gap was 0.0887 nats.")
    template = Path("manuscript/tables/arms.tex.j2")
    paper.replace(str(template), "\\bottomrule", "untreated & 0.0887 \\\\ \\bottomrule")
    assert main([template], yes=True) == 0
    assert rf"untreated & \val{{{GAP}}} \\" in template.read_text() and said(paper) == "The gap was 0.0887 nats."
    with pytest.raises(Refusal, match=r"results/analyse/main\.json: is no file of the manuscript"):
        main([Path("results/analyse/main.json")], yes=True)


def test_exempted_numbers_are_left_alone(paper: Paper) -> None:
    """What is exempted is no finding, and is not bound."""
    say(paper, "The gap was 0.0887 nats.")
    paper.write("manuscript/exemptions.yaml", f"version: 1\nexemptions:\n  - {{place: {TEX}, pattern: '0.0887', reason: quoted from the archive}}\n")
    assert main([], yes=True) == 0 and said(paper) == "The gap was 0.0887 nats."


def test_a_file_that_changes_meanwhile_is_not_written(paper: Paper) -> None:
    """While the question stands the author may edit: the edit is kept."""
    say(paper, "The gap was 0.0887 nats.")

    def ask(_: str) -> str:
        paper.replace(TEX, "The gap", "So the gap")
        return "y"

    with pytest.raises(Refusal, match="has changed since it was read"):
        main([], yes=False, ask=ask)
    assert said(paper) == "So the gap was 0.0887 nats."


def test_in_a_terminal_it_asks(paper: Paper) -> None:
    """The command itself, with a terminal at both ends."""
    say(paper, "The gap was 0.0887 nats.")
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "audit", "bind"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=paper.root, env=os.environ) as process:
        os.write(ours, b"y\n")
        assert process.wait(timeout=60) == 0
    os.close(theirs)
    os.close(ours)
    assert said(paper) == rf"The gap was \val{{{GAP}}} nats."


def test_a_comma_that_would_go_is_asked_about(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """1,404 is printed 1404: `--yes` changes no digit group; 12,345 is printed as it is typed, and bound."""
    paper.record("results/analyse/main.json", main_record() | {"small": quantity(1404, 0, style="integer"), "large": quantity(12345, 0, style="integer")})
    say(paper, "We saw 1,404 cases, then 12,345 cases.")
    main([], yes=True)
    assert said(paper) == r"We saw 1,404 cases, then \val{main.large} cases."
    assert "it would be printed otherwise" in capsys.readouterr().out
