"""IVON: a Gaussian over every weight at about the cost of Adam (Shen et al. 2024)."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from askwise.errors import above_zero, at_least_zero
from askwise.optim.flipout import flipped
from askwise.optim.sampling import Samples, common_options, gradients, normal, placed, rate, without_outliers
from askwise.optim.squares import Layer

_REMEMBERED = 0.1  # of the steps so far: the estimates are noisy, and noise makes curvature look larger


class IVON(torch.optim.Optimizer):
    """Improved variational online Newton: q = N(m, 1 / (count (h + weight_decay))), m in the parameters.

    The loss is a mean over the batch. `count` is the number of labels N; another value tempers the
    posterior (it is `ess` or lambda elsewhere). `weight_decay` is delta, so the prior's precision is
    count * delta. h follows the curvature of the loss, estimated from gradient times noise, and starts
    at `hess_init`. The mean moves by lr (hess_init + delta) times momentum over (h + delta), that
    quotient cut at `clip_radius`: lr is that of plain descent as long as h stays where it starts. With
    `batch_size`, the number of items in the mean loss, an outlier among the gradients is cut before it
    enters the momentum, which would keep it, while lr is near its first value; the authors' package
    does not do that.

    With `flipout` every item has weights of its own, which makes gradient and curvature far less noisy
    and costs the products of the layers twice. It is a network and those of its layers, by name, whose
    parameters are learned here; they are called with the items on the first axis.

    With `take_in` h goes 1 / take_in of the way in each first step, and afterwards remembers the last
    tenth of the steps so far.

    The defaults are the authors', for many thousands of steps: h moves 1 - betas[1] of the way a step.

    >>> rng = torch.Generator().manual_seed(0)
    >>> optimizer = aw.optim.IVON(network.parameters(), lr=0.1, count=len(x), rng=rng)
    >>> for _ in range(5):
    ...     with optimizer.sampling():  # the weights are a draw in here
    ...         loss = torch.nn.functional.cross_entropy(network(x), y)
    ...         loss.backward()
    ...     optimizer.step()
    >>> bool(loss.isfinite())
    True
    """

    def __init__(
        self,
        params: Iterable[Parameter] | Iterable[dict[str, Any]],
        *,
        lr: float,
        count: int | float,
        rng: torch.Generator,
        hess_init: float = 1.0,
        betas: tuple[float, float] = (0.9, 0.99999),
        take_in: int | None = None,
        weight_decay: float = 1e-4,
        samples: int = 1,
        clip_radius: float = float("inf"),
        batch_size: int | None = None,
        flipout: tuple[nn.Module, Mapping[str, Layer]] | None = None,
    ) -> None:
        shared = common_options(
            lr=lr, count=count, betas=betas, take_in=take_in, clip_radius=clip_radius, batch_size=batch_size
        )
        defaults = {
            **shared,
            "hess_init": above_zero("hess_init", hess_init),
            "weight_decay": at_least_zero("weight_decay", weight_decay),
        }
        self.samples, self.rng, self.flipout = samples, rng, flipout
        self._samples = Samples(samples)
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Parameters to learn from the next step on."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        group.setdefault("step", 0)
        for p in group["params"]:
            hess = torch.full_like(p, group["hess_init"], requires_grad=False)
            self.state[p] = {"momentum": torch.zeros_like(p, requires_grad=False), "hess": hess}

    @torch.no_grad()
    def std(self, parameter: Parameter) -> Tensor:
        """The standard deviation of every weight of one parameter."""
        group = next(g for g in self.param_groups if any(p is parameter for p in g["params"]))
        return _root_precision(group, [self.state[parameter]["hess"]])[0].reciprocal_()

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sampled weights in place of the means; the gradient found there counts in the next step."""
        parameters = [p for group in self.param_groups for p in group["params"]]
        with torch.no_grad():
            roots = [r for group in self.param_groups for r in _root_precision(group, self._hess(group))]
            noise = normal(parameters, self.rng)
            torch._foreach_div_(noise, roots)
            values = torch._foreach_add(noise, parameters)
        with self._samples.guarded():
            if self.flipout is None:
                with placed(parameters, values):
                    yield
                found = gradients(parameters)
                torch._foreach_mul_(noise, found)
                self._samples.add(gradient=found, product=list(noise))
            else:
                leaves = dict(zip(parameters, (e.requires_grad_() for e in noise), strict=True))
                own = [p.detach() for p in parameters]
                with placed(parameters, own), flipped(*self.flipout, leaves, self.rng):
                    yield
                with torch.no_grad():
                    product = list(torch._foreach_mul(noise, gradients(noise)))
                    power = list(torch._foreach_mul(noise, noise))
                self._samples.add(gradient=gradients(parameters), product=product, power=power)

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move means and deviations by the samples taken since the last step."""
        means = self._samples.means()
        start = 0
        for group in self.param_groups:
            stop = start + len(group["params"])
            group["step"] += 1
            power = means["power"][start:stop] if "power" in means else None
            self._move_hess(group, means["product"][start:stop], power)
            self._move_means(group, means["gradient"][start:stop])
            start = stop

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on: averages, step counts, options and the generator's state."""
        self._samples.refuse_open()
        return {**super().state_dict(), "rng": self.rng.get_state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state; later steps are the same to the bit."""
        super().load_state_dict(state_dict)
        self.rng.set_state(state_dict["rng"])
        self._samples.clear()

    def _hess(self, group: dict[str, Any]) -> list[Tensor]:
        return [self.state[p]["hess"] for p in group["params"]]

    def _move_hess(self, group: dict[str, Any], products: list[Tensor], powers: list[Tensor] | None) -> None:
        """Curvature towards its estimate; the second-order term keeps h + delta above zero.

        Where the squares of the noise are given, the estimate is compared with h times them, not with
        h, which is the same on average: noise that is large by chance then does not look like curvature.
        """
        hess = self._hess(group)
        pace = rate(group["step"], beta=group["betas"][1], take_in=group["take_in"], remembered=_REMEMBERED)
        damped = torch._foreach_add(hess, group["weight_decay"])
        gap = (
            list(products)
            if powers is None
            else torch._foreach_sub(products, torch._foreach_mul(powers, hess))
        )
        gap = torch._foreach_mul(gap, damped)
        torch._foreach_mul_(gap, group["count"])
        if powers is None:
            torch._foreach_sub_(gap, hess)
        torch._foreach_add_(hess, gap, alpha=pace)
        torch._foreach_mul_(gap, gap)
        torch._foreach_div_(gap, damped)
        torch._foreach_add_(hess, gap, alpha=0.5 * pace**2)

    def _move_means(self, group: dict[str, Any], grads: list[Tensor]) -> None:
        parameters, beta, decay = group["params"], group["betas"][0], group["weight_decay"]
        momentum = [self.state[p]["momentum"] for p in parameters]
        calm = [
            without_outliers(g, h, added=decay, group=group)
            for g, h in zip(grads, self._hess(group), strict=True)
        ]
        torch._foreach_lerp_(momentum, calm, 1 - beta)
        move = torch._foreach_div(momentum, 1 - beta ** group["step"])
        torch._foreach_add_(move, parameters, alpha=decay)
        torch._foreach_div_(move, torch._foreach_add(self._hess(group), decay))
        if group["clip_radius"] < float("inf"):
            torch._foreach_clamp_min_(move, -group["clip_radius"])
            torch._foreach_clamp_max_(move, group["clip_radius"])
        torch._foreach_add_(parameters, move, alpha=-group["lr"] * (group["hess_init"] + decay))


def _root_precision(group: dict[str, Any], hess: list[Tensor]) -> list[Tensor]:
    roots = torch._foreach_add(hess, group["weight_decay"])
    torch._foreach_mul_(roots, group["count"])
    torch._foreach_sqrt_(roots)
    return list(roots)
