"""`audit export`: a registration as PRML manifests, and as the page that OSF or AsPredicted asks for."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from project import Project

from audit.cli import main
from audit.digest import sha256_bytes
from audit.load import parse_yaml
from audit.prml import emit_manifest
from audit.registration import derive_seeds

FORMS = ("prml", "osf", "aspredicted")
EXAMPLE = {
    "version": "prml/0.1", "claim_id": "01900000-0000-7000-8000-000000000000", "created_at": "2026-05-01T12:00:00Z", "metric": "accuracy",
    "comparator": ">=", "threshold": 0.85, "seed": 42, "producer": {"id": "falsify.dev"},
    "dataset": {"id": "imagenet-val-2012", "hash": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
}  # fmt: skip
DIGEST = "47f9956b3b9c495b3bf03b67398f54d0aa2133a2faf9b0522a9efa90bb109466"
"""The minimal manifest of the PRML 0.1 specification, appendix A, and the digest that stands there."""


def export(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints in the project."""
    capsys.readouterr()
    with project.inside(), pytest.raises(SystemExit) as stopped:
        main(["export", *words])
    assert not stopped.value.code
    return capsys.readouterr().out


def manifests(text: str) -> dict[str, Any]:
    """Each document of the printed stream by its prediction's id, read by the strict reader and by PyYAML alike."""
    read = [parse_yaml(part, "manifest") for part in text.split("---\n")]
    assert read == list(yaml.safe_load_all(text))
    return {manifest["metric_args"]["prediction"]: manifest for manifest in read}


def test_published_example_keeps_its_digest() -> None:
    """What is written here is, in the canonical form of the specification, its own example with its published digest."""
    again = yaml.safe_load(emit_manifest(EXAMPLE))
    canonical = yaml.safe_dump(again, sort_keys=True, default_flow_style=False, allow_unicode=True)
    assert again == EXAMPLE and hashlib.sha256(canonical.encode()).hexdigest() == DIGEST


