import pytest
import torch

import askwise as aw
from askwise.errors import InputError
from askwise.nets import dcgan_discriminator, dcgan_generator


@pytest.mark.parametrize(("channels", "size"), [(1, 28), (3, 32)])
def test_what_one_makes_the_other_can_judge(channels, size):
    made = dcgan_generator(noise=5, channels=channels, size=size, width=8)(torch.randn(3, 5))
    assert made.shape == (3, channels, size, size)
    assert (made.min() >= 0) & (made.max() <= 1)
    assert dcgan_discriminator(channels=channels, size=size, width=8)(made).shape == (3, 1)


def test_the_stages_have_their_names():
    assert [stage for stage, _ in dcgan_generator().named_children()] == [
        "unflatten", "up1", "norm1", "relu1", "up2", "norm2", "relu2", "up3", "pixels",
    ]  # fmt: skip
    assert [stage for stage, _ in dcgan_discriminator().named_children()] == [
        "conv1", "leaky1", "conv2", "norm2", "leaky2", "flatten", "dense",
    ]  # fmt: skip


def test_the_parameters_are_counted_by_hand():
    generator = 100 * 128 * 49 + 2 * 128 + 128 * 64 * 16 + 2 * 64 + 64 * 1 * 16 + 1
    assert sum(p.numel() for p in dcgan_generator().parameters()) == generator
    discriminator = 1 * 64 * 16 + 64 + 64 * 128 * 16 + 2 * 128 + 128 * 49 + 1
    assert sum(p.numel() for p in dcgan_discriminator().parameters()) == discriminator


def test_the_last_layer_of_the_discriminator_can_be_made_bayesian():
    from askwise.bayes.place import placement

    network = dcgan_discriminator(width=4)
    assert placement(network, torch.rand(1, 1, 28, 28), last=1) == ["dense"]
    assert placement(network, torch.rand(1, 1, 28, 28)) == ["conv1", "conv2", "dense"]


def test_a_side_that_cannot_be_halved_twice_is_refused():
    with pytest.raises(InputError, match="multiple of 4, not size=30"):
        aw.nets.dcgan_generator(size=30)


def test_the_discriminator_learns_as_a_task_with_one_tag():
    rng = torch.Generator().manual_seed(0)
    x = torch.cat([torch.rand(8, 1, 8, 8, generator=rng), torch.zeros(8, 1, 8, 8)])
    y = torch.cat([torch.ones(8, 1), torch.zeros(8, 1)])
    network = dcgan_discriminator(size=8, width=4)
    training = aw.Training(epochs=30, batch_size=8, lr=0.01)
    fitted = aw.fit(network, (x, y), posterior=aw.bbb(last=1), task="multilabel", training=training)
    real = aw.predict(fitted, x, draws=5).mean[..., 1]
    assert real[:8].min() > real[8:].max()
