"""What a frozen encoder makes of items."""

import numpy as np
import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.pool.encoding import BATCH, encode, feature_width


def pictures() -> nn.Module:
    layers = (
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.Linear(144, 7),
    )
    return nn.Sequential(*layers).requires_grad_(False)


def test_it_is_the_encoder_in_eval_mode():
    encoder, x = pictures().eval(), torch.randn(50, 1, 8, 8)
    found = encode(encoder, x)
    assert found.dtype == torch.float32
    assert torch.allclose(found, encoder(x), atol=1e-6)
    assert torch.equal(found, encode(encoder, x.numpy()))


def test_the_encoder_is_left_as_it_was():
    encoder, x = pictures(), torch.randn(5, 1, 8, 8)
    encoder[0].eval()
    modes = [module.training for module in encoder.modules()]
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    assert torch.equal(encode(encoder, x), encode(encoder, x))  # no dropout, no running statistics
    assert [module.training for module in encoder.modules()] == modes
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize("count", [1, 3, BATCH, BATCH + 1])
def test_the_bits_of_an_item_do_not_depend_on_its_company(count):
    for encoder, x in (
        (pictures(), torch.randn(2 * BATCH + 3, 1, 8, 8)),
        (nn.Linear(6, 5).requires_grad_(False), torch.randn(100, 6)),
    ):
        whole = encode(encoder, x)
        some = torch.randperm(len(x))[:count]
        assert torch.equal(encode(encoder, x[some], ranks=some.tolist()), whole[some])


def test_features_of_other_kinds_of_numbers_become_float32():
    assert encode(nn.Flatten(), np.zeros((2, 3))).dtype == torch.float32
    assert encode(nn.Linear(2, 3).bfloat16(), torch.zeros(4, 2, dtype=torch.bfloat16)).shape == (4, 3)


class Gives(nn.Module):
    def __init__(self, what):
        super().__init__()
        self.what = what

    def forward(self, inputs):
        return self.what(inputs)


BAD = {
    "a tuple": (lambda x: (x, x), r"an encoder gives features \[N, D\], not a tuple"),
    "one number": (lambda x: x.sum(), r"this one gave float32 of shape \[\] for 1 items"),
    "three axes": (lambda x: x[:, None], r"this one gave float32 of shape \[1, 1, 4\] for 1 items"),
    "other rows": (lambda x: x.repeat(2, 1), r"float32 of shape \[2, 4\] for 1 items"),
    "tokens": (lambda x: x.long(), r"this one gave int64 of shape \[1, 4\]"),
    "an error": (lambda x: x @ torch.ones(3, 3), r"the encoder cannot take items of shape \(4,\): mat1"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_encoder_that_gives_something_else_is_refused_in_one_line(case):
    what, message = BAD[case]
    with pytest.raises(InputError, match=message) as error:
        feature_width(Gives(what), torch.zeros(4))
    assert "\n" not in str(error.value)


def test_an_encoder_that_learns_and_what_is_no_encoder_are_refused():
    with pytest.raises(InputError, match=r"still learns \(weight\).*freeze it: encoder.requires_grad_"):
        feature_width(nn.Linear(4, 2), torch.zeros(4))
    with pytest.raises(InputError, match="an encoder is a torch module, not a function"):
        feature_width(lambda x: x, torch.zeros(4))
    with pytest.raises(InputError, match="at least one item"):
        encode(nn.Flatten(), torch.zeros(0, 4))
