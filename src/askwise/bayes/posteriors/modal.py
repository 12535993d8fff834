"""The mode of the last layer predicts, and a Gaussian around it says how uncertain that is.

For few labels on the features of a frozen encoder. Measured there: averaged over Laplace's Gaussian
the predictions of classes are underconfident, those of the mode are not.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import nn

from askwise.bayes.learning import Learned, TrainingJob, learnable
from askwise.bayes.posteriors import point
from askwise.bayes.posteriors import precision as precisions
from askwise.bayes.posteriors.around import Around, AroundMode, bias_stretch, unit
from askwise.bayes.posteriors.curvature import refuse_size
from askwise.bayes.posteriors.last_layer import joined, last_linear, linear, observe, spanned
from askwise.bayes.posteriors.mode import mode
from askwise.bayes.posteriors.posterior import Posterior
from askwise.errors import InputError
from askwise.nets.axes import axes_of

POWERS = (0.0, 0.5)
_MEDIAN, _NATS = 0.1, 1.0  # the guess about the precision, in mean squares of the features, and its nats


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(AroundMode):
    """The form of the covariance (kron, diag, full), the prior N(0, 1/prior_precision), the axes' power.

    The precision of mode and Gaussian is that of the highest marginal likelihood, times a guess about
    it: without the guess few labels that are all right ask for no prior at all. Where the network has
    axes (`aw.nets.on_axes`) the marginal likelihood chooses their power too, 0 or a half. Layers before
    the last are trained first, if any of them learns.

    >>> aw.fit(network, (x, y), posterior=aw.modal(), training=short).posterior.name
    'modal'
    """

    name: ClassVar[str] = "modal"
    power: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.power is not None and not 0 <= self.power <= 1:
            raise InputError(f"power is a number from 0 to 1, not {self.power}")

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Scales and basis of the Gaussian; its mean, the mode, is left in the last layer."""
        name = last_linear(network, job.example, who="modal")
        layer, axes = linear(network, name), axes_of(network)
        outputs, wide = joined(layer).shape
        refuse_size(self.form, outputs, min(wide, len(job.data)))
        before = [key for key in learnable(network) if key.rpartition(".")[0] != name]
        history = point.Config().fit(network, job).history if before else ()
        powers = (self.power,) if self.power is not None else POWERS
        best: tuple[float, float, Around] | None = None
        for power in powers if axes is not None else powers[:1]:
            if axes is not None:
                axes.power.fill_(power)
            likely, found = self._at(network, name, job)
            if best is None or likely > best[0]:
                best = likely, power, found
        assert best is not None  # noqa: S101  there is one power at least
        if axes is not None:
            axes.power.fill_(best[1])
        return Learned(best[2].state(network, name, self.form), history)

    def _at(self, network: nn.Module, name: str, job: TrainingJob) -> tuple[float, Around]:
        """How likely the labels are, and the mode, with the features as they are now."""
        layer, seen = linear(network, name), observe(network, name, job, job.data)
        stretch = unit(seen) if self.prior_precision is not None else bias_stretch(seen, layer)
        whole = replace(seen, features=seen.features * stretch.to(seen.features))
        model, span = spanned(whole)
        # from nought, so that the mode does not depend on what the layer was before
        start = torch.zeros(layer.out_features, span.shape[1], dtype=torch.float64, device=span.device)
        guess = precisions.guess(model)
        if job.task.supplies == "log_probs":
            guess = precisions.Guess(_MEDIAN * precisions.spread(model), nats=_NATS)
        prior = self.prior_precision
        if prior is None:
            prior = precisions.by_evidence(model, len(start), guess)
        weights = mode(model, start, prior)
        likely = precisions.evidence(model, weights, prior) + guess.log_density(prior)
        return likely, Around(whole, model, span, stretch, weights, prior, prior)

    def shown(self) -> Posterior:
        """The mode alone."""
        return point.Config()
