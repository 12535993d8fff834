import pytest
import torch

from askwise.errors import InputError
from askwise.nets import embed, tiny_encoder

TEXTS = ["one two three four five", "six", "", "seven eight", "nine ten eleven", "twelve"]


@pytest.mark.parametrize("batch", [1, 2, 32])
def test_features_are_those_of_the_encoder_in_the_order_of_the_texts(batch):
    encoder = tiny_encoder(vocabulary=500)
    found = embed(encoder, TEXTS, length=8, batch=batch)
    torch.testing.assert_close(found, encoder(encoder.tokens(TEXTS, length=8)).detach())
    assert not found.requires_grad


def test_most_of_the_padding_is_not_read():
    encoder, widths = tiny_encoder(), []
    encoder.register_forward_pre_hook(lambda _, args: widths.append(args[0].shape[1]))
    embed(encoder, TEXTS, length=64, batch=2)
    assert widths == [1, 2, 5]


@pytest.mark.parametrize("mode", [True, False])
def test_the_encoder_reads_in_eval_mode_and_gets_its_mode_back(mode):
    encoder, modes = tiny_encoder().train(mode), []
    encoder.register_forward_pre_hook(lambda module, _: modes.append(module.training))
    embed(encoder, TEXTS)
    assert modes == [False]
    assert encoder.training is mode
    with pytest.raises(InputError, match="batch must be a whole number of at least 1, not 0"):
        embed(encoder, TEXTS, batch=0)
    assert encoder.training is mode