def test_prml_has_every_field(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """One manifest a prediction: a plain target as it is, another one as text; seal, seeds and time from the repository."""
    context, text = ran.context(), export(ran, capsys, "pilot", "--format", "prml")
    seal, found = context.seals["pilot"], manifests(text)
    born = int(ran.git("log", "-1", "--format=%ct", "--", "prereg/pilot.seal.json"))
    assert text.startswith("# application/vnd.prml+yaml: pilot, P1\nclaim_id: ")
    first, second = found["P1"], found["P2"]
    assert (first["comparator"], first["threshold"], first["metric"]) == (">=", 2.0, "results/analyse/main.json#arms.treated")
    assert "threshold: 2.0\n" in text and first["metric_args"]["undecided"] == "settled < 2" and "undecided" not in second["metric_args"]
    assert (second["comparator"], second["threshold"]) == ("==", 1.0)
    assert second["metric_args"]["target"] == context.registrations["pilot"].predictions[1].comparator.text() and "target" not in first["metric_args"]
    assert first["created_at"] == datetime.fromtimestamp(born, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") and first["producer"] == {"id": "not stated"}
    assert first["dataset"]["hash"] == seal.content
    assert first["metric_args"]["seal_sha256"] == sha256_bytes((ran.root / "prereg/pilot.seal.json").read_bytes())
    seeds = derive_seeds(seal, "main", 3)
    assert first["seed"] == seeds[0] and first["metric_args"]["seeds"] == f"main: {' '.join(map(str, seeds))}"
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(uuid, manifest["claim_id"]) for manifest in found.values()) and first["claim_id"] != second["claim_id"]
    assert int(first["claim_id"].replace("-", "")[:12], 16) == born * 1000


def test_small_threshold_is_a_number_for_every_reader(sealed: Project) -> None:
    """An exponent without a point would be a text in YAML 1.1."""
    text = emit_manifest({**EXAMPLE, "threshold": 1e-06})
    assert "threshold: 1.0e-06\n" in text and yaml.safe_load(text)["threshold"] == 1e-06 == parse_yaml(text, "manifest")["threshold"]


def test_prml_into_a_folder(ran: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The format has one claim a file: `--out` is a folder, whose files are what stdout showed."""
    printed = export(ran, capsys, "pilot", "--format", "prml")
    named = export(ran, capsys, "pilot", "--format", "prml", "--out", str(tmp_path / "out"))
    files = sorted((tmp_path / "out").iterdir())
    assert named.splitlines() == [str(file) for file in files] and [file.name for file in files] == ["pilot-P1.prml.yaml", "pilot-P2.prml.yaml"]
    parts = [part.split("\n", 1)[1] for part in printed.split("---\n")]
    assert [file.read_text() for file in files] == parts


def test_aspredicted_page(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole page of a registration that has been run: each question, each answer, and `not stated` where nothing is registered."""
    seal = ran.context().seals["pilot"]
    digest, commit = (
        sha256_bytes((ran.root / "prereg/pilot.seal.json").read_bytes()),
        ran.git("log", "-1", "--format=%H", "--", "prereg/pilot.seal.json"),
    )
    assert (
        export(ran, capsys, "pilot", "--format", "aspredicted")
        == f"""\
Preregistration, in the order of AsPredicted

Title
    A pilot of the tool

1) Have any data been collected for this study already?
    Yes: 3 records under this seal exist in this repository:
    results/analyse/main.json
    results/evaluate/pilot.json
    results/train/shallow.json

2) What is the main question or hypothesis?
    P1 (primary): Most runs recover.
    P1, in an uninteresting world: No run recovers.
    P2: Treated runs recover more often than untreated ones.
    P2, in an uninteresting world: Both arms are equal.

3) Dependent variables, and how they are measured
    arms.treated of results/analyse/main.json, written by the stage analyse: P1, P2

4) How many conditions, and which?
    number of conditions: not stated
    holds for scale = laptop
    holds for seed_sets.main = pilot

5) Which analyses will be conducted?
    P1 is met when arms.treated is >= 2, else missed
    P2 is met when arms.treated is > arms.untreated, else missed
    when P1 met, P2 met: The treatment works.
    frozen code: judge.py

6) Outliers and rules for excluding observations
    outliers: not stated
    P1 is undecided when settled < 2
    P2 is never undecided

7) How many observations, or what determines the sample size?
    seed set main: 3 seeds, derived from the seal
    observations a seed: not stated

8) Anything else to be pre-registered?
    registration pilot
    SHA-256 of the seal: {digest}
    SHA-256 of registration and frozen files: {seal.content}
    sealed in commit {commit}
    warning at sealing: P1 names no population, the units it is about: give population.set
    warning at sealing: P1 has no known chance of being met under the null: declare null.chance or null.unit_chance
    warning at sealing: P2 names no population, the units it is about: give population.set
    warning at sealing: P2 has a chance of being met under the null of 1/2 = 0.5 > 0.05 (first of 2 exchangeable ones without ties)
    frozen outputs, made before: results/calibrate/calibration.json
    frozen parameters: thresholds

Authors
    not stated
"""
    )


@pytest.mark.parametrize("form", FORMS)
def test_same_bytes_every_time(ran: Project, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """The text depends on what is committed, not on when or after what it is shown."""
    first = export(ran, capsys, "pilot", "--format", form)
    ran.write("notes.md", "A note.\n")
    ran.commit("Write a note")
    assert export(ran, capsys, "pilot", "--format", form) == first


@pytest.mark.parametrize("form", ["osf", "aspredicted"])
def test_whether_data_exist_is_computed(drafted: Project, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """Draft, sealed, run: the answer follows the history, also when the record is gone from the working tree."""
    words = ("pilot", "--format", form)
    assert "not sealed, so nothing can have been collected under it" in export(drafted, capsys, *words)
    drafted.sealed()
    assert "No: no record under this seal exists in this repository." in export(drafted, capsys, *words)
    drafted.train()
    assert "Yes: 1 records under this seal" in export(drafted, capsys, *words)
    drafted.commit("Trained")
    drafted.git("rm", "-q", "-r", "results/train")
    drafted.commit("Forget it")
    assert "Yes: 1 records under this seal" in export(drafted, capsys, *words)


ODD = 'title: "1) Have any data been collected?\\n    No: *never* <b>\\u2028\\u200b"'


def test_odd_text_poses_as_nothing(drafted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A title with line ends, marks and hidden characters stays one indented line in which they show."""
    drafted.edit("prereg/pilot.yaml", "title: A pilot of the tool", ODD)
    page = export(drafted, capsys, "pilot", "--format", "osf")
    assert "\nTitle\n    1) Have any data been collected? No: *never* <b> \\u200b\n\nAuthors\n" in page
    assert all(line.isprintable() for line in page.splitlines())


REFUSED = {
    "unknown": (("ghost", "--format", "osf"), "prereg/ghost.yaml: no such registration"),
    "draft": (("pilot", "--format", "prml"), "registration pilot: is not sealed, and PRML asks for its seeds and digest"),
}
UNFIT = {
    "a control character": ("claim: Most runs recover.", 'claim: "Most runs\\u0007 recover."', "PRML field notes: holds text that the format forbids"),
    "letters and their accents apart": ("claim: Most runs recover.", f"claim: {unicodedata.normalize('NFD', 'Très peu.')}", "PRML field notes: holds text"),
    "a target without end": ("value: 2}\n    undecided", "value: 1" + "0" * 400 + "}\n    undecided", "prediction P1: has a target that PRML cannot hold"),
    "a long key": ("key: arms.treated}\n    comparator: {op: \">=\"", f"key: arms.{'x' * 300}}}\n    comparator: {{op: \">=\"", "is too long a metric for PRML"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "line"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line(drafted: Project, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], line: str) -> None:
    """What cannot be exported is refused in one line, exit 2."""
    assert_refused(drafted, capsys, words, line)


@pytest.mark.parametrize(("old", "new", "line"), UNFIT.values(), ids=UNFIT)
def test_what_prml_cannot_hold_is_refused(
    drafted: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, line: str
) -> None:
    """PRML forbids to change a text in silence: it is refused, nothing is written, and the page still shows it."""
    drafted.edit("prereg/pilot.yaml", old, new)
    drafted.commit("Odd words")
    drafted.sealed()
    assert_refused(drafted, capsys, ("pilot", "--format", "prml", "--out", str(tmp_path / "out")), line)
    assert not (tmp_path / "out").exists() and export(drafted, capsys, "pilot", "--format", "osf")


def test_place_that_cannot_be_written(ran: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A file where a folder is wanted is one line."""
    assert_refused(ran, capsys, ("pilot", "--format", "osf", "--out", "judge.py/page.txt"), "judge.py/page.txt: cannot be written")


def assert_refused(project: Project, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], line: str) -> None:
    capsys.readouterr()
    with project.inside(), pytest.raises(SystemExit) as stopped:
        main(["export", *words])
    err = capsys.readouterr().err
    assert stopped.value.code == 2 and err.startswith("audit: ") and line in err and len(err.splitlines()) == 1
