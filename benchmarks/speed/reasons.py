"""Why a number is not reached, found by profiling; by the key of its line."""

_MASKS = (
    "profile of one thread, 3,000 images: convolutions 41 %, products 35 %, gathering the dropped inputs and cutting the "
    "weights 7 %, pooling 6 %; the peers' loop is nearly all convolutions"
)
_FEW = (
    f"{_MASKS}; 2,000 items at the rate of 10,000 would take .22 of the .30 s: the rest is masks, cut weights and two "
    "processes, whatever N"
)
_LIVE = "learning is 200 steps of small operations, about .4 CPU s; the rest is the scores"
_TRAINING = (
    "profile of one thread: the convolutions' backward pass 45 %, their forward pass 18 %, relu both ways 10 %, dropout's "
    "random numbers 6 %, Adam 4 %; short and long runs are alike (2,370 to 2,440 images a CPU second in turn)"
)

REASONS: dict[str, str] = {
    "mc_dropout.baal": _MASKS,
    "mc_dropout.baal_default": _MASKS,
    "mc_dropout.limit": _MASKS,
    "few.plain": _FEW,
    "few.baal": _FEW,
    "few.limit": _FEW,
    "few.new": _FEW,
    "bnn1.many": (
        "profile of one thread at T = 1,000: convolutions 53 %, the product of all draws 10 %, exponentials 10 %, pooling "
        "8 %, sums, differences and maxima 9 %"
    ),
    "all_bayesian.256.plain": "every draw needs its own convolutions, for both; beside bayesian-torch, the peer, the goal is met",
    "scaling.bnn1.flat": (
        "one reading each, and readings differ: a run at commit cb3428f7 had 125 MB at 10,000 and 135 MB at 60,000"
    ),
    "training.limit": _TRAINING,
    "training.aim": _TRAINING,
    "startup.first": "torch's own import, one step and one pass take 1.67 s of it",
    "live_round.weights": _LIVE,
    "live_round.weights.aim": _LIVE,
    "live_round.logits.aim": _LIVE,
}
