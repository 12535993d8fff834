"""A network written down as a graph of tensor operations, so that it can be cut anywhere.

The graph is free of in-place writes, and every dropout in it, wherever it hides (a module called
twice, `F.dropout`, inside attention or an LSTM), is the same one node: a Bernoulli draw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call, functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from askwise.errors import AskwiseError, InputError
from askwise.seeding import torch_alone

BERNOULLI = torch.ops.aten.bernoulli.p
INPUT = "input"


class UntraceableError(AskwiseError):
    """The network decides in Python on the values of its tensors, so no one graph describes it."""


@dataclass(frozen=True)
class DropoutCall:
    """One call of dropout in a network: the shape of its mask, and where the items go in it.

    `shape` has the item axis divided by the number of items.
    """

    name: str
    keep: float
    shape: tuple[int, ...]
    item_axis: int | None
    items_first: bool = True

    @property
    def merged(self) -> bool:
        """Whether the network has merged the items with another axis (attention: items x heads)."""
        return self.item_axis is not None and self.shape[self.item_axis] > 1

    def spread(self, mask: Tensor, items: int) -> Tensor:
        """The mask for a batch of items: repeated where items are merged, otherwise it broadcasts."""
        if self.item_axis is None or not self.merged:
            return mask
        at = self.item_axis if self.items_first else self.item_axis + 1
        sizes = [-1] * (mask.ndim + 1)
        sizes[at] = items
        return mask.unsqueeze(at).expand(sizes).flatten(self.item_axis, self.item_axis + 1)


def channels_last(tensor: Tensor) -> Tensor:
    """The tensor with its channels last in memory, the layout that is faster; unchanged where it has none."""
    if tensor.ndim != 4 or not tensor.is_floating_point():
        return tensor
    _, c, h, w = tensor.shape
    last = tensor.contiguous(memory_format=torch.channels_last)
    # One channel is last and first at once: torch would take it for first, and convert every later layer.
    return last.as_strided(last.shape, (c * h * w, 1, w * c, c))


def tensors_of(network: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, detached."""
    named = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    return {name: tensor.detach() for name, tensor in named.items()}


@contextmanager
def predicting(network: nn.Module, *, dropout: bool) -> Iterator[None]:
    """The network in eval mode (dropout on, if asked); modes, buffers and random state come back after.

    With dropout on, modules are in train mode, since `F.dropout(x, p, self.training)` and the
    dropout of LSTM and attention ask for it; normalisation stays in eval.
    """
    with torch_alone():
        modes = {module: module.training for module in network.modules()}
        buffers = [(buffer, buffer.clone()) for buffer in network.buffers()]
        try:
            network.train(dropout)
            for module in modes:
                if isinstance(module, nn.modules.batchnorm._NormBase):
                    module.eval()
            with torch.random.fork_rng(), torch.no_grad():
                yield
        finally:
            for module, mode in modes.items():
                module.training = mode
            for buffer, value in buffers:
                buffer.copy_(value)


