"""What log-probabilities, moments and features must look like before anything is computed from them."""

import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.types import Features, LogProbs, Moments

_TOLERANCE = 1e-3
_CELLS = 1 << 22  # checked at once, so that checking needs little memory


def check_log_probs(log_probs: object, *, name: str = "log_probs") -> LogProbs:
    """The tensor itself, if it holds normalised log-probabilities [N, T, *sites, C]; in float32 at least."""
    if not isinstance(log_probs, Tensor):
        raise InputError(f"{name} must be a torch tensor [N, T, *sites, C], not {type(log_probs).__name__}")
    if not log_probs.is_floating_point():
        raise InputError(f"{name} must be floating point, not {str(log_probs.dtype).removeprefix('torch.')}")
    shape = list(log_probs.shape)
    if log_probs.ndim < 3:
        raise InputError(
            f"{name} must have at least 3 axes [N, T, *sites, C], not {shape}; one draw is T = 1"
        )
    if shape[1] == 0:
        raise InputError(f"{name} has no draws: its shape is {shape}, and T must be at least 1")
    if 0 in shape[2:]:
        raise InputError(f"{name} has an empty axis: its shape is {shape}")
    if log_probs.dtype in (torch.float16, torch.bfloat16):
        log_probs = log_probs.float()  # too coarse for sums over draws
    step = max(1, _CELLS // log_probs[:1].numel()) if len(log_probs) else 1
    for start in range(0, len(log_probs), step):
        _check_values(log_probs[start : start + step], name)
    return log_probs


def _check_values(log_probs: LogProbs, name: str) -> None:
    """Refuse values that are no log-probabilities, and say what they look like instead."""
    if log_probs.isnan().any():
        raise InputError(f"{name} contains NaN; look at the network's outputs")
    if log_probs.isposinf().any():
        raise InputError(f"{name} contains +inf; log-probabilities are at most 0")
    if (log_probs.movedim(0, -1).logsumexp(dim=-2).abs() <= _TOLERANCE).all():
        return
    if (log_probs >= 0).all() and ((log_probs.sum(dim=-1) - 1).abs() <= _TOLERANCE).all():
        raise InputError(f"{name} holds probabilities; pass their logarithm: {name}.log()")
    raise InputError(f"{name} is not normalised over its last axis; pass log_softmax of the logits")


def check_moments(moments: object) -> Moments:
    """The tensor itself, if it holds finite moments [N, T, D, 2]; in float32 at least."""
    if not isinstance(moments, Tensor) or not moments.is_floating_point():
        found = moments.dtype if isinstance(moments, Tensor) else type(moments).__name__
        raise InputError(f"moments must be a floating-point torch tensor [N, T, D, 2], not {found}")
    if moments.ndim != 4 or moments.shape[-1] != 2 or 0 in moments.shape[1:]:
        raise InputError(
            f"moments must be [N, T, D, 2], mean and log-variance of each number, not {list(moments.shape)}"
        )
    if not moments.isfinite().all():
        raise InputError("moments must be finite, and contain NaN or infinity")
    return moments.float() if moments.dtype in (torch.float16, torch.bfloat16) else moments


def check_features(features: object, *, name: str = "features", width: int | None = None) -> Features:
    """The tensor itself, if it holds finite features [N, D], D = `width` if given; in float32 at least."""
    if not isinstance(features, Tensor) or not features.is_floating_point():
        found = features.dtype if isinstance(features, Tensor) else type(features).__name__
        raise InputError(f"{name} must be a floating-point torch tensor [N, D], not {found}")
    if features.ndim != 2 or features.shape[1] == 0:
        raise InputError(f"{name} must have two axes [N, D], not {list(features.shape)}; flatten them first")
    if width not in (None, features.shape[1]):
        raise InputError(
            f"{name} must have {width} columns like the pool's features, not {features.shape[1]}"
        )
    if features.dtype in (torch.float16, torch.bfloat16):
        features = features.float()
    for chunk in torch.split(features, max(1, _CELLS // features.shape[1])):
        if not chunk.isfinite().all():
            raise InputError(f"{name} must be finite, and contains NaN or infinity")
    return features
