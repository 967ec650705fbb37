"""What the templates of an appendix can print: the label of each cited quantity, attrition, the denominator, the audit's limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from audit.attrition import Attrition, trace_attrition
from audit.confirmatory import Word, cited_keys, label, predicted_keys
from audit.context import Context
from audit.denominator import Registered, count_all, expect_met, phrase, registered, verdict_records, words_of
from audit.finding import Refusal
from audit.kept import kept_bytes
from audit.limits import LIMITS
from audit.load import parse_json
from audit.registration import Registration
from audit.templates import Node

__all__ = ["accessors", "attrition_mark", "compute_attrition", "denominator_mark"]

SAME, NOT_COUNTED = "same", "cannot be counted"


def accessors(context: Context, read: set[str], shown: set[str]) -> dict[str, Callable[[], Any]]:
    """`labels()`, `attrition()`, `denominator()`, `limits()` for templates; what they read and show is noted."""
    return {
        "labels": lambda: Node(label_tables(context, read), "labels", lambda where: None),
        "attrition": lambda: attrition_node(context, read, shown),
        "denominator": lambda: denominator_node(context, read, shown),
        "limits": lambda: Node(list(LIMITS), "limits", lambda where: None),
    }


def counted(number: int) -> dict[str, Any]:
    """A count as a plain quantity, so that the filter `val` prints it."""
    return {"value": number, "unit": "1", "digits": 0, "style": "integer", "tolerance": 0}


def label_tables(context: Context, read: set[str]) -> dict[str, Any]:
    """Every confirmatory quantity that is predicted or cited, and how many cited ones of each record have which other label."""
    cited = cited_keys(context)
    found = [label(context, key) for key in sorted({*cited, *predicted_keys(context)})]
    read |= {context.config.records[each.key.partition(".")[0]] for each in found if each.key.partition(".")[0] in context.config.records}
    rows = [
        {"key": each.key, "prediction": ", ".join(each.predictions), "set": each.seed_set, "cited": counted(cited[each.key])}
        for each in found
        if each.word is Word.CONFIRMATORY
    ]
    others = Counter((each.key.partition(".")[0], each.word.value) for each in found if each.word is not Word.CONFIRMATORY and cited[each.key])
    return {
        "confirmatory": rows,
        "others": [{"record": name, "label": word, "count": counted(count)} for (name, word), count in sorted(others.items())],
    }


def attrition_mark(name: str) -> str:
    """What a table is noted to show when it prints whether a verdict flips."""
    return f"attrition of {name}"


def denominator_mark(registration: str) -> str:
    """What a template is noted to show when it prints a registration's counts."""
    return f"denominator of {registration}"


def compute_attrition(context: Context) -> dict[str, Attrition]:
    """`registration.prediction` -> attrition, for every verdict that stands here."""
    found = {}
    for name, (_, record) in verdict_records(context).items():
        registration, words = context.registrations.get(name), words_of(record)
        sets = seed_sets(context, registration) if registration else {}
        for prediction in registration.predictions if registration else ():
            try:
                source = read_source(context, name, prediction.metric.file) if prediction.id in words else None
                if source is not None and registration:
                    found[f"{name}.{prediction.id}"] = trace_attrition(prediction, sets, source, words[prediction.id])
            except Refusal:
                continue  # no such record or quantity: A113 or A309 says so
    return found


def seed_sets(context: Context, registration: Registration) -> Mapping[str, int]:
    """Name of each seed set -> number of seeds, of the registration whose seal gives the seeds."""
    return context.registrations.get(registration.seed_owner, registration).seeds.sets


def read_source(context: Context, name: str, file: str) -> Any:
    """The record a metric is judged from, as a plain value: of a closed registration that does not hold any more the one it keeps, else the
    sealed copy of a frozen output, else the file itself; None where it is absent."""
    path = context.seals[name].copy_of(file) if name in context.seals else file
    if (kept := kept_bytes(context, name, path)) is not None:
        return parse_json(kept, path)
    data = None if path in context.records else context.bytes_of(path)
    return context.records.get(path) if data is None else parse_json(data, path)


def attrition_node(context: Context, read: set[str], shown: set[str]) -> Node:
    """One row a prediction; a template that reads `against` shows whether the verdict flips."""
    rows = [attrition_row(name, each) for name, each in compute_attrition(context).items()]

    def note(where: str) -> None:
        _, _, rest = where.partition(".")
        index, _, field = rest.partition(".")
        if field == "against":
            shown.add(attrition_mark(rows[int(index)]["prediction"]))

    read |= {path for path, _ in verdict_records(context).values()}
    return Node(rows, "attrition", note)


def attrition_row(name: str, each: Attrition) -> dict[str, Any]:
    """One prediction as plain values; absent numbers are absent keys."""
    numbers = {"seeds": each.seeds, "registered": each.registered, "run": each.run, "excluded": each.excluded}
    return {
        "prediction": name,
        **{field: counted(number) for field, number in numbers.items() if number is not None},
        "rule": each.rule or "no rule",
        "verdict": each.verdict,
        "against": NOT_COUNTED if each.against is None else SAME if not each.flips else each.against,
    }


def denominator_node(context: Context, read: set[str], shown: set[str]) -> Node:
    """Counts over all registrations that were ever sealed, and of each of them; a template that reads a `phrase` shows it."""
    entries = registered(context)
    rows = [
        {"id": entry.id, "state": entry.state.value, "warnings": list(entry.seal.warnings), "chances": show_chances(entry), **tell([entry])}
        for entry in entries.values()
    ]

    def note(where: str) -> None:
        parts = where.split(".")
        if parts[1:2] == ["registrations"] and parts[-1] == "phrase":
            shown.add(denominator_mark(rows[int(parts[2])]["id"]))

    read |= {context.seal_path(name) for name in entries}
    return Node({"registrations": rows, **tell(list(entries.values()))}, "denominator", note)


def show_chances(entry: Registered) -> dict[str, Any]:
    """Prediction -> its chance under its null as a plain quantity, of those whose chance is known."""
    known = {prediction.id: entry.chance_of(prediction) for prediction in entry.registration.predictions}
    return {name: {**counted(0), "value": float(chance.value), "digits": 4, "style": "fixed"} for name, chance in known.items() if chance}


def tell(entries: Collection[Registered]) -> dict[str, Any]:
    """Counts as plain quantities, and as a phrase; how many chance would meet, of those whose chance is known, where there is one."""
    counts, (expected, known) = count_all(entries), expect_met(entries)
    by_chance = {"by_chance": {**counted(0), "value": float(expected), "digits": 2, "style": "fixed"}, "by_chance_of": counted(known)} if known else {}
    return {**{name: counted(number) for name, number in counts.items()}, **by_chance, "phrase": phrase(counts)}
