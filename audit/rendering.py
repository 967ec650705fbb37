"""The command `audit render`: nothing is rendered while the audit has something to say."""

from __future__ import annotations

from audit.context import Context
from audit.denominator import State, read_reasons, registered
from audit.finding import FOUND, Finding, Refusal, Severity, exit_code
from audit.load import parse_json
from audit.records import parse_model
from audit.render import generate, write_generated

__all__ = ["main", "refuse_findings"]

CURE = "audit verify, then repair"


def main() -> None:
    """Check, render in memory, write the folder at once."""
    context = Context.open()
    refuse_findings(context)
    target = write_generated(context, generated := generate(context))
    print(f"rendered {len(generated.files)} files into {target.relative_to(context.root).as_posix()}")


def refuse_findings(context: Context) -> None:
    """Refuse unless the audit stage's report is empty and the same checks, made again now, find nothing."""
    from audit.verify import verify

    path = context.config.paths.findings()
    data = context.bytes_of(path)
    if data is None:
        raise Refusal(path, "no report of the audit stage", cure="dvc repro audit, or python -m audit stage")
    report = parse_json(data, path)
    findings = report.get("findings") if isinstance(report, dict) else None
    if not isinstance(findings, list):
        raise Refusal(path, "not a report of the audit stage", expected="an object with a list `findings`")
    if findings:
        first = parse_model(Finding, findings[0], path)
        raise Refusal(path, f"the audit stage reported {len(findings)}", observed=first.line(), cure=CURE, code=exit_code([first]))
    standing = [finding for finding in verify(context, "before").findings if finding.severity is not Severity.NOTE]
    if standing:
        raise Refusal("render", "the checks, made again, do not hold", observed=standing[0].line(), cure=CURE, code=exit_code(standing))
    refuse_silence(context)


def refuse_silence(context: Context) -> None:
    """Refuse while a registration waits for its run and the manuscript does not say so: `audit verify` has it as a note only."""
    reasons = read_reasons(context)
    for name, entry in registered(context).items():
        if entry.state is State.WAITING and not reasons.get(name):
            cure = f"run it, or write \\unjudged{{{name}}}{{the reason}} into the manuscript"
            raise Refusal(context.seal_path(name), "A123: is registered and not run, and the manuscript does not say so", cure=cure, code=FOUND)
