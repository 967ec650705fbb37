"""The engine: one AdamW step by the book, runs that do not know of each other, and terms that add what they were asked to."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest
import torch
from corpora import refusal
from networks import RULE, SETTING, SHAPE, draw_tokens, make_stack, make_stream, same_bits, same_state, stream_of, train

from rankcollapse.engine import Interrupted, Run, Stack, State, fresh_state, train_stack
from rankcollapse.events import Settled
from rankcollapse.model import token_losses, views
from rankcollapse.schedule import constant, ramp_down
from rankcollapse.terms import block_terms
from rankcollapse.text import batch_at

STACK_TOLERANCE = 1e-4
"""Relative, of weights after 20 steps: single precision, and Adam divides small gradients by their own size."""


def poisoned(seed: int = 0) -> State:
    """A network with one infinite weight."""
    state = fresh_state(seed, SETTING)
    state.weights[3] = float("inf")
    return state


def plain_training(state: State, steps: int, skip: float, rule=RULE) -> tuple[torch.Tensor, int]:
    """The same network trained with torch.optim.AdamW and clip_grad_norm_: its weights, and how often it was clipped."""
    named = {name: weight[0].clone().requires_grad_() for name, weight in views(state.weights[None], SHAPE).items()}
    groups = [{"params": [weight], "weight_decay": rule.weight_decay if weight.dim() > 1 else 0.0} for weight in named.values()]
    optimiser = torch.optim.AdamW(groups, lr=rule.learning_rate, betas=(rule.beta1, rule.beta2), eps=rule.epsilon)
    clipped = 0
    for step in range(steps):
        inputs, targets = (torch.from_numpy(part)[None] for part in batch_at(make_stream(), state.step + step, SETTING.batch, SHAPE.context))
        stacked = {name: weight[None] for name, weight in named.items()}
        loss = token_losses(stacked, stream_of(stacked, inputs, torch.tensor([skip]), SHAPE)[-1], targets).sum()
        optimiser.zero_grad()
        loss.backward()
        clipped += torch.nn.utils.clip_grad_norm_(named.values(), rule.clip).item() > rule.clip
        optimiser.step()
    return torch.cat([weight.detach().flatten() for weight in named.values()]), clipped


@pytest.mark.parametrize("clip", [1.0, 1e-2, 100.0])
@pytest.mark.parametrize("skip", [1.0, 0.1])
def test_equals_torch_adamw_with_clipping(skip, clip):
    """One and five steps give the weights of torch's own AdamW and clipping: decay on matrices only. Update or bug?"""
    rule = RULE.model_copy(update={"clip": clip, "epsilon": 1e-5})  # or Adam makes whole steps of gradients that are rounding error
    for steps in (1, 5):
        [(trajectory, state)] = train([Run("one", 0, steps, constant(skip))], replace(SETTING, optimiser=rule))
        expected, clipped = plain_training(fresh_state(0, SETTING), steps, skip, rule)
        moved = (expected - fresh_state(0, SETTING).weights).norm()
        assert (state.weights - expected).norm() < 5e-5 * moved
        assert (trajectory.clipped, trajectory.trained, state.step) == (clipped, steps, steps)
    assert clipped == (5 if clip < 1 else 0 if clip > 1 else clipped)


def test_each_run_is_clipped_at_its_own_norm():
    """A neighbour with a large gradient does not shrink another run's step."""
    loud = fresh_state(1, SETTING)
    loud.weights.mul_(3)
    alone = train([Run("a", 0, 3), Run("b", 2, 3)])[0]
    beside = train([Run("a", 0, 3), Run("b", 1, 3, origin=loud)])[0]
    assert same_state(alone[1], beside[1]) and alone[0] == beside[0]


def test_runs_at_different_clocks_see_their_own_data():
    """Two copies of one network, one step apart on the clock, read the batches of their own steps."""
    origin = fresh_state(0, SETTING)
    late = replace(origin, step=7)
    stack = make_stack([Run("early", 0, 3, origin=origin), Run("late", 0, 3, origin=late)])
    for row, step in enumerate((0, 7)):
        assert (stack.batches()[row, :, :-1].numpy() == batch_at(make_stream(), step, SETTING.batch, SHAPE.context)[0]).all()
        assert (stack.batches()[row, :, 1:].numpy() == batch_at(make_stream(), step, SETTING.batch, SHAPE.context)[1]).all()
    results = train_stack(stack)
    assert [trajectory.step for trajectory, _ in results] == [[0, 3], [7, 10]]
    for (_, state), start in zip(results, (origin, late), strict=True):
        assert (state.weights - plain_training(start, 3, 1.0)[0]).norm() < 2e-4 if start is origin else state.step == 10
    assert not same_bits(results[0][1].weights, results[1][1].weights)


