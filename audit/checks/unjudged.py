"""A123: a sealed registration without verdicts is said to be one by the document, with a reason.

Not run, run in part, or dropped from the tree: each is how a losing registration disappears. Run without verdicts, passed over by one
that was sealed later and judged, or dropped is a finding. One that nothing has run under, with none judged after it, is the honest
state of work that goes on: a note here, so that a seal may be committed and verified before its run, while `audit render` refuses,
so that no paper is made in silence about it. One that does not hold for these parameters, and was never run, is A115's note.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.denominator import Registered, State, read_reasons, registered
from audit.document import load_document
from audit.finding import Finding, Severity

CODE = "A123"
SAY = "\\unjudged{{{id}}}{{the reason}} in the manuscript"
CURES = {
    State.DROPPED: "restore it: git log --all -- {path}; or " + SAY,
    State.PARTLY: "run the rest and {judging}, or " + SAY,
    State.PASSED: "run it, or " + SAY,
    State.WAITING: "run it; audit render waits for its verdicts, or for " + SAY,
}


def check(context: Context) -> Iterator[Finding]:
    """Every registration that was ever sealed and has no verdicts."""
    reasons, written = read_reasons(context), load_document(context).main is not None
    for name, entry in registered(context).items():
        if entry.state in CURES and not reasons.get(name):
            yield describe(context, entry, weigh(entry.state, written))


def count(context: Context) -> str:
    """How many registrations and predictions."""
    entries = registered(context).values()
    judged = sum(1 for entry in entries if entry.verdicts)
    return f"{judged} of {len(entries)} judged, {sum(len(entry.registration.predictions) for entry in entries)} predictions"


def weigh(state: State, written: bool) -> Severity:
    """A finding, but where nothing ran: then a note while it waits its turn, or where there is no document that could say so."""
    if state is State.WAITING or (state is State.PASSED and not written):
        return Severity.NOTE
    return Severity.FINDING


def describe(context: Context, entry: Registered, severity: Severity) -> Finding:
    """The finding, with its cure."""
    path = context.seal_path(entry.id)
    cure = CURES[entry.state].format(id=entry.id, path=path, judging=context.judging(entry.id))
    what = f"is registered and has no verdicts ({entry.state.value})" if entry.state is not State.DROPPED else "was sealed and is gone from the tree"
    return Finding(
        code=CODE, severity=severity, place=path, what=what, expected=f"verdicts of {len(entry.registration.predictions)} predictions", cure=cure
    )
