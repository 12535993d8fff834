"""A pool of features: computed once, found again by encoder, id and content."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.pool import arrays, dataset, features, images, text
from askwise.pool.encoding import encode

X = np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32)
IDS = [f"item-{number}" for number in range(90)]


class Counting(nn.Linear):
    """An encoder that counts the items it has seen, in all its copies."""

    seen = 0

    def forward(self, inputs):
        Counting.seen += len(inputs)
        return super().forward(inputs)


def encoder(seed=0, width=5, takes=6) -> nn.Module:
    torch.manual_seed(seed)
    return Counting(takes, width).requires_grad_(False)


@pytest.fixture(autouse=True)
def _from_nought():
    Counting.seen = 0


PROOF = 1
"""One item is computed again, to prove that what is kept is the encoder's."""
BATCH = 32
"""A pass takes so many, however few are wanted."""


def computed(pool, ids) -> int:
    """How many items the encoder sees when these are read."""
    Counting.seen = 0
    pool.read(ids)
    return Counting.seen


def test_it_has_the_same_ids_and_the_encoders_outputs():
    own, pool = encoder(), arrays(X, ids=IDS)
    found = features(pool, own)
    assert list(found.ids) == IDS
    assert len(found) == 90
    assert "item-3" in found
    assert found.like().shape == (5,)
    order = [IDS[at] for at in np.random.default_rng(1).permutation(90)] + ["item-3"]
    for _ in range(2):
        reading = found.read(order)
        assert reading.ids == order
        assert torch.allclose(reading.inputs, own(pool.read(order).inputs), atol=1e-6)


def test_a_second_process_reads_instead_of_computing(tmp_path):
    first = features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS).inputs
    again = features(arrays(X, ids=IDS), encoder(), cache=tmp_path)
    assert computed(again, IDS) == PROOF
    assert computed(again, IDS) == 0
    assert torch.equal(again.read(IDS).inputs, first)


def test_the_bits_do_not_depend_on_company_or_cache(tmp_path):
    whole = features(arrays(X, ids=IDS), encoder()).read(IDS).inputs
    pieces = features(arrays(X, ids=IDS), encoder(), cache=tmp_path)
    for start in (70, 3, 41, 0):
        part = pieces.read(IDS[start : start + 20])
        assert torch.equal(part.inputs, whole[start : start + 20])
    assert torch.equal(pieces.read(IDS).inputs, whole)


def test_only_what_is_missing_is_computed(tmp_path):
    features(arrays(X[:60], ids=IDS[:60]), encoder(), cache=tmp_path).read(IDS[:60])
    more = features(arrays(X, ids=IDS), encoder(), cache=tmp_path)
    assert computed(more, IDS) == PROOF + BATCH  # 30 items were missing
    assert torch.equal(more.read(IDS).inputs, encode(encoder(), torch.from_numpy(X)))


def test_an_item_whose_content_has_changed_is_computed_anew(tmp_path):
    features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS)
    other = X.copy()
    other[7] += 1
    changed = features(arrays(other, ids=IDS), encoder(), cache=tmp_path)
    assert torch.equal(changed.read(IDS).inputs, encode(encoder(), torch.from_numpy(other)))
    scaled = features(arrays(X, ids=IDS, scale=2.0), encoder(), cache=tmp_path).read(IDS).inputs
    assert torch.equal(scaled, encode(encoder(), 2 * torch.from_numpy(X)))
    # ids that are made from contents say nothing of the scale
    one = features(arrays(X), encoder(), cache=tmp_path)
    two = features(arrays(X, scale=2.0), encoder(), cache=tmp_path)
    assert not torch.equal(one.read(list(one.ids)).inputs, two.read(list(two.ids)).inputs)


@pytest.mark.parametrize(
    "other", [encoder(seed=1), encoder(width=4), nn.Sequential(encoder(seed=2), nn.ReLU())]
)
def test_another_encoder_computes_its_own(tmp_path, other):
    features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS)
    found = features(arrays(X, ids=IDS), other, cache=tmp_path).read(IDS).inputs
    assert torch.equal(found, encode(other, torch.from_numpy(X)))
    assert features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS[:1]).inputs.shape == (1, 5)


def test_an_encoder_with_other_code_under_the_same_name_is_noticed(tmp_path, monkeypatch):
    features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS)
    monkeypatch.setattr(Counting, "forward", lambda self, x: nn.functional.linear(x, self.weight))
    found = features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS).inputs
    assert torch.equal(found, encode(encoder(), torch.from_numpy(X)))


