"""A network with what was learned about its weights, kept on disk without pickle."""

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from askwise import nets
from askwise.bayes.learning import State
from askwise.bayes.place import KINDS
from askwise.bayes.posteriors import Posterior, as_posterior, learned_by
from askwise.bayes.program.build import Program
from askwise.errors import AskwiseError, CorruptError, InputError, above_zero, choose
from askwise.files import json_object, write_whole
from askwise.markup import card
from askwise.tasks import TASKS, Task, named
from askwise.train import History

_FORMAT = 2
_WEIGHTS, _RECORD, _MANIFEST = "weights.safetensors", "model.json", "manifest.json"


@dataclass(frozen=True)
class Fitted:
    """A trained network, its posterior and task; it does not change when it predicts.

    >>> fitted.posterior.name, fitted.task.name
    ('bbb', 'classification')
    """

    network: nn.Module
    posterior: Posterior
    task: Task
    state: State
    history: History = field(repr=False)
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
    programs: dict[Any, Program] = field(default_factory=dict, repr=False, compare=False)
    """How to predict on items of each shape: a cache, made when first needed."""

    def __post_init__(self) -> None:
        if above_zero("temperature", self.temperature) != 1 and self.task.supplies != "log_probs":
            raise InputError(f"the task {self.task.name!r} has no classes, so it takes no temperature")

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
        home = Path(folder)
        if home.exists() and (not home.is_dir() or (any(home.iterdir()) and not (home / _MANIFEST).exists())):
            raise InputError(f"{home} exists and is not a saved model; choose another folder")
        home.mkdir(parents=True, exist_ok=True)
        (home / _MANIFEST).unlink(missing_ok=True)  # half a model must not look like a whole one
        record = {
            "format": _FORMAT,
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
        # A copy each: tied tensors share memory, which safetensors refuses.
        tensors = {name: t.detach().cpu().contiguous().clone() for name, t in self.tensors().items()}
        files = {
            _WEIGHTS: safetensors.torch.save(tensors),
            _RECORD: json.dumps(record, indent=1).encode(),
        }
        for name, content in files.items():
            write_whole(home / name, content)
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        write_whole(home / _MANIFEST, json.dumps(sums, indent=1).encode())


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
    files = _verified(home)
    try:
        record = json.loads(files[_RECORD])
        if record["format"] != _FORMAT:
            raise InputError(f"{home} has format {record['format']}; this askwise reads format {_FORMAT}")
        tensors = safetensors.torch.load(files[_WEIGHTS])
        own = {k.removeprefix("network."): t for k, t in tensors.items() if k.startswith("network.")}
        state = {k.removeprefix("posterior."): t for k, t in tensors.items() if k.startswith("posterior.")}
        return Fitted(
            _filled(_network(record["network"], network, own, home), own, home),
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
    except AskwiseError:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptError(f"{home / _RECORD} is not a record of a model: {error!r}") from error


def recorded_shape(folder: str | Path) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The shape of one item and the names of the classes of a saved model, without loading its weights."""
    record = json_object(Path(folder) / _RECORD)
    if "item_shape" not in record or "classes" not in record:
        raise CorruptError(f"{folder} holds no model; restore it from a copy")
    return tuple(record["item_shape"]), tuple(record["classes"])


def _network(recipe: Any, given: nn.Module | None, tensors: Mapping[str, Tensor], home: Path) -> nn.Module:
    """The network as given, or built by its recipe, which may not ask for more than the weights hold."""
    if given is not None:
        return as_network(given)
    if recipe is None:
        raise InputError(f"{home} holds a network of your own; pass it: aw.load({str(home)!r}, network=...)")
    with torch.device("meta"):  # shapes without memory: a forged recipe may ask for any size
        shapes = nets.build(recipe["name"], **recipe["options"])
    _refuse_other(shapes, tensors, home)
    return nets.build(recipe["name"], **recipe["options"])


def _verified(home: Path) -> dict[str, bytes]:
    """The files of a saved model, if they are the ones that were written."""
    if not (home / _MANIFEST).is_file():
        raise InputError(f"{home} is not a saved model: it has no {_MANIFEST}")
    try:
        sums: dict[str, str] = json.loads((home / _MANIFEST).read_bytes())
        wanted = {name: sums[name] for name in (_WEIGHTS, _RECORD)}
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptError(f"{home / _MANIFEST} is damaged; restore the model from a copy") from error
    files = {}
    for name, expected in wanted.items():
        if (home / name).exists() and not (home / name).is_file():
            raise CorruptError(f"{home / name} is not a file; restore the model from a copy")
        try:
            files[name] = (home / name).read_bytes()
        except FileNotFoundError as error:
            raise CorruptError(f"{home / name} is missing; restore the model from a copy") from error
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise CorruptError(
                f"{home / name} is not the file that was saved (its SHA-256 differs); restore it from a copy"
            )
    return files


def _filled(network: nn.Module, tensors: dict[str, Tensor], home: Path) -> nn.Module:
    """A copy of the network with the stored tensors, if it is the one they were saved from."""
    _refuse_other(network, tensors, home)
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise InputError(f"{home} holds weights that are not finite: {name}")
    own = copy.deepcopy(network)
    own.load_state_dict(tensors)
    return own.eval()


def _refuse_other(network: nn.Module, tensors: Mapping[str, Tensor], home: Path) -> None:
    """An error if the stored tensors are not those of this network."""
    found = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    for name in sorted(found.keys() | tensors.keys()):
        saved = list(tensors[name].shape) if name in tensors else None
        if saved != found.get(name):
            raise InputError(
                f"{home} was saved from another network: {name} is {saved or 'absent'} there "
                f"and {found.get(name) or 'absent'} here"
            )
