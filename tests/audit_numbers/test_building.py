"""`audit render` and `audit pdf`: refusals, whole folders, one-line LaTeX errors, equal bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paper_project import MINE, REGISTRATION, Paper

from audit.building import build, first_error, main
from audit.checks import TABLE
from audit.finding import Refusal
from audit.pdf import extract_text
from audit.printed import compare_pdf
from audit.records import RunLog, write_record
from audit.render import generate, read_header, write_generated
from audit.rendering import main as render_main
from audit.rendering import refuse_findings
from audit.seal import main as seal_main


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    return made


def test_pdf_is_built_and_compared_twice_with_equal_bytes(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A real LaTeX run: nothing found, bound values counted, and a second run gives the same bytes."""
    paper.render()
    assert main() == 0
    first = Path("manuscript/paper.pdf").read_bytes()
    assert "1 page, 12 bound values typeset, 2 rows of generated tables, 0 findings" in capsys.readouterr().out
    assert main() == 0
    assert Path("manuscript/paper.pdf").read_bytes() == first
    assert sorted(path.name for path in Path("manuscript").iterdir()) == ["generated", "paper.pdf", "paper.tex", "tables"]


def test_latex_error_is_one_line_and_keeps_the_old_pdf(paper: Paper) -> None:
    """File, line and message; the PDF that was there is untouched."""
    paper.render()
    paper.write("manuscript/paper.pdf", "old")
    paper.replace("manuscript/paper.tex", "P1 was", "\\undefinedcommand P1 was")
    with pytest.raises(Refusal, match=r"^manuscript/paper\.tex:10: LaTeX: Undefined control sequence") as refused:
        main()
    assert refused.value.code == 2
    assert Path("manuscript/paper.pdf").read_text() == "old"


def test_unknown_key_stops_latex(paper: Paper, tmp_path: Path) -> None:
    """A key that was not rendered is an error of LaTeX too, not an empty place."""
    paper.render()
    paper.replace("manuscript/paper.tex", "P1 was", "\\val{main.untreated.close} P1 was")
    (tmp_path / "out").mkdir()
    with pytest.raises(Refusal, match=r"paper\.tex:10: LaTeX: Package audit Error: No value for `main\.untreated\.close'"):
        build(paper.context, tmp_path / "out")


def test_nothing_rendered_is_said(paper: Paper) -> None:
    """Without generated files the cure is named."""
    with pytest.raises(Refusal, match="nothing is rendered; cure: audit render"):
        main()


