"""IVON: Gaussians over the weights of chosen layers, learned at about the cost of Adam (Shen et al. 2024)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes.learning import Learned, TrainingJob, learn, learnable
from askwise.bayes.posteriors import gaussian_weights
from askwise.bayes.posteriors.gaussian_weights import GaussianWeights
from askwise.errors import above_zero
from askwise.optim import IVON, Beside
from askwise.optim.layers import own_parameters
from askwise.optim.sampling import check_betas
from askwise.seeding import generator
from askwise.train import grouped


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(GaussianWeights):
    """The placement (one of last, first, layers, all; all by default) and the form of the Gaussians.

    Weights and biases of the chosen layers are Gaussian, with the prior N(0, prior_std^2); all else learns
    by Adam, with the training's weight decay. `kl_weight` tempers the posterior: 1 is Bayes' rule, under
    which tens of thousands of weights fall back to the prior when there are only hundreds of labels; below
    1 labels count for more. `noise` is "flipout", which gives every item weights of its own, or "sample":
    one set for a batch, the authors' way and cheaper.

    A step is `lr` of Newton's at first and falls to zero along a cosine unless the training has a schedule,
    and no weight moves farther in it than `reach` times the training's lr; Adam moves about 1. While steps
    are long an outlier among the gradients, which wide weights have, is cut before the momentum keeps it.
    The authors' betas[1] = .99999 would leave the curvature h at `hess_init` for thousands of steps; here
    its average remembers the last tenth of the steps unless betas[1] says otherwise.

    >>> aw.fit(network, (x, y), posterior=aw.ivon(last=1), training=short).posterior.name
    'ivon'
    """

    name: ClassVar[str] = "ivon"
    prior_std: float = 0.2
    kl_weight: float = 0.005
    hess_init: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("hess_init", self.hess_init)

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """The deviation of every Gaussian weight; the means are learned in the network's own weights."""
        layers = self.chosen_layers(network, job)
        gaussian = [p for layer in layers.values() for p in own_parameters(layer).values()]
        chosen = {id(p) for p in gaussian}
        rest = {name: p for name, p in learnable(network).items() if id(p) not in chosen}
        groups = grouped(rest, decays=gaussian_weights.rest_decays(network, job), rates={})
        count = len(job.data) / self.kl_weight
        decay = 1 / (count * self.prior_std**2)
        ivon = IVON(
            gaussian,
            lr=self.lr / (self.hess_init + decay),
            count=count,
            rng=generator(job.seed, "noise", device=job.device),
            hess_init=self.hess_init,
            betas=check_betas(self.betas or gaussian_weights.BETAS),
            take_in=gaussian_weights.take_in(job) if self.betas is None else None,
            weight_decay=decay,
            samples=self.samples,
            clip_radius=self.reach * job.training.lr / self.lr,
            batch_size=max(job.course.sizes),
            flipout=(network, layers) if self.noise == "flipout" else None,
        )
        optimizer = Beside(ivon, groups, lr=job.training.lr)
        gaussian_weights.anneal(ivon, job)
        gaussian_weights.resume(network, ivon, optimizer.rest, job.start)
        history = learn(network, optimizer, job)
        return Learned(gaussian_weights.kept(network, ivon, optimizer.rest), history)
