"""Every quantitative claim of the source paper as a row: where it stands, what it says, and the relation it is judged by here.

Keys. `main.` are events of the main study, `repl.` those of the replication, `path.` and `recovered.` both together, as the paper counts
them; a relation adds `.shallow` or `.deep`, `by_seed` pairs the two depths of a seed. Arms: penalty_1x, hinge_4x, cosine_1x, unclipped_*,
switch_weak (0.1 or the calibrated weak scale), switch_03, switch_06, delay_0 to delay_3 (switch to 0.3 after rising delays). Readings that
are flags are 0 or 1; `T_rec` holds budget + 1 where nothing recovered; `qk` is the median over blocks, `_min` and `_max` are over blocks.

Testable: Y, the relation can be judged; P, with a changed constant, or as context; N, not at this scale. Without a relation, what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankcollapse.evidence import ALONE, BOTH, DEEP, SHALLOW, Relation, Roles
from rankcollapse.orders import Median, Ranked, Trend, Unranked
from rankcollapse.relations import Comparison, Contrast, Events, Every, Not, Registered, Separated, Series, Value

Bound = float | str | tuple[float, float]
LOSSES = ("penalty_1x", "penalty_4x", "hinge_1x", "hinge_4x", "cosine_1x")
UNCLIPPED = ("penalty_1x", "hinge_1x", "hinge_4x", "hinge_10x")
DELAYS = tuple(f"main.delay_{place}" for place in range(4))
SIZE = "the paper's width and batch, with which the absolute size goes"


@dataclass(frozen=True)
class Claim:
    """One row; ValueError unless it has a relation or says what is missing, and never both."""

    id: str
    section: str
    testable: Literal["Y", "P", "N"]
    paper: str
    relation: Relation | None = None
    beside: tuple[str, ...] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        if (self.relation is None) == (self.missing == "") or (self.testable == "N" and self.relation):
            raise ValueError(f"{self.id}: a relation, or what is missing; not testable: no relation")


def every(key: str, op: str = "==", than: Bound = 1, roles: Roles = BOTH, *, factor: float = 1.0, spared: int = 0) -> Events:
    """Of every event (a flag, without a bound)."""
    return Events("all", Comparison(key, op, than, factor), roles, spared)


def within(key: str, low: float, high: float, roles: Roles = BOTH) -> Events:
    """Every event in an interval."""
    return Events("all", Comparison(key, "in", (low, high)), roles)


def none(key: str, roles: Roles = BOTH) -> Events:
    """A flag that no event has."""
    return Events("none", Comparison(key), roles)


def most(key: str, op: str = "==", than: Bound = 1, roles: Roles = BOTH) -> Events:
    """More than half of the events."""
    return Events("most", Comparison(key, op, than), roles)


def mixed(key: str, roles: Roles = BOTH) -> Events:
    """A flag that some events have and some have not."""
    return Events("mixed", Comparison(key), roles)


def fewer(key: str, than: str, roles: Roles = BOTH) -> Contrast:
    """The first reading below the second in most of the events that differ."""
    return Contrast(Comparison(key, "<", than), roles)


def value(key: str, op: str, than: Bound) -> Value:
    """One number."""
    return Value(Comparison(key, op, than))


def both(*parts: Relation) -> Every:
    """All of these."""
    return Every(parts)


def by_role(*keys: str) -> tuple[str, ...]:
    """Keys of both roles."""
    return tuple(f"{key}.{role}" for key in keys for role in BOTH)


def unrepaired(arm: str) -> Relation:
    """No branch of an arm recovers by the rank rule."""
    return none(f"main.{arm}.recovered_rank")


def effective(arm: str) -> tuple[str, ...]:
    """The other recovery, rank and residual, to be printed beside the paper's."""
    return by_role(f"main.{arm}.recovered_effective")


def profile(roles: Roles) -> Relation:
    """The task gradient arrives at the last block and fades towards the first."""
    last, first = "path.collapsed.qkv_last", "path.collapsed.qkv_first"
    return both(every(last, ">=", 1e-4, roles), every(last, ">=", first, roles, factor=100))


