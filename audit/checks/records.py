"""A301, A302, A307: every record can be read in one way, fits the schema that is committed for its kind, and adds up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from audit.context import Context
from audit.finding import Finding, Refusal, Severity
from audit.load import parse_json
from audit.quantities import summary_fault
from audit.records import Quantity, parse_model
from audit.seal import LFS

RERUN = "rerun the stage that writes it, or git checkout HEAD -- {}"


def check(context: Context) -> Iterator[Finding]:
    """Every record of the working tree."""
    for folder in context.linked_folders:
        what, cure = "is a symbolic link: no record is looked for in it", f"git checkout HEAD -- {folder}, or put the folder itself there"
        yield Finding(code="A301", place=folder, what=what, expected="the folder itself", cure=cure)
    for path, refusal in context.unreadable.items():
        yield _unreadable(context, path, refusal)
    schemas: dict[str, bytes | None] = {}
    for path, record in context.records.items():
        yield from _fits(context, path, record, schemas)
        if path not in context.provenance:
            what = "does not say what it was made from"
            yield Finding(
                code="A302", place=f"{path}:provenance", what=what, expected="stage, seals, parameters, seeds, data", cure=RERUN.format(path)
            )
        yield from _adds_up(context, path)


def count(context: Context) -> str:
    """How many records and quantities."""
    quantities = sum(map(len, context.quantities.values()))
    return f"{len(context.record_paths)} records, {quantities} quantities"


def _unreadable(context: Context, path: str, refusal: Refusal) -> Finding:
    if context.record_bytes[path].startswith(LFS):
        what = "content absent: this is a Git LFS pointer, not the record"
        return Finding(code="A301", severity=Severity.UNCHECKED, place=path, what=what, cure="git lfs pull")
    return Finding(code="A301", place=path, what=str(refusal).removeprefix(f"{path}: "))


def _fits(context: Context, path: str, record: dict[str, Any], schemas: dict[str, bytes | None]) -> Iterator[Finding]:
    kind = record.get("kind")
    schema = f"{context.config.paths.schemas}/{kind}.json"
    if schema not in schemas:
        schemas[schema] = context.bytes_of(schema) if isinstance(kind, str) and kind.isidentifier() else None
    if (data := schemas[schema]) is None:
        cure = f"commit the JSON Schema of this kind as {context.config.paths.schemas}/KIND.json"
        yield Finding(code="A302", place=path, what="there is no committed schema for its kind", observed=f"kind {kind!r}", cure=cure)
        return
    validator = _validator(data, schema, str(kind))
    if isinstance(validator, Refusal):
        yield Finding(code="A302", place=schema, what=validator.what, expected=validator.expected, observed=validator.observed, cure=validator.cure)
        return
    faults = sorted(validator.iter_errors(record), key=lambda fault: [str(part) for part in fault.instance_path])
    if faults:
        key = ".".join(str(part) for part in faults[0].instance_path)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        message = " ".join(faults[0].message.split())
        message = message if len(message) < 120 else message[:117] + "..."
        yield Finding(code="A302", place=f"{path}:{key}" if key else path, what=f"does not fit {schema}: {message}{more}", cure=f"{RERUN.format(path)}; or, where its kind has changed, write the schema anew")


@cache
def _validator(data: bytes, schema: str, kind: str) -> Any:
    """A validator, or the Refusal that says why the schema checks nothing: it must be closed and name its kind."""
    from jsonschema_rs import ValidationError, validator_for

    cure = f"git checkout HEAD -- {schema}, or let the study write it again"
    try:
        value = parse_json(data, schema)
        validator = validator_for(value, retriever=_fetch_nothing)
    except Refusal as refusal:
        return refusal
    except (ValidationError, ValueError) as error:
        return Refusal(schema, "is no JSON Schema", observed=str(error).splitlines()[0], cure=cure)
    named = value.get("properties", {}).get("kind", {}) if isinstance(value, dict) else {}
    if named.get("const") != kind or value.get("additionalProperties") is not False:
        expected = f'"additionalProperties": false, and properties.kind.const {kind!r}'
        return Refusal(schema, "is too loose to check a record", expected=expected, cure=cure)
    return validator


def _fetch_nothing(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}, outside itself")


def _adds_up(context: Context, path: str) -> Iterator[Finding]:
    for key, value in context.quantities[path]:
        try:
            quantity = parse_model(Quantity, value, f"{path}:{key}")
        except Refusal as refusal:
            yield Finding(code="A302", place=f"{path}:{key}", what=str(refusal).removeprefix(f"{path}:{key}: "))
            continue
        again = summary_fault(quantity)
        if again is not None:
            what = f"the {quantity.summary} does not follow from its {len(quantity.values or ())} values"
            yield Finding(code="A307", place=f"{path}:{key}", what=what, expected=again, observed=repr(quantity.value), cure=RERUN.format(path))