def test_bias_correction_goes_on_at_the_runs_own_step():
    """A run split in two at step 4 ends bit for bit where the whole run ends: clock, moments and data go on."""
    [(_, whole)] = train([Run("whole", 0, 9)])
    [(_, half)] = train([Run("first", 0, 4)])
    [(trajectory, joined)] = train([Run("second", 0, 5, origin=half)])
    assert same_state(joined, whole) and trajectory.step[0] == 4


def test_same_layout_same_bits():
    """Run twice, or beside other neighbours in a stack of the same size, a run gives the same bytes."""
    first, again, other = (train([Run("a", 0, 12, constant(0.3)), Run("b", seed, 12)]) for seed in (1, 1, 2))
    assert same_state(first[0][1], again[0][1]) and same_state(first[0][1], other[0][1]) and first[0][0] == again[0][0] == other[0][0]
    assert not same_state(first[1][1], other[1][1])


def test_a_run_does_not_depend_on_its_stack():
    """Alone or in a stack of five a run has the same weights within the declared tolerance, and another seed has not."""
    runs = [Run(f"run{seed}", seed, 20, constant(0.3 + 0.1 * seed)) for seed in range(5)]
    for run, (trajectory, state) in zip(runs, train(runs), strict=True):
        [(single, own)] = train([run])
        assert (state.weights - own.weights).norm() < STACK_TOLERANCE * own.weights.norm()
        assert trajectory.rank == pytest.approx(single.rank, rel=1e-3) and trajectory.step == single.step
    other = train([replace(runs[0], seed=1)])[0][1]
    assert (other.weights - own.weights).norm() > 0.1 * own.weights.norm()


def test_a_diverged_run_is_frozen():
    """A run whose loss is not finite ends where that is measured, and its neighbours go on as if it had come to its end."""
    kept = [Run("a", 0, 12), Run("b", 1, 12)]
    results = train([kept[0], Run("bad", 2, 12, origin=poisoned()), kept[1]])
    assert results[1][0].diverged_at == 0 and results[1][0].trained == 0 and results[1][1].step == 0
    for (trajectory, state), (expected, own) in zip((results[0], results[2]), train(kept), strict=True):
        assert trajectory == expected and same_state(state, own)


def test_one_run_s_infinite_gradient_stays_its_own():
    """Between two measurements a network that is not finite changes no bit of its neighbours."""
    stacks = [make_stack([Run("a", 0, 6), Run("b", 1, 6, origin=origin), Run("c", 2, 6)]) for origin in (poisoned(), fresh_state(1, SETTING))]
    for stack in stacks:
        for _ in range(6):
            stack.step()
        stack.take_in()
    for row in (0, 2):
        assert same_bits(stacks[0].flat[row], stacks[1].flat[row]) and stacks[0].trajectories[row].clipped == stacks[1].trajectories[row].clipped
    assert not torch.isfinite(stacks[0].flat[1]).all() and torch.isfinite(stacks[0].flat[[0, 2]]).all()


@pytest.mark.parametrize(("term", "times"), [("penalty", 0.1), ("penalty", 0.4), ("hinge", 0.1), ("hinge", 0.4)])
def test_solved_weight_adds_the_wanted_loss(term, times):
    """On the probe batch and in the first state, weight times term is the wanted loss to 1e-4; on the first step about as much."""
    run = Run("run", 0, 3, constant(0.2), term, times, measure_every=1)
    stack = make_stack([run, Run("plain", 1, 3)])
    state = fresh_state(0, SETTING)
    stream = stream_of(views(state.weights[None], SHAPE), stack.probe[None, :, :-1], torch.tensor([0.2]), SHAPE)
    value = block_terms([term], torch.stack(stream), len(stack.probe), torch.tensor([SETTING.healthy_q])).mean().item()
    (trajectory, _), (plain, _) = train_stack(stack)
    assert trajectory.term_weight * value == pytest.approx(times, rel=1e-4)
    assert trajectory.first_added == pytest.approx(times, rel=0.2) and trajectory.first_added != times
    assert (plain.term_weight, plain.first_added) == (0.0, 0.0)


def test_a_term_changes_its_own_run_only():
    """The hinge moves the network it is added to; the neighbour's bytes stay."""
    plain, pushed = (train([Run("a", 0, 5, constant(0.2), term, added), Run("b", 1, 5)]) for term, added in (("none", 0.0), ("hinge", 0.4)))
    assert same_state(plain[1][1], pushed[1][1])
    assert (plain[0][1].weights - pushed[0][1].weights).norm() > 1e-3


