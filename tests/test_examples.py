"""Every example runs small, ends with its picture and gives numbers that hold."""

import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from PIL import Image

from askwise.errors import CorruptError, InputError

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "shared")


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _beside_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(EXAMPLES)
    with torch.random.fork_rng():
        yield
    sys.modules.pop("shared", None)


@pytest.fixture
def small(tmp_path: Path) -> Callable[[str], dict[str, float]]:
    def run(name: str) -> dict[str, float]:
        numbers: dict[str, float] = loaded(name).main(small=True, data_dir=None, out=tmp_path / "pictures")
        assert shows_something(tmp_path / "pictures" / f"{name}.png")
        assert all(math.isfinite(value) for value in numbers.values())
        return numbers

    return run


def shows_something(path: Path) -> bool:
    with Image.open(path) as image:
        colours = image.convert("L").getextrema()
        return min(image.size) > 200 and colours[1] - colours[0] > 100


def test_a_blank_picture_shows_nothing(tmp_path: Path) -> None:
    Image.new("RGB", (600, 400), "white").save(tmp_path / "blank.png")
    assert not shows_something(tmp_path / "blank.png")


def test_images_are_told_apart_far_better_than_by_chance(small: Callable[[str], dict[str, float]]) -> None:
    numbers = small("images")
    assert numbers["accuracy, bald"] > 0.5
    assert numbers["accuracy, random"] > 0.5


def test_tags_are_found_better_than_by_giving_every_tag_to_every_text(
    small: Callable[[str], dict[str, float]],
) -> None:
    numbers = small("text_tags")
    everything = 2 * 0.25 / (1 + 0.25)  # F1 of tags that a quarter of the texts have
    assert numbers["f1_macro"] > everything + 0.1
    assert numbers["top_1"] > 0.6
    assert numbers["top_1"] <= numbers["top_5"] <= 1


def test_numbers_are_predicted_better_than_by_their_mean(small: Callable[[str], dict[str, float]]) -> None:
    numbers = small("uci")
    deviation = 77.0  # of the target of the diabetes table
    for name in ("mc_dropout", "bbb", "laplace"):
        assert numbers[f"RMSE, {name}"] < 0.9 * deviation
        assert numbers[f"log-likelihood, {name}"] > -0.5 * math.log(2 * math.pi * math.e * deviation**2)


def test_masks_are_more_uncertain_where_they_are_wrong(small: Callable[[str], dict[str, float]]) -> None:
    numbers = small("masks")
    assert numbers["uncertainty where wrong, nats"] > numbers["uncertainty where right, nats"]
    assert numbers["accuracy of pixels"] > 0.6  # of six classes
    assert 0.3 < numbers["mean IoU"] < 1


def test_a_photo_never_seen_is_enlarged_better_than_by_bicubic(
    small: Callable[[str], dict[str, float]],
) -> None:
    numbers = small("super_resolution")
    assert numbers["PSNR, ours"] > numbers["PSNR, bicubic"]
    assert numbers["error in the most uncertain tenth"] > numbers["error in the other pixels"]


def test_the_judge_finds_digits_more_real_than_noise(small: Callable[[str], dict[str, float]]) -> None:
    numbers = small("gan")
    assert numbers["probability of real, real"] > numbers["probability of real, noise"] + 0.2
    for kind in ("real", "generated", "noise"):
        assert 0 <= numbers[f"disagreement, {kind}"] <= math.log(2)


def test_a_network_of_ones_own_learns_and_is_scored(small: Callable[[str], dict[str, float]]) -> None:
    numbers = small("own_network")
    assert numbers["accuracy"] > 0.6
    assert numbers["ratio"] == pytest.approx(numbers["seconds, plain passes"] / numbers["seconds"])


def test_vogn_in_ones_own_loop_is_less_certain_far_from_the_data(
    small: Callable[[str], dict[str, float]],
) -> None:
    numbers = small("vogn_loop")
    assert numbers["accuracy"] > 0.9
    assert numbers["BALD far from it"] > numbers["BALD near the data"]


def test_text_without_its_data_says_so_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert loaded("text_tags").main(small=False, data_dir=tmp_path, out=tmp_path) == {}
    said = capsys.readouterr().out
    assert said.startswith("skipped: goemotions is not here")
    assert said.count("\n") == 1


def test_damaged_data_are_not_passed_over() -> None:
    here = loaded("shared").here

    def damaged() -> None:
        raise CorruptError("mnist is damaged")

    def missing() -> None:
        raise InputError("mnist is not here")

    assert here(missing, otherwise="digits instead") is None
    with pytest.raises(CorruptError):
        here(damaged, otherwise="digits instead")


def test_a_small_run_leaves_the_pictures_of_the_full_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, object]] = []

    def main(**given: object) -> dict[str, float]:
        seen.append(given)
        return {}

    for arguments in ([], ["--small"], ["--out", "elsewhere", "--splits", "20"]):
        monkeypatch.setattr(sys, "argv", ["example.py", *arguments])
        loaded("shared").run(main, "about", splits=3)
    assert [given["out"] for given in seen] == [
        ROOT / "results/examples",
        ROOT / ".runs/examples",
        Path("elsewhere"),
    ]
    assert [given["splits"] for given in seen] == [3, 3, 20]


def test_every_example_is_in_the_read_me_and_in_make() -> None:
    told = (EXAMPLES / "README.md").read_text()
    (line,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("EXAMPLES")]
    assert sorted(line.partition(":=")[2].split()) == NAMES
    assert all(f"({name}.py)" in told and f"examples/{name}.png" in told for name in NAMES)
