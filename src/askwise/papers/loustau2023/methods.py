"""The methods that the thesis compares."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from askwise.papers.record import Claim, Measure, Pair

VOGN = {"name": "vogn", "all": True}
POINT = {"name": "point"}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "top-u, VOGN": {"posterior": VOGN, "acquire": "top_u"},
    "entropy, VOGN": {"posterior": VOGN, "acquire": "max_entropy"},
    "entropy, point": {"posterior": POINT, "acquire": "max_entropy"},
    "difference, point": {"posterior": POINT, "acquire": "margin"},
    "random, VOGN": {"posterior": VOGN, "acquire": "random"},
    "random, point": {"posterior": POINT, "acquire": "random"},
}
OTHERS = ("entropy, point", "difference, point")
DRAWS = 10  # as in the thesis


def asking(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an entry's settings that says how items are chosen."""
    names = ("acquire", "first", "batch", "budget")
    return {name: settings[name] for name in names} | dict(settings.get("options", {}))


def gain(name: Callable[[str], str], other: str, *, measure: Measure, words: str) -> Pair:
    """What top-u under VOGN and another way gain over random choice, each under its own network.

    A VOGN network and a point network differ with the same labels too, and that is no matter of choosing.
    """
    network = other.partition(", ")[2]
    return Pair(
        ours=name("top-u, VOGN"),
        baseline=name(other),
        measure=measure,
        expected="higher",
        words=f"{words}: gain of top-u over random under VOGN, minus that of {other}",
        gains=(name("random, VOGN"), name(f"random, {network}")),
    )


def better(what: str, other: str, table: str, pairs: Sequence[Pair]) -> Claim:
    """That top-u under VOGN chooses better than another way."""
    sentence = f"top-u under VOGN chooses better {what} than {other.replace(', ', ' of a ')} network."
    return Claim(sentence=sentence, table=table, pairs=pairs)
