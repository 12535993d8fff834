"""The digest of a network: of its structure and, if wanted, of its weights."""

from hashlib import sha256

import torch
from torch import nn


def network_digest(network: nn.Module, *, weights: bool) -> str:
    """Sixteen letters that change with the structure of a network and, if asked for, with its weights."""
    digest = sha256(repr(network).encode())
    for name, value in sorted(network.state_dict().items()):
        digest.update(f"{name}{tuple(value.shape)}{value.dtype}".encode())
        if weights:
            digest.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
