"""Why a number is not reached, found by profiling; by the key of its line."""

_LAST_BITS = "profile of one thread: convolutions and products take three quarters, gathering the dropped inputs a tenth"
_LIVE = "learning is 200 steps of small operations, about .4 s; the rest is reading features and reducing 100 million numbers"

REASONS: dict[str, str] = {
    "mc_dropout.baal": _LAST_BITS,
    "mc_dropout.baal_default": _LAST_BITS,
    "mc_dropout.limit": f"{_LAST_BITS}; two processes share one third-level cache",
    "bnn1.many": (
        "the network itself takes 250 us an item on one thread; softmax and entropies of 10,000 numbers take 67 us "
        "more, their product 28 us at the limit"
    ),
    "training.limit": (
        "profile: the backward pass of the second convolution takes 580 of 1,050 us an image, dropout's random "
        "numbers and relu's backward pass about 100"
    ),
    "training.aim": "the same",
    "live_round.weights": _LIVE,
    "live_round.weights.aim": _LIVE,
    "live_round.logits.aim": _LIVE,
    "startup.help.aim": "importing typer and rich",
}
