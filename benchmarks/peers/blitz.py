"""blitz: its BayesianLinear as the last layer of Gal's CNN, T passes."""

from collections.abc import Callable

from blitz.modules import BayesianLinear
from torch import Tensor

from peers.common import gal_cnn, passes, rows


def bnn1(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    """The last layer alone, which also computes its densities at every pass."""
    network, x = gal_cnn(), rows(file, n)
    last = BayesianLinear(128, 10, posterior_rho_init=-3.0)
    last.weight_mu.data.copy_(network.dense2.weight)
    last.bias_mu.data.copy_(network.dense2.bias)
    network.dense2 = last
    network.eval()
    return lambda: passes(network, x, draws, lambda: None)


TASKS = {"bnn1": bnn1}
