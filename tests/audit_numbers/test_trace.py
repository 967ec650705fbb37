"""`audit trace`: from a number, a key, a place or a prediction to the run behind it and to every sentence before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paper_project import Paper

from audit.building import main as build_pdf
from audit.cli import main as cli
from audit.context import Context
from audit.records import RunLog, sha256_file, write_record
from audit.referents import find_matches, plain_number
from audit.trace import trace_quantity

ROOT = Path(__file__).resolve().parents[2]
RECORD = "results/analyse/main.json"
DVC = "stages:\n  analyse:\n    cmd: python -m stages.analyse  main\n    outs: [results/analyse/main.json]\n"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    made.write("dvc.yaml", DVC)
    made.commit()
    log(made)
    monkeypatch.chdir(tmp_path)
    return made


def log(paper: Paper, **more: str) -> None:
    """The run log of the record, from the commit that stands."""
    said = {"stage": "analyse", "commit": "0123456789abcdef", "record_sha256": sha256_file(paper.root / RECORD), **more}
    fields = {"command": ("python", "x"), "changed": (), "record": RECORD, "outputs": {}, "inputs": {}, "code": {}, "seals": {}, "packages": {}}
    rest = {"python": "3.11.7", "machine": "m", "threads": 1, "started": "2026-01-02T03:04:05Z", "ended": "x", "seconds": 1.0}
    write_record(paper.root / "results/analyse/main.run.json", RunLog(**said, **fields, **rest))


def trace(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    with pytest.raises(SystemExit) as stop:
        cli(["trace", *words])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def keys(paper: Paper, what: str) -> list[str]:
    """The keys that something stands for."""
    found = find_matches(paper.context, what)
    return [*found.bound, *found.others]


def test_a_number_is_walked_back_to_its_run(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything between the printed number and the commit, as plain text in a pipe."""
    commit = paper.context.history.head
    code, out, err = trace(capsys, "0.0887")
    assert (code, err) == (0, "") and "\x1b" not in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    digest = sha256_file(paper.root / RECORD)[:10]
    assert lines[:6] == [
        "0.0887 main.untreated.gap",
        "quantity 0.0887 nats, fixed, 4 digits",
        f"record {RECORD}, SHA-256 {digest}",
        "stage analyse: python -m stages.analyse main",
        f"commits run from 0123456789; brought by {commit[:10]}",
        "seeds exploratory",
    ]
    assert "judged by pilot.P1 met: main.untreated.gap < 0.0887001" in lines
    uses = [line for line in lines if line.startswith("used manuscript/paper.tex")]
    assert [use.split()[1] for use in uses] == ["manuscript/paper.tex:4:17:", "manuscript/paper.tex:8:99:", "manuscript/paper.tex:11:31:"]
    assert "In eight of 10 runs the gap fell to 0.0887 nats, by -0.22, or x = 1.2e-5." in lines, lines


