"""The language of predictions: each can lose, and each is judged from named quantities.

| a prediction about | is written as |
| --- | --- |
| a threshold | `{op: ">=", value: 3}`; one that a frozen record holds: `{op: "<", frozen: {file: F, key: K}}` |
| an interval | `{op: in, low: 1, high: 2}` |
| equivalence | `{op: in, value: 1, band: 0.1}`, or with another quantity `{op: in, than: K, band: 0.1}` |
| a direction | `{op: ">", than: K}`, or `{op: ">", value: 0}` of a quantity that is a difference |
| a count | `{op: "<=", value: 0.01, units: 9}`: in at least 9 units; or a threshold of a quantity that counts |
| named rivals, pairwise | `{op: "<", than: [A, B]}`: than every one of them; unit by unit with `units` |
| the order of arms | `{op: ">", order: [B, C]}`: metric > B > C; unit by unit with `units` |
| rank correlation | `{op: ">=", value: 0.8, rank_correlation: K}`: Spearman's, over the units |
| classification | `{op: "<", frozen: {file: F, key: K}, labels: L, units: 9}`: below the threshold exactly where the label is 1 |
| several at once | `{all: [{op: ">", value: 1}, {key: K, op: "<", than: L}]}`: every one of them |

There is no "or", and no best of several metrics.
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from audit.forms import FORMS, TARGETS, describe_forms
from audit.records import Frozen

OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq}
Number = float | int
PredictionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
SetName = Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
Summary = Literal["median", "mean", "min", "max", "sum", "count", "share"]


def refuse_look_alikes(text: str) -> str:
    """Keys, stages and files are ASCII: a letter that only looks like one of a key names nothing, or something else."""
    strange = next((letter for letter in text if not " " <= letter <= "~"), None)
    if strange or not text:
        what = f"not U+{ord(strange):04X} {unicodedata.name(strange, 'unnamed')}" if strange else "not nothing"
        raise ValueError(f"printable ASCII characters ({what})")
    return text


Key = Annotated[str, AfterValidator(refuse_look_alikes), WithJsonSchema({"type": "string", "pattern": "^[ -~]+$"})]


def _several(value: Any) -> Any:
    """One of a thing where several may stand."""
    return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str | Mapping | Undecided) else value


def _as_null(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


class Language(Frozen):
    """A part of a registration; what stands below a field describes it in editors too."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Metric(Language):
    """The one quantity a prediction is about."""

    file: Key
    """The record that holds it."""
    stage: Key
    """DVC stage that writes the file."""
    key: Key
    """Dotted path of a quantity inside the record."""
    tolerance: float | None = Field(default=None, ge=0)
    """A verdict that another value within this distance would change is undecided; the record may declare no larger tolerance."""
    summary: Summary | None = None
    """How the value follows from the values per unit; a record with another summary is refused."""


class Source(Language):
    """A quantity of a record that the registration freezes: a threshold fixed before the runs."""

    file: Key
    """One of `freezes.outputs`."""
    key: Key
    """Dotted path of a quantity inside it."""


