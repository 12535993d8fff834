"""Pictures of microscopes and phones: more than 8 bits, channels, pages, HEIC, and the very large."""

import struct
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from askwise.errors import InputError
from askwise.pool import Stretch, features, images, stretch_of
from askwise.pool import tiff as tiff_reading

tifffile = pytest.importorskip("tifffile", reason="the extra [vision] is not installed")
RNG = np.random.default_rng(0)
CELLS = RNG.integers(0, 4096, size=(8, 10)).astype(np.uint16)  # 12 bits in 16


def write(path, pixels, **options):
    tifffile.imwrite(path, pixels, **options)
    return path.parent


def read(folder, **options):
    pool = images(folder, size=(8, 10), **options)
    return pool.read(list(pool.ids))


def one(folder, **options):
    found = read(folder, **options)
    assert not found.quarantined
    return found.inputs[0]


def spread(pixels, low, high):
    return torch.from_numpy(((pixels.astype(np.float64) - low) / (high - low)).clip(0, 1)).float()


def test_twelve_bits_in_a_tiff_use_the_whole_range_and_not_its_dark_end(tmp_path):
    folder = write(tmp_path / "x.tif", CELLS)
    found = one(folder, channels=1)[0]
    assert found.min() == 0
    assert found.max() == 1
    low, high = np.percentile(CELLS, [0.5, 99.5])
    torch.testing.assert_close(found, spread(CELLS, low, high))
    dark = one(folder, channels=1, stretch=Stretch((0.0,), (65535.0,)))
    assert dark.max() < 0.07  # the control: what dividing by the type's range would give


