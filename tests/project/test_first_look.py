"""What `askwise new` shows of the items before anything else."""

import numpy as np

from askwise.pool import arrays
from askwise.pool import text as texts
from askwise.project.first_look import first_look


def test_of_texts_the_first_words_are_printed(tmp_path):
    pool = texts([f"first words\nof text {number} " + "and so on " * 20 for number in range(9)])
    look = first_look(pool, (), tmp_path)
    assert (look.sheet, len(look.words), len(look.lines())) == (None, 3, 3)
    assert look.lines()[0].startswith("such as     first words of text ")
    assert all(line.endswith(" ...") and len(line) < 90 for line in look.lines())
    assert first_look(arrays(np.zeros((4, 3), np.float32)), (), tmp_path).lines() == []
    assert list(tmp_path.iterdir()) == []
