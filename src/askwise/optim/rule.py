"""Other members of the Bayesian learning rule, each a familiar optimizer (Khan and Rue 2023).

The rule moves the natural parameters of q by the gradient of expected loss minus entropy with respect
to the expectation parameters. What q is decides what that amounts to: with N(m, I) it is gradient
descent, with Bernoulli weights the straight-through estimator, with any diagonal Gaussian VOGN.
The loss is a mean over the batch.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from askwise.errors import InputError, above_zero
from askwise.optim.sampling import Samples, gradients, normal, placed


class UnitGaussian(torch.optim.Optimizer):
    """q = N(m, I), m in the parameters: m <- m - lr E_q[gradient], and the entropy is constant.

    Without `rng` the expectation is taken at the mean (the delta method): plain gradient descent.
    """

    def __init__(
        self,
        params: Iterable[Parameter] | Iterable[dict[str, Any]],
        *,
        lr: float,
        rng: torch.Generator | None = None,
        samples: int = 1,
    ) -> None:
        super().__init__(params, {"lr": above_zero("lr", lr)})
        self.samples, self.rng, self._samples = samples, rng, Samples(samples)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sampled weights in place of the means; the gradient found there counts in the next step."""
        parameters = _all_parameters(self)
        values = [p.detach() for p in parameters]
        if self.rng is not None:
            values = list(torch._foreach_add(values, normal(parameters, self.rng)))
        with self._samples.guarded():
            with placed(parameters, values):
                yield
            self._samples.add(gradient=gradients(parameters))

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move the means by the samples taken since the last step."""
        found = iter(self._samples.means()["gradient"])
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(next(found), alpha=-group["lr"])


class Bernoulli(torch.optim.Optimizer):
    """Weights that are -1 or 1, q a Bernoulli with natural parameters lambda (Meng et al. 2020, BayesBiNN).

    lambda starts from the parameters as given; outside `sampling()` these are the likelier signs.
        lambda <- (1 - lr / count) lambda - lr s g,   s = (1 - w^2) / (temperature (1 - tanh(lambda)^2))
    with g at relaxed weights w = tanh((lambda + noise) / temperature), and lr theirs times `count`.
    Without `rng` the expectation is taken at the likelier signs, s = 1: the straight-through
    estimator, its latent weights decayed by 1 / count through the entropy; not at all by default.
    """

    def __init__(
        self,
        params: Iterable[Parameter] | Iterable[dict[str, Any]],
        *,
        lr: float,
        count: int | float = float("inf"),
        rng: torch.Generator | None = None,
        temperature: float = 1.0,
        samples: int = 1,
    ) -> None:
        if not count > lr:
            raise InputError(f"count, the number of labels, must be above lr ({lr}), not {count!r}")
        super().__init__(params, {"lr": above_zero("lr", lr), "count": count})
        self.samples, self.rng, self._samples = samples, rng, Samples(samples)
        self.temperature = above_zero("temperature", temperature)
        for p in _all_parameters(self):
            self.state[p]["natural"] = p.detach().clone()
        self._show()

    def mean(self, parameter: Parameter) -> Tensor:
        """The expectation of every weight of one parameter, between -1 and 1."""
        natural: Tensor = self.state[parameter]["natural"]
        return natural.tanh()

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Relaxed or likelier weights in place; the gradient found there counts in the next step."""
        parameters = _all_parameters(self)
        naturals = [self.state[p]["natural"] for p in parameters]
        weights, scales = self._relaxed(naturals) if self.rng is not None else _likelier(naturals)
        with self._samples.guarded():
            with placed(parameters, weights):
                yield
            self._samples.add(gradient=list(torch._foreach_mul(gradients(parameters), scales)))

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move the natural parameters by the samples taken since the last step."""
        found = iter(self._samples.means()["gradient"])
        for group in self.param_groups:
            for p in group["params"]:
                natural = self.state[p]["natural"]
                natural.mul_(1 - group["lr"] / group["count"]).add_(next(found), alpha=-group["lr"])
        self._show()

    def _relaxed(self, naturals: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Samples between -1 and 1, and how much each moves when its expectation does."""
        weights, scales = [], []
        for natural in naturals:
            # Half the logit of a uniform number, kept off 0 and 1, where it is infinite.
            uniform = torch.rand(natural.shape, generator=self.rng, device=natural.device).to(natural)
            noise = 0.5 * uniform.clamp(1e-6, 1 - 1e-6).logit()
            weight = ((natural + noise) / self.temperature).tanh()
            weights.append(weight)
            # 1 / cosh^2 is 1 - tanh^2 without the cancellation.
            scales.append((1 - weight.square()) * natural.cosh().square() / self.temperature)
        return weights, scales

    @torch.no_grad()
    def _show(self) -> None:
        for p in _all_parameters(self):
            p.copy_(_likelier([self.state[p]["natural"]])[0][0])


def _likelier(naturals: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """The likelier of -1 and 1, and the scale of the straight-through estimator."""
    return [torch.where(n >= 0, 1.0, -1.0).to(n) for n in naturals], [torch.ones_like(n) for n in naturals]


def _all_parameters(optimizer: torch.optim.Optimizer) -> list[Parameter]:
    return [p for group in optimizer.param_groups for p in group["params"]]
