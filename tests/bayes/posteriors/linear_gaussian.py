"""Linear regression with known noise: the one network whose posterior is known exactly.

The exam of every Gaussian posterior. Means and standard deviations come shaped as the weight (and
bias) of `network()`, the only layer of which is called `dense`.
"""

from collections import OrderedDict
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.posteriors import Posterior
from askwise.train import Training


@dataclass(frozen=True)
class LinearGaussian:
    """y = x w + noise of precision tau, w ~ N(0, prior_std^2): data and exact answers, in float64."""

    x: Tensor
    y: Tensor
    tau: float
    prior_std: float
    bias: bool
    mean: Tensor
    precision: Tensor

    @property
    def data(self) -> tuple[Tensor, Tensor]:
        """What a network learns from: x [N, D] and y [N, 1], in float32."""
        return self.x.float(), self.y.float()

    @property
    def std(self) -> Tensor:
        """The exact posterior's own deviation of each weight; the bias is the last."""
        return torch.linalg.inv(self.precision).diagonal().sqrt()

    @property
    def mean_field_std(self) -> Tensor:
        """The deviations of the independent Gaussians nearest to the exact posterior in KL(q||p).

        Their means are the exact ones. The diagonal of a Laplace approximation is the same.
        """
        return self.precision.diagonal().rsqrt()

    def off(self, network: nn.Module, stds: dict[str, Tensor]) -> tuple[float, float]:
        """How far deviations (as a ratio - 1) and means (in deviations) are from the mean-field ones."""
        best, means = self.parts(self.mean_field_std), self.parts(self.mean)
        ratios = [(stds[name] / std - 1).abs().max() for name, std in best.items()]
        moved = [(network.get_parameter(name).detach() - mean) / best[name] for name, mean in means.items()]
        return float(max(ratios)), max(float(part.abs().max()) for part in moved)

    def trained_off(self, posterior: Posterior, training: Training) -> tuple[float, float]:
        """How far a posterior is from the mean-field optimum after a training, as `off` says it."""
        task = aw.tasks.regression(tau=self.tau, standardise=False)
        fitted = aw.fit(self.network(), self.data, posterior=posterior, task=task, training=training)
        return self.off(fitted.network, {name: fitted.state[f"std.{name}"] for name in self.parts(self.mean)})

    def network(self) -> nn.Sequential:
        """One dense layer, all weights at zero."""
        network = nn.Sequential(OrderedDict(dense=nn.Linear(self.x.shape[1], 1, bias=self.bias)))
        for parameter in network.parameters():
            nn.init.zeros_(parameter)
        return network

    def parts(self, values: Tensor) -> dict[str, Tensor]:
        """Values [D] or [D + 1] by the names and shapes of the network's parameters, in float32."""
        wide = self.x.shape[1]
        named = {"dense.weight": values[None, :wide].float()}
        return {**named, "dense.bias": values[wide:].float()} if self.bias else named


def linear_gaussian(
    *,
    count: int = 200,
    features: int = 3,
    tau: float = 4.0,
    prior_std: float = 1.0,
    bias: bool = False,
    seed: int = 0,
) -> LinearGaussian:
    """Correlated inputs, so that the mean-field deviations are clearly below the exact ones."""
    rng = torch.Generator().manual_seed(seed)
    own = torch.randn(count, features, generator=rng, dtype=torch.float64)
    common = torch.randn(count, 1, generator=rng, dtype=torch.float64)
    x = 0.8 * own + 0.8 * common
    design = torch.cat([x, torch.ones(count, 1, dtype=torch.float64)], dim=1) if bias else x
    weights = torch.linspace(-1.0, 1.5, design.shape[1], dtype=torch.float64)
    noise = torch.randn(count, generator=rng, dtype=torch.float64) / tau**0.5
    y = design @ weights + noise
    precision = tau * design.T @ design
    precision.diagonal().add_(prior_std**-2)
    mean = torch.linalg.solve(precision, tau * design.T @ y)
    return LinearGaussian(x, y[:, None], tau, prior_std, bias, mean, precision)


def three_clouds(count: int = 60) -> tuple[Tensor, Tensor]:
    """Points of three classes in six dimensions, and their classes."""
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(count) % 3
    return torch.randn(count, 6, generator=rng) + 2 * nn.functional.one_hot(y, 6), y


def small_network() -> nn.Module:
    """A network for the three clouds, always with the same first weights."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return aw.nets.mlp(6, 3, hidden=(16,))


def fifty_units(data, config, *, tau: float, **training) -> aw.Fitted:
    """A network of one hidden layer that has learned numbers."""
    return aw.fit(
        aw.nets.mlp(data[0].shape[1], 1, hidden=(50,)),
        data,
        posterior=config,
        task=aw.tasks.regression(tau=tau, standardise=False),
        training=Training(batch_size=64, lr=1e-2, **training),
        start="scratch",
        seed=0,
    )
