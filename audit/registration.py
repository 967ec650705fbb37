"""A registration, its seal, its outcome and its seeds: bytes in, verified objects out, no git."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from audit.difference import Difference
from audit.digest import canonical_json, sha256_bytes, sha256_lines
from audit.finding import Refusal
from audit.load import parse_json, parse_yaml
from audit.records import Frozen, Sha256, parse_model

OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq}
Number = float | int
Id = Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
SealId = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.amendment-[0-9]+)?$")]
PredictionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
Scalar = str | bool | int | float | None


class Metric(Frozen):
    """The one quantity a prediction is about."""

    file: str
    stage: str
    """DVC stage that writes the file."""
    key: str
    """Dotted path of a quantity inside the record."""


class Comparator(Frozen):
    """How the metric must compare: with a value, an interval, or another quantity of the same file."""

    op: Literal[">=", ">", "<=", "<", "==", "in"]
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    than: str | None = None
    """Key of another quantity of the same file; per unit where `units` is given."""
    units: int | None = Field(default=None, ge=1)
    """At least so many of the per-unit values must compare; None compares the summary value."""

    @model_validator(mode="after")
    def _one_target(self) -> Comparator:
        given = {name for name in ("value", "low", "high", "than") if getattr(self, name) is not None}
        wanted = [{"low", "high"}] if self.op == "in" else [{"value"}, {"than"}]
        if given not in wanted:
            raise ValueError("op `in` with low and high, any other op with either value or than")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError("low not above high")
        return self

    def text(self) -> str:
        """The target as a reader sees it."""
        if self.op == "in":
            target = f"in [{self.low}, {self.high}]"
        else:
            target = f"{self.op} {self.than if self.value is None else self.value}"
        return f"{target} in at least {self.units} units" if self.units else target


class Undecided(Frozen):
    """When a prediction is undecided: by a count or validity quantity of the metric's file, never by the metric."""

    key: str
    op: Literal[">=", ">", "<=", "<", "=="]
    value: Number


class Prediction(Frozen):
    """One sentence that can lose."""

    id: PredictionId
    claim: str = Field(min_length=1)
    metric: Metric
    comparator: Comparator
    undecided: Undecided | None = None
    null: str = Field(min_length=1)
    """What an uninteresting world would give."""

    @model_validator(mode="after")
    def _never_by_the_metric(self) -> Prediction:
        if self.undecided and self.undecided.key in (self.metric.key, self.comparator.than):
            raise ValueError("undecided by a count or validity quantity, never by the metric itself")
        return self


class Reading(Frozen):
    """What a combination of verdicts will be taken to mean, fixed in advance."""

    when: dict[PredictionId, Literal["met", "missed", "undecided"]] = Field(min_length=1)
    text: str = Field(min_length=1)


class Seeds(Frozen):
    """Where the seeds come from."""

    from_: Literal["seal"] = Field(alias="from")
    sets: dict[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], Annotated[int, Field(ge=1, le=10_000)]] = Field(min_length=1)
    """Name of a seed set -> number of seeds."""


class Freezes(Frozen):
    """What must not change, beside the registration's own text."""

    code: tuple[str, ...] = ()
    """Files whose bytes are sealed where they lie: the judge."""
    outputs: tuple[str, ...] = ()
    """Records that are copied to `prereg/<id>/` and read from there: thresholds, manifests."""
    parameters: tuple[str, ...] = ()
    """Dotted keys of the parameters, sealed by canonical value."""


class Registration(Frozen):
    """`prereg/<id>.yaml`, written by hand before the runs."""

    id: Id
    title: str = Field(min_length=1)
    holds_for: dict[str, Scalar] = {}
    """Dotted keys of the parameters and the values they must have; elsewhere it is not evaluated."""
    seeds: Seeds
    stages: tuple[Annotated[str, Field(pattern=r"^[^@\s]+$")], ...] = Field(min_length=1)
    """Stages (without what follows `@`) that must wait for the committed seal."""
    freezes: Freezes = Freezes()
    primary: PredictionId
    predictions: tuple[Prediction, ...] = Field(min_length=1)
    readings: tuple[Reading, ...] = ()

    @model_validator(mode="after")
    def _names_agree(self) -> Registration:
        ids = [prediction.id for prediction in self.predictions]
        folded = [name.casefold() for name in ids]
        repeated = next((name for name in ids if folded.count(name.casefold()) > 1), None)
        if repeated:
            raise ValueError(f"prediction ids that differ by more than case (twice: {repeated})")
        for name in (self.primary, *(name for reading in self.readings for name in reading.when)):
            if name not in ids:
                raise ValueError(f"ids of its own predictions (unknown: {name})")
        for path in (*self.freezes.code, *self.freezes.outputs, *(prediction.metric.file for prediction in self.predictions)):
            if not re.fullmatch(r"[^\\\n\r\0]+", path) or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise ValueError(f"paths relative to the project (not: {path!r})")
        return self

    def unmet(self, parameters: Any) -> str | None:
        """The first condition of `holds_for` that the parameters do not meet, as text, or None."""
        for key, wanted in self.holds_for.items():
            found = look_up(parameters, key)
            if type(found) is not type(wanted) or found != wanted:
                return f"{key} is {found!r}, registered for {wanted!r}"
        return None

    def judged_stages(self) -> set[str]:
        """Stages (without what follows `@`) whose records stand under this registration."""
        return set(self.stages) | {prediction.metric.stage.split("@")[0] for prediction in self.predictions}


