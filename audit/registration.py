"""A registration, its seal, its outcome and its seeds: bytes in, verified objects out, no git."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from audit.difference import Difference
from audit.digest import canonical_json, sha256_bytes, sha256_lines
from audit.finding import Refusal
from audit.load import parse_json, parse_yaml
from audit.predictions import (
    OPERATORS,
    Comparator,
    Language,
    Metric,
    Null,
    Number,
    Population,
    Prediction,
    PredictionId,
    SetName,
    Source,
    Undecided,
)
from audit.records import Frozen, Sha256, parse_model

__all__ = [
    "ID", "OPERATORS", "Comparator", "FrozenParameter", "Freezes", "Id", "Metric", "Null", "Number", "Outcome", "Population", "Prediction",
    "PredictionId", "Reading", "Registration", "Seal", "Seeds", "Source", "Undecided", "derive_seeds", "digest_value", "look_up",
    "parse_registration", "parse_seal", "refuse_strange_id", "seed_of", "seed_text",
]  # fmt: skip

ID = re.compile(r"[a-z0-9-]+")
Id = Annotated[str, Field(pattern=rf"^{ID.pattern}$")]
NO_WITNESS = "-"
SealId = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.amendment-[0-9]+)?$")]
Scalar = str | bool | int | float | None
LARGEST = 256 * 1024
"""Bytes of a registration: nobody reads more."""


class Reading(Language):
    """What a combination of verdicts will be taken to mean, fixed in advance."""

    when: dict[PredictionId, Literal["met", "missed", "undecided"]] = Field(min_length=1)
    """Prediction -> the verdict it must have; the first reading that fits is the one."""
    text: str = Field(min_length=1)
    """What it is taken to mean."""


class Seeds(Language):
    """Where the seeds come from: this registration's own seal, or the set that another one owns."""

    from_: Literal["seal", "seal+witness"] | None = Field(default=None, alias="from")
    """Derived from the seal, so that none of them can be known before it; with `seal+witness` the signed content of the seal's first
    committed time stamp goes into every seed too."""
    sets: dict[SetName, Annotated[int, Field(ge=1, le=10_000)]] = Field(default={}, min_length=1)
    """Name of a seed set -> number of seeds."""
    same_as: Id | None = None
    """The registration whose seal gives the seeds; then both seals must stand before any run on them."""

    @model_validator(mode="after")
    def _one_source(self) -> Seeds:
        if (self.same_as is None) != (self.from_ is not None and bool(self.sets)) or (self.same_as and (self.from_ or self.sets)):
            raise ValueError("either `from` with `sets`, or `same_as` alone")
        return self


class Freezes(Language):
    """What must not change, beside the registration's own text."""

    code: tuple[str, ...] = ()
    """Files whose bytes are sealed where they lie: the judge."""
    outputs: tuple[str, ...] = ()
    """Records that are copied to `prereg/<id>/` and read from there: thresholds, manifests."""
    parameters: tuple[str, ...] = ()
    """Dotted keys of the parameters, sealed by canonical value."""


