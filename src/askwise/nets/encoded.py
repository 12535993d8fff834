"""A trainable head on an encoder that is frozen, at once or after some epochs."""

import copy

from torch import Tensor, nn

from askwise.errors import InputError, above_zero
from askwise.nets.recipe import recorded

THAW_LR = 2e-5
"""The usual rate for a pretrained transformer."""


class Encoded(nn.Module):
    """An encoder and a head; once frozen, the encoder neither learns nor drops anything."""

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        frozen: bool,
        thaw: int = 0,
        thaw_lr: float = THAW_LR,
    ) -> None:
        super().__init__()
        self.thaw, self.thaw_lr = thaw, thaw_lr
        self.encoder, self.head, self.frozen = encoder, head, False
        self.on_features = False
        if frozen:
            self.freeze()

    def forward(self, inputs: Tensor) -> Tensor:
        """What the head makes of the encoder's features [N, D], or of inputs that are those features."""
        outputs: Tensor = self.head(inputs if self.on_features else self.encoder(inputs))
        return outputs

    def freeze(self) -> None:
        """Keep the encoder as it is from now on."""
        self.frozen = True
        self.encoder.requires_grad_(False)
        self.encoder.eval()
        if (recipe := vars(self).get("recipe")) is not None:
            recipe["options"]["frozen"] = True

    def train(self, mode: bool = True) -> "Encoded":
        """The network in train or eval mode; a frozen encoder stays in eval mode."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self


@recorded
def encoded(
    encoder: nn.Module, head: nn.Module, *, frozen: bool = True, thaw: int = 0, thaw_lr: float = THAW_LR
) -> Encoded:
    """The head over the encoder, any module from tokens or features to [N, D].

    With `frozen=False` both learn. With `thaw` the encoder learns for so many epochs at the beginning of
    every fit that does not go on from an earlier one, at the rate `thaw_lr`, and is then frozen; the
    posterior learns on its features, each computed once (Loustau 2023).

    >>> whole = aw.nets.encoded(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))  # the head alone learns
    >>> whole(x).shape
    torch.Size([60, 2])
    """
    if isinstance(thaw, bool) or not isinstance(thaw, int) or thaw < 0:
        raise InputError(f"thaw is a number of epochs, at least 0, not {thaw!r}")
    if thaw and not frozen:
        raise InputError("thaw freezes the encoder after its epochs; leave frozen=False out")
    return Encoded(encoder, head, frozen=frozen, thaw=thaw, thaw_lr=above_zero("thaw_lr", thaw_lr))


def frozen(network: Encoded) -> Encoded:
    """A copy whose encoder no longer learns; the network itself stays as it is.

    >>> whole = aw.nets.encoded(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2), frozen=False)
    >>> [p.requires_grad for p in aw.nets.frozen(whole).parameters()]
    [False, False, True, True]
    """
    own = copy.deepcopy(network)
    own.freeze()
    return own


def on_features(network: Encoded) -> Encoded:
    """A copy that takes the features its encoder would make; all else is as it was, names and weights too.

    So what it learns is saved and drawn as the whole network's, and loaded as that.
    """
    own = copy.deepcopy(network)
    own.on_features = True
    return own


@recorded
def unchanged() -> nn.Identity:
    """An encoder that returns its inputs: the items are features already.

    >>> aw.nets.unchanged()(x).equal(x)
    True
    """
    return nn.Identity()


def head_alone(network: Encoded) -> Encoded:
    """The head without its encoder, on features; names stay, so what a posterior knows of it still fits."""
    return encoded(unchanged(), copy.deepcopy(network.head), frozen=True)
