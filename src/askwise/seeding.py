"""Every random stream has a name: a seed and a purpose give a generator, always the same one."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.errors import InputError

_BYTES = 7  # 56 bits: torch takes the seed as a signed 64-bit integer


def derive(seed: int, *purpose: str | int) -> int:
    """The integer seed for one purpose, e.g. `derive(7, "draw", round_number)`."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InputError(f"a seed is a whole number, not {seed!r}")
    key = repr((seed, *purpose)).encode()
    return int.from_bytes(blake2b(key, digest_size=_BYTES).digest())


def generator(seed: int, *purpose: str | int, device: str | torch.device = "cpu") -> torch.Generator:
    """The generator for one purpose, e.g. `generator(7, "draw", round_number)`.

    Equal arguments give equal streams, so a resumed round repeats its choices.
    """
    return torch.Generator(device).manual_seed(derive(seed, *purpose))


_torch = threading.RLock()


def _forget_locks() -> None:
    """A forked process has one thread, and must not wait for one that it does not have."""
    global _torch
    _torch = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


@contextmanager
def torch_alone() -> Iterator[None]:
    """A block in which no other thread of askwise draws from torch's stream, traces, or changes modes.

    All three belong to the process: a prediction that puts the stream back would repeat the dropout of
    a training beside it, and tracing replaces methods of every module while it lasts.
    """
    with _torch:
        yield


@contextmanager
def torch_stream(seed: int) -> Iterator[None]:
    """A block in which torch's own stream starts at `seed`; afterwards it is where it was.

    It is set and put back while no prediction of another thread has the stream, which would undo both.
    What draws from it inside does so under `torch_alone`.
    """
    forked = torch.random.fork_rng()
    with torch_alone():
        forked.__enter__()
        torch.manual_seed(seed)
    try:
        yield
    finally:
        with torch_alone():
            forked.__exit__(None, None, None)


def keyed_normals(seed: int, numbers: range, name: str, shape: Sequence[int]) -> Float[Tensor, " T *shape"]:
    """Standard normal numbers for each draw; each depends on seed, draw number and name alone."""
    stack = torch.empty(len(numbers), *shape)
    for value, number in zip(stack, numbers, strict=True):
        value.normal_(generator=generator(seed, "draw", number, name))
    return stack


def hashes(seed: int, ids: Sequence[str] | Sequence[int]) -> Int64[Tensor, " N"]:
    """A number for every id that depends on the seed and the id alone, in [0, 2^56).

    It orders what scores cannot (ties) and picks random subsets that survive re-ordering.
    """
    key = derive(seed, "hash").to_bytes(_BYTES)
    keyed = blake2b(key=key, digest_size=_BYTES)
    out = np.empty(len(ids), dtype=np.int64)
    for position, identity in enumerate(ids):
        one = keyed.copy()
        one.update(str(identity).encode())
        out[position] = int.from_bytes(one.digest())
    return torch.from_numpy(out)
