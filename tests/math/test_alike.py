"""What labelled items say about others alike: as refitted without each, and wiser where items are near."""

import torch

from askwise.math.alike import alike


def material(count=40):
    rng = torch.Generator().manual_seed(0)
    labels = torch.randint(3, (count,), generator=rng)
    centres = 3 * torch.randn(3, 5, generator=rng)
    return centres[labels] + torch.randn(count, 5, generator=rng), labels


def test_a_labelled_row_is_scored_as_if_its_own_label_were_not_there():
    rows, labels = material()
    _, held = alike(rows, labels, rows, classes=3)
    between = torch.cdist(*[torch.nn.functional.normalize(rows - rows.mean(0), dim=1)] * 2).square()
    kernel = (-between / between.median()).exp()
    wanted = torch.nn.functional.one_hot(labels, 3) - 1 / 3
    for out in range(0, len(rows), 7):
        rest = torch.arange(len(rows)) != out
        weights = torch.linalg.solve(
            kernel[rest][:, rest] + 0.1 * torch.eye(len(rows) - 1), wanted[rest].float()
        )
        torch.testing.assert_close(held[out], kernel[out, rest] @ weights, atol=1e-3, rtol=1e-3)


def test_others_are_scored_by_the_labels_of_what_they_are_like():
    rows, labels = material(120)
    scores, _ = alike(rows[:80], labels[:80], rows[80:], classes=3)
    assert (scores.argmax(1) == labels[80:]).float().mean() > 0.8
    shuffled, _ = alike(
        rows[:80],
        labels[torch.randperm(80, generator=torch.Generator().manual_seed(1))],
        rows[80:],
        classes=3,
    )
    assert (shuffled.argmax(1) == labels[80:]).float().mean() < 0.7, "control: labels that say nothing"


def test_rows_that_are_all_the_same_say_nothing_and_do_no_harm():
    scores, held = alike(torch.ones(6, 4), torch.tensor([0, 1, 2] * 2), torch.ones(2, 4), classes=3)
    assert torch.isfinite(scores).all()
    assert torch.isfinite(held).all()
    assert scores.abs().max() < 1e-3
