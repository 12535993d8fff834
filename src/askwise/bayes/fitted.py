"""A network with what was learned about its weights, kept on disk without pickle."""

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from askwise.bayes.learning import State
from askwise.bayes.place import KINDS
from askwise.bayes.posteriors import Posterior, as_posterior, learned_by
from askwise.bayes.program.build import Program
from askwise.bayes.saved import filled, of_a_model, read_model, write_model
from askwise.errors import InputError, above_zero, choose
from askwise.markup import card
from askwise.tasks import TASKS, Task, named
from askwise.train import History


@dataclass(frozen=True, repr=False)
class Fitted:
    """A trained network, its posterior and task; it does not change when it predicts.

    >>> fitted.posterior.name, fitted.task.name
    ('bbb', 'classification')
    """

    network: nn.Module
    posterior: Posterior
    task: Task
    state: State
    history: History
    temperature: float = 1.0
    """Probabilities of every draw are raised to the power 1 / temperature; `calibrate` chooses it."""
    classes: tuple[str, ...] = ()
    """Names of the classes in the order of the outputs, where they are known."""
    item_shape: tuple[int, ...] = ()
    """The shape of one item."""
    preparation: Mapping[str, Any] = field(default_factory=dict)
    """How items were read: what pictures were brought to, which encoder texts went through."""
    quality: Mapping[str, Any] = field(default_factory=dict)
    """What is known of how good it is, and what that rests on: bands of test answers, and their words."""
    programs: dict[Any, Program] = field(default_factory=dict, compare=False)
    """How to predict on items of each shape: a cache, made when first needed."""

    def __post_init__(self) -> None:
        if above_zero("temperature", self.temperature) != 1 and self.task.supplies != "log_probs":
            raise InputError(f"the task {self.task.name!r} has no classes, so it takes no temperature")

    def __repr__(self) -> str:
        """Network, posterior and task, and what else is known of the model; no tensors."""
        recipe = getattr(self.network, "recipe", None)
        name = recipe["name"] if recipe else type(self.network).__name__
        known = {key: getattr(self, key) for key in ("temperature", "classes", "item_shape")}
        told = [f"{key}={value!r}" for key, value in known.items() if value not in ((), 1.0)]
        return f"Fitted({', '.join([name, repr(self.posterior), repr(self.task), *told])})"

    def __getstate__(self) -> dict[str, Any]:
        """All but the programs, which another process makes for itself; the task by its name and options."""
        kept = {name: value for name, value in vars(self).items() if name != "shown"}
        task = {"name": self.task.name, **self.task.options} if self.task.name in TASKS else self.task
        return {**kept, "programs": {}, "task": task}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What `__getstate__` gave."""
        task = state["task"]
        self.__dict__.update(state, task=task if isinstance(task, Task) else named(task))

    @classmethod
    def of(
        cls, network: nn.Module, optimizer: object = None, *, task: str | Task = "classification"
    ) -> "Fitted":
        """A network trained in a loop of one's own as a model that predicts and scores.

        An optimizer of `aw.optim` knows the deviations of the weights; with any other, or none, the
        model is `point`: one network without uncertainty in its weights.
        """
        own = copy.deepcopy(as_network(network)).eval()
        posterior, state = learned_by(as_network(network), optimizer)
        return cls(own, posterior, named(task), state, ())

    @cached_property
    def shown(self) -> "Fitted":
        """The model whose mean prediction is shown: itself, unless its posterior says otherwise."""
        posterior = self.posterior.shown()
        if posterior is self.posterior:
            return self
        return replace(self, posterior=posterior, state={}, programs={})

    def _repr_html_(self) -> str:
        weights = sum(one.numel() for one in self.network.parameters())
        loss = f", the last at a loss of {self.history[-1]['loss']:.4g}" if self.history else ""
        facts = [
            ("network", f"{type(self.network).__name__}, {weights:,} weights"),
            ("posterior", repr(self.posterior)),
            ("task", self.task.name),
            ("classes", ", ".join(self.classes)),
            ("item", " x ".join(map(str, self.item_shape))),
            ("epochs", f"{len(self.history)}{loss}" if self.history else None),
            ("temperature", f"{self.temperature:.3g}" if self.temperature != 1 else None),
        ]
        return card("Fitted", facts)

    def tensors(self) -> dict[str, Tensor]:
        """Every stored tensor by name: the network's own and the posterior's."""
        own = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        return {**own, **{f"posterior.{name}": tensor for name, tensor in self.state.items()}}

    def digest(self) -> str:
        """SHA-256 of all weights, the posterior's state and the temperature.

        A temperature of 1 leaves no trace: models from before there was one keep their digest.
        """
        total = hashlib.sha256(b"" if self.temperature == 1 else f"temperature {self.temperature!r}".encode())
        for name, tensor in sorted(self.tensors().items()):
            total.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
            total.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return total.hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write safetensors, JSON and, last, a manifest of their SHA-256 sums."""
        record = {
            "posterior": {"name": self.posterior.name, "options": self.posterior.options()},
            "task": {"name": self.task.name, "options": self.task.options},
            "network": getattr(self.network, "recipe", None),
            "history": self.history,
            "temperature": self.temperature,
            "classes": list(self.classes),
            "item_shape": list(self.item_shape),
            "preparation": dict(self.preparation),
            "quality": dict(self.quality),
        }
        write_model(Path(folder), record, self.tensors())


def as_network(network: object) -> nn.Module:
    """The network; a single layer becomes a network of one, and what is no network is refused."""
    if isinstance(network, type) and issubclass(network, nn.Module):
        raise InputError(
            f"network is the class {network.__name__}; pass an instance: {network.__name__}(...)"
        )
    if not isinstance(network, nn.Module):
        raise InputError(f"network must be a torch module (nn.Module), not {type(network).__name__}")
    lazy = [name for name, p in network.named_parameters() if isinstance(p, nn.UninitializedParameter)]
    if lazy:
        raise InputError(
            f"{lazy[0]} of the network has no shape yet; run it once on an item before you pass it"
        )
    return nn.Sequential(network) if isinstance(network, KINDS) else network


def as_fitted(model: object) -> "Fitted":
    """The model; a plain network has learned nothing yet and is refused."""
    if isinstance(model, Fitted):
        return model
    found = "a plain network" if isinstance(model, nn.Module) else f"a {type(model).__name__}"
    raise InputError(f"a fitted model is wanted, not {found}; make one with aw.fit(network, data)")


def load(folder: str | Path, *, network: nn.Module | None = None) -> Fitted:
    """The model saved in a folder; `network` is needed where it is not one of `aw.nets`.

    Every file is checked against the manifest before a byte of it is used.

    >>> fitted.save("model")
    >>> aw.load("model").digest() == fitted.digest()
    True
    """
    home = Path(folder)
    record, tensors = read_model(home)
    own = {k.removeprefix("network."): t for k, t in tensors.items() if k.startswith("network.")}
    state = {k.removeprefix("posterior."): t for k, t in tensors.items() if k.startswith("posterior.")}
    with of_a_model(home):
        return Fitted(
            filled(record["network"], None if network is None else as_network(network), own, home),
            as_posterior({"name": record["posterior"]["name"], **record["posterior"]["options"]}),
            TASKS[choose("task", record["task"]["name"], TASKS)](**record["task"]["options"]),
            state,
            tuple(record["history"]),
            record["temperature"],
            classes=tuple(record["classes"]),
            item_shape=tuple(record["item_shape"]),
            preparation=record["preparation"],
            quality=record.get("quality", {}),
        )
