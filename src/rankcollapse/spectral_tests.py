"""What the runs of the study of attention's spectra came to: who survived, what forewarned, and what development chose. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from audit.records import Provenance, Quantity
from rankcollapse.crashes import SIGNS, Crash, Sign, Watched, find_crash, pool_pairs, score_readings
from rankcollapse.params import Scale
from rankcollapse.quantities import count, exact, trained
from rankcollapse.records_spectral import CrashRow, SpectralChoice, SpectralResults, SpectralRow, SpectralRuns, SurvivalRow, Warned, WarningRow
from rankcollapse.settings import set_value
from rankcollapse.statistics import exact_interval

PLAIN, WARM_UP, LOWER, CAPPED = "adamw", "warm_up", "low_rate", "adamw2"
TRAJECTORY = ("loss", "rank", "residual")
"""Rivals that every trajectory has."""
FORETOLD = ("sec_max", "sec_mean", "sigma_max", "entropy_min", "entropy_mean", "logit_max", "map_rank_min", "gradient_norm")
"""What the plain arm has measured beside them."""


def judge_run(row: SpectralRow, scale: Scale, unigram: float) -> Crash:
    """How a run went."""
    run, plan = row.trajectory, scale.spectral
    return find_crash(run.step, run.loss, plan.rise, learned=unigram - plan.learned, diverged_at=row.diverged_at)


def last_loss(row: SpectralRow) -> float | None:
    """The loss it ended with; None where it diverged."""
    return row.trajectory.loss[-1] if row.diverged_at is None else None


def survival_of(rows: Sequence[SpectralRow], scale: Scale, unigram: float, tau: float | None = None) -> SurvivalRow:
    """An arm at one learning rate."""
    crashes = [judge_run(row, scale, unigram) for row in rows]
    return survival_row(rows[0].learning_rate, crashes, [last_loss(row) for row in rows], scale, tau)


def choose_rate(rates: Sequence[SurvivalRow]) -> int:
    """Place of the learning rate, from 1 on, under which the share of networks that survive is nearest to one half; the lowest of equals."""
    shares = [float(row.survived.value) / float(row.runs.value) for row in rates]
    return min(range(len(rates)), key=lambda place: abs(shares[place] - 0.5)) + 1


def choose_cap(caps: Sequence[SurvivalRow]) -> int:
    """Place of the cap, from 1 on, under which most networks survive; of equals, that of the lowest median loss, then the smallest."""
    def rank(place: int) -> tuple[float, float]:
        loss = caps[place].final_loss
        return -float(caps[place].survived.value), float(loss.value) if loss else float("inf")

    return min(range(len(caps)), key=rank) + 1


def judge_spectral(provenance: Provenance, scale: Scale, choice: SpectralChoice, record: SpectralRuns) -> SpectralResults:
    """Every quantity that the registration names, and what the survival table shows."""
    arms: dict[str, list[SpectralRow]] = {}
    for row in record.runs:
        arms.setdefault(row.arm, []).append(row)
    crashes = {row.name: judge_run(row, scale, record.unigram) for row in record.runs}
    taus = {f"{CAPPED}_{place}": tau for place, tau in enumerate(scale.spectral.taus, 1)}
    survival = {arm: survival_of(rows, scale, record.unigram, taus.get(arm)) for arm, rows in arms.items()}
    chosen, plain = f"{CAPPED}_{int(choice.cap.value)}", arms[PLAIN]
    fell = {row.name: not survived(crashes[row.name]) for row in plain}
    return SpectralResults(
        provenance=provenance,
        crashes={name: crash_row(crash) for name, crash in crashes.items()},
        survival=survival,
        capped=survival[chosen],
        capped_below_warm_up=count_below(arms[chosen], arms[WARM_UP]),
        capped_below_plain=count_below(arms[chosen], plain),
        capped_below_lower=count_below(arms[chosen], arms[LOWER]),
        warned=warn(plain, crashes, scale, scale.spectral.at),
        before=warn(plain, crashes, scale, 0) if scale.spectral.learn else None,
        closed=tell_apart("lower", {row.name: closed_of(row) for row in plain}, fell) if scale.spectral.learn else None,
        malignant=tell_apart("higher", {row.name: row.malignant for row in plain}, fell),
        maps={f"{mode}_{name}": mode_share(plain, mode, fell, flag, scale) for mode in ("benign", "malignant") for name, flag in (("survived", False), ("fell", True))},
        random_sec=record.random_sec,
    )


def count_below(rows: Sequence[SpectralRow], others: Sequence[SpectralRow]) -> Quantity:
    """Pairs of one seed in which the first ended at the lower loss; a run that diverged is never below, and every loss is below its."""
    ends = {row.seed: last_loss(row) for row in others}
    pairs = [(last_loss(row), ends[row.seed]) for row in rows]
    return count([one is not None and (other is None or one < other) for one, other in pairs])


def when_fallen(crash: Crash, scale: Scale) -> int | None:
    """The step by which a run had fallen: that of its crash, or the end if it has not learnt; None for one that survived.

    A restart throws every network back at once, so that only the end says which of them have fallen.
    """
    plan = scale.spectral
    if plan.learn:
        return None if survived(crash) else plan.learn + plan.steps
    return plan.steps if crash.step is None and crash.unlearnt else crash.step


def warn(rows: Sequence[SpectralRow], crashes: Mapping[str, Crash], scale: Scale, after: int) -> Warned:
    """How well each reading, `after` steps of the schedule, tells runs that will have crashed, or not have learnt, at the end from the others."""
    plan, runs = scale.spectral, []
    at, last = plan.learn + after, plan.learn + plan.steps
    values: dict[str, list[float]] = {name: [] for name in (*TRAJECTORY, *FORETOLD)}
    read = [row for row in rows if at in row.trajectory.step]
    for row in read:
        run = row.trajectory
        place = run.step.index(at)
        runs.append(Watched(row.name, "one rate", 0.0, when_fallen(crashes[row.name], scale), last))
        for name, series in values.items():
            series.append((getattr(run, name) if name in TRAJECTORY else run.extra[name])[place])
    scores = score_readings(values, runs, at, 0, last - at)
    kept = [run.crash is None or run.crash > at for run in runs]
    return Warned(
        at=exact(at), excluded=count([*(not flag for flag in kept), *(True for _ in range(len(rows) - len(read)))]),
        crashing=count([flag and run.crash is not None for flag, run in zip(kept, runs, strict=True)]),
        lasting=count([flag and run.crash is None for flag, run in zip(kept, runs, strict=True)]),
        readings={name: warning_row(SIGNS[name], score.auc, score.p) for name, score in scores.items()},
    )  # fmt: skip


def closed_of(row: SpectralRow) -> float | None:
    """Mean attention entropy of a run's last state; None where it diverged."""
    return fmean(value for block in row.last.entropy for value in block) if row.last else None


