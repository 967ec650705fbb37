"""Values of the whole study, not yet in params.yaml: to be written there as they stand here, under the scale of the same name."""

from __future__ import annotations

from pathlib import Path

from audit.records import parse_model, read_yaml
from rankcollapse.params import Params

REPOSITORY = Path(__file__).parents[2]

PROPOSED = """
seed_sets:
  calibration: [101, 102, 103]
  development: [111, 112]
  intact: [121, 122]
# Registered arms of every collapse; descriptive ones of a set's first collapses. Main losses, unclipped ones, switches and delays.
arms:
  main:
    every: [untreated, ramp, switch_weak, switch_03, delay_1, delay_2, delay_3, penalty_1x, hinge_1x, hinge_4x]
    few: [penalty_4x, cosine_1x, switch_06, switch_1, penalty_1x_unclipped, hinge_1x_unclipped, hinge_4x_unclipped, hinge_10x_unclipped]
  replication:
    every: [untreated, ramp, switch_weak, switch_03, delay_1, delay_2, delay_3, penalty_1x, hinge_1x, hinge_4x]
    few: [penalty_4x, cosine_1x]
scales:
  smoke:
    seed_sets: {calibration: [5], main: [0], replication: [1, 2], bursts: [3], development: [4], intact: [6]}
    driver: {warm: 200, ramp: 40, hold: 60, floors: [0.05, 0.0]}
    branches: {added_loss: 0.1, loss_steps: 20, switch_steps: 20, ramp_steps: 20, after_ramp: 10, untreated_steps: 20}
    study:
      delays: [5, 10, 20]
      near_floor: 10
      readings: [cosine, gap]
      replays: [2, 6]
      weak: {shallow: [0.05, 0.2], deep: [0.05, 0.2]}
      intact: {ramp: 40, hold: 20, gain_steps: 60, readings: [uncentred_rank]}
      bursts: {start: 200, updates: 10, multipliers: [8, 16], after: 20, measure_after: 5}
  laptop:
    # The floors reach above the edge of the deeper stack; the untreated branch is as long as the longest delay.
    driver: {warm: 300, ramp: 300, hold: 120, floors: [0.04, 0.02, 0.01, 0.005]}
    branches: {added_loss: 0.1, loss_steps: 120, switch_steps: 250, ramp_steps: 300, after_ramp: 40, untreated_steps: 300}
    study:
      delays: [50, 150, 300]
      near_floor: 20
      readings: [cosine, gap]
      replays: [4, 20]
      weak: {shallow: [0.03, 0.05, 0.08], deep: [0.06, 0.1, 0.15]}
      intact: {ramp: 300, hold: 0, gain_steps: 360, readings: [uncentred_rank]}
      bursts: {start: 300, updates: 50, multipliers: [20, 24, 28, 32], after: 300}
  paper:
    branches: {added_loss: 0.1, loss_steps: 4000, switch_steps: 4000, ramp_steps: 1500, after_ramp: 2500, untreated_steps: 4000}
    study:
      delays: [500, 1500, 3000]
      near_floor: 20
      readings: [cosine, gap]
      replays: [4, 50]
      weak: {shallow: [0.05, 0.1, 0.15], deep: [0.05, 0.1, 0.15]}
      intact: {ramp: 1500, hold: 6000, gain_steps: 9000, readings: [uncentred_rank]}
      bursts: {role: deep, start: 3000, updates: 200, multipliers: [8, 12, 16], after: 4000, measure: 10}
"""

SEEDS = {"calibration": 3, "main": 3, "replication": 4, "intact": 2, "development": 2, "bursts": 8}
"""How many seeds each set has at the laptop."""


def read_proposed(folder: Path) -> Params:
    """params.yaml with the proposed values laid over it."""
    path = folder / "proposed.yaml"
    path.write_text(PROPOSED)
    proposed, whole = read_yaml(path), read_yaml(REPOSITORY / "params.yaml")
    whole["seed_sets"] |= proposed["seed_sets"]
    whole["arms"] = proposed["arms"]
    for scale, values in proposed["scales"].items():
        whole["scales"][scale] |= values
    return parse_model(Params, whole, path)
