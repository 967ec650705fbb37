"""A registration as the plain page that OSF and AsPredicted ask for: their questions, answered with what is registered and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audit.facts import Facts, further_fields
from audit.finding import escape
from audit.registration import Prediction

UNSTATED = ("not stated",)
Page = Iterable[tuple[str, Iterable[str]]]


def show_aspredicted(facts: Facts) -> str:
    """The questions of AsPredicted."""
    questions: Page = (
        ("Title", [facts.registration.title]),
        ("1) Have any data been collected for this study already?", tell_collected(facts)),
        ("2) What is the main question or hypothesis?", tell_claims(facts)),
        ("3) Dependent variables, and how they are measured", tell_metrics(facts)),
        ("4) How many conditions, and which?", tell_conditions(facts)),
        ("5) Which analyses will be conducted?", tell_analyses(facts)),
        ("6) Outliers and rules for excluding observations", tell_exclusions(facts)),
        ("7) How many observations, or what determines the sample size?", tell_sample(facts)),
        ("8) Anything else to be pre-registered?", tell_other(facts)),
        ("Authors", UNSTATED),
    )
    return show_page("AsPredicted", questions)


def show_osf(facts: Facts) -> str:
    """The questions of the OSF Preregistration form."""
    questions: Page = (
        ("Title", [facts.registration.title]),
        ("Authors", UNSTATED),
        ("Description", UNSTATED),
        ("Hypotheses", tell_claims(facts)),
        ("Study type", UNSTATED),
        ("Blinding", UNSTATED),
        ("Study design", tell_conditions(facts)),
        ("Randomization", tell_sample(facts)),
        ("Existing data", tell_collected(facts)),
        ("Explanation of existing data", tell_frozen(facts)),
        ("Data collection procedures", [f"stages that wait for the committed seal: {', '.join(facts.registration.stages)}"]),
        ("Sample size", tell_sample(facts)),
        ("Sample size rationale", UNSTATED),
        ("Stopping rule", UNSTATED),
        ("Manipulated variables", UNSTATED),
        ("Measured variables", tell_metrics(facts)),
        ("Indices", UNSTATED),
        ("Statistical models", tell_analyses(facts)),
        ("Transformations", UNSTATED),
        ("Inference criteria", [f"{prediction.id}: {prediction.comparator.text()}" for prediction in facts.registration.predictions]),
        ("Data exclusion", tell_exclusions(facts)),
        ("Missing data", UNSTATED),
        ("Exploratory analysis", UNSTATED),
        ("Other", tell_other(facts)),
    )
    return show_page("OSF Preregistration", questions)


def show_page(form: str, questions: Page) -> str:
    """A page of plain text: each question at the margin, each answer in lines of its own, indented, so that no answer can pose as a question."""
    parts = [f"Preregistration, in the order of {form}\n"]
    for question, answers in questions:
        lines = [escape(" ".join(answer.split())) for answer in answers]
        parts.append("\n".join([question, *(f"    {line}" for line in lines)]) + "\n")
    return "\n".join(parts)


def tell_collected(facts: Facts) -> Iterator[str]:
    """What the history says about data under this registration."""
    if facts.sealed is None:
        yield "The registration is not sealed, so nothing can have been collected under it; whether anything was collected before is not stated."
    elif facts.sealed.records:
        yield f"Yes: {len(facts.sealed.records)} records under this seal exist in this repository:"
        yield from facts.sealed.records
    else:
        yield "No: no record under this seal exists in this repository."


def tell_claims(facts: Facts) -> Iterator[str]:
    """Each claim with what an uninteresting world would give."""
    for prediction in facts.registration.predictions:
        yield f"{prediction.id}{' (primary)' if facts.is_primary(prediction) else ''}: {prediction.claim}"
        yield f"{prediction.id}, in an uninteresting world: {prediction.null.text}"


def tell_metrics(facts: Facts) -> Iterator[str]:
    """Each metric, once, with the stage that writes it and the predictions about it."""
    about: dict[str, list[Prediction]] = {}
    for prediction in facts.registration.predictions:
        about.setdefault(f"{prediction.metric.key} of {prediction.metric.file}, written by the stage {prediction.metric.stage}", []).append(
            prediction
        )
    yield from (f"{metric}: {', '.join(prediction.id for prediction in predictions)}" for metric, predictions in about.items())


def tell_conditions(facts: Facts) -> Iterator[str]:
    """Conditions are parameters and arms of the project's own; the registration names what it holds for."""
    yield "number of conditions: not stated"
    for key, value in facts.registration.holds_for.items():
        yield f"holds for {key} = {value}"


def tell_analyses(facts: Facts) -> Iterator[str]:
    """The judgement of each prediction, the readings fixed in advance, and what judges."""
    for prediction in facts.registration.predictions:
        yield f"{prediction.id} is met when {prediction.metric.key} is {prediction.comparator.text()}, else missed"
    for reading in facts.registration.readings:
        yield f"when {', '.join(f'{name} {verdict}' for name, verdict in reading.when.items())}: {reading.text}"
    yield f"frozen code: {', '.join(facts.registration.freezes.code) or 'none'}"


def tell_exclusions(facts: Facts) -> Iterator[str]:
    """What leaves a prediction undecided; no other exclusion is part of a registration."""
    yield "outliers: not stated"
    for prediction in facts.registration.predictions:
        rule = prediction.exclusion()
        yield f"{prediction.id} is undecided when {rule}" if rule else f"{prediction.id} is never undecided"


def tell_sample(facts: Facts) -> Iterator[str]:
    """Seed sets, and at how many depths each seed runs, where the predictions say so."""
    seeds = facts.registration.seeds
    if seeds.same_as:
        yield f"the seeds of {seeds.same_as}"
    for name, count in seeds.sets.items():
        yield f"seed set {name}: {count} seeds, derived from the {seeds.from_}"
    depths = {len(each.population.depths) for each in facts.registration.predictions if each.population and each.population.depths}
    yield f"observations a seed: {', '.join(map(str, sorted(depths))) or 'not stated'}"


def tell_frozen(facts: Facts) -> Iterator[str]:
    """Outputs and parameters that existed before and are frozen."""
    yield f"frozen outputs, made before: {', '.join(facts.registration.freezes.outputs) or 'none'}"
    yield f"frozen parameters: {', '.join(facts.registration.freezes.parameters) or 'none'}"


def tell_other(facts: Facts) -> Iterator[str]:
    """The seal, what it freezes, its warnings, and whatever else a prediction states."""
    yield f"registration {facts.registration.id}"
    if facts.sealed:
        yield f"SHA-256 of the seal: {facts.sealed.sha256}"
        yield f"SHA-256 of registration and frozen files: {facts.sealed.seal.content}"
        yield f"sealed in commit {facts.sealed.commit}"
        yield from (f"warning at sealing: {warning}" for warning in facts.sealed.seal.warnings)
    else:
        yield "not sealed"
    yield from tell_frozen(facts)
    for prediction in facts.registration.predictions:
        yield from (f"{prediction.id}, {name}: {value}" for name, value in further_fields(prediction).items())