class FrozenParameter(Frozen):
    """One parameter subtree as it was sealed."""

    sha256: Sha256
    """Of the value's canonical JSON."""
    value: Any


class Seal(Frozen):
    """`prereg/<id>.seal.json`: one blob for ever, without time, commit or tool version."""

    kind: Literal["seal"] = "seal"
    version: Literal[1, 2] = 1
    """2: it names the configuration, and an undeclared difference of its runs is a finding."""
    id: Id
    registration: str
    """Path of the registration."""
    files: dict[str, Sha256]
    """Registration, frozen code and copies of frozen outputs: path -> SHA-256 of the committed bytes."""
    origins: dict[str, str]
    """Copy of a frozen output -> where the output lies."""
    parameters: dict[str, FrozenParameter]
    content: Sha256
    """`sha256sum FILES | LC_ALL=C sort -k2 | sha256sum`."""
    configuration: dict[str, Sha256 | None] = {}
    """SHA-256 of `audit.toml`, the exemptions and the schemas as committed (None: no such file); a change is a deviation."""
    ledger: dict[SealId, Sha256]
    """SHA-256 of every seal that existed before this one."""
    warnings: tuple[str, ...]
    """What the linter said about predictions that can hardly fail."""

    @model_validator(mode="after")
    def _consistent(self) -> Seal:
        if sha256_lines(self.files) != self.content:
            raise ValueError(f"content {sha256_lines(self.files)} (recomputed from its files)")
        if self.registration not in self.files or not set(self.origins) <= set(self.files):
            raise ValueError("the registration and every copy among its files")
        if self.version == 1 and self.configuration:
            raise ValueError("a seal of version 1 names no configuration")
        if self.version == 2 and "audit.toml" not in self.configuration:
            raise ValueError("a seal of version 2 names audit.toml in its configuration")
        for key, parameter in self.parameters.items():
            if digest_value(parameter.value) != parameter.sha256:
                raise ValueError(f"parameter {key} with the digest of its value")
        return self

    def copy_of(self, path: str) -> str:
        """Where judging reads a file: the sealed copy of a frozen output, else the file itself."""
        return next((copy for copy, origin in self.origins.items() if origin == path), path)


class Outcome(Frozen):
    """`prereg/<id>.outcome.json`: what a registration came to, after which its code may move on."""

    kind: Literal["outcome"] = "outcome"
    version: Literal[1] = 1
    id: Id
    seal: Sha256
    """SHA-256 of the seal file."""
    commit: str
    """The commit that holds all blobs below."""
    records: dict[str, str]
    """Judged records and the verdicts' record: path -> git blob."""
    logs: dict[str, str]
    """Their run logs: path -> git blob."""
    files: dict[str, str]
    """The sealed files: path -> git blob."""
    verdicts: dict[PredictionId, Literal["met", "missed", "undecided"]]
    deviations: tuple[Difference, ...] | None = None
    """What differed between the commit of the seal and the runs, each with why; absent under a seal of version 1."""


def digest_value(value: Any) -> str:
    """SHA-256 of a plain value's canonical JSON."""
    return sha256_bytes(canonical_json(value))


def look_up(value: Any, dotted: str) -> Any:
    """The value at a dotted key of nested mappings, or None."""
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def parse_registration(data: bytes, place: str) -> Registration:
    """Read a registration; its id must be the file's name."""
    registration = parse_model(Registration, parse_yaml(data, place), place)
    if registration.id != PurePosixPath(place).stem:
        raise Refusal(place, "id and file name differ", expected=PurePosixPath(place).stem, observed=registration.id)
    return registration


def parse_seal(data: bytes, place: str) -> Seal:
    """Read a seal whose digests agree with each other; its id must be the file's name."""
    seal = parse_model(Seal, parse_json(data, place), place)
    if f"{seal.id}.seal.json" != PurePosixPath(place).name:
        raise Refusal(place, "id and file name differ", expected=PurePosixPath(place).name, observed=seal.id)
    return seal


def seed_text(seal: Seal, seed_set: str, index: int) -> str:
    """The text whose SHA-256 gives one seed: one line per field; `-` stands for no witness."""
    return f"audit-seed-1\n{seal.id}\n{seal.content}\n-\n{seed_set}\n{index}\n"


def derive_seeds(seal: Seal, seed_set: str, count: int) -> tuple[int, ...]:
    """The first `count` seeds of a set: 16 hex digits of the SHA-256 each, top bit cleared (63 bits)."""
    digests = (sha256_bytes(seed_text(seal, seed_set, index).encode()) for index in range(count))
    seeds = tuple(int(digest[:16], 16) & (2**63 - 1) for digest in digests)
    if len(set(seeds)) != count:
        raise Refusal(f"seal {seal.id}", f"two seeds of set {seed_set} are equal", cure="register anew: one changed byte gives other seeds")
    return seeds
