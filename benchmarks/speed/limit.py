"""What the hardware allows: the measured rate of a large product, and the work of every way to score.

torch has two libraries for products, MKL (`@`) and oneDNN (convolutions); which of them uses all lanes of
the processor depends on its maker. The limit is the faster one's rate.
"""

import time

import torch

MEGA = 1e6
CONV1, CONV2 = 2 * 25 * 25 * 32 * 16 / MEGA, 2 * 22 * 22 * 32 * 512 / MEGA
DENSE1, DENSE2 = 2 * 3872 * 128 / MEGA, 2 * 128 * 10 / MEGA
PASS = CONV1 + CONV2 + DENSE1 + DENSE2
"""MFLOP of one image through Gal's CNN."""
_SIZE = 2048


def gemm_gflops(threads: int, *, times: int = 5) -> float:
    """GFLOP/s of the best of a few large float32 products, by the faster library."""
    torch.set_num_threads(threads)
    a = torch.randn(_SIZE, _SIZE)
    ways = [lambda: a @ a]
    if torch.backends.mkldnn.is_available():
        ways.append(lambda: torch.ops.mkldnn._linear_pointwise(a, a, None, "none", [], ""))
    best = float("inf")
    for way in ways * times:
        start = time.perf_counter()
        way()
        best = min(best, time.perf_counter() - start)
    return 2 * _SIZE**3 / best / 1e9


def whole_passes(draws: int) -> float:
    """MFLOP per image of T whole passes: what everyone else does."""
    return draws * PASS


def masked_suffix(draws: int) -> float:
    """MFLOP per image of MC dropout at its cheapest.

    Convolutions and one full product of the first dense layer once; per draw the quarter of its
    inputs that is dropped is subtracted, for the half of its outputs that is kept.
    """
    return CONV1 + CONV2 + DENSE1 + draws * (0.25 * 0.5 * DENSE1 + 0.5 * DENSE2)


def early_mask(draws: int) -> float:
    """MFLOP per image where the first convolution alone is computed once."""
    return CONV1 + draws * (PASS - CONV1)


def encoder_passes(draws: int, *, length: int = 32, width: int = 384, layers: int = 6) -> float:
    """MFLOP per sentence of T passes through a transformer: projections, feed-forward, attention."""
    layer = 2 * length * (4 * width**2 + 8 * width**2) + 4 * length**2 * width
    return draws * layers * layer / MEGA


def last_layer(draws: int) -> float:
    """MFLOP per image of BNN-1: all but the last layer once."""
    return CONV1 + CONV2 + DENSE1 + draws * DENSE2


def training_step() -> float:
    """MFLOP per image and epoch: forward, and backward without the gradient of the images."""
    return 3 * PASS - CONV1


def joint_choice(n: int, draws: int, classes: int, picks: int, samples: int) -> float:
    """MFLOP of greedy BatchBALD that looks at every item at every pick."""
    known = [min(classes**pick, samples) for pick in range(picks)]
    return sum(2 * n * draws * classes * count for count in known) / MEGA


def multiple(seconds: float, mflop: float, gflops: float) -> float:
    """How many times as long as the limit allows."""
    return seconds * gflops * 1e3 / mflop