STATE = (
    Claim("C001", "4", "Y", "collapsed loss 1.73-1.94 nats above healthy when saved", every("main.collapse.gap_over_unigram_gap", ">=", 0.5)),
    Claim("C002", "4", "Y", "collapsed loss 7.55-7.63 beside a unigram loss of 7.64", within("main.collapse.loss_minus_unigram", -0.1, 0.1)),
    Claim("C003", "4", "Y", "untreated, shallow: 3/3 stay collapsed", none("main.untreated.recovered_rank", SHALLOW), effective("untreated")),
    Claim("C004", "4", "Y", "untreated, deep: 5/5 stay collapsed", none("main.untreated.recovered_rank", DEEP), effective("untreated")),
    Claim("C005", "4", "Y", "untreated: 10/10 stay collapsed in the replication", none("repl.untreated.recovered_rank")),
    Claim("C006", "4", "Y", "attention entropy of collapsed networks 0.94-0.99", Separated("main.entropy.healthy", "main.entropy.collapsed")),
    Claim("C007", "4", "Y", "attention entropy of healthy networks 0.65-0.69", Separated("main.entropy.healthy", "main.entropy.collapsed")),
)
LOSS = (
    Claim("C008", "5", "Y", "penalty at one time the loss: 0/8 recover", unrepaired("penalty_1x"), effective("penalty_1x")),
    Claim("C009", "5", "Y", "hinge at one time the loss: 0/8 recover", unrepaired("hinge_1x"), effective("hinge_1x")),
    Claim("C010", "5", "Y", "penalty at four times: 0/8 recover", unrepaired("penalty_4x"), effective("penalty_4x")),
    Claim("C011", "5", "Y", "hinge at four times: 0/8 recover", unrepaired("hinge_4x"), effective("hinge_4x")),
    Claim("C012", "5", "Y", "cosine at one time: 0/8 recover", unrepaired("cosine_1x"), effective("cosine_1x")),
    Claim("C013", "5,D", "Y", "replication: 0/10 in each of six arms at the floor",
          both(*(none(f"repl.{arm}.recovered_rank") for arm in (*LOSSES, "untreated")))),
    Claim("C014", "5,C", "Y", "added gradient not clipped: 0/32", both(*(unrepaired(f"unclipped_{arm}") for arm in UNCLIPPED))),
)  # fmt: skip
FORCE = (
    Claim("C015", "5", "P", "penalty's force 0.0032 of the task gradient", every("force.penalty_1x.rho", "<", "force.hinge_1x.rho", factor=1 / 5)),
    Claim("C016", "5", "P", "hinge's force 0.0887, about a tenth", within("force.hinge_1x.rho", 0.01, 1)),
    Claim("C017", "5", "Y", "hinge about 28 times the penalty", every("force.hinge_over_penalty", ">=", 5)),
    Claim("C018", "5", "P", "hinge at four times 0.3071 (here: over the matched one, at the branches' ends)", within("force.hinge_4x_over_1x", 2, 6)),
    Claim("C019", "5", "P", "replication: 0.0037 and 0.0782",
          both(within("repl.force.penalty_1x.rho_over_main", 1 / 3, 3), within("repl.force.hinge_1x.rho_over_main", 1 / 3, 3))),
)  # fmt: skip
PATH = (
    Claim("C020", "6", "P", "task gradient in the last block 8e-3, shallow", profile(SHALLOW)),
    Claim("C021", "6", "P", "task gradient in the first block 1e-8, shallow",
          every("path.collapsed.qkv_first", "<=", "path.collapsed.qkv_last", SHALLOW, factor=0.01)),
    Claim("C022", "6", "P", "healthy task gradient about 7e-2 a block",
          every("path.healthy.qkv_median", ">=", "path.collapsed.qkv_first", factor=1e3)),
    Claim("C023", "6", "P", "deep: from 5e-3 in the last block to 2e-11 in the first", profile(DEEP)),
    Claim("C024", "6", "Y", "falls by more than three orders in 17/18", every("path.collapsed.orders", ">", 3, spared=1)),
    Claim("C025", "6", "Y", "almost all of it on the value projection", every("path.collapsed.v_share", ">=", 0.9)),
    Claim("C026", "6", "Y", "query-key below 1e-6 in every block of 17/18", every("path.collapsed.qk_over_healthy_max", "<", 0.01, spared=1)),
    Claim("C027", "6", "P", "healthy query-key gradient 3e-2 to 5e-2", within("path.healthy.qk", 1e-3, 1e-1)),
    Claim("C028", "6", "Y", "hinge's gradient 0.34 in the first block, above the healthy task's",
          most("path.collapsed.hinge_first", ">", "path.healthy.qkv_first", SHALLOW)),
    Claim("C029", "6", "Y", "hinge's gradient 6e-4 in the last block",
          every("path.collapsed.hinge_last", "<", "path.collapsed.hinge_first", SHALLOW, factor=0.1)),
    Claim("C030", "6", "Y", "hinge branches end with rank 8-9 in the first block", every("main.hinge_1x.rank_end_first_over_healthy", ">", 0.5)),
    Claim("C031", "6", "Y", "and 1.6-2.7 in the middle one",
          both(every("main.hinge_1x.rank_end_middle", "<", "main.hinge_1x.rank_end_first"),
               every("main.hinge_1x.rank_end_last_over_healthy", "<", 0.5))),
)  # fmt: skip
RESTORED = (
    Claim("C032", "7", "Y", "reversed ramp: 8/8 recover", every("main.ramp.recovered_rank"), effective("ramp")),
    Claim("C033", "7", "Y", "reversed ramp: 10/10 in the replication", every("repl.ramp.recovered_rank")),
    Claim("C034", "7", "P", "switch to 1: query-key gradient rises 1e7-fold in every block", every("path.switch_1.qk_rise_min", ">=", 100)),
    Claim("C035", "7", "Y", "switch to 1: 1.2 times healthy in the median block", within("path.switch_1.qk_over_healthy", 0.5, 2)),
    Claim("C036", "7,E", "Y", "rank back before any update at 0.3: 0/18", none("path.switch_03.rank_above_before")),
    Claim("C037", "7,E", "Y", "rank back before any update at 1: 4/18", Events("under half", Comparison("path.switch_1.rank_above_before"))),
    Claim("C038", "7", "P", "collapse at a skip scale of 0.02-0.03", every("hyst.skip_at_collapse_over_floor", "<=", 3)),
    Claim("C039", "7", "Y", "shallow: back on the ramp at 0.25-0.97", every("hyst.ratio", ">", 1, SHALLOW)),
    Claim("C040", "7", "Y", "deep: back on the ramp at 1.00", every("hyst.by_seed.skip_deep", ">", "hyst.by_seed.skip_shallow", ALONE)),
    Claim("C041", "7,D", "Y", "replication, shallow: back at 0.95-1.00 (5/5)", every("repl.hyst.ratio", ">", 1, SHALLOW)),
    Claim("C042", "7,D", "Y", "replication, deep: back at 1.00 (5/5)",
          every("repl.hyst.by_seed.skip_deep", ">", "repl.hyst.by_seed.skip_shallow", ALONE)),
    Claim("C043", "7", "Y", "at least 12 times the scale of collapse in all 18",
          both(every("hyst.ratio", ">=", 5), every("repl.hyst.ratio", ">=", 5))),
    Claim("C044", "7,C", "Y", "switch to 0.3: 7/8 recover", every("main.switch_03.recovered_rank", spared=1), effective("switch_03")),
    Claim("C045", "7,C", "Y", "switch to 0.6: 8/8 recover", every("main.switch_06.recovered_rank"), effective("switch_06")),
    Claim("C046", "7", "P", "within 34-121 steps of 4,000", every("main.switch_03.T_over_budget", "<", 0.1)),
    Claim("C047", "7,C", "Y", "switch to 0.1: 2/8 recover", mixed("main.switch_weak.recovered_rank"), effective("switch_weak")),
    Claim("C048", "7,E", "Y", "switch to 0.1, replication: 3/5 shallow, 2/5 deep",
          both(mixed("repl.switch_weak.recovered_rank", SHALLOW), mixed("repl.switch_weak.recovered_rank", DEEP))),
    Claim("C049", "7", "Y", "every network still healthy at 0.1 on the way down", every("main.driver.rank_at_weak_over_threshold", ">", 1)),
    Claim("C050", "7,C", "Y", "shallow: recovery times rise with the delay in every seed",
          Trend(tuple(f"{arm}.T_rec" for arm in DELAYS), "rises", SHALLOW)),
    Claim("C051", "7,C", "Y", "deep: no delayed branch recovers, 0/15", fewer("delay.share_recovered", "delay.undelayed_recovered", DEEP)),
    Claim("C052", "7,C", "Y", "deep: 4/5 recover without delay", every("main.delay_0.recovered_rank", roles=DEEP, spared=1)),
    Claim("C053", "7", "Y", "all 42 that recovered by rank end 0.21-0.56 nats above healthy", every("recovered.loss_gap_end", ">", 0)),
    Claim("C054", "7", "P", "median gap 0.44 nats", Median(Comparison("recovered.gap_end_over_gap_saved", "in", (0.1, 0.5)))),
)  # fmt: skip
PREDICTED = (
    Claim("C055", "8,E", "Y", "Spearman -0.67 over nine at 0.3 (P2, met)", Registered("path-1.P2", "met"), ("test1.P2.rho",)),
    Claim("C056", "8,E", "Y", "8/10 correct at 0.1, target nine (P1, missed)", Registered("path-1.P1", "missed"), ("test1.P1.correct",)),
    Claim("C057", "8,E", "Y", "the loss gap does as well: 8/10 and -0.68",
          both(value("test1.P4.loss_gap.correct", ">=", "test1.P1.correct"), value("test1.P4.loss_gap.rho", "<=", "test1.P2.rho"))),
    Claim("C058", "8", "P", "burst: below the collapse threshold within ten updates", every("burst.m1.updates_to_collapse", "<=", 10, DEEP)),
    Claim("C059", "8,E", "Y", "smaller burst: query-key gradient 1.9e-4 to 7.1e-4 at its end",
          both(every("burst.m1.qk_over_collapsed", ">=", 100, DEEP), every("burst.m1.qk_over_healthy", "<", 1, DEEP))),
    Claim("C060", "E", "Y", "larger burst: query-key gradient 1.7e-5 to 1.5e-4", every("burst.m2.qk", "<", "burst.m1.qk", DEEP)),
    Claim("C061", "8,E", "P", "smaller burst: 8/8 recover", every("burst.m1.recovered_rank", roles=DEEP)),
    Claim("C062", "E", "P", "smaller burst: after 1110-3540 steps",
          both(every("burst.m1.recovered_rank", roles=DEEP), value("burst.m1.T_rec_spread", ">=", 2))),
    Claim("C063", "8,E", "P", "larger burst: 0/8 recover", none("burst.m2.recovered_rank", DEEP),
          ("burst.m2.recovered_lower_threshold", "burst.m2.recovered_higher_threshold")),
    Claim("C064", "E", "Y", "larger burst: rank still rising, ends at 2.7-3.4", every("burst.m2.rank_rise", ">", 0.2, DEEP)),
    Claim("C065", "8,E", "Y", "frozen threshold: 8/8 correct at the smaller burst", every("burst.T1.m1.correct", roles=DEEP, spared=1)),
    Claim("C066", "8,E", "Y", "frozen threshold: 3/8 correct at the larger burst", Not(every("burst.T1.m2.correct", roles=DEEP, spared=1))),
    Claim("C067", "8,E", "P", "predictor does not order recovery: Spearman -0.10 over 8 (T3)", Unranked("burst.m1.qk", "burst.m1.T_rec", roles=DEEP)),
    Claim("C068", "8,E", "P", "loss gap orders recovery: +0.79 (T3r)", Ranked("burst.m1.loss_gap", "burst.m1.T_rec", "positive", DEEP)),
    Claim("C069", "E", "P", "gradient norm orders recovery: +0.55 (T3r)", Ranked("burst.m1.grad_norm", "burst.m1.T_rec", "positive", DEEP)),
    Claim("C070", "8,E", "P", "recovered ones end 0.86-1.04 nats above the control (T4)", every("burst.m1.loss_gap_end", ">", 0.05, DEEP)),
)  # fmt: skip
CALIBRATED = (
    Claim("C071", "A", "Y", "floor 0.02 is the largest that collapses all for good", both(*(value(key, ">", 0) for key in by_role("calib.edge")))),
    Claim("C072", "A", "Y", "at 0.03 the shallow keep their rank, some deep lose it", value("calib.edge.deep", ">", "calib.edge.shallow")),
    Claim("C073", "A", "P", "at 0.03 2/6 crossed, above none",
          both(*(Series(key, "never falls") for key in by_role("calib.crossed_by_falling_floor")))),
    Claim("C074", "A", "Y", "at 0.02 and at 0 6/6 collapse", every("calib.collapsed_from_floor_down")),
    Claim("C075", "A", "Y", "calibration: 12/12 untreated stay", every("calib.untreated.stayed")),
    Claim("C076", "A", "Y", "none of 23 checks of other hinges recovers", none("calib.hinge_checks.recovered_rank")),
    Claim("C077", "A", "P", "8 of 10 settled, 2 shallow ones dipped and healed", None, by_role("main.events.settled", "main.events.dips"),
          "a relation that could fail (settled collapses and dips are only reported)"),
    Claim("C078", "A", "N", "recovery thresholds 3.95 and 3.86",
          None, by_role("calib.threshold"), "the paper's width and vocabulary, which set the healthy rank"),
    Claim("C079", "A", "Y", "24/26 controls dip early, until step 160 at most",
          both(most("controls.dipped_early"), every("controls.last_dip_over_ramp_start", "<", 1))),
    Claim("C080", "A", "Y", "controls reach the recovery threshold by step 550", every("controls.recovered_over_ramp_start", "<", 1)),
    Claim("C081", "A", "Y", "healthy weights at the floor: loss 24-59", every("state.healthy_at_floor.loss_minus_collapsed", ">", 0.3)),
    Claim("C082", "A", "P", "their gradient norm near 265, of collapsed ones about 1",
          every("state.healthy_at_floor.grad_norm_over_collapsed", ">=", 3)),
    Claim("C083", "A", "P", "added loss within a tenth of its target in 31/40", most("treat.matched_within_tenth")),
)  # fmt: skip
MEASURED = (
    Claim("C084", "B", "Y", "synthetic penalty 4.9e-4 to 3.5e-8 as the spread shrinks", value("synth.penalty.error", "<=", 1e-5)),
    Claim("C085", "B", "Y", "synthetic hinge stays at 0.022", value("synth.hinge.spread_below_tenth", "<=", 0.01)),
    Claim("C086", "B", "Y", "synthetic cosine is not monotone", Series("synth.cosine", "turns inside")),
    Claim("C087", "B", "P", "force before the main runs: 0.0013 and 0.074", None, ("force.audit.penalty", "force.audit.hinge"), SIZE),
    Claim("C088", "B", "Y", "force along the line to healthy, and along a random one",
          every("force.line.penalty_end", ">", "force.line.penalty_start")),
    Claim("C089", "B,T2", "P", "hinge's force over events 0.0550-0.1630", None, by_role("force.hinge_1x.rho"), SIZE),
    Claim("C090", "B,T2", "P", "penalty's force over events 0.0027-0.0043", None, by_role("force.penalty_1x.rho"), SIZE),
    Claim("C091", "B,T2", "P", "penalty at four times: 0.0130 (here: over the matched one, at the branches' ends)",
          within("force.penalty_4x_over_1x", 4 / 1.5, 4 * 1.5)),
    Claim("C092", "B,T2", "P", "hinge at four times over events 0.1942-0.6194", None, by_role("force.hinge_4x.rho"), SIZE),
    Claim("C093", "B,T2", "P", "cosine 0.0618",
          both(every("force.penalty_1x.rho", "<", "force.cosine_1x.rho"), every("force.cosine_1x.rho", "<", "force.hinge_4x.rho"))),
    Claim("C094", "B,T2", "Y", "shares of clipped steps 0.22 0.44 0.21 0.60 0.40",
          both(fewer("main.penalty_1x.clip_share", "main.hinge_1x.clip_share"), fewer("main.hinge_1x.clip_share", "main.hinge_4x.clip_share"))),
)  # fmt: skip
CHECKED = (
    Claim("C095", "C", "P", "switch to 0.1: median time 94, final rank 1.00-7.09",
          None, by_role("main.switch_weak.T_rec", "main.switch_weak.rank_end"),
          "the paper's budget and healthy rank, which set both"),
    Claim("C096", "C", "P", "switch to 0.3: median time 71", Trend(("main.switch_weak.T_rec", "main.switch_03.T_rec"), "falls")),
    Claim("C097", "C", "P", "switch to 0.6: median time 50",
          Trend(("main.switch_weak.T_rec", "main.switch_03.T_rec", "main.switch_06.T_rec"), "falls", first=True)),
    Claim("C098", "C", "P", "first delay: 2/8 recover", Trend(tuple(f"{arm}.recovered_rank" for arm in DELAYS[:2]), "falls")),
    Claim("C099", "C", "P", "second delay: 3/8 recover", Trend(tuple(f"{arm}.recovered_rank" for arm in DELAYS[:3]), "falls")),
    Claim("C100", "C", "P", "third delay: 1/8 recovers", Trend(tuple(f"{arm}.recovered_rank" for arm in DELAYS), "falls")),
    Claim("C101", "C", "P", "shallow by delay: 3/3, 2/3, 3/3, 1/3 in times that do not overlap",
          both(*(Separated(f"{one}.T_recovered", f"{other}.T_recovered", SHALLOW) for one, other in zip(DELAYS[:3], DELAYS[1:], strict=True)))),
    Claim("C102", "C", "Y", "unclipped: final ranks up to 1.99, 2.60, 3.63, 3.40",
          both(*(every(f"main.unclipped_{arm}.rank_end_over_threshold", "<", 1) for arm in UNCLIPPED))),
    Claim("C103", "C", "P", "skip intact, weight decay raised: 0/6 collapse", none("intact.wd_ramp.detected"), by_role("intact.wd_ramp.settled")),
    Claim("C104", "C", "P", "skip intact, larger gains: 0/6 collapse at each", both(*(none(f"intact.gain_{gain}.detected") for gain in (4, 8, 16)))),
    Claim("C105", "C", "Y", "430 further steps pass on the ramp before 0.3", value("hyst.steps_to_03_over_arithmetic", "in", (0.98, 1.02))),
    Claim("C106", "C", "Y", "entropy unchanged after 3,500 untreated steps", within("main.untreated.entropy_change", -0.05, 0.05)),
    Claim("C107", "D", "Y", "replication: 10 of 10 settled, none healed", every("repl.events.settled")),
)  # fmt: skip
RULED = (
    Claim("C108", "E", "P", "path rule met at 1 in 15/18", most("path.switch_1.open_in_every_block")),
    Claim("C109", "E", "Y", "path rule met at 0.3 in 1/18", fewer("path.switch_03.rule_met", "path.switch_1.rule_met")),
    Claim("C110", "E", "P", "healthy networks meet it in 12/18", None, by_role("path.healthy.rule_met"), SIZE),
    Claim("C111", "E", "Y", "on query, key and value: 18/18 at 1, 9 at 0.3", fewer("path.switch_03.rule_met_qkv", "path.switch_1.rule_met_qkv")),
    Claim("C112", "E", "Y", "after 50 updates rank back in 9/18 at 0.3 and 8 at 1",
          both(fewer("path.switch_03.rank_above_before", "path.switch_03.rank_above_after_last"),
               fewer("path.switch_1.rank_above_before", "path.switch_1.rank_above_after_last")),
          by_role("path.switch_03.rank_above_after_first", "path.switch_1.rank_above_after_first")),
    Claim("C113", "E", "Y", "replayed ranks agree with logged ones to 2 %", value("path.replay.error", "<=", 0.02)),
    Claim("C114", "E", "P", "threshold 3.1e-5 separates main 8/8",
          every("test1.threshold.main_correct"), by_role("test1.threshold.value", "test1.threshold.chance")),
    Claim("C115", "E", "P", "Spearman -0.79 on main", None, ("test1.main.rho",), "a test fixed beforehand (on main the correlation is post hoc)"),
    Claim("C116", "E", "Y", "predictor larger in shallow networks",
          every("test1.by_seed.predictor_shallow", ">", "test1.by_seed.predictor_deep", ALONE)),
    Claim("C117", "E", "P", "where predictor and depth disagree, 2/2 for the predictor", every("test1.disagreeing.predictor_correct", roles=ALONE)),
    Claim("C118", "E", "Y", "depth alone: 6/10", value("test1.P4.depth.correct", "<", "test1.P1.correct")),
    Claim("C119", "E", "P", "hinge's force: 5/10, Spearman +0.45 (P3, missed)", Unranked("test1.rho_hinge", "test1.T_rec"), ("test1.P3.rho",)),
    Claim("C120", "E", "P", "gradient norm: 4/10, -0.08",
          both(value("test1.P4.grad_norm.correct", "<", "test1.P1.correct"), value("test1.P4.grad_norm.rho", ">", "test1.P2.rho"))),
    Claim("C121", "E", "Y", "registered, deep: 0/15 delayed, 4/5 undelayed", both(Registered("delay-1.D1", "met"), Registered("delay-1.D3", "met"))),
    Claim("C122", "E", "Y", "registered, shallow: 5/5, 3, 2, 0 by delay",
          both(Trend(tuple(f"repl.delay_{place}.T_rec" for place in range(4)), "rises", SHALLOW), none("repl.delay.returned", SHALLOW))),
    Claim("C123", "E", "Y", "path open after the smaller burst in 8/8 (T0)", every("burst.T0.open", roles=DEEP, spared=1)),
    Claim("C124", "E", "P", "development threshold: 16/16 (T1b, met)", Registered("burst-1.T1b", "met")),
    Claim("C125", "E", "P", "rivals 16, 14, 12 of 16: no strict win (T2, missed)", Registered("burst-1.T2", "missed")),
    Claim("C126", "E", "P", "pooled over bursts: -0.82, +0.89, +0.93", value("burst.pooled.rho_size", ">", "burst.m1.rho_size")),
    Claim("C127", "E", "Y", "training stable at both bursts", both(every("burst.m1.finite", roles=DEEP), every("burst.m2.finite", roles=DEEP))),
    Claim("C128", "E", "Y", "skip-collapsed networks do not move in the same budget", none("main.untreated.recovered_rank", DEEP)),
)  # fmt: skip
EVERY_STEP = "readings at every step of a ramp as slow as the paper's: all markers cross within a few measurements"
REST = (
    Claim("C129", "G", "N", "registered order of markers in 0/10", missing=EVERY_STEP),
    Claim("C130", "G", "N", "markers cross at steps 2990-3030, 2980-3040, 2960-3000", missing=EVERY_STEP),
    Claim("C131", "G", "P", "loss gap no later than either marker in 10/10", every("markers.loss_not_later")),
    Claim("C132", "G", "Y", "both losses fail, untreated stays: the row fixed in advance",
          value("main.interpretation.both_fail_untreated_stays", "==", 1)),
    Claim("C133", "3", "N", "9 and 11 M parameters", missing="the paper's scale, whose plan prints them"),
    Claim("C134", "Repr.", "N", "54 GPU-hours", missing="the paper's scale and hardware"),
)  # fmt: skip
CLAIMS = (*STATE, *LOSS, *FORCE, *PATH, *RESTORED, *PREDICTED, *CALIBRATED, *MEASURED, *CHECKED, *RULED, *REST)
"""All of them, in the order of their ids."""
