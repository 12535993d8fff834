"""How long a training is, how its learning rate changes, and which weights decay."""

import math
from statistics import fmean

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.bayes.learning import training_threads
from askwise.errors import InputError
from askwise.train import Plain, Training, grouped
from askwise.train.optimizer import set_pace
from askwise.train.training import SCHEDULES, even_sizes


def test_batches_are_even_and_none_is_larger_than_asked() -> None:
    assert even_sizes(130, 64) == [44, 43, 43]  # and not 64, 64, 2
    assert even_sizes(9, 4) == [3, 3, 3]
    assert even_sizes(1, 4) == [1]
    assert even_sizes(8, 4) == [4, 4]


@pytest.mark.parametrize(
    ("training", "count", "epochs", "passes"),
    [
        (Training(epochs=3), 20, 3, 1),  # epochs alone are exactly so many passes
        (Training(epochs=3, min_steps=300), 20, 3, 100),
        (Training(epochs=3, min_steps=2), 20, 3, 1),
        (Training(epochs=10, min_steps=25), 128, 10, 2),  # two batches, so twenty steps are too few
        (Training(epochs=10, min_steps=20), 128, 10, 1),
    ],
)
def test_an_epoch_makes_as_many_passes_as_the_fewest_steps_ask_for(training, count, epochs, passes) -> None:
    course = training.course(count)
    assert (course.epochs, course.passes) == (epochs, passes)
    assert course.steps == epochs * passes * len(course.sizes)


def test_an_ordinary_training_has_enough_steps_whatever_the_number_of_labels() -> None:
    steps = {count: Training().course(count).steps for count in (1, 20, 100, 1000, 10_000)}
    assert min(steps.values()) >= 500
    assert steps[10_000] == 50 * math.ceil(10_000 / 64)
    assert Training(epochs=50).course(20).steps == 50  # the control: what it used to be


@pytest.mark.parametrize(
    ("count", "usual", "numbers"),
    [
        (20, 500, 500),
        (100, 500, 1000),
        (277, 500, 2500),
        (640, 500, 5000),  # 500 passes in ten batches: from here on steps count
        (1000, 800, 5600),  # seven passes in each of fifty epochs, the first number that makes 5,000
        (6400, 5000, 5000),
        (10_000, 7850, 7850),  # fifty epochs
    ],
)
def test_an_untouched_training_is_as_long_as_the_task_asks(count: int, usual: int, numbers: int) -> None:
    assert Training().course(count, "regression").steps == numbers
    for task in ("classification", "multilabel", "segmentation", "a task of one's own"):
        assert Training().course(count, task) == Training().course(count)
        assert Training().course(count, task).steps == usual


@pytest.mark.parametrize("named", [{"epochs": 50}, {"min_steps": 500}, {"epochs": 50, "min_steps": 500}])
def test_a_length_that_is_named_is_the_same_for_every_task(named: dict[str, int]) -> None:
    for count in (20, 100, 277, 1000, 10_000):
        assert Training(**named).course(count, "regression") == Training(**named).course(count)
    assert Training(epochs=50).course(277, "regression").steps == 50 * 5


def test_few_numbers_get_no_more_passes_than_help() -> None:
    for count in (1, 20, 64, 65, 100, 277, 600):
        course = Training().course(count, "regression")
        assert course.epochs * course.passes == 500
    assert Training(batch_size=8).course(80, "regression").steps == 5000


@pytest.mark.parametrize("posterior", ["point", "bbb", "ivon", "vogn"])
def test_a_fit_is_as_long_as_its_task_asks(posterior: str) -> None:
    x = torch.randn(70, 3, generator=torch.Generator().manual_seed(0))
    number, label = x[:, :1].exp(), (x[:, 0] > 0).long()

    def learned(targets: torch.Tensor, training: Training | None = None) -> aw.Fitted:
        task = aw.tasks.regression(tau=100.0) if targets is number else "classification"
        network = aw.nets.mlp(3, 1 if targets is number else 2, hidden=(4,))
        return aw.fit(
            network, (x, targets), posterior=posterior, task=task, training=training, start="scratch", seed=0
        )

    def same(one: aw.Fitted, other: aw.Fitted) -> bool:
        return one.history == other.history

    old, long = Training(epochs=50, min_steps=500), Training(epochs=50, min_steps=1000)
    assert same(learned(label), learned(label, old))
    assert same(learned(number), learned(number, long))
    assert not same(learned(number), learned(number, old))  # control


