"""A flipped bit or a cut file beside the store is named before it is used, or changes nothing."""

import random
import shutil
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load as load_tensors
from simulated_disk import Disk
from small_run import IDS, POINTS, TRUTH, learner, network, pool
from test_power_cut import recorded
from torch import nn

from askwise.bayes.fitted import load
from askwise.errors import AskwiseError
from askwise.loop.added import added
from askwise.pool import arrays, features
from askwise.store.facts import FACTS
from askwise.store.memory import MemoryStore
from askwise.store.sql import SqlStore


def damaged(content: bytes, chance: random.Random, *, cut: bool) -> bytes:
    """One bit turned over somewhere, or only the beginning."""
    bad = bytearray(content)
    if cut:
        del bad[chance.randrange(len(bad)) :]
    else:
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
    return bytes(bad)


def tried(home: Path, folder: Path, use, careless, count: int, seed: int) -> Counter:
    """What came of so many damaged files of a folder: `use` says what it finds in a copy of it.

    The same, refused with the name of the file, or in silence something else; and how often somebody
    careless, who checks nothing, would have found something else.
    """
    wanted, plain = use(home), careless(home)
    chance, found = random.Random(seed), Counter()
    files = sorted(path.relative_to(home) for path in home.rglob("*") if path.is_file())
    for number in range(count):
        copy = folder / f"copy-{number}.added"
        shutil.copytree(home, copy)
        [bad] = chance.choices(files, [(home / file).stat().st_size for file in files])
        (copy / bad).write_bytes(damaged((home / bad).read_bytes(), chance, cut=number % 6 == 5))
        try:
            found["the same" if use(copy) == wanted else "in silence something else"] += 1
        except AskwiseError as error:
            found["refused by name" if str(copy) in str(error) else "refused without a name"] += 1
        with suppress(Exception):
            found["wrong without sums"] += careless(copy) != plain
        shutil.rmtree(copy)
    return found


def sound(found: Counter) -> bool:
    return not found["in silence something else"] and not found["refused without a name"]


@pytest.fixture(scope="module")
def homes(memory_disk):
    """A run's folder of one checkpoint, of features, and of added items; and how each is used."""
    with learner(memory_disk / "run.db", pool=pool(POINTS[:30], IDS[:30])) as run:
        run.add(pool(POINTS[30:40], IDS[30:40]))
        run.tell({one.id: TRUTH[one.id] for one in run.ask()})
        run.ask()
        checkpoint = memory_disk / "run.db.checkpoints" / run.rounds()[-1].checkpoint
    encoder = nn.Linear(4, 6).eval().requires_grad_(False)
    seen = arrays(POINTS[:40], ids=IDS[:40])
    features(seen, encoder, cache=memory_disk / "features").read(IDS[:40])

    def model(place):
        return load(place, network=network()).digest()

    def weights(place):
        found = [load_tensors(path.read_bytes()) for path in sorted(place.glob("*.safetensors"))]
        return [(name, value.tolist()) for one in found for name, value in one.items()]

    def encoded(place):
        return features(seen, encoder, cache=place).read(IDS[:40]).inputs.tolist()

    def raw(place):
        return [path.read_bytes()[-40 * 24 :] for path in sorted(place.iterdir())]

    def items(place):
        store = MemoryStore()
        store.folder = place.with_suffix(".checkpoints")
        return [(list(one.ids), one.read(list(one.ids)).inputs.tolist()) for one in added(store)]

    def arrays_of(place):
        return [np.load(path).tolist() for path in place.rglob("*.npy")], [
            path.read_text() for path in place.rglob("*.json")
        ]

    return {
        "checkpoint": (checkpoint, model, weights),
        "features": (memory_disk / "features", encoded, raw),
        "added": (memory_disk / "run.db.added", items, arrays_of),
    }


KINDS = ["checkpoint", "features", "added"]


@pytest.mark.parametrize("kind", KINDS)
def test_damage_beside_the_store_is_named_or_changes_nothing(homes, kind, folder):
    home, use, careless = homes[kind]
    found = tried(home, folder, use, careless, 30, seed=0)
    assert sound(found), found
    assert found["wrong without sums"] > 0  # control


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_damages_beside_the_store_are_named_or_change_nothing(
    homes, kind, folder, record_property
):
    home, use, careless = homes[kind]
    found = tried(home, folder, use, careless, 300, seed=1)
    for what, count in found.items():
        record_property(f"{kind}: {what}", count)
    assert sound(found), found
    assert found["wrong without sums"] > 0


@pytest.fixture(scope="module")
def hot(tmp_path_factory):
    """The files after power cuts in the middle of a commit: a database half written, and its journal."""
    home = tmp_path_factory.mktemp("hot")
    events, disk, found, begun = recorded(home / "recorded", "EXTRA"), Disk(), [], False
    for event in events:
        disk.play(event)
        begun = begun or event[0] == "acknowledged"
        if begun and event[0] == "write" and event[1] == "run.db":
            disk.cut(home / str(len(found)), random.Random(len(found)))
            if (home / str(len(found)) / "run.db-journal").exists():
                found.append(home / str(len(found)))
            else:
                shutil.rmtree(home / str(len(found)))
    return found


def stored(place: Path):
    store = SqlStore(place / "run.db", access="read")
    try:
        return store.facts(*FACTS), store.places()
    finally:
        store.close()


def journals(hot, folder: Path, count: int, seed: int) -> Counter:
    """What came of damage to the journal of a commit that was cut: before it, after it, or refused."""
    chance, found = random.Random(seed), Counter()
    ends = {}
    for number in range(count):
        home = chance.choice(hot)
        if home not in ends:
            shutil.copytree(home, folder / "whole")
            ends[home] = stored(folder / "whole")[0]
            shutil.rmtree(folder / "whole")
        copy = folder / f"hot-{number}"
        shutil.copytree(home, copy)
        journal = copy / "run.db-journal"
        journal.write_bytes(damaged(journal.read_bytes(), chance, cut=number % 6 == 5))
        try:
            facts, _ = stored(copy)
            before = ends[home]
            whole = facts[: len(before)] == before and len(facts) <= len(before) + 1
            found["the same" if whole else "in silence something else"] += 1
        except AskwiseError as error:
            found["refused by name" if str(copy) in str(error) else "refused without a name"] += 1
        shutil.rmtree(copy)
    return found


def test_damage_to_the_journal_of_an_unfinished_commit_is_named_or_changes_nothing(hot, folder):
    found = journals(hot, folder, 40, seed=0)
    assert sound(found), found


@pytest.mark.slow
def test_hundreds_of_damages_to_the_journal_are_named_or_change_nothing(hot, folder, record_property):
    found = journals(hot, folder, 300, seed=1)
    for what, count in found.items():
        record_property(f"journal: {what}", count)
    assert sound(found), found
