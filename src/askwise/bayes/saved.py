"""A saved model as files: weights in safetensors, a record in JSON, a manifest of their SHA-256 sums."""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from askwise import nets
from askwise.errors import AskwiseError, CorruptError, InputError
from askwise.files import json_object, refusing, write_whole

_FORMAT = 2
_WEIGHTS, _RECORD, _MANIFEST = "weights.safetensors", "model.json", "manifest.json"


def write_model(home: Path, record: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a model into a folder, which must be empty or hold one already; the manifest comes last."""
    with refusing(home, "written"):
        if home.exists() and (not home.is_dir() or (any(home.iterdir()) and not (home / _MANIFEST).exists())):
            raise InputError(f"{home} exists and is not a saved model; choose another folder")
        home.mkdir(parents=True, exist_ok=True)
        (home / _MANIFEST).unlink(missing_ok=True)  # half a model must not look like a whole one
        # A copy each: tied tensors share memory, which safetensors refuses.
        own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
        files = {
            _WEIGHTS: safetensors.torch.save(own),
            _RECORD: json.dumps({"format": _FORMAT, **record}, indent=1).encode(),
        }
        for name, content in files.items():
            write_whole(home / name, content)
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        write_whole(home / _MANIFEST, json.dumps(sums, indent=1).encode())


def read_model(home: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The record and the tensors of a model, checked against the manifest before a byte is used."""
    files = _verified(home)
    with of_a_model(home):
        record: dict[str, Any] = json.loads(files[_RECORD])
        if record["format"] != _FORMAT:
            raise InputError(f"{home} has format {record['format']}; this askwise reads format {_FORMAT}")
        return record, safetensors.torch.load(files[_WEIGHTS])


@contextmanager
def of_a_model(home: Path) -> Iterator[None]:
    """Refuse, in one line, a record from which no model can be made."""
    try:
        yield
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


def recorded_encoder(folder: str | Path) -> str | None:
    """The name of the encoder that a saved model learned with; none where there is no name."""
    found: str | None = json_object(Path(folder) / _RECORD).get("preparation", {}).get("encoder")
    return found


def filled(recipe: Any, given: nn.Module | None, tensors: dict[str, Tensor], home: Path) -> nn.Module:
    """A copy of the network, given or built by its recipe, with the stored tensors."""
    network = _built(recipe, tensors, home) if given is None else given
    _refuse_other(network, tensors, home)
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise InputError(f"{home} holds weights that are not finite: {name}")
    own = copy.deepcopy(network)
    own.load_state_dict(tensors)
    return own.eval()


def _built(recipe: Any, tensors: Mapping[str, Tensor], home: Path) -> nn.Module:
    """The network of a recipe, which may not ask for more than the weights hold."""
    if recipe is None:
        raise InputError(f"{home} holds a network of your own; pass it: aw.load({str(home)!r}, network=...)")
    with torch.device("meta"):  # shapes without memory: a forged recipe may ask for any size
        shapes = nets.build(recipe["name"], **recipe["options"])
    _refuse_other(shapes, tensors, home)
    return nets.build(recipe["name"], **recipe["options"])


def _verified(home: Path) -> dict[str, bytes]:
    """The files of a saved model, if they are the ones that were written."""
    with refusing(home, "read"):
        if not (home / _MANIFEST).is_file():
            raise InputError(f"{home} is not a saved model: it has no {_MANIFEST}")
        manifest = (home / _MANIFEST).read_bytes()
    try:
        sums: dict[str, str] = json.loads(manifest)
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
