import numpy as np
import torch
from sklearn.datasets import load_digits

from askwise.data.digits import digits


def test_every_digit_is_in_exactly_one_part():
    data = digits()
    assert len(data.train_x) + len(data.test_x) == 1797
    ours = torch.cat([data.train_x, data.test_x]).flatten(1).mul(16).numpy()
    order, theirs = np.lexsort(ours.T), load_digits().data
    assert np.array_equal(ours[order], theirs[np.lexsort(theirs.T)])


def test_a_third_of_every_class_is_for_testing():
    data = digits()
    train, test = data.train_y.bincount(), data.test_y.bincount()
    assert len(test) == 10
    assert ((train - 2 * test) >= 0).all()
    assert ((train - 2 * test) <= 2).all()


def test_pixels_go_from_zero_to_one():
    data = digits()
    assert data.train_x.shape[1:] == (1, 8, 8)
    assert (data.train_x.min(), data.train_x.max()) == (0, 1)


def test_twice_is_the_same():
    first, second = digits(), digits()
    assert torch.equal(first.test_x, second.test_x)
    assert first.train_ids == second.train_ids


def test_labels_belong_to_their_images():
    # A nearest neighbour reads them: with shuffled labels it would be right one time in ten.
    data = digits()
    nearest = torch.cdist(data.test_x.flatten(1), data.train_x.flatten(1)).argmin(dim=1)
    assert (data.train_y[nearest] == data.test_y).float().mean() > 0.97