class Registration(Language):
    """`prereg/<id>.yaml`, written by hand before the runs."""

    id: Id
    """The file's name without `.yaml`."""
    title: str = Field(min_length=1)
    """What is registered, in one line."""
    holds_for: dict[str, Scalar] = {}
    """Dotted keys of the parameters and the values they must have; elsewhere it is not evaluated."""
    seeds: Seeds
    """The seed sets, and what their seeds derive from."""
    stages: tuple[Annotated[str, Field(pattern=r"^[^@\s]+$")], ...] = Field(min_length=1)
    """Stages (without what follows `@`) that must wait for the committed seal."""
    freezes: Freezes = Freezes()
    """What must not change from the seal on."""
    primary: PredictionId
    """The prediction that decides the question."""
    predictions: tuple[Prediction, ...] = Field(min_length=1)
    """Every one of them gets a verdict."""
    readings: tuple[Reading, ...] = ()
    """What combinations of verdicts will be taken to mean."""

    @model_validator(mode="after")
    def _names_agree(self) -> Registration:
        ids = [prediction.id for prediction in self.predictions]
        folded = [name.casefold() for name in ids]
        repeated = next((name for name in ids if folded.count(name.casefold()) > 1), None)
        if repeated:
            raise ValueError(f"prediction ids that differ by more than case (twice: {repeated})")
        if self.seeds.same_as == self.id:
            raise ValueError("seeds.same_as with the id of another registration")
        for name in (self.primary, *(name for reading in self.readings for name in reading.when)):
            if name not in ids:
                raise ValueError(f"ids of its own predictions (unknown: {name})")
        for path in (*self.freezes.code, *self.freezes.outputs, *(prediction.metric.file for prediction in self.predictions)):
            if not re.fullmatch(r"[^\\\n\r\0]+", path) or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise ValueError(f"paths relative to the project (not: {path!r})")
        for path in sorted(source.file for prediction in self.predictions for source in prediction.comparator.sources()):
            if path not in self.freezes.outputs:
                raise ValueError(f"frozen thresholds from files that freezes.outputs names (not: {path!r})")
        return self

    def units_of(self, prediction: Prediction) -> int | None:
        """How many units a prediction is about, or None where it names no population, or a set that is not registered."""
        return prediction.population.units(self.seeds.sets) if prediction.population else None

    def files(self) -> set[str]:
        """Every record that judging reads."""
        metrics = {prediction.metric.file for prediction in self.predictions}
        return metrics | {source.file for prediction in self.predictions for source in prediction.comparator.sources()}

    def unmet(self, parameters: Any) -> str | None:
        """The first condition of `holds_for` that the parameters do not meet, as text, or None."""
        for key, wanted in self.holds_for.items():
            found = look_up(parameters, key)
            if type(found) is not type(wanted) or found != wanted:
                return f"{key} is {found!r}, registered for {wanted!r}"
        return None

    @property
    def seed_owner(self) -> str:
        """Id of the registration whose seal its seeds derive from, and which a seed set of the parameters must name."""
        return self.seeds.same_as or self.id

    def rivals(self, other: Registration) -> set[str]:
        """Seed sets that both claim for seeds of their own under parameters that can be the same."""
        if any(key in other.holds_for and other.holds_for[key] != value for key, value in self.holds_for.items()):
            return set()
        return self.seeds.sets.keys() & other.seeds.sets.keys()

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
    post_hoc: bool = False
    """Sealed although an outcome was there: nothing under it is confirmatory. Left out of the file where it is false."""

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


def refuse_strange_id(name: str) -> None:
    """Refuse an id that no registration may have."""
    if not ID.fullmatch(name):
        raise Refusal(name, "is no id of a registration", expected="small letters, digits and hyphens", cure="name it anew")


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
    if len(data) > LARGEST:
        cure = "keep predictions in it and data elsewhere"
        raise Refusal(place, "is too long for a registration", expected=f"at most {LARGEST // 1024} KiB", observed=f"{len(data)} bytes", cure=cure)
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


def seed_counts(registration: Registration, registrations: Mapping[str, Registration]) -> dict[str, int]:
    """Name of each seed set of a registration -> its number of seeds: its own sets, or those of the one it shares them with."""
    return dict(registrations.get(registration.seed_owner, registration).seeds.sets)


def seed_text(seal: Seal, seed_set: str, index: int, witness: str = NO_WITNESS) -> str:
    """The text whose SHA-256 gives one seed: one line per field; the fourth is the SHA-256 of the time stamp's TSTInfo, or `-`."""
    return f"audit-seed-1\n{seal.id}\n{seal.content}\n{witness}\n{seed_set}\n{index}\n"


def seed_of(text: str) -> int:
    """The number that a text gives: 16 hex digits of its SHA-256, top bit cleared (63 bits)."""
    return int(sha256_bytes(text.encode())[:16], 16) & (2**63 - 1)


def derive_seeds(seal: Seal, seed_set: str, count: int, witness: str = NO_WITNESS) -> tuple[int, ...]:
    """The first `count` seeds of a set."""
    seeds = tuple(seed_of(seed_text(seal, seed_set, index, witness)) for index in range(count))
    if len(set(seeds)) != count:
        raise Refusal(f"seal {seal.id}", f"two seeds of set {seed_set} are equal", cure="register anew: one changed byte gives other seeds")
    return seeds
