"""`audit compare`: identical, within tolerance, beyond, flipped, another scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paper_project import Paper, main_record, quantity, verdict_record

from audit.cli import main
from audit.compare import compare_records
from audit.finding import Refusal

PATH = "results/analyse/main.json"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    made = Paper(tmp_path)
    made.commit()
    monkeypatch.chdir(tmp_path)
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_nothing_changed(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The committed records agree with themselves."""
    assert run(capsys) == (0, "10 quantities: 10 identical, 0 within tolerance, 0 beyond\n")


def test_records_directly_in_results(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is a record here is one in a commit: named in audit.toml, judged, or with a run log beside it; timings are not."""
    paper.replace("audit.toml", "[records]", '[records]\ntop = "results/top.json"')
    paper.replace("prereg/pilot.yaml", PATH, "results/judged.json")
    for name in ("top", "judged", "logged", "timings"):
        paper.record(f"results/{name}.json", {"a": quantity(1.0, 2)})
    paper.record("results/logged.run.json", {})
    paper.commit()
    assert run(capsys) == (0, "13 quantities: 13 identical, 0 within tolerance, 0 beyond\n")
    paper.replace("results/judged.json", "1.0", "2.0")
    assert "beyond      results/judged.json:a  1.0 -> 2.0" in run(capsys)[1]


def test_a_difference_beyond_tolerance(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Named with both values, exit 1."""
    paper.replace(PATH, "0.0887", "0.0881")
    code, shown = run(capsys)
    assert code == 1
    assert f"beyond      {PATH}:untreated.gap  0.0887 -> 0.0881  (tolerance 0.0)" in shown
    assert "10 quantities: 9 identical, 0 within tolerance, 1 beyond" in shown


def test_flipped_counts_and_verdicts(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts and verdicts that changed are listed by themselves."""
    paper.replace(PATH, '"value": 8', '"value": 7')
    paper.replace("results/evaluate/pilot.json", "missed", "met")
    assert "flipped counts and verdicts: results/analyse/main.json:untreated.recovered, results/evaluate/pilot.json:P2" in run(capsys)[1]


def test_another_scale_is_not_compared(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """Smoke against laptop says so and exits 0."""
    paper.write("params.yaml", "scale: smoke\n")
    paper.replace(PATH, "0.0887", "0.9")
    assert run(capsys) == (0, "another scale (smoke, committed laptop), nothing compared\n")


def test_json(paper: Paper, capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts as an object."""
    paper.replace(PATH, "0.0887", "0.0881")
    code, shown = run(capsys, "--format", "json")
    value = json.loads(shown)
    assert (code, value["agrees"], value["quantities"], value["identical"]) == (1, False, 10, 9)
    assert value["differences"][0]["place"] == f"{PATH}:untreated.gap"


def test_another_checkout(paper: Paper, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> None:
    """`--with` reads the records of another folder."""
    other = Paper(tmp_path_factory.mktemp("other"))
    other.replace(PATH, "0.0887", "0.0882")
    assert "0.0887 -> 0.0882" in run(capsys, "--with", str(other.root))[1]


@pytest.mark.parametrize(("arguments", "words"), [(("nowhere",), "no such commit"), (("--with", "gone"), "no folder results there")])
def test_bad_input_is_one_line(paper: Paper, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    """An unknown revision or folder is refused, exit 2."""
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "within": ({"a": quantity(1.0, 2, tolerance=0.1)}, {"a": quantity(1.1, 2, tolerance=0.1)}, "within"),
    "beyond by a hair": ({"a": quantity(1.0, 2, tolerance=0.1)}, {"a": quantity(1.1000001, 2, tolerance=0.1)}, "beyond"),
    "the committed tolerance counts": ({"a": quantity(1.0, 2, tolerance=0.0)}, {"a": quantity(1.5, 2, tolerance=1e9)}, "beyond"),
    "only here": ({}, {"a": quantity(1.0, 2)}, "only here"),
    "only there": ({"a": quantity(1.0, 2)}, {}, "only there"),
    "fewer units": ({"a": quantity(1.0, 2, values=[1, 1])}, {"a": quantity(1.0, 2, values=[1])}, "beyond"),
    "a unit moved": ({"a": quantity(1.0, 2, values=[1, 1])}, {"a": quantity(1.0, 2, values=[1, 2])}, "within"),
    "the same": ({"a": quantity(1.0, 2)}, {"a": quantity(1.0, 2)}, None),
}


@pytest.mark.parametrize(("there", "here", "state"), CASES.values(), ids=CASES)
def test_states(there: dict[str, Any], here: dict[str, Any], state: str | None) -> None:
    """Each kind of difference has its state."""
    assert [found.state for found in compare_records({"r": there}, {"r": here}).differences] == ([state] if state else [])


def test_records_of_the_fixture_agree() -> None:
    """The negative control on whole records."""
    records = {PATH: main_record(), "v": verdict_record()}
    assert compare_records(records, records).agrees


def test_refusal_is_an_expected_failure() -> None:
    """A refusal carries its exit code."""
    assert Refusal("x", "y").code == 2
