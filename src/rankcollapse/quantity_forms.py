"""How each named reading is printed and summarised: one table by the last part of its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from audit.records import Quantity
from rankcollapse.params import Scale
from rankcollapse.quantities import count, trained


@dataclass(frozen=True)
class Form:
    """Digits, unit and style of a median over trained values; or a count of flags."""

    digits: int = 2
    unit: str = "1"
    style: Literal["fixed", "scientific"] = "fixed"
    flags: bool = False

    def make(self, values: Sequence[float], scale: Scale) -> Quantity:
        """The reading as a quantity."""
        return count([bool(value) for value in values]) if self.flags else trained(values, scale, digits=self.digits, unit=self.unit, style=self.style)


FLAG, PLAIN, NATS, SMALL = Form(flags=True), Form(), Form(unit="nats"), Form(1, style="scientific")
STEPS = Form(0, "steps")
"""Fixed without decimals, since the median of an even number of steps may lie between two."""
FORMS: tuple[tuple[str, Form], ...] = (
    ("driven settled dips healed unsettled at_floor branches", FLAG),
    ("recovered_rank recovered_effective undelayed_recovered returned dipped_early", FLAG),
    ("matched_within_tenth ordered loss_not_later rule_met rule_met_qkv open_in_every_block", FLAG),
    ("rank_above_before rank_above_after_* both_fail_untreated_stays", FLAG),
    ("T_rec T_recovered half_gap last_dip *_crossed", STEPS),
    ("loss gap gap_at_detection loss_gap_end loss_minus_*", NATS),
    ("first_added", Form(3, "nats")),
    ("qk qkv_* hinge_first hinge_last residual residual_end qk_rise_min qk_over_healthy_max error", SMALL),
    ("rho rho_end penalty_start penalty_end hinge_start hinge_end cosine_start cosine_end", Form(2, style="scientific")),
    ("hinge_4x_over_1x penalty_4x_over_1x", SMALL),
    ("skip skip_at_collapse", Form(3)),
    ("hinge_over_penalty ratio orders grad_norm grad_norm_over_collapsed", Form(1)),
    ("entropy_change", Form(3)),
    ("rank rank_end rank_end_* rank_at_* *_over_*", PLAIN),
    ("skip_at_recovery skip_shallow skip_deep share_recovered clip_share v_share", PLAIN),
    ("collapsed healthy frequency entropy_*", PLAIN),
)
"""The first row that has a key's last part holds."""


def form_of(key: str) -> Form:
    """How a reading is printed; ValueError for a name that the table lacks."""
    leaf = key.rpartition(".")[2]
    for names, form in FORMS:
        if any(fnmatchcase(leaf, name) for name in names.split()):
            return form
    raise ValueError(f"no form for {key}")


def make_quantities(values: dict[str, tuple[float, ...]], scale: Scale) -> dict[str, Quantity]:
    """Readings by key as quantities, in the order of their keys."""
    return {key: form_of(key).make(values[key], scale) for key in sorted(values)}
