"""What is saved comes back to the bit, and what is damaged or does not fit is refused by name."""

import hashlib
import json
import os
from pathlib import Path

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.errors import CorruptError, InputError
from askwise.train import Training


def fitted_on(network: nn.Module) -> Fitted:
    rng = torch.Generator().manual_seed(0)
    data = torch.randn(20, 6, generator=rng), torch.arange(20) % 3
    return aw.fit(network, data, posterior=aw.bbb(last=1), training=Training(epochs=1))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    fitted_on(aw.nets.mlp(6, 3, hidden=(8,))).save(tmp_path / "model")
    return tmp_path / "model"


def test_nothing_in_the_folder_is_a_pickle(saved: Path) -> None:
    assert sorted(p.name for p in saved.iterdir()) == ["manifest.json", "model.json", "weights.safetensors"]


@pytest.mark.parametrize("name", ["weights.safetensors", "model.json"])
def test_every_flipped_byte_is_found_and_the_file_named(saved: Path, name: str) -> None:
    content = (saved / name).read_bytes()
    for at in range(0, len(content), max(1, len(content) // 60)):
        damaged = bytearray(content)
        damaged[at] ^= 1
        (saved / name).write_bytes(damaged)
        with pytest.raises(CorruptError, match=name):
            aw.load(saved)
    (saved / name).write_bytes(content)
    aw.load(saved)  # a control: undamaged it loads


def test_a_cut_or_missing_file_is_found(saved: Path) -> None:
    content = (saved / "weights.safetensors").read_bytes()
    (saved / "weights.safetensors").write_bytes(content[:-7])
    with pytest.raises(CorruptError, match="weights"):
        aw.load(saved)
    (saved / "weights.safetensors").unlink()
    with pytest.raises(CorruptError, match="missing"):
        aw.load(saved)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model.json": 3'])
def test_a_damaged_manifest_is_found(saved: Path, content: str) -> None:
    (saved / "manifest.json").write_text(content)
    with pytest.raises(CorruptError, match="manifest"):
        aw.load(saved)


def test_a_network_of_ones_own_is_asked_for(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    fitted = fitted_on(network)
    fitted.save(tmp_path / "own")
    with pytest.raises(InputError, match="network of your own; pass it"):
        aw.load(tmp_path / "own")
    mine = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    before = mine[0].weight.clone()
    assert aw.load(tmp_path / "own", network=mine).digest() == fitted.digest()
    assert torch.equal(mine[0].weight, before)  # it was only a pattern


def test_another_network_is_refused_by_the_tensor_that_differs(saved: Path) -> None:
    with pytest.raises(InputError, match=r"dense2.bias is \[3\] there and \[4\] here"):
        aw.load(saved, network=aw.nets.mlp(6, 4, hidden=(8,)))


def test_a_folder_with_other_things_in_it_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not a saved model"):
        fitted_on(aw.nets.mlp(6, 3)).save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_saving_again_replaces_the_model(saved: Path) -> None:
    fitted = fitted_on(aw.nets.mlp(6, 3, hidden=(16,)))
    fitted.save(saved)
    assert aw.load(saved).digest() == fitted.digest()


def test_weights_that_are_not_finite_are_refused(saved: Path) -> None:
    fitted = aw.load(saved)
    with torch.no_grad():
        fitted.network.dense1.weight[0, 0] = float("nan")
    fitted.save(saved)
    with pytest.raises(InputError, match=r"not finite: dense1\.weight"):
        aw.load(saved)


def test_a_newer_format_is_refused(saved: Path) -> None:
    fitted = aw.load(saved)
    record = json.loads((saved / "model.json").read_text()) | {"format": 99}
    import hashlib

    content = json.dumps(record).encode()
    (saved / "model.json").write_bytes(content)
    sums = json.loads((saved / "manifest.json").read_text())
    sums["model.json"] = hashlib.sha256(content).hexdigest()
    (saved / "manifest.json").write_text(json.dumps(sums))
    with pytest.raises(InputError, match="format 99"):
        aw.load(saved)
    assert fitted.history


def test_the_digest_follows_every_tensor() -> None:
    fitted = fitted_on(aw.nets.mlp(6, 3))
    before = fitted.digest()
    name = next(iter(fitted.state))
    fitted.state[name].view(-1)[0] += 1e-6
    assert fitted.digest() != before


def forged(folder, change):
    """The saved model with another record under a right manifest."""
    record = json.loads((folder / "model.json").read_text())
    change(record)
    content = json.dumps(record).encode()
    (folder / "model.json").write_bytes(content)
    sums = json.loads((folder / "manifest.json").read_text())
    sums["model.json"] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(sums))


FORGERIES = {
    "a network of terabytes": (
        lambda record: record["network"]["options"].update(hidden=[10**6, 10**6]),
        "was saved from another network: dense1",
    ),
    "nothing": (lambda record: record.clear(), "is not a record of a model: KeyError"),
    "no network": (lambda record: record.update(network="mlp"), "is not a record of a model: TypeError"),
    "an unknown option": (
        lambda record: record["posterior"]["options"].update(lst=1),
        "unknown option of posterior 'bbb' 'lst'; did you mean 'last'",
    ),
    "an unknown posterior": (lambda record: record["posterior"].update(name="bb"), "unknown posterior 'bb'"),
    "an odd task": (lambda record: record["task"].update(options={"foo": 1}), "is not a record of a model"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_record_is_refused_in_one_line_before_it_takes_memory(name, tmp_path):
    x, y = torch.randn(8, 3), torch.arange(8) % 2
    fitted = aw.fit(aw.nets.mlp(3, 2, hidden=(4,)), (x, y), training=aw.Training(epochs=1))
    fitted.save(tmp_path)
    assert aw.load(tmp_path).digest() == fitted.digest()  # control
    change, message = FORGERIES[name]
    forged(tmp_path, change)
    with pytest.raises((InputError, CorruptError), match=message) as caught:
        aw.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    x, y = torch.randn(8, 3), torch.arange(8) % 2
    aw.fit(aw.nets.mlp(3, 2), (x, y), training=aw.Training(epochs=1)).save(tmp_path)
    (tmp_path / "model.json").unlink()
    os.mkfifo(tmp_path / "model.json")
    with pytest.raises(CorruptError, match="is not a file"):
        aw.load(tmp_path)
