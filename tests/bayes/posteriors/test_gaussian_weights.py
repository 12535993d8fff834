"""What VOGN and IVON keep: enough to draw from and to go on from; and no perturbed network is left."""

from dataclasses import replace

import pytest
import torch
from linear_gaussian import fifty_units, three_clouds
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.elbo import elbo
from askwise.bayes.learning import TrainingJob
from askwise.errors import InputError
from askwise.train import Training, examples

BOTH = pytest.mark.parametrize("posterior", [aw.vogn, aw.ivon], ids=["vogn", "ivon"])


def network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))


def job(epochs: int, task: aw.tasks.Task | None = None) -> TrainingJob:
    kind = task or aw.tasks.classification()
    return TrainingJob(examples(three_clouds(40)), kind, Training(epochs=epochs), 0, torch.device("cpu"))


@BOTH
@pytest.mark.parametrize("noise", ["flipout", "sample"])
def test_an_exception_leaves_the_means_of_the_last_step(posterior, noise: str) -> None:
    """Whichever of the two samples of the fourth step fails, the weights are those after the third."""
    config, plain, left = posterior(samples=2, noise=noise), aw.tasks.classification(), []
    for last in (1, 7, 8):
        broken, calls = network(), 0

        def failing(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
            nonlocal calls
            calls += 1
            if calls == last:  # noqa: B023 - called within this turn
                raise ZeroDivisionError("on purpose")
            return plain.nll(outputs, labels, weights)

        with pytest.raises(ZeroDivisionError, match="on purpose"):
            config.fit(broken, job(9, replace(plain, nll=failing)))
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in broken.modules())
        left.append(broken)
    for first, third, again in zip(*(one.parameters() for one in left), strict=True):
        assert torch.equal(third, again)
        assert not torch.equal(first, third)  # the control: three steps move every weight


@BOTH
def test_a_warm_start_goes_on_from_deviations_averages_steps_and_noise(posterior) -> None:
    first = aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(epochs=30))
    still = Training(epochs=1, lr=1e-9)
    warm = aw.fit(network(), three_clouds(40), posterior=posterior(), training=still, start=first)
    cold = aw.fit(network(), three_clouds(40), posterior=posterior(), training=still)
    assert int(warm.state["step"]) == 31
    assert not torch.equal(warm.state["rng"], cold.state["rng"])
    for name in ("0.weight", "3.weight"):
        start, near, far = (f.state[f"std.{name}"].log() for f in (first, warm, cold))
        assert (near - start).abs().mean() < 0.4 * (far - start).abs().mean()
        start, near, far = (f.state[f"optimizer.{name}.momentum"] for f in (first, warm, cold))
        assert (near - start).norm() < 0.25 * start.norm() < (far - start).norm()
    assert first.state["optimizer.1.weight.step"] == 30 == warm.state["optimizer.1.weight.step"] - 1


@BOTH
def test_a_warm_start_with_another_placement_is_refused(posterior) -> None:
    first = aw.fit(network(), three_clouds(40), posterior=posterior(last=1), training=Training(epochs=1))
    with pytest.raises(InputError, match=r"cannot go on with other Gaussian weights \(0\.bias\)"):
        aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(epochs=1), start=first)


@BOTH
def test_a_warm_start_from_a_saved_model_is_the_same(posterior, tmp_path) -> None:
    own, items, short = aw.nets.mlp(6, 3, hidden=(8,)), three_clouds(40), Training(epochs=2)
    first = aw.fit(own, items, posterior=posterior(), training=short)
    first.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    digests = [
        aw.fit(own, items, posterior=posterior(), training=short, start=start).digest()
        for start in (first, again)
    ]
    assert digests[0] == digests[1]


@BOTH
def test_only_the_chosen_layers_are_drawn_and_the_rest_learns(posterior) -> None:
    own = network()
    fitted = aw.fit(own, three_clouds(40), posterior=posterior(last=1), training=Training(epochs=2))
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(3), seed=0, dropouts=())
    assert set(draws) == {"3.weight", "3.bias"}
    assert not torch.equal(fitted.network[0].weight, own[0].weight)