def test_gradient_of_loss_plus_term():
    """The flat gradient is that of task loss plus weight times the term's mean over blocks, whatever stands beside (central differences of three weights)."""
    stack = make_stack([Run("run", 0, 3, constant(0.3), "hinge", 4.0), Run("beside", 1, 3)])
    stack.solve_weights()
    gradient, tokens, weight = stack.gradients(stack.inputs())[0][0], stack.batches()[:1], stack.trajectories[0].term_weight

    def loss(flat: torch.Tensor) -> float:
        stream = stream_of(views(flat[None], SHAPE), tokens[..., :-1], torch.tensor([0.3], dtype=torch.float64), SHAPE)
        term = block_terms(["hinge"], torch.stack(stream), SETTING.batch, torch.tensor([SETTING.healthy_q], dtype=torch.float64)).mean()
        return (token_losses(views(flat[None], SHAPE), stream[-1], tokens[..., 1:])[0] + weight * term).item()

    for place in gradient.abs().topk(3).indices.tolist():
        up, down = stack.flat[0].double(), stack.flat[0].double()
        up[place] += 1e-5
        down[place] -= 1e-5
        assert gradient[place].item() == pytest.approx((loss(up) - loss(down)) / 2e-5, rel=0.02)


def test_a_silent_term_gets_no_weight():
    """A hinge at its healthy value adds nothing to scale up: weight 0, and the run trains as without it."""
    setting = replace(SETTING, healthy_q=0.0)
    [(trajectory, state)], [(_, plain)] = (train([Run("a", 0, 4, term=term, added=0.1)], setting) for term in ("hinge", "none"))
    assert trajectory.term_weight == 0 and (state.weights - plain.weights).norm() < 1e-6


def test_measured_when_due_and_once():
    """Every third step from the run's start, and at its end; skip scale and step are those of the measurement."""
    origin = replace(fresh_state(0, SETTING), step=5)
    [(trajectory, _)] = train([Run("run", 0, 7, ramp_down(6, 4, 0.2), measure_every=3, origin=origin)])
    assert trajectory.step == [5, 8, 11, 12]
    assert trajectory.skip == pytest.approx([1.0, 0.6, 0.2, 0.2])
    assert {len(getattr(trajectory, name)) for name in ("rank", "residual", "loss", "at_floor")} == {4}


def test_training_lowers_the_loss():
    """Twenty steps on one repeated batch bring its loss down."""
    probe = draw_tokens(4, SHAPE.context + 1, seed=1)
    flat = probe.repeat_interleave(1, 0).flatten().numpy().astype("uint16")
    stack = Stack([Run("run", 0, 20)], SETTING, flat, probe)
    stack.batches = lambda: probe[None]
    stack.measure()
    for _ in range(20):
        stack.step()
    stack.measure()
    assert stack.trajectories[0].loss[-1] < stack.trajectories[0].loss[0] - 0.3


def test_a_settled_run_leaves_at_that_step():
    """The stop rule ends a run at the measurement that settles it, with the state of that step; its neighbour goes on."""
    stop = Settled(threshold=1e9, start=0, after=4, window=2)
    results = train([Run("stops", 0, 20, measure_every=2, stop=stop), Run("goes on", 1, 20, measure_every=2)])
    assert results[0][0].step == [0, 2, 4, 6] and results[0][1].step == 6 and results[1][1].step == 20
    assert same_bits(results[0][1].weights, train([Run("stops", 0, 6), Run("goes on", 1, 20)])[0][1].weights)


def test_the_stop_rule_counts_at_floor_as_collapsed(monkeypatch):
    """A driver whose rank is undetermined stops where the event rule says that it settled."""
    monkeypatch.setattr("rankcollapse.engine.stack.read_refined", lambda *_: ([9.0], [1e-15], [2.0], [True], [1e-15], {}))
    stop = Settled(threshold=1.5, start=0, after=4, window=2)
    assert train([Run("stops", 0, 20, measure_every=2, stop=stop)])[0][1].step == 6


@pytest.mark.parametrize(("method", "clock"), [("measure", 0), ("step", 0), ("step", 3), ("step", 5), ("measure", 6)])
def test_a_signal_is_heard_until_the_end(monkeypatch, method, clock):
    """A signal in the first, a middle or the last step, or in the last measurement, interrupts instead of being swallowed."""
    plain = getattr(Stack, method)

    def signalled(stack):
        if stack.clock == [clock]:
            os.kill(os.getpid(), signal.SIGINT)
        plain(stack)

    monkeypatch.setattr(Stack, method, signalled)
    with pytest.raises(Interrupted):
        train([Run("a", 0, 6)])


def test_an_unknown_term_is_refused():
    """A misspelt term names its run and the terms there are."""
    assert refusal(Run, "hing/0", 0, 5, term="hing") == "run hing/0: unknown term 'hing'; expected none, penalty, hinge, cosine"
