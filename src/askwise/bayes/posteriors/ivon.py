"""IVON: Gaussians over the weights of chosen layers, learned at about the cost of Adam (Shen et al. 2024)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from askwise.bayes import gaussian_weights
from askwise.bayes.learning import Job, Learned, State, learn
from askwise.bayes.sites import Site
from askwise.errors import above_zero, choose, positive
from askwise.optim import IVON, Beside
from askwise.optim.layers import own_parameters
from askwise.optim.options import NOISES, check_betas
from askwise.seeding import generator
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True)
class Config:
    """The placement (one of last, first, layers, all; all by default) and the form of the Gaussians.

    Weights and biases of the chosen layers are Gaussian, with the prior N(0, prior_std^2); all else
    learns by Adam. `kl_weight` tempers the posterior: 1 is Bayes' rule, under which tens of thousands
    of weights fall back to the prior when there are only hundreds of labels; below 1 labels count for
    more. A step is `lr` of Newton's at first and falls to zero, and no weight moves farther in it than
    `reach` times the training's lr; Adam moves about 1. The authors' betas[1] = .99999 would leave the
    curvature h at `hess_init` for thousands of steps; here its average remembers the last tenth
    of the steps unless betas[1] says otherwise. `noise` is "flipout", which gives every item weights of
    its own, or "sample": one set for a batch, the authors' way and cheaper.
    """

    name: ClassVar[str] = "ivon"
    last: int | None = None
    first: int | None = None
    layers: Sequence[str] | None = None
    all: bool = False
    prior_std: float = 0.2
    kl_weight: float = 0.005
    lr: float = 0.2
    reach: float = 3.0
    hess_init: float = 0.1
    betas: Sequence[float] | None = None
    noise: str = "flipout"
    samples: int = 1
    dropout: bool = False

    def __post_init__(self) -> None:
        gaussian_weights.check_placement(self)
        for name in ("prior_std", "kl_weight", "lr", "reach", "hess_init"):
            above_zero(name, getattr(self, name))
        choose("noise", self.noise, NOISES)
        if self.betas is not None:
            object.__setattr__(self, "betas", check_betas(self.betas))
        positive("samples", self.samples)


def fit(network: nn.Module, config: Config, job: Job) -> Learned:
    """The deviation of every Gaussian weight; the means are learned in the network's own weights."""
    layers = gaussian_weights.chosen_layers(network, config, job)
    gaussian = [p for layer in layers.values() for p in own_parameters(layer).values()]
    chosen = {id(p) for p in gaussian}
    rest = [p for p in network.parameters() if p.requires_grad and id(p) not in chosen]
    count = len(job.data) / config.kl_weight
    decay = 1 / (count * config.prior_std**2)
    ivon = IVON(
        gaussian,
        lr=config.lr / (config.hess_init + decay),
        count=count,
        rng=generator(job.seed, "noise", device=job.device),
        hess_init=config.hess_init,
        betas=check_betas(config.betas or gaussian_weights.BETAS),
        take_in=gaussian_weights.take_in(job) if config.betas is None else None,
        weight_decay=decay,
        samples=config.samples,
        clip_radius=config.reach * job.training.lr / config.lr,
        flipout=(network, layers) if config.noise == "flipout" else None,
    )
    optimizer = Beside(ivon, rest, lr=job.training.lr)
    gaussian_weights.anneal(ivon, job)
    gaussian_weights.resume(network, ivon, optimizer.rest, job.start)
    history = learn(network, optimizer, job)
    return Learned(gaussian_weights.kept(network, ivon, optimizer.rest), history)


def draw(
    network: nn.Module, config: Config, state: State, *, numbers: range, seed: int, sites: Sequence[Site]
) -> Draws:
    """Whole weight tensors, named as the network names them; and masks, where dropout is left on."""
    return gaussian_weights.draw(network, state, numbers=numbers, seed=seed, sites=sites)


def std(config: Config, means: Mapping[str, Tensor], state: State) -> dict[str, Tensor]:
    """Standard deviation of every Gaussian weight, by name."""
    return gaussian_weights.stds(state)


def without_noise(config: Config, state: State, where: Mapping[str, Tensor]) -> State:
    """The state under which weights are their means in every draw, where the masks say so."""
    return gaussian_weights.without_noise(state, where)


def part(config: Config, state: State, take: Callable[[str, Tensor], Tensor]) -> State:
    """The state of a network with fewer channels; `take` is what it keeps of tensors like a named weight."""
    return gaussian_weights.part(state, take)
