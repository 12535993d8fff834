"""The last layer of a network as a linear model of its own: features, weights, likelihood."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.bayes.learning import TrainingJob
from askwise.bayes.place import called_layers, refuse_shared
from askwise.bayes.program.trace import call, predicting, tensors_of
from askwise.errors import InputError
from askwise.tasks import Task
from askwise.train import Examples

_BATCH = 256  # items in one pass through the network
_BUDGET = 32 * 2**20  # bytes of outputs or features, in float64, at a time
_NOTHING = 1e-13  # of the largest second moment: no feature points this way


@dataclass(frozen=True)
class LastLayer:
    """What a trained network's last layer sees of the labelled items: N features of width D.

    Its weights are one matrix [C, D]: a bias is the weight of a last feature that is always 1.
    `rest` are outputs of the network that do not come from the layer, such as a log-variance that
    is the same for every item; they go behind the layer's own. `weights` of the classes and how
    often an item is drawn, 1 on average, are those of a balanced training.
    """

    task: Task
    features: Float[Tensor, "N D"]
    rest: Float[Tensor, "N R"]
    labels: Tensor
    weights: Tensor | None = None
    often: Float[Tensor, " N"] | None = None

    def chunks(self, outputs: int) -> Iterator[slice]:
        """Ranges of items that fit the memory together."""
        step = max(1, _BUDGET // (8 * (outputs + self.features.shape[1])))
        for start in range(0, len(self.features), step):
            yield slice(start, start + step)

    def part(self, items: Bool[Tensor, " N"] | Int64[Tensor, " K"]) -> "LastLayer":
        """What the layer sees of some of the items, chosen one by one or by their positions."""
        return replace(
            self,
            features=self.features[items],
            rest=self.rest[items],
            labels=self.labels[items],
            often=None if self.often is None else self.often[items],
        )

    def mean_squares(self) -> Float[Tensor, " D"]:
        """The mean over the items of every feature's square, in float64."""
        parts = (self.features[items].double().square().sum(dim=0) for items in self.chunks(1))
        total: Tensor = sum(parts, self.features.new_zeros(self.features.shape[1], dtype=torch.float64))
        return total / len(self.features)

    def second_moments(self) -> Float[Tensor, "D D"]:
        """The mean over the items of phi phi^T, in float64."""
        wide = self.features.shape[1]
        total = self.features.new_zeros(wide, wide, dtype=torch.float64)
        for items in self.chunks(wide):
            phi = self.features[items].double()
            total.addmm_(phi.T, phi)
        return total.div_(len(self.features))

    def outputs(self, features: Tensor, weights: Tensor, items: slice) -> Tensor:
        """The network's outputs for a range of items, in float64."""
        return torch.cat([features.double() @ weights.T, self.rest[items].double()], dim=1)

    def log_likelihood(self, outputs: Tensor, items: slice) -> Tensor:
        """Log-likelihood of the labels of some items, summed as they count; unknown ones count nothing."""
        if self.weights is None:
            return self.counted(self.task.predictive(outputs.unsqueeze(1)), items)
        labels = self.labels[items]
        return -self.task.nll(outputs, labels, self.weights) * self.task.known(labels).sum()

    def counted(self, predictive: Tensor, items: slice) -> Tensor:
        """The same under a predictive distribution, averaged over its draws."""
        each = self.task.log_likelihood(predictive, self.labels[items])
        if self.weights is not None:
            each = each * self.task.shares(self.labels[items], self.weights).to(each)
        return self._by_item(each, items).nansum()

    def fisher(self, outputs: Tensor, items: slice, wide: int) -> tuple[Tensor, Tensor]:
        """The parts d and u [n, C] of the Fisher information of the layer's own outputs, the first `wide`."""
        d, u = (part[:, :wide] for part in self.task.curvature(outputs, self.labels[items], self.weights))
        if self.often is None:
            return d, u
        return self._by_item(d, items), u * self.often[items, None].sqrt().to(u)

    def _by_item(self, values: Tensor, items: slice) -> Tensor:
        """Values [n, ...], each as often as its item is drawn."""
        if self.often is None:
            return values
        return values * self.often[items].to(values).view(-1, *[1] * (values.ndim - 1))


