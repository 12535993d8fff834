import gzip

import pytest
from tiny_data import digest

from askwise.data.files import find, published, read, verify, verify_file
from askwise.errors import CorruptError


def test_a_file_is_found_plain_or_packed(tmp_path):
    assert find(tmp_path, "a") is None
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"packed"))
    assert find(tmp_path, "a") == tmp_path / "a.gz"
    (tmp_path / "a").write_bytes(b"plain")
    assert find(tmp_path, "a") == tmp_path / "a"


def test_both_forms_read_the_same(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"content"))
    assert read(tmp_path / "a", limit=7) == read(tmp_path / "b.gz", limit=7) == b"content"


def test_a_file_that_unpacks_to_far_more_is_read_to_the_limit_only(tmp_path):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(10**6)))
    assert len(read(tmp_path / "bomb.gz", limit=100)) == 101


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-9], lambda b: b"x" + b, lambda b: b[:15] + b"\xff" * 9 + b[24:]]
)
def test_a_damaged_gzip_file_is_refused(tmp_path, damage):
    (tmp_path / "a.gz").write_bytes(damage(gzip.compress(bytes(range(256)) * 4)))
    with pytest.raises(CorruptError, match=r"a\.gz is not a whole gzip file"):
        read(tmp_path / "a.gz", limit=2000)


def test_the_checksum_decides(tmp_path):
    verify(b"content", digest=digest(b"content"), path=tmp_path / "a")
    with pytest.raises(CorruptError, match="a is not the published file: SHA-256"):
        verify(b"contenu", digest=digest(b"content"), path=tmp_path / "a")


def test_a_whole_file_is_checked_where_it_lies(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    verify_file(tmp_path / "a", digest=digest(b"content"))
    with pytest.raises(CorruptError, match="a is not the published file: SHA-256"):
        verify_file(tmp_path / "a", digest=digest(b"contenu"))
    with pytest.raises(CorruptError, match="b is missing"):
        verify_file(tmp_path / "b", digest=digest(b"content"))


def test_what_was_published_is_read_packed_or_not(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"content"))
    path, content = published(tmp_path, "a", digest=digest(b"content"), limit=100)
    assert (path, content) == (tmp_path / "a.gz", b"content")