@BOTH
def test_the_layers_below_have_the_decay_of_the_training(posterior) -> None:
    def norms(**options) -> list[float]:
        training = Training(epochs=20, **options)
        fitted = aw.fit(network(), three_clouds(40), posterior=posterior(last=1), training=training)
        return [
            float(fitted.network[0].weight.detach().norm()),
            float(fitted.network[1].bias.detach().norm()),
        ]

    free, held, decayed = norms(), norms(prior_precision=400.0), norms(weight_decay=2.0)
    assert held == norms(prior_precision={"0": 400.0})
    assert held[0] < 0.85 * free[0]
    assert decayed[0] < 0.85 * free[0]
    assert held[1] > 0.5 * free[1]  # not the biases


@BOTH
def test_another_optimizer_is_refused(posterior) -> None:
    with pytest.raises(InputError, match="leave optimizer='sgd' out"):
        aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(optimizer="sgd"))


@BOTH
def test_draws_have_the_deviation_that_is_kept(posterior) -> None:
    fitted = aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(epochs=2))
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(3000), seed=0, dropouts=())
    torch.testing.assert_close(draws["0.weight"].std(0), fitted.state["std.0.weight"], rtol=0.1, atol=0)


@BOTH
def test_frozen_layers_stay_as_they_are(posterior) -> None:
    own = network()
    own[0].requires_grad_(False)
    fitted = aw.fit(own, three_clouds(40), posterior=posterior(), training=Training(epochs=2))
    assert torch.equal(fitted.network[0].weight, own[0].weight)
    assert {key for key in fitted.state if key.startswith("std.")} == {"std.3.weight", "std.3.bias"}
    with pytest.raises(InputError, match="layer '0' is frozen"):
        aw.fit(own, three_clouds(40), posterior=posterior(layers=["0"]))


@BOTH
def test_parametrised_and_shared_layers_are_refused_by_name(posterior) -> None:
    normed = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)))
    with pytest.raises(InputError, match="layer '0' is parametrised"):
        aw.fit(normed, three_clouds(40), posterior=posterior())
    tied = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))
    tied[2].weight = tied[0].weight
    with pytest.raises(InputError, match="layer '0' shares its weight with '2'"):
        aw.fit(tied, three_clouds(40), posterior=posterior())


@BOTH
def test_a_single_layer_is_a_network_too(posterior) -> None:
    fitted = aw.fit(nn.Linear(6, 3), three_clouds(40), posterior=posterior(), training=Training(epochs=1))
    assert aw.log_probs(fitted, three_clouds(40)[0], draws=3).shape == (40, 3, 3)


@BOTH
def test_pruned_it_predicts_and_does_not_learn_on(posterior) -> None:
    fitted = aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(epochs=5))
    pruned = aw.prune(fitted, by="snr", amount=0.5)
    assert aw.sparsity(pruned).total == pytest.approx(0.5, abs=0.02)
    assert pruned.state.keys() == fitted.state.keys()
    with pytest.raises(InputError, match="a pruned network cannot learn on"):
        aw.fit(network(), three_clouds(40), posterior=posterior(), start=pruned)


@BOTH
def test_a_network_with_fewer_channels_keeps_its_part_of_the_state(posterior) -> None:
    fitted = aw.fit(network(), three_clouds(40), posterior=posterior(), training=Training(epochs=1))

    def take(name: str, tensor: Tensor) -> Tensor:
        return tensor[:2] if name.startswith("0.") else tensor

    small = fitted.posterior.narrowed(fitted.state, take)
    assert small["std.0.weight"].shape == small["optimizer.0.weight.momentum"].shape == (2, 6)
    assert small["std.3.weight"].shape == (3, 8)
    assert torch.equal(small["rng"], fitted.state["rng"])


@pytest.mark.slow
@BOTH
def test_a_long_training_loses_nothing_of_its_bound_to_outliers(posterior, monkeypatch) -> None:
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(300, 6, generator=rng)
    y = (1.5 * x[:, :1]).exp().clamp(max=20)
    data = x, (y - y.mean()) / y.std() + 0.04 * torch.randn(y.shape, generator=rng)

    def bound() -> float:
        config = posterior(prior_std=1.0, kl_weight=1.0, lr=0.3)
        fitted = fifty_units(data, config, tau=500.0, min_steps=6_000, schedule="cosine")
        return elbo(fitted, data, prior_std=1.0, draws=200, seed=0).per_label

    assert bound() > -0.25
    # The control: an outlier enters the momentum as large as it is.
    monkeypatch.setattr(f"askwise.optim.{posterior().name}.without_outliers", lambda one, *_, **__: one)
    assert bound() < -0.5
