"""The evidence lower bound of a posterior of independent Gaussians, measured from outside.

Only the learned means and deviations are looked at: posteriors that learn in different ways are
held to the same measure.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import WeightByWeight
from askwise.bayes.program.ready import blocks
from askwise.bayes.program.trace import outputs_of, tensors_of
from askwise.errors import InputError, above_zero
from askwise.math import gaussian
from askwise.tasks import Task
from askwise.train import examples


@dataclass(frozen=True)
class Elbo:
    """Log-likelihood of all labels expected under the posterior, and its KL from the prior, in nats."""

    expected_log_likelihood: float
    kl: float
    count: int
    """How many items have a known label."""

    @property
    def total(self) -> float:
        """The bound on the log evidence."""
        return self.expected_log_likelihood - self.kl

    @property
    def per_label(self) -> float:
        """The bound divided by the number of labels."""
        return self.total / self.count


def measurable(fitted: Fitted) -> bool:
    """Whether a model's posterior is one of independent Gaussians, and so has an ELBO in this sense."""
    return isinstance(fitted.posterior, WeightByWeight) and not fitted.posterior.dropout


def elbo(
    fitted: Fitted, data: Any, *, prior_std: float | None = None, draws: int = 100, seed: int = 0
) -> Elbo:
    """The ELBO of a model on the data (x, y) it learned from: whole weight draws, KL in closed form.

    The prior of every Gaussian weight is N(0, prior_std^2), by default the posterior's own. What is
    deterministic counts nothing in the KL. The likelihood is that of the task, at kl_weight 1.
    """
    posterior = fitted.posterior
    if not isinstance(posterior, WeightByWeight) or not measurable(fitted):
        raise InputError(
            "the ELBO is measured for independent Gaussians without dropout (bbb, vogn, ivon), "
            f"and this is {fitted.posterior}"
        )
    means = {name: tensor.detach() for name, tensor in tensors_of(fitted.network).items()}
    stds = posterior.stds(means, fitted.state)
    kl = 0.0
    for name, std in stds.items():
        layer = name.rpartition(".")[0]
        prior = posterior.prior_of(means[f"{layer}.weight"]) if prior_std is None else prior_std
        kl += gaussian.kl(means[name].double(), std.double(), above_zero("prior_std", prior)).item()
    likely = _expected(fitted, data, draws=draws, seed=seed)
    known = ~likely.isnan()
    if not known.any():
        raise InputError("every label is unknown, so there is nothing to measure on")
    return Elbo(likely.nansum().item(), kl, int(known.sum()))


def _expected(fitted: Fitted, data: Any, *, draws: int, seed: int) -> Tensor:
    """The mean over the draws of every item's log-likelihood [N]; NaN for an item without a known label."""
    labelled, task = examples(data), fitted.task
    inputs = labelled.batch(torch.arange(len(labelled)))[0]
    labels = task.labels(labelled.labels, tuple(outputs_of(fitted.network, inputs[:1]).shape[1:]))
    sums, sites = torch.zeros(2, len(labelled), dtype=torch.float64)
    for block in blocks(fitted, inputs, draws=draws, seed=seed):
        found = block.found[: block.count]
        truth = labels[block.items].to(found.device)
        truth = truth[:, block.rows] if task.rows is not None else truth
        each = _mean_over_draws(task, found, truth).reshape(block.count, -1)
        sums[block.items] += each.nansum(dim=1).cpu()
        sites[block.items] += (~each.isnan()).sum(dim=1).cpu()
    # An image is one label, the mean over its pixels; tags and numbers add up.
    found = sums / sites if task.rows is not None else sums
    return torch.where(sites > 0, found, torch.nan)


def _mean_over_draws(task: Task, found: Tensor, labels: Tensor) -> Tensor:
    """The mean of the log-likelihood under every single draw [N, *sites]."""
    alone = [task.log_likelihood(found[:, at : at + 1], labels).double() for at in range(found.shape[1])]
    return torch.stack(alone).mean(dim=0)