def test_twelve_bits_packed_into_bytes_are_read(tmp_path):
    wide, high = CELLS.shape[1], CELLS.shape[0]
    bits = (CELLS[..., None] >> np.arange(11, -1, -1)) & 1
    data = np.packbits(bits.astype(np.uint8).reshape(high, -1), axis=1).tobytes()
    tags = {256: wide, 257: high, 258: 12, 259: 1, 262: 1, 273: 8, 277: 1, 278: high, 279: len(data)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    directory = struct.pack("<H", len(tags)) + entries + bytes(4)
    (tmp_path / "x.tif").write_bytes(b"II*\0" + struct.pack("<I", 8 + len(data)) + data + directory)
    found = one(tmp_path, channels=1, stretch=Stretch((0.0,), (4095.0,)))[0]
    torch.testing.assert_close(found, spread(CELLS, 0, 4095))


@pytest.mark.parametrize("kind", [np.uint16, np.int16, np.uint32, np.float32, np.float64])
def test_every_kind_of_number_is_read(tmp_path, kind):
    folder = write(tmp_path / "x.tif", CELLS.astype(kind))
    found = one(folder, stretch=Stretch((1000.0,), (3000.0,)))
    torch.testing.assert_close(found, spread(CELLS, 1000, 3000).expand(3, -1, -1))


def test_the_stretch_is_one_for_the_whole_pool_and_each_channel_has_its_own(tmp_path):
    colours = np.stack([CELLS, CELLS // 4, CELLS * 8], axis=2)
    for number in range(3):
        write(tmp_path / f"{number}.tif", colours // (number + 1), photometric="rgb")
    stretch = stretch_of(tmp_path)
    everything = np.concatenate([(colours // (number + 1)).reshape(-1, 3) for number in range(3)])
    low, high = np.percentile(everything, [0.5, 99.5], axis=0)
    assert stretch == Stretch(tuple(map(float, low)), tuple(map(float, high)))
    found = read(tmp_path)
    for number in range(3):
        wanted = spread(colours // (number + 1), low, high).permute(2, 0, 1)
        torch.testing.assert_close(found.inputs[number], wanted)
    assert torch.equal(read(tmp_path, stretch=stretch).inputs, found.inputs)


def test_pictures_of_eight_bits_know_no_stretch(tmp_path):
    Image.fromarray(CELLS.astype(np.uint8)).save(tmp_path / "x.png")
    assert stretch_of(tmp_path) is None
    torch.testing.assert_close(one(tmp_path, channels=1)[0], spread(CELLS.astype(np.uint8), 0, 255))


def test_only_deep_pictures_are_decoded_to_find_the_stretch(tmp_path, monkeypatch):
    for number in range(5):
        Image.fromarray(CELLS.astype(np.uint8)).save(tmp_path / f"{number}.png")
    write(tmp_path / "x.tif", CELLS)
    module, decoded = sys.modules["askwise.pool.images"], []
    real = module.decode
    monkeypatch.setattr(module, "decode", lambda file, looks: decoded.append(looks) or real(file, looks))
    assert stretch_of(tmp_path) is not None
    assert len(decoded) == 1


def test_another_stretch_is_another_feature(tmp_path):
    (tmp_path / "a").mkdir()
    folder = write(tmp_path / "a" / "x.tif", CELLS)
    flatten = torch.nn.Flatten()
    rows = []
    for high in (4000.0, 2000.0):
        pool = images(folder, size=2, stretch=Stretch((0.0,), (high,)))
        rows.append(features(pool, flatten, cache=tmp_path / "kept").read(["x.tif"]).inputs)
    assert not torch.equal(*rows)


@pytest.mark.parametrize(
    ("stack", "wanted"),
    [
        ("max", lambda pages: pages.max(axis=0)),
        ("mean", lambda pages: pages.mean(axis=0)),
        (1, lambda pages: pages[1]),
    ],
)
@pytest.mark.parametrize("kind", [np.uint16, np.float32])
def test_pages_become_one_picture_by_choice(tmp_path, stack, wanted, kind):
    pages = np.stack([CELLS, CELLS.T.reshape(8, 10), CELLS[::-1]]).astype(kind)
    folder = write(tmp_path / "x.tif", pages, photometric="minisblack")
    assert "3 pages or frames" in read(folder).quarantined["x.tif"]
    found = one(folder, stack=stack, channels=1, stretch=Stretch((0.0,), (4095.0,)))[0]
    torch.testing.assert_close(found, spread(wanted(pages), 0, 4095))


def test_pages_can_be_channels_and_bands_choose_among_them(tmp_path):
    pages = np.stack([CELLS, CELLS // 2, CELLS // 3, CELLS // 4])
    stretch = Stretch((0.0,), (4095.0,))
    for name, options in {
        "pages.tif": {"photometric": "minisblack"},
        "planes.tif": {"photometric": "minisblack", "planarconfig": "separate"},
    }.items():
        folder = write(tmp_path / name, pages, **options)
        found = one(folder, stack="channels", bands=(3, 0, 2), stretch=stretch)
        torch.testing.assert_close(found, spread(pages[[3, 0, 2]], 0, 4095))
        why = read(folder, stack="channels").quarantined[name]
        assert why == "it has 4 channels; choose one or three with bands=(0, 1, 2)"
        assert "it has 4 channels, and bands=" in read(folder, stack="channels", bands=(9,)).quarantined[name]
        (tmp_path / name).unlink()


def test_a_page_that_is_not_there_and_pages_of_different_sizes_are_named(tmp_path):
    with tifffile.TiffWriter(tmp_path / "x.tif") as file:
        file.write(CELLS)
        file.write(CELLS[:4])
    assert read(tmp_path, stack=5).quarantined == {"x.tif": "it has 2 pages, and page 5 (from 0) is wanted"}
    assert "its pages differ in size" in read(tmp_path, stack="max").quarantined["x.tif"]


def test_moving_pictures_are_a_stack_as_well(tmp_path):
    frames = [Image.fromarray(np.full((8, 10, 3), value, np.uint8)) for value in (40, 200)]
    frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
    assert one(tmp_path, stack=1).mean() * 255 == pytest.approx(200, abs=1)
    assert one(tmp_path, stack="mean").mean() * 255 == pytest.approx(120, abs=1)


def test_a_stretch_that_does_not_fit_is_refused(tmp_path):
    folder = write(tmp_path / "x.tif", CELLS)
    why = read(folder, stretch=Stretch((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))).quarantined["x.tif"]
    assert why == "it has 1 channels, and the stretch 3"
    for low, high in (((0.0,), (0.0,)), ((0.0, 1.0), (2.0,)), ((), ()), ((float("nan"),), (1.0,))):
        with pytest.raises(InputError, match="a stretch has a low value and a higher one"):
            Stretch(low, high)


@pytest.mark.parametrize("tile", [None, (16, 32)])
@pytest.mark.parametrize("planar", [False, True])
def test_a_tiff_too_large_to_be_read_whole_is_read_in_part(tmp_path, monkeypatch, tile, planar):
    monkeypatch.setattr(tiff_reading, "_THUMBNAIL", 400)
    big = RNG.integers(0, 255, size=(100, 90, 3)).astype(np.uint8)
    layout = {"planarconfig": "separate"} if planar else {}
    rows = {"tile": tile} if tile else {"rowsperstrip": 7}
    stored = big.transpose(2, 0, 1) if planar else big
    folder = write(tmp_path / "x.tif", stored, photometric="rgb", **layout, **rows)
    pool = images(folder, size=(20, 18), max_pixels=5000)
    found = pool.read(["x.tif"])
    assert not found.quarantined
    wanted = torch.from_numpy(big[::5, ::5].copy()).permute(2, 0, 1) / 255
    torch.testing.assert_close(found.inputs[0], wanted)


def test_a_large_tiff_in_one_piece_is_refused_before_it_is_read(tmp_path):
    folder = write(tmp_path / "x.tif", np.zeros((100, 90), np.uint8), rowsperstrip=100)
    assert "too large to be read one by one" in read(folder, max_pixels=5000).quarantined["x.tif"]


@pytest.mark.parametrize(("tag", "value"), [(256, 704_643_122), (257, 2**31), (277, 50_177)])
def test_a_header_that_claims_too_much_is_refused_before_time_is_spent_on_it(tmp_path, tag, value, capfd):
    colours = np.stack([CELLS] * 3, axis=2).astype(np.float32)
    folder = write(tmp_path / "x.tif", colours, photometric="rgb", tile=(16, 16))
    with tifffile.TiffFile(tmp_path / "x.tif", mode="r+b") as file:
        place = file.pages[0].tags[tag].offset
    content = bytearray((tmp_path / "x.tif").read_bytes())
    content[place : place + 12] = struct.pack("<HHII", tag, 4, 1, value)
    (tmp_path / "x.tif").write_bytes(content)
    found = read(folder, max_pixels=5000).quarantined["x.tif"]
    assert found.startswith("it")
    assert "\n" not in found
    assert capfd.readouterr().err == ""


def test_damaged_files_are_pictures_or_have_a_reason_and_nothing_else(tmp_path):
    plain, good = Image.fromarray(RNG.integers(0, 255, size=(20, 24, 3)).astype(np.uint8)), {}
    for name in ("x.png", "x.jpg", "x.gif", "x.webp", "x.bmp"):
        plain.save(tmp_path / name)
    write(tmp_path / "x.tif", np.stack([CELLS] * 3, axis=2), photometric="rgb", compression="zlib")
    write(tmp_path / "y.tif", np.stack([CELLS] * 3), photometric="minisblack")
    for path in list(tmp_path.iterdir()):
        good[path.name] = path.read_bytes()
        path.unlink()
    for number in range(30):
        for name, content in good.items():
            damaged = bytearray(content)
            for _ in range(1 + number % 4):
                damaged[RNG.integers(min(len(damaged), 60 + 20 * number))] = RNG.integers(256)
            (tmp_path / f"{number}{name}").write_bytes(damaged)
    pool = images(tmp_path, size=8, stack="max", stretch=Stretch((0.0,), (4095.0,)))
    found = pool.read(list(pool.ids))
    assert len(found.ids) + len(found.quarantined) == len(pool) == 30 * len(good)
    assert len(found.quarantined) > 30
    assert not any("\n" in why for why in found.quarantined.values())


def test_a_large_jpeg_is_decoded_small_and_a_large_png_is_refused(tmp_path):
    big = np.repeat(np.repeat(CELLS.astype(np.uint8), 100, axis=0), 100, axis=1)
    Image.fromarray(big).save(tmp_path / "x.jpg", quality=95)
    Image.fromarray(big).save(tmp_path / "x.png")
    found = read(tmp_path, channels=1, max_pixels=100_000)
    assert found.ids == ["x.jpg"]
    small = np.asarray(Image.fromarray(big).resize((10, 8), Image.Resampling.BILINEAR))
    torch.testing.assert_close(found.inputs[0, 0], spread(small, 0, 255), atol=0.05, rtol=0)
    assert "it has 1000 x 800 pixels, more than 100000" in found.quarantined["x.png"]


def test_heic_is_read_upright_where_the_library_is_there_and_counted_where_it_is_not(tmp_path, monkeypatch):
    pillow_heif = pytest.importorskip("pillow_heif", reason="the extra [vision] is not installed")
    half = np.zeros((64, 80, 3), np.uint8)
    half[:, 40:] = 255
    pillow_heif.from_pillow(Image.fromarray(half)).save(tmp_path / "x.heic", quality=90)
    found = one(tmp_path)
    assert found[:, :, :4].max() < 0.1
    assert found[:, :, 6:].min() > 0.9
    assert "pixels, more than 100" in read(tmp_path, max_pixels=100).quarantined["x.heic"]
    monkeypatch.setattr(sys.modules["askwise.pool.images"], "find_spec", lambda name: None)
    pool = images(tmp_path)
    assert pool.quarantined == {
        "x.heic": "it is HEIC, which needs pillow-heif: pip install 'askwise[vision]'"
    }


def test_without_tifffile_what_needs_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tifffile", None)
    folder = write(tmp_path / "colours.tif", np.stack([CELLS] * 3, axis=2), photometric="rgb")
    write(tmp_path / "grey.tif", CELLS)
    Image.fromarray(CELLS.astype(np.uint8)).convert("LA").save(folder / "opaque.tif")
    found = read(folder)
    assert found.ids == ["grey.tif", "opaque.tif"]
    assert (
        "3 channels of 16 bits, which needs tifffile: pip install 'askwise[vision]'"
        in found.quarantined["colours.tif"]
    )
