"""Learning works, starts where it is told to, and stops at the first number that is not finite."""

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import Dataset, IterableDataset, TensorDataset

import askwise as aw
from askwise.errors import InputError, TrainingError
from askwise.train import Training


def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    data = load_digits()
    x, y = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16, torch.tensor(data.target)
    return x[:300], y[:300], x[1200:], y[1200:]


@pytest.mark.parametrize("posterior", [aw.point(), aw.mc_dropout(), aw.bbb(last=1), aw.bbb(all=True)])
def test_three_hundred_digits_are_enough_for_most_of_the_rest(posterior) -> None:
    x, y, test_x, test_y = digits()
    fitted = aw.fit(
        aw.nets.digits_cnn(), (x, y), posterior=posterior, training=Training(epochs=40), start="scratch"
    )
    accuracy = (aw.predict(fitted, test_x, draws=20).mean.argmax(1) == test_y).float().mean().item()
    assert accuracy > 0.85
    assert fitted.history[-1]["nll"] < fitted.history[0]["nll"]


def test_a_dataset_and_arrays_learn_the_same_bits_as_tensors() -> None:
    x, y, *_ = digits()
    network, quick = aw.nets.digits_cnn(), Training(epochs=1)
    runs = [
        aw.fit(network, data, training=quick).digest()
        for data in ((x, y), (x.numpy(), y.numpy()), TensorDataset(x, y))
    ]
    assert len(set(runs)) == 1


def test_a_dataset_without_length_is_refused() -> None:
    class Stream(IterableDataset):
        def __iter__(self):
            yield torch.zeros(6), 0

    with pytest.raises(InputError, match="IterableDataset"):
        aw.fit(aw.nets.mlp(6, 2), Stream())


def test_scratch_draws_new_weights_from_the_seed_and_keeps_frozen_ones() -> None:
    x, y = torch.randn(20, 6), torch.arange(20) % 2
    network = aw.nets.mlp(6, 2, hidden=(8,))
    network.dense1.requires_grad_(False)
    slow = Training(epochs=1, lr=1e-12)

    def weights(seed: int, start: str) -> dict[str, Tensor]:
        found = aw.fit(network, (x, y), posterior=aw.point(), training=slow, start=start, seed=seed)
        return found.network.state_dict()

    given, new, other = weights(0, "given"), weights(0, "scratch"), weights(1, "scratch")
    torch.testing.assert_close(given["dense2.weight"], network.dense2.weight.detach(), rtol=0, atol=1e-9)
    assert not torch.allclose(new["dense2.weight"], given["dense2.weight"])
    assert not torch.allclose(new["dense2.weight"], other["dense2.weight"])
    assert torch.equal(new["dense1.weight"], network.dense1.weight)


def test_scratch_refuses_parameters_nobody_can_reset() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.head = nn.Parameter(torch.ones(6)), nn.Linear(6, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(x * self.scale)

    x, y = torch.randn(20, 6), torch.arange(20) % 2
    with pytest.raises(InputError, match=r"the network \(Own\) has parameters of its own"):
        aw.fit(Own(), (x, y), start="scratch")
    aw.fit(Own(), (x, y), training=Training(epochs=1))  # as given is fine


def test_going_on_with_another_posterior_is_refused() -> None:
    x, y = torch.randn(20, 6), torch.arange(20) % 2
    network, quick = aw.nets.mlp(6, 2, dropout=0.5), Training(epochs=1)
    fitted = aw.fit(network, (x, y), posterior=aw.point(), training=quick)
    with pytest.raises(InputError, match="cannot go on from point with mc_dropout"):
        aw.fit(network, (x, y), posterior=aw.mc_dropout(), start=fitted)


def test_a_nan_stops_within_the_step_and_names_step_and_items() -> None:
    x, y = torch.randn(20, 6), torch.arange(20) % 2
    x[13] = float("nan")
    ids = [f"photo-{k}" for k in range(20)]
    steps = []

    class Counting(Dataset):
        def __len__(self) -> int:
            return 20

        def __getitem__(self, at: int) -> tuple[Tensor, Tensor]:
            steps.append(at)
            return x[at], y[at]

    with pytest.raises(
        TrainingError, match=r"not finite at step \d+ .* on items photo-13; the inputs"
    ) as caught:
        aw.fit(aw.nets.mlp(6, 2), Counting(), ids=ids, training=Training(epochs=3, batch_size=4))
    labels_read, example, looked_at = 20, 1, 8
    batches = (len(steps) - labels_read - example - looked_at) / 4
    assert f"step {int(batches) - 1} " in str(caught.value)


def test_batch_norm_learns_with_a_lone_last_item() -> None:
    network = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    x, y = torch.randn(17, 6), torch.arange(17) % 2
    fitted = aw.fit(network, (x, y), training=Training(epochs=1, batch_size=8))
    assert fitted.network[1].num_batches_tracked == 3


IGNORING = [
    aw.bbb(all=True),
    aw.vbll(),
    aw.vogn(),
    aw.vogn(curvature="squares"),
    aw.ivon(),
    aw.mc_dropout(length_scale=0.1),
    aw.laplace(prior_precision=1.0),
]


@pytest.mark.parametrize("posterior", IGNORING, ids=lambda config: config.name)
def test_items_to_be_ignored_change_nothing(posterior) -> None:
    torch.manual_seed(0)
    network, x, y = aw.nets.mlp(4, 3, hidden=(8,), dropout=0.2), torch.randn(30, 4), torch.arange(30) % 3
    more = torch.randn(10, 4)
    where = torch.randperm(40)

    def digest(x: torch.Tensor, y: torch.Tensor) -> str:
        task, training = aw.tasks.classification(ignore=9), aw.Training(epochs=3, batch_size=8)
        return aw.fit(network, (x, y), posterior=posterior, task=task, training=training).digest()

    inputs, ignored = torch.cat([x, more])[where], torch.cat([y, torch.full((10,), 9)])[where]
    kept = where[where < 30]
    assert digest(inputs, ignored) == digest(x[kept], y[kept])
    assert digest(inputs, ignored) != digest(inputs, ignored.where(ignored != 9, 0))  # the control


def test_items_without_a_known_tag_count_in_no_number_of_labels() -> None:
    x, y = torch.randn(20, 4), torch.randint(2, (20, 3)).float()
    y[:, 0] = -1  # unknown tags are one thing, items of which nothing is known another
    y[:8] = -1
    frozen = aw.Training(epochs=1, lr=1e-12)
    terms = aw.fit(
        aw.nets.mlp(4, 3), (x, y), posterior=aw.bbb(kl_weight=1.0), task="multilabel", training=frozen
    ).history[0]
    assert terms["loss"] == pytest.approx(terms["nll"] + terms["kl"] / 12, rel=1e-5)
    assert terms["loss"] != pytest.approx(terms["nll"] + terms["kl"] / 20, rel=1e-2)  # the control


def test_labels_that_are_all_to_be_ignored_are_refused() -> None:
    with pytest.raises(InputError, match="no known labels to learn from"):
        aw.fit(
            aw.nets.mlp(4, 3),
            (torch.zeros(5, 4), torch.full((5,), 9)),
            task=aw.tasks.classification(ignore=9),
        )
