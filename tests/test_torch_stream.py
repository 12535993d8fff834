"""A training's dropout does not depend on predictions of other threads."""

import threading

import torch

from askwise.seeding import torch_alone, torch_stream


def test_the_stream_starts_at_its_seed_and_comes_back():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with torch_stream(7):
        inside = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(7)
    assert torch.equal(torch.rand(3), inside)


def test_a_prediction_that_began_before_does_not_put_its_own_stream_in_place():
    """Another thread holds the stream while the training wants to begin: the training waits for it."""
    holds, ends, found = threading.Event(), threading.Event(), []

    def predict():
        with torch_alone(), torch.random.fork_rng():
            holds.set()
            ends.wait(120)

    def learn():
        with torch_stream(7), torch_alone():
            found.append(torch.rand(3))

    predicting = threading.Thread(target=predict)
    predicting.start()
    holds.wait(120)
    learning = threading.Thread(target=learn)
    learning.start()
    learning.join(0.2)  # it cannot begin: without the lock it would have seeded by now, and lost its seed
    assert not found
    ends.set()
    predicting.join()
    learning.join()
    torch.manual_seed(7)
    assert torch.equal(found[0], torch.rand(3))
