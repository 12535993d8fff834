"""A model as an ONNX file: its mean network, or T draws of it, for programs without torch."""

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.overrides import TorchFunctionMode

from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.posteriors import as_posterior
from askwise.bayes.predict import log_probs, moments
from askwise.bayes.program import dropout
from askwise.bayes.program.ready import take, tempered
from askwise.bayes.program.trace import DropoutCall, predicting
from askwise.engine import Local
from askwise.errors import InputError, positive
from askwise.files import target, write_whole
from askwise.inputs import Inputs, as_rows
from askwise.seeding import generator
from askwise.types import Draws

TOLERANCE = 1e-4
"""How far the file's outputs may be from askwise's own, log-probabilities and moments alike."""
_INPUT, _ITEMS = "items", 3  # an example of one item or two would fix the number of items in the graph
_SUMMARY = ("mean_prediction", "total", "epistemic", "aleatoric")  # `mean` is a name of the graph's own
_NEEDED = ("onnx", "onnxscript", "onnxruntime")
_DROPOUTS = frozenset(
    getattr(home, name)
    for home in (nn.functional, torch)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_", "feature_dropout")
    if hasattr(home, name)
)


def export_onnx(
    fitted: Fitted, path: str | Path, *, draws: int | None = None, seed: int = 0, like: Inputs | None = None
) -> Path:
    """The file, whose outputs were compared with askwise's own in onnxruntime before it got its name.

    Without `draws` it is the mean network: `log_probs` [N, *sites, C], or `moments` [N, D, 2]. With T draws
    these are [N, T, ...], of the networks that `aw.log_probs(fitted, x, draws=T, seed=seed)` takes, and
    `mean_prediction`, `total`, `epistemic` and `aleatoric` come with them, as `aw.predict` has them. The
    number of items is free; the file and the time to write it grow with T. `like` are some items, where
    the model does not know the shape of one.

    >>> aw.export_onnx(fitted, "model.onnx").name
    'model.onnx'
    """
    model, place = as_fitted(fitted), target(path)
    _refuse_missing()
    if draws is None and model.posterior.name == "ensemble":
        raise InputError("an ensemble has no mean network; export its members: draws=T")
    items = _examples(model, like)
    drawn = None if draws is None else model.posterior.distinct(positive("draws", draws))
    with predicting(model.network, dropout=drawn is not None and model.posterior.dropout):
        outputs = [model.task.supplies, *(_SUMMARY if drawn is not None else ())]
        content = _written(_module(model, items, drawn, seed), items, outputs)
    wanted = _expected(model, items, draws, seed)
    found = run_onnx(content, items)[model.task.supplies]
    away = float((found - wanted).abs().max())
    if not away <= TOLERANCE:
        raise InputError(
            f"the ONNX file would be {away:.2g} away from askwise, and at most {TOLERANCE:g} is allowed: the "
            "network does something that ONNX writes otherwise; nothing was written"
        )
    write_whole(place, content)
    return place


