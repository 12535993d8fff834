"""Randomness is a function of a seed and a purpose."""

import os
import subprocess
import sys

import pytest
import torch

from askwise.errors import InputError
from askwise.seeding import derive, generator, hashes


def test_equal_arguments_give_equal_streams_and_others_do_not() -> None:
    first = torch.rand(5, generator=generator(7, "draw", 1))
    assert torch.equal(first, torch.rand(5, generator=generator(7, "draw", 1)))
    for other in ((8, "draw", 1), (7, "drew", 1), (7, "draw", 2), (7, "draw", "1")):
        assert not torch.equal(first, torch.rand(5, generator=generator(*other)))


def test_seeds_are_the_same_in_every_process() -> None:
    code = (
        "from askwise.seeding import derive, hashes; print(derive(3, 'a', 1), hashes(3, ['x', 'y']).tolist())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77"}  # of another order of sets than here
    other = subprocess.check_output([sys.executable, "-c", code], env=environment)
    assert other == f"{derive(3, 'a', 1)} {hashes(3, ['x', 'y']).tolist()}\n".encode()


def test_hashes_depend_on_seed_and_id_and_not_on_position() -> None:
    ids = [f"item-{k}" for k in range(1000)]
    forward, backward = hashes(1, ids), hashes(1, ids[::-1])
    assert torch.equal(forward, backward.flip(0))
    assert len(forward.unique()) == 1000
    assert not torch.equal(forward, hashes(2, ids))
    assert forward.min() >= 0
    assert 0.45 < (forward.double() / 2**56).mean() < 0.55


@pytest.mark.parametrize("seed", ["abc", 1.5, None, True])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises((InputError, TypeError)):
        derive(seed, "draw")


def test_the_global_stream_is_not_touched() -> None:
    state = torch.get_rng_state()
    torch.rand(3, generator=generator(0, "x"))
    assert torch.equal(torch.get_rng_state(), state)