def last_linear(network: nn.Module, example: Tensor, *, who: str) -> str:
    """The name of the last layer called, if it is Linear and the network's outputs are its own."""
    called = called_layers(network, example)
    if not called:
        raise InputError(f"{who} needs a network that calls a Linear layer last, and this one calls none")
    name, layer = list(called.items())[-1]
    if not isinstance(layer, nn.Linear):
        kind = type(layer).__name__
        raise InputError(f"{who} needs a Linear last layer, and {name!r} is {kind}; use bbb(last=1) there")
    refuse_shared(network, name)
    if not all(p.requires_grad for p in layer.parameters()):
        raise InputError(f"{who} learns the last layer {name!r}, and it is frozen; unfreeze it")
    own = tensors_of(network)
    moved = {n: 0.5 * t + 1 if n in (f"{name}.weight", f"{name}.bias") else t for n, t in own.items()}
    seen, before = _pass(network, name, own, example, who=who)
    again, after = _pass(network, name, moved, example, who=who)
    wide = layer.out_features
    same = before.ndim == 2 and torch.equal(before[:, :wide], seen) and torch.equal(after[:, :wide], again)
    if not (same and torch.equal(before[:, wide:], after[:, wide:])):
        raise InputError(
            f"{who} needs outputs that come straight from the last layer, and something follows {name!r}; "
            "use bbb(last=1) there"
        )
    return name


def observe(network: nn.Module, name: str, job: TrainingJob, data: Examples) -> LastLayer:
    """What the named layer sees of every item of `data`, dropout off and normalisation in eval mode."""
    layer = linear(network, name)
    seen: list[Tensor] = []
    rest: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    try:
        with predicting(network, dropout=False):
            for positions in torch.split(torch.arange(len(data)), _BATCH):
                inputs = data.batch(positions)[0].to(job.device)
                outputs = call(network, tensors_of(network), inputs)
                rest.append(outputs[:, layer.out_features :].clone())
    finally:
        hook.remove()
    features = torch.cat(seen)
    if _bias(layer) is not None:
        features = torch.cat([features, features.new_ones(len(features), 1)], dim=1)
    weights = None if job.weights is None else job.weights.to(job.device)
    often = None if data.chances is None else (data.chances / data.chances.mean()).to(job.device)
    return LastLayer(job.task, features, torch.cat(rest), data.labels.to(job.device), weights, often)


def spanned(model: LastLayer) -> tuple[LastLayer, Float[Tensor, "D R"]]:
    """The model in the principal axes of its features, in float64, and those axes as columns.

    N items span at most N of D dimensions: what the labels say is said there, at the cost of the
    labels and not of the features. Across all the other directions only the prior speaks.
    """
    count, wide = model.features.shape
    within = None
    if count < wide:  # first any axes of the span, so that no matrix is D x D
        within, triangle = torch.linalg.qr(model.features.double().T)
        model = replace(model, features=triangle.T.contiguous())
    values, axes = torch.linalg.eigh(model.second_moments())
    seen = values > _NOTHING * values[-1]
    seen[-1] = True
    axes = axes[:, seen]
    turned = [model.features[items].double() @ axes for items in model.chunks(axes.shape[1])]
    return replace(model, features=torch.cat(turned)), axes if within is None else within @ axes


def linear(network: nn.Module, name: str) -> nn.Linear:
    """The Linear layer of that name."""
    layer = network.get_submodule(name)
    assert isinstance(layer, nn.Linear)  # noqa: S101  last_linear has found it
    return layer


def joined(layer: nn.Linear) -> Float[Tensor, "C D"]:
    """Weight and bias as one matrix, the bias last."""
    weight, bias = layer.weight.detach(), _bias(layer)
    return weight if bias is None else torch.cat([weight, bias.detach()[:, None]], dim=1)


def parted(layer: nn.Linear, name: str, joint: Float[Tensor, "*T C D"]) -> dict[str, Tensor]:
    """One matrix or T of them as the network names them: weights [*T, C, D], biases [*T, C]."""
    if _bias(layer) is None:
        return {f"{name}.weight": joint}
    return {f"{name}.weight": joint[..., :-1].contiguous(), f"{name}.bias": joint[..., -1].contiguous()}


def _bias(layer: nn.Linear) -> Tensor | None:
    return layer._parameters["bias"]  # torch's own annotation forgets that there may be none


def _pass(
    network: nn.Module, name: str, tensors: dict[str, Tensor], example: Tensor, *, who: str
) -> tuple[Tensor, Tensor]:
    """Outputs of the layer and of the network; refused unless it is called once on one vector per item."""
    seen: list[Tensor] = []
    note: Callable[..., Any] = lambda _module, _args, output: seen.append(output.clone())  # noqa: E731
    hook = network.get_submodule(name).register_forward_hook(note)
    try:
        with predicting(network, dropout=False):
            outputs = call(network, tensors, example)
    finally:
        hook.remove()
    if len(seen) != 1 or seen[0].ndim != 2:
        found = f"{len(seen)} times" if len(seen) != 1 else f"on a sequence, {list(seen[0].shape)}"
        raise InputError(f"{who} needs a last layer called once on [N, D]; {name!r} is called {found}")
    return seen[0], outputs
