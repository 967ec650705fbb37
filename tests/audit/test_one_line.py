"""Whatever happens, a command ends in lines and an exit code: nothing forges a line, nothing is a traceback."""

from __future__ import annotations

import dataclasses
import gc

import pytest
from project import Project
from pydantic import ValidationError

from audit import verify as verifying
from audit.checks import TABLE
from audit.cli import one_line
from audit.finding import Finding, Refusal, Severity, escape
from audit.load import parse_json, parse_yaml
from audit.records import Provenance, Quantity, record_bytes
from audit.verify import run_check, verify


@pytest.mark.parametrize("error", [RecursionError("deep"), ValueError("a\nb"), PermissionError(13, "denied"), UnicodeError("x"), KeyError("k")], ids=repr)
def test_check_that_stops_is_could_not_check(error: Exception, ran: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception of a check is one finding of could-not-check; AUDIT_DEBUG lets it through."""

    def stop(_: object) -> list[Finding]:
        raise error

    check = dataclasses.replace(TABLE[0], run=stop, count=stop)
    monkeypatch.delenv("AUDIT_DEBUG", raising=False)
    (found,) = run_check(ran.context(), check).findings
    assert (found.code, found.severity) == ("A200", Severity.UNCHECKED)
    assert type(error).__name__ in found.line() and "\n" not in found.line()
    monkeypatch.setenv("AUDIT_DEBUG", "1")
    with pytest.raises(type(error)):
        run_check(ran.context(), check)


@pytest.mark.parametrize("error", [RecursionError("deep"), ValueError("a\nb"), PermissionError(13, "denied"), UnicodeError("x")], ids=repr)
def test_command_that_stops_is_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Any exception of a command is one line on stderr and exit 2; AUDIT_DEBUG lets it through."""
    monkeypatch.delenv("AUDIT_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended, one_line():
        raise error
    shown = capsys.readouterr().err
    assert ended.value.code == 2 and shown.count("\n") == 1 and shown.startswith(f"audit: stopped: {type(error).__name__}: ")
    monkeypatch.setenv("AUDIT_DEBUG", "1")
    with pytest.raises(type(error)), one_line():
        raise error


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"value": 1, "tolerance": 0}, "Quantity: key 'digits' is missing; expected digits; found no such key; cure: add it"),
        ({"value": "1", "digits": 0, "tolerance": 0}, "Quantity: value.float is not valid (and 1 more); expected a valid number; found '1'"),
        ({"value": 1, "digits": 0, "tolerance": 0, "values": {1}}, "Quantity: values is not valid; expected a valid tuple; found {1}"),
    ],
)
def test_stage_that_fills_a_model_wrongly_is_told_which_and_where(fields, words: str, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The model, the field, what was expected and found, in one line without escapes; AUDIT_DEBUG lets it through."""
    monkeypatch.delenv("AUDIT_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended, one_line():
        Quantity(**fields)
    shown = capsys.readouterr().err
    assert ended.value.code == 2 and shown.startswith(f"audit: {words}") and shown.count("\n") == 1 and "\\n" not in shown
    monkeypatch.setenv("AUDIT_DEBUG", "1")
    with pytest.raises(ValidationError), one_line():
        Quantity(**fields)


def test_values_may_be_a_list() -> None:
    """A list of values is the tuple of them, the same in every byte; what is in it is as strict as before, and other lists are no tuples."""
    fields = {"value": 1, "digits": 0, "tolerance": 0}
    assert Quantity(**fields, values=[1, 0.5]) == Quantity(**fields, values=(1, 0.5))
    assert record_bytes(Quantity(**fields, values=[1, 0.5])) == record_bytes(Quantity(**fields, values=(1, 0.5)))
    for values in (["1"], [True], [None], "12", {1: 2}, [float("nan")]):
        with pytest.raises(ValidationError):
            Quantity(**fields, values=values)
    with pytest.raises(ValidationError):
        Provenance(stage="a", seals={}, parameters="0" * 64, seeds=[1], data={})


@pytest.fixture
def no_collection():
    """No garbage of other tests is finalised where the recursion is at its deepest."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse_json, "[" + "9" * 5000 + "]"),
        (parse_json, "[" * 100_000),
        (parse_json, '{"a": ' * 50_000),
        (parse_yaml, "a: 2001-99-99"),
        (parse_yaml, "a: " + "9" * 5000),
        (parse_yaml, "[" * 5000 + "]" * 5000),
        (parse_yaml, "a: \x07"),
        (parse_yaml, "? [a]\n: b"),
        (parse_yaml, "{a: b}: c"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_unreadable_values_are_refused(read, text: str) -> None:
    """Numbers without end, nesting without end and dates that are none are refused in one line with their place."""
    try:
        value = read(text, "here.file")
    except Refusal as refusal:
        assert str(refusal).startswith("here.file") and "\n" not in str(refusal)
    else:
        assert text.startswith(("?", "{")) and value  # YAML allows such keys; a model refuses them by name


def test_control_characters_are_escaped() -> None:
    """What is printed is what is there, and one line."""
    assert escape("a\nA101 b\x1b[1m\udc80\u202e") == "a\\nA101 b\\x1b[1m\\udc80\\u202e"
    assert escape("Müller – 3 µs") == "Müller – 3 µs"
    assert "\n" not in str(Refusal("a\nb", "is\nbad"))
    finding = Finding(code="A301", place="a\nok    order", what="x\ty", observed="\udc80")
    assert finding.line() == "A301 a\\nok    order x\\ty; found \\udc80"


def test_file_name_forges_no_line(ran: Project) -> None:
    """A record whose name holds a line end is named in one line, in text and in JSON."""
    ran.write("results/train/x\nholds: 23 checks.json", "{}")
    report = verify(ran.context())
    assert report.code == 1
    assert not any("\n" in line for line in verifying.as_text(report))
    assert any("x\\nholds: 23 checks.json" in line for line in verifying.as_text(report))


@pytest.mark.parametrize(("path", "old", "new", "may_move"), [("prereg/pilot.yaml", "id: P1", "id: P9", False), ("judge.py", "0.5", "0.4", True)])
def test_only_frozen_code_may_move_on_after_closing(ran: Project, path: str, old: str, new: str, may_move: bool) -> None:
    """The cure for changed frozen code names `audit close`; a sealed text never changes, so its cure does not."""
    ran.edit(path, old, new)
    found = [finding for finding in verify(ran.context()).findings if (finding.code, finding.place) == ("A105", path)]
    assert [("audit close" in finding.cure) for finding in found] == [may_move]
