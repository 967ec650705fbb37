"""An amendment and its seal: bytes in, verified objects out, no git."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, model_validator

from audit.finding import Refusal
from audit.load import parse_json, parse_yaml
from audit.records import Frozen, Sha256, parse_model
from audit.registration import Id, Prediction, Registration, SealId

BESIDE = re.compile(r"^[a-z0-9-]+\.(?:amendment-[0-9]+|deviations)\.yaml$")
MARK = "EDIT-ME"
"""What the tool's own drafts write where a person must write."""
AMENDMENT_SEAL = re.compile(r"^[a-z0-9-]+\.amendment-[0-9]+\.seal\.json$")


class Amendment(Frozen):
    """`prereg/<id>.amendment-<n>.yaml`, written by hand: other predictions, why, and what was known then."""

    amends: Id
    number: Annotated[int, Field(ge=1)]
    why: str = Field(min_length=1)
    known: str = Field(min_length=1)
    """What was known when it was written: which runs, which results."""
    predictions: tuple[Prediction, ...] = Field(min_length=1)
    """Under a registered id: what it would be judged by instead. Under a new one: an addition."""

    @model_validator(mode="after")
    def _each_once(self) -> Amendment:
        folded = [prediction.id.casefold() for prediction in self.predictions]
        if len(set(folded)) != len(folded):
            raise ValueError("prediction ids that differ by more than case")
        return self


class AmendmentSeal(Frozen):
    """`prereg/<id>.amendment-<n>.seal.json`: one blob for ever, hanging on the one before it."""

    kind: Literal["amendment-seal"] = "amendment-seal"
    version: Literal[1] = 1
    amends: Id
    number: Annotated[int, Field(ge=1)]
    amendment: str
    """Path of the amendment."""
    sha256: Sha256
    """Of the amendment's committed bytes."""
    predecessor: Sha256
    """SHA-256 of the seal file before it: the registration's, or that of the last amendment."""
    ledger: dict[SealId, Sha256]
    """SHA-256 of every seal that existed before this one."""

    @property
    def id(self) -> str:
        """The name under which ledgers list it."""
        return amendment_id(self.amends, self.number)


def is_registration(path: str) -> bool:
    """Whether a YAML file of `prereg/` should be a registration: neither an amendment nor declared deviations."""
    return path.endswith(".yaml") and BESIDE.match(PurePosixPath(path).name) is None


def is_amendment_seal(path: str) -> bool:
    """Whether a file is named as the seal of an amendment."""
    return AMENDMENT_SEAL.match(PurePosixPath(path).name) is not None


def amendment_id(name: str, number: int) -> str:
    """`<id>.amendment-<n>`, what its files are called."""
    return f"{name}.amendment-{number}"


def parse_amendment(data: bytes, place: str) -> Amendment:
    """Read an amendment; id and number must be those of the file's name."""
    amendment = parse_model(Amendment, parse_yaml(data, place), place)
    _refuse_other_name(f"{amendment_id(amendment.amends, amendment.number)}.yaml", place)
    return amendment


def parse_amendment_seal(data: bytes, place: str) -> AmendmentSeal:
    """Read the seal of an amendment; id and number must be those of the file's name."""
    seal = parse_model(AmendmentSeal, parse_json(data, place), place)
    _refuse_other_name(f"{seal.id}.seal.json", place)
    return seal


def refuse_marks(data: bytes, place: str) -> None:
    """Refuse a draft in which a marked place was left as the tool wrote it."""
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if MARK in line:
            raise Refusal(f"{place}:{number}", f"a place marked {MARK} is still to be written", cure="write it, remove the mark, commit")


def _refuse_other_name(said: str, place: str) -> None:
    if said != PurePosixPath(place).name:
        raise Refusal(place, "id, number and file name differ", expected=PurePosixPath(place).name, observed=said)


def refuse_strange(amendment: Amendment, registration: Registration, place: str) -> None:
    """Refuse a prediction about a record that the registration does not judge: it may be older than the seal."""
    judged = {prediction.metric.file for prediction in registration.predictions}
    registered = {prediction.id.casefold(): prediction.id for prediction in registration.predictions}
    for prediction in amendment.predictions:
        if prediction.metric.file not in judged:
            what, cure = (
                f"{prediction.id} is about a record that {registration.id} does not judge",
                "register anew: its order is proved by its own seal",
            )
            raise Refusal(place, what, expected=", ".join(sorted(judged)), observed=prediction.metric.file, cure=cure)
        if registered.get(prediction.id.casefold(), prediction.id) != prediction.id:
            raise Refusal(place, f"{prediction.id} differs from a registered id by case alone", cure="write it as it is registered")
