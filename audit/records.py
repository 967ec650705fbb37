"""What lies on disk: records, quantities, run logs; each a frozen pydantic model written as sorted JSON."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from audit.digest import canonical_json, sha256_bytes, sha256_file
from audit.finding import Refusal
from audit.load import parse_json, read_bytes, read_json, read_yaml, write_bytes

__all__ = [
    "Frozen", "Provenance", "Quantity", "Record", "Refusal", "RunLog", "Sha256", "canonical_json", "log_path", "parse_model",
    "read_json", "read_model", "read_yaml", "record_bytes", "sha256_bytes", "sha256_file", "write_bytes", "write_record",
]  # fmt: skip

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Frozen(BaseModel):
    """Strict, closed, immutable, and free of NaN and infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class Quantity(Frozen):
    """A measured leaf of a record: the only thing a number in a manuscript can come from."""

    value: float | int
    unit: str = "1"
    """`1` for a pure number, else `nats`, `steps`, ..."""
    digits: int = Field(ge=0, le=12)
    """Decimal places of the printed form (of the mantissa where `style` is scientific)."""
    style: Literal["fixed", "scientific", "integer", "percent"] = "fixed"
    tolerance: float = Field(ge=0)
    """Absolute difference within which a recomputation agrees; 0 for counts and other exact values."""
    summary: Literal["median", "mean", "min", "max", "sum", "count", "share"] | None = None
    """How `value` follows from `values`; the audit recomputes it. `count` and `share` count the values that are not zero."""
    values: Annotated[tuple[float | int, ...] | None, BeforeValidator(lambda value: tuple(value) if type(value) is list else value)] = None
    """One value per unit (event, seed, block), in the order of the record's own lists."""


class Provenance(Frozen):
    """What a record was made from, in its own bytes, so that no other run can produce these bytes by chance."""

    stage: str
    seals: dict[str, Sha256]
    """SHA-256 of each seal file the run stood under, by registration id."""
    parameters: Sha256
    """SHA-256 of the canonical JSON of the parameters the stage was given."""
    seeds: tuple[int, ...]
    data: dict[str, Sha256]
    """SHA-256 of each record or folder this one was computed from, by path."""


class Record(Frozen):
    """A stage's output. Subclasses give `kind` and `version` as literals and add their fields."""

    kind: str
    version: int
    provenance: Provenance


class RunLog(Frozen):
    """`<record>.run.json`: what is not deterministic about the run that wrote a record."""

    kind: Literal["run"] = "run"
    version: Literal[1] = 1
    stage: str
    command: tuple[str, ...]
    commit: str
    """The commit the run started from (HEAD)."""
    changed: tuple[str, ...]
    """Tracked files that differed from that commit when the run started."""
    record: str
    record_sha256: Sha256
    outputs: dict[str, Sha256]
    """Other outputs, by path: SHA-256 of a file, or of a folder's `sha256sum` lines."""
    inputs: dict[str, Sha256]
    """What the run read, by path: SHA-256 at the start."""
    code: dict[str, Sha256]
    """Every project module that was loaded, by path."""
    seals: dict[str, Sha256]
    """SHA-256 of the seals as they stood in the start commit."""
    packages: dict[str, str]
    altered: dict[str, Sha256] | None = None
    """Loaded files of packages that are not what the package's own RECORD says, by their path there; absent from older logs."""
    foreign: dict[str, Sha256] | None = None
    """Loaded modules of neither the project, Python nor a package's RECORD; absent from older logs."""
    environment: dict[str, str] | None = None
    """Variables that may have steered the run, those with private values as the beginning of a SHA-256; absent from older logs."""
    resumed: dict[str, Sha256] | None = None
    """Checkpoints that lay there when the run started, by path; absent where the stage has none."""
    python: str
    machine: str
    threads: int
    started: str
    ended: str
    seconds: float


Model = TypeVar("Model", bound=BaseModel)


def log_path(record: str) -> str:
    """Where the run log of a record lies."""
    return record if record.endswith(".run.json") else record.removesuffix(".json") + ".run.json"


def record_bytes(record: BaseModel) -> bytes:
    """A record as the bytes that are written and hashed: sorted keys, one-space indent, a final newline."""
    value = record.model_dump(mode="json", exclude_none=True)
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def write_record(path: Path, record: BaseModel) -> str:
    """Write a record atomically and return the SHA-256 of its bytes."""
    data = record_bytes(record)
    write_bytes(path, data)
    return sha256_bytes(data)


def parse_model(model: type[Model], value: Any, place: object) -> Model:
    """Validate a plain value as a model; the first fault becomes one line with its key."""
    try:
        parsed = model.model_validate_json(json.dumps(value))  # NaN passes here, so that the model names its key
        json.dumps(value, allow_nan=False)
        return parsed
    except ValidationError as error:
        what, details = describe_fault(error, model)
        raise Refusal(place, what, **details) from None
    except (ValueError, TypeError, RecursionError) as error:
        cure = "write a finite number; put dates in quotes"
        raise Refusal(place, "holds a value that JSON cannot hold", observed=str(error), cure=cure) from None


def describe_fault(error: ValidationError, model: type[BaseModel] | None = None) -> tuple[str, dict[str, str]]:
    """The first fault of a validation, a misspelt key before all, as `what` and the keywords of a Refusal."""
    faults = sorted(error.errors(include_url=False, include_context=False), key=lambda fault: fault["type"] != "extra_forbidden")
    fault, more = faults[0], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        missing = [str(other["loc"][-1]) for other in faults if other["type"] == "missing" and other["loc"][:-1] == fault["loc"][:-1]]
        nearest = get_close_matches(str(fault["loc"][-1]), missing, n=1, cutoff=0.5)
        cure = f"write {nearest[0]}" if nearest else "remove it or correct its spelling"
        return f"unknown key {key!r}{more}", {"expected": nearest[0] if nearest else name_keys(model, fault["loc"]), "observed": key, "cure": cure}
    if fault["type"] == "missing":
        return f"key {key!r} is missing{more}", {"expected": key, "observed": "no such key", "cure": "add it"}
    shown = repr(fault.get("input"))
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    quoted = isinstance(fault.get("input"), str) and fault["type"] in ("float_type", "int_type", "bool_type")
    cure = "write it without quotes, as a number" if quoted else "correct the value"
    return f"{key or 'value'} is not valid{more}", {"expected": message, "observed": shown if len(shown) < 80 else shown[:77] + "...", "cure": cure}


def name_keys(model: type[BaseModel] | None, place: tuple[int | str, ...]) -> str:
    """The keys that may stand where an unknown one stands, as far as models lie plainly in models or lists of them."""
    for part in place[:-1]:
        field = model.model_fields.get(part) if model is not None and isinstance(part, str) else None
        if isinstance(part, str):
            held = [] if field is None else [field.annotation, *(item for item in get_args(field.annotation) if get_origin(field.annotation) is tuple)]
            model = next((item for item in held if isinstance(item, type) and issubclass(item, BaseModel)), None)
    return "a key of its model" if model is None else f"one of {', '.join(field.alias or name for name, field in model.model_fields.items())}"


def refuse_fault(error: ValidationError) -> Refusal:
    """A model that a program filled in wrongly, as one line: which model, which field, what was expected and found."""
    what, details = describe_fault(error)
    return Refusal(error.title, what, **details)


def read_model(model: type[Model], path: Path) -> Model:
    """Read a JSON file as a model, strictly."""
    return parse_model(model, parse_json(read_bytes(path), path), path)
