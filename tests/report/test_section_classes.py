from page_reading import Page, read
from sample_content import sample

from askwise.report import Content
from askwise.report.sections import classes

FULL = sample()


def test_the_most_frequent_mistake_comes_first():
    told = read(classes.confusion(FULL))
    assert "Most often mistaken8 taken for 1: 49 taken for 3: 3" in told


def test_a_perfect_model_makes_no_mistakes():
    content = Content(curves=[], classes=["a", "b"], confusion=[[3, 0], [0, 2]])
    assert "No mistakes" in read(classes.confusion(content))


def test_a_hundred_classes_get_their_mistakes_and_no_matrix():
    names = [f"class {i}" for i in range(100)]
    matrix = [[5 if i == j else int((i, j) == (3, 4)) for j in range(100)] for i in range(100)]
    page = Page(classes.confusion(Content(curves=[], classes=names, confusion=matrix)))
    assert not page.all("table")
    assert "class 3 taken for class 4: 1" in page.text


def test_the_recall_of_every_class_is_told_and_none_is_made_up():
    content = Content(curves=[], classes=["cat", "dog", "emu"], recall=[0.5, 1.0, None])
    told = read(classes.recall(content)).replace("\u202f", " ")
    assert "cat50.0 %dog100.0 %emunone in the test" in told
    assert "the mean, 75.0 %" in told
    assert classes.recall(Content(curves=[], classes=["cat"], recall=[None])) == ""


def test_no_labels_have_no_balance():
    assert classes.balance(Content(curves=[], classes=["a"], balance=[0])) == ""
