"""A layer with a Gaussian over its weights: trains by reparameterised noise, predicts from whole draws.

One class serves Linear and convolutions. It lives only while a network learns; afterwards the means
go back into the plain layer and the scales into the posterior's state.
"""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.math import gaussian, log_uniform
from askwise.seeding import keyed_normals

Noise: TypeAlias = Literal["local", "flipout", "sample"]
Scale: TypeAlias = Literal["softplus", "alpha"]
_CONVOLUTION = ("stride", "padding", "dilation", "groups")
_FUNCTIONS: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.Linear: F.linear,
    nn.Conv1d: F.conv1d,
    nn.Conv2d: F.conv2d,
    nn.Conv3d: F.conv3d,
}
_TINY = 1e-16  # under a square root whose gradient must stay finite


def std_of(mean: Tensor, rho: Tensor, scale: Scale) -> Tensor:
    """Standard deviation: softplus(rho), or |mean| softplus(rho), which makes the variance alpha mean^2."""
    return F.softplus(rho) * mean.abs().clamp(min=_TINY) if scale == "alpha" else F.softplus(rho)


def gaussian_draws(
    network: nn.Module, stds: Mapping[str, Tensor], *, numbers: range, seed: int
) -> dict[str, Tensor]:
    """Whole tensors around the network's own, by name, from independent Gaussians with these deviations."""
    draws = dict[str, Tensor]()
    for name, deviation in stds.items():
        mean = network.get_parameter(name).detach()
        noise = keyed_normals(seed, numbers, name, mean.shape).to(mean)
        draws[name] = noise.mul_(deviation.to(mean)).add_(mean)
    return draws


class BayesLayer(nn.Module):
    """A Linear or Conv layer with independent Gaussian weights."""

    def __init__(
        self, layer: nn.Module, *, rhos: dict[str, Tensor], noise: Noise, scale: Scale, rng: torch.Generator
    ) -> None:
        super().__init__()
        self.means = nn.ParameterDict({name: p.detach().clone() for name, p in layer.named_parameters()})
        self.rhos = nn.ParameterDict(rhos)
        self.noise, self.scale, self.rng = noise, scale, rng
        self._function = next(function for kind, function in _FUNCTIONS.items() if isinstance(layer, kind))
        self._options = {key: getattr(layer, key) for key in _CONVOLUTION if hasattr(layer, key)}

    def forward(self, inputs: Tensor) -> Tensor:
        """The output under fresh noise while learning, and of the means otherwise."""
        if not self.training:
            return self._affine(inputs, **self.means)
        if self.noise == "local":
            return self._local(inputs)
        if self.noise == "flipout":
            return self._flipout(inputs)
        return self._affine(inputs, **self.sample())

    def std(self, name: str) -> Tensor:
        """The standard deviation of `weight` or `bias`."""
        return std_of(self.means[name], self.rhos[name], self.scale)

    def sample(self) -> dict[str, Tensor]:
        """One value of weight and bias, differentiable in mean and scale."""
        return {
            name: mean + self.std(name) * self._randn(mean) if name in self.rhos else mean
            for name, mean in self.means.items()
        }

    def kl(self, prior_std: float) -> Tensor:
        """KL(q||p) of all Gaussian weights, in closed form."""
        parts = [gaussian.kl(self.means[name], self.std(name), prior_std) for name in self.rhos]
        return torch.stack(parts).sum()

    def sampled_kl(self, prior_std: float) -> Tensor:
        """Log q - log p at one sample of the weights: an unbiased estimate of the same divergence."""
        values = self.sample()
        parts = [
            gaussian.log_density(values[name], self.means[name], self.std(name))
            - gaussian.log_density(values[name], 0.0, prior_std)
            for name in self.rhos
        ]
        return torch.stack(parts).sum()

    def log_uniform_kl(self) -> Tensor:
        """KL(q||p) of all Gaussian weights from the log-uniform prior; their variance is alpha mean^2."""
        roots = [F.softplus(rho).clamp(min=_TINY) for rho in self.rhos.values()]
        return torch.stack([log_uniform.kl(2 * root.log()) for root in roots]).sum()

    def _affine(self, inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return self._function(inputs, weight, bias, **self._options)

    def _local(self, inputs: Tensor) -> Tensor:
        """Noise on the outputs (Kingma et al. 2015): exact for a dense layer.

        For a convolution it forgets that places share their weights, as Shridhar et al. do.
        """
        mean = self._affine(inputs, **self.means)
        variances = {name: self.std(name).square() for name in self.rhos}
        variance = self._affine(inputs.square(), **variances)
        return mean + (variance + _TINY).sqrt() * self._randn(mean)

    def _flipout(self, inputs: Tensor) -> Tensor:
        """One weight sample, its sign flipped at random for each item (Wen et al. 2018)."""
        mean = self._affine(inputs, **self.means)
        channel = inputs.ndim - 1 if self._function is F.linear else 1
        signs_in = self._signs(inputs, channel, inputs.shape[channel])
        signs_out = self._signs(mean, channel, mean.shape[channel])
        weight = self.std("weight") * self._randn(self.means["weight"])
        output = mean + self._affine(inputs * signs_in, weight) * signs_out
        if "bias" in self.rhos:
            bias = self.std("bias") * self._randn(self.means["bias"])
            output = (
                output + bias.view([-1 if axis == channel else 1 for axis in range(mean.ndim)]) * signs_out
            )
        return output

    def _signs(self, like: Tensor, channel: int, width: int) -> Tensor:
        """+1 or -1 for each item and channel."""
        shape = [size if axis == 0 else 1 for axis, size in enumerate(like.shape)]
        shape[channel] = width
        coins = torch.randint(0, 2, shape, generator=self.rng, device=like.device)
        return coins.to(like.dtype) * 2 - 1

    def _randn(self, like: Tensor) -> Tensor:
        return torch.randn(like.shape, generator=self.rng, device=like.device, dtype=like.dtype)
