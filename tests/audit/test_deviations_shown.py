"""Amendments and deviations where a reader meets them: in status, in templates, and when their files hold junk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tampering_amended
from project import Project
from tampering_amended import DECLARED, parameter_tuned

from audit.finding import Refusal
from audit.render import variables
from audit.status import main as status
from audit.verify import verify


def test_status_counts_deviations(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """How many, and how many without a reason, in the line of the registration."""
    parameter_tuned(sealed)
    with sealed.inside():
        status()
    assert capsys.readouterr().out == f"{'pilot':20} judged: audit close pilot; 1 deviation, 1 not declared\n"


def test_status_of_one_lists_amendments_and_deviations(sealed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Why and what was known stand beside the label that ancestry gives; each difference with its reason."""
    tampering_amended.amended(sealed)
    parameter_tuned(sealed)
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    with sealed.inside():
        status("pilot")
    assert capsys.readouterr().out.splitlines() == [
        f"{'pilot':20} judged: audit close pilot; 1 amended; 1 deviation",
        "  amendment 1, sealed before outcome: P1, P3; why: Two of three is too easily met.; known: Nothing had run.",
        "  deviation, parameters steps: registered absent, run 200; why: They had not settled.",
    ]
    with sealed.inside(), pytest.raises(Refusal, match="prereg/pilto.yaml: no such registration; found registered: pilot"):
        status("pilto")


@pytest.mark.parametrize("junk", [b"", b"[]\n", b"{}\n", b"7\n", b"\xff\xfe\x00", b'{"kind": "amendment-seal", "number": 1, "ledger": 3}\n'])
def test_junk_is_a_finding(junk: bytes, sealed: Project) -> None:
    """An amendment, its seal or a declaration that holds junk is a finding or could-not-check, never a traceback, never a pass."""
    tampering_amended.amended(sealed)
    parameter_tuned(sealed)
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    assert verify(sealed.context()).code == 0
    for path in ("prereg/pilot.amendment-1.yaml", "prereg/pilot.amendment-1.seal.json", "prereg/pilot.deviations.yaml"):
        before = sealed.read(path)
        sealed.write(path, junk)
        report = verify(sealed.context())
        assert report.code in (1, 2), f"{junk!r} in {path} passes"
        assert all("\n" not in finding.line() and finding.place for finding in report.findings)
        assert not any("stopped: " in finding.what for finding in report.findings)
        sealed.write(path, before)


def test_templates_can_print_the_table(sealed: Project) -> None:
    """`deviations.<id>` gives a template its rows; reading it notes the files they come from."""
    parameter_tuned(sealed)
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    from audit.numbers.keys import Keys
    from audit.templates import environment

    context, read = sealed.context(), set()
    template = "%% for row in deviations.pilot\n<< row.kind | label >> << row.what | label >>: << row.registered | label >>, << row.run | label >>, << row.why | label >>\n%% endfor\n"
    made = environment(lambda key: None, [])  # type: ignore[arg-type, return-value]
    text = made.from_string(template).render(variables(context, Keys.of(context), read, set(), ""))
    assert text == "parameters steps: absent, 200, They had not settled.\n"
    assert read == {"prereg/pilot.seal.json", "prereg/pilot.deviations.yaml"}


def test_own_tables_print_differences_warnings_and_amendments(sealed: Project) -> None:
    """This repository's own tables show every difference with its reason, every warning of the seal, and amended verdicts beside the registered."""
    tampering_amended.amended(sealed)
    parameter_tuned(sealed)
    sealed.write("prereg/pilot.deviations.yaml", DECLARED)
    from audit.numbers.keys import Keys
    from audit.templates import BEGIN, END, environment, latex_text

    context, tables = sealed.context(), Path(__file__).resolve().parents[2] / "manuscript/tables"
    made = environment(lambda key: None, [str(tables)], note=lambda *_: None)  # type: ignore[arg-type, return-value]
    told = {name: made.get_template(name).render(variables(context, Keys.of(context), set(), set(), "")) for name in ("registered.tex.j2", "predictions.tex.j2")}
    shown = {name: text.replace(BEGIN, "").replace(END, "") for name, text in told.items()}
    assert "parameters & steps & absent & 200 & They had not settled. \\\\" in shown["registered.tex.j2"]
    warnings = json.loads(sealed.read("prereg/pilot.seal.json"))["warnings"]
    assert warnings and all(latex_text(warning) in shown["predictions.tex.j2"] for warning in warnings)
    rows = [line.rpartition("\\\\")[0].split(" & ") for line in shown["predictions.tex.j2"].splitlines() if line.endswith("[2pt]")]
    assert [(row[0], row[-1].strip()) for row in rows] == [("P1*", "met"), ("", "missed"), ("P2", "met"), ("P3", "met")]
    assert "\\emph{Amended, sealed before outcome:} All runs recover. & " in shown["predictions.tex.j2"]
    paper = (tables.parent / "paper.tex").read_text()
    assert "\\input{generated/registered}" in paper and "\\input{generated/predictions}" in paper
