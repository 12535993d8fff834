"""The 1,797 handwritten digits of 8 x 8 pixels that come with scikit-learn: no download."""

import numpy as np

from askwise.data.dataset import Arrays, Dataset, dataset

TEST_EVERY = 3


def digits() -> Dataset:
    """1,201 digits to learn from and 596 to test on.

    The split needs no seed: of each class, in the order of the file, every third is a test digit.
    (The file repeats 0 to 9, so that a split by position alone would be one by class.)
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    pixels = bunch.images.astype(np.uint8)[:, None]
    labels = bunch.target.astype(np.uint8)
    test = np.zeros(len(labels), dtype=bool)
    for label in range(10):
        test[np.flatnonzero(labels == label)[TEST_EVERY - 1 :: TEST_EVERY]] = True
    arrays = Arrays(pixels[~test], labels[~test], pixels[test], labels[test])
    return dataset("digits", tuple("0123456789"), arrays, brightest=16)
