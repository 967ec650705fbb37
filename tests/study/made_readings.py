"""One saved collapse and its healthy control, read, with plain numbers: three blocks, collapsed loss 5, healthy loss 3."""

from __future__ import annotations

from rankcollapse.records import Profile
from rankcollapse.records_readings import BlockRow, EntropyRow, EventReadings, ForceRow, LawRow, LineRow, NoiseRow, OrderRow, StateRow


def profile(*qk: float, v: float = 3e-2) -> Profile:
    """Norms on queries and keys as given, on values alike in all blocks."""
    return Profile(qkv=tuple((norm**2 + v**2) ** 0.5 for norm in qk), qk=qk, v=(v,) * len(qk))


def state(skip: float, task: Profile, rank: float = 1.0, loss: float = 5.0, entropy: float = 0.9, at_floor: bool = False) -> StateRow:
    """A network of three blocks."""
    blocks = BlockRow(rank=(4.0, 2.0, rank), q=(1.0,) * 3, residual=(0.5, 0.1, 0.01), at_floor=(False, False, at_floor))
    rows = EntropyRow(rows=(entropy,) * 3, sums=(0.5,) * 3)
    return StateRow(skip=skip, loss=loss, gradient_norm=10 * skip + 1, task=task, opening=sorted(task.qk)[1], blocks=blocks, entropy=rows)


COLLAPSED, HEALTHY = profile(1e-9, 1e-8, 1e-7, v=1e-3), profile(1e-2, 2e-2, 4e-2)
ORDER = OrderRow(spearman=(0.9, 1.0, 0.95), pearson=(0.8,) * 3, pearson_log=(0.7,) * 3, frequency=(0.1, 0.2, 0.3), at_floor=False)
EVENT = EventReadings(
    seed=1,
    collapsed=state(0.0, COLLAPSED, entropy=0.97),
    healthy=state(1.0, HEALTHY, rank=4.0, loss=3.0, entropy=0.6),
    healthy_at_floor=state(0.0, HEALTHY, loss=9.0).model_copy(update={"gradient_norm": 50.0}),
    switches=(state(0.3, profile(1e-4, 2e-4, 3e-4), rank=2.5), state(0.3, profile(1e-3, 2e-3, 8e-2), rank=1.9), state(1.0, profile(1e-2, 4e-2, 1e-1), rank=9.0, at_floor=True)),
    hinge=profile(0.4, 0.1, 1e-3, v=0.0),
    forces=(ForceRow(arm="penalty_1x", rho=0.004), ForceRow(arm="hinge_1x", rho=0.1)),
    lines=(LineRow(term="penalty", share=(0.0, 0.9), healthy=(0.004, 0.02), random=(0.004, 0.003)),),
    order=ORDER,
    order_healthy=ORDER.model_copy(update={"spearman": (0.1, 0.2, 0.3)}),
    noise=NoiseRow(cosine=(1.0,) * 3, single=(1.0,) * 3, double=(1.0,) * 3, epsilon=1e-6),
    law=LawRow(residual=(0.1,) * 3, ratio=(0.1,) * 3),
)
