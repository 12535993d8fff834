"""Why a number is not reached, found by profiling; by the key of its line."""

_MASKS = (
    "profile of one thread, before the layout of one-channel images was mended: convolutions 39 %, products 35 %, "
    "gathering the dropped inputs 8 %"
)
_LIVE = "learning is 200 steps of small operations, about .4 CPU s; the rest is the scores"

REASONS: dict[str, str] = {
    "mc_dropout.baal": _MASKS,
    "mc_dropout.baal_default": _MASKS,
    "mc_dropout.limit": _MASKS,
    "bnn1.many": (
        "the network itself takes 250 us an item on one thread; softmax and entropies of 10,000 numbers take 67 us "
        "more, their product 28 us at the limit"
    ),
    "scaling.bnn1.flat": (
        "peaks differ by chance more than by N: a run at commit cb3428f7 had 125 MB at 10,000 and 135 MB at 60,000"
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
