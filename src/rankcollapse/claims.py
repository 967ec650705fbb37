"""Claim by claim, whether the source paper's finding holds here: the record behind the claims page, computed by stated rules.

`holds`, `does not hold` and `undecided` follow from a relation over events (see `relations` and `orders`); `not testable` from what is missing.
The paper's own figures are quoted beside ours and never compared with them: width, vocabulary and budget differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from audit.records import Frozen, Provenance, Quantity, Record
from rankcollapse.claim_table import CLAIMS, Claim
from rankcollapse.claim_table_texts import NOTE, TUTORIAL
from rankcollapse.evidence import Evidence, Readings, Truth, count, whole
from rankcollapse.relations import Registered, walk

ALL = (*CLAIMS, *TUTORIAL, *NOTE)
"""The claims of every text."""
Verdict = Literal["holds", "does not hold", "undecided", "not testable"]
VERDICTS: Mapping[Truth, Verdict] = {True: "holds", False: "does not hold", None: "undecided"}


class ClaimRow(Frozen):
    """One claim with its verdict."""

    id: str
    section: str
    """Sections and appendices of the source paper."""
    paper: str
    """What the paper states, in short and with its figure."""
    relation: str | None = None
    """What is judged here; absent where nothing is."""
    testable: Literal["Y", "P", "N"]
    """Whether the relation can be judged at this scale: yes, in part, no."""
    verdict: Verdict
    reason: str
    """Why, in words; of a claim that is not testable, what is missing."""
    evidence: tuple[Evidence, ...] = ()
    beside: tuple[Evidence, ...] = ()
    """Readings that are printed and not judged."""


class Statements(Frozen):
    """What one further text states, judged, and counted apart from the source paper's claims."""

    rows: tuple[ClaimRow, ...]
    holds: Quantity
    does_not_hold: Quantity
    undecided: Quantity
    not_testable: Quantity
    of: Quantity


class Claims(Record):
    """Every quantitative claim of the source paper, judged; and the statements of the further texts."""

    kind: Literal["claims"] = "claims"
    version: Literal[1] = 1
    rows: tuple[ClaimRow, ...]
    holds: Quantity
    does_not_hold: Quantity
    undecided: Quantity
    not_testable: Quantity
    of: Quantity
    tutorial: Statements
    """Of the text on pure attention."""
    note: Statements
    """Of the note on spectral energy."""


def tally(rows: Sequence[ClaimRow], verdict: Verdict) -> Quantity:
    """How many claims have a verdict, and which."""
    return count([row.verdict == verdict for row in rows])


def judge_claim(claim: Claim, readings: Readings) -> ClaimRow:
    """One claim; Refusal where a reading it needs is not there."""
    found = claim.relation.judge(readings) if claim.relation else None
    return ClaimRow(
        id=claim.id,
        section=claim.section,
        paper=claim.paper,
        relation=claim.relation.text() if claim.relation else None,
        testable=claim.testable,
        verdict=VERDICTS[found.truth] if found else "not testable",
        reason=found.reason if found else claim.missing,
        evidence=found.evidence if found else (),
        beside=tuple(Evidence(key=key, observed=readings.find(key)) for key in claim.beside),
    )


def judge_claims(
    provenance: Provenance, quantities: Mapping[str, Quantity], verdicts: Mapping[str, str], generator: np.random.Generator
) -> Claims:
    """The claims' record from readings by key and the judge's verdicts by `registration.prediction`."""
    readings = Readings(quantities, verdicts, generator)
    own, tutorial, note = (judge_rows(table, readings) for table in (CLAIMS, TUTORIAL, NOTE))
    return Claims(provenance=provenance, **own, tutorial=Statements(**tutorial), note=Statements(**note))


def judge_rows(table: Sequence[Claim], readings: Readings) -> dict[str, Any]:
    """The rows of one text, and how many have each verdict."""
    rows = tuple(judge_claim(claim, readings) for claim in table)
    names: Mapping[str, Verdict] = {"holds": "holds", "does_not_hold": "does not hold", "undecided": "undecided", "not_testable": "not testable"}
    return {"rows": rows, "of": whole(len(rows))} | {name: tally(rows, verdict) for name, verdict in names.items()}


def needed_readings(claims: Sequence[Claim] = ALL) -> list[str]:
    """Every key that judging reads, in the order of the claims, roles included: what a stage has to hand over."""
    keys = [key for claim in claims for key in (*(claim.relation.keys() if claim.relation else ()), *claim.beside)]
    return list(dict.fromkeys(keys))


def needed_verdicts(claims: Sequence[Claim] = ALL) -> list[str]:
    """Every registered prediction whose verdict is read."""
    return list(dict.fromkeys(part.prediction for claim in claims for part in walk(claim.relation) if isinstance(part, Registered)))
