"""Why a number is not reached, found by profiling; by the key of its line."""

_MASKS = (
    "profile of one thread, 1,280 images: convolutions 42 %, products 31 %, cutting the weights of every draw 7 % (once, "
    "whatever N), gathering the dropped inputs 6 %"
)
_LIVE = "learning is 200 steps of small operations, about .4 CPU s; the rest is the scores"

REASONS: dict[str, str] = {
    "mc_dropout.baal": _MASKS,
    "mc_dropout.baal_default": _MASKS,
    "mc_dropout.limit": _MASKS,
    "bnn1.many": (
        "profile of one thread: T = 100 takes 251 us an item, 202 of them in convolutions; at T = 1,000 the product takes "
        "41 us, exponentials 23, sums, differences and maxima 25"
    ),
    "scaling.bnn1.flat": (
        "one reading each, and readings differ: a run at commit cb3428f7 had 125 MB at 10,000 and 135 MB at 60,000"
    ),
    "training.limit": (
        "profile: the backward pass of the second convolution takes 580 of 1,050 us an image, dropout's random "
        "numbers and relu's backward pass about 100"
    ),
    "training.aim": "the same",
    "live_round.weights": _LIVE,
    "live_round.weights.aim": _LIVE,
    "live_round.logits.aim": _LIVE,
}
