"""`audit verify --pdf FILE`: a PDF from elsewhere against the records here, with and without what LaTeX wrote down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from forged_pdf import MACROS, PDF, TEX, copy, forge, rebuild
from paper_project import Paper

from audit import cli, elsewhere, printed
from audit.layer import Page, extract_pages
from audit.marks import Mark, read_attached

END = "\\end{document}"
VALUE = "{audit@val@@main.untreated.gap}{0.0887}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """A project with its PDF, built once."""
    made = Paper(tmp_path_factory.mktemp("elsewhere"))
    rebuild(made)
    return made


@pytest.fixture
def paper(built: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = copy(built, tmp_path)
    monkeypatch.chdir(made.root)
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", *arguments])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def saved_by_another_program(paper: Paper) -> str:
    """The PDF without what is written behind its end, and no PDF of the project's own."""
    data = (paper.root / PDF).read_bytes()
    (paper.root / PDF).unlink()
    (paper.root.parent / "journal.pdf").write_bytes(data[: data.index(b"%audit-typeset")])
    return str(paper.root.parent / "journal.pdf")


def test_an_honest_pdf_holds(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Aligned by place, exit 0, and what is not checked is said."""
    code, shown = run(capsys, "--pdf", str(paper.root / PDF))
    assert code == 0 and "compared each bound value at the place where LaTeX put it; not checked: numbers in pictures" in shown
    assert shown.splitlines()[-1] == "paper.pdf: 1 page, 12 bound values typeset, 2 rows of generated tables, 0 findings"


def test_an_honest_pdf_that_another_program_saved_holds(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """By text alone: said so, exit 0."""
    code, shown = run(capsys, "--pdf", saved_by_another_program(paper))
    assert code == 0 and "compared by text alone" in shown and "0 findings" in shown


ACTS: dict[str, tuple[Callable[[Paper], None], str]] = {
    "one digit": (lambda paper: paper.replace(MACROS, VALUE, VALUE.replace("0.0887", "0.0877")), "expected 0.0887"),
    "a small integer": (lambda paper: paper.replace(MACROS, "{audit@val@@pilot.met}{1}", "{audit@val@@pilot.met}{2}"), "expected 1"),
    "a verdict": (lambda paper: paper.replace(MACROS, "{audit@verdict@pilot.P1}{met}", "{audit@verdict@pilot.P1}{missed}"), "expected met"),
    "a row of a table": (lambda paper: paper.replace("manuscript/generated/arms.tex", "0.51", "0.61"), "a row of this file does not stand in the PDF"),
    "a typed number": (lambda paper: paper.replace(TEX, END, "It was 0.0777 at most.\n" + END), "number 0.0777 in the PDF has no source"),
}  # fmt: skip


@pytest.mark.parametrize("bare", [False, True], ids=["with places", "by text"])
@pytest.mark.parametrize(("act", "words"), ACTS.values(), ids=ACTS)
def test_a_forged_pdf_is_found(
    paper: Paper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], act: Callable[[Paper], None], words: str, bare: bool
) -> None:
    """One digit, a verdict, a row, a number too many: exit 1 and the place."""
    forge(paper, monkeypatch, act)
    code, shown = run(capsys, "--pdf", saved_by_another_program(paper) if bare else str(paper.root / PDF))
    assert code == 1 and words in shown, shown


def changed(pages: list[Page], number: int, at: int, word: str) -> list[Page]:
    """The pages with another text for one word."""
    page = pages[number - 1]
    words = [type(old)(old.left, old.top, old.right, old.bottom, word if index == at else old.text) for index, old in enumerate(page.words)]
    return [Page(page.number, page.width, page.height, words) if one is page else one for one in pages]


def words_of(page: Page, mark: Mark) -> list[int]:
    """The words that hold the digits of a mark's text."""
    line = page.height - mark.y
    near = [index for index, word in enumerate(page.words) if abs(word.left - mark.x) < 25 and word.top < line < word.bottom + 1]
    return [index for index in near if re.search(r"\d", mark.text) and mark.text.strip("%\\-") in page.words[index].text]


def test_each_digit_of_each_value_counts(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever digit of a bound value is another one in the PDF, by place and by text alone it is found."""
    pages, typeset, missed, tried = extract_pages(paper.root / PDF), read_attached(paper.root / PDF), [], 0
    assert typeset is not None
    for mark in typeset.marks:
        for index in words_of(pages[mark.page - 1], mark):
            word = pages[mark.page - 1].words[index].text
            for digit in re.finditer(r"\d", word):
                other = word[: digit.start()] + str((int(digit[0]) + 3) % 10) + word[digit.end() :]
                forged = changed(pages, mark.page, index, other)
                for module in (printed, elsewhere):
                    monkeypatch.setattr(module, "extract_pages", lambda _, forged=forged: forged)
                tried += 1
                missed += [f"{mark.command} {other} by place"] if not printed.compare_pdf(paper.context, paper.root / PDF, typeset).findings else []
                missed += [f"{mark.command} {other} by text"] if not elsewhere.compare_text(paper.context, paper.root / PDF).findings else []
    assert tried >= 25 and missed == []


def test_sources_that_moved_on_are_said(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The PDF of an older text against the same records: a note, and its numbers are compared all the same."""
    paper.replace(TEX, END, "One more sentence.\n" + END)
    paper.render()
    code, shown = run(capsys, "--pdf", PDF)
    assert code == 0 and "A504 paper.pdf note: built from other sources than those here" in shown


def test_records_that_moved_on_are_found(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The PDF shows what the records gave once."""
    paper.replace("results/analyse/main.json", "0.0887", "0.0881")
    paper.render()
    code, shown = run(capsys, "--pdf", PDF)
    assert code == 1 and "A502 paper.pdf:1 \\val{main.untreated.gap} is typeset on page 1 and its text does not stand there; expected 0.0881; found 0.0887" in shown


def test_text_that_stands_for_other_glyphs_is_named(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A text layer that is told what to say cannot be believed: a note says in how many places."""
    paper.replace(TEX, END, "\\pdfliteral{/Span<</ActualText(0.0887)>>BDC}x\\pdfliteral{EMC}\n" + END)
    rebuild(paper)
    assert "says something else than its glyphs in 1 place (ActualText)" in run(capsys, "--pdf", PDF)[1]


BAD = {"a text": ("text", "not readable as a PDF"), "nothing": ("", "not readable as a PDF")}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(paper: Paper, capsys: pytest.CaptureFixture[str], content: str, words: str) -> None:
    """No PDF at all: exit 2, one line."""
    paper.write("other.pdf", content)
    code, shown = run(capsys, "--pdf", "other.pdf")
    assert code == 2 and words in shown and len(shown.splitlines()) == 1


def test_a_pdf_without_text_could_not_be_checked(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Scanned pages hold no text: exit 2."""
    page = "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj"
    paper.write("scan.pdf", f"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n{page}\ntrailer<</Root 1 0 R>>\n")
    code, shown = run(capsys, "--pdf", "scan.pdf")
    assert code == 2 and "has no text to compare" in shown


def test_json(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The same findings as an object."""
    code, shown = run(capsys, "--pdf", PDF, "--format", "json")
    value = json.loads(shown)
    assert (code, value["exit"], [finding["code"] for finding in value["findings"]]) == (0, 0, ["A509"])
