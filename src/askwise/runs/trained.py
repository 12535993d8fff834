"""The last model of a run, from its store alone: nobody who trains is disturbed, and no pool is read."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from askwise import encoders
from askwise.bayes.fitted import Fitted, load
from askwise.bayes.saved import recorded_encoder, recorded_shape
from askwise.errors import InputError, command
from askwise.loop.calibration import noted, with_temperature
from askwise.loop.opening import stored_classes
from askwise.loop.plan import Plan
from askwise.nets.encoded import Encoded, encoded, head_alone
from askwise.pool.encoding import feature_width
from askwise.runs.build import network
from askwise.store.contract import Store
from askwise.store.facts import Round
from askwise.store.kept import as_kept


@dataclass(frozen=True)
class Trained:
    """The model of a round: of one with a frozen encoder the head alone, which takes features."""

    fitted: Fitted
    round: Round
    draws: int
    seed: int
    """Of the draws that the run itself predicts with."""


def last_model(plan: Plan, store: Store, *, folder: Path | None = None) -> Trained:
    """The last model on the disk as it is handed over, with the names that its classes have by now.

    It comes with the encoder that it learned with, which may be another than the plan names by now.
    """
    rounds = [one for one in as_kept(store, store.facts(Round)) if one.checkpoint]
    if not rounds or store.folder is None:
        raise InputError(
            f"{store.name} has no model yet; answer its first questions: "
            f"{command('run', folder or 'NAME', '--oracle', 'labels.csv')}"
        )
    last = rounds[-1]
    place = store.folder / last.checkpoint
    shape, classes = recorded_shape(place)
    if plan.encoder is not None and (own := recorded_encoder(place)) is not None:
        plan = plan.model_copy(update={"encoder": own})
    then = plan if plan.kind != "classification" else plan.model_copy(update={"classes": classes})
    fitted = load(place, network=None if _rebuilt(plan) else _network(then, shape, folder))
    if isinstance(fitted.network, Encoded) and not plan.thaw:  # an encoder that learned is this round's own
        fitted = replace(fitted, network=head_alone(fitted.network))
    now = stored_classes(store)[: len(classes)] if plan.kind == "classification" else classes
    fitted = with_temperature(replace(fitted, classes=now), noted(last))
    return Trained(fitted, last, plan.draws, plan.draw_seed(last.number))


def _rebuilt(plan: Plan) -> bool:
    """Whether a saved model of this plan needs no network to be loaded into."""
    return plan.encoder is None and plan.network is not None and ":" not in plan.network


def _network(plan: Plan, shape: tuple[int, ...], folder: Path | None) -> torch.nn.Module:
    """The network of the plan for items, or features, of a shape."""
    head = plan if plan.network is not None else plan.model_copy(update={"network": "linear"})
    encoder = None if plan.encoder is None else encoders.load(plan.encoder, folder=folder)
    takes = torch.zeros(shape)
    if encoder is not None and plan.thaw:
        takes = torch.zeros(feature_width(encoder.module, takes))
    own = network(head, takes, folder=folder)
    return own if encoder is None else encoded(encoder.module, own, thaw=plan.thaw)