class Comparison(Language):
    """How a metric must compare: one operator and the targets that make one of the forms."""

    model_config = ConfigDict(json_schema_extra=describe_forms)

    op: Literal[">=", ">", "<=", "<", "==", "in"] | None = None
    """The metric stands on its left."""
    value: Number | None = None
    """A number fixed here."""
    frozen: Source | None = None
    """A number that a frozen record holds."""
    low: Number | None = None
    """Least value of an interval, itself inside."""
    high: Number | None = None
    """Largest value of an interval, itself inside."""
    than: Annotated[tuple[Key, ...] | None, BeforeValidator(_several, json_schema_input_type=Key | tuple[Key, ...] | None)] = None
    """Rivals: keys of other quantities of the same file; the metric must compare with every one."""
    band: float | None = Field(default=None, ge=0)
    """With `in`: the metric lies within this distance of `value` or of every rival."""
    order: tuple[Key, ...] | None = Field(default=None, min_length=1)
    """Keys of the other arms in turn: metric op first op second and so on."""
    rank_correlation: Key | None = None
    """The metric's Spearman correlation with this quantity over the units (mid-ranks for ties) is compared with `value`."""
    labels: Key | None = None
    """Key of a quantity whose values per unit are 0 or 1: a unit counts where it compares with the threshold exactly if its label is 1."""
    units: int | None = Field(default=None, ge=1)
    """At least so many of the per-unit values must compare; without it the summary value must."""

    @model_validator(mode="after")
    def _one_form(self) -> Comparison:
        self._refuse_no_form()
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError("low not above high")
        rivals = self.rivals()
        if len(set(rivals)) != len(rivals) or self.than == ():
            raise ValueError("each rival or arm named once")
        return self

    def _refuse_no_form(self) -> None:
        given = {name for name in TARGETS if getattr(self, name) is not None}
        fitting = [operators for operators, targets in FORMS if given == set(targets)]
        if not any(self.op in operators for operators in fitting):
            raise ValueError("op `in` with low and high, or band and either value or than; any other op with either value, frozen, than or order")
        if self.labels and not self.units:
            raise ValueError("units beside labels: how many must be classified as labelled")
        if self.rank_correlation and self.units:
            raise ValueError("no units beside rank_correlation, which is one number over all units")

    def rivals(self) -> tuple[str, ...]:
        """Keys of the quantities that the metric is compared with, in the order they are written."""
        return (*(self.than or ()), *(self.order or ()))

    def keys(self) -> tuple[str, ...]:
        """Every key of the metric's file that this reads, beside the metric's own."""
        return (*self.rivals(), *(key for key in (self.rank_correlation, self.labels) if key))

    def text(self) -> str:
        """The target as a reader sees it."""
        shown = f"{self.op} {self._target()}"
        if self.labels:
            return f"{shown} exactly where {self.labels} is 1, in at least {self.units} units"
        if self.rank_correlation:
            return f"rank correlation with {self.rank_correlation} {shown}"
        return f"{shown} in at least {self.units} units" if self.units else shown

    def _target(self) -> str:
        if self.low is not None:
            return f"[{self.low}, {self.high}]"
        if self.order:
            return f" {self.op} ".join(self.order)
        named = self.than or ((f"{self.frozen.file}:{self.frozen.key}",) if self.frozen else (str(self.value),))
        target = named[0] if len(named) == 1 else f"each of {', '.join(named)}"
        return target if self.band is None else f"{target} +- {self.band}"


class Part(Comparison):
    """One of several comparisons that must all hold."""

    key: Key | None = None
    """Another quantity of the metric's file to compare; without it the metric itself."""

    def text(self) -> str:
        """The comparison as a reader sees it."""
        return f"{self.key} {super().text()}" if self.key else super().text()

    def keys(self) -> tuple[str, ...]:
        """Every key this reads, beside the metric's own."""
        return (*((self.key,) if self.key else ()), *super().keys())


class Comparator(Comparison):
    """How the metric must compare: one comparison, or several that must all hold."""

    all: tuple[Part, ...] | None = Field(default=None, min_length=2)
    """Every one of these must hold."""

    def _refuse_no_form(self) -> None:
        if self.all is None:
            super()._refuse_no_form()
        elif self.op or self.units or any(getattr(self, name) is not None for name in TARGETS):
            raise ValueError("nothing beside all: operators and targets stand in its parts")

    def parts(self) -> tuple[Comparison, ...]:
        """The comparisons that must hold, one or several."""
        return self.all or (self,)

    def keys(self) -> tuple[str, ...]:
        """Every key of the metric's file that this reads, beside the metric's own."""
        return tuple(key for part in self.all for key in part.keys()) if self.all else super().keys()

    def sources(self) -> tuple[Source, ...]:
        """The frozen thresholds this reads."""
        return tuple(part.frozen for part in self.parts() if part.frozen)

    def text(self) -> str:
        """The target as a reader sees it."""
        return " and ".join(part.text() for part in self.all) if self.all else super().text()


