"""From a network and labels to a network that knows its uncertainty."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import nn

from askwise.bayes.fitted import Fitted, as_network
from askwise.bayes.learning import State, TrainingJob, training_threads
from askwise.bayes.posteriors import Posterior, as_posterior
from askwise.bayes.program.trace import outputs_of
from askwise.bayes.reset import reset
from askwise.bayes.thaw import thawed
from askwise.engine.threads import threads
from askwise.errors import InputError, choose
from askwise.seeding import torch_alone
from askwise.tasks import Task, named
from askwise.train import Examples, Training, as_training, examples
from askwise.train.progress import Follow

_LOOKED_AT, _ONE = 8, 1e-5  # items, and how near 1 the sum of probabilities is


def fit(
    network: nn.Module,
    data: Any,
    *,
    posterior: Posterior | str = "bbb",
    task: str | Task = "classification",
    training: Training | None = None,
    start: Fitted | Literal["given", "scratch"] = "given",
    seed: int = 0,
    device: str = "auto",
    ids: Sequence[str] | None = None,
    validation: Any = None,
    progress: Follow = False,
) -> Fitted:
    """The network with a posterior learned from `data`: (x, y), or a Dataset or DataLoader of pairs.

    `network` itself is left as it is. Items whose label is to be ignored are left out: they count in
    no number of labels. Learning starts from the network's weights as given, from new ones
    ("scratch", drawn from the seed; frozen parameters stay), or goes on from an earlier Fitted:
    its weights and what its posterior keeps (vogn and ivon keep their averages and step counts, Adam's
    are begun anew). `posterior` is a record or a name. `validation`, a pair or Dataset like `data`, is
    not learned from: a training with patience ends by it, and laplace chooses its prior by it.

    >>> aw.fit(network, (x, y), posterior="mc_dropout", training=short, seed=0).task.name
    'classification'
    """
    config, kind, labelled = as_posterior(posterior), named(task), examples(data, ids=ids)
    place = as_device(device)
    own, state = _start(as_network(network), start, config, seed)
    own.to(place)
    labelled = labelled.like(own)
    outputs = outputs_of(own, labelled.first.to(place))
    kind.predictive(outputs.unsqueeze(1))
    _refuse_probabilities(own, labelled, kind, place)
    shape, how = tuple(outputs.shape[1:]), as_training(training if training is not None else {})
    labels = kind.labels(labelled.labels, shape)
    known = kind.known(labels)
    if not known.all():
        if not known.any():
            raise InputError("there are no known labels to learn from; every one is to be ignored")
        labelled, labels = labelled.only(known.nonzero().flatten()), labels[known]
    kind = kind.fitted_to(labels)
    inner, labels = kind.inside(labels)
    chances = kind.chances(labels) if how.balance == "resample" else None
    weights = kind.class_weights(labels, shape) if how.balance == "weights" else None
    labelled = replace(labelled, labels=labels, chances=chances)
    held = None if validation is None else examples(validation).like(own)
    if held is not None:
        told = kind.inside(kind.labels(held.labels, shape))[1]
        held = replace(held, labels=told, chances=None if chances is None else kind.chances(told))
    job = TrainingJob(labelled, inner, how, seed, place, progress, state, start == "scratch", weights, held)
    with (
        thawed(own, job, first=not isinstance(start, Fitted)) as final,
        # what a posterior computes beside its training is small where the training is
        threads(training_threads(own, final.example, how)),
    ):
        learned = config.fit(own, final)
    own.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    item = tuple(labelled.first.shape[1:])
    return Fitted(own.eval(), config, kind, learned.state, learned.history, item_shape=item)


def _start(network: nn.Module, start: Fitted | str, config: Posterior, seed: int) -> tuple[nn.Module, State]:
    """A network of our own to learn with, and the posterior's state to go on from."""
    if isinstance(start, Fitted):
        if type(start.posterior) is not type(config):
            raise InputError(
                f"cannot go on from {start.posterior.name} with {config.name}; use start='given'"
            )
        with torch_alone():  # somebody may be predicting with it
            return copy.deepcopy(start.network), start.state
    with torch_alone():
        own = copy.deepcopy(network)
    if choose("start", start, ("given", "scratch")) == "scratch":
        reset(own, seed)
    return own, {}


def _refuse_probabilities(network: nn.Module, data: Examples, task: Task, place: torch.device) -> None:
    """An error if the network ends in a softmax: a second one would flatten what it says."""
    if task.name != "classification":
        return
    some = data.batch(torch.arange(min(_LOOKED_AT, len(data))))[0].to(place)
    found = outputs_of(network, some)
    if bool((found >= 0).all()) and bool(((found.sum(dim=-1) - 1).abs() < _ONE).all()):
        raise InputError(
            "the network's outputs are probabilities, which sum to 1; leave its softmax out: give logits"
        )


def as_device(name: str) -> torch.device:
    """The device of that name, if this machine has it; `auto` is CUDA where there is some."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"unknown device {name!r}; use auto, cpu or cuda") from error
    if device.type not in ("cpu", "cuda", "mps"):
        raise InputError(f"device {name!r} cannot compute; use auto, cpu or cuda")
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device {name!r} is not available: torch finds none on this machine; use device='auto' or 'cpu'"
        ) from error
    return device
