"""The study of attention's spectra as experiments: development, which chooses learning rate and cap, and the runs of every arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import torch

from audit.records import Provenance, Quantity
from rankcollapse.engine import Fork, Run, State, Trajectory
from rankcollapse.experiments import Bench, set_up
from rankcollapse.experiments_drivers import Results, describe_arm, train_named
from rankcollapse.model import Shape
from rankcollapse.params import Scale
from rankcollapse.quantities import exact
from rankcollapse.records_spectral import HeadTable, SpectralChoice, SpectralRow, SpectralRuns
from rankcollapse.settings import set_value
from rankcollapse.spectral import Heads, count_top, draw_sec, read_heads
from rankcollapse.spectral_arms import Arm, count_extra, list_arms, list_caps, make_runs, teach
from rankcollapse.spectral_rows import head_table
from rankcollapse.spectral_tests import PLAIN, choose_cap, choose_rate, survival_of

SEED, DRAWS = 0, 1000
"""Of the random products that SEC is compared with."""


def bench_of(stage: str, provenance: Provenance, scale: Scale, folder: str) -> Bench:
    """Where its networks are trained; no term needs a healthy Q."""
    return set_up(stage, scale, getattr(scale.depths, scale.spectral.role), 0.0, folder, provenance)


def learn(bench: Bench, **seeds: Sequence[int]) -> Results:
    """What networks have learnt at a gentle rate, by the names of `teach`, from seeds by treatment of queries and keys; nothing where arms
    begin with the first weights."""
    runs = [run for query_key, own in seeds.items() for run in teach(own, bench.scale, query_key)]
    return train_named(bench, "learnt", runs) if runs else {}


def states_of(learnt: Results, arm: Arm) -> dict[int, State]:
    """By seed, the state that an arm goes on from."""
    return {int(name.rpartition("/")[2]): state for name, (_, state) in learnt.items() if name.startswith(f"learnt_{arm.taught}/")}


def develop_spectral(provenance: Provenance, scale: Scale, seeds: Sequence[int], unigram: float, folder: str) -> SpectralChoice:
    """AdamW at every learning rate of the grid, then AdamW2 under every cap at the rate chosen, on as many networks as arms get."""
    bench, plan = bench_of("spectral development", provenance, scale, folder), scale.spectral
    learnt = learn(bench, none=seeds)
    tried = train_arms(bench, "rates", [(PLAIN, Arm(), rate) for rate in plan.rates], seeds, learnt)
    rates = tuple(survival_of(rows, scale, unigram) for rows in tried)
    rate = plan.rates[choose_rate(rates) - 1]
    capped = train_arms(bench, "caps", [(name, arm, rate) for name, arm in list_caps(plan).items()], seeds[: plan.few], learnt)
    caps = tuple(survival_of(rows, scale, unigram, tau) for rows, tau in zip(capped, plan.taus, strict=True))
    cap = choose_cap(caps)
    return SpectralChoice(
        provenance=provenance, depth=bench.setting.shape.depth, rates=rates, caps=caps, rate=set_value(rate), cap=exact(cap),
        tau=set_value(plan.taus[cap - 1]), runs=tuple(row for rows in (*tried, *capped) for row in rows),
    )  # fmt: skip


def train_arms(bench: Bench, label: str, cases: Sequence[tuple[str, Arm, float]], seeds: Sequence[int], learnt: Results) -> list[list[SpectralRow]]:
    """For each case, an arm at one highest learning rate, its runs without their heads; one table trains them all."""
    tables = [make_runs(name, arm, rate, seeds, bench.scale, False, states_of(learnt, arm)) for name, arm, rate in cases]
    results = train_named(bench, label, [replace(run, name=f"{place} {run.name}") for place, runs in enumerate(tables) for run in runs])
    return [
        [describe_spectral(run, after(learnt, arm, run.seed, results[f"{place} {run.name}"][0])) for run in runs]
        for place, ((_, arm, _), runs) in enumerate(zip(cases, tables, strict=True))
    ]


def after(learnt: Results, arm: Arm, seed: int, then: Trajectory) -> Trajectory:
    """A trajectory behind the one by which its network had learnt, if it had."""
    before = learnt.get(f"learnt_{arm.taught}/{seed}")
    return join(before[0], then) if before else then


def is_start(run: Run) -> bool:
    """Whether a run is the stretch up to the warning."""
    return run.name.partition("/")[0].endswith("_start")


def whole(run: Run, results: dict[str, tuple[Trajectory, State]]) -> tuple[Trajectory, State]:
    """A run's trajectory from its first step on, and its last state."""
    trajectory, state = results[run.name]
    return (join(results[run.origin.run][0], trajectory), state) if isinstance(run.origin, Fork) else (trajectory, state)


