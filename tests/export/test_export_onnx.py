"""A model as an ONNX file says what askwise says, to 1e-4, for any number of items."""

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.export import onnx

TRAINING = aw.Training(epochs=2, min_steps=4)


def mlp():
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.3), nn.Linear(6, 3))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout2d(0.2), nn.Flatten(), nn.Linear(48, 3)
    )


def fitted(network, posterior, shape):
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(40, *shape, generator=rng)
    y = torch.arange(40) % 3
    return aw.fit(network, (x, y), posterior=posterior, training=TRAINING), x


def check_file(tmp_path, model, x, draws):
    found = onnx.run_onnx(aw.export_onnx(model, tmp_path / "m.onnx", draws=draws, like=x), x[:7])
    if draws is None:
        mean = aw.log_probs(aw.Fitted.of(model.network), x[:7], draws=1)[:, 0]
        assert (found["log_probs"] - mean).abs().max() < onnx.TOLERANCE
        return
    assert (found["log_probs"] - aw.log_probs(model, x[:7], draws=draws)).abs().max() < onnx.TOLERANCE
    told = aw.predict(model, x[:7], draws=draws)
    assert (found["mean_prediction"] - told.mean).abs().max() < onnx.TOLERANCE
    for name in ("total", "epistemic", "aleatoric"):
        assert (found[name] - getattr(told, name)).abs().max() < onnx.TOLERANCE


def test_the_networks_of_two_draws_are_askwises_own(tmp_path):
    model, x = fitted(mlp(), aw.bbb(last=1), (4,))
    check_file(tmp_path, model, x, 2)
    other = onnx.run_onnx(tmp_path / "m.onnx", x[:7])["log_probs"]
    assert (
        other - aw.log_probs(model, x[:7], draws=2, seed=1)
    ).abs().max() > 0.01  # the control: other draws


@pytest.mark.slow
@pytest.mark.parametrize("network", [mlp, cnn])
@pytest.mark.parametrize(
    "posterior", [aw.mc_dropout(), aw.ensemble(2), aw.laplace(), aw.modal(), aw.bbb(last=2)], ids=repr
)
@pytest.mark.parametrize("draws", [None, 4])
def test_every_posterior_is_written_as_it_is(tmp_path, network, posterior, draws):
    if draws is None and posterior.name == "ensemble":
        pytest.skip("an ensemble has no mean network")
    model, x = fitted(network(), posterior, (4,) if network is mlp else (1, 6, 6))
    check_file(tmp_path, model, x, draws)


@pytest.mark.slow
def test_tags_and_numbers_are_written_too(tmp_path):
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(40, 4, generator=rng)
    tags = aw.fit(mlp(), (x, (x[:, :3] > 0).float()), task="multilabel", training=TRAINING)
    check_file(tmp_path, tags, x, 3)
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    model = aw.fit(net, (x, 100 * x[:, :1]), task="regression", posterior=aw.bbb(last=1), training=TRAINING)
    found = onnx.run_onnx(aw.export_onnx(model, tmp_path / "n.onnx", draws=3, like=x), x[:5])
    assert (found["moments"] - aw.moments(model, x[:5], draws=3)).abs().max() < 1e-3  # of numbers around 100


def test_an_ensemble_has_no_mean_network(tmp_path):
    model, x = fitted(mlp(), aw.ensemble(2), (4,))
    with pytest.raises(InputError, match="an ensemble has no mean network"):
        aw.export_onnx(model, tmp_path / "m.onnx", like=x)


def test_without_the_extra_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    model, x = fitted(mlp(), aw.point(), (4,))
    monkeypatch.setattr(onnx, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'askwise\[onnx\]'"):
        aw.export_onnx(model, tmp_path / "m.onnx", like=x)
    assert not list(tmp_path.iterdir())
