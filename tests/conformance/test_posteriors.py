"""One exam for every posterior: the same draws for a seed, plain passes, nothing touched, nothing lost."""

import copy

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import POSTERIORS
from askwise.bayes.program import dropout
from askwise.bayes.program.build import plain_pass
from askwise.errors import InputError, TrainingError
from askwise.train import Training

CONFIGS = {
    "point": aw.point(),
    "mc_dropout": aw.mc_dropout(),
    "mc_dropout by length-scale": aw.mc_dropout(length_scale=0.1),
    "bbb last": aw.bbb(last=1),
    "bbb first": aw.bbb(first=1, bias=True, kl="sampled", warm_up="linear"),
    "bbb all": aw.bbb(all=True, noise="sample", scale="alpha", warm_up="blundell"),
    "bbb log-uniform": aw.bbb(last=1, scale="alpha", prior="log_uniform"),
    "bbb by name": aw.bbb(layers=["dense1"], noise="local", dropout=True, shared_rate=True),
    "vogn": aw.vogn(),
    "vogn last": aw.vogn(last=1, samples=2),
    "ivon": aw.ivon(),
    "ivon first": aw.ivon(first=1, samples=2, dropout=True),
    "laplace": aw.laplace(),
    "laplace diag": aw.laplace(form="diag", choose="evidence"),
    "laplace full": aw.laplace(form="full", prior_precision=2.0),
    "modal": aw.modal(),
    "modal full": aw.modal(form="full", prior_precision=2.0),
    "ensemble": aw.ensemble(3),
    "swag": aw.swag(),
    "vbll": aw.vbll(),
    "vbll dense": aw.vbll(form="dense", kl_weight=0.5),
}


QUICK = Training(epochs=2, batch_size=16)
SEEDLESS = ("point", "ensemble")  # whose draws are the same whatever the seed
STILL = ("bbb", "ensemble", "vbll")  # whose state moves no farther in a step than its weights


def data(count: int = 48) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(count) % 3
    return torch.randn(count, 1, 8, 8, generator=rng) + y[:, None, None, None].float(), y


def broken(at: int) -> torch.Tensor:
    """Items of which one is infinite."""
    x = data()[0]
    x[at] = torch.inf
    return x


def network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return aw.nets.digits_cnn(classes=3)


@pytest.fixture(scope="module", params=CONFIGS)
def fitted(request: pytest.FixtureRequest) -> Fitted:
    return aw.fit(
        network(), data(), posterior=CONFIGS[request.param], training=Training(epochs=3, batch_size=16)
    )


def test_every_posterior_is_examined() -> None:
    assert {config.name for config in CONFIGS.values()} == set(POSTERIORS)


def test_a_seed_gives_the_same_networks_whatever_the_batches(fitted: Fitted) -> None:
    x, _ = data(150)
    whole = aw.log_probs(fitted, x, draws=5, seed=2)
    assert whole.shape == (150, fitted.posterior.distinct(5), 3)
    assert torch.equal(whole[40:57], aw.log_probs(fitted, x[40:57], draws=5, seed=2))
    order = torch.randperm(150, generator=torch.Generator().manual_seed(1))
    assert torch.equal(whole[order], aw.log_probs(fitted, x[order], draws=5, seed=2))
    torch.testing.assert_close(whole[:, :3], aw.log_probs(fitted, x, draws=3, seed=2), rtol=1e-5, atol=1e-5)


def test_another_seed_gives_other_networks(fitted: Fitted) -> None:
    x, _ = data(20)
    same = torch.equal(aw.log_probs(fitted, x, draws=3, seed=0), aw.log_probs(fitted, x, draws=3, seed=1))
    assert same == (fitted.posterior.name in SEEDLESS)


def test_predictions_equal_hand_made_passes(fitted: Fitted) -> None:
    x, _ = data(9)
    dropouts = dropout.find(fitted.network, x[:1]) if fitted.posterior.dropout else ()
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(4), seed=3, dropouts=dropouts)
    count = fitted.posterior.distinct(4)
    plain = torch.stack([plain_pass(fitted.network, dropouts, draws, t, x) for t in range(count)], dim=1)
    torch.testing.assert_close(
        aw.log_probs(fitted, x, draws=4, seed=3), plain.log_softmax(-1), rtol=1e-5, atol=1e-5
    )


def test_draws_average_to_the_mean(fitted: Fitted) -> None:
    dropouts = dropout.find(fitted.network, data(1)[0]) if fitted.posterior.dropout else ()
    draws = fitted.posterior.draw(
        fitted.network, fitted.state, numbers=range(2000), seed=0, dropouts=dropouts
    )
    assert bool(draws) == (fitted.posterior.name != "point")  # one network has nothing to draw
    for name, values in draws.items():
        if name.startswith("dropout."):
            keep = next(one.keep for one in dropouts if one.name == name)
            assert (values.mean(0) - keep).abs().max() < 5 * (keep * (1 - keep) / 2000) ** 0.5
            continue
        if fitted.posterior.name == "ensemble":  # its members, one after the other; they have no mean
            assert torch.equal(values[:6], fitted.state[name][[0, 1, 2, 0, 1, 2]])
            continue
        error = (values.mean(0) - fitted.network.get_parameter(name)).abs()
        assert (error < 5 * values.std(0) / 2000**0.5 + 1e-6).all()


