"""What weakens a prediction without making it invalid: said at seal time, stored in the seal, printed with the verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from audit.chance import Chance, chance_of, show
from audit.predictions import OPERATORS, Comparison, Part, Prediction
from audit.records import Quantity
from audit.registration import Registration
from audit.verdict import holds

HIGH = Fraction(1, 20)
"""A chance above this is warned of."""


def lint(registration: Registration, known: Callable[[Prediction], Quantity | None] = lambda _: None) -> tuple[str, ...]:
    """Every warning, in the order of the predictions; `known` gives a metric as a committed record has it, for its bounds."""
    warnings, seen = [], {}
    for prediction in registration.predictions:
        same = (prediction.metric.file, prediction.metric.key, prediction.comparator.text())
        if same in seen:
            warnings.append(f"{prediction.id} repeats {seen[same]}: same metric, same target")
        seen.setdefault(same, prediction.id)
        warnings += [f"{prediction.id} {warning}" for warning in lint_prediction(registration, prediction, known(prediction))]
    if not any(registration.primary in reading.when for reading in registration.readings):
        warnings.append(f"no reading is fixed in advance for the primary prediction {registration.primary}")
    return tuple(warnings)


def lint_prediction(registration: Registration, prediction: Prediction, known: Quantity | None) -> Iterator[str]:
    """What weakens one prediction."""
    units = registration.units_of(prediction)
    yield from _population(registration, prediction, units)
    if known is not None and known.values is None:
        yield "names a metric without values per unit: nobody can compute it again"
    for rule in prediction.undecided or ():
        if all(OPERATORS[rule.op](value, rule.value) for value in (0, math.inf)):
            yield f"cannot lose where {rule.key} cannot be negative: it is undecided when {rule.key} {rule.op} {rule.value}"
    for part in prediction.comparator.parts():
        yield from _range(prediction, part, units, known)
        yield from _smallest_effect(prediction, part)
    chance = chance_of(prediction, units)
    if chance is not None:
        yield from _chance(chance)
    elif chance_of(prediction, units or 2) is None:  # where a population alone would tell the chance, its absence is warned of
        yield "has no known chance of being met under the null: declare null.chance or null.unit_chance"


def _population(registration: Registration, prediction: Prediction, units: int | None) -> Iterator[str]:
    population = prediction.population
    if population is None:
        yield "names no population, the units it is about: give population.set"
    elif population.set not in registration.seeds.sets:
        yield f"has an empty population: no seed set {population.set} is registered"
    elif units == 0:
        yield "has an empty population: no depth is named"


def _chance(chance: Chance) -> Iterator[str]:
    if chance.value == 1:
        yield f"cannot fail under the null: its chance of being met is 1 ({chance.text})"
    elif chance.value > HIGH:
        yield f"has a chance of being met under the null of {show(chance.value)} > 0.05 ({chance.text})"


def _range(prediction: Prediction, part: Comparison, units: int | None, known: Quantity | None) -> Iterator[str]:
    """Targets that every possible value meets, or that none does."""
    metric = prediction.metric
    own = not (isinstance(part, Part) and part.key not in (None, metric.key))
    if own and metric.key in part.keys():
        yield f"compares its metric with itself: {part.text()}"
    if part.units and units is not None and part.units > units:
        yield f"cannot be met: {part.units} units are asked for and the population has {units}"
    if part.rank_correlation:
        yield from _correlation(part)
    elif own and not part.units and not part.rivals() and part.frozen is None:
        summary = metric.summary or (known and known.summary)
        yield from _values(part, possible_values(summary, units), summary)


def _correlation(part: Comparison) -> Iterator[str]:
    answers = [holds(part, end, (), part.value) for end in (-1, 1)]
    if all(answers):
        yield "cannot fail: no rank correlation lies outside [-1, 1]"
    elif not any(answers) and part.op != "==":
        yield "cannot be met: no rank correlation lies outside [-1, 1]"


def possible_values(summary: str | None, units: int | None) -> Sequence[float]:
    """What a count or a share can be, every value where the units are known, else the ends; () of anything else."""
    if summary == "count":
        return range(units + 1) if units else (0, math.inf)
    if summary == "share":
        return [count / units for count in range(units + 1)] if units else (0, 1)
    return ()


def _values(part: Comparison, values: Sequence[float], summary: str | None) -> Iterator[str]:
    answers = [holds(part, value, (), part.value) for value in values]
    if answers and all(answers):
        yield f"cannot fail: every {summary} of its units is {part.text()}"
    elif answers and not any(answers) and (len(answers) > 2 or part.op in (">=", ">", "<=", "<")):
        yield f"cannot be met: no {summary} of its units is {part.text()}"
    elif not answers and summary is None and all(holds(part, value, (), part.value) for value in (0, math.inf)):
        yield f"cannot fail where the metric cannot be negative: {part.text()} (say what it is: metric.summary)"


def _smallest_effect(prediction: Prediction, part: Comparison) -> Iterator[str]:
    """Equality and intervals are met by whatever cannot be told apart, unless the smallest effect that shows is wider."""
    if part.op not in ("in", "=="):
        return
    half = part.band if part.band is not None else 0 if part.low is None or part.high is None else (part.high - part.low) / 2
    if prediction.null.mde is None:
        yield f"predicts {part.text()} and its null has no minimum detectable effect: give null.mde"
    elif half >= prediction.null.mde:
        yield f"allows {half} around its target, no less than the smallest effect that would be noticed, {prediction.null.mde}"