class Undecided(Language):
    """When a prediction is undecided: by a count or validity quantity of the metric's file, never by the metric."""

    key: Key
    """Dotted path of the count or validity quantity."""
    op: Literal[">=", ">", "<=", "<", "=="]
    """The quantity stands on its left."""
    value: Number
    """Where the comparison holds, the prediction is undecided."""

    def text(self) -> str:
        """The condition as a reader sees it."""
        return f"{self.key} {self.op} {self.value}"


OneOrSeveral = Undecided | tuple[Undecided, ...] | None


class Population(Language):
    """The units a prediction is about: every seed of a set, at each of the depths."""

    set: SetName
    """Name of a seed set."""
    depths: tuple[Key | int, ...] | None = None
    """What each seed is run at; without it a seed is one unit."""

    @model_validator(mode="after")
    def _each_once(self) -> Population:
        if len(set(map(str, self.depths or ()))) != len(self.depths or ()):
            raise ValueError("each depth once")
        return self

    def units(self, sets: Mapping[str, int]) -> int | None:
        """How many units these are, given how many seeds each set has; None of a set that is not among them."""
        return sets[self.set] * (1 if self.depths is None else len(self.depths)) if self.set in sets else None

    def text(self, sets: Mapping[str, int]) -> str:
        """The population as a reader sees it."""
        seeds = f"{sets.get(self.set, 'unknown')} seeds of {self.set}"
        return seeds if self.depths is None else f"{seeds} at {', '.join(map(str, self.depths)) or 'no depth'}"


class Null(Language):
    """What an uninteresting world would give."""

    text: str = Field(min_length=1)
    """In words."""
    chance: float | None = Field(default=None, ge=0, le=1)
    """Chance that the prediction is met there, where it does not follow from the comparator."""
    unit_chance: float | None = Field(default=None, ge=0, le=1)
    """Chance that one unit compares as registered there; without it 1/2 against one rival, 1/(k+1) against k, 1/k! for k arms in order."""
    mde: float | None = Field(default=None, gt=0)
    """The smallest effect that would be noticed; a band of equivalence must be narrower."""


class Prediction(Language):
    """One sentence that can lose."""

    id: PredictionId
    """Letters, digits and hyphens; differing from the others by more than case."""
    claim: str = Field(min_length=1)
    """What is claimed, in words."""
    metric: Metric
    """The quantity that decides."""
    comparator: Comparator
    """How it must compare."""
    population: Population | None = None
    """The units it is about; a record with more values than these is refused."""
    undecided: Annotated[tuple[Undecided, ...] | None, BeforeValidator(_several, json_schema_input_type=OneOrSeveral)] = None
    """Any of these leaves it undecided, whatever the metric says."""
    null: Annotated[Null, BeforeValidator(_as_null, json_schema_input_type=str | Null)]
    """What an uninteresting world would give."""

    @model_validator(mode="after")
    def _parts_agree(self) -> Prediction:
        used = {self.metric.key, *self.comparator.keys()}
        if any(rule.key in used for rule in self.undecided or ()):
            raise ValueError("undecided by a count or validity quantity, never by the metric itself or what it is compared with")
        if self.null.unit_chance is not None and (self.null.chance is not None or not self.comparator.units):
            raise ValueError("unit_chance where units are counted, and not beside chance")
        if self.metric.tolerance is not None and any(part.rank_correlation for part in self.comparator.parts()):
            raise ValueError("no tolerance beside rank_correlation, which reads ranks and no distances")
        return self

    def keys(self) -> tuple[str, ...]:
        """Every key of the metric's file that judging reads."""
        return (self.metric.key, *self.comparator.keys(), *(rule.key for rule in self.undecided or ()))

    def exclusion(self) -> str:
        """When it is undecided, as a reader sees it; empty where it never is."""
        return " or ".join(rule.text() for rule in self.undecided or ())
