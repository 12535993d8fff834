import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.math.joint import coarse, extend, gains, nothing_known, thin


def build(probs, *, limit=10**6, samples=10**6, seed=0):
    """The joint of all given items."""
    joint, rng = nothing_known(probs.shape[1], like=probs), torch.Generator().manual_seed(seed)
    for item in probs:
        joint = extend(joint, item, limit=limit, samples=samples, rng=rng)
    return joint


def plain_gains(probs, known):
    """By enumeration: joint information with the item, minus without."""
    items = brute_force.items(probs.log())
    before = brute_force.joint_information(items[:known]) if known else 0.0
    return [brute_force.joint_information([*items[:known], item]) - before for item in items[known:]]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.3, 2.0, 10.0]),
)
def test_gains_equal_enumeration(seed, draws, classes, known, certain, scale):
    log_probs = brute_force.predictions(known + 2, draws, classes, seed=seed, certain=certain, scale=scale)
    probs = log_probs.exp()
    found = gains(build(probs[:known]), probs[known:])
    assert found.tolist() == pytest.approx(plain_gains(probs, known), abs=2e-7)


def test_gains_of_the_first_item_are_bald():
    log_probs = brute_force.predictions(6, 4, 3, certain=0.3)
    found = gains(nothing_known(4, like=log_probs), log_probs.exp())
    assert found.tolist() == pytest.approx([brute_force.bald(i) for i in brute_force.items(log_probs)])


def test_nothing_is_left_to_learn_from_a_duplicate_of_a_sure_item():
    probs = torch.eye(3)[[0, 1, 2, 0]][None]  # four sure draws
    assert gains(build(probs), probs).item() == pytest.approx(0, abs=1e-6)
    assert gains(nothing_known(4, like=probs), probs).item() > 1  # control


def test_float32_gains_are_finite_and_near_float64_where_a_plain_product_is_not():
    probs = brute_force.predictions(40, 20, 4, scale=30.0, certain=0.3, seed=1).exp()
    single = gains(build(probs[:6].float()), probs[6:].float())
    assert single.isfinite().all()
    assert torch.allclose(single.double(), gains(build(probs[:6]), probs[6:]), atol=1e-5)
    chances = torch.ones(1, 20)
    for item in probs[:6].float():  # control: p log p of the product, as batchbald_redux has it
        chances = (chances[:, None] * item.T[None]).flatten(0, 1)
    chances = chances.mean(1)
    assert (chances * chances.log()).isnan().any()


def test_sure_draws_leave_few_configurations_however_many_labels():
    hot = torch.nn.functional.one_hot(torch.arange(20)[:, None] // torch.tensor([1, 2, 3, 5]) % 10, 10)
    probs = hot.transpose(0, 1).double()  # 4 items, 20 draws, 10 classes: 10^4 configurations
    assert len(build(probs).mass) <= 20


def test_a_joint_that_fits_is_exact_and_needs_no_randomness():
    probs = brute_force.predictions(8, 10, 3, scale=1.0).exp()
    one, other = (build(probs[:5], limit=243, samples=10, seed=seed) for seed in (0, 1))
    assert len(one.mass) == 243
    assert torch.equal(gains(one, probs[5:]), gains(other, probs[5:]))


def test_sampled_gains_are_unbiased():
    probs = brute_force.predictions(12, 10, 3, scale=1.5).exp()
    exact = gains(build(probs[:6]), probs[6:])
    found = torch.stack(
        [gains(build(probs[:6], limit=40, samples=40, seed=s), probs[6:]) for s in range(200)]
    )
    error = found.std(0) / math.sqrt(len(found))
    assert (error > 0).all()  # control: it did sample
    assert ((found.mean(0) - exact).abs() < 5 * error).all()


def test_sampled_gains_are_nearer_than_labels_drawn_with_each_draw():
    probs = brute_force.predictions(12, 10, 3, scale=1.5).exp()
    exact = gains(build(probs[:6]), probs[6:])

    def drawn(seed, count=250):  # as batchbald_redux samples, stratified over draws
        rng = torch.Generator().manual_seed(seed)
        posterior, draw = torch.ones(count, 10, dtype=torch.float64), torch.arange(count) % 10
        for item in probs[:6]:
            label = torch.multinomial(item[draw], 1, generator=rng).squeeze(1)
            posterior = posterior * item[:, label].T
        posterior /= posterior.sum(1, keepdim=True)
        mixed = torch.einsum("mt,ntc->nmc", posterior, probs[6:])
        own = -(probs[6:] * probs[6:].log()).sum(-1).mean(1)
        return -(mixed * mixed.log()).sum(-1).mean(1) - own

    ours = torch.stack(
        [gains(build(probs[:6], limit=250, samples=250, seed=s), probs[6:]) for s in range(50)]
    )
    theirs = torch.stack([drawn(seed) for seed in range(50)])
    assert (ours - exact).square().mean() < (theirs - exact).square().mean() / 4


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 2.0, 8.0]), st.sampled_from([30, 10**6]))
def test_coarse_gains_bound_the_gains_from_above(seed, scale, samples):
    probs = brute_force.predictions(12, 8, 3, seed=seed, scale=scale, certain=0.1).exp()
    joint = build(probs[:4], limit=samples, samples=samples)
    rough = coarse(joint)
    assert len(rough.mass) <= 8
    assert (gains(rough, probs[4:]) >= gains(joint, probs[4:]) - 1e-9).all()


