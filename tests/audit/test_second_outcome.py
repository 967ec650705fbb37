"""A second outcome under one seal: declared with the digests of both records or found, and judged by the first in any case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tampering
from project import Project

from audit.close import main as close
from audit.context import Context
from audit.declared import deviations_path
from audit.deviations import find_deviations
from audit.difference import parse_declared
from audit.digest import sha256_bytes
from audit.finding import Refusal, Severity
from audit.verify import verify

RECORD = "results/analyse/main.json"


def failing(p: Project) -> list[str]:
    return [finding.line() for finding in verify(p.context()).findings if finding.severity is Severity.FINDING]


def digests(p: Project) -> tuple[str, str]:
    """Of the record that was committed first, and of the one after it."""
    history = p.context().history
    first, later = (history.bytes_at(p.git("rev-parse", commit), RECORD) for commit in ("HEAD~1", "HEAD"))
    assert first and later
    return sha256_bytes(first), sha256_bytes(later)


def declare(p: Project, first: str, later: str) -> None:
    text = f"- {{kind: outcome, what: {RECORD}, first: {first}, later: {later}, why: The first run stopped early.}}\n"
    p.write("prereg/pilot.deviations.yaml", text)


def p1(p: Project) -> dict:
    return json.loads((p.root / "results/evaluate/pilot.json").read_text())["predictions"][0]


@pytest.fixture
def mended(sealed: Project) -> Project:
    """Missed, mended, met; both outcomes are committed."""
    tampering.mended(sealed)
    return sealed


def test_the_first_outcome_is_judged(mended: Project) -> None:
    """The verdict is that of the first record; what the later one would give stands beside it and counts nowhere."""
    row, counts = p1(mended), json.loads((mended.root / "results/evaluate/pilot.json").read_text())
    assert (row["verdict"], row["later"]["verdict"], row["later"]["first"]) == ("missed", "met", digests(mended)[0])
    assert row["observed"]["value"] < row["later"]["observed"]["value"]
    assert (counts["met"]["value"], counts["missed"]["value"]) == (1, 1)  # P2 is met by both


def test_the_finding_prints_the_declaration(mended: Project) -> None:
    """What A204 says to write, with a reason, is what cures it."""
    (line,) = [line for line in failing(mended) if line.startswith("A204")]
    named = tuple(digest[:12] for digest in digests(mended))
    entry = line[line.index("{kind") : line.rindex("}") + 1].replace("why: ...", "why: The first run stopped early.")
    mended.write("prereg/pilot.deviations.yaml", f"- {entry}\n")
    mended.commit("Declare the second outcome")
    assert failing(mended) == []
    (row,) = [row for row in find_deviations(mended.context(), "pilot") if row.kind == "outcome"]
    assert (row.registered, row.run) == named and row.why


def test_another_digest_declares_nothing(mended: Project) -> None:
    """A declaration that names one of the two wrongly leaves the finding, and is one itself."""
    first, later = digests(mended)
    declare(mended, first, "0" * 64)
    assert {line[:4] for line in failing(mended)} == {"A204", "A120"}
    declare(mended, first, later)
    assert failing(mended) == []


def test_closed_with_both(mended: Project) -> None:
    """The outcome keeps the first verdict and the deviation, and goes on holding."""
    declare(mended, *digests(mended))
    mended.commit("Declare")
    with mended.inside():
        close("pilot")
    mended.commit("Close")
    outcome = json.loads((mended.root / "prereg/pilot.outcome.json").read_text())
    assert outcome["verdicts"]["P1"] == "missed" and [row["kind"] for row in outcome["deviations"]] == ["outcome"]
    assert failing(mended) == []


def test_the_later_verdict_cannot_be_written(mended: Project) -> None:
    """A verdicts' record that shows the later verdict as the outcome does not follow."""
    declare(mended, *digests(mended))
    path = mended.root / "results/evaluate/pilot.json"
    record = json.loads(path.read_text())
    record["predictions"][0] |= {"verdict": "met", "observed": record["predictions"][0]["later"]["observed"]}
    path.write_text(json.dumps(record))
    assert any(line.startswith("A309 results/evaluate/pilot.json:P1 the verdict does not follow; expected missed; found met") for line in failing(mended))


@pytest.mark.parametrize(
    "entry",
    [
        "{kind: outcome, what: results/a.json, why: No digests.}",
        f"{{kind: outcome, what: results/a.json, first: {'0' * 64}, why: One digest.}}",
        f"{{kind: data, what: data.txt, first: {'0' * 64}, later: {'1' * 64}, why: No outcome.}}",
        f"{{kind: outcome, what: results/a.json, first: {'0' * 12}, later: {'1' * 64}, why: A short digest.}}",
    ],
)
def test_bad_declarations(entry: str) -> None:
    """Both digests, whole, and of an outcome only."""
    with pytest.raises(Refusal):
        parse_declared(f"- {entry}\n".encode(), "prereg/pilot.deviations.yaml")


def test_place_of_the_declaration(mended: Project) -> None:
    """The cure names the file that is read."""
    context: Context = mended.context()
    assert Path(deviations_path(context, "pilot")).name == "pilot.deviations.yaml"
    assert any(deviations_path(context, "pilot") in line for line in failing(mended))