def test_schedules_start_at_the_whole_rate_and_fall() -> None:
    assert {name: schedule(0.0) for name, schedule in SCHEDULES.items()} == dict.fromkeys(SCHEDULES, 1.0)
    assert [SCHEDULES["cosine"](done) for done in (0.5, 1.0)] == pytest.approx([0.5, 0.0])
    assert [SCHEDULES["step"](done) for done in (0.49, 0.5, 0.74, 0.75)] == [1.0, 0.1, 0.1, 0.01]


def test_a_schedule_sets_every_rate_by_its_first_value() -> None:
    weights = {name: nn.Parameter(torch.zeros(2)) for name in "ab"}
    optimizer = Plain(grouped(weights, decays={}, rates={"b": 0.5}), name="sgd", lr=0.1)
    rates = []
    for done in (0.0, 0.5, 0.5, 0.75):
        set_pace(optimizer, "step", done)
        rates.append([group["lr"] for group in optimizer.parts[0].param_groups])
    plain, own = zip(*rates, strict=True)
    assert plain == pytest.approx((0.1, 0.01, 0.01, 0.001))
    assert own == pytest.approx((0.5, 0.25, 0.25, 0.5 * SCHEDULES["cosine"](0.75)))


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["constant", "cosine", "step"])
def test_every_optimizer_and_schedule_learns(name: str, schedule: str) -> None:
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    how = Training(epochs=60, lr=3e-2, optimizer=name, schedule=schedule)
    fitted = aw.fit(aw.nets.mlp(4, 2, hidden=(8,)), (x, y), posterior=aw.point(), training=how)
    assert fitted.history[-1]["loss"] < 0.7 * fitted.history[0]["loss"]


def test_weight_decay_is_constant_and_a_prior_fades_with_the_labels() -> None:
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    parameters = dict(network.named_parameters())
    for count in (10, 1000):
        fixed = Training(weight_decay=0.5).decays(parameters, count)
        prior = Training(prior_precision=4.0).decays(parameters, count)
        one = Training(prior_precision={"2": 7.0}).decays(parameters, count)
        assert {n for n, decay in fixed.items() if decay} == {"0.weight", "2.weight"}
        assert fixed["0.weight"] == 0.5
        assert prior["0.weight"] == prior["2.weight"] == 4.0 / count
        assert {n: decay for n, decay in one.items() if decay} == {"2.weight": 7.0 / count}


def test_a_prior_finds_the_mode_of_ridge_regression() -> None:
    rng = torch.Generator().manual_seed(1)
    x, tau, precision = torch.randn(30, 3, generator=rng), 2.0, 20.0
    y = x @ torch.tensor([[1.0], [0.5], [-1.0]])
    mode = torch.linalg.solve(tau * x.T @ x + precision * torch.eye(3), tau * x.T @ y)
    how = Training(epochs=600, lr=5e-2, schedule="cosine", prior_precision=precision)
    network = nn.Sequential(nn.Linear(3, 1, bias=False))
    fitted = aw.fit(
        network,
        (x, y),
        posterior=aw.point(),
        task=aw.tasks.regression(tau=tau, standardise=False),
        training=how,
    )
    torch.testing.assert_close(fitted.network[0].weight.detach().T, mode, rtol=1e-3, atol=1e-4)
    assert (mode - torch.tensor([[1.0], [0.5], [-1.0]])).abs().max() > 0.1  # the prior matters here


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": 0.0}, "lr must be above 0"),
        ({"lr": float("nan")}, "lr must be above 0"),
        ({"min_steps": 0}, "min_steps must be a whole number of at least 1"),
        ({"optimizer": "adamx"}, "unknown optimizer 'adamx'; did you mean 'adam'"),
        ({"schedule": "cosin"}, "unknown schedule 'cosin'; did you mean 'cosine'"),
        ({"watch": "loss"}, "unknown watch 'loss'"),
        ({"weight_decay": -1.0}, "weight_decay must be a finite number of at least 0"),
        ({"prior_precision": {"dense1": -1.0}}, "prior_precision must be a finite number"),
        ({"patience": 0}, "patience must be a whole number"),
    ],
)
def test_what_no_training_can_be_is_refused(options, message) -> None:
    with pytest.raises(InputError, match=message):
        Training(**options)


