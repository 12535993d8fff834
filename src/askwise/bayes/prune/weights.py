"""Weights that carry little, set to zero: by size (Shridhar et al. 2019) or by signal to noise.

A posterior with a state of its own takes part if it is `WeightByWeight`.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from askwise.bayes.fitted import Fitted
from askwise.bayes.learning import State
from askwise.bayes.place import KINDS
from askwise.bayes.posteriors import POSTERIORS, WeightByWeight
from askwise.bayes.program.trace import tensors_of
from askwise.errors import InputError, at_least_zero, choose

CRITERIA = ("snr", "l1")
_AMOUNT = 0.9


@dataclass(frozen=True)
class Sparsity:
    """The fraction of weights that are zero in every draw: of each layer, and of all together."""

    layers: dict[str, float]
    total: float


def prune(
    fitted: Fitted,
    *,
    by: str = "snr",
    amount: float | None = None,
    threshold: float | None = None,
    layers: Sequence[str] | None = None,
) -> Fitted:
    """A copy in which the lowest weights of the chosen layers are exactly zero in every draw.

    Lowest by |mean| / std ("snr") or by |mean| ("l1"), over all chosen layers together: the fraction
    `amount` of them (0.9 unless said), or all below `threshold`. Biases stay. By default every
    layer is chosen that the criterion can judge: "snr" needs Gaussian weights.

    >>> pruned = aw.prune(fitted, amount=0.5)
    >>> pruned.digest() == fitted.digest()
    False
    """
    if amount is not None and threshold is not None:
        raise InputError("prune takes amount or threshold, not both")
    scores = weight_scores(fitted, by=by, layers=layers)
    if threshold is not None:
        at_least_zero("threshold", threshold)
        low = {name: score < threshold for name, score in scores.items()}
    else:
        low = _lowest(scores, fraction("amount", _AMOUNT if amount is None else amount))
    return zeroed(fitted, low)


def sparsity(fitted: Fitted) -> Sparsity:
    """How many weights of each Linear and Conv layer are zero in every draw.

    >>> aw.sparsity(fitted).total, aw.sparsity(aw.prune(fitted, amount=0.5)).total > 0
    (0.0, True)
    """
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(2), seed=0, dropouts=())
    zeros = {}
    for layer, name in weights_of(fitted.network).items():
        zero = fitted.network.get_parameter(name).detach() == 0
        zeros[layer] = zero & (draws[name] == 0).all(dim=0) if name in draws else zero
    count = sum(zero.numel() for zero in zeros.values())
    total = sum(int(zero.sum()) for zero in zeros.values()) / max(1, count)
    return Sparsity({layer: zero.double().mean().item() for layer, zero in zeros.items()}, total)


def weight_scores(fitted: Fitted, *, by: str, layers: Sequence[str] | None = None) -> dict[str, Tensor]:
    """What every weight of the chosen layers counts, by the name of the tensor; the lowest go first."""
    choose("criterion", by, CRITERIA)
    known = weights_of(fitted.network)
    means = tensors_of(fitted.network)
    stds = _stds(fitted, means) if by == "snr" else {}
    chosen = known if layers is None else {name: known[choose("layer", name, known)] for name in layers}
    if by == "snr":
        bare = [layer for layer, name in chosen.items() if name not in stds]
        if layers is not None and bare:
            raise InputError(f"layer {bare[0]!r} has no Gaussian weights; prune it with by='l1'")
        chosen = {layer: name for layer, name in chosen.items() if name in stds}
    if not chosen:
        raise InputError("there is no Linear or Conv layer to prune; name some with layers=[...]")
    return {n: _signal(means[n], stds[n]) if by == "snr" else means[n].abs() for n in chosen.values()}


def weights_of(network: nn.Module) -> dict[str, str]:
    """The name of the weight tensor of every Linear and Conv layer, by the name of the layer."""
    names = {parameter: name for name, parameter in network.named_parameters()}
    return {
        layer: names[module._parameters["weight"]]  # type: ignore[index]
        for layer, module in network.named_modules()
        if isinstance(module, KINDS) and module._parameters.get("weight") is not None
    }


def zeroed(fitted: Fitted, where: Mapping[str, Tensor]) -> Fitted:
    """A copy in which the named tensors are zero in every draw where their masks say so."""
    network = copy.deepcopy(fitted.network)
    with torch.no_grad():
        for name, mask in where.items():
            network.get_parameter(name).masked_fill_(mask, 0.0)
    state = changed_state(fitted, lambda posterior, state: posterior.without_noise(state, where))
    return replace(fitted, network=network, state=state, programs={})


def changed_state(fitted: Fitted, change: Callable[[WeightByWeight, State], State]) -> State:
    """The posterior's state after a change that pruning needs; an empty one stays empty."""
    if not fitted.state:
        return {}
    if not isinstance(fitted.posterior, WeightByWeight):
        raise InputError(
            f"networks of {fitted.posterior.name} cannot be pruned; "
            f"those of {', '.join(_able())}, point and mc_dropout can"
        )
    return change(fitted.posterior, fitted.state)


def _able() -> list[str]:
    return [name for name, kind in POSTERIORS.items() if isinstance(kind(), WeightByWeight)]


def fraction(name: str, value: float) -> float:
    """`value`, if it is a fraction below one."""
    if at_least_zero(name, value) >= 1:
        raise InputError(f"{name} is a fraction from 0 up to below 1, not {value!r}")
    return value


def _stds(fitted: Fitted, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
    if isinstance(fitted.posterior, WeightByWeight):
        return fitted.posterior.stds(means, fitted.state)
    raise InputError(
        f"{fitted.posterior.name} has no standard deviation for each weight, as by='snr' needs: "
        f"{', '.join(_able())} have"
    )


def _signal(mean: Tensor, std: Tensor) -> Tensor:
    """|mean| / std; what is zero for certain counts nothing, what is certain otherwise counts most."""
    return torch.where(mean == 0, 0.0, mean.abs() / std)


def _lowest(scores: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Masks of the lowest scores of all tensors together; of equal ones the first."""
    flat = torch.cat([score.flatten() for score in scores.values()])
    low = torch.zeros(len(flat), dtype=torch.bool, device=flat.device)
    low[flat.argsort(stable=True)[: math.floor(share * len(flat) + 0.5)]] = True
    parts = torch.split(low, [score.numel() for score in scores.values()])
    return {name: part.view(score.shape) for (name, score), part in zip(scores.items(), parts, strict=True)}
