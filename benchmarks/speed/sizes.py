"""How much is measured: the full form, a short one, and a trial of the code alone."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Items, draws and repetitions; the peers' cost is linear in the items, so they get fewer."""

    n: int = 10_000
    peer_n: int = 1_000
    draws: int = 100
    many_draws: int = 1_000
    few_n: int = 2_000
    """What most papers score each round."""
    round_n: int = 500
    """Where the fixed cost of a new model shows."""
    all_n: tuple[int, ...] = (256, 2_000)
    """Items of networks where askwise too runs whole convolutions for every draw."""
    sentences: int = 128
    encoder_draws: int = 20
    pools: tuple[int, ...] = (1_000, 10_000, 60_000)
    draw_counts: tuple[int, ...] = (10, 100, 1_000)
    huge: int = 10_000_000
    brute: int = 1_000_000
    huge_draws: int = 10
    huge_picks: int = 100
    train_n: int = 2_048
    train_epochs: int = 2
    picks: int = 10
    joint_samples: int = 10_000
    features: int = 100_000
    labels: int = 200
    rounds: int = 3
    repeats: int = 3
    """Of askwise within a round: it is short, and one hiccup would weigh much."""


FORMS = {
    "full": Sizes(),
    "short": Sizes(
        n=2_000,
        peer_n=64,
        few_n=1_000,
        all_n=(128, 256),
        sentences=16,
        pools=(500, 2_000, 4_000),
        draw_counts=(10, 100, 300),
        huge=500_000,
        brute=100_000,
        train_n=1_024,
        train_epochs=1,
        features=20_000,
        rounds=1,
    ),
    "tiny": Sizes(
        n=256,
        peer_n=16,
        draws=10,
        many_draws=20,
        few_n=64,
        round_n=32,
        all_n=(16, 32),
        sentences=4,
        encoder_draws=2,
        pools=(64, 128, 256),
        draw_counts=(2, 5, 10),
        huge=20_000,
        brute=10_000,
        huge_picks=10,
        train_n=64,
        train_epochs=1,
        picks=4,
        joint_samples=500,
        features=1_000,
        labels=50,
        rounds=2,
        repeats=2,
    ),
}