def test_missing_latex_is_one_line(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Debian packages are named."""
    paper.render()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Refusal, match="latexmk, pdflatex, pdftotext not installed; cure: apt-get install .*lmodern latexmk poppler-utils") as refused:
        main()
    assert refused.value.code == 2


def test_error_without_a_line_is_still_one_line() -> None:
    """A fatal error that names no file is passed on."""
    assert str(first_error("! Emergency stop.\n<*> x", ".", "manuscript/paper.tex")).startswith("manuscript/paper.tex: LaTeX: Emergency stop.")


def test_generated_files_name_their_records(paper: Paper) -> None:
    """Each starts with the digests of the records it came from."""
    files = generate(paper.context).files
    assert set(read_header(files["macros.tex"])) == {"results/analyse/main.json", "results/evaluate/pilot.json"}
    assert set(read_header(files["arms.tex"])) == {"results/analyse/main.json"}


def test_rendering_replaces_the_whole_folder(paper: Paper) -> None:
    """No file of an earlier rendering is left, and no staging folder either."""
    paper.write("manuscript/generated/old.tex", "x")
    write_generated(paper.context, generate(paper.context))
    assert sorted(path.name for path in Path("manuscript/generated").iterdir()) == ["arms.tex", "macros.tex"]
    assert sorted(path.name for path in Path("manuscript").iterdir()) == ["generated", "paper.tex", "tables"]


def test_a_refused_rendering_changes_nothing(paper: Paper) -> None:
    """Rendering is done in memory before anything is written."""
    paper.render()
    before = Path("manuscript/generated/macros.tex").read_bytes()
    paper.replace("manuscript/paper.tex", "P1 was", "\\val{main.nothing} P1 was")
    with pytest.raises(Refusal, match="nearest keys"):
        write_generated(paper.context, generate(paper.context))
    assert Path("manuscript/generated/macros.tex").read_bytes() == before


FINDING = {"kind": "finding", "code": "A401", "severity": "finding", "place": "p", "what": "w", "expected": "", "observed": "", "cure": ""}
REPORTS = {
    "absent": (None, "no report of the audit stage", 2),
    "findings": ({"findings": [FINDING]}, "the audit stage reported 1; found A401 p w", 1),
    "unchecked": ({"findings": [FINDING | {"severity": "unchecked"}]}, "could not check", 2),
    "another file": ({"x": 1}, "not a report of the audit stage", 2),
    "stale green report": ({"findings": []}, "the checks, made again, do not hold", 1),
}


@pytest.mark.parametrize(("report", "words", "code"), REPORTS.values(), ids=REPORTS)
def test_render_refuses(paper: Paper, report: dict[str, object] | None, words: str, code: int) -> None:
    """Findings, unchecked things and a cached green report all stop rendering."""
    if report is not None:
        paper.write("results/audit/findings.json", json.dumps(report))
    with pytest.raises(Refusal, match=words) as refused:
        refuse_findings(paper.context)
    assert refused.value.code == code


def test_render_writes_when_everything_holds(paper: Paper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With an empty report and checks that hold, the folder is written, and a fresh clone without it is a note."""
    monkeypatch.setattr("audit.verify.TABLE", tuple(check for check in TABLE if check.name in MINE))
    paper.write("results/audit/findings.json", '{"findings": []}')
    assert [finding.line() for finding in paper.report().findings] == [
        "A403 manuscript/generated note: not built here; cure: dvc repro render, or audit render",
        "A501 manuscript/paper.pdf note: not built here; cure: dvc repro paper, or audit pdf",
    ]
    render_main()
    assert capsys.readouterr().out == "rendered 2 files into manuscript/generated\n"
    assert sorted(path.name for path in Path("manuscript/generated").iterdir()) == ["arms.tex", "macros.tex"]


def test_own_macros_template_keeps_the_definitions(paper: Paper) -> None:
    """An author's macros.tex.j2 adds to the definitions it prints."""
    paper.write("manuscript/macros.tex.j2", "<< definitions >>\n\\newcommand{\\arm}{<< main.arms[1].name >>}\n")
    macros = generate(paper.context).files["macros.tex"].decode()
    assert "\\DeclareRobustCommand\\val" in macros and "\\newcommand{\\arm}{ramp}" in macros
    assert "results/evaluate/pilot.json" in read_header(generate(paper.context).files["macros.tex"])


def test_latex_runs_without_a_shell(paper: Paper, tmp_path: Path) -> None:
    """Not even the restricted shell is open, and the user's latexmk configuration is not read."""
    paper.render()
    paper.write("manuscript/.latexmkrc", "die 'read';")
    (tmp_path / "out").mkdir()
    build(paper.context, tmp_path / "out")
    log = (tmp_path / "out/paper.log").read_text(errors="replace")
    assert "write18 enabled" not in log


LOG = RunLog(
    stage="analyse", command=("python",), commit="0123456789abcdef", changed=(), record="results/analyse/main.json", record_sha256="ab" * 32, outputs={}, inputs={}, code={},
    seals={}, packages={"numpy": "2.1.0"}, python="3.11.7", machine="box_1, 2 cores", threads=2, started="2026-01-02T03:04:05Z", ended="x", seconds=5400.0,
)  # fmt: skip


def test_provenance_comes_from_run_logs(paper: Paper, tmp_path: Path) -> None:
    """Commit, hours, machine and versions are printed from the log, escaped, and survive LaTeX."""
    write_record(paper.root / "results/analyse/main.run.json", LOG)
    keys = ("main.commit", "main.hours", "main.machine", "main.threads", "main.package.numpy", "all.hours", "all.machines")
    paper.replace("manuscript/paper.tex", "P1 was", " ".join(rf"\prov{{{key}}}." for key in keys) + " P1 was")
    paper.render()
    assert "results/analyse/main.run.json" in read_header(generate(paper.context).files["macros.tex"])
    (tmp_path / "out").mkdir()
    built, typeset = build(paper.context, tmp_path / "out")
    text = " ".join(extract_text(built).split())
    assert "0123456789. 1.50. box 1, 2 cores. 2. 2.1.0. 1.50. 1. P1 was met; it failed." in text
    assert compare_pdf(paper.context, built, typeset).findings == ()


def test_labels_and_reasons_are_typeset(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """`\\confirmatory` prints the computed word and `\\unjudged` the reason, in a heading too; both are counted as typeset."""
    second = REGISTRATION.replace("id: pilot", "id: second").replace("value: 9", "value: 10")
    paper.write("prereg/second.yaml", second)
    paper.commit()
    seal_main("second")
    paper.commit()
    said = "\\section{Gap: \\confirmatory{main.untreated.gap}}\n\\unjudged{second}{its runs are under way}.\n\\end{document}"
    paper.replace("manuscript/paper.tex", "\\end{document}", said)
    paper.render()
    assert main() == 0, capsys.readouterr().out
    text = " ".join(extract_text(Path("manuscript/paper.pdf")).split())
    assert "Gap: exploratory" in text and "second: not judged, its runs are under way." in text
    paper.replace("manuscript/paper.tex", "\\begin{document}", "\\renewcommand{\\unjudged}[2]{}\\begin{document}")
    assert main() == 1 and "uses of \\unjudged{second} print nothing" in capsys.readouterr().out
