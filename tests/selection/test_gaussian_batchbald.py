"""BatchBALD of numbers: against the log-determinant of the whole batch, written out."""

import pytest
import torch

from askwise.acquire import gaussian_bald
from askwise.errors import InputError
from askwise.selection import select


def moments(n=9, draws=6, numbers=1, *, seed=0, noise=-1.0):
    rng = torch.Generator().manual_seed(seed)
    means = torch.randn(n, draws, numbers, dtype=torch.float64, generator=rng)
    logs = noise + 0.3 * torch.randn(n, 1, numbers, dtype=torch.float64, generator=rng)
    return torch.stack([means, logs.expand_as(means)], dim=-1)


def information(found, batch):
    """Half the log-determinant of I + S^-1 K over all numbers of the batch."""
    means, noise = found[batch][..., 0], found[batch][..., 1].exp().mean(dim=1).flatten()
    apart = (means - means.mean(dim=1, keepdim=True)).transpose(1, 2).flatten(0, 1)
    covariance = apart @ apart.T / means.shape[1]
    return torch.linalg.slogdet(torch.eye(len(noise)).double() + covariance / noise[:, None])[1].item() / 2


@pytest.mark.parametrize("numbers", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_pick_is_the_best_by_brute_force(numbers, seed):
    found = moments(numbers=numbers, seed=seed)
    picks = select("gaussian_batchbald", moments=found, count=5, seed=seed).tolist()
    for known in range(5):
        before = picks[:known]
        best = max(information(found, [*before, n]) for n in range(9) if n not in before)
        assert information(found, picks[: known + 1]) == pytest.approx(best, rel=1e-9)


def test_the_first_pick_is_that_of_gaussian_bald():
    found = moments(30)
    first = select("gaussian_batchbald", moments=found, count=1)
    assert first.item() == gaussian_bald(found).squeeze(1).argmax().item()


def test_a_copy_of_a_pick_tells_less_than_something_new():
    found = moments(4, noise=-4.0)
    found[3] = found[0]  # scaled up, so that both copies score highest alone
    found[[0, 3], ..., 0] *= 3
    picks = select("gaussian_batchbald", moments=found, count=2).tolist()
    assert len({0, 3} & set(picks)) == 1
    top = select("top_k", scores=gaussian_bald(found).squeeze(1), count=2).tolist()
    assert set(top) == {0, 3}  # the control: scores alone ask twice


def test_more_labels_never_stop_telling():
    """Draws saturate BatchBALD of classes at log T; Gaussians have no such ceiling."""
    found = moments(60, draws=4, noise=-6.0)
    picks = select("gaussian_batchbald", moments=found, count=20).tolist()
    assert information(found, picks) > 2 * torch.tensor(4.0).log().item()


def test_log_probs_are_refused():
    with pytest.raises(InputError, match="'gaussian_batchbald' needs moments"):
        select("gaussian_batchbald", log_probs=torch.zeros(3, 2, 1), count=1)
