"""VOGN: Gaussians over the weights of chosen layers, by the Bayesian learning rule (Osawa et al. 2019)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from askwise.bayes.learning import Learned, TrainingJob, learn
from askwise.bayes.posteriors import gaussian_weights
from askwise.bayes.posteriors.gaussian_weights import GaussianWeights
from askwise.errors import above_zero, at_least_zero, choose
from askwise.optim import VOGN
from askwise.optim.sampling import check_betas
from askwise.optim.vogn import CURVATURES
from askwise.seeding import generator
from askwise.train import Ending


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(GaussianWeights):
    """The placement (one of last, first, layers, all; all by default) and the form of the Gaussians.

    Weights and biases of the chosen layers are Gaussian, with the prior N(0, prior_std^2); all else learns
    by Adam, with the training's weight decay. `kl_weight` tempers the posterior: 1 is Bayes' rule, under
    which tens of thousands of weights fall back to the prior when there are only hundreds of labels; below
    1 labels count for more. `augmentation` is rho: how many labels one counts for where inputs are
    augmented. The prior warms up over the first `warm_up` of the steps. `damping` is in the step, not in
    the deviations.

    The deviations follow the curvature: that of Gauss and Newton, right on average wherever the weights
    are, or the squares of each item's gradient ("squares", as Osawa et al. have it). It is taken in over
    the first tenth of the training, so that this starts from the prior; then its average remembers the last
    twentieth, unless betas[1] says otherwise. A step is `lr` of Newton's at first and falls to zero along a
    cosine unless the training has a schedule, and no weight moves farther in it than `reach` times the
    training's lr; Adam moves about 1. While steps are long an outlier among the gradients, which wide
    weights have, is cut before the momentum keeps it. `noise` is "flipout", or "sample": one set of weights
    for a batch.

    >>> aw.fit(network, (x, y), posterior=aw.vogn(last=1), training=short).posterior.name
    'vogn'
    """

    name: ClassVar[str] = "vogn"
    prior_std: float = 0.1
    kl_weight: float = 0.003
    curvature: str = "gauss_newton"
    augmentation: float = 1.0
    damping: float = 1e-3
    warm_up: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("augmentation", self.augmentation)
        for name in ("damping", "warm_up"):
            at_least_zero(name, getattr(self, name))
        choose("curvature", self.curvature, CURVATURES)

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """The deviation of every Gaussian weight; the means are learned in the network's own weights."""
        warm_up = round(self.warm_up * job.course.steps)
        optimizer = VOGN(
            network,
            lr=self.lr,
            count=len(job.data) * self.augmentation / self.kl_weight,
            rng=generator(job.seed, "noise", device=job.device),
            layers=list(self.chosen_layers(network, job)),
            prior_precision=self.prior_std**-2,
            curvature=self.curvature,
            noise=self.noise,
            betas=check_betas(self.betas or gaussian_weights.BETAS),
            take_in=gaussian_weights.take_in(job) if self.betas is None else None,
            damping=self.damping,
            warm_up=warm_up,
            samples=self.samples,
            clip_radius=self.reach * job.training.lr / self.lr,
            batch_size=max(job.course.sizes),
            rest_lr=job.training.lr,
            rest_decays=gaussian_weights.rest_decays(network, job),
        )
        gaussian_weights.anneal(optimizer, job)
        gaussian_weights.resume(network, optimizer, optimizer.rest, job.start)

        weights = None if job.weights is None else job.weights.to(job.device)

        def fisher(outputs: Tensor, labels: Tensor) -> None:
            optimizer.gauss_newton(outputs, *job.task.curvature(outputs.detach(), labels, weights))

        told = fisher if self.curvature == "gauss_newton" else None
        history = learn(network, optimizer, job, outputs=told, ending=Ending(after=job.epochs(warm_up)))
        return Learned(gaussian_weights.kept(network, optimizer, optimizer.rest), history)
