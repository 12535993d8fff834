"""Bayes by Backprop: independent Gaussians over the weights of chosen layers (Blundell et al. 2015).

Where the layers are is the placement of Zeng, Lesnikowski and Alvarez 2018: `last=1` is their BNN-1.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import torch
from torch import Tensor, nn

from askwise.bayes.learning import Learned, State, TrainingJob, learn, learnable
from askwise.bayes.place import placement, refuse_shared, replaced, settle_placement
from askwise.bayes.posteriors.bayes_layer import BayesLayer, Noise, Scale, gaussian_draws, std_of
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.posteriors.warm_up import WARM_UPS, settled
from askwise.bayes.program import dropout
from askwise.bayes.program.trace import DropoutCall
from askwise.errors import InputError, above_zero, at_least_zero, choose
from askwise.seeding import generator
from askwise.train import Ending, Terms
from askwise.types import Draws

_RHO_SPREAD = 0.1  # rho starts from N(rho_mean, 0.1), as in the papers
_NO_NOISE = -1000.0  # softplus of it is exactly zero, and saved numbers stay finite


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """The placement (one of last, first, layers, all), the form of the Gaussians and the loss.

    loss = mean NLL + kl_weight * warm_up * KL(q||p) / number of labels, p = N(0, prior_std^2). By default
    prior_std^2 is 2 / fan-in of each layer, under which outputs keep the size of inputs. Where the
    variance is alpha mean^2 (`scale="alpha"`) there is also the log-uniform prior of variational dropout
    (`prior="log_uniform"`; Kingma et al. 2015, Molchanov et al. 2017), which has no prior_std.
    The deviation softplus(rho) starts at rho_mean and is learned fast enough to reach its optimum in
    the training; so are the means, where one layer is all that learns, as on frozen features.
    `shared_rate` gives them the learning rate of all other weights, as the papers do; then the
    deviation hardly leaves its start. A `kl_weight` of 1 is Bayes' rule, under which the prior drowns
    a few hundred labels; the defaults of prior, weight and warm-up were chosen on held-out training
    digits at 20 to 1,000 labels (docs/method.md).
    `noise` while learning: local, flipout or sample; by default local for dense layers, flipout for
    convolutions. `dropout` leaves the network's own dropout on when it predicts.

    >>> aw.fit(network, (x, y), posterior=aw.bbb(last=1), training=short).posterior.last
    1
    """

    name: ClassVar[str] = "bbb"
    last: int | None = None
    first: int | None = None
    layers: Sequence[str] | None = None
    all: bool = False
    rho_mean: float = -3.0
    shared_rate: bool = False
    scale: Scale = "softplus"
    prior: str = "gaussian"
    prior_std: float | None = None
    bias: bool = False
    noise: Noise | None = None
    kl: str = "closed"
    kl_weight: float = 0.01
    warm_up: str = "linear"
    dropout: bool = False

    def __post_init__(self) -> None:
        settle_placement(self, last=1)
        if self.prior_std is not None:
            above_zero("prior_std", self.prior_std)
        at_least_zero("kl_weight", self.kl_weight)
        choose("scale", self.scale, get_args(Scale))
        choose("kl", self.kl, ("closed", "sampled"))
        if choose("prior", self.prior, ("gaussian", "log_uniform")) == "log_uniform":
            if self.scale != "alpha":
                raise InputError(f'prior="log_uniform" needs scale="alpha", not scale={self.scale!r}')
            if self.kl != "closed":
                raise InputError(f'prior="log_uniform" needs kl="closed", not kl={self.kl!r}')
        choose("warm_up", self.warm_up, WARM_UPS)
        if self.noise is not None:
            choose("noise", self.noise, get_args(Noise))

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """The rho of every Gaussian weight; the means are learned in the network's own weights."""
        names = self.placed(network, job.example)
        layers = {name: _layer(network, name, self, job) for name in names}
        with replaced(network, dict(layers)):
            own = learnable(network)
            rates = {} if self.shared_rate else _rates(own, names, job)
            optimizer = job.optimizer(own, rates=rates, gaussian=names)
            # Measured: the squared inputs of local noise make a convolution slower with the channels last.
            channels_last = not any(
                a.noise == "local" and a.means["weight"].ndim == 4 for a in layers.values()
            )
            extra = _divergence(list(layers.values()), self, job)
            ending = Ending(after=job.epochs(settled(self.warm_up, job.course.steps)))
            history = learn(network, optimizer, job, extra=extra, channels_last=channels_last, ending=ending)
        state: State = {}
        with torch.no_grad():
            for name, layer in layers.items():
                plain = network.get_submodule(name)
                for key, mean in layer.means.items():
                    plain.get_parameter(key).copy_(mean)
                state.update({f"{name}.{key}": rho.detach().clone() for key, rho in layer.rhos.items()})
        return Learned(state, history)

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Whole weight tensors, named as the network names them; and masks, where dropout is left on."""
        draws = dropout.draw(dropouts, numbers=numbers, seed=seed)
        means = {name: network.get_parameter(name).detach() for name in state}
        return draws | gaussian_draws(network, self.stds(means, state), numbers=numbers, seed=seed)

    def placed(self, network: nn.Module, item: Tensor) -> list[str]:
        """Names of the Gaussian layers."""
        return placement(network, item, last=self.last, first=self.first, layers=self.layers)

    def stds(self, means: Mapping[str, Tensor], state: State) -> dict[str, Tensor]:
        """Standard deviation of every Gaussian weight, by name."""
        return {name: std_of(means[name], rho, self.scale) for name, rho in state.items()}

    def without_noise(self, state: State, where: Mapping[str, Tensor]) -> State:
        """The state under which weights are their means in every draw, where the masks say so."""
        changed = {name: rho.clone() for name, rho in state.items()}
        for name in changed.keys() & where.keys():
            changed[name][where[name]] = _NO_NOISE
        return changed

    def narrowed(self, state: State, take: Callable[[str, Tensor], Tensor]) -> State:
        """The state of a network with fewer channels; `take` keeps the right part of a named tensor."""
        return {name: take(name, rho) for name, rho in state.items()}

    def prior_of(self, weight: Tensor) -> float:
        """Standard deviation of the prior for a layer with this weight tensor."""
        if self.prior != "gaussian":
            raise InputError(f"a bound needs a prior that integrates, not {self.prior}; give prior_std")
        return math.sqrt(2 / weight[0].numel()) if self.prior_std is None else self.prior_std


def _layer(network: nn.Module, name: str, config: Config, job: TrainingJob) -> BayesLayer:
    """The chosen layer with a Gaussian over its weights, going on from the job's state if it has one."""
    plain = network.get_submodule(name)
    refuse_shared(network, name)
    rhos = {}
    for key, mean in plain.named_parameters():
        if key == "bias" and not config.bias:
            continue
        start = job.start.get(f"{name}.{key}")
        if start is None:
            noise = torch.randn(mean.shape, generator=generator(job.seed, "rho", f"{name}.{key}"))
            start = config.rho_mean + _RHO_SPREAD * noise
        elif (start <= _NO_NOISE).any():
            raise InputError(f"layer {name!r} is pruned and cannot learn on; fit first, then prune")
        rhos[key] = start.to(mean)
    noise_kind: Noise = config.noise or ("local" if isinstance(plain, nn.Linear) else "flipout")
    rng = generator(job.seed, "noise", name, device=job.device)
    return BayesLayer(plain, rhos=rhos, noise=noise_kind, scale=config.scale, rng=rng)


