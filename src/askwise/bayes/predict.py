"""Log-probabilities, predictions and scores of any number of items."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from askwise.acquire import ACQUISITIONS, Acquire, Acquisition, as_acquisition, score
from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.place import called_layers
from askwise.bayes.program.build import BATCH
from askwise.bayes.program.ready import Block, take
from askwise.bayes.program.stream import Reduction, stream
from askwise.bayes.program.trace import call, predicting, tensors_of
from askwise.engine import Engine
from askwise.errors import InputError, check_options, serves
from askwise.inputs import Inputs, as_rows
from askwise.tasks import Prediction, Task
from askwise.train.progress import Follow
from askwise.types import Features, LogProbs, Moments, Scores

_WHOLE = Reduction(lambda block: (block.found,), whole=True)


def log_probs(
    fitted: Fitted, inputs: Inputs, *, draws: int = 100, seed: int = 0, engine: Engine | None = None
) -> LogProbs:
    """Log-probabilities [N, T, *sites, C] under T networks, the same for every item and every call.

    T is `draws`, and at most the number of members where the posterior is an ensemble.

    >>> aw.log_probs(fitted, x, draws=10).shape
    torch.Size([60, 10, 2])
    """
    _check_supplies(as_fitted(fitted).task, "log_probs", otherwise="aw.moments")
    return stream(fitted, inputs, _WHOLE, draws=draws, seed=seed, engine=engine)[0]


def moments(
    fitted: Fitted, inputs: Inputs, *, draws: int = 100, seed: int = 0, engine: Engine | None = None
) -> Moments:
    """Means and log-variances [N, T, D, 2] of numbers under T networks, the same for every item and call.

    T is `draws`, and at most the number of members where the posterior is an ensemble.

    >>> task = aw.tasks.regression(tau=1.0)
    >>> model = aw.fit(aw.nets.mlp(4, 1, hidden=(8,)), (x, x[:, :1]), task=task, training=short)
    >>> aw.moments(model, x, draws=10).shape
    torch.Size([60, 10, 1, 2])
    """
    _check_supplies(as_fitted(fitted).task, "moments", otherwise="aw.log_probs")
    return stream(fitted, inputs, _WHOLE, draws=draws, seed=seed, engine=engine)[0]


def predict(
    fitted: Fitted,
    inputs: Inputs,
    *,
    draws: int = 100,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Follow = False,
) -> Prediction:
    """The mean prediction of every item, with its total, epistemic and aleatoric uncertainty.

    Uncertainty is that of the draws. So is the mean, unless the posterior shows another (`modal`).

    >>> prediction = aw.predict(fitted, x)
    >>> prediction.mean.shape, prediction.epistemic.shape
    (torch.Size([60, 2]), torch.Size([60]))
    """
    as_fitted(fitted)

    def reduce(block: Block) -> tuple[Tensor, ...]:
        one = fitted.task.summary(block.found)
        return one.mean, one.total, one.epistemic, one.aleatoric

    how: dict[str, Any] = {"draws": draws, "seed": seed, "engine": engine}
    mean, *uncertain = stream(fitted, inputs, Reduction(reduce), **how, progress=progress)
    if fitted.shown is not fitted:
        (mean,) = stream(fitted.shown, inputs, Reduction(lambda block: reduce(block)[:1]), **how)
    return Prediction(mean, *uncertain)


def score_pool(
    fitted: Fitted,
    inputs: Inputs,
    acquire: Acquire,
    *,
    draws: int = 100,
    seed: int = 0,
    ids: Sequence[str] | None = None,
    targets: Inputs | None = None,
    draw: str = "weights",
    engine: Engine | None = None,
    progress: Follow = False,
    **options: Any,
) -> Scores:
    """One score per item, higher = ask first; the N x T x C log-probabilities are never stored.

    Numbers have scores of their own: variance_of_means and gaussian_bald.
    `ids` matter to `random` alone, `targets` (inputs to predict well) to `epig` alone. With
    `draw="logits"` a Gaussian last layer is integrated item by item in closed form: faster where it
    has many inputs. The engine (by default all cores) decides where it is computed, never what.

    >>> aw.score_pool(fitted, x, "bald", draws=10).shape
    torch.Size([60])
    """
    if as_acquisition(acquire)[1].needs == "ids":
        return score(acquire, ids=range(len(as_rows(inputs))) if ids is None else ids, seed=seed, **options)
    fitted = scored_by(fitted, acquire)
    choices = {"draws": draws, "seed": seed, "draw": draw, **options}
    kept = scoring(fitted, acquire, targets=targets, engine=engine, **choices)
    told: dict[str, Any] = {"progress": progress, "doing": "scoring"}
    return stream(fitted, inputs, kept, draws=draws, seed=seed, engine=engine, **told)[0]


def scored_by(fitted: Fitted, acquire: Acquire) -> Fitted:
    """The model that an acquisition looks at: where it takes the mean prediction, the one that is shown."""
    return as_fitted(fitted).shown if as_acquisition(acquire)[1].of == "mean" else fitted


def scoring(
    fitted: Fitted,
    acquire: Acquire,
    *,
    draws: int,
    seed: int,
    targets: Inputs | None = None,
    draw: str = "weights",
    engine: Engine | None = None,
    **options: Any,
) -> Reduction:
    """What an acquisition keeps of a model's predictions: one score per item."""
    name, acquisition = as_acquisition(acquire)
    _check_acquisition(as_fitted(fitted).task, name, acquisition)
    if acquisition.needs == "targets":
        if draw == "logits":
            raise InputError(f"acquisition {name!r} looks at two items at a time; draw weights for it")
        if targets is None:
            raise InputError(f"acquisition {name!r} needs targets: the inputs to predict well")
        options["targets"] = log_probs(fitted, targets, draws=draws, seed=seed, engine=engine)
    elif targets is not None:
        raise InputError(f"acquisition {name!r} takes no targets; only epig does")
    check_options(f"acquisition {name!r}", acquisition.function, options, given=("seed",))
    known = signature(acquisition.function).parameters
    options = {key: value for key, value in fitted.task.scoring.items() if key in known} | options

    def reduce(block: Block) -> tuple[Tensor]:
        return (acquisition.function(block.found, **options),)

    return Reduction(reduce, finish=fitted.task.per_item, draw=draw)


def features(fitted: Fitted, inputs: Inputs) -> Features:
    """What the last layer sees of every item [N, D], under the mean weights.

    >>> aw.features(fitted, x).shape
    torch.Size([60, 16])
    """
    rows, network = as_rows(inputs), as_fitted(fitted).network
    last = list(called_layers(network, take(fitted, rows, 0, 1)).values())[-1]
    seen: list[Tensor] = []
    hook = last.register_forward_pre_hook(lambda _, args: seen.append(args[0].flatten(1)))
    try:
        with predicting(network, dropout=False):
            for start in range(0, len(rows), BATCH):
                call(network, tensors_of(network), take(fitted, rows, start, start + BATCH, pad=BATCH))
    finally:
        hook.remove()
    return torch.cat(seen)[: len(rows)]


def _check_supplies(task: Task, wanted: str, *, otherwise: str) -> None:
    if task.supplies != wanted:
        raise InputError(f"the task {task.name!r} supplies {task.supplies}, not {wanted}; use {otherwise}")


def _check_acquisition(task: Task, name: str, acquisition: Acquisition) -> None:
    """An error if the acquisition cannot score what the task predicts."""
    serves("acquisition", name, task.name, acquisition, ACQUISITIONS)
