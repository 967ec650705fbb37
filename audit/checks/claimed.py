"""A416 to A418: the condition of each claim can be read and holds, within the tolerance of what it names too."""

from __future__ import annotations

from collections.abc import Iterator

from audit.claims import Claim, find_claims
from audit.context import Context
from audit.finding import Finding, Severity, several

FALSE, UNREADABLE, UNSTEADY = "A416", "A417", "A418"


def check_claims(context: Context) -> Iterator[Finding]:
    """Each claim whose condition is false, cannot be read, or could turn within tolerance."""
    for claim in find_claims(context):
        if claim.fault is not None:
            fault, place = claim.fault, claim.use.place
            details = {"expected": fault.expected, "observed": fault.observed, "cure": fault.cure}
            yield Finding(code=UNREADABLE, place=place, what=fault.what, **details)
        elif claim.truth is not True:
            yield from describe_untrue(claim)
        elif not claim.steady:
            yield Finding(
                code=UNSTEADY, severity=Severity.NOTE, place=claim.use.place, what=f"claim holds, and may not after a recomputation within tolerance: {claim.condition}",
                observed=claim.seen, cure="claim less, or say that it is close",
            )  # fmt: skip


def describe_untrue(claim: Claim) -> Iterator[Finding]:
    """A condition that is false or cannot be told; a note where LaTeX need not typeset the sentence, and stops if it does."""
    if claim.truth is None:
        what, cure = f"claim is not evaluated here: {claim.condition}", "the document says so in place of the sentence"
    elif claim.use.demanded:
        what, cure = f"claim does not hold: {claim.condition}", "rewrite the sentence and its condition: LaTeX stops at this one"
    else:
        what, cure = f"claim of another outcome does not hold: {claim.condition}", "LaTeX stops where it is typeset after all"
    severity = Severity.FINDING if claim.truth is False and claim.use.demanded else Severity.NOTE
    yield Finding(code=FALSE, severity=severity, place=claim.use.place, what=what, observed=claim.seen, cure=cure)


def count_claims(context: Context) -> str:
    """How many sentences are bound to a condition."""
    return several(len(find_claims(context)), "claim")
