"""How the weight of the KL term grows while a network learns, by name."""

from collections.abc import Callable


def constant(step: int, steps: int, per_epoch: int) -> float:
    """Full weight from the first step."""
    return 1.0


def linear(step: int, steps: int, per_epoch: int) -> float:
    """From nearly nothing to full weight over the first half of the training."""
    return min(1.0, (step + 1) / max(1, steps // 2))


def blundell(step: int, steps: int, per_epoch: int) -> float:
    """Halved from one minibatch of an epoch to the next, 1 on average (Blundell et al. 2015)."""
    at = step % per_epoch
    # 2^(M-i) / (2^M - 1) for i = 1..M, written so that large M does not overflow.
    return per_epoch * 2.0 ** -(at + 1) / (1.0 - 2.0**-per_epoch)


def settled(name: str, steps: int) -> int:
    """The step from which on the weight of the KL term is the same in every epoch."""
    return steps // 2 if name == "linear" else 0


WARM_UPS: dict[str, Callable[[int, int, int], float]] = {
    "constant": constant,
    "linear": linear,
    "blundell": blundell,
}
