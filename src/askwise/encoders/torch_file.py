"""Tensors out of the files torch wrote before 2020, read as data: nothing in them is ever called.

Such a file is five pickles and the raw storages. The pickles' opcodes are followed here by a machine
that knows numbers, names, tuples and dictionaries; a call is noted down, and any other opcode refused.
"""

import io
import math
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askwise.errors import CorruptError

_MAGIC = 0x1950A86A20F9469CFC6C
_TYPES = {"torch FloatStorage": "<f4", "torch LongStorage": "<i8"}
_TENSOR = "torch._utils _rebuild_tensor_v2"


@dataclass(frozen=True)
class _Name:
    """A name of Python that the file mentions; it is never looked up."""

    text: str


@dataclass(frozen=True)
class _Storage:
    kind: str
    key: str


@dataclass(frozen=True)
class _Place:
    """Where a tensor lies: its storage, where it begins there, its shape, its steps."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def tensors(content: bytes) -> dict[str, Tensor]:
    """The tensors of a state dict by name."""
    stream = io.BytesIO(content)
    try:
        magic, _, system, names, keys = (_value(stream) for _ in range(5))
        if magic != _MAGIC or not system["little_endian"]:
            raise CorruptError("not a state dict of torch in its old format")
        places = {name: place for name, place in names.items() if isinstance(place, _Place)}
        kinds = {place.storage.key: _TYPES[place.storage.kind] for place in places.values()}
        storages = {key: _numbers(stream, content, kinds[key]) for key in keys}
        return {name: _tensor(place, storages[place.storage.key]) for name, place in places.items()}
    except CorruptError:
        raise
    except Exception as reason:  # a damaged file can fail anywhere, and in any way
        raise CorruptError(
            f"not a state dict of torch in its old format: {str(reason).partition(chr(10))[0]}"
        ) from reason


def _numbers(stream: io.BytesIO, content: bytes, kind: str) -> np.ndarray:
    count = int.from_bytes(stream.read(8), "little")
    start = stream.tell()
    found = np.frombuffer(content, kind, count, start)
    stream.seek(start + found.nbytes)
    return found


def _tensor(place: _Place, storage: np.ndarray) -> Tensor:
    if math.prod(place.shape) > len(storage):
        raise CorruptError("a tensor of the file is larger than its storage")
    last = place.offset + sum((n - 1) * step for n, step in zip(place.shape, place.strides, strict=True))
    if min(place.offset, *place.shape, *place.strides, 0) < 0 or last >= len(storage):
        raise CorruptError("a tensor of the file does not lie inside its storage")
    flat = torch.from_numpy(storage.copy())
    return flat.as_strided(place.shape, place.strides, place.offset).contiguous()


def _value(stream: io.BytesIO) -> Any:
    """What one pickle describes, calls left undone."""
    machine = _Machine()
    for opcode, argument, _ in pickletools.genops(stream):
        if opcode.name == "STOP":
            break
        machine.step(opcode.name, argument)
    return machine.stack.pop()


class _Machine:
    """A stack of plain values, and what has been noted for later."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._marks: list[int] = []
        self._noted: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        if name in ("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1"):
            self.stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self._noted[argument] = self.stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self.stack.append(self._noted[argument])
        elif name == "GLOBAL":
            self.stack.append(_Name(argument))
        elif name == "MARK":
            self._marks.append(len(self.stack))
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name]())
        elif name in ("TUPLE1", "TUPLE2"):
            self.stack.append(tuple(self._pop(int(name[-1]))))
        elif name == "TUPLE":
            self.stack.append(tuple(self._since_mark()))
        elif name == "APPENDS":
            items = self._since_mark()
            self.stack[-1].extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = self._pop(2) if name == "SETITEM" else self._since_mark()
            self.stack[-1].update(zip(items[::2], items[1::2], strict=True))
        elif name == "BINPERSID":
            _, kind, key, _, _, _ = self.stack.pop()
            self.stack.append(_Storage(kind.text, key))
        elif name == "REDUCE":
            self.stack.append(_noted_call(*self._pop(2)))
        elif name == "BUILD":
            self.stack.pop()  # what a state dict carries besides its tensors
        elif name != "PROTO":
            raise CorruptError(f"the file asks for {name}, which a state dict does not need")

    def _pop(self, count: int) -> list[Any]:
        start = len(self.stack) - count
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def _since_mark(self) -> list[Any]:
        return self._pop(len(self.stack) - self._marks.pop())


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
}


def _noted_call(function: _Name, arguments: tuple[Any, ...]) -> Any:
    if function.text == "collections OrderedDict" and not arguments:
        return {}
    if function.text == _TENSOR:
        return _Place(*arguments[:4])
    raise CorruptError(f"the file asks for {function.text}, and only tensors are read")
