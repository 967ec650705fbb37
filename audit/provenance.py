"""Provenance values for the text: commits, hours, machines, versions and seals, read from run logs and seals, never typed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from difflib import get_close_matches

from audit.context import Context
from audit.denominator import Registered, count_all, expect_met, registered, verdict_records
from audit.digest import sha256_bytes
from audit.finding import Refusal
from audit.numbers.exemptions import load_exemptions
from audit.numbers.format import round_decimal
from audit.records import RunLog

__all__ = ["provenance_files", "provenance_values"]

SHORT = 10
OVER_REGISTRATIONS = frozenset(f"all.{name}" for name in ("registrations", "registered", "met", "missed", "undecided", "unjudged", "post_hoc", "by_chance", "by_chance_of"))


def log_of(context: Context, path: str) -> tuple[str, RunLog] | None:
    """The readable run log beside a record."""
    name = path.removesuffix(".json") + ".run.json"
    log = context.run_logs.get(name)
    return (name, log) if isinstance(log, RunLog) else None


def provenance_values(context: Context) -> dict[str, str]:
    """`<record>.commit`, `<registration>.seal`, `all.hours` and the like, as plain text."""
    values = dict(record_values(context))
    for name in context.seals:
        digest = sha256_bytes(context.bytes_of(context.seal_path(name)) or b"")
        values |= {f"{name}.seal": digest[:SHORT], f"{name}.seal.full": digest}
    logs = [log for log in context.run_logs.values() if isinstance(log, RunLog)]
    values["all.hours"] = hours(sum(log.seconds for log in logs))
    values["all.minutes"] = str(round_decimal(Decimal(repr(float(sum(log.seconds for log in logs)))) / 60, 0))
    values["all.runs"] = str(len(logs))
    values["all.machines"] = str(len({log.machine for log in logs}))
    values |= {f"all.{name}": str(count) for name, count in count_all(registered(context).values()).items()}
    values["all.registrations"] = str(len(registered(context)))
    for name, entries in {**{name: [entry] for name, entry in registered(context).items()}, "all": list(registered(context).values())}.items():
        values |= {f"{name}.{part}": text for part, text in tell_chance(entries).items()}
    exemptions = load_exemptions(context)
    values |= {"all.exemptions": str(len(exemptions)), "all.exempted": str(sum(exemption.count for exemption in exemptions))}
    return values


def tell_chance(entries: Collection[Registered]) -> dict[str, str]:
    """How many predictions chance would meet on average, and of how many it is known; {} where of none."""
    expected, known = expect_met(entries)
    shown = round_decimal(Decimal(expected.numerator) / Decimal(expected.denominator), 2)
    return {"by_chance": str(shown), "by_chance_of": str(known)} if known else {}


def record_values(context: Context) -> Iterator[tuple[str, str]]:
    """The values of each record that has a run log."""
    for name, path in context.config.records.items():
        found = log_of(context, path)
        if found is None:
            continue
        log = found[1]
        yield f"{name}.commit", log.commit[:SHORT]
        yield f"{name}.stage", log.stage
        yield f"{name}.hours", hours(log.seconds)
        yield f"{name}.seconds", str(round_decimal(Decimal(repr(float(log.seconds))), 0))
        yield f"{name}.machine", log.machine
        yield f"{name}.threads", str(log.threads)
        yield f"{name}.python", log.python
        yield f"{name}.date", log.started[:10]
        yield f"{name}.digest", log.record_sha256[:SHORT]
        yield from ((f"{name}.package.{package}", version) for package, version in log.packages.items())


def hours(seconds: float) -> str:
    """Hours with two decimal places."""
    return str(round_decimal(Decimal(repr(float(seconds))) / 3600, 2))


def provenance_files(context: Context, key: str) -> list[str]:
    """The files a provenance value was read from."""
    name = key.partition(".")[0]
    if key in OVER_REGISTRATIONS:
        return sorted({*map(context.seal_path, registered(context)), *(path for path, _ in verdict_records(context).values())})
    if key in ("all.exemptions", "all.exempted"):
        return [path for path in (context.config.paths.exemptions,) if context.bytes_of(path) is not None]
    if name == "all":
        return sorted(context.run_logs)
    if ".seal" in key or key.rpartition(".")[2] in ("by_chance", "by_chance_of"):
        return [context.seal_path(name)]
    found = log_of(context, context.config.records.get(name, ""))
    return [found[0]] if found else []


def look_up_provenance(values: dict[str, str], key: str, place: str) -> str:
    """A provenance value; an unknown or empty one is refused."""
    if values.get(key):
        return values[key]
    nearest = ", ".join(get_close_matches(key, list(values), n=3, cutoff=0.4)) or "none"
    raise Refusal(
        place, f"no provenance value {key!r}", observed=f"nearest: {nearest}", cure="correct the key, or rerun the stage whose run log is missing"
    )
