"""A main study and a replication of four seeds at two depths, made by hand; what follows from them stands beside the tests."""

from __future__ import annotations

from made_events import make_aged, make_event, make_order, make_run, make_set, make_state

SEEDS = (1, 2, 3, 4)
WEAK = {
    "main": {"deep": [(-6, None), (-5, None), (-3, 40), (-2, 20)], "shallow": [(-4, None), (-3, None), (-1, 40), (0, 20)]},
    "replication": {"deep": [(-7, None), (-4.5, 30), (-3.5, None), (-1, 10)], "shallow": [(-5, None), (-4, None), (-1, 30), (0, 10)]},
}
"""log10 of the opening and the recovery time at the weak scale, by seed."""
FALL = {"deep": (1.0, 1.0, 0.1, 0.01), "shallow": (1.0, 0.5, 0.2, 0.1)}
"""What is left of an opening of 10**-seed at 0.3 after each delay."""
TIMES = {
    "deep": lambda seed: (10 * seed, 10 * seed + 2, 20 * seed, 90 if seed == 1 else None),
    "shallow": lambda seed: (10 * seed, 8, 10 * seed, None),
}  # fmt: skip
SWAPS = {
    ("deep", 1): {"none": 1e-3, "all": 0.1, "embeddings_mlp": 0.05, "query_key": 1e-3},
    ("deep", 2): {"none": 1e-3, "all": 0.1, "embeddings_mlp": 0.4, "query_key": 1e-3},
    ("deep", 3): {"none": 0.05, "all": 0.1, "embeddings_mlp": 0.1, "query_key": 0.1},
    ("deep", 4): {"none": 1e-3, "all": 0.1, "embeddings_mlp": 0.1, "query_key": 0.1},
}
RESTORED = {"none": 1e-3, "all": 0.1, "embeddings_mlp": 0.1, "query_key": 1e-3}
OTHERS = {"reset": {1: 50, 2: None}, "decay_0": {1: 92, 2: 20}}
"""Deep events that age otherwise: steps to recovery."""
PUSHED = {1: (20, 0.01, 5.05), 2: (20, 0.01, 5.3), 3: (None, 0.5, 4.5), 4: (20, 0.5, 5.02)}
"""Shallow events under the hinge at four times the loss: time, residual, last loss; the unigram loss is 5."""


EPSILON = {1: (None, 4.9, 5.0), 2: (20, 4.96, 5.0), 3: (None, 5.01, 5.0), 4: (20, 4.5, 4.94)}
"""Shallow copies with a smaller epsilon: time, last loss, and that of the untreated twin."""
CROSSINGS = {("shallow", 2): (14, 18, 16), ("deep", 3): (12, 12, 12)}
"""Steps at which gap, cosine and loss gap of two drivers are half-way."""


def make_events(name: str, role: str):
    """The saved collapses of one depth; the gap to healthy grows with the seed at the shallow one's switch to 0.3."""
    rows = []
    for seed, (power, _) in zip(SEEDS, WEAK[name][role]):
        loss = 4.0 + 0.1 * seed if role == "shallow" else 5.0
        event = make_event(
            seed, make_state(10.0**power), make_state(10.0**-seed, loss=loss), slope=None if (role, seed) == ("deep", 1) else 2.0,
            entropy=0.8 if (role, seed) == ("deep", 4) else 0.95, order=0.85 if (role, seed) == ("deep", 1) else 0.95,
        )  # fmt: skip
        rows.append(event.model_copy(update={"order": make_order(0.95, 0.96)}) if (role, seed) == ("deep", 2) else event)
    return rows


def make_agings(role: str):
    """The networks of one depth after each delay."""
    return [
        make_aged(seed, delay, 10.0**-seed * left, SWAPS.get((role, seed), RESTORED) if delay == 300 else None)
        for seed in SEEDS
        for delay, left in zip((50, 150, 300), FALL[role][1:])
    ]


def make_switches(name: str, role: str):
    """The switched branches of one depth."""
    runs = [make_run(seed, "switch_weak", time) for seed, (_, time) in zip(SEEDS, WEAK[name][role])]
    for seed in SEEDS:
        arms = ("switch_03", "delay_1", "delay_2", "delay_3")
        runs += [make_run(seed, arm, time) for arm, time in zip(arms, TIMES[role](seed))]
    return runs + [make_run(seed, arm, time) for arm, times in OTHERS.items() for seed, time in times.items() if role == "deep"]


def make_study(name: str):
    """The records of a set."""
    pushed = [make_run(seed, "hinge_4x", time, every=2, residual=residual) for seed, (time, residual, _) in PUSHED.items()]
    copies = [make_run(seed, "epsilon", time) for seed, (time, _, _) in EPSILON.items()]
    untreated = [make_run(seed, "untreated", None, every=10) for seed in SEEDS]
    roles = ("shallow", "deep")
    ends = [("hinge_4x", seed, loss) for seed, (_, _, loss) in PUSHED.items()]
    ends += [(arm, seed, row[place]) for seed, row in EPSILON.items() for place, arm in ((1, "epsilon"), (2, "untreated"))]
    return make_set(
        {role: make_events(name, role) for role in roles}, {role: make_agings(role) for role in roles},
        {role: make_switches(name, role) for role in roles}, {"shallow": [*pushed, *untreated, *copies], "deep": untreated},
        {"shallow": ends, "deep": [("untreated", seed, 5.0) for seed in SEEDS]}, CROSSINGS,
    )  # fmt: skip
