"""VOGN: the Bayesian learning rule with independent Gaussians (Khan et al. 2018; Osawa et al. 2019)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from askwise.errors import InputError, above_zero, at_least_zero, choose
from askwise.math.fisher import probe
from askwise.optim.beside import AveragedAdam
from askwise.optim.flipout import flipped
from askwise.optim.layers import gaussian_layers, own_parameters
from askwise.optim.recording import Recording, recording
from askwise.optim.sampling import (
    NOISES,
    Samples,
    common_options,
    gradients,
    normal,
    placed,
    rate,
    without_outliers,
)

CURVATURES = ("gauss_newton", "squares")
_FIRST_TAU = 0.1
_REMEMBERED = 0.05  # of the steps so far


class VOGN(torch.optim.Optimizer):
    """Variational online Gauss-Newton: q = N(mu, 1 / (count s + prior_precision)), mu in the parameters.

    The loss is a mean over the batch, and the network is called once on it. With g the gradient at
    sampled weights, h the curvature there, a mean over the items, r = 1 - betas[1] and d = tau
    prior_precision / count:
        s  <- (1 - tau r) s + r h
        mu <- mu - lr momentum(cut(g + d mu)) / (s' + d + damping)
    s starts at zero, so q starts as the prior and takes the curvature in over the first 1 / r steps: a
    training is several times as long. With `take_in` r is 1 / take_in over the first `take_in` steps, and
    afterwards what makes s remember the last twentieth of the steps so far. s' is s without its start, as
    in Adam. The first gradients are taken at the means.

    `curvature`: by default h is the squares of each item's own gradient, which need the loss alone.
    They stand for the curvature where the model is true, and mislead where residuals are larger or
    smaller than the noise. With "gauss_newton" h is the diagonal of the Gauss-Newton matrix; then
    `gauss_newton` is told the outputs of each batch before the loss is differentiated.

    `noise`: "flipout" gives every item weights of its own, which makes gradients far less noisy, and
    costs the products of the Gaussian layers twice; "sample" puts one sample in place for the batch.

    tau weighs the prior and rises from .1 to 1 over the first `warm_up` steps. `count` is the number
    of labels, times rho where inputs are augmented so as to count for more. The damping is in the step
    alone: weights are sampled without it, while learning as in prediction. The momentum is an
    average, so lr is Osawa's alpha / (1 - betas[0]); what lr multiplies is cut at `clip_radius`. With
    `batch_size`, the number of items in the mean loss, an outlier among the gradients is cut before it
    enters the average, which would keep it, while lr is near its first value.

    Gaussian are the weights and biases of the Linear and Conv layers, or of those in `layers` (names or
    modules). All other parameters (BatchNorm, embeddings, ...) stay deterministic and learn by Adam at
    `rest_lr`, with the weight decays of `rest_decays`, by name. Under BatchNorm in training mode an item's
    gradient is its share of the batch's, the statistics' dependence on it included; with statistics held
    constant the squares are exact.

    >>> rng = torch.Generator().manual_seed(0)
    >>> optimizer = aw.optim.VOGN(network, lr=0.05, count=len(x), prior_precision=1.0, rng=rng)
    >>> for _ in range(5):
    ...     with optimizer.sampling():  # the weights are a draw in here
    ...         torch.nn.functional.cross_entropy(network(x), y).backward()
    ...     optimizer.step()
    >>> aw.predict(aw.Fitted.of(network, optimizer), x[:2], draws=10).mean.shape
    torch.Size([2, 2])
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
        curvature: str = "squares",
        noise: str = "flipout",
        betas: tuple[float, float] = (0.9, 0.99),
        take_in: int | None = None,
        damping: float = 1e-3,
        warm_up: int = 0,
        samples: int = 1,
        clip_radius: float = float("inf"),
        batch_size: int | None = None,
        rest_lr: float = 1e-3,
        rest_decays: Mapping[str, float] | None = None,
    ) -> None:
        if not isinstance(network, nn.Module):
            raise InputError("VOGN takes the network itself, VOGN(network, ...), not its parameters")
        self.network, self.layers = network, gaussian_layers(network, layers)
        self.samples, self.rng = samples, rng
        self.curvature, self.noise = (
            choose("curvature", curvature, CURVATURES),
            choose("noise", noise, NOISES),
        )
        self._samples = Samples(samples)
        self._record: Recording | None = None
        gaussian = [p for layer in self.layers.values() for p in own_parameters(layer).values()]
        shared = common_options(
            lr=lr, count=count, betas=betas, take_in=take_in, clip_radius=clip_radius, batch_size=batch_size
        )
        defaults = {
            **shared,
            "prior_precision": above_zero("prior_precision", prior_precision),
            "damping": at_least_zero("damping", damping),
            "warm_up": at_least_zero("warm_up", warm_up),
        }
        super().__init__([{"params": gaussian, "step": 0}], defaults)
        for p in gaussian:
            empty = torch.zeros_like(p, requires_grad=False)
            self.state[p] = {"momentum": empty, "square": empty.clone(), "seen": torch.tensor(0.0)}
        groups: dict[float, list[Parameter]] = {}
        for name, p in network.named_parameters():
            if p.requires_grad and p not in self.state:
                groups.setdefault((rest_decays or {}).get(name, 0.0), []).append(p)
        rest = [{"params": found, "weight_decay": decay} for decay, found in groups.items()]
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
        parameters, of_loss = self.param_groups[0]["params"], self.curvature == "squares"
        noise = self._draw(parameters)
        values, noisy = [p.detach() for p in parameters], {}
        if self.noise == "flipout":
            noisy = self.layers if noise else {}
        else:
            values = [m + noise.get(p, 0.0) for p, m in zip(parameters, values, strict=True)]
        with self._samples.guarded(), self.rest.sampling():
            with (
                placed(parameters, values),
                flipped(
                    self.network, noisy, noise, self.rng
                ),  # before the recording, which hears what it gives
                recording(self.network, self.layers, of_loss=of_loss) as record,
            ):
                self._record = None if of_loss else record
                try:
                    yield
                finally:
                    open_, self._record = self._record, None
            if open_ is not None:
                raise InputError(
                    "call optimizer.gauss_newton(outputs, d, u) inside `with optimizer.sampling():`"
                )
            squares = record.squares()
            self._samples.add(gradient=gradients(parameters), square=[squares[p] for p in parameters])

    def gauss_newton(self, outputs: Tensor, d: Tensor, u: Tensor) -> None:
        """Take the curvature from the outputs [N, E, ...] of a batch, before the loss is differentiated.

        diag(d) - u u^T is the Fisher information of a label at the outputs, as `task.curvature(outputs)`
        gives it. Exact where the outputs are one number; otherwise every item contributes the square of
        one random vector, which is right on average. It costs a pass back through the network.
        """
        if self._record is None:
            raise InputError('gauss_newton() is called once inside sampling(), with curvature="gauss_newton"')
        self._record.project(outputs, probe(d.detach(), u.detach(), self.rng))
        self._record = None

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move means, deviations and the deterministic rest by the samples taken since the last step."""
        means, group, tau = self._samples.means(), self.param_groups[0], self.tau
        group["step"] += 1
        (beta, keep), decay = group["betas"], tau * group["prior_precision"] / group["count"]
        pace = rate(group["step"], beta=keep, take_in=group["take_in"], remembered=_REMEMBERED)
        for p, gradient, found in zip(group["params"], means["gradient"], means["square"], strict=True):
            momentum, square, seen = (self.state[p][name] for name in ("momentum", "square", "seen"))
            square.mul_(1 - tau * pace).add_(found, alpha=pace)
            seen.mul_(1 - tau * pace).add_(tau * pace)  # how much of s is not its start
            curvature, added = square / seen.item(), decay + group["damping"]
            gradient = without_outliers(gradient + decay * p, curvature, added=added, group=group)
            momentum.lerp_(gradient, 1 - beta)
            move = momentum / (1 - beta ** group["step"])
            move /= curvature.add_(added)
            p.sub_(move.clamp_(-group["clip_radius"], group["clip_radius"]), alpha=group["lr"])
        self.rest.step()

    @torch.no_grad()
    def _draw(self, parameters: list[Parameter]) -> dict[Parameter, Tensor]:
        """Noise for every parameter; none before the first step, when no curvature has been seen."""
        if self.param_groups[0]["step"] == 0:
            return {}
        noise = normal(parameters, self.rng)
        return {p: e.mul_(self.std(p)) for p, e in zip(parameters, noise, strict=True)}

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on: averages, step counts, options and the generator's state."""
        self._samples.refuse_open()
        return {**super().state_dict(), "rng": self.rng.get_state(), "rest": self.rest.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state; later steps are the same to the bit."""
        super().load_state_dict(state_dict)
        self.rest.load_state_dict(state_dict["rest"])
        self.rng.set_state(state_dict["rng"])
        self._samples.clear()
