"""What the attacks have in common: how an answer is asked for, and steps of theirs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from project import Project

from audit.finding import Severity
from audit.verify import Report, verify


def report(p: Project) -> Report:
    return verify(p.context())


def lines(found: Report) -> str:
    return "\n".join(finding.line() for finding in found.findings)


def wrong(p: Project, *codes: str) -> None:
    """Verify finds something, among it one of the codes."""
    found = report(p)
    standing = {finding.code for finding in found.findings if finding.severity == Severity.FINDING}
    assert found.code == 1, lines(found)
    assert not codes or standing & set(codes), lines(found)


def holds(p: Project) -> None:
    found = report(p)
    assert found.code == 0, lines(found)


def missed(p: Project) -> None:
    p.train()
    p.analyse((1, 0, 0))


def met(p: Project) -> None:
    p.analyse((1, 1, 1))
    p.evaluate()
    p.lock()
    p.commit("Met")


def locked_parameters(p: Project, value: str, file: str = "params.yaml") -> None:
    p.edit("dvc.lock", "    cmd: python -m stages.train shallow\n", f"    cmd: python -m stages.train shallow\n    params: {{{file}: {{{value}}}}}\n")


def typed_seal(p: Project, **changed: Any) -> None:
    """Seal the pilot, and commit another seal than the tool's, consistent in itself."""
    p.seal()
    seal = {**json.loads(p.read("prereg/pilot.seal.json")), **changed}
    listed = sorted(seal["files"].items(), key=lambda item: item[0].encode())
    seal["content"] = hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in listed).encode()).hexdigest()
    p.write("prereg/pilot.seal.json", json.dumps(seal, sort_keys=True, indent=1) + "\n")
    p.commit("Seal pilot")