def call(network: nn.Module, tensors: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
    """The network's output with these parameters and buffers in place of its own."""
    output = functional_call(network, dict(tensors), (inputs,))
    if not isinstance(output, Tensor):
        kind = type(output).__name__
        raise InputError(
            f"the network returned a {kind}, not a tensor; pass a module whose forward returns the logits"
        )
    return output


def as_taken(network: nn.Module, items: Tensor) -> Tensor:
    """Items on the network's device; fractions in the type of its weights."""
    known = tensors_of(network).values()
    weights = next((tensor for tensor in known if tensor.is_floating_point()), None)
    if weights is None:
        return items
    return items.to(weights.device, weights.dtype if items.is_floating_point() else items.dtype)


def outputs_of(network: nn.Module, item: Tensor) -> Tensor:
    """The network's output for one item; an input it cannot take is refused here."""
    try:
        with predicting(network, dropout=False):
            return call(network, tensors_of(network), item)
    except AskwiseError:
        raise
    except Exception as error:  # whatever the network's code raises, of the input it was given
        dtype = str(item.dtype).removeprefix("torch.")
        # not converted: they may be the tokens of an embedding
        hint = "" if item.is_floating_point() else '; if its items are no tokens, pass .astype("float32")'
        raise InputError(
            f"the network cannot take an input of shape {list(item.shape)} and type {dtype}: "
            f"{(str(error).splitlines() or [type(error).__name__])[0]}{hint}"
        ) from error


def trace(
    network: nn.Module, tensors: Mapping[str, Tensor], inputs: Tensor, *, dropouts: Sequence[DropoutCall] = ()
) -> fx.GraphModule:
    """The graph of the network at these shapes and layouts; `meta["name"]` of a placeholder says what it is.

    Placeholders are the network's tensors, `INPUT`, and `dropout.0`, `dropout.1`, ... in place of
    the Bernoulli draws of `dropouts`. Without them dropout is off.
    """
    dropout = bool(dropouts)
    values = [tensor.clone() for tensor in tensors.values()]  # a stray write must not reach the network

    def flat(*args: Tensor) -> Tensor:
        return call(network, dict(zip(tensors, args[:-1], strict=True)), args[-1])

    with predicting(network, dropout=dropout):
        written = _make_graph(flat, values, inputs)
        _refuse_writes(tensors, values, dropout=dropout)
        # Once more: the first pass opens composite operations, the second takes the writes out.
        graph_module = _make_graph(functionalize(written), values, inputs)
    graph = graph_module.graph
    _refuse_randomness(graph, dropout=dropout)
    for node, name in zip(_placeholders(graph), [*tensors, INPUT], strict=True):
        node.meta["name"] = name
    bernoulli = [node for node in graph.nodes if node.target is BERNOULLI]
    if len(bernoulli) != len(dropouts):
        raise UntraceableError(f"the graph has {len(bernoulli)} dropout calls, the network {len(dropouts)}")
    for number, (node, one) in enumerate(zip(bernoulli, dropouts, strict=True)):
        with graph.inserting_before(node):
            mask = graph.placeholder(f"mask_{number}")
            mask.meta["name"] = one.name
            full = graph.call_function(one.spread, (mask, len(inputs)))
            full.meta.update(val=node.meta["val"], per_item=one.merged)
        node.replace_all_uses_with(full)
        graph.erase_node(node)
    graph.eliminate_dead_code()
    return graph_module


def _make_graph(function: Callable[..., Tensor], values: list[Tensor], inputs: Tensor) -> fx.GraphModule:
    """`function` as a graph; data-dependent control flow is refused."""
    try:
        return make_fx(function)(*values, inputs)
    except RuntimeError as error:
        if "tracing tensor" in str(error) or "data-dependent" in str(error):
            raise UntraceableError(str(error).splitlines()[0]) from error
        raise


def _placeholders(graph: fx.Graph) -> list[fx.Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _refuse_writes(before: Mapping[str, Tensor], after: Sequence[Tensor], *, dropout: bool) -> None:
    """An error if the network has written to one of its tensors while it predicted.

    Compared by value: batch norm in train mode writes where no graph shows it.
    """
    for (name, old), new in zip(before.items(), after, strict=True):
        if torch.allclose(old, new, rtol=0, atol=0, equal_nan=True):
            continue
        problem = f"the network writes to {name!r} while it predicts"
        if dropout:  # it takes train mode for training, as a functional batch norm does
            raise InputError(f"{problem} with dropout on; mc_dropout needs its normalisation in modules")
        raise UntraceableError(f"{problem}.")


def _refuse_randomness(graph: fx.Graph, *, dropout: bool) -> None:
    """An error if the network draws random numbers that are no dropout."""
    for node in graph.nodes:
        if _is_random(node) and not (dropout and node.target is BERNOULLI):
            raise InputError(
                f"the network draws random numbers of its own while it predicts ({node.target}); "
                "only dropout can be repeated, with posterior mc_dropout()"
            )


def _is_random(node: fx.Node) -> bool:
    """Whether an operation draws random numbers; fused attention only does with a dropout of its own."""
    if node.op != "call_function" or torch.Tag.nondeterministic_seeded not in getattr(
        node.target, "tags", ()
    ):
        return False
    names = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return "dropout_p" not in names or given.get("dropout_p", 0.0) != 0.0
