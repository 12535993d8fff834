"""bayesian-torch: its reparameterisation layers in Gal's CNN, T passes, as its examples do."""

from collections.abc import Callable

from bayesian_torch.models.dnn_to_bnn import bnn_linear_layer, dnn_to_bnn
from torch import Tensor, nn

from peers.common import gal_cnn, passes, rows

SETTINGS = {
    "prior_mu": 0.0,
    "prior_sigma": 1.0,
    "posterior_mu_init": 0.0,
    "posterior_rho_init": -3.0,
    "type": "Reparameterization",
    "moped_enable": False,
}


def bnn1(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    """The last layer alone."""
    network = gal_cnn()
    network.dense2 = bnn_linear_layer(SETTINGS, network.dense2)
    return _prepared(network, file, n, draws)


def all_bayesian(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    """Every layer."""
    network = gal_cnn()
    dnn_to_bnn(network, SETTINGS)
    return _prepared(network, file, n, draws)


def _prepared(network: nn.Module, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    given = gal_cnn()
    for name, layer in network.named_children():
        own = given.get_submodule(name)
        for mean in ("mu_weight", "mu_kernel"):
            if hasattr(layer, mean):
                getattr(layer, mean).data.copy_(own.weight)
                layer.mu_bias.data.copy_(own.bias)
    x = rows(file, n)
    network.eval()
    return lambda: passes(network, x, draws, lambda: None)


TASKS = {"bnn1": bnn1, "all_bayesian": all_bayesian}
