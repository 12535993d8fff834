"""One posterior, trained and measured."""

import os
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.elbo import elbo, measurable
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.compare.material import Material, network
from askwise.compare.protocol import Protocol
from askwise.seeding import derive, generator
from askwise.tasks import Prediction
from askwise.train import Training

_BAND = 1.96  # deviations to either side: 95 % of a Gaussian
_SHARP = 1e-5  # nats: uncertainty below it is rounding, and orders nothing


@dataclass(frozen=True)
class Job:
    """One posterior, by name and with its defaults, and one seed."""

    posterior: str
    seed: int

    @property
    def title(self) -> str:
        """What a progress bar says."""
        return f"{self.posterior}, seed {self.seed}"


def trial(protocol: Protocol, job: Job, items: Material) -> dict[str, Any]:
    """How good one posterior is, how uncertain it is of other data, and what it costs.

    Labels, first weights and draws depend on the seed alone: all posteriors have them in common.
    Times are in CPU seconds, which other work on the machine hardly changes, and by the clock.
    """
    x, y = items.train
    chosen = torch.randperm(len(x), generator=generator(job.seed, "compare", "labels"))[: protocol.labels]
    plain = network(protocol, items)
    began = _now()
    fitted = fit(
        plain,
        (x[chosen], y[chosen]),
        posterior=protocol.posterior(job.posterior),
        task=protocol.task,
        training=protocol.training(),
        start="scratch",
        seed=derive(job.seed, "compare", "fit"),
    )
    learned = _now()

    draws, seed = protocol.draws, derive(job.seed, "compare", "draws")

    def predicted(inputs: Tensor) -> Prediction:
        return predict(fitted, inputs, draws=draws, seed=seed)

    predicted(items.test[0][:1])  # builds the program, once for all
    ready = _now()
    usual = predicted(items.test[0])
    done = _now()
    odd = predicted(items.ood)
    found = evaluate(fitted, items.test, draws=draws, seed=seed)
    return {
        "kl_weight": fitted.posterior.options().get("kl_weight"),
        **{name: found[name] for name in dict.fromkeys((*fitted.task.measures, "nll"))},
        **_inside(fitted, usual, items.test[1]),
        "elbo": _elbo(
            fitted, (x[chosen], y[chosen]), draws=protocol.draws, seed=derive(job.seed, "compare", "elbo")
        ),
        "auroc_total": told_apart(*_of_items(fitted, usual.total, odd.total)),
        "auroc_epistemic": told_apart(*_of_items(fitted, usual.epistemic, odd.epistemic)),
        **_spent("training", began, learned),
        **_spent("prediction", ready, done),
        "parameters": _parameters(fitted),
    }


def warm_up(protocol: Protocol, items: Material) -> None:
    """Load what torch loads late, so that the first trial is not charged for it; refuse what cannot train."""
    some = items.train[0][:8], items.train[1][:8]
    fit(network(protocol, items), some, posterior="point", task=protocol.task, training=Training(epochs=1))


def told_apart(usual: Float[Tensor, " N"], odd: Float[Tensor, " M"]) -> float:
    """The area under the ROC curve: how often an ood item is more uncertain than a usual one."""
    from torchmetrics.functional.classification import binary_auroc  # takes seconds to import

    uncertainty = torch.cat([usual, odd]).double().cpu().clamp_min(_SHARP)
    truth = torch.cat([torch.zeros(len(usual)), torch.ones(len(odd))]).long()
    return float(
        binary_auroc(uncertainty / uncertainty.max(), truth)
    )  # what is not in 0..1 it takes for logits


def _of_items(fitted: Fitted, *uncertainty: Tensor) -> list[Float[Tensor, " N"]]:
    """One number for each item: the mean over its tags, numbers or pixels, numbers in units of the labels."""
    scale = fitted.task.options.get("scale")
    unit = 1.0 if scale is None else torch.tensor(scale).square()
    return [(one / unit).flatten(1).mean(dim=1) if one.ndim > 1 else one for one in uncertainty]


def _inside(fitted: Fitted, found: Prediction, labels: Tensor) -> dict[str, float]:
    """The share of numbers within the 95 % band of their prediction; nothing where labels are no numbers."""
    if fitted.task.supplies != "moments":
        return {}
    away = (labels.view_as(found.mean) - found.mean.cpu()).abs()
    return {"inside": float((away <= _BAND * found.total.cpu().sqrt()).double().mean())}


def _elbo(fitted: Fitted, data: tuple[Tensor, Tensor], *, draws: int, seed: int) -> float | None:
    """The ELBO per label at a KL weight of 1, under the posterior's own prior; None where there is none."""
    return elbo(fitted, data, draws=draws, seed=seed).per_label if measurable(fitted) else None


def _now() -> tuple[float, float]:
    """CPU seconds of this process and of those it has started, and seconds by the clock."""
    return process_time() + sum(os.times()[2:4]), perf_counter()


def _spent(what: str, start: tuple[float, float], end: tuple[float, float]) -> dict[str, float]:
    return {f"{what}_cpu_s": end[0] - start[0], f"{what}_s": end[1] - start[1]}


def _parameters(fitted: Fitted) -> int:
    """How many numbers the trained model keeps: weights and the posterior's state."""
    return sum(tensor.numel() for tensor in fitted.tensors().values() if tensor.is_floating_point())
