import pytest
from tiny_data import digest, put

from askwise.data.lines import counted, lines_of, multi_hot
from askwise.errors import CorruptError


@pytest.mark.parametrize("content", [b"a\nb\n", b"a\r\nb\r\n", b"a\nb"])
def test_lines_end_as_they_like(tmp_path, content):
    folder = put(tmp_path, {"a.txt": content})
    assert lines_of(folder, "a.txt", digest=digest(content))[1] == ["a", "b"]


def test_another_number_of_texts_is_refused(tmp_path):
    counted(tmp_path, 2, 2)
    with pytest.raises(CorruptError, match="holds 2 texts, not 3"):
        counted(tmp_path, 2, 3)


def test_tags_become_ones():
    assert multi_hot([[0, 2], [], [1, 1]], 3).tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
