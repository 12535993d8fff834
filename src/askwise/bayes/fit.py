"""From a network and labels to a network with doubt."""

import copy
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import nn

from askwise.bayes.fitted import Fitted
from askwise.bayes.learning import Job, Learned, State
from askwise.bayes.posteriors import Config, bbb, home
from askwise.bayes.trace import outputs_of
from askwise.errors import InputError, choose
from askwise.seeding import derive
from askwise.tasks import Task, named
from askwise.train import Training, examples


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
    progress: bool = False,
) -> Fitted:
    """The network with a posterior learned from `data`: a pair (x, y) or a torch Dataset of pairs.

    `network` itself is left as it is. Learning starts from its weights as given, from new ones
    ("scratch", drawn from the seed; frozen parameters stay), or goes on from an earlier Fitted:
    its weights and variational parameters, not its optimiser. `posterior` is bbb(last=1) by default.
    """
    config = posterior if posterior is not None else bbb.Config(last=1)
    file, kind, labelled = home(config), named(task), examples(data, ids=ids)
    own, state = _start(network, start, config, seed)
    place = _device(device)
    own.to(place)
    job = Job(labelled, kind, training or Training(), seed, place, progress, state)
    log_probs = kind.log_probs(outputs_of(own, job.example).unsqueeze(1))
    kind.labels(labelled.labels, log_probs.shape[-1])
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
        _reset(own, seed)
    return own, {}


def _reset(network: nn.Module, seed: int) -> None:
    """New weights for every module that is not frozen; refused where a module cannot make them."""
    with torch.random.fork_rng():
        torch.manual_seed(derive(seed, "reset"))
        for name, module in network.named_modules():
            own = [p for p in module.parameters(recurse=False) if p.requires_grad]
            reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if own and reset is None:
                kind = type(module).__name__
                raise InputError(
                    f"{name or 'the network'} ({kind}) has parameters of its own and no reset_parameters(); "
                    "add that method, freeze them, or use start='given'"
                )
            if own and reset is not None:
                reset()


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise InputError(f"unknown device {name!r}; use auto, cpu or cuda") from error