def join(first: Trajectory, then: Trajectory) -> Trajectory:
    """Two stretches as one trajectory; the measurement they share is the first's, which knows the gradient before it."""
    found = Trajectory(clipped=first.clipped + then.clipped, trained=first.trained + then.trained, diverged_at=then.diverged_at)
    twice = int(then.step[:1] == first.step[-1:])
    for each in fields(Trajectory):
        if isinstance(getattr(found, each.name), list):
            getattr(found, each.name).extend([*getattr(first, each.name), *getattr(then, each.name)[twice:]])
    found.extra = {name: [*first.extra[name], *then.extra[name][twice:]] for name in then.extra}
    return found


def describe_spectral(run: Run, trajectory: Trajectory) -> SpectralRow:
    """A run as its record shows it."""
    row = describe_arm(run, trajectory)
    peak = max(value for _, value in run.learning_rate or ())
    return SpectralRow(**dict(row) | {"start": 0, "learning_rate": peak, "optimiser": run.optimiser, "query_key": run.query_key})


def run_spectral(
    provenance: Provenance, scale: Scale, choice: SpectralChoice, seeds: Sequence[int], unigram: float, folder: str
) -> SpectralRuns:
    """Every arm at the chosen learning rate; the plain arm on the whole set, with its heads at warning and end, the others on its first seeds."""
    bench, plan, rate = bench_of("spectral", provenance, scale, folder), scale.spectral, float(choice.rate.value)
    shape, probe = bench.setting.shape, torch.from_numpy(bench.probe(scale.probe.rank_sequences))
    arms, few = list_arms(plan), seeds[: plan.few]
    learnt = learn(bench, none=seeds, rms=few)
    runs = [
        run for name, arm in arms.items()
        for run in make_runs(name, arm, rate, seeds if name == PLAIN else few, scale, name == PLAIN, states_of(learnt, arm))
    ]  # fmt: skip
    results = train_named(bench, "arms", runs)
    rows = []
    for run in runs:
        if is_start(run):
            continue
        trajectory, state = whole(run, results)
        arm = arms[run.name.partition("/")[0]]
        row = describe_spectral(run, after(learnt, arm, run.seed, trajectory))
        if trajectory.diverged_at is None:
            heads = read_state(state, run, probe, shape)
            row = row.model_copy(update={"benign": share(heads.maps.benign), "malignant": share(heads.maps.malignant), "last": table(heads)})
        if isinstance(run.origin, Fork) and results[run.origin.run][0].diverged_at is None:
            row = row.model_copy(update={"warned": table(read_state(results[run.origin.run][1], run, probe, shape))})
        rows.append(row)
    random = draw_sec(shape.width, shape.head_size, torch.Generator().manual_seed(SEED), draws=DRAWS)
    return SpectralRuns(
        provenance=provenance, depth=shape.depth, top=count_top(shape.head_size), random_sec=Quantity(value=random, digits=2, tolerance=1e-9),
        unigram=unigram, extra={name: exact(value, digits=3) for name, value in count_extra(shape, bench.setting.batch).items()}, runs=tuple(rows),
    )  # fmt: skip


def read_state(state: State, run: Run, probe_BT: torch.Tensor, shape: Shape) -> Heads:
    """The heads of one network at rest, on the probe batch."""
    return read_heads(state.weights[None], probe_BT, torch.ones(1), [run.query_key], shape)


def table(heads: Heads) -> HeadTable:
    """Of the one network that was read."""
    return head_table(heads, 0)


def share(values_LMH: torch.Tensor) -> float:
    """Over all blocks and heads."""
    return values_LMH.double().mean().item()
