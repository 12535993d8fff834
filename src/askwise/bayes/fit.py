"""From a network and labels to a network with doubt."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import nn

from askwise.bayes.fitted import Fitted
from askwise.bayes.learning import Job, Learned, State
from askwise.bayes.posteriors import Config, bbb, home
from askwise.bayes.reset import reset
from askwise.bayes.trace import outputs_of
from askwise.errors import InputError, choose
from askwise.tasks import Task, named
from askwise.train import Training, examples
from askwise.train.progress import Follow


def fit(
    network: nn.Module,
    data: Any,
    *,
    posterior: Config | None = None,
    task: str | Task = "classification",
    training: Training | None = None,
    start: Fitted | Literal["given", "scratch"] = "given",
    seed: int = 0,
    device: str = "auto",
    ids: Sequence[str] | None = None,
    validation: Any = None,
    progress: Follow = False,
) -> Fitted:
    """The network with a posterior learned from `data`: a pair (x, y) or a torch Dataset of pairs.

    `network` itself is left as it is. Items whose label is to be ignored are left out: they count in
    no number of labels. Learning starts from the network's weights as given, from new ones
    ("scratch", drawn from the seed; frozen parameters stay), or goes on from an earlier Fitted:
    its weights and what its posterior keeps (vogn and ivon keep their averages and step counts, Adam's
    are begun anew). `posterior` is bbb(last=1) by default. `validation`, a pair or Dataset like `data`, is
    not learned from: a training with patience ends by it, and laplace chooses its prior by it.
    """
    config = posterior if posterior is not None else bbb.Config(last=1)
    file, kind, labelled = home(config), named(task), examples(data, ids=ids)
    own, state = _start(network, start, config, seed)
    place = _device(device)
    own.to(place)
    outputs = outputs_of(own, labelled.first.to(place))
    kind.predictive(outputs.unsqueeze(1))
    shape, how = tuple(outputs.shape[1:]), training or Training()
    labels = kind.labels(labelled.labels, shape)
    known = kind.known(labels)
    if not known.all():
        if not known.any():
            raise InputError("there are no known labels to learn from; every one is to be ignored")
        labelled, labels = labelled.only(known.nonzero().flatten()), labels[known]
    chances = kind.chances(labels) if how.balance == "resample" else None
    weights = kind.class_weights(labels, shape) if how.balance == "weights" else None
    labelled = replace(labelled, labels=labels, chances=chances)
    held = None if validation is None else examples(validation)
    held = None if held is None else replace(held, labels=kind.labels(held.labels, shape))
    job = Job(labelled, kind, how, seed, place, progress, state, start == "scratch", weights, held)
    learned: Learned = file.fit(own, config, job)
    own.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    return Fitted(own.eval(), config, kind, learned.state, learned.history)


def _start(network: nn.Module, start: Fitted | str, config: Config, seed: int) -> tuple[nn.Module, State]:
    """A network of our own to learn with, and the posterior's state to go on from."""
    if isinstance(start, Fitted):
        if type(start.posterior) is not type(config):
            raise InputError(
                f"cannot go on from {start.posterior.name} with {config.name}; use start='given'"
            )
        return copy.deepcopy(start.network), start.state
    own = copy.deepcopy(network)
    if choose("start", start, ("given", "scratch")) == "scratch":
        reset(own, seed)
    return own, {}


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise InputError(f"unknown device {name!r}; use auto, cpu or cuda") from error
