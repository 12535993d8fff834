"""An encoder that learns for a few epochs and is then frozen, before the posterior learns on its features."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import nn

from askwise.bayes.learning import TrainingJob, learn, learnable
from askwise.nets.encoded import Encoded
from askwise.train import Examples


@contextmanager
def thawed(network: nn.Module, job: TrainingJob, *, first: bool) -> Iterator[TrainingJob]:
    """The job on features, inside; the network takes items again afterwards.

    The encoder and the head learn together for the network's `thaw` epochs (Loustau 2023), the encoder at
    its own rate, falling along a cosine; then the encoder is frozen and every labelled item encoded once.
    A network without `thaw`, one that goes on from an earlier model, or one with augmented items, which
    have no features to keep, is left as it is but for the first step.
    """
    if not isinstance(network, Encoded) or not network.thaw or network.on_features:
        yield job
        return
    if first:
        _learn(network, job)
    if job.training.augment is not None:
        yield job
        return
    held = None if job.validation is None else _features(network, job.validation)
    network.on_features = True
    try:
        yield replace(job, data=_features(network, job.data), validation=held)
    finally:
        network.on_features = False


def _learn(network: Encoded, job: TrainingJob) -> None:
    """Encoder and head, in place, as one network without uncertainty."""
    how = replace(job.training, epochs=network.thaw, min_steps=None, patience=None, converged=None)
    plain = replace(job, training=how, start={}, validation=None)
    network.encoder.requires_grad_(True)
    network.frozen = False
    try:
        names = learnable(network)
        rates = {name: network.thaw_lr for name in names if name.startswith("encoder.")}
        learn(network, plain.optimizer(names, rates=rates), plain)
    finally:
        network.freeze()


def _features(network: Encoded, data: Examples) -> Examples:
    """The examples as the encoder sees them."""
    from askwise.pool.encoding import (
        encode,
    )  # pools read pictures and tables, which most trainings never load

    inputs = data.batch(torch.arange(len(data)))[0]
    device = next(network.encoder.parameters()).device
    found = encode(network.encoder, inputs.to(device)).to(inputs.device)
    return replace(data, source=(found, data.labels))
