"""Where the models of rounds are by now: one may come onto the disk after its round."""

from collections.abc import Iterable
from dataclasses import replace

from askwise.store.contract import Store
from askwise.store.facts import Restored, Round


def as_kept(store: Store, rounds: Iterable[Round]) -> list[Round]:
    """These rounds, each with the checkpoint and the weights that its model has by now.

    A checkpoint without a name means that there is none on the disk.
    """
    later = {fact.round: fact for fact in store.facts(Restored)}
    return [
        replace(one, checkpoint=found.checkpoint, weights=found.weights)
        if (found := later.get(one.number)) is not None
        else one
        for one in rounds
    ]