def run_onnx(source: str | Path | bytes, items: Tensor) -> dict[str, Tensor]:
    """What onnxruntime makes of items, by the names of the outputs."""
    _refuse_missing()
    import onnxruntime

    session = onnxruntime.InferenceSession(
        source if isinstance(source, bytes) else str(source), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    found = session.run(names, {_INPUT: items.detach().cpu().numpy()})
    return {name: torch.from_numpy(value) for name, value in zip(names, found, strict=True)}


class _Drawn(nn.Module):
    """A network under T draws: items [N, ...] to the predictive distribution, and its summary."""

    def __init__(self, model: Fitted, draws: Draws, dropouts: tuple[DropoutCall, ...], count: int) -> None:
        super().__init__()
        self.network, self._model, self._dropouts, self._count = model.network, model, dropouts, count
        self._names = {name: f"draw_{at}" for at, name in enumerate(draws)}
        for name, tensor in draws.items():
            self.register_buffer(self._names[name], tensor)

    def forward(self, items: Tensor) -> tuple[Tensor, ...]:
        """Under each draw a pass of the whole network: what they share the runtime computes once."""
        found = []
        for number in range(self._count):
            one = {name: getattr(self, own)[number] for name, own in self._names.items()}
            weights = {name: tensor for name, tensor in one.items() if not name.startswith("dropout.")}
            with _Masked(self._dropouts, one):
                found.append(functional_call(self.network, weights, (items,)))
        task = self._model.task
        predictive = tempered(task.predictive(torch.stack(found, dim=1)), self._model.temperature)
        told = task.summary(predictive)
        shown = self._model.shown.posterior.name == "point" != self._model.posterior.name
        mean = _mean(self._model, items)[:, None] if shown else predictive
        return predictive, task.summary(mean).mean, told.total, told.epistemic, told.aleatoric


class _Mean(nn.Module):
    """The network as it is: items [N, ...] to one predictive distribution."""

    def __init__(self, model: Fitted) -> None:
        super().__init__()
        self.network, self._model = model.network, model

    def forward(self, items: Tensor) -> tuple[Tensor, ...]:
        """Without an axis of draws."""
        return (_mean(self._model, items),)


def _mean(model: Fitted, items: Tensor) -> Tensor:
    predictive = model.task.predictive(model.network(items)[:, None])
    return tempered(predictive, model.temperature).squeeze(1)


class _Masked(TorchFunctionMode):
    """While active, the k-th call of dropout takes the k-th mask; calls inside LSTM and attention stay."""

    def __init__(self, dropouts: tuple[DropoutCall, ...], masks: Mapping[str, Tensor]) -> None:
        super().__init__()
        self._calls, self._masks = iter(dropouts), masks

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        one = next(self._calls, None) if func in _DROPOUTS else None
        if one is None:
            return func(*args, **(kwargs or {}))
        if one.merged:
            raise InputError(f"{one.name} mixes items with another axis, and cannot be written as ONNX")
        return args[0] * (self._masks[one.name] / one.keep)


def _module(model: Fitted, items: Tensor, count: int | None, seed: int) -> nn.Module:
    if count is None:
        return _Mean(model)
    dropouts = dropout.find(model.network, items[:1]) if model.posterior.dropout else ()
    made = model.posterior.draw(
        model.network, model.state, numbers=range(count), seed=seed, dropouts=dropouts
    )
    return _Drawn(model, made, dropouts, count)


def _written(module: nn.Module, items: Tensor, outputs: list[str]) -> bytes:
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                module,
                (items,),
                input_names=[_INPUT],
                output_names=outputs,
                dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
                dynamo=True,
                verbose=False,
            )
    except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"the network cannot be written as ONNX: {line}") from error
    assert program is not None  # noqa: S101 - dynamo=True gives one
    found: bytes = program.model_proto.SerializeToString()
    return found


def _expected(model: Fitted, items: Tensor, draws: int | None, seed: int) -> Tensor:
    """What askwise itself makes of the items."""
    own = (
        model if draws is not None else replace(model, posterior=as_posterior("point"), state={}, programs={})
    )
    predictive = log_probs if model.task.supplies == "log_probs" else moments
    found: Tensor = predictive(own, items, draws=draws or 1, seed=seed, engine=Local(processes=1))
    return found if draws is not None else found.squeeze(1)


def _examples(model: Fitted, like: Inputs | None) -> Tensor:
    """Some items; random ones of the shape that the model knows."""
    if like is not None:
        rows = as_rows(like)
        return take(model, rows, 0, min(_ITEMS, len(rows)), pad=_ITEMS)
    if not model.item_shape:
        raise InputError("the model does not know the shape of an item; pass some: like=items")
    return torch.randn(_ITEMS, *model.item_shape, generator=generator(0, "onnx"))


def _refuse_missing() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(f"ONNX needs {', '.join(missing)}: pip install 'askwise[onnx]'")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter tells of its own steps."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
