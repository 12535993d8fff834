"""VOGN: the Bayesian learning rule with independent Gaussians (Khan et al. 2018; Osawa et al. 2019)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from askwise.errors import above_zero, at_least_zero
from askwise.optim.averaged import AveragedAdam
from askwise.optim.layers import gaussian_layers, own_parameters
from askwise.optim.options import check_betas, check_radius
from askwise.optim.placed import gradients, normal, placed
from askwise.optim.recording import recording
from askwise.optim.samples import Samples

_FIRST_TAU = 0.1


class VOGN(torch.optim.Optimizer):
    """Variational online Gauss-Newton: q = N(mu, 1 / (count s + prior_precision)), mu in the parameters.

    The loss is a mean over the batch, and the network is called once on it. With g the gradient at
    sampled weights, h the mean of the squares of each item's own gradient, and d = tau
    prior_precision / count:
        s  <- (1 - tau (1 - betas[1])) s + (1 - betas[1]) h
        mu <- mu - lr momentum(g + d mu) / (s + d + damping)
    The first step takes its gradients at the means and starts s from them. tau weighs the prior and
    rises from .1 to 1 over the first `warm_up` steps. `count` is the number of labels, times rho where
    inputs are augmented so as to count for more. The damping is in the step alone: weights are
    sampled without it, while learning as in prediction. The momentum is an average, so lr is
    Osawa's alpha / (1 - betas[0]); what lr multiplies is cut at `clip_radius`.

    Gaussian are the weights and biases of the Linear and Conv layers, or of those in `layers` (names
    or modules). All other parameters (BatchNorm, embeddings, ...) stay deterministic and learn by
    Adam at `rest_lr`. Under BatchNorm in training mode an item's gradient is its share of the batch's,
    the statistics' dependence on it included; with statistics held constant the squares are exact.
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        lr: float,
        count: int | float,
        rng: torch.Generator,
        layers: Sequence[str | nn.Module] | None = None,
        prior_precision: float = 1.0,
        betas: tuple[float, float] = (0.9, 0.999),
        damping: float = 1e-3,
        warm_up: int = 0,
        samples: int = 1,
        clip_radius: float = float("inf"),
        rest_lr: float = 1e-3,
    ) -> None:
        self.network, self.layers = network, gaussian_layers(network, layers)
        self.samples, self.rng = samples, rng
        self._samples = Samples(samples)
        gaussian = [p for layer in self.layers.values() for p in own_parameters(layer).values()]
        defaults = {
            "lr": at_least_zero("lr", lr),
            "count": above_zero("count", count),
            "prior_precision": above_zero("prior_precision", prior_precision),
            "betas": check_betas(betas),
            "damping": at_least_zero("damping", damping),
            "warm_up": at_least_zero("warm_up", warm_up),
            "clip_radius": check_radius(clip_radius),
        }
        super().__init__([{"params": gaussian, "step": 0}], defaults)
        for p in gaussian:
            empty = torch.zeros_like(p, requires_grad=False)
            self.state[p] = {"momentum": empty, "square": empty.clone()}
        rest = [p for p in network.parameters() if p.requires_grad and p not in self.state]
        self.rest = AveragedAdam(rest, lr=rest_lr, samples=samples)

    @property
    def parts(self) -> tuple[torch.optim.Optimizer, ...]:
        """The optimizers of the Gaussian weights and of the rest."""
        return self, self.rest

    @property
    def tau(self) -> float:
        """The weight of the prior at the next step."""
        step, warm_up = self.param_groups[0]["step"], self.param_groups[0]["warm_up"]
        return 1.0 if step >= warm_up else _FIRST_TAU + (1 - _FIRST_TAU) * step / warm_up

    @torch.no_grad()
    def std(self, parameter: Parameter) -> Tensor:
        """The standard deviation of every weight of one parameter, without the damping."""
        group, square = self.param_groups[0], self.state[parameter]["square"]
        precision: Tensor = group["count"] * square + group["prior_precision"]
        return precision.rsqrt()

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sampled weights in place of the means; gradient and squares found there count in the next step."""
        parameters = self.param_groups[0]["params"]
        with torch.no_grad():
            values = [p.detach() for p in parameters]
            if self.param_groups[0]["step"] > 0:  # before that nothing is known of the deviations
                noise = normal(parameters, self.rng)
                values = [m + self.std(p) * e for p, m, e in zip(parameters, values, noise, strict=True)]
        with self._samples.guarded(), self.rest.sampling():
            with recording(self.network, self.layers) as record, placed(parameters, values):
                yield
            squares = record.squares()
            self._samples.add(gradient=gradients(parameters), square=[squares[p] for p in parameters])

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move means, deviations and the deterministic rest by the samples taken since the last step."""
        means, group, tau = self._samples.means(), self.param_groups[0], self.tau
        group["step"] += 1
        (beta, keep), decay = group["betas"], tau * group["prior_precision"] / group["count"]
        for p, gradient, found in zip(group["params"], means["gradient"], means["square"], strict=True):
            momentum, square = self.state[p]["momentum"], self.state[p]["square"]
            if group["step"] == 1:
                square.copy_(found)
            else:
                square.mul_(1 - tau * (1 - keep)).add_(found, alpha=1 - keep)
            momentum.lerp_(gradient + decay * p, 1 - beta)
            move = momentum / (1 - beta ** group["step"]) / (square + (decay + group["damping"]))
            p.sub_(move.clamp_(-group["clip_radius"], group["clip_radius"]), alpha=group["lr"])
        self.rest.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on: averages, step counts, options and the generator's state."""
        self._samples.refuse_open()
        return {**super().state_dict(), "rng": self.rng.get_state(), "rest": self.rest.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there, to the bit."""
        super().load_state_dict(state_dict)
        self.rest.load_state_dict(state_dict["rest"])
        self.rng.set_state(state_dict["rng"])
        self._samples.clear()
