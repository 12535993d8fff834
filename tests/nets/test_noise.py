import pytest
import torch
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.nets import homoscedastic, mlp


def test_log_variances_stand_beside_the_means():
    means = mlp(3, 2, hidden=(4,))
    network = homoscedastic(means, outputs=2, log_variance=-1.5)
    inputs = torch.rand(5, 3)
    found = network(inputs)
    assert torch.equal(found[:, :2], means(inputs))
    assert torch.equal(found[:, 2:], torch.full((5, 2), -1.5))


def test_a_single_log_variance_serves_all_means():
    network = homoscedastic(mlp(3, 4))
    assert network(torch.rand(5, 3)).shape == (5, 8)
    assert network.log_variance.shape == (1,)


def test_the_noise_is_learned():
    # Targets of variance 4 around a mean of 0: the log-variance goes to log 4.
    rng = torch.Generator().manual_seed(0)
    targets = 2 * torch.randn(1000, 1, generator=rng)
    network = homoscedastic(nn.Sequential(nn.Linear(1, 1)))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    for _ in range(120):
        mean, log_variance = network(torch.zeros(1000, 1)).chunk(2, dim=1)
        loss = (log_variance + (targets - mean).square() / log_variance.exp()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(network.log_variance.exp()[0], targets.var(), rtol=0.01, atol=0)


def test_it_has_one_parameter_more_for_each_output():
    inner = mlp(3, 2)
    whole = homoscedastic(inner, outputs=2)
    assert sum(p.numel() for p in whole.parameters()) == sum(p.numel() for p in inner.parameters()) + 2


def test_reset_goes_back_to_the_start():
    network = homoscedastic(mlp(3, 1), log_variance=0.5)
    with torch.no_grad():
        network.log_variance.add_(3)
    network.reset_parameters()
    assert network.log_variance.tolist() == [0.5]


@pytest.mark.parametrize(
    ("network", "outputs"), [(mlp(4, 3), 2), (nn.Unflatten(1, (2, 2)), 1)], ids=["three means", "an image"]
)
def test_means_that_do_not_fit_are_refused(network, outputs):
    with pytest.raises(InputError, match=f"outputs={outputs} log-variances go with"):
        homoscedastic(network, outputs=outputs)(torch.rand(5, 4))


def test_it_serves_the_task_of_numbers_from_scratch_and_back_from_the_disk(tmp_path):
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(200, 1, generator=rng)
    y = 2 * x + 0.5 * torch.randn(200, 1, generator=rng)
    network = homoscedastic(mlp(1, 1, hidden=(8,), dropout=0.01), log_variance=3.0)
    training = aw.Training(epochs=60, batch_size=50, lr=0.03)
    fitted = aw.fit(
        network,
        (x, y),
        posterior=aw.mc_dropout(),
        task=aw.tasks.regression(standardise=False),
        training=training,
        start="scratch",
    )
    assert abs(fitted.network.log_variance.exp().sqrt().item() - 0.5) < 0.1
    fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert torch.equal(aw.predict(again, x, draws=3).mean, aw.predict(fitted, x, draws=3).mean)
