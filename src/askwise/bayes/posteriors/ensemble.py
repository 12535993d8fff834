"""Several networks, trained one by one from their own seeds (Lakshminarayanan et al. 2017)."""

import copy
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import zip_longest
from typing import ClassVar

import torch
from torch import Tensor, nn

from askwise.bayes.learning import Learned, State, TrainingJob
from askwise.bayes.place import called_layers
from askwise.bayes.posteriors import point
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program.trace import DropoutCall, tensors_of
from askwise.bayes.reset import reset
from askwise.errors import positive
from askwise.seeding import derive
from askwise.train import History
from askwise.types import Draws


@dataclass(frozen=True, repr=False)
class Config(Posterior):
    """How many members; draw number t is member t modulo `members`.

    Predictions take at most `members` draws: more would only repeat them. Member 0 learns as `point`
    does, and stays in the network itself. The others learn in another order of the items, and from
    other weights: all drawn anew with start="scratch"; only the last layer with start="given".

    >>> aw.fit(network, (x, y), posterior=aw.ensemble(3), training=short).posterior.members
    3
    """

    members: int = 5
    _: KW_ONLY
    name: ClassVar[str] = "ensemble"
    dropout: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive("members", self.members)

    def distinct(self, draws: int) -> int:
        """At most as many draws as there are members."""
        return min(draws, self.members)

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Every learned tensor of every member, [members, ...]; the history is their mean."""
        start = copy.deepcopy(network)
        histories, found = [], []
        for number in range(self.members):
            member = network if number == 0 else copy.deepcopy(start)
            seed = job.seed if number == 0 else derive(job.seed, "member", number)
            _begin(member, number, job, seed)
            histories.append(point.Config().fit(member, replace(job, seed=seed, start={})).history)
            found.append({name: tensor.clone() for name, tensor in tensors_of(member).items()})
        learned = [n for n, t in found[0].items() if t.is_floating_point() and _learned(n, network, found)]
        state = {name: torch.stack([tensors[name].contiguous() for tensors in found]) for name in learned}
        return Learned(state, _mean(histories))

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Weights and statistics of whole members; the seed does not matter."""
        members = torch.tensor([number % self.members for number in numbers])
        return {name: stack[members.to(stack.device)] for name, stack in state.items()}


def _begin(member: nn.Module, number: int, job: TrainingJob, seed: int) -> None:
    """The weights from which a member learns, put into it."""
    if job.start:
        own = tensors_of(member)
        for name, stack in job.start.items():
            own[name].copy_(stack[number % len(stack)])
    elif number and job.scratch:
        reset(member, seed)
    elif number:
        layers = list(called_layers(member, job.example).values())
        for layer in layers[-1:]:
            reset(layer, seed)


def _learned(name: str, network: nn.Module, found: Sequence[dict[str, Tensor]]) -> bool:
    """Whether a tensor is not the same in every member: what is frozen need not be drawn."""
    parameter = dict(network.named_parameters()).get(name)
    if parameter is not None and parameter.requires_grad:
        return True
    return any(not torch.equal(found[0][name], other[name]) for other in found[1:])


def _mean(histories: Sequence[History]) -> History:
    """The mean of every term in every epoch over the members that learned in it."""
    together = [[epoch for epoch in epochs if epoch] for epochs in zip_longest(*histories)]
    return tuple(
        {term: sum(epoch[term] for epoch in epochs) / len(epochs) for term in epochs[0]}
        for epochs in together
    )
