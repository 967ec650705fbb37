"""A409: no printed form would get another verdict than the stored value, or says none or all of what is neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from audit.context import Context
from audit.document import generated_inputs, load_document
from audit.evaluate import files_read, read_record
from audit.finding import Finding, Refusal
from audit.numbers.format import format_quantity, printed_value
from audit.numbers.keys import Keys
from audit.predictions import Part, Prediction
from audit.records import Quantity
from audit.render import Printed, generate
from audit.verdict import Bench, Truth, every

CODE = "A409"
BESIDE = re.compile(r"n|unit|(?:min|max|range)(?:\.\d+)?")
"""Formats that print something other than the value."""
NONE, ALL = re.compile(r"0(?:\.0+)?%|0"), re.compile(r"100(?:\.0+)?%")


def check_rounding(context: Context) -> Iterator[Finding]:
    """Each value of the text and of the included tables whose rounding lies on the other side of its target, or at none or all."""
    judged = find_judged(context)
    for printed in find_printed(context):
        if BESIDE.fullmatch(printed.form):
            continue
        try:
            shown = format_quantity(printed.quantity, printed.form)
        except Refusal:
            continue  # A402
        if extreme := read_extreme(printed.quantity, shown):
            yield Finding(
                code=CODE, place=printed.place, what=f"{printed.key} is printed {shown}, which reads as {extreme}", expected=f"a form that shows {printed.quantity.value}",
                cure="print more digits: \\val[percent.N]{...}",
            )  # fmt: skip
        for about in judged.get(printed.key, ()):
            if about.flips(printed.quantity, shown):
                target, cure = about.prediction.comparator.text(), "print more digits: \\val[fixed.N]{...}"
                what = f"{printed.key} is printed {shown}, which would change the verdict of {about.name}"
                yield Finding(code=CODE, place=printed.place, what=what, expected=f"the same answer to {target} as {printed.quantity.value}", cure=cure)


def count_rounding(context: Context) -> str:
    """How many values are printed, and how many with other digits than their records'."""
    forms = [printed.form for printed in find_printed(context)]
    return f"{len(forms)} printed, {sum('.' in form for form in forms)} with digits of the text's own"


@dataclass(frozen=True)
class Rounded(Bench):
    """A bench on which one quantity has the value that is printed."""

    key: str = ""
    printed: Quantity | None = None

    def find(self, key: str) -> Quantity:
        return self.printed if self.printed is not None and key == self.key else super().find(key)


@dataclass(frozen=True)
class Judged:
    """A prediction, and the key in the metric's file of a quantity that its verdict hangs on."""

    name: str
    prediction: Prediction
    key: str
    read: Callable[[str], Any]

    def flips(self, quantity: Quantity, shown: str) -> bool:
        """Whether the printed number in the quantity's place would change the comparison."""
        printed = printed_value(shown)
        if printed is None:
            return False
        file = self.prediction.metric.file
        swapped = quantity.model_copy(update={"value": float(printed)})
        try:
            record = self.read(file)
            return self.answer(Bench(record, file, self.read)) != self.answer(Rounded(record, file, self.read, self.key, swapped))
        except Refusal:
            return False  # what is not there is A112

    def answer(self, bench: Bench) -> Truth:
        """The comparison as the judge makes it."""
        metric = self.prediction.metric
        parts = ((part, part.key if isinstance(part, Part) and part.key else metric.key) for part in self.prediction.comparator.parts())
        return every(bench.compare(part, bench.find(key), metric.tolerance or 0 if key == metric.key else 0) for part, key in parts)


def find_judged(context: Context) -> Mapping[str, list[Judged]]:
    """Key -> the predictions whose verdict hangs on it: the metric's own, its copy among the verdicts, and what it is compared with."""
    names = {path: name for name, path in context.config.records.items()}
    judged: dict[str, list[Judged]] = {}
    for registration in context.registrations.values():
        if not context.holds(registration):
            continue
        files = files_read(context, registration)
        read = cache(lambda file, files=files: read_record(context, files[file]))
        for index, prediction in enumerate(registration.predictions):
            metric, name = prediction.metric, f"{registration.id}.{prediction.id}"
            for key in (metric.key, *prediction.comparator.keys()):
                judged.setdefault(f"{names.get(metric.file)}.{key}", []).append(Judged(name, prediction, key, read))
            judged.setdefault(f"{registration.id}.predictions.{index}.observed", []).append(Judged(name, prediction, metric.key, read))
    return judged


def find_printed(context: Context) -> Iterator[Printed]:
    """Every value that the sources cite, and those that the included tables print."""
    document, keys = load_document(context), Keys.of(context)
    for use in document.uses():
        try:
            if use.command == "val":
                yield Printed(keys.resolve(use.key, use.place), use.key, use.option, use.place)
        except Refusal:
            continue  # A402
    try:
        tables = generate(context).printed
    except Refusal:
        return  # A402 or A408
    for name in sorted(generated_inputs(context, document)):
        yield from tables.get(name, ())


def read_extreme(quantity: Quantity, shown: str) -> str:
    """What a printed form reads as where it is `0`, `0%` or `100%` and the value is not."""
    if quantity.value and NONE.fullmatch(shown):
        return "none"
    return "all" if quantity.value != 1 and ALL.fullmatch(shown) else ""
