"""Blocks cover every item once, and no more memory is used than the largest item needs."""

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.program import ready
from askwise.bayes.program.build import BUDGET, build


def painter(size: int) -> Fitted:
    """A network that paints masks, with dropout left on."""
    network = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.Dropout(0.5), nn.Conv2d(4, 3, 1))
    images, masks = torch.rand(2, 1, size, size), torch.zeros(2, size, size, dtype=torch.long)
    how = aw.Training(epochs=1)
    return aw.fit(network, (images, masks), posterior=aw.mc_dropout(), task="segmentation", training=how)


def test_blocks_cover_every_item_once_and_in_order() -> None:
    network, x, y = aw.nets.mlp(6, 3, hidden=(8,)), torch.randn(300, 6), torch.arange(300) % 3
    fitted = aw.fit(network, (x, y), training=aw.Training(epochs=1))
    found = list(ready.blocks(fitted, x, draws=4, seed=0))
    assert [(block.items.start, block.items.stop) for block in found] == [(0, 128), (128, 256), (256, 300)]
    assert [block.count for block in found] == [128, 128, 44]
    assert all(block.last and len(block.found) == 128 for block in found)  # padded
    whole = torch.cat([block.found[: block.count] for block in found])
    assert torch.equal(whole, aw.log_probs(fitted, x, draws=4))


def test_rows_of_an_item_follow_each_other_and_fit_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = painter(24)
    monkeypatch.setattr(ready, "BUDGET", 1 << 22)
    found = list(ready.blocks(fitted, torch.rand(130, 1, 24, 24), draws=5, seed=0))
    first = [block for block in found if block.items.start == 0]
    assert [block.rows.start for block in first[1:]] == [block.rows.stop for block in first[:-1]]
    assert (first[0].rows.start, first[-1].rows.stop) == (0, 24)
    assert [block.last for block in first] == [*[False] * (len(first) - 1), True]
    assert len(first) > 2
    row = 128 * 5 * 24 * 3 * 4  # bytes: items, draws, width, classes
    assert all(block.found.numel() * 4 <= max(row, (1 << 22) // 8) for block in found)
    model = ready.Ready(fitted, torch.rand(1, 1, 24, 24), draws=5, seed=0)
    (whole,) = list(model.blocks(torch.rand(3, 1, 24, 24), whole=True))
    assert whole.found.shape[2:] == (24, 24, 3)


def test_a_program_for_large_items_is_built_from_one_of_them() -> None:
    seen: list[int] = []

    class Watched(nn.Conv2d):
        def forward(self, inputs: Tensor) -> Tensor:
            seen.append(len(inputs))
            return super().forward(inputs)

    network = nn.Sequential(Watched(3, 64, 3, padding=1)).eval()
    program = build(network, torch.zeros(1, 3, 200, 200), {}, count=1)
    fits = BUDGET // (4 * 64 * 200 * 200 * 4)  # four copies of the outputs while they are reduced
    assert max(seen) == program.batch
    assert fits / 2 < program.batch <= fits
