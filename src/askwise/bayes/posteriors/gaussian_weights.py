"""Gaussian weights that an optimizer learned: which they are, what is kept of them, how they are drawn.

The state holds a standard deviation for every Gaussian tensor (`std.<name>`) and all that the
optimizer needs to go on: `optimizer.<name>.<average>` for every parameter, `step` and `rng`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from askwise.bayes.learning import State, TrainingJob, learnable
from askwise.bayes.place import placement, settle_placement
from askwise.bayes.posteriors.bayes_layer import gaussian_draws
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program import dropout
from askwise.bayes.program.trace import DropoutCall
from askwise.errors import InputError, above_zero, choose, positive
from askwise.optim import IVON, VOGN
from askwise.optim.beside import AveragedAdam
from askwise.optim.layers import gaussian_layers
from askwise.optim.sampling import NOISES, check_betas
from askwise.optim.squares import Layer
from askwise.types import Draws

_STD, _AVERAGE = "std.", "optimizer."
BETAS = (0.9, 0.99)
"""The first is the momentum's; the second is not used where the curvature is taken in."""


def take_in(job: TrainingJob) -> int:
    """In how many steps the curvature is taken in: a tenth of the training, and at least two."""
    return max(2, job.course.steps // 10)


def rest_decays(network: nn.Module, job: TrainingJob) -> dict[str, float]:
    """The weight decays of what is not Gaussian, by name; it learns by Adam alone."""
    if job.training.optimizer != "adam":
        raise InputError(
            "vogn and ivon are optimizers, and what is not Gaussian learns by adam beside them; "
            f"leave optimizer={job.training.optimizer!r} out"
        )
    return job.training.decays(learnable(network), len(job.data))


def anneal(gaussian: IVON | VOGN, job: TrainingJob) -> None:
    """Let the learning rate fall along a cosine, unless the training says how it goes.

    At a constant rate the means wander about their optimum as far as a posterior's deviation or more.
    """
    if job.training.schedule == "constant":
        gaussian.param_groups[0]["schedule"] = "cosine"


def kept(network: nn.Module, gaussian: IVON | VOGN, rest: AveragedAdam) -> State:
    """The state after learning."""
    state: State = {"step": torch.tensor(gaussian.param_groups[0]["step"]), "rng": gaussian.rng.get_state()}
    for name, parameter in network.named_parameters():
        if parameter in gaussian.state:
            state[_STD + name] = gaussian.std(parameter).contiguous()
        averages = {**gaussian.state.get(parameter, {}), **rest.state.get(parameter, {})}
        for key, value in averages.items():
            state[f"{_AVERAGE}{name}.{key}"] = value.detach().contiguous().clone()
    return state


def resume(network: nn.Module, gaussian: IVON | VOGN, rest: AveragedAdam, state: State) -> None:
    """Let the optimizers go on from an earlier state, where it has the same Gaussian tensors."""
    if not state:
        return
    names: dict[Tensor, str] = {parameter: name for name, parameter in network.named_parameters()}
    mine = {names[p] for p in gaussian.state}
    theirs = {name.removeprefix(_STD) for name in state if name.startswith(_STD)}
    if mine != theirs:
        odd = sorted(mine ^ theirs)[0]
        raise InputError(f"cannot go on with other Gaussian weights ({odd}); keep the placement")
    if any(not (state[_STD + name] > 0).all() for name in theirs):
        raise InputError("a pruned network cannot learn on; fit first, then prune")
    for optimizer in (gaussian, rest):
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            prefix = f"{_AVERAGE}{names[parameter]}."
            own = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            if own:
                optimizer.state[parameter] = {
                    k: v.clone().to(parameter.device) if v.ndim else v.clone() for k, v in own.items()
                }
    gaussian.param_groups[0]["step"] = int(state["step"])
    gaussian.rng.set_state(state["rng"])


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianWeights(Posterior):
    """What vogn and ivon share: the placement, the pace, and Gaussians whose deviations are in the state."""

    last: int | None = None
    first: int | None = None
    layers: Sequence[str] | None = None
    all: bool = False
    prior_std: float
    kl_weight: float
    lr: float = 0.2
    reach: float = 3.0
    betas: Sequence[float] | None = None
    noise: str = "flipout"
    samples: int = 1
    dropout: bool = False

    def __post_init__(self) -> None:
        settle_placement(self, all=True)
        for name in ("prior_std", "kl_weight", "lr", "reach"):
            above_zero(name, getattr(self, name))
        choose("noise", self.noise, NOISES)
        if self.betas is not None:
            object.__setattr__(self, "betas", check_betas(self.betas))
        positive("samples", self.samples)

    def placed(self, network: nn.Module, item: Tensor) -> list[str]:
        """Names of the Gaussian layers: of those chosen, the ones that learn."""
        names = placement(network, item, last=self.last, first=self.first, layers=self.layers)
        return [n for n in names if any(p.requires_grad for p in network.get_submodule(n).parameters())]

    def chosen_layers(self, network: nn.Module, job: TrainingJob) -> dict[str, Layer]:
        """The layers whose weights become Gaussian, by name; what cannot be is refused."""
        names = placement(network, job.example, last=self.last, first=self.first, layers=self.layers)
        learning = self.placed(network, job.example)
        for name in learning:
            own = [key for key, _ in network.get_submodule(name).named_parameters()]
            odd = [key for key in own if key not in ("weight", "bias")]
            if odd:
                raise InputError(f"layer {name!r} is parametrised ({odd[0]}) and cannot be made Bayesian")
        if len(learning) < len(names) and not self.all:
            frozen = next(name for name in names if name not in learning)
            raise InputError(f"layer {frozen!r} is frozen and cannot be made Bayesian")
        return gaussian_layers(network, learning)

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Whole weight tensors, named as the network names them; and masks, where dropout is left on."""
        draws = dropout.draw(dropouts, numbers=numbers, seed=seed)
        return draws | gaussian_draws(network, self.stds({}, state), numbers=numbers, seed=seed)

    def stds(self, means: Mapping[str, Tensor], state: State) -> dict[str, Tensor]:
        """Standard deviation of every Gaussian weight, by name."""
        del means
        return {name.removeprefix(_STD): value for name, value in state.items() if name.startswith(_STD)}

    def prior_of(self, weight: Tensor) -> float:
        """Standard deviation of the prior, the same for every layer."""
        del weight
        return self.prior_std

    def without_noise(self, state: State, where: Mapping[str, Tensor]) -> State:
        """The state in which the masked weights are their means in every draw."""
        masked = {
            _STD + name: state[_STD + name].masked_fill(mask, 0.0)
            for name, mask in where.items()
            if _STD + name in state
        }
        return {**state, **masked}

    def narrowed(self, state: State, take: Callable[[str, Tensor], Tensor]) -> State:
        """The state of a network with fewer channels; `take` keeps the right part of a named tensor."""

        def kept_of(key: str, value: Tensor) -> Tensor:
            if key.startswith(_STD):
                return take(key.removeprefix(_STD), value)
            if key.startswith(_AVERAGE) and value.ndim:
                return take(key.removeprefix(_AVERAGE).rpartition(".")[0], value)
            return value

        return {key: kept_of(key, value) for key, value in state.items()}
