"""`audit verify`: every check, line by line, and one exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any

import click

from audit.checks import TABLE, Check
from audit.context import Context
from audit.digest import sha256_file, sha256_lines
from audit.finding import FOUND, HOLDS, Finding, Refusal, Severity, exit_code
from audit.limits import LIMITS, POINTER
from audit.load import parse_json, read_bytes, write_bytes
from audit.tokens import committed_tokens

COLOURS = {"ok": "green", "FAIL": "red", "??": "yellow", "--": "bright_black"}


@dataclass(frozen=True)
class Checked:
    """One check with what it found."""

    check: Check
    findings: tuple[Finding, ...]
    counted: str
    skipped: bool = False

    @property
    def mark(self) -> str:
        """One word for the line: ok, FAIL, or ?? where something could not be checked."""
        return "--" if self.skipped else {HOLDS: "ok", FOUND: "FAIL"}.get(exit_code(self.findings), "??")


@dataclass(frozen=True)
class Report:
    """Every check that was made."""

    checked: tuple[Checked, ...]

    @property
    def findings(self) -> list[Finding]:
        """All findings in the order of the checks."""
        return [finding for checked in self.checked for finding in checked.findings]

    @property
    def code(self) -> int:
        """The exit code: 0 holds, 1 finding, 2 could not check."""
        return exit_code(self.findings)


def verify(context: Context, stage: str | None = None, disabled: Collection[str] = ()) -> Report:
    """Make every check of a pass (both by default); `disabled` names checks that a test leaves out."""
    made: list[Checked] = []
    blind = False
    for check in TABLE:
        if check.name in disabled or stage not in (None, check.stage):
            continue
        if check.needs_history and blind:
            made.append(Checked(check, (), "", skipped=True))
            continue
        made.append(run_check(context, check))
        blind = blind or (check.name == "history" and any(finding.severity == Severity.UNCHECKED for finding in made[-1].findings))
    return Report(tuple(made))


def run_check(context: Context, check: Check) -> Checked:
    """Make one check; one that stops has not checked, and says why."""
    findings: list[Finding] = []
    stopped = f"{check.codes[0][:2]}00"
    try:
        findings.extend(check.run(context))
    except Refusal as refusal:
        weight = Severity.FINDING if refusal.code == FOUND else Severity.UNCHECKED
        details = {"expected": refusal.expected, "observed": refusal.observed, "cure": refusal.cure}
        findings.append(Finding(code=stopped, severity=weight, place=refusal.place, what=refusal.what, **details))
    except Exception as error:  # whatever it is, the other checks are still made and the report still ends in an exit code
        if os.environ.get("AUDIT_DEBUG"):
            raise
        what, cure = f"the check {check.name} stopped: {type(error).__name__}: {error}", "AUDIT_DEBUG=1 shows where"
        findings.append(Finding(code=stopped, severity=Severity.UNCHECKED, place=context.root.name, what=what, cure=cure))
    return Checked(check, tuple(dict.fromkeys(findings)), _count(context, check))


def _count(context: Context, check: Check) -> str:
    try:
        return check.count(context) if check.count else ""
    except Exception:  # it counts for the eye alone; what is at fault, the check itself has said
        return ""


def main(form: str, stage: str | None, roots: tuple[Path, ...] = (), since: Path | None = None) -> int:
    """Verify the project here and print the report; refuse where history is not that of an earlier report."""
    for slow in ("jinja2.sandbox", "jsonschema_rs"):
        Thread(target=import_module, args=(slow,)).start()  # while git is waited for; no daemon: leaving in the middle of an import crashes
    context = Context.open(roots=roots)
    for names in (("pipeline",), ("records", "run_logs")):
        Thread(target=read_ahead, args=(context, names)).start()
    if since is not None:
        refuse_rewritten(context, since)
    report = verify(context, stage)
    basis = describe_basis(context)
    for line in [as_json(report, basis)] if form == "json" else as_text(report, basis):
        click.echo(paint(line))
    return report.code


def describe_basis(context: Context) -> dict[str, str | int | list[str]]:
    """What a report rests on: the digest of the tool's own files, and the history by head, roots and number of commits, where there is one."""
    package = Path(__file__).parent
    files = {path.relative_to(package.parent).as_posix(): sha256_file(path) for path in package.rglob("*.py")}
    basis: dict[str, str | int | list[str]] = {"tool": sha256_lines(files)}
    with suppress(Refusal):
        parents = context.history.log.parents
        roots = sorted(commit for commit, those in parents.items() if not those)
        basis |= {"head": context.history.head, "roots": roots, "commits": len(parents)}
        basis["witness"] = oldest_witness(context)
    return basis