def test_the_model_is_untouched_by_prediction(fitted: Fitted) -> None:
    digest, modes = fitted.digest(), [m.training for m in fitted.network.modules()]
    state = torch.get_rng_state()
    aw.predict(fitted, data(10)[0], draws=3)
    with pytest.raises(InputError, match="cannot take"):
        aw.predict(fitted, torch.zeros(4, 2, 8, 8), draws=3)
    with pytest.raises(InputError, match="position 2 is not a number"):
        aw.predict(fitted, broken(2), draws=3)
    assert fitted.digest() == digest
    assert [m.training for m in fitted.network.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)


def test_the_users_network_is_untouched_by_fitting(fitted: Fitted) -> None:
    own = network()
    before, state = copy.deepcopy(own.state_dict()), torch.get_rng_state()
    aw.fit(own, data(), posterior=fitted.posterior, training=QUICK)
    with pytest.raises(TrainingError, match=r"not finite at step .* position 20"):  # in the middle of it
        aw.fit(own, (broken(20), data()[1]), posterior=fitted.posterior, training=QUICK)
    assert all(torch.equal(value, before[key]) for key, value in own.state_dict().items())
    assert own.training
    assert torch.equal(torch.get_rng_state(), state)


def test_fitting_repeats_to_the_bit_and_follows_its_seed(fitted: Fitted) -> None:
    runs = [
        aw.fit(network(), data(), posterior=fitted.posterior, training=QUICK, seed=seed).digest()
        for seed in (5, 5, 6)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_saved_and_loaded_it_predicts_the_same_bits(fitted: Fitted, tmp_path) -> None:
    fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    x, _ = data(20)
    assert again.digest() == fitted.digest()
    assert again.posterior == fitted.posterior
    assert again.history == fitted.history
    assert torch.equal(aw.log_probs(again, x, draws=4), aw.log_probs(fitted, x, draws=4))
    # Step counts and generators are in the state: learning goes on as if nothing had been saved.
    on, as_before = (
        aw.fit(network(), data(), posterior=fitted.posterior, training=QUICK, start=start)
        for start in (again, fitted)
    )
    assert on.digest() == as_before.digest()


def test_a_warm_start_goes_on_from_weights_and_scales(fitted: Fitted) -> None:
    slow = Training(epochs=2, batch_size=16, lr=1e-9)
    warm = aw.fit(network(), data(), posterior=fitted.posterior, training=slow, start=fitted)
    cold = aw.fit(network(), data(), posterior=fitted.posterior, training=slow)
    name, close = fitted.posterior.name, 1e-5
    if name in ("laplace", "modal"):  # it looks for its mode anew, to a fraction of a standard deviation
        close = 1e-3 / fitted.state["dense2.prior_precision"].item() ** 0.5
    for key, value in fitted.tensors().items():
        if key.startswith("network.") or name in STILL:
            torch.testing.assert_close(warm.tensors()[key], value, rtol=1e-4, atol=close)
    assert warm.digest() != cold.digest()


def test_uncertainty_adds_up(fitted: Fitted) -> None:
    found = aw.predict(fitted, data(30)[0], draws=10)
    torch.testing.assert_close(found.mean.sum(-1), torch.ones(30))
    torch.testing.assert_close(found.epistemic + found.aleatoric, found.total, rtol=1e-4, atol=1e-5)
    assert (found.epistemic.max() < 1e-5) == (fitted.posterior.name == "point")


@pytest.fixture(scope="module")
def rare() -> tuple[torch.Tensor, torch.Tensor]:
    """Items of which a tenth are of a class that is hard to tell from the other."""
    rng = torch.Generator().manual_seed(0)
    y = (torch.arange(300) % 10 == 0).long()
    return torch.randn(300, 4, generator=rng) + 0.5 * y[:, None], y


@pytest.mark.parametrize("name", POSTERIORS)
def test_a_balanced_training_makes_a_rare_class_likelier(name: str, rare) -> None:
    def share(balance: str | None) -> float:
        own = aw.nets.mlp(4, 2, hidden=(6,), dropout=0.1)
        training = Training(epochs=30, lr=1e-2, balance=balance)
        fitted = aw.fit(own, rare, posterior=name, training=training, start="scratch")
        return float(aw.predict(fitted, rare[0], draws=10).mean[:, 1].mean())

    even = share(None)
    assert even < 0.2
    assert share("weights") > 2 * even
    assert share("resample") > 2 * even
