"""Weight decay as given or from the length-scale, on the weights it belongs to."""

import pytest
import torch
from torch import nn
from zoo import CASES

import askwise as aw
from askwise.bayes.length_scale import keep_probabilities, weight_decays
from askwise.errors import InputError
from askwise.train import Training


def test_each_weight_knows_the_dropout_in_front_of_it() -> None:
    keeps = keep_probabilities(aw.nets.gal_cnn(), torch.zeros(1, 1, 28, 28))
    weights = {name: keep for name, keep in keeps.items() if name.endswith("weight")}
    assert weights == {"conv1.weight": 1.0, "conv2.weight": 1.0, "dense1.weight": 0.75, "dense2.weight": 0.5}


def test_a_mask_is_carried_over_a_skip_connection() -> None:
    case = CASES["skip"]
    keeps = keep_probabilities(case.network(), case.inputs(1))
    assert keeps["head.weight"] == pytest.approx(0.6)
    assert keeps["second.weight"] == 1.0


def test_the_decay_inverts_gals_formula_for_tau() -> None:
    network, count, length, tau = aw.nets.gal_cnn(), 50, 0.3, 2.0
    decays = weight_decays(network, torch.zeros(1, 1, 28, 28), length_scale=length, tau=tau, count=count)
    for name, keep in (("conv1.weight", 1.0), ("dense1.weight", 0.75), ("dense2.weight", 0.5)):
        penalty = decays[name] / 2  # the gradient of lambda w^2 is 2 lambda w
        assert keep * length**2 / (2 * count * penalty) == pytest.approx(tau)
    assert decays["dense1.bias"] == 0.0


def test_weight_decay_shrinks_the_weights() -> None:
    x, y = torch.randn(40, 6, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 3
    sizes = []
    for posterior in (aw.mc_dropout(), aw.mc_dropout(weight_decay=1.0), aw.mc_dropout(length_scale=6.0)):
        network = aw.nets.mlp(6, 3, dropout=0.3)
        fitted = aw.fit(network, (x, y), posterior=posterior, training=Training(epochs=60), start="scratch")
        sizes.append(fitted.network.dense2.weight.abs().mean().item())
    assert sizes[1] < sizes[0] / 3
    assert sizes[2] < sizes[0] / 2


def test_two_sources_of_decay_are_refused() -> None:
    with pytest.raises(InputError, match="weight_decay or length_scale, not both"):
        aw.mc_dropout(weight_decay=0.1, length_scale=1.0)


def test_batch_norm_in_a_functional_disguise_is_refused() -> None:
    class Disguised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head, self.dropout = nn.Linear(6, 3), nn.Dropout(0.5)
            self.register_buffer("mean", torch.zeros(6))
            self.register_buffer("var", torch.ones(6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = nn.functional.batch_norm(x, self.mean, self.var, training=self.training)
            return self.head(self.dropout(x))

    x, y = torch.randn(20, 6), torch.arange(20) % 3
    fitted = aw.fit(Disguised(), (x, y), posterior=aw.mc_dropout(), training=Training(epochs=1))
    before = fitted.digest()
    with pytest.raises(InputError, match="writes to 'mean' while it predicts"):
        aw.log_probs(fitted, x, draws=3)
    assert fitted.digest() == before
