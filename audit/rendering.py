"""The command `audit render`: nothing is rendered while the audit has something to say."""

from __future__ import annotations

from audit.context import Context
from audit.finding import FOUND, Finding, Refusal, Severity
from audit.load import parse_json
from audit.render import generate, write_generated

__all__ = ["main", "refuse_findings"]


def main() -> None:
    """Check, render in memory, write the folder at once."""
    context = Context.open()
    refuse_findings(context)
    target = write_generated(context, generated := generate(context))
    print(f"rendered {len(generated.files)} files into {target.relative_to(context.root).as_posix()}")


def refuse_findings(context: Context) -> None:
    """Refuse unless the audit stage's report is empty and the same checks, made again now, find nothing."""
    from audit.verify import run_checks

    path = context.config.paths.findings()
    data = context.bytes_of(path)
    if data is None:
        raise Refusal(path, "no report of the audit stage", cure="dvc repro audit, or python -m audit stage")
    report = parse_json(data, path)
    findings = report.get("findings") if isinstance(report, dict) else None
    if not isinstance(findings, list):
        raise Refusal(path, "not a report of the audit stage", expected="an object with a list `findings`")
    if findings:
        first = Finding.model_validate_json(__import__("json").dumps(findings[0]))
        raise Refusal(path, f"the audit stage found {len(findings)}", observed=first.line(), cure="audit verify, then repair", code=FOUND)
    refuse_first(finding for finding in run_checks(context, "before") if finding.severity is not Severity.NOTE)


def refuse_first(findings: object) -> None:
    """Refuse with the first of the findings, where there is one."""
    for finding in findings:  # type: ignore[attr-defined]
        raise Refusal("render", "the checks find something now", observed=finding.line(), cure="audit verify, then repair", code=FOUND)
