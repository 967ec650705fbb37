"""A119, A120, A121: what differed between registered and run is declared, with why; a closed outcome says all of it."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.declared import deviations_path, give_reasons, read_declared
from audit.deviations import Comparison, asks_for_reasons, find_deviations, open_comparison
from audit.difference import Declared, Difference
from audit.finding import Finding, Refusal, Severity, several
from audit.registration import Outcome


def check(context: Context) -> Iterator[Finding]:
    """Every sealed registration that is judged here, and every file of declared deviations."""
    yield from _stray(context)
    for name in context.seals:
        outcome = context.outcomes.get(name)
        if outcome is None and not context.holds(context.registrations[name]):
            continue
        comparison = open_comparison(context, name)
        if not asks_for_reasons(comparison):
            yield from _summed(context, name, comparison)
        elif outcome is not None:
            yield from _closed(context, name, outcome, comparison)
        else:
            yield from _open(context, name, comparison)


def count(context: Context) -> str:
    """How many differences."""
    rows = [row for name in context.seals for row in find_deviations(context, name) if context.seals[name].version > 1]
    return f"{several(len(rows), 'deviation')}, {sum(1 for row in rows if row.why)} declared"


def _stray(context: Context) -> Iterator[Finding]:
    for file in sorted((context.root / context.config.paths.prereg).glob("*.deviations.yaml")):
        name, place = file.name.removesuffix(".deviations.yaml"), file.relative_to(context.root).as_posix()
        if name not in context.registrations:
            yield Finding(code="A120", place=place, what=f"declares deviations of {name}, which is no registration here", cure="correct its name")


def _summed(context: Context, name: str, comparison: Comparison) -> Iterator[Finding]:
    """Under a seal of version 1 nothing had to be declared: how much differed, in one note."""
    if rows := comparison.differences:
        what = "runs under this seal differ from its commit; a seal of this version asks for no declaration"
        shown = ", ".join(f"{row.kind} {row.what}" for row in rows[:3]) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
        yield Finding(code="A119", severity=Severity.NOTE, place=context.seal_path(name), what=what, observed=shown)


def _open(context: Context, name: str, comparison: Comparison) -> Iterator[Finding]:
    place = deviations_path(context, name)
    declared: tuple[Declared, ...] = ()
    try:
        declared = read_declared(context, name)
    except Refusal as refusal:
        yield Finding(code="A120", place=place, what=f"declares nothing: {str(refusal).removeprefix(f'{place}: ')}")
    rows = give_reasons(comparison.differences, declared)
    for row in rows:
        if row.why is None and row.kind != "outcome":  # A204 asks for those
            yield undeclared(place, row)
    for entry in declared:
        if not any(entry.covers(row) for row in rows):
            weight = Severity.FINDING if comparison.runs else Severity.NOTE
            what = f"declares a deviation that there is not: {entry.kind} {entry.what}"
            yield Finding(
                code="A120", severity=weight, place=place, what=what, expected=f"a difference that audit status {name} lists", cure="remove it"
            )


def undeclared(place: str, row: Difference) -> Finding:
    """The finding of a difference that nobody declared."""
    cure = f"run again as registered, or declare it in {place}: {{kind: {row.kind}, what: {row.what}, why: ...}}"
    what = f"does not declare that the run differs from what was registered: {row.kind} {row.what}"
    return Finding(code="A119", place=place, what=what, expected=row.registered, observed=row.run, cure=cure)


def _closed(context: Context, name: str, outcome: Outcome, comparison: Comparison) -> Iterator[Finding]:
    """The outcome's deviations are those of its own runs, and each has a reason."""
    path, cure = context.outcome_path(name), "git checkout HEAD -- {}; an outcome is never written again"
    said = outcome.deviations or ()
    bare = [row.model_copy(update={"why": None}) for row in said]
    computed = comparison.differences
    wrong = [("leaves out", row) for row in computed if row not in bare] + [("makes up", row) for row in bare if row not in computed]
    wrong += [("gives no reason for", row) for row in said if not any(map(str.isalpha, row.why or ""))]
    if outcome.deviations is None:
        yield Finding(code="A121", place=path, what="names no deviations, not even that there are none", cure=cure.format(path))
    for how, row in wrong:
        what = f"{how} a deviation: {row.kind} {row.what}"
        yield Finding(code="A121", place=path, what=what, expected=row.registered, observed=row.run, cure=cure.format(path))