def test_a_later_change_of_the_given_encoder_does_not_mix(tmp_path):
    own = encoder()
    pool = features(arrays(X, ids=IDS), own, cache=tmp_path)
    before = pool.read(IDS[:40]).inputs
    own.weight.zero_()
    assert torch.equal(pool.read(IDS).inputs[:40], before)
    assert torch.equal(pool.read(IDS).inputs, encode(encoder(), torch.from_numpy(X)))


def test_a_damaged_row_is_computed_anew(tmp_path):
    pool = features(arrays(X, ids=IDS), encoder(), cache=tmp_path)
    sound = pool.read(IDS).inputs
    (path,) = tmp_path.glob("*.rows")
    content = path.read_bytes()
    for place in range(0, len(content), 211):
        damaged = bytearray(content)
        damaged[place] ^= 16
        path.write_bytes(damaged)
        again = features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS)
        assert torch.equal(again.inputs, sound), place
    for length in range(0, len(content), 397):
        path.write_bytes(content[:length])
        again = features(arrays(X, ids=IDS), encoder(), cache=tmp_path).read(IDS)
        assert torch.equal(again.inputs, sound), length


def pictures(folder: Path, count=6) -> None:
    rng = np.random.default_rng(3)
    for number in range(count):
        pixels = rng.integers(0, 255, size=(8, 8), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")


def seen_pictures(folder: Path, cache: Path, size=8):
    pool = images(folder, size=size, channels=1)
    own = nn.Sequential(nn.Flatten(), encoder(takes=size * size))
    return features(pool, own, cache=cache), pool, own


def test_a_picture_that_was_painted_over_is_computed_anew(tmp_path):
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    folder.mkdir()
    pictures(folder)
    found, pool, own = seen_pictures(folder, cache)
    before = found.read(list(pool.ids)).inputs
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / "2.png")
    again = found.read(list(pool.ids)).inputs  # even by a pool that was open
    assert torch.equal(again, encode(own, pool.read(list(pool.ids)).inputs))
    assert (before != again).any(dim=1).tolist() == [False, False, True, False, False, False]


def test_pictures_are_known_by_size_and_time_and_by_how_they_are_read(tmp_path, monkeypatch):
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    folder.mkdir()
    pictures(folder)
    found, pool, _ = seen_pictures(folder, cache)
    found.read(list(pool.ids))
    opened = []
    real = pool._sources[0]._picture
    monkeypatch.setattr(
        pool._sources[0], "_picture", lambda name, looks: opened.append(name) or real(name, looks)
    )
    found.read(list(pool.ids))
    assert len(opened) == 1  # the proof; the others were not even opened
    os.utime(folder / "1.png")
    found.read(list(pool.ids))
    assert opened[1:] == ["1.png"]
    one, two = images(folder, size=8), images(folder, size=(4, 16))
    assert set(one.stamps(list(one.ids))).isdisjoint(two.stamps(list(two.ids)))


def test_a_picture_that_is_gone_or_broken_is_quarantined_as_ever(tmp_path):
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    folder.mkdir()
    pictures(folder)
    found, pool, _ = seen_pictures(folder, cache)
    found.read(list(pool.ids))
    (folder / "0.png").unlink()
    (folder / "4.png").write_text("no picture")
    reading = found.read(list(pool.ids))
    assert reading.ids == ["1.png", "2.png", "3.png", "5.png"]
    assert set(reading.quarantined) == {"0.png", "4.png"}
    assert len(reading.inputs) == 4


def test_texts_are_known_by_their_words_and_by_how_they_are_encoded(tmp_path):
    own = aw.nets.tiny_encoder(vocabulary=50, width=4).requires_grad_(False)
    words = ["one two three", "four five six seven", "two four"]

    def read(texts, length):
        pool = text(texts, encode=lambda some: own.tokens(some, length=length))
        ids = list(pool.ids)
        found = features(pool, own, cache=tmp_path).read(ids).inputs
        assert torch.allclose(found, own(pool.read(ids).inputs), atol=1e-6)
        return found

    long, short = read(words, 6), read(words, 2)  # equal ids, equal texts, and other tokens
    assert not torch.equal(long, short)
    assert torch.equal(read(words, 6), long)


