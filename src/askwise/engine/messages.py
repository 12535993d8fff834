"""What workers send: results as frames of bytes, and errors that are raised again in the caller."""

import json
import struct
import traceback
from typing import Any

import safetensors.torch

from askwise import errors
from askwise.engine.contract import ShardResult


def told(error: BaseException) -> dict[str, Any]:
    """The error as JSON holds it."""
    return {
        "kind": type(error).__name__,
        "message": str(error),
        "trace": "".join(traceback.format_exception(error)),
    }


def raised(found: dict[str, Any]) -> Exception:
    """The error again: askwise's own by its name, any other with the worker's traceback."""
    kind = getattr(errors, found["kind"], None)
    if isinstance(kind, type) and issubclass(kind, errors.AskwiseError):
        return kind(found["message"])
    return errors.EngineError(
        f"a worker stopped at {found['kind']}: {found['message']}\n\nIn the worker:\n{found['trace']}"
    )


_LENGTH = struct.Struct("<Q")


def pack(found: ShardResult) -> bytes:
    """The bytes of a result."""
    notes = json.dumps(found.notes).encode()
    tensors = {str(place): tensor.contiguous() for place, tensor in enumerate(found.tensors)}
    return _LENGTH.pack(len(notes)) + notes + safetensors.torch.save(tensors)


def unpack(content: bytes) -> ShardResult:
    """The result that `pack` made these bytes from."""
    (length,) = _LENGTH.unpack_from(content)
    start = _LENGTH.size + length
    tensors = safetensors.torch.load(content[start:])
    return ShardResult(
        tuple(tensors[str(place)] for place in range(len(tensors))),
        json.loads(content[_LENGTH.size : start]),
    )
