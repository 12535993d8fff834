"""Pruned weights are zero in every draw, they are the lowest ones, and nothing else changes."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.errors import InputError
from askwise.tasks import named

LAYERS = ("conv1", "conv2", "dense1", "dense2")


def model(posterior=None) -> Fitted:
    """A network with weights and scales that no training has touched."""
    config = posterior or aw.bbb(all=True)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = aw.nets.digits_cnn(size=4, classes=3).eval()
        names = [
            n for n, _ in network.named_parameters() if n.endswith("weight") or getattr(config, "bias", 0)
        ]
        names = names if getattr(config, "all", False) else names[-1:]
        state = {n: torch.randn_like(network.get_parameter(n)) - 3 for n in names if config.name == "bbb"}
    return Fitted(network, config, named("classification"), state, ())


def draws_of(fitted: Fitted, count: int = 3) -> dict[str, Tensor]:
    return dict(
        fitted.posterior.draw(fitted.network, fitted.state, numbers=range(count), seed=1, dropouts=())
    )


def scores_by_hand(fitted: Fitted, by: str) -> dict[str, Tensor]:
    found = {}
    for layer in LAYERS:
        mean = fitted.network.get_submodule(layer).weight.detach()
        std = nn.functional.softplus(fitted.state[f"{layer}.weight"])
        found[f"{layer}.weight"] = mean.abs() / std if by == "snr" else mean.abs()
    return found


@pytest.mark.parametrize("by", ["snr", "l1"])
@pytest.mark.parametrize("scale", ["softplus", "alpha"])
def test_a_pruned_weight_is_exactly_zero_in_every_draw_and_the_others_keep_their_bits(by, scale):
    fitted = model(aw.bbb(all=True, scale=scale))
    pruned = aw.prune(fitted, by=by, amount=0.7)
    before, after = draws_of(fitted), draws_of(pruned)
    zeros = 0
    for name, values in after.items():
        zero = pruned.network.get_parameter(name) == 0
        zeros += int(zero.sum())
        assert (values[:, zero] == 0).all()
        assert torch.equal(values[:, ~zero], before[name][:, ~zero])
        assert (before[name][:, zero] != 0).any()  # a control: they were not zero by themselves
    weights = sum(values[0].numel() for values in after.values())
    assert zeros == round(0.7 * weights)


@pytest.mark.parametrize("by", ["snr", "l1"])
def test_those_that_go_are_the_lowest_of_all_layers_together(by):
    fitted = model()
    pruned = aw.prune(fitted, by=by, amount=0.6)
    scores = scores_by_hand(fitted, by)
    gone = {name: pruned.network.get_parameter(name) == 0 for name in scores}
    highest_gone = max(scores[name][gone[name]].max() for name in scores)
    lowest_kept = min(scores[name][~gone[name]].min() for name in scores)
    assert highest_gone <= lowest_kept
    shares = [gone[name].double().mean().item() for name in scores]
    assert max(shares) - min(shares) > 0.05  # a control: not the same share of every layer


def test_the_two_criteria_differ():
    kept = [aw.prune(model(), by=by, amount=0.5).network.dense1.weight != 0 for by in ("snr", "l1")]
    assert not torch.equal(*kept)


def test_nine_tenths_go_unless_said_otherwise():
    assert aw.sparsity(aw.prune(model())).total == pytest.approx(0.9, abs=1e-4)


def test_a_threshold_takes_everything_below_it():
    fitted = model()
    pruned = aw.prune(fitted, by="snr", threshold=0.4)
    for name, score in scores_by_hand(fitted, "snr").items():
        assert torch.equal(pruned.network.get_parameter(name) == 0, score < 0.4)


def test_only_the_chosen_layers_are_pruned():
    pruned = aw.prune(model(), amount=0.5, layers=["conv2", "dense2"])
    assert aw.sparsity(pruned).layers["conv1"] == aw.sparsity(pruned).layers["dense1"] == 0
    weights = [pruned.network.conv2.weight, pruned.network.dense2.weight]
    assert sum(int((w == 0).sum()) for w in weights) == round(0.5 * sum(w.numel() for w in weights))


def test_biases_and_their_noise_stay():
    fitted = model(aw.bbb(all=True, bias=True))
    pruned = aw.prune(fitted, amount=0.95)
    for name in ("conv1.bias", "dense2.bias"):
        assert torch.equal(draws_of(fitted)[name], draws_of(pruned)[name])


@pytest.mark.parametrize("posterior", [aw.point(), aw.mc_dropout(), aw.bbb(last=1)])
def test_size_prunes_every_layer_of_any_posterior(posterior):
    found = aw.sparsity(aw.prune(model(posterior), by="l1", amount=0.8))
    assert set(found.layers) == set(LAYERS)
    assert found.total == pytest.approx(0.8, abs=1e-4)
    assert all(share > 0 for share in found.layers.values())


def test_signal_to_noise_prunes_the_layers_that_have_noise():
    found = aw.sparsity(aw.prune(model(aw.bbb(last=1)), amount=0.75))
    assert found.layers == {"conv1": 0, "conv2": 0, "dense1": 0, "dense2": pytest.approx(0.75, abs=1e-2)}


def test_the_original_is_untouched():
    fitted = model()
    before = fitted.digest()
    pruned = aw.prune(fitted, amount=0.5)
    assert fitted.digest() == before != pruned.digest()


def test_pruning_more_goes_on_from_what_is_zero():
    once = aw.prune(model(), amount=0.5)
    twice = aw.prune(once, amount=0.8)
    assert aw.sparsity(twice).total == pytest.approx(0.8, abs=1e-4)
    for name in scores_by_hand(once, "l1"):
        assert (twice.network.get_parameter(name)[once.network.get_parameter(name) == 0] == 0).all()
    assert aw.prune(once, amount=0.3).digest() == once.digest()  # less than there is changes nothing


def test_a_mean_of_zero_with_noise_is_not_counted_as_zero():
    fitted = model()
    with torch.no_grad():
        fitted.network.dense1.weight.zero_()
    assert aw.sparsity(fitted).layers["dense1"] == 0
    assert aw.sparsity(model(aw.point())).total == 0


def test_a_pruned_model_predicts_and_survives_the_disk(tmp_path: Path):
    pruned = aw.prune(model(), amount=0.9)
    pruned.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in again.tensors().values())
    assert again.digest() == pruned.digest()
    assert aw.sparsity(again) == aw.sparsity(pruned)
    x = torch.rand(5, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    assert torch.equal(aw.log_probs(again, x, draws=4), aw.log_probs(pruned, x, draws=4))


def test_pruned_noise_does_not_learn_on():
    data = torch.rand(6, 1, 4, 4), torch.arange(6) % 3
    start = aw.prune(model(), amount=0.9)
    with pytest.raises(InputError, match="'conv1' is pruned and cannot learn on"):
        aw.fit(start.network, data, posterior=start.posterior, start=start)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "snrr"}, "unknown criterion 'snrr'; did you mean 'snr'"),
        ({"amount": 1.0}, "amount is a fraction from 0 up to below 1, not 1.0"),
        ({"amount": -0.1}, "amount must be a finite number of at least 0"),
        ({"amount": 0.5, "threshold": 1.0}, "amount or threshold, not both"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"layers": ["conv3"]}, "unknown layer 'conv3'; did you mean 'conv"),
        ({"layers": ["relu1"]}, "unknown layer 'relu1'"),
        ({"layers": []}, "no Linear or Conv layer to prune"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(options, message):
    with pytest.raises(InputError, match=message):
        aw.prune(model(), **options)


def test_signal_to_noise_without_noise_is_refused_by_name():
    with pytest.raises(
        InputError, match=r"point has no standard deviation for each weight, as by='snr' needs: .*bbb"
    ):
        aw.prune(model(aw.point()))
    with pytest.raises(InputError, match="layer 'conv1' has no Gaussian weights; prune it with by='l1'"):
        aw.prune(model(aw.bbb(last=1)), layers=["dense2", "conv1"])


def test_a_posterior_whose_draws_cannot_be_made_zero_is_refused_by_name():
    with pytest.raises(
        InputError, match="networks of swag cannot be pruned; those of bbb, vogn, ivon, point"
    ):
        aw.prune(replace(model(), posterior=aw.swag()), by="l1")


@pytest.mark.parametrize("posterior", [aw.vogn(), aw.ivon()])
def test_posteriors_of_the_learning_rule_are_pruned_alike(posterior, tmp_path: Path):
    rng = torch.Generator().manual_seed(0)
    data = torch.rand(12, 1, 4, 4, generator=rng), torch.arange(12) % 3
    network = aw.nets.digits_cnn(size=4, classes=3)
    training = aw.Training(epochs=1, batch_size=6, lr=0.01)
    fitted = aw.fit(network, data, posterior=posterior, training=training, start="scratch")
    pruned = aw.prune(fitted, by="snr", amount=0.7)
    zeros, weights = 0, 0
    for name, values in draws_of(pruned).items():
        zero = pruned.network.get_parameter(name) == 0
        assert (values[:, zero] == 0).all()
        zeros, weights = zeros + int(zero.sum()), weights + zero.numel() * name.endswith("weight")
    assert zeros == round(0.7 * weights)
    small = aw.prune_filters(pruned, data[0], amount=0.5)
    assert small.network.conv2.out_channels == 16
    small.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in again.tensors().values())
    assert torch.equal(aw.log_probs(again, data[0], draws=2), aw.log_probs(small, data[0], draws=2))