def tell_apart(sign: Sign, values: Mapping[str, float | None], fell: Mapping[str, bool]) -> WarningRow:
    """How well a reading of the last states tells runs that fell from those that did not; no warning, since it is read at the end."""
    turn = 1 if sign == "higher" else -1
    sides = [[turn * value for name, value in values.items() if fell[name] is flag and value is not None] for flag in (True, False)]
    auc, p, _, _ = pool_pairs({"one rate": (sides[0], sides[1])} if all(sides) else {})
    return warning_row(sign, auc, p)


def mode_share(rows: Sequence[SpectralRow], mode: str, fell: Mapping[str, bool], flag: bool, scale: Scale) -> Quantity:
    """Share of the single maps of a mode in the last states of the runs that fell, or of those that did not; 0 without values where there are none."""
    values = [share for row in rows if fell[row.name] is flag and (share := getattr(row, mode)) is not None]
    return trained(values, scale, "mean", digits=3) if values else Quantity(value=0, digits=3, tolerance=0.0, values=())


def crash_row(crash: Crash) -> CrashRow:
    """A crash as it is kept."""
    return CrashRow(step=crash.step, rise=crash.rise, unlearnt=crash.unlearnt)


def survival_row(
    rate: float, crashes: Sequence[Crash], losses: Sequence[float | None], scale: Scale, tau: float | None = None
) -> SurvivalRow:
    """An arm at one learning rate, from how its runs went and the losses they ended with (None where a run diverged)."""
    lived = [survived(crash) for crash in crashes]
    low, high = exact_interval(sum(lived), len(lived))
    final = [loss for loss in losses if loss is not None]
    return SurvivalRow(
        rate=set_value(rate), tau=None if tau is None else set_value(tau), runs=exact(len(lived)), survived=count(lived),
        low=exact(low, digits=2), high=exact(high, digits=2),
        crashed=count([crash.crashed for crash in crashes]), unlearnt=count([crash.unlearnt for crash in crashes]),
        final_loss=trained(final, scale, digits=2, unit="nats") if final else None,
    )  # fmt: skip


def survived(crash: Crash) -> bool:
    """Whether a run learnt and did not crash."""
    return not crash.crashed and not crash.unlearnt


def warning_row(sign: Sign, auc: float | None, p: float) -> WarningRow:
    """A score as it is kept."""
    return WarningRow(sign=sign, auc=exact(0.5 if auc is None else auc, digits=2), p=exact(p, digits=4))
