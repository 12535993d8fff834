"""Bring a store up to date with what a process has: plan, classes, conditions, items."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from askwise.bayes.posteriors import as_posterior
from askwise.bayes.program.trace import outputs_of
from askwise.errors import InputError
from askwise.loop.conditions import changes, refuse
from askwise.loop.plan import Plan, planned
from askwise.loop.setting import Setting
from askwise.loop.testing import refuse_untestable
from askwise.store.classes import edited
from askwise.store.contract import Store
from askwise.store.facts import ClassEdit, Fact, Item, Listed, Planned, Policy, Quarantine, Segment
from askwise.tasks import named
from askwise.train.progress import meter

_CHUNK = 10_000  # ids hashed at a time
_TOLD = 1_000  # items taken in between two words about it
MISSING = "it is not in the pool any more"


def open_run(setting: Setting, now: Mapping[str, Any], *, exact: bool) -> None:
    """Append what is new since the store was last open; what contradicts it is refused first."""
    refuse_untestable(setting.store, setting.plan, len(setting.pool) - len(setting.held))
    facts = [*_classes(setting), *_segment(setting.store, now, exact), *_policy(setting), *_plan(setting)]
    digest = _digest(setting)
    known = setting.store.last(Listed)
    if known is not None and (known.sha256, known.count) == (digest, setting.store.count()):
        setting.store.append(facts)
        setting.synced = len(setting.pool)
        return
    items, missing = _compared(setting)
    setting.store.append(facts)
    _take_in(setting, items, missing, digest)


def _take_in(setting: Setting, items: Iterator[Item], missing: Sequence[str], digest: str) -> None:
    """Append new items, and quarantine those that cannot be had (release them if they can)."""
    bad = _quarantines(setting, missing)
    known = setting.store.count()
    with meter(len(setting.pool) - known, "taking in", unit="items", show=setting.follow) as advance:
        setting.store.append(_listed(items, bad, known, digest, advance))
    setting.ledger.refresh()
    setting.synced = len(setting.pool)


def _listed(
    items: Iterator[Item],
    bad: Sequence[Quarantine],
    count: int,
    digest: str,
    advance: Callable[[int], None],
) -> Iterator[Fact]:
    """The items, those that cannot be had, and last that the whole pool is taken in with them."""
    for item in items:
        count += 1
        if not count % _TOLD:
            advance(_TOLD)
        yield item
    yield from bad
    yield Listed(sha256=digest, count=count)


def _digest(setting: Setting) -> str:
    """The hash of a pool as a list of ids, of those held out and of those that are known to be bad."""
    found = sha256()
    for names in (setting.pool.ids, sorted(setting.held), sorted(setting.pool.quarantined)):
        rest = iter(names)
        while some := list(islice(rest, _CHUNK)):
            found.update(json.dumps(some).encode())
        found.update(b"\n")
    return found.hexdigest()


def sync_grown(setting: Setting) -> None:
    """Take in what the pool has gained since the store last looked."""
    with setting.lock:
        if len(setting.pool) != setting.synced:
            _take_in(setting, *_compared(setting), _digest(setting))


def set_aside(setting: Setting, reasons: Mapping[str, str]) -> list[str]:
    """The ids of items that will not be asked, and were not yet: bad ones, or copies of others."""
    ledger = setting.ledger.refresh()
    new = [name for name in reasons if not ledger.known(name) and name not in setting.held]
    setting.pool.check(new)
    setting.store.append([Quarantine(id=name, reason=reasons[name]) for name in new])
    ledger.refresh()
    return new


def retry(setting: Setting) -> list[str]:
    """The ids of quarantined items that can be read again, and are back in the pool."""
    bad = [name for name in setting.ledger.refresh().quarantined if name in setting.pool]
    back = setting.pool.read(bad).ids
    setting.store.append([Quarantine(id=name, reason=None) for name in back])
    return back


def check_outputs(network: nn.Module, like: Tensor, plan: Plan) -> tuple[int, int]:
    """The pixels of a mask, 0 x 0 without any; a network that does not fit items or plan is refused."""
    outputs = outputs_of(network, torch.zeros_like(like)[None])
    if plan.kind != "classification":
        named(plan.task).predictive(outputs.unsqueeze(1))  # it says what is wrong with the shape
    pixels = tuple(outputs.shape[2:]) if plan.kind == "segmentation" else (0, 0)
    count, wanted = outputs.shape[1] if any(pixels) else outputs.shape[-1], plan.outputs
    if plan.kind == "regression" and plan.task.get("tau") is None:
        wanted *= 2  # means, then log-variances
    if count != wanted:
        there = f"there are {wanted} {plan.made_of}"
        if plan.kind == "regression":
            there = f"should have {wanted} for {len(plan.names)} numbers"
        raise InputError(f"the network has {count} outputs, and {there}; make them equal")
    as_posterior(plan.posterior).suits(network, torch.zeros_like(like)[None])
    return pixels[0], pixels[1]


def stored_classes(store: Store) -> tuple[str, ...]:
    """The names of the classes, by the facts."""
    return tuple(edited(store.facts(ClassEdit)).names)


def _classes(setting: Setting) -> list[Fact]:
    if setting.plan.kind == "regression":
        return []
    before, now = stored_classes(setting.store), setting.plan.names
    word = setting.plan.made_of
    if now[: len(before)] != before:
        raise InputError(
            f"store {setting.store.name} has the {word} {', '.join(before)}, and the plan {', '.join(now)}; "
            "new ones can only be added at the end"
        )
    if setting.plan.tags and before and len(now) > len(before) and setting.store.places().labelled:
        raise InputError(
            f"store {setting.store.name} has answers that say nothing of the tag {now[len(before)]!r}; "
            "tags are added before the first answer, or in a new store"
        )
    return [ClassEdit(edit="add", number=place, name=now[place]) for place in range(len(before), len(now))]


def _policy(setting: Setting) -> list[Fact]:
    past = setting.store.facts(Policy)
    before = past[-1].policy if past else "latest"
    return [] if before == setting.plan.policy else [Policy(policy=setting.plan.policy)]


def _plan(setting: Setting) -> list[Fact]:
    now, past = planned(setting.plan), setting.store.facts(Planned)
    before = past[-1].plan.get("task", {"name": "classification"})["name"] if past else setting.plan.kind
    if before != setting.plan.kind:
        raise InputError(
            f"store {setting.store.name} holds a run of {before}, and the plan is of {setting.plan.kind}; "
            "choose another store"
        )
    return [] if past and past[-1].plan == now.plan else [now]


def _segment(store: Store, now: Mapping[str, Any], exact: bool) -> list[Fact]:
    past = store.facts(Segment)
    if not past:
        return [Segment(conditions=dict(now))]
    before = past[-1].conditions
    changed = changes(before, now)
    if changed and exact:
        refuse(before, now, changed)
    return [Segment(conditions=dict(now), changed=changed)] if changed else []


def _compared(setting: Setting) -> tuple[Iterator[Item], list[str]]:
    """The items that the store does not have, and the ids that the pool does not have."""
    pool, held, store = setting.pool, setting.held, setting.store
    here, missing = 0, list[str]()
    for name in store.ids():  # once: there may be millions, and each is checked
        if name in held:
            raise InputError(
                f"item {name!r} is in store {store.name} already, so it cannot be held out now; "
                "hold it out from the start, in a new store"
            )
        if name in pool:
            here += 1
        else:
            missing.append(name)
    if missing and not here:
        raise InputError(
            f"store {store.name} has {len(missing)} items and none of them is in this pool; "
            "was it made for other data? choose another store"
        )
    if here == len(pool) - sum(name in pool for name in held):
        return iter(()), missing
    known = set(store.ids()) if here else set[str]()
    return (Item(id=name) for name in pool.ids if name not in held and name not in known), missing


def _quarantines(setting: Setting, missing: Sequence[str]) -> list[Quarantine]:
    pool, quarantined = setting.pool, setting.ledger.quarantined
    bad = {name: why for name, why in pool.quarantined.items() if name not in setting.held}
    bad |= dict.fromkeys(missing, MISSING)
    new = {name: why for name, why in bad.items() if name not in quarantined}
    back = [name for name, why in quarantined.items() if why == MISSING and name not in bad]
    return [Quarantine(id=name, reason=why) for name, why in new.items()] + [
        Quarantine(id=name, reason=None) for name in back
    ]
