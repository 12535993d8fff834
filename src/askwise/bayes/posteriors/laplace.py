"""A Gaussian around the mode of the last layer, as wide as the likelihood's curvature allows.

Laplace's method on the last layer of a trained network (MacKay 1992, Ritter et al. 2018, Daxberger
et al. 2021), in the span of the labelled items.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from askwise.bayes.learning import Learned, TrainingJob
from askwise.bayes.posteriors import point
from askwise.bayes.posteriors import precision as precisions
from askwise.bayes.posteriors.around import Around, AroundMode, bias_stretch, unit
from askwise.bayes.posteriors.curvature import refuse_size
from askwise.bayes.posteriors.last_layer import LastLayer, joined, last_linear, linear, observe, spanned
from askwise.bayes.posteriors.mode import mode
from askwise.errors import InputError, choose

CHOICES = ("folds", "validation", "evidence")


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(AroundMode):
    """The form of the covariance (kron, diag, full) and the prior N(0, 1/prior_precision).

    The network is trained first, under its prior. Then the last layer is moved to its mode under
    the prior, on features without dropout: Laplace's method is about a mode, and training stops
    short of it. With `prior_precision` the rest is Laplace's method as it is written: the covariance
    is the inverse of curvature plus precision, for weights and bias alike.

    Without, the precision is chosen. "folds": that of the mode by marginal likelihood; then, with the
    mode held fixed, that of the width, by how well it predicts the labels of items left out, a fifth
    at a time. "validation": both by the validation data. "evidence": one for mode and width, by
    marginal likelihood; for classes its mean predictions are underconfident. By default validation
    data choose where there are any, otherwise evidence for numbers, where it is exact, and folds for
    classes. Numbers have one precision for mode and width in any case.

    >>> aw.fit(network, (x, y), posterior=aw.laplace(), training=short).posterior.name
    'laplace'
    """

    name: ClassVar[str] = "laplace"
    choose: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.choose is not None:
            choose("way to choose", self.choose, CHOICES)
            if self.prior_precision is not None:
                raise InputError(f"prior_precision is given; leave out choose={self.choose!r}, or it")

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Scales and basis of the Gaussian; its mean, the mode, is left in the last layer."""
        if self.choose == "validation" and job.validation is None:
            raise InputError(
                "choose='validation' needs validation data, and there are none; use choose='folds'"
            )
        name = last_linear(network, job.example, who="laplace")
        layer = linear(network, name)
        outputs, wide = joined(layer).shape
        refuse_size(self.form, outputs, min(wide, len(job.data)))
        history = point.Config().fit(network, job).history
        seen = observe(network, name, job, job.data)
        given = self.prior_precision is not None
        stretch = unit(seen) if given else bias_stretch(seen, layer)
        whole = replace(seen, features=seen.features * stretch.to(seen.features))
        model, axes = spanned(whole)
        start = (joined(layer).double() / stretch) @ axes
        if self.prior_precision is not None:
            prior = narrow = self.prior_precision
            weights = mode(model, start, prior)
        else:
            prior, weights, narrow = _chosen(network, name, self, job, model, axes, start, stretch)
        found = Around(whole, model, axes, stretch, weights, prior, narrow)
        return Learned(found.state(network, name, self.form), history)


def _chosen(
    network: nn.Module,
    name: str,
    config: Config,
    job: TrainingJob,
    model: LastLayer,
    axes: Float[Tensor, "D R"],
    start: Float[Tensor, "C R"],
    stretch: Float[Tensor, " D"],
) -> tuple[float, Float[Tensor, "C R"], float]:
    """The precision of the mode, the mode, and the precision of the Gaussian around it."""
    numbers = job.task.supplies == "moments"
    usual = "evidence" if numbers else "folds"
    way = config.choose or ("validation" if job.validation is not None else usual)
    guess, left = precisions.guess(model), None
    if way == "validation":
        assert job.validation is not None  # noqa: S101  fit has refused it
        seen = observe(network, name, job, job.validation)
        features = seen.features.double() * stretch
        inside = features @ axes
        held = replace(seen, features=inside)
        prior = precisions.by_validation(model, len(start), guess, held)
        weights = mode(model, start, prior)
        outside = (features.square().sum(dim=1) - inside.square().sum(dim=1)).clamp_(min=0)
        left = precisions.Left(held, inside @ weights.T, outside, own=False)
    else:
        prior = precisions.by_evidence(model, len(start), guess)
        weights = mode(model, start, prior)
        if way == "folds" and not numbers:
            left = precisions.left_out(model, weights, prior, seed=job.seed)
    if left is None or numbers:
        return prior, weights, prior
    return prior, weights, precisions.width(model, weights, prior, left, seed=job.seed)
