"""A409: no printed form of a judged quantity would get another verdict than the stored value."""

from __future__ import annotations

from collections.abc import Iterator

from audit.context import Context
from audit.document import Use, load_document
from audit.finding import Finding, Refusal
from audit.numbers.format import format_quantity, printed_value
from audit.numbers.keys import Keys
from audit.records import Quantity
from audit.registration import Prediction
from audit.verdict import holds

CODE = "A409"


def check_rounding(context: Context) -> Iterator[Finding]:
    """Each `\\val` of a judged metric whose rounding lies on the other side of its target."""
    keys, names = Keys.of(context), {path: name for name, path in context.config.records.items()}
    judged: dict[str, list[tuple[str, Prediction]]] = {}
    for registration in context.registrations.values():
        for prediction in registration.predictions if context.holds(registration) else ():
            key = f"{names.get(prediction.metric.file)}.{prediction.metric.key}"
            judged.setdefault(key, []).append((registration.id, prediction))
    for use in load_document(context).uses():
        for registration_id, prediction in judged.get(use.key, ()) if use.command == "val" else ():
            yield from check_use(use, keys, registration_id, prediction)


def check_use(use: Use, keys: Keys, registration: str, prediction: Prediction) -> Iterator[Finding]:
    """One printed form against one target."""
    try:
        quantity = keys.resolve(use.key, use.place)
        shown = format_quantity(quantity, use.option)
    except Refusal:
        return  # A402
    if use.option in ("n", "min", "max", "unit") or flips(prediction, quantity, shown) is not True:
        return
    yield Finding(
        code=CODE, place=use.place, what=f"printed {shown}, which would change the verdict of {registration}.{prediction.id}",
        expected=f"a form on the same side of {prediction.comparator.text()} as {quantity.value}", cure="print more digits: \\val[fixed.N]{...}",
    )  # fmt: skip


def flips(prediction: Prediction, quantity: Quantity, shown: str) -> bool | None:
    """Whether the printed number compares otherwise with the target; None where they cannot be compared."""
    printed = printed_value(shown)
    comparator = prediction.comparator
    if printed is None or comparator.units or comparator.keys() or comparator.all or comparator.frozen:
        return None
    return holds(comparator, float(printed), (), comparator.value) != holds(comparator, quantity.value, (), comparator.value)