def test_json_has_the_same_and_more(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """One object with whole digests, values, targets and sentences."""
    code, out, _ = trace(capsys, "main.untreated.recovered", "--format", "json")
    said = json.loads(out)
    (found,) = said["quantities"]
    assert (code, said["kind"], said["version"], said["what"], said["predictions"]) == (0, "trace", 1, "main.untreated.recovered", [])
    assert found["printed"] == ["eight", "10"] and (found["value"], found["summary"], found["values"]) == (8, "count", 10)
    assert found["sha256"] == sha256_file(paper.root / RECORD) and found["record_commits"] == [paper.context.history.head]
    assert found["judged"] == [{"prediction": "pilot.P2", "claim": "More recover.", "metric": "main.untreated.recovered", "target": ">= 9", "verdict": "missed"}]
    assert found["label"] == "exploratory" and "\\val[n]{main.untreated.recovered}" in [place["command"] for place in found["places"]]


WHATS = {
    "as printed": ("0.0887", ["main.untreated.gap"]),
    "a percentage": ("31.2%", ["main.untreated.share"]),
    "as LaTeX writes it": (r"31.2\%", ["main.untreated.share"]),
    "a negative number": ("-0.22", ["main.untreated.neg"]),
    "a minus sign": ("\u22120.22", ["main.untreated.neg"]),
    "scientific": ("1.2e-5", ["main.untreated.tiny"]),
    "a power": ("1.2 × 10^{-5}", ["main.untreated.tiny"]),
    "in LaTeX's mathematics": (r"$1.2\times10^{-5}$", ["main.untreated.tiny"]),
    "a word": ("Eight", ["main.untreated.recovered"]),
    "only in a table": ("1.01", ["main.arms.1.gap"]),
    "a macro": (r"\val[n]{main.untreated.recovered}", ["main.untreated.recovered"]),
    "a key": ("main.untreated.gap", ["main.untreated.gap"]),
    "a place": ("manuscript/paper.tex:4", ["main.untreated.gap"]),
    "a place with its column": ("manuscript/paper.tex:8:110", ["main.untreated.gap"]),
    "the whole line": ("manuscript/paper.tex:8", ["main.untreated.recovered", "main.untreated.gap"]),
    "nothing": ("0.4711", []),
}


@pytest.mark.parametrize(("what", "wanted"), WHATS.values(), ids=WHATS)
def test_each_way_of_asking(paper: Paper, what: str, wanted: list[str]) -> None:
    """Numbers in every written form, keys, macros and places."""
    assert keys(paper, what) == wanted


def test_a_place_is_found_from_below(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths may be relative to the current folder."""
    monkeypatch.chdir(paper.root / "manuscript")
    assert keys(paper, "paper.tex:4") == ["main.untreated.gap"]


def test_a_typed_number_at_a_place(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A typed number is traced as a number: to the keys that it equals, or to nothing."""
    paper.replace("manuscript/paper.tex", "\\section{Results", "We saw a gap of 0.95 nats and another of 0.4711 nats.\n\\section{Results")
    assert keys(paper, "manuscript/paper.tex:7:18") == ["main.untreated.close"]
    code, _, err = trace(capsys, "manuscript/paper.tex:7:42")
    assert code == 1 and err.startswith("audit: manuscript/paper.tex:7:42: matches nothing; found nearest: main.arms.0.gap = 0.51, ")


def test_what_the_document_uses_comes_first(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A number that equals several keys: those in the document in full, the others one line each."""
    record = json.loads((paper.root / RECORD).read_text())
    record["other"] = {"gap": record["untreated"]["gap"], "close": record["untreated"]["close"]}
    paper.record(RECORD, record)
    assert keys(paper, "0.0887") == ["main.untreated.gap", "main.other.gap"]
    code, out, _ = trace(capsys, "0.0887")
    assert code == 0 and "1 key with an equal value that the document does not use:" in out
    assert out.splitlines()[-1].split() == ["main.other.gap", "=", "0.0887", RECORD]
    assert "2 keys with an equal value that the document does not use:" in trace(capsys, "0.95")[1]


def test_a_prediction_lists_its_sentences(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts, sentences that hang on them, and every use of the quantity that is judged; in JSON too."""
    code, out, _ = trace(capsys, "pilot.P2")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0 and lines[:3] == ["pilot.P2 missed", "claim More recover.", "metric main.untreated.recovered >= 9; not sealed"]
    assert [line.partition(": ")[2] for line in lines if line.startswith("used")] == [
        r"\val[word]{main.untreated.recovered} prints eight", r"\val[n]{main.untreated.recovered} prints 10", r"\ifverdict{pilot.P2} chooses missed",
    ]  # fmt: skip
    assert "P1 was met; it failed." in lines
    said = json.loads(trace(capsys, "pilot.P1", "--format", "json")[1])
    assert said["predictions"][0]["judgement"]["verdict"] == "met" and len(said["predictions"][0]["places"]) == 4


def test_tables_are_places_too(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A quantity that only a generated table prints is traced to that file."""
    code, out, _ = trace(capsys, "main.arms.0.gap")
    assert code == 0 and "manuscript/generated/arms.tex: prints it" in out


def test_provenance_is_traced_to_its_files(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A commit, or hours, as the document prints them, by their key and by their place."""
    paper.replace("manuscript/paper.tex", "Of \\val{pilot.of}", "\nFrom \\prov{main.commit} in \\prov{main.seconds} second. Of \\val{pilot.of}")
    for what in ("0123456789", "main.commit", "\\prov{main.commit}", "manuscript/paper.tex:11:10"):
        code, out, _ = trace(capsys, what)
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert code == 0 and lines == [
            "0123456789 main.commit", "read from results/analyse/main.run.json", "used manuscript/paper.tex:11:6: \\prov{main.commit} prints 0123456789",
            "From 0123456789 in 1 second.",
        ]  # fmt: skip
    assert json.loads(trace(capsys, "1", "--format", "json")[1])["provenance"][0]["key"] == "main.seconds"


def test_pages_of_a_build(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a PDF was built, the pages that show the value are named, each once."""
    paper.replace("manuscript/paper.tex", "Of \\val{pilot.of}", "\\newpage Still \\val{main.untreated.gap}. Of \\val{pilot.of}")
    paper.render()
    assert build_pdf() == 0
    capsys.readouterr()
    assert "manuscript/paper.tex:4:17, page 1 or 2: \\val{main.untreated.gap}" in trace(capsys, "0.0887")[1]
    assert "page 2: \\verdict{pilot.P1} prints met" in trace(capsys, "pilot.P1")[1]


def test_claims_are_places_too(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence that is bound to a quantity or a verdict belongs to what hangs on it."""
    paper.replace("manuscript/paper.tex", "Of \\val{pilot.of}", "\\claim{main.untreated.gap < 1 and pilot.P1 is met}{The gap is small.} Of \\val{pilot.of}")
    for what in ("main.untreated.gap", "pilot.P1"):
        lines = [" ".join(line.split()) for line in trace(capsys, what)[1].splitlines()]
        assert any(line.endswith("\\claim{main.untreated.gap < 1 and pilot.P1 is met} which holds") for line in lines) and "The gap is small." in " ".join(lines)


def test_what_is_not_known_is_said(paper: Paper) -> None:
    """A log of other bytes names no commit; bytes that are in no commit were brought by none."""
    log(paper, record_sha256="ab" * 32)
    assert trace_quantity(paper.context, "main.untreated.gap").run_commit == ""
    record = json.loads((paper.root / RECORD).read_text())
    paper.record(RECORD, record | {"note": "changed"})
    found = trace_quantity(paper.context, "main.untreated.gap")
    assert found.record_commits == () and found.command == "" and found.stage == ""


def test_without_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder outside of git is traced as far as its files go, one without a manuscript too."""
    made = Paper(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "the record is in no commit yet" in trace(capsys, "0.0887")[1]
    (made.root / "manuscript/paper.tex").unlink()
    code, out, _ = trace(capsys, "main.untreated.gap")
    assert code == 0 and "not in the document" in out


BAD = {
    "an invented number": (("0.4711",), 1, "audit: 0.4711: matches nothing; found nearest: main.arms.0.gap = 0.51, "),
    "a misspelt key": (("main.untreated.gab",), 1, "audit: main.untreated.gab: matches nothing; found nearest: main.untreated.gap"),
    "a misspelt prediction": (("pilot.P3",), 1, "audit: pilot.P3: matches nothing; found nearest: pilot.P"),
    "an empty line": (("manuscript/paper.tex:1",), 1, "audit: manuscript/paper.tex:1: matches nothing; found nearest: none; cure: name a number, a key, "),
    "a line too far": (("manuscript/paper.tex:999",), 2, "audit: manuscript/paper.tex:999: the file has no such line; found 12 lines"),
    "no source": (("other.tex:3",), 2, "audit: other.tex: is no source of the manuscript; found sources: manuscript/paper.tex"),
    "nothing at all": (("",), 1, "audit: an empty text: matches nothing"),
    "thousands of digits": (("9" * 5000,), 1, "audit: 999"),
    "an exponent without end": (("1e-99999",), 1, "audit: 1e-99999: matches nothing"),
    "two lines": (("0.1\n0.2",), 1, "audit: 0.1\\n0.2: matches nothing"),
}


@pytest.mark.parametrize(("words", "code", "line"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(paper: Paper, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, line: str) -> None:
    """1 where nothing stands behind it, 2 where it could not be looked at; nothing on stdout."""
    ended, out, err = trace(capsys, *words)
    assert (ended, out) == (code, "") and err.startswith(line) and err.count("\n") == 1


def test_nothing_matched_in_json(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The object is empty but for what comes nearest, and the exit code is that of a finding."""
    code, out, err = trace(capsys, "0.4711", "--format", "json")
    said = json.loads(out)
    assert code == 1 and err == "" and said["quantities"] == said["predictions"] == [] and said["nearest"][0] == "main.arms.0.gap = 0.51"


@pytest.mark.parametrize("words", [(), ("a", "b"), ("0.1", "--format", "xml")])
def test_bad_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and the usage."""
    code, _, err = trace(capsys, *words)
    assert code == 2 and "Usage: audit trace" in err


def test_three_numbers_of_our_paper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A confirmatory one with its missed verdict, an exploratory one, and one of the data."""
    monkeypatch.chdir(ROOT)
    _, missed, _ = trace(capsys, "main.both.path.collapsed.qk_over_healthy_max")
    assert "seeds      confirmatory, seed set design.main" in missed and "judged by  design.M6 missed: " in missed
    _, ratio, _ = trace(capsys, "main.both.force.hinge_1x.rho")
    assert "exploratory on confirmatory seeds" in ratio and "stage      summary@main: python -m stages.summary main" in ratio
    found = trace_quantity(Context.open(ROOT), "data.tokens")
    assert found.record == "results/data/data.json" and len(found.run_commit) == 40 and found.record_commits and found.places[0].text == "2,383,555"


@pytest.mark.parametrize(
    ("text", "plain"),
    [("1\\,024", "1,024"), ("1{,}024", "1,024"), ("+3", "3"), (".5", ".5"), ("12 %", "12%"), ("x", None), ("", None), ("1.2.3", None), ("%", None), ("main.a", None)],
)
def test_numbers_as_they_are_written(text: str, plain: str | None) -> None:
    """One plain form for every way of writing; what is no number is none."""
    assert plain_number(text) == plain


def test_a_record_that_is_not_here_is_said(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """A right key of an absent record is not called misspelt and no more."""
    (paper.root / "results/analyse/main.json").unlink()
    assert "absent or unreadable: results/analyse/main.json; cure" in " ".join(map(str, trace(capsys, "main.untreated.gap")))
