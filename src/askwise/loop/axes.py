"""How far a pool is encoded, and where its features vary: what a round sees while encoding goes on."""

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType

from askwise.loop.setting import Setting
from askwise.nets.axes import axes_of
from askwise.pool import Axes, fit_axes
from askwise.pool.features import FeaturePool
from askwise.store.facts import Encoded

FIRST = 64
"""Items that are encoded before anything is asked: two passes of an encoder, a few seconds."""
_LOOKED = 32  # items looked for at first, and twice as many as long as all of them are there
_NONE: Mapping[str, str] = MappingProxyType({})
_STEPS = (5_000, 1_000)  # items at which the axes are fitted again, before all are encoded
_MOST = 20_000  # items that they are fitted to: more of them change nothing that few labels would show


def seen_items(setting: Setting, number: int) -> Iterator[str]:
    """The items that may be asked about with the model of a round: of a pool still being encoded, a part."""
    if not _partial(setting):
        return setting.unlabelled()
    count = _prefix(setting, number)
    while True:
        seen = set(setting.order()[:count])
        rest = (name for name in setting.unlabelled() if name in seen)
        first = next(rest, None)
        if first is not None:
            return chain([first], rest)
        if count >= len(setting.pool):
            return iter(())
        count = _noted(setting, number, least=count + FIRST)  # all of them are asked: some more


def encoded_part(setting: Setting, number: int) -> frozenset[str] | None:
    """The items that are encoded in a round and may be asked about; None means all."""
    if not setting.partial or not _partial(setting):
        return None
    return frozenset(setting.order()[: _prefix(setting, number)])


def place_axes(setting: Setting, number: int) -> None:
    """Fit the network's axes, where it has some, to the pool as the round of that number sees it.

    How many items are encoded, in the order of their hashes, is written down with the digest of the axes
    before the first use: a round that was interrupted goes on with the same ones.
    """
    own = axes_of(setting.network)
    if own is None:
        return
    axes = _axes(setting, _prefix(setting, number), room=len(own.variance))
    own.place(axes.centre, axes.directions, axes.variance)
    own.power.fill_(0.5)


def _prefix(setting: Setting, number: int) -> int:
    """How many items, the first of the order, are encoded for a round; written down at the first use."""
    if setting.encoded is None:  # nobody but the trainer writes them
        own = _encoder(setting)  # of another encoder's features nothing follows for these
        noted = (fact for fact in setting.store.facts(Encoded) if fact.encoder == own)
        setting.encoded = {fact.round: fact.count for fact in noted}
    if number in setting.encoded:
        return setting.encoded[number]
    return _noted(setting, number, least=max(FIRST, 2 * setting.plan.initial.count))


def _noted(setting: Setting, number: int, *, least: int) -> int:
    own = axes_of(setting.network)
    count = _encoded(setting, least) if _partial(setting) else len(setting.pool)
    digest = "" if own is None else _axes(setting, count, room=len(own.variance)).digest
    setting.store.append([Encoded(round=number, encoder=_encoder(setting), count=count, sha256=digest)])
    setting.encoded = {**(setting.encoded or {}), number: count}
    return count


def _encoder(setting: Setting) -> str:
    return setting.encoder.get("encoder", "")


def _partial(setting: Setting) -> bool:
    """Whether some items may have no features yet, and nobody should wait for them."""
    return (setting.partial or setting.ready is not None) and isinstance(setting.pool, FeaturePool)


def _encoded(setting: Setting, least: int) -> int:
    """How far the pool is encoded without a gap; the first `least` items are encoded now, if need be."""
    order = setting.order()
    count = reached(setting)
    if count >= min(least, len(order)):
        return count
    return reached(setting, bad=setting.pool.read(order[:least]).quarantined)


def reached(setting: Setting, *, bad: Mapping[str, str] = _NONE) -> int:
    """How many items, the first of the order, have features or cannot have any.

    It looks on from where it was last time, and no further than the first gap: what a look costs follows
    from what is new. `bad` are items that cannot be read, and that nobody has written down yet.
    """
    pool, order = setting.pool, setting.order()
    if not isinstance(pool, FeaturePool):
        return len(order)
    known, count = (bad, setting.ledger.quarantined, pool.quarantined), _LOOKED
    while setting.reached < len(order):
        some = order[setting.reached : setting.reached + count]
        there = zip(some, pool.kept(some).tolist(), strict=True)
        gap = [not kept and not any(name in those for those in known) for name, kept in there]
        setting.reached += gap.index(True) if True in gap else len(some)
        if True in gap:
            break
        count *= 2
    return setting.reached


def _axes(setting: Setting, count: int, *, room: int) -> Axes:
    whole = count >= len(setting.pool)
    step = min(count, _MOST) if whole else next((one for one in _STEPS if one <= count), count)
    if setting.axes is None or setting.axes[0] != step:
        order = setting.order()[:step]
        reading = setting.pool.read([name for name in order if name not in setting.held])
        setting.axes = step, fit_axes(reading.inputs.flatten(1), count=room)
    return setting.axes[1]
