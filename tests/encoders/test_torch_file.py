"""Old files of torch are read as data: what they ask to call is never called."""

import io
import os
import pickle

import pytest
import torch

from askwise.encoders.torch_file import tensors
from askwise.errors import CorruptError


def old(state):
    stream = io.BytesIO()
    torch.save(state, stream, _use_new_zipfile_serialization=False)
    return stream.getvalue()


def state():
    shared = torch.randn(12)
    return {
        "whole": torch.randn(2, 3, 1, 4),
        "turned": torch.randn(3, 3, 8, 5).permute(3, 2, 0, 1),
        "part": shared[2:8].view(2, 3),
        "shared": shared,
        "count": torch.tensor(7),
    }


def test_every_tensor_comes_back_by_name_type_and_value():
    wanted = state()
    found = tensors(old(wanted))
    assert list(found) == list(wanted)
    assert all(found[name].dtype == tensor.dtype for name, tensor in wanted.items())
    assert all(torch.equal(found[name], tensor) for name, tensor in wanted.items())


def test_a_module_s_own_state_dict_with_its_metadata_is_read():
    network = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    found = tensors(old(network.state_dict()))
    assert all(torch.equal(found[name], tensor) for name, tensor in network.state_dict().items())


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_call_in_the_file_is_refused_and_not_made(tmp_path):
    target = tmp_path / "made"
    content = old({"x": Hostile(str(target))})
    with pytest.raises(CorruptError, match=r"asks for .* mkdir, and only tensors are read"):
        tensors(content)
    assert not target.exists()
    pickle.loads(pickle.dumps(Hostile(str(target))))  # noqa: S301 - the control: unpickling would have made it
    assert target.exists()


def test_other_contents_are_refused_in_one_line():
    for content in (b"", b"hello", pickle.dumps({"a": 1}), old([1.5, object])):
        with pytest.raises(CorruptError) as caught:
            tensors(content)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_cut_anywhere_is_refused():
    content = old(state())
    for end in range(0, len(content) - 1, 37):
        with pytest.raises(CorruptError):
            tensors(content[:end])


def test_flipped_bytes_give_tensors_or_a_refusal_and_nothing_else():
    content, refused = bytearray(old(state())), 0
    for place in range(0, len(content), 11):
        content[place] ^= 0xFF
        try:
            tensors(bytes(content))
        except CorruptError:
            refused += 1
        content[place] ^= 0xFF
    assert refused > 20
