"""Copies are found by content and by looks, and no two of a group can be asked."""

import io

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

import askwise as aw
from askwise.errors import InputError
from askwise.pool.alike import SIDE, distances, jaccard, picture_print, shingles, text_bands
from askwise.pool.duplicates import (
    Duplicates,
    alike_features,
    alike_texts,
    duplicates,
    equal,
    merged,
    once,
)


def photo(seed, side=160):
    """Something with large and small shapes, as photos have."""
    rng = np.random.default_rng(seed)
    layers = [
        Image.fromarray(rng.integers(0, 256, size=(size, size, 3), dtype=np.uint8)).resize((side, side))
        for size in (4, 9, 20)
    ]
    mixed = np.mean([np.asarray(layer, dtype=float) for layer in layers], axis=0)
    return Image.fromarray(mixed.astype(np.uint8)).filter(ImageFilter.GaussianBlur(1))


def stored(image, **options):
    stream = io.BytesIO()
    image.save(stream, "JPEG", **options)
    return stream.getvalue()


def print_of(image):
    return picture_print(np.asarray(image.convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)) / 255)


@pytest.fixture
def tripled(tmp_path):
    """Thirty photos, each with an equal copy and one stored anew, smaller."""
    for number in range(30):
        image = photo(number)
        (tmp_path / f"{number:02}-a.jpg").write_bytes(stored(image, quality=92))
        (tmp_path / f"{number:02}-b.jpg").write_bytes(stored(image, quality=92))
        (tmp_path / f"{number:02}-c.jpg").write_bytes(stored(image.resize((110, 110)), quality=70))
    return tmp_path


def wanted_groups():
    return [tuple(f"{number:02}-{copy}.jpg" for copy in "abc") for number in range(30)]


def test_every_photo_tripled_is_thirty_groups_of_three(tripled):
    found = duplicates(aw.pool.images(tripled, size=32))
    assert found.exact == [group[:2] for group in wanted_groups()]
    assert found.groups == wanted_groups()
    assert found.line() == "30 exact and 30 near copies in 30 groups; each group is asked once"


@pytest.mark.parametrize("strategy", ["top_k", "k_center", "typiclust"])
def test_no_batch_of_ten_holds_two_copies_whatever_chooses(tripled, strategy):
    pool = aw.pool.images(tripled, size=8)
    groups = duplicates(pool).groups
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    told: list[str] = []
    for batch in range(3):
        ids = once([name for name in pool.ids if name not in told], groups, told=told)
        rows = pool.read(ids).inputs.flatten(1)
        scores = rows[:, 0].round(decimals=2)
        given_ = {"scores": scores} if strategy == "top_k" else {"features": rows}
        picks = aw.select(strategy, ids=ids, count=10, seed=batch, **given_)
        chosen = [ids[place] for place in picks.tolist()]
        assert len({group_of[name] for name in chosen}) == 10
        assert not {group_of[name] for name in chosen} & {group_of[name] for name in told}
        told += chosen
    assert once([name for name in pool.ids if name not in told], groups, told=told) == []
    everything = list(pool.ids)
    close = aw.select(
        "top_k", scores=pool.read(everything).inputs[:, 0, 0, 0].round(decimals=1), ids=everything, count=10
    )
    assert len({group_of[everything[place]] for place in close.tolist()}) < 10  # the control: without groups


def test_a_pool_that_has_grown_is_looked_at_as_a_whole(tmp_path):
    for folder, quality in (("one", 90), ("two", 60)):
        (tmp_path / folder).mkdir()
        for number in range(3):
            name = tmp_path / folder / f"{folder}-{number}.jpg"
            name.write_bytes(stored(photo(number), quality=quality))
    pool = aw.pool.images(tmp_path / "one", size=16)
    pool.add(aw.pool.images(tmp_path / "two", size=16))
    wanted = [(f"one-{number}.jpg", f"two-{number}.jpg") for number in range(3)]
    assert duplicates(pool) == Duplicates([], wanted)
    features = aw.pool.features(pool, torch.nn.Flatten())
    assert duplicates(features) == Duplicates([], wanted)


def test_pictures_that_cannot_be_read_and_flat_ones_are_in_no_group(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "b.png").write_bytes(b"")
    for name, value in (("black.png", 0), ("white.png", 255)):
        Image.fromarray(np.full((20, 20), value, np.uint8)).save(tmp_path / name)
    assert duplicates(aw.pool.images(tmp_path)) == Duplicates([], [], ("a.png", "b.png"))
    (tmp_path / "again.png").write_bytes((tmp_path / "black.png").read_bytes())
    assert duplicates(aw.pool.images(tmp_path)).groups == [("again.png", "black.png")]


