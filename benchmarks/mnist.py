"""MNIST to 200 labels: Gal's CNN with MC dropout and with a Bayesian last layer, beside the paper.

    ASKWISE_DATA=DIR python benchmarks/mnist.py      interrupted, it goes on

Runs are kept in `.runs/mnist`; results/mnist.{json,md,png} are written anew from all finished ones.
"""

import sys
from dataclasses import dataclass, field

from comparison import Comparison, compare

from askwise.demo import Protocol

PAPER = {"random": 255, "bald": 145, "variation_ratios": 120}  # Gal et al. 2017, images to 10 % test error
BBB = {"name": "bbb", "last": 1}


@dataclass(frozen=True, kw_only=True)
class Mnist(Protocol):
    """Gal's network and rounds; as in the authors' code, each round scores 2,000 fresh pool items."""

    data: str = "mnist"
    network: str = "gal_cnn"
    posterior: dict = field(default_factory=dict)
    training: dict = field(default_factory=lambda: {"epochs": 50, "batch": 64, "lr": 1e-3})
    initial: int = 20
    batch: int = 10
    budget: int = 200
    draws: int = 100
    pool_subset: int = 2000


def main() -> None:
    methods = list(PAPER)
    compare(
        Comparison(
            name="mnist",
            title="MNIST to 200 labels",
            protocols={"mc_dropout": Mnist(posterior={"name": "mc_dropout"}), "BNN-1": Mnist(posterior=BBB)},
            methods=methods,
            seeds="0-2",
            note="New weights every round; 20 random initial labels, 10 more each round; accuracy of the mean of "
            "100 draws on the 10,000 test images. Gal et al. 2017 report "
            + ", ".join(f"{count} ({name})" for name, count in PAPER.items())
            + " acquired images to 10 % error with MC dropout, all of the pool scored, weight decay chosen on 100 "
            "validation points; no weight decay here. The 20 initial labels count here; the paper does not say.",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