def test_a_prior_of_a_layer_that_is_not_there_is_refused_by_name() -> None:
    x, y = torch.randn(10, 4), torch.arange(10) % 2
    how = Training(epochs=1, prior_precision={"dense9": 1.0})
    with pytest.raises(InputError, match="unknown layer in prior_precision 'dense9'; did you mean 'dense"):
        aw.fit(aw.nets.mlp(4, 2), (x, y), posterior=aw.point(), training=how)


def test_the_threads_of_a_training_follow_network_and_batch_alone() -> None:
    image, before = torch.zeros(1, 1, 28, 28), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert training_threads(aw.nets.mlp(784, 10), image, Training(batch_size=64)) == 1
        assert training_threads(aw.nets.gal_cnn(), image, Training(batch_size=64)) == 2
        assert training_threads(aw.nets.gal_cnn(), image, Training(batch_size=2)) == 1
    finally:
        torch.set_num_threads(before)


def test_counting_the_work_leaves_the_network_as_it_was() -> None:
    network = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    network[1].eval()
    training_threads(network, torch.ones(1, 4), Training())
    assert network.training
    assert not network[1].training
    assert network[1].num_batches_tracked == 0


@pytest.mark.slow
@pytest.mark.parametrize("posterior", ["point", "laplace"])
def test_an_untouched_training_on_numbers_is_near_the_best_of_a_grid(posterior: str) -> None:
    """A curved function of four numbers with a little noise; means over three draws of its items."""

    def measured(labels: int, training: Training | None) -> tuple[float, float]:
        found = []
        for seed in range(3):
            rng = torch.Generator().manual_seed(seed)
            x = 2 * torch.rand(labels + 300, 4, generator=rng) - 1
            y = (4 * x[:, :1]).sin() + 2 * x[:, 1:2] * x[:, 2:3] + x[:, 3:] ** 2
            y = y + 0.05 * torch.randn(len(y), 1, generator=rng)
            fitted = aw.fit(
                aw.nets.homoscedastic(aw.nets.mlp(4, 1, hidden=(50,))),
                (x[:labels], y[:labels]),
                task="regression",
                posterior=posterior,
                training=training,
                start="scratch",
                seed=seed,
            )
            found.append(aw.evaluate(fitted, (x[labels:], y[labels:]), draws=20))
        return fmean(one["rmse"] for one in found), fmean(one["nll"] for one in found)

    def grid(labels: int) -> dict[tuple[int, float], tuple[float, float]]:
        return {
            (steps, lr): measured(labels, Training(epochs=50, min_steps=steps, lr=lr, schedule=schedule))
            for steps in (500, 1000, 2000, 5000)
            for lr, schedule in ((3e-3, "constant"), (1e-2, "cosine"))
        }

    tried = {labels: grid(labels) for labels in (100, 800)}
    best = {labels: [min(of) for of in zip(*found.values(), strict=True)] for labels, found in tried.items()}
    for labels, (rmse, nll) in best.items():
        ours = measured(labels, None)
        assert ours[0] < 1.2 * rmse, labels
        assert ours[1] < nll + 0.2, labels
    # The controls: 500 steps are too short for many numbers, 5,000 too long for few whose noise is learned.
    assert tried[800][500, 3e-3][0] > 1.2 * best[800][0]
    assert tried[100][5000, 3e-3][1] > best[100][1] + 0.2
