"""Every network of the table, as small as it goes, with what it takes and gives."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from askwise.nets import build, mlp, text_head, tiny_encoder


def images(channels: int, height: int, width: int) -> Callable[[int], Tensor]:
    return lambda count: torch.rand(
        count, channels, height, width, generator=torch.Generator().manual_seed(0)
    )


def rows(width: int) -> Callable[[int], Tensor]:
    return lambda count: torch.rand(count, width, generator=torch.Generator().manual_seed(0))


def tokens(count: int) -> Tensor:
    return torch.randint(0, 20, (count, 5), generator=torch.Generator().manual_seed(0))


@dataclass(frozen=True)
class Small:
    inputs: Callable[[int], Tensor]
    outputs: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def network(self, name: str) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(1)
            network = build(name, **self.options)
            for module in network.modules():  # statistics that a mistake would move
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.running_mean.normal_()
                    module.running_var.uniform_(0.5, 2)
        return network.eval()


EVERY = {
    "alexnet": Small(images(1, 28, 28), (7,), {"channels": 1, "size": 28, "classes": 7}),
    "alexnet_half": Small(images(1, 28, 28), (7,), {"channels": 1, "size": 28, "classes": 7}),
    "batchbald_cnn": Small(images(1, 28, 28), (7,), {"classes": 7}),
    "dcgan_discriminator": Small(images(1, 28, 28), (1,), {"width": 8}),
    "dcgan_generator": Small(rows(6), (1, 28, 28), {"noise": 6, "width": 8}),
    "digits_cnn": Small(images(1, 8, 8), (7,), {"classes": 7}),
    "dsn": Small(images(3, 8, 8), (7,), {"size": 8, "classes": 7, "companions": True}),
    "encoded": Small(
        tokens, (7,), {"encoder": tiny_encoder(vocabulary=20), "head": text_head(features=32, classes=7)}
    ),
    "espcn": Small(images(2, 5, 6), (2, 15, 18), {"channels": 2, "dropout": 0.3}),
    "gal_cnn": Small(images(1, 28, 28), (7,), {"classes": 7}),
    "gal_code_cnn": Small(images(1, 28, 28), (7,), {"classes": 7}),
    "homoscedastic": Small(
        rows(6), (4,), {"network": mlp(6, 2, hidden=(8,), dropout=0.3), "outputs": 2, "log_variance": -1.0}
    ),
    "lenet5": Small(images(1, 32, 32), (7,), {"classes": 7}),
    "linear": Small(rows(12), (7,), {"features": 12, "classes": 7}),
    "mlp": Small(rows(12), (7,), {"features": 12, "classes": 7, "dropout": 0.1}),
    "nin": Small(images(3, 8, 8), (7,), {"size": 8, "classes": 7}),
    "on_axes": Small(rows(12), (7,), {"features": 12, "classes": 7, "axes": 5}),
    "segnet_basic": Small(images(3, 18, 22), (7, 18, 22), {"classes": 7, "width": 4}),
    "text_head": Small(rows(12), (7,), {"features": 12, "classes": 7, "hidden": 8}),
    "tiny_encoder": Small(tokens, (6,), {"vocabulary": 20, "width": 6}),
}
