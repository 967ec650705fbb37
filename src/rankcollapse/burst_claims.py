"""The second registered test as readings for the claims: `burst.` keys, the depth's role behind those that have one value a network."""

from __future__ import annotations

from collections.abc import Sequence

from audit.records import Quantity
from rankcollapse.burst_records import BurstTests, MultiplierTest
from rankcollapse.burst_tests import OPEN
from rankcollapse.evidence import number
from rankcollapse.quantities import SUMMARIES, count


def claim_quantities(tests: BurstTests) -> dict[str, Quantity]:
    """Every reading of the bursts that a claim names.

    What is compared network by network (`qk`, `loss_gap`, `grad_norm`, `T_rec`) is of the networks that were read at both multipliers.
    """
    found = name_networks("m1", tests.m1, tests) | name_networks("m2", tests.m2, tests) | name_flags(tests)
    return {f"burst.{key}.{tests.role}": quantity for key, quantity in found.items()} | name_numbers(tests)


def name_networks(name: str, test: MultiplierTest, tests: BurstTests) -> dict[str, Quantity]:
    """One multiplier's readings over networks."""
    own = flags_of(test.read)
    both = [one and other for one, other in zip(flags_of(tests.m1.read), flags_of(tests.m2.read), strict=True)]
    among = [kept for kept, read in zip(both, own, strict=True) if read]
    compared = {part: keep(getattr(test, part), among) for part in ("qk", "loss_gap", "grad_norm")} | {"T_rec": keep(test.T_rec, both)}
    whole = ("updates_to_collapse", "qk_over_collapsed", "qk_over_healthy", "rank_rise", "loss_gap_end", "finite")
    quantities = compared | {part: getattr(test, part) for part in whole} | {"recovered_rank": test.test.recovered}
    return {f"{name}.{part}": quantity for part, quantity in quantities.items()}


def name_flags(tests: BurstTests) -> dict[str, Quantity]:
    """Networks that compare as registered."""
    opened = count([value >= OPEN for value in tests.m1.qk_over_collapsed.values or ()])
    return {"T0.open": opened, "T1.m1.correct": tests.m1.test.frozen, "T1.m2.correct": tests.m2.test.frozen}


def name_numbers(tests: BurstTests) -> dict[str, Quantity]:
    """Single numbers."""
    return {
        "burst.m1.T_rec_spread": tests.both.T_rec_spread,
        "burst.m1.rho_size": number(abs(tests.m1.test.opening.rho.value), 2),
        "burst.pooled.rho_size": tests.both.rho_size,
        "burst.m2.recovered_lower_threshold": tests.m2.recovered_lower,
        "burst.m2.recovered_higher_threshold": tests.m2.recovered_higher,
    }


def flags_of(counted: Quantity) -> list[bool]:
    """A count's units."""
    return [bool(value) for value in counted.values or ()]


def keep(quantity: Quantity, kept: Sequence[bool]) -> Quantity:
    """A quantity of some of its units only; the tolerance stays that of all."""
    values = tuple(value for value, one in zip(quantity.values or (), kept, strict=True) if one)
    if not values:
        return quantity.model_copy(update={"value": 0, "values": (), "summary": None})
    return quantity.model_copy(update={"value": SUMMARIES[quantity.summary or "median"](values), "values": values})