def test_coarse_gains_follow_the_joint_when_draws_are_nearly_told_apart():
    probs = brute_force.predictions(14, 20, 4, scale=4.0).exp()
    joint = build(probs[:4])
    rough, exact = gains(coarse(joint), probs[4:]), gains(joint, probs[4:])
    assert (rough < 2 * exact).all()
    assert (gains(build(probs[:1]), probs[4:]) > 2 * exact).all()  # control: what was known before


def test_a_joint_without_uncertainty_gains_nothing_and_extends():
    probs = torch.eye(4).double()[None]  # four draws, told apart by one label
    joint = build(probs)
    assert len(joint.mass) == 0
    assert gains(joint, brute_force.predictions(5, 4, 3).exp()).tolist() == [0.0] * 5
    assert len(coarse(joint).mass) == 0
    assert len(build(torch.cat([probs, probs])).mass) == 0


def test_gains_do_not_depend_on_how_items_are_blocked():
    probs = brute_force.predictions(50, 6, 4, scale=1.0).exp()
    joint = build(probs[:4])
    assert torch.allclose(gains(joint, probs), torch.cat([gains(joint, one[None]) for one in probs]))


def test_thin_keeps_what_is_large_and_raises_the_rest_to_one_level():
    worth = torch.tensor([5.0, 1.0, 0.5, 0.5, 0.0, 1.0], dtype=torch.float64)
    kept, factor = thin(worth, limit=3, samples=3, rng=torch.Generator().manual_seed(0))
    assert kept[0].item() == 0
    assert factor[0].item() == 1
    assert (worth[kept] * factor)[1:].tolist() == pytest.approx([1.5, 1.5])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60))
def test_thin_keeps_the_total_worth_and_the_number(seed, many, samples):
    rng = torch.Generator().manual_seed(seed)
    worth = torch.rand(many, dtype=torch.float64, generator=rng) ** 8 + 1e-3
    kept, factor = thin(worth, limit=samples, samples=samples, rng=rng)
    assert len(kept) == min(many, samples)
    assert (worth[kept] * factor).sum().item() == pytest.approx(worth.sum().item())
    assert len(set(kept.tolist())) == len(kept)


def test_thin_is_unbiased_for_any_sum():
    rng = torch.Generator().manual_seed(1)
    worth, value = torch.rand(2, 30, dtype=torch.float64, generator=rng)
    found = []
    for _ in range(1200):
        kept, factor = thin(worth, limit=10, samples=10, rng=rng)
        found.append((value[kept] * factor).sum().item())
    found = torch.tensor(found)
    assert found.mean().item() == pytest.approx(
        value.sum().item(), abs=5 * found.std().item() / math.sqrt(1200)
    )
