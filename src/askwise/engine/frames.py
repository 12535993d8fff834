"""Results as bytes, for pipes and files: JSON for the notes, safetensors for the tensors."""

import json
import struct

import safetensors.torch

from askwise.engine.contract import Found

_LENGTH = struct.Struct("<Q")


def pack(found: Found) -> bytes:
    """The bytes of a result."""
    notes = json.dumps(found.notes).encode()
    tensors = {str(place): tensor.contiguous() for place, tensor in enumerate(found.tensors)}
    return _LENGTH.pack(len(notes)) + notes + safetensors.torch.save(tensors)


def unpack(content: bytes) -> Found:
    """The result that `pack` made these bytes from."""
    (length,) = _LENGTH.unpack_from(content)
    start = _LENGTH.size + length
    tensors = safetensors.torch.load(content[start:])
    return Found(
        tuple(tensors[str(place)] for place in range(len(tensors))),
        json.loads(content[_LENGTH.size : start]),
    )
