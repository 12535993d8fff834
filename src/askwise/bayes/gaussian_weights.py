"""Gaussian weights that an optimizer learned: which they are, what is kept of them, how they are drawn.

The state holds a standard deviation for every Gaussian tensor (`std.<name>`) and all that the
optimizer needs to go on: `optimizer.<name>.<average>` for every parameter, `step` and `rng`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from askwise.bayes import dropout
from askwise.bayes.learning import Job, State
from askwise.bayes.place import placement
from askwise.bayes.sites import Site
from askwise.errors import InputError
from askwise.optim import IVON, VOGN
from askwise.optim.averaged import AveragedAdam
from askwise.optim.layers import gaussian_layers
from askwise.optim.squares import Layer
from askwise.seeding import generator
from askwise.types import Draws

_STD, _AVERAGE = "std.", "optimizer."
BETAS = (0.9, 0.99)
"""The first is the momentum's; the second stands back where the curvature is taken in."""


def check_placement(config: Any) -> None:
    """Every called layer is chosen if nothing is said; two placements are an error."""
    given = [n for n in ("last", "first", "layers") if getattr(config, n) is not None] + ["all"] * config.all
    if len(given) > 1:
        raise InputError(f"{config.name} takes one placement, not {' and '.join(given)}")
    if not given:
        object.__setattr__(config, "all", True)
    if config.layers is not None:
        object.__setattr__(config, "layers", tuple(config.layers))


def chosen_layers(network: nn.Module, config: Any, job: Job) -> dict[str, Layer]:
    """The layers whose weights become Gaussian, by name: of all layers, those that learn."""
    names = placement(network, job.example, last=config.last, first=config.first, layers=config.layers)
    learning = [n for n in names if any(p.requires_grad for p in network.get_submodule(n).parameters())]
    for name in learning:
        strange = [
            k for k, _ in network.get_submodule(name).named_parameters() if k not in ("weight", "bias")
        ]
        if strange:
            raise InputError(f"layer {name!r} is parametrised ({strange[0]}) and cannot be made Bayesian")
    if len(learning) < len(names) and not config.all:
        frozen = next(name for name in names if name not in learning)
        raise InputError(f"layer {frozen!r} is frozen and cannot be made Bayesian")
    return gaussian_layers(network, learning)


def take_in(job: Job) -> int:
    """In how many steps the curvature is taken in: a tenth of the training, and at least two."""
    return max(2, job.course.steps // 10)


def anneal(gaussian: IVON | VOGN, job: Job) -> None:
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


def draw(network: nn.Module, state: State, *, numbers: range, seed: int, sites: Sequence[Site]) -> Draws:
    """Whole weight tensors, named as the network names them; and masks, where dropout is left on."""
    draws = dropout.draw(sites, numbers=numbers, seed=seed)
    for name, deviation in stds(state).items():
        mean = network.get_parameter(name).detach()
        stack = torch.empty(len(numbers), *mean.shape)
        for value, number in zip(stack, numbers, strict=True):
            value.normal_(generator=generator(seed, "draw", number, name))
        draws[name] = stack.to(mean).mul_(deviation.to(mean)).add_(mean)
    return draws


def stds(state: State) -> dict[str, Tensor]:
    """Standard deviation of every Gaussian weight, by name."""
    return {name.removeprefix(_STD): value for name, value in state.items() if name.startswith(_STD)}


def without_noise(state: State, where: Mapping[str, Tensor]) -> State:
    """The state under which weights are their means in every draw, where the masks say so."""
    masked = {
        _STD + name: state[_STD + name].masked_fill(mask, 0.0)
        for name, mask in where.items()
        if _STD + name in state
    }
    return {**state, **masked}


def part(state: State, take: Callable[[str, Tensor], Tensor]) -> State:
    """The state of a network with fewer channels; `take` is what it keeps of tensors like a named weight."""

    def kept_of(key: str, value: Tensor) -> Tensor:
        if key.startswith(_STD):
            return take(key.removeprefix(_STD), value)
        if key.startswith(_AVERAGE) and value.ndim:
            return take(key.removeprefix(_AVERAGE).rpartition(".")[0], value)
        return value

    return {key: kept_of(key, value) for key, value in state.items()}
