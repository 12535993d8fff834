"""Weight decay from the length-scale, on the weights it belongs to, and the objective it minimises."""

import pytest
import torch
from torch import Tensor, nn
from zoo import CASES

import askwise as aw
from askwise.bayes.posteriors.mc_dropout import keep_probabilities, weight_decays
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


def test_the_decay_behind_a_dropout_is_the_squared_length_scale_over_keep_and_labels() -> None:
    decays = weight_decays(aw.nets.gal_cnn(), torch.zeros(1, 1, 28, 28), length_scale=0.3, count=50)
    for name, keep in (("conv1.weight", 1.0), ("dense1.weight", 0.75), ("dense2.weight", 0.5)):
        assert decays[name] == pytest.approx(0.3**2 / (keep * 50))
    assert decays["dense1.bias"] == 0.0


def closed_form(x: Tensor, y: Tensor, *, keep: float, tau: float, length: float) -> tuple[Tensor, Tensor]:
    """The weights that minimise Gal's objective, dropout integrated exactly; and under the old decay.

    With masks z / keep on the inputs E (y - w (z x / keep))^2 = (y - w x)^2 + (1 - keep) / keep w^2 x^2.
    In Gal's own weights m = w / keep the penalty is keep l^2 / 2 m^2.
    """
    noise = (1 - keep) / keep * torch.diag(x.square().sum(0))
    gram = tau * (x.T @ x + noise)

    def solved(precision: float) -> Tensor:
        return torch.linalg.solve(gram + precision * torch.eye(x.shape[1]).to(x), tau * x.T @ y)

    return solved(keep * length**2 / keep**2), solved(keep * length**2 / tau)


def test_training_under_a_length_scale_finds_the_minimum_of_gals_objective() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(40, 3, generator=rng)
    y = x @ torch.tensor([[1.0], [-0.5], [0.3]]) + 0.3 * torch.randn(40, 1, generator=rng)
    keep, tau, length = 0.5, 4.0, 6.0
    right, old = closed_form(x, y, keep=keep, tau=tau, length=length)
    network = nn.Sequential(nn.Dropout(1 - keep), nn.Linear(3, 1, bias=False))
    fitted = aw.fit(
        network,
        (x, y),
        posterior=aw.mc_dropout(length_scale=length),
        task=aw.tasks.regression(tau=tau, standardise=False),
        training=Training(epochs=6000, lr=1e-2, schedule="cosine"),
    )
    found = fitted.network[1].weight.detach().T
    assert (found - right).norm() < 0.03 * right.norm()
    assert (old - right).norm() > 0.2 * right.norm()  # so the check would see the old decay


def test_a_weight_decay_leaves_biases_and_norms_alone() -> None:
    network = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(0.2), nn.Linear(4, 3))
    x, y = torch.zeros(30, 6), torch.zeros(30, dtype=torch.long)  # the likelihood moves the biases alone
    decay = Training(epochs=100, lr=1e-2, weight_decay=10.0)
    fitted = aw.fit(network, (x, y), posterior=aw.mc_dropout(), training=decay)
    assert (fitted.network[1].weight - 1).abs().max() < 0.2  # a decay takes it to nothing in these steps
    assert fitted.network[0].weight.abs().max() < 0.01
    assert network[0].weight.abs().max() > 0.2


def test_a_length_scale_and_a_prior_of_the_training_are_refused_together() -> None:
    network, x, y = aw.nets.mlp(6, 3, dropout=0.3), torch.randn(20, 6), torch.arange(20) % 3
    for prior in (Training(weight_decay=0.1), Training(prior_precision=1.0)):
        with pytest.raises(InputError, match="length_scale is a prior of its own"):
            aw.fit(network, (x, y), posterior=aw.mc_dropout(length_scale=1.0), training=prior)


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
