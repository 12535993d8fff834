"""What the epoch loop asks of an optimizer, and torch's own ones by name."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, runtime_checkable

import torch
from torch.nn import Parameter

from askwise.train.training import SCHEDULES

_FIRST, _SCHEDULE = "initial_lr", "schedule"  # keys of a parameter group, the first as torch names it
_MOMENTUM = 0.9


@runtime_checkable
class Optimizer(Protocol):
    """Learns from `samples` gradients a step, each computed inside `sampling()`.

    On entry gradients are cleared and the weights may be perturbed; on exit, also by an exception,
    the weights are what they were.
    """

    samples: int

    @property
    def parts(self) -> Sequence[torch.optim.Optimizer]:
        """The torch optimizers it is made of, whose learning rates a schedule changes."""
        ...

    def sampling(self) -> AbstractContextManager[None]:
        """A block in which one loss is computed and differentiated."""
        ...

    def step(self) -> Any:
        """Move the weights."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        ...


class Plain:
    """One of torch's optimizers, fused: one gradient a step, at the weights themselves."""

    samples = 1

    def __init__(self, groups: Sequence[dict[str, Any]], *, name: str, lr: float) -> None:
        kinds: Mapping[str, Any] = {
            "adam": torch.optim.Adam,
            "adamw": torch.optim.AdamW,
            "sgd": torch.optim.SGD,
        }
        more = {"momentum": _MOMENTUM} if name == "sgd" else {}
        groups = [{"weight_decay": 0.0, **group} for group in groups]  # torch's AdamW has another default
        self._torch: torch.optim.Optimizer = kinds[name](groups, lr=lr, fused=True, **more)
        self.parts = (self._torch,)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Clears the gradients."""
        self._torch.zero_grad(set_to_none=True)
        yield

    def step(self) -> None:
        """Move the weights."""
        self._torch.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on."""
        return self._torch.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
        self._torch.load_state_dict(state_dict)


def grouped(
    parameters: Mapping[str, Parameter], *, decays: Mapping[str, float], rates: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Parameter groups for torch: those with the same decay and the same learning rate together.

    `rates` names the parameters that do not have the common learning rate; theirs falls along a cosine.
    """
    groups: dict[tuple[float, float | None], list[Parameter]] = {}
    for name, parameter in parameters.items():
        groups.setdefault((decays.get(name, 0.0), rates.get(name)), []).append(parameter)
    return [
        {
            "params": found,
            "weight_decay": decay,
            **({} if rate is None else {"lr": rate, _SCHEDULE: "cosine"}),
        }
        for (decay, rate), found in groups.items()
    ]


def set_pace(optimizer: Optimizer, schedule: str, done: float) -> None:
    """Set every learning rate by a schedule, or by its group's own, when `done` of the steps are made."""
    for group in (group for part in optimizer.parts for group in part.param_groups):
        own = group.get(_SCHEDULE, schedule)
        if own != "constant":
            group["lr"] = SCHEDULES[own](done) * group.setdefault(_FIRST, group["lr"])
