"""Curvature of the likelihood in the weights of a last layer, and Gaussians with its inverse as covariance.

The curvature is the Fisher information: with features phi and the task's diag(d) - u u^T for the
outputs, the sum over items of (diag(d) - u u^T) x phi phi^T. It is built from features and outputs;
a Jacobian, [N, C, C D], is never made.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.posteriors.last_layer import LastLayer
from askwise.errors import InputError
from askwise.math.evidence import log_det_gain

FORMS = ("kron", "diag", "full")
_LARGEST = 2**28  # bytes of the one matrix of the full form: 5,792 weights
_MOST = 128  # outputs whose own curvature is looked at
_AT_ONCE = 16


@dataclass(frozen=True)
class Curvature:
    """Eigenvalues [C, D], one for each weight, and the basis they belong to.

    The basis is empty (diag), `outputs` [C, C] (kron: the features are its other axes), or `all`
    [C D, C D] (full). A precision adds to every eigenvalue and leaves the basis as it is.
    """

    values: Float[Tensor, "C D"]
    basis: dict[str, Tensor]


def refuse_size(form: str, outputs: int, features: int) -> None:
    """An error if the full form would not fit the memory."""
    need = 8 * (outputs * features) ** 2
    if form == "full" and need > _LARGEST:
        raise InputError(
            f"full laplace of {features:,} x {outputs:,} weights needs {_readable(need)} for one matrix; "
            "use form='kron'"
        )


def curvature(form: str, model: LastLayer, weights: Float[Tensor, "C D"]) -> Curvature:
    """The curvature in one of the three forms, in float64; kron wants principal axes (`spanned`)."""
    return {"diag": _diagonal, "kron": _kronecker, "full": _full}[form](model, weights)


def bends(model: LastLayer, weights: Float[Tensor, "C D"]) -> Float[Tensor, " C"]:
    """The curvature of every output by itself, summed over the items."""
    total = weights.new_zeros(len(weights))
    for _, d, u in _parts(model, weights):
        total += (d - u.square()).sum(dim=0)
    return total.clamp_(min=0)


def output_gain(model: LastLayer, weights: Float[Tensor, "C D"], precision: float) -> float:
    """The log det of 1 + curvature / precision, with the curvature of every output by itself, [D, D].

    What the marginal likelihood needs, whatever the form of the covariance. Measured on digits: the
    factors of kron and diag claim far more weights to be determined than full does, and would choose
    a prior precision ten and a hundred times higher; that of the outputs is near to full, and exact
    in regression. With very many outputs some of them, evenly spaced, speak for all.
    """
    outputs, wide = weights.shape
    looked = range(0, outputs, math.ceil(outputs / _MOST))
    total = 0.0
    for some in (looked[at : at + _AT_ONCE] for at in range(0, len(looked), _AT_ONCE)):
        blocks = weights.new_zeros(len(some), wide, wide)
        for phi, d, u in _parts(model, weights):
            share = (d - u.square())[:, some].clamp_(min=0)
            for block, part in zip(blocks, share.T, strict=True):
                block.addmm_((phi * part[:, None]).T, phi)
        total += sum(log_det_gain(block, precision) for block in blocks)
    return total * outputs / len(looked)


def rotated(basis: Mapping[str, Tensor], values: Float[Tensor, "C D"]) -> Float[Tensor, "C D"]:
    """Weights from their coordinates in the basis."""
    if "all" in basis:
        return (basis["all"] @ values.flatten()).view(values.shape)
    return basis["outputs"] @ values if "outputs" in basis else values


def _diagonal(model: LastLayer, weights: Tensor) -> Curvature:
    total = torch.zeros_like(weights)
    for phi, d, u in _parts(model, weights):
        total.addmm_((d - u.square()).T, phi.square())
    return Curvature(total.clamp_(min=0), {})


def _kronecker(model: LastLayer, weights: Tensor) -> Curvature:
    """The product of mean_n phi phi^T and sum_n diag(d) - u u^T: exact where those do not vary together."""
    total = weights.new_zeros(len(weights), len(weights))
    for _, d, u in _parts(model, weights):
        total.addmm_(u.T, u, alpha=-1)
        total.diagonal().add_(d.sum(dim=0))
    b, outputs = _eigen(total)
    return Curvature(torch.outer(b.clamp(min=0), model.mean_squares()), {"outputs": outputs})


def _full(model: LastLayer, weights: Tensor) -> Curvature:
    wide = model.features.shape[1]
    total = weights.new_zeros(len(weights), wide, len(weights), wide)
    flat = total.view(weights.numel(), weights.numel())
    for phi, d, u in _parts(model, weights):
        for c in range(len(weights)):
            total[c, :, c].addmm_((phi * d[:, c : c + 1]).T, phi)
        for some in torch.split(torch.arange(len(phi)), max(1, 2**22 // weights.numel())):
            pulls = (u[some, :, None] * phi[some, None]).flatten(1)
            flat.addmm_(pulls.T, pulls, alpha=-1)
    values, vectors = _eigen(flat)
    return Curvature(values.clamp(min=0).view(-1, wide), {"all": vectors})


def _eigen(matrix: Float[Tensor, "D D"]) -> tuple[Float[Tensor, " D"], Float[Tensor, "D D"]]:
    """Eigenvalues and vectors of a symmetric matrix, which they overwrite: 200 MB less with 5,000 outputs."""
    values, vectors = matrix.new_empty(len(matrix)), matrix.mT  # LAPACK counts along columns
    torch.linalg.eigh(vectors, out=(values, vectors))
    return values, vectors


def _parts(model: LastLayer, weights: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Features [n, D] and the two parts of the outputs' Fisher information [n, C], some items at a time."""
    wide = len(weights)
    for items in model.chunks(wide):
        features = model.features[items].double()
        d, u = model.fisher(model.outputs(features, weights, items), items, wide)
        yield features, d, u


def _readable(size: int) -> str:
    for unit in ("MB", "GB", "TB"):
        size_in = size / {"MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
        if size_in < 1000 or unit == "TB":
            break
    return f"{size_in:,.1f} {unit}"