def refuse_rewritten(context: Context, path: Path) -> None:
    """Refuse where the commit that an earlier report rests on is none of this history: what was published has been replaced."""
    said = parse_json(read_bytes(path), path)
    basis = said.get("basis") if isinstance(said, dict) else None
    head = basis.get("head") if isinstance(basis, dict) else None
    if not isinstance(head, str):
        raise Refusal(path, "is no report that names a commit", expected="what `audit verify --format json` printed in a clone with history")
    if not context.history.knows(head):
        what, cure = "rests on a commit that is not in this history: it was rewritten since, or is another one", "ask the author for the published commits"
        raise Refusal(path, what, expected=f"{head[:12]} among the ancestors of HEAD", observed=context.history.head[:12], cure=cure, code=FOUND)


def oldest_witness(context: Context) -> str:
    """The earliest time that a committed time stamp of a seal names, anchored or not: before it nothing outside saw this history; "" without any."""
    stamped = context.history.paths_ever(context.config.paths.prereg, ".tsr")
    times = (each.token.time for name in (context.seals if stamped else ()) for each in committed_tokens(context, name))
    return min(map(datetime.isoformat, times), default="")


def read_ahead(context: Context, names: Iterable[str]) -> None:
    """Read what most checks ask for, while git is waited for; what cannot be read, the check that asks for it says."""
    for name in names:
        with suppress(Exception):
            getattr(context, name)


def paint(line: str) -> str:
    """A check's mark in colour; click takes the colour out again where nobody looks at a terminal."""
    mark = line.split(" ", 1)[0]
    return click.style(mark, fg=COLOURS[mark], bold=True) + line.removeprefix(mark) if mark in COLOURS else line


def as_text(report: Report, basis: Mapping[str, Any] = MappingProxyType({})) -> Iterable[str]:
    """One line a check, then one a finding, what the report rests on, and the sum."""
    width = max((len(checked.check.name) for checked in report.checked), default=0)
    for checked in report.checked:
        counted = f" ({checked.counted})" if checked.counted else ""
        title = "not checked: needs the git history" if checked.skipped else f"{checked.check.title}{counted}"
        yield f"{checked.mark:4}  {checked.check.name:{width}}  {title}"
    for finding in report.findings:
        yield finding.line()
    if basis:
        history = f"{basis['commits']} commits from root {', '.join(root[:10] for root in basis['roots'])}" if "head" in basis else "no history"
        oldest = f"oldest witness {basis['witness']}" if basis.get("witness") else "no witness"
        yield f"checked by the tool whose files hash to {basis['tool'][:16]}, in {history}; {oldest}"
    yield POINTER
    yield summary(report)


def summary(report: Report) -> str:
    """How it ended, in one line."""
    count = {severity: sum(1 for finding in report.findings if finding.severity == severity) for severity in Severity}
    ending = {0: "holds", 1: "does not hold", 2: "could not be checked whole"}[report.code]
    found = f"{count[Severity.FINDING]} findings, {count[Severity.UNCHECKED]} not checked, {count[Severity.NOTE]} notes"
    return f"{ending}: {len(report.checked)} checks, {found}"


def as_json(report: Report, basis: Mapping[str, Any]) -> str:
    """The report as one JSON object."""
    checks = [
        {"name": checked.check.name, "title": checked.check.title, "state": checked.mark, "counted": checked.counted} for checked in report.checked
    ]
    findings = [finding.model_dump(mode="json") for finding in report.findings]
    return json.dumps({"kind": "report", "version": 1, "exit": report.code, "checks": checks, "findings": findings, "basis": basis, "limits": LIMITS}, indent=1)


def run_stage() -> int:
    """The DVC stage `audit`: write the findings (without notes) and fail on any, so that nothing is rendered from them."""
    context = Context.open()
    path = context.root / context.config.paths.findings()
    path.unlink(missing_ok=True)
    report = verify(context, "before")
    standing = [finding for finding in report.findings if finding.severity != Severity.NOTE]
    value = {"kind": "findings", "version": 1, "findings": [finding.model_dump(mode="json") for finding in standing]}
    write_bytes(path, (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode())
    for line in as_text(report):
        click.echo(paint(line))
    return report.code
