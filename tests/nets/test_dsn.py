import torch
from torch import nn

from askwise.nets import dsn, nin


def parameters(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


def test_the_stages_are_those_of_network_in_network():
    assert list(dict(dsn().named_children())) == list(dict(nin().named_children()))
    assert parameters(dsn()) == parameters(nin())
    assert isinstance(dsn().pool2, nn.MaxPool2d)


def test_every_wide_convolution_gets_a_companion():
    network = dsn(companions=True)
    features = {name: m.in_features for name, m in network.named_children() if name.endswith("companion")}
    assert features == {
        "conv1_companion": 192 * 32 * 32,
        "conv2_companion": 192 * 16 * 16,
        "conv3_companion": 192 * 8 * 8,
    }
    assert parameters(network) == parameters(dsn()) + sum((count + 1) * 10 for count in features.values())


def test_companions_see_the_convolutions_before_they_are_rectified():
    network, images = dsn(size=8, companions=True).eval(), torch.rand(2, 3, 8, 8)
    main, first, second, third = network.supervised(images)
    assert torch.equal(main, network(images))
    torch.testing.assert_close(first, network.conv1_companion(network.conv1(images).flatten(1)))
    assert [part.shape for part in network.companions(images)] == [(2, 10)] * 3
    assert torch.equal(network.companions(images)[2], third)
    assert not torch.allclose(first, second)


def test_without_companions_there_are_none():
    network = dsn(size=8).eval()
    assert network.companions(torch.rand(2, 3, 8, 8)) == ()


def test_the_losses_of_companions_reach_the_first_layer():
    network = dsn(size=8, companions=True)
    network.companions(torch.rand(2, 3, 8, 8))[0].sum().backward()
    assert network.conv1.weight.grad is not None
    assert network.conv2.weight.grad is None  # a control: the first companion stands before it
