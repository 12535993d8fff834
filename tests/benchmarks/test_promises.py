"""The simulations of the promises: their model learns, and a band that is wrong on purpose is caught."""

import pytest
import torch
from promises import bands, certificates, estimates, needles, parts, relabelled
from promises.runs import Runs, drawn, improved, margin_and_uncertainty, wrong
from promises.sets import Labelled
from torch.nn import functional as F

from askwise.seeding import generator


def clouds() -> Labelled:
    """Three clouds that overlap."""
    rng = generator(0, "clouds")
    labels = torch.arange(900) % 3
    middles = 1.5 * torch.eye(3)
    features = middles[labels] + torch.randn(900, 3, generator=rng)
    return Labelled(F.normalize(features, dim=1), labels, 3)


@pytest.fixture
def data() -> Labelled:
    return clouds()


def runs(data: Labelled, count: int = 4) -> Runs:
    rng = generator(0, "test")
    return Runs(data, drawn(data, count, size=900, rng=rng), pool=700, rng=rng)


def test_steps_end_where_the_slope_is_zero(data: Labelled) -> None:
    own = runs(data)
    for position in range(30):
        own.learn(torch.full((4,), position))
    weights = improved(own.weights, own.x, own.target, own.inverse, 500).requires_grad_()
    loss = -((weights @ own.x.mT).log_softmax(dim=1) * own.target).sum() + weights.square().sum() / 60
    assert torch.autograd.grad(loss, weights)[0].abs().max() < 1e-3


def test_margin_and_uncertainty_are_those_of_the_softmax() -> None:
    logits = torch.randn(2, 5, 7, generator=generator(0))
    margin, uncertainty = margin_and_uncertainty(logits)
    first, second = logits.softmax(dim=1).topk(2, dim=1).values.unbind(dim=1)
    torch.testing.assert_close(margin, first - second)
    torch.testing.assert_close(uncertainty, 1 - first)
    labels = torch.randint(5, (2, 7), generator=generator(1))
    assert torch.equal(wrong(logits, labels), logits.argmax(dim=1) != labels)


@pytest.fixture(scope="module")
def simulated() -> tuple[Runs, bands.Bands, torch.Tensor, torch.Tensor]:
    own = runs(clouds(), 20)
    return own, *bands.simulate(own, 0.5, freeze_at=20)


@pytest.mark.slow
def test_the_region_is_never_learned_from_and_every_fifth_answer_is_a_test(simulated) -> None:
    own, found, logits, open_ = simulated
    assert own.learned.shape == (20, 400)
    assert int(own.learned.min()) >= found.size == 210
    assert found.tested.shape == (20, 100)
    assert int(found.tested.max()) < 210
    assert int(open_.sum()) == 20 * (700 - 210 - 20)
    assert logits.shape == (20, 3, 700)


@pytest.mark.slow
def test_the_ordinary_interval_at_every_look_misses_more_often_than_the_band(simulated) -> None:
    missed = simulated[1].values()["missed"]
    assert missed[bands.STRICT] <= missed[bands.OURS] < missed[bands.NAIVE]


@pytest.mark.slow
def test_certificates_and_estimates_count_every_audit_and_sample(simulated) -> None:
    own, found, logits, open_ = simulated
    told = certificates.simulate(own, logits, open_, seed=0)
    assert told["audits"] == 40
    assert told["0.05 best possible"]["broken"] == 0
    counted = estimates.simulate(own, own.logits(), found.size)
    assert counted["samples"] == 40
    assert counted[estimates.OURS]["covered"] >= 36


def test_every_nested_set_of_the_adversarial_pool_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "ADVERSARIAL_RUNS", 3)
    seen = []

    def certify(unsure, label, right, *, error, **_):  # looks at the pool it is given
        means = unsure.cumsum(0) / torch.arange(1, len(unsure) + 1)
        first = int((means <= 0.15 * error).sum())
        wrong = torch.tensor([not one for one in right.values()])
        seen.extend(float(wrong[:size].double().mean()) > error for size in range(first, len(wrong) + 1, 75))

    monkeypatch.setattr(certificates, "certify", certify)
    certificates.adversarial(0.02, 0)
    assert len(seen) == 3 * 2 * 29
    assert all(seen)


def test_suspects_are_found_sooner_than_at_random(data: Labelled) -> None:
    told = relabelled.simulate(runs(data, 8), 0.1, seed=0)
    assert told["found"]["cross-fitted"] > 2 * told["found"]["random"]


def test_a_needle_pool_has_one_needle_in_a_thousand_and_every_way_is_counted(data: Labelled) -> None:
    rng = generator(0, "needles")
    pool = needles.haystack(data, 1, size=300, rng=rng)
    assert (data.labels[pool] == 1).tolist() == [True] + [False] * 299
    found = needles.simulate(data, seed=0, size=300, count=2)["found"]
    assert set(found) == {"random", "margin", "k_center"}
    assert all(0 <= hits <= 2 for hits in found.values())
    ours = needles.simulate_needle(data, seed=0, size=300, count=2)["found"]
    assert set(ours) == {"needle"}
    assert 0 <= ours["needle"] <= 2


@pytest.mark.slow
def test_bands_of_parts_hold_where_the_controls_fall_short() -> None:
    found = parts.simulate(runs(clouds(), 20))["missed"]
    assert max(found[name] for name in (parts.RECALLS, parts.TAGS, parts.GROUPS)) <= 3
    assert found[parts.NAIVE_RECALLS] > found[parts.RECALLS]
    assert found[parts.NAIVE_GROUPS] >= found[parts.GROUPS]
