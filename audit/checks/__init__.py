"""The checks, in the order in which they are made: one file each, one table here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from audit.checks import (
    amendments,
    built,
    claimed,
    closed,
    code,
    constructs,
    denominators,
    deviations,
    environment,
    excluded,
    exempted,
    figures,
    foreign,
    history,
    ignored,
    inputs,
    order,
    outcomes,
    packages,
    pipeline,
    records,
    refs,
    registrations,
    rounded,
    runs,
    sealing,
    seals,
    seed_sets,
    seeds,
    shown,
    stale,
    template_files,
    times,
    typed,
    units,
    unjudged,
    unknown_keys,
    unread,
    verdicts,
    witnesses,
)
from audit.context import Context
from audit.finding import Finding

__all__ = ["TABLE", "Check", "Context"]


@dataclass(frozen=True)
class Check:
    """One check: what it may find, what it looks at, and in which pass it is made."""

    codes: tuple[str, ...]
    name: str
    title: str
    """What holds when it finds nothing, as `audit verify` prints it."""
    run: Callable[[Context], Iterable[Finding]]
    stage: Literal["before", "after"] = "before"
    """`before` Jinja (the DVC stage `audit`), or `after` the PDF."""
    count: Callable[[Context], str] | None = None
    """How much was looked at, for the report: `12 records`."""
    needs_history: bool = False
    """Not made where the check `history` could not do its work."""


TABLE: tuple[Check, ...] = (
    Check(("A205", "A206", "A207"), "history", "the whole git history is here and nothing falsifies it", history.check, count=history.count),
    Check(
        ("A101", "A102", "A111", "A115"),
        "registrations",
        "registrations are readable, sealed before their outcome, and each asks something new",
        registrations.check,
        count=registrations.count,
    ),
    Check(("A103", "A105", "A106", "A107"), "seals", "sealed files and parameters are as they were sealed", seals.check, count=seals.count),
    Check(
        ("A104", "A108", "A109", "A110"),
        "sealing",
        "each seal is one blob in all of history, committed with what it seals, after the seals it names",
        sealing.check,
        count=sealing.count,
        needs_history=True,
    ),
    Check(
        ("A122",),
        "sharing",
        "a seed set belongs to one seal, and who shares it was sealed before any run on it",
        seed_sets.check,
        count=seed_sets.count,
        needs_history=True,
    ),
    Check(
        ("A118",),
        "amendments",
        "amendments hang on their seals in one chain, as they were sealed",
        amendments.check,
        count=amendments.count,
        needs_history=True,
    ),
    Check(
        ("A112", "A113", "A116"),
        "outcomes",
        "the metrics of the predictions exist as registered, and frozen outputs still come out",
        outcomes.check,
        count=outcomes.count,
    ),
    Check(
        ("A123",),
        "unjudged",
        "every sealed registration has verdicts, or the document says why not",
        unjudged.check,
        count=unjudged.count,
        needs_history=True,
    ),
    Check(("A114",), "closed", "closed registrations are, in history, what their outcomes say", closed.check, count=closed.count, needs_history=True),
    Check(
        ("A201", "A202", "A203", "A204", "A117"),
        "order",
        "judged records came after their seal, from runs that started after it, from nothing older",
        order.check,
        count=order.count,
        needs_history=True,
    ),
    Check(
        ("A208",),
        "refs",
        "no branch, experiment, stash or reflog here holds a judged record without its seal",
        refs.check,
        count=refs.count,
        needs_history=True,
    ),
    Check(("A209",), "times", "the times in run logs are plausible (dates decide nothing)", times.check, needs_history=True),
    Check(
        ("A210", "A211", "A212"),
        "witnesses",
        "time stamps and proofs are about these seals, and nothing refutes them",
        witnesses.check,
        count=witnesses.count,
        needs_history=True,
    ),
    Check(("A301", "A302", "A307"), "records", "records fit their committed schemas and their summaries add up", records.check, count=records.count),
    Check(("A303", "A305", "A314"), "runs", "records are those their run logs name, made from what is here", runs.check, count=runs.count),
    Check(("A311",), "code", "runs loaded the code that their commits hold", code.check, count=code.count, needs_history=True),
    Check(("A317",), "foreign", "runs loaded nothing but the project, Python and packages", foreign.check, count=foreign.count),
    Check(
        ("A318",),
        "packages",
        "packages of runs have the files of their RECORD, and no other version than a lock file pins",
        packages.check,
        count=packages.count,
        needs_history=True,
    ),
    Check(("A319",), "environment", "no environment variable brought code into a run", environment.check, count=environment.count),
    Check(("A320",), "ignored", "no .dvcignore hides a tracked file that counts", ignored.check, count=ignored.count, needs_history=True),
    Check(
        ("A119", "A120", "A121"),
        "deviations",
        "what was run is what was registered, or declared with a reason",
        deviations.check,
        count=deviations.count,
        needs_history=True,
    ),
    Check(("A308",), "seeds", "seeds are those that derive from the seals", seeds.check, count=seeds.count),
    Check(
        ("A309", "A316"),
        "verdicts",
        "verdicts follow from registrations and records, and are those of the first outcome",
        verdicts.check,
        count=verdicts.count,
    ),
    Check(
        ("A304", "A306", "A310", "A312", "A313"),
        "pipeline",
        "records are what dvc.lock says the stages of dvc.yaml made",
        pipeline.check,
        count=pipeline.count,
    ),
    Check(("A405",), "manuscript", "every line of the manuscript was read", unread.check_read),
    Check(("A401",), "numbers", "no measured number is typed", typed.check_typed, count=typed.count_numbers),
    Check(("A402",), "keys", "every cited key names a value, in a form that fits", unknown_keys.check_keys),
    Check(("A416", "A417", "A418"), "claims", "every sentence that is bound to a condition holds", claimed.check_claims, count=claimed.count_claims),
    Check(("A404",), "exemptions", "each exemption matches the places it names", exempted.check_exemptions, count=exempted.count_exemptions),
    Check(("A406",), "shown", "every prediction's verdict stands in the document", shown.check_verdicts_shown),
    Check(("A410",), "attrition", "where excluded units decide a verdict, the document says so", excluded.check_excluded),
    Check(("A411",), "denominator", "verdicts are shown with the number of those registered", denominators.check_denominators),
    Check(("A407",), "constructs", "nothing redefines our macros or prints numbers otherwise", constructs.check_constructs),
    Check(("A408",), "templates", "every template renders from the records", template_files.check_templates, needs_history=True),
    Check(("A409",), "rounding", "no printed form lies on the other side of its target, or says none or all", rounded.check_rounding, count=rounded.count_rounding),
    Check(("A419",), "units", "no cited value is followed by another unit than its own", units.check_units),
    Check(("A507",), "figures", "each figure is what its run made from these records", figures.check_figures, count=figures.count_figures),
    Check(("A403",), "generated", "generated files are what the records give now", stale.check_generated, "after"),
    Check(("A501", "A502", "A503", "A504", "A505", "A508"), "pdf", "the PDF shows the numbers of these sources and no others", built.check_pdf, "after"),
    Check(("A506",), "inputs", "LaTeX read what the audit read", inputs.check_inputs, "after"),
)
