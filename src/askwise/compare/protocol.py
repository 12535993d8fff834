"""What is the same for every posterior: data, labels, network, training, draws, other data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askwise.bayes.posteriors import POSTERIORS, Posterior, as_posterior
from askwise.compare.ood import PHOTOS, ood_name
from askwise.data.catalogue import task_of
from askwise.data.uci_set import UCI
from askwise.errors import InputError, above_zero, choose, positive
from askwise.nets import NETWORKS
from askwise.runs.plan_file import override
from askwise.tasks import Task, named
from askwise.train import Training


@dataclass(frozen=True)
class Usual:
    """The usual labels, network and ood items of a data set."""

    network: str
    """With dropout, so that every posterior can use it; written as `make` takes it."""
    labels: int = 1000
    encoder: str | None = None
    """What turns texts into the features that are learned from."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the data set is read."""


_TEXTS = Usual("mlp,hidden=[128],dropout=0.1", encoder="minilm")
DATA: Mapping[str, Usual] = {
    "digits": Usual("digits_cnn"),
    "mnist": Usual("gal_cnn"),
    "fashion_mnist": Usual("gal_cnn"),
    "cifar10": Usual("gal_cnn"),
    "goemotions": _TEXTS,
    "xed": _TEXTS,
    **dict.fromkeys(UCI, Usual("mlp,hidden=[50],dropout=0.05", labels=200)),
    "camvid": Usual("segnet_basic,width=16", labels=120, options={"shrink": 4}),
}
"""The data sets that can be compared on: classes, tags, numbers, pixels."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Everything but the posterior, which has its own defaults but for kl_weight, and the seed."""

    data: str = "digits"
    labels: int = 1000
    network: str = "digits_cnn"
    network_options: Mapping[str, Any] = field(default_factory=dict)
    epochs: int = 50
    batch_size: int = 64
    lr: float = 3e-3
    draws: int = 100
    ood: str = PHOTOS
    kl_weight: float | None = None
    """For every posterior that has one; its own where this is None."""

    def __post_init__(self) -> None:
        choose("data set to compare on", self.data, DATA)
        choose("network", self.network, NETWORKS)
        positive("labels", self.labels)
        positive("draws", self.draws)
        if self.kl_weight is not None:
            above_zero("kl_weight", self.kl_weight)
        self.training()

    @property
    def task(self) -> Task:
        """What a label of the data is."""
        return named(task_of(self.data))

    def posterior(self, name: str) -> Posterior:
        """The posterior of that name with its defaults, and the protocol's kl_weight if it has one."""
        own = POSTERIORS[name]()
        if self.kl_weight is None or "kl_weight" not in own.options():
            return own
        return as_posterior({"name": name, **own.options(), "kl_weight": self.kl_weight})

    def training(self) -> Training:
        """How every posterior is trained."""
        return Training(epochs=self.epochs, batch_size=self.batch_size, lr=self.lr)


def make(
    data: str,
    *,
    labels: int | None = None,
    network: str | None = None,
    epochs: int = 50,
    draws: int = 100,
    ood: str | None = None,
    kl_weight: float | None = None,
    data_dir: str | Path | None = None,
) -> Protocol:
    """The protocol on a data set; labels, network and ood items are its usual ones unless named.

    A network is written NAME or with options, e.g. `lenet5,dropout=0.25`.
    """
    usual = DATA[choose("data set to compare on", data, DATA)]
    written = network or usual.network
    name, *settings = re.split(r",(?=\s*\w+\s*=)", written)  # a list among them has commas too
    if "," in name:
        raise InputError(f"options of a network are written NAME,option=value, not {network!r}")
    return Protocol(
        data=data,
        labels=usual.labels if labels is None else labels,
        network=name.strip(),
        network_options=override({}, settings),
        epochs=epochs,
        draws=draws,
        ood=ood_name(data, ood, data_dir=data_dir),
        kl_weight=kl_weight,
    )
