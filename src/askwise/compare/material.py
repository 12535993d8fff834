"""The images of a protocol and a network of their size."""

from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Float, Int64
from torch import Tensor, nn

from askwise import nets
from askwise.compare.ood import ood_items
from askwise.compare.protocol import Protocol
from askwise.data import load
from askwise.errors import InputError
from askwise.loop.plan import make
from askwise.runs.build import network as sized_network


@dataclass(frozen=True)
class Material:
    """Images to learn from, to test on, and those of other data."""

    train: tuple[Float[Tensor, "N C H W"], Int64[Tensor, " N"]]
    test: tuple[Float[Tensor, "M C H W"], Int64[Tensor, " M"]]
    ood: Float[Tensor, "O C H W"]
    classes: tuple[str, ...]


def material(protocol: Protocol, *, data_dir: str | Path | None = None) -> Material:
    """The images of a protocol."""
    data = load(protocol.data, data_dir=data_dir)
    train_x, test_x = data.train_x, data.test_x
    if not isinstance(train_x, Tensor) or not isinstance(test_x, Tensor):
        raise InputError(f"{protocol.data} holds no images to compare on")
    if protocol.labels > len(train_x):
        raise InputError(
            f"{protocol.data} has {len(train_x):,} labels to learn from, not {protocol.labels:,}; "
            f"ask for at most so many"
        )
    ood = ood_items(protocol.ood, test_x, data_dir=data_dir)
    return Material((train_x, data.train_y), (test_x, data.test_y), ood, data.classes)


def network(protocol: Protocol, items: Material) -> nn.Module:
    """The protocol's network, as large as the images and classes need it."""
    plan = make({"classes": items.classes, "network": protocol.network})
    sized = sized_network(plan, items.train[0][0])
    if not protocol.network_options:
        return sized
    recipe: nets.Recipe = vars(sized)["recipe"]
    return nets.build(recipe["name"], **{**recipe["options"], **protocol.network_options})