def _rates(own: Iterable[str], layers: Sequence[str], job: TrainingJob) -> dict[str, float]:
    """Learning rates that are not the training's: of widths, and of means where one layer learns alone."""
    alone = len(layers) == 1 and all(name.startswith(f"{layers[0]}.") for name in own)
    rates = {name: job.width_rate for name in own if ".rhos." in name}
    return rates | {name: job.head_rate for name in own if alone and ".means." in name}


def _divergence(layers: Sequence[BayesLayer], config: Config, job: TrainingJob) -> Callable[[int], Terms]:
    """KL(q||p) at each step, and what it adds to the loss."""
    steps, per_epoch = job.course.steps, len(job.course.sizes)
    factor = WARM_UPS[config.warm_up]

    def measure(layer: BayesLayer) -> Tensor:
        if config.prior == "log_uniform":
            return layer.log_uniform_kl()
        prior = config.prior_of(layer.means["weight"])
        return layer.kl(prior) if config.kl == "closed" else layer.sampled_kl(prior)

    def terms(number: int) -> Terms:
        kl: Tensor = torch.stack([measure(layer) for layer in layers]).sum()
        weight = config.kl_weight * factor(number, steps, per_epoch)
        return {"loss": weight * kl / len(job.data), "kl": kl}

    return terms