def test_an_encode_that_takes_no_texts_but_its_own_is_kept_by_what_it_gives(tmp_path):
    tokens = {"one": 1, "two": 2}
    pool = text(list(tokens), encode=lambda some: torch.tensor([[float(tokens[word])] * 6 for word in some]))
    assert pool.stamps(list(pool.ids)) == [None, None]
    features(pool, encoder(), cache=tmp_path).read(list(pool.ids))
    assert computed(features(pool, encoder(), cache=tmp_path), list(pool.ids)) == PROOF


@pytest.mark.parametrize("ids", [None, IDS[:9]])
def test_entries_of_a_dataset_are_known_by_their_contents(tmp_path, ids):
    rows = torch.from_numpy(X[:9])
    first = dataset([(row, 0) for row in rows], ids=ids)
    features(first, encoder(), cache=tmp_path).read(list(first.ids))
    again = features(dataset([(row, 0) for row in rows], ids=ids), encoder(), cache=tmp_path)
    assert computed(again, list(again.ids)) == PROOF
    changed = dataset([(row + 1, 0) for row in rows], ids=ids)
    found = features(changed, encoder(), cache=tmp_path).read(list(changed.ids)).inputs
    assert torch.equal(found, encode(encoder(), rows + 1))


def test_it_grows_whichever_pool_is_added_to():
    pool = arrays(X[:10], ids=IDS[:10])
    found = features(pool, encoder())
    assert found.add(arrays(X[10:15], ids=IDS[10:15])) == IDS[10:15]
    assert pool.add(features(arrays(X[15:18], ids=IDS[15:18]), encoder())._items) == IDS[15:18]
    assert found.add(features(arrays(X[18:20], ids=IDS[18:20]), encoder())) == IDS[18:20]
    assert list(found.ids) == list(pool.ids) == IDS[:20]
    assert torch.equal(found.read(IDS[:20]).inputs, encode(encoder(), torch.from_numpy(X[:20])))


def test_its_features_may_join_a_pool_of_features():
    plain = arrays(encode(encoder(), torch.from_numpy(X[:3])), ids=IDS[:3])
    plain.add(features(arrays(X[3:6], ids=IDS[3:6]), encoder()))
    folder = plain._sources[1]._kept.path.parent
    assert folder.is_dir()  # it lives as long as its rows are wanted, not as the pool they came with
    assert torch.allclose(plain.read(IDS[:6]).inputs, encode(encoder(), torch.from_numpy(X[:6])))
    del plain
    assert not folder.exists()


def test_items_and_features_that_are_not_finite_are_quarantined():
    x = X[:4].copy()
    x[1, 0], x[2, 0] = np.nan, 3e38
    own = nn.Linear(6, 5).requires_grad_(False)
    own.weight.fill_(100.0)
    reading = features(arrays(x, ids=IDS[:4]), own).read(IDS[:4])
    assert reading.ids == ["item-0", "item-3"]
    assert set(reading.quarantined) == {"item-1", "item-2"}


def test_an_id_that_is_not_there_and_what_is_no_pool_are_refused(tmp_path):
    with pytest.raises(InputError, match="the pool has no item 'strange'"):
        features(arrays(X, ids=IDS), encoder()).read(["strange"])
    with pytest.raises(InputError, match="features are made of a pool, not of a ndarray"):
        features(X, encoder())
    with pytest.raises(InputError, match="still learns"):
        features(arrays(X, ids=IDS), nn.Linear(6, 2))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; give a folder"):
        features(arrays(X, ids=IDS), encoder(), cache=tmp_path / "file")


def test_without_a_cache_nothing_is_left_behind():
    pool = features(arrays(X, ids=IDS), encoder())
    pool.read(IDS)
    folder = pool._sources[0]._kept.path.parent
    assert folder.is_dir()
    del pool
    assert not folder.exists()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_a_forked_worker_computes_is_kept_for_all():
    pool = features(arrays(X, ids=IDS), encoder())
    child = os.fork()
    if child == 0:
        pool.read(IDS)
        del pool
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert computed(pool, IDS) == PROOF


def test_it_travels_to_another_process(tmp_path):
    pool = features(arrays(X, ids=IDS), encoder(), cache=tmp_path)
    first = pool.read(IDS).inputs
    assert torch.equal(pickle.loads(pickle.dumps(pool)).read(IDS).inputs, first)  # noqa: S301 - our own bytes