def test_a_fingerprint_outlives_storing_and_light_and_tells_pictures_apart():
    prints = np.stack([print_of(photo(seed)) for seed in range(40)])
    for seed in range(40):
        image = photo(seed)
        for copy in (
            Image.open(io.BytesIO(stored(image, quality=40))),
            image.resize((90, 70)),
            image.point(lambda value: min(255, int(value * 1.1) + 5)),
        ):
            far = distances(print_of(copy), prints)
            assert far[seed] <= 28
            assert np.delete(far, seed).min() > 56


def test_the_bits_of_a_fingerprint_are_the_signs_of_a_cosine_transform():
    from scipy.fft import dctn

    grey = np.random.default_rng(3).random((SIDE, SIDE))
    waves = dctn(grey - grey.mean(), type=2)[:16, :16].ravel()[1:]
    bits = np.append(waves > np.median(waves), False)
    assert (picture_print(grey) == np.packbits(bits).view(np.uint64)).all()


def test_texts_with_small_changes_are_near_and_others_are_not():
    long = "The quick brown fox jumps over the lazy dog and runs away through the old forest at night"
    texts = {
        "a": long,
        "b": long.upper() + "  ",
        "c": long + "!",
        "d": "A short note about something else entirely, which has nothing to do with animals at all",
        "e": "yes",
        "f": "no",
        "g": "Yes ",
        "h": "",
    }
    assert alike_texts(texts) == [("a", "b", "c"), ("e", "g")]
    pool = aw.pool.text([long, long, long.lower(), "another"])
    found = duplicates(pool)
    ids = list(pool.ids)
    assert found == Duplicates([tuple(ids[:2])], [tuple(ids[:3])])


def test_text_bands_meet_for_all_pairs_that_share_enough():
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(300)]
    met, near = 0, 0
    for _ in range(200):
        chosen = rng.choice(words, size=40)
        other = chosen.copy()
        other[rng.integers(40, size=2)] = rng.choice(words, size=2)
        one, two = shingles(" ".join(chosen)), shingles(" ".join(other))
        if jaccard(one, two) >= 0.8:
            near += 1
            met += bool(set(text_bands(one)) & set(text_bands(two)))
    assert near > 100
    assert met == near


def test_features_that_point_one_way_are_copies_and_every_pair_is_seen():
    rng = torch.Generator().manual_seed(0)
    rows = torch.randn(30, 6, generator=rng)
    rows[11] = rows[3] * 2
    rows[29] = rows[3] + 1e-3 * rows[4]
    ids = [f"i{number}" for number in range(30)]
    assert alike_features(ids, rows, cosine=0.999) == [("i3", "i11", "i29")]
    assert alike_features(ids, rows, cosine=1.0) == [("i3", "i11")]
    with pytest.raises(InputError, match="wanted are a cosine above 0"):
        alike_features(ids[1:], rows, cosine=0.9)


def test_equal_rows_of_an_array_are_copies_under_any_ids():
    rows = np.array([[1.0], [2.0], [1.0]])
    assert duplicates(aw.pool.arrays(rows, ids="abc")) == Duplicates([("a", "c")], [("a", "c")])
    assert duplicates(aw.pool.arrays(rows[:2])).line() == "no duplicates"
    assert equal({"x": 1, "y": 2, "z": 1}) == [("x", "z")]


NAMES = [str(number) for number in range(9)]


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), max_size=6))
def test_merged_groups_are_the_connected_parts(groups):
    found = merged(groups, order=NAMES)
    reach = {name: {name} for name in NAMES}
    for _ in NAMES:  # brute force: until nothing changes
        for group in groups:
            joined = set().union(*(reach[name] for name in group))
            for name in joined:
                reach[name] = joined
    wanted = {tuple(sorted(part)) for part in reach.values() if len(part) > 1}
    assert set(found) == wanted
    assert found == sorted(found)


@given(
    st.permutations(NAMES),
    st.lists(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4), max_size=4),
    st.sets(st.sampled_from(NAMES)),
)
def test_what_may_be_asked_has_one_of_each_group_and_none_whose_copy_is_told(ids, pairs, told):
    groups = merged(pairs, order=NAMES)
    kept = once([name for name in ids if name not in told], groups, told=told)
    for group in groups:
        assert len(set(group) & set(kept)) == (0 if set(group) & told else 1)
    alone = set(NAMES) - {name for group in groups for name in group} - told
    assert alone <= set(kept)
