"""Texts and tables that are broken, in part or whole."""

from collections.abc import Iterator
from pathlib import Path

import torch

import askwise as aw
from website.cases.outcome import refused


def _encode(texts: list[str]) -> torch.Tensor:
    return torch.tensor([[float(len(text))] for text in texts])


def cases() -> Iterator[tuple[str, str]]:
    """What each file gets, read as texts or as a table."""
    yield "invalid UTF-8", _text(b"text\ngood\nb\xff\xfe\n")
    yield "UTF-16", _text("text\ngood\n".encode("utf-16"))
    yield "a NUL in a text", _text(b"text\ngood\na\x00b\n")
    yield "an empty text", _text(b"text,n\ngood,1\n,2\n")
    yield "a text of zero-width characters", _text("text\ngood\n\u200b\u200b\n".encode())
    yield "a row with too many cells", _text(b"text,n\ngood,1\na,2,3\n")
    yield "a column that is not there", _text(b"words\ngood\n")
    yield "a header that names a column twice", _text(b"text,text\ngood,b\n")
    yield "a broken line of JSONL", _text(b'{"text": "good"}\n{"text": \n', name="a.jsonl")
    yield "JSON nested too deep", _text(b'{"text": "good"}\n' + b"[" * 100_000 + b"\n", name="a.jsonl")
    yield "an id twice", _text(b"text,id\na,1\nb,1\n", id_column="id")
    yield "a file without rows", _text(b"text\n")
    yield "a formula", _text(b"text\n=1+1\n")
    yield "a number of 1e999 in a table", _table(b"a,b\n1,2\n1e999,3\n")
    yield "NaN in a table", _table(b"a,b\n" + b"1,2\n2,3\n" * 10 + b"nan,3\n")
    yield "2^64 in a table", _table(b"a,b\n1,2\n18446744073709551616,3\n")
    yield "a table without rows", _table(b"a,b\n")


def _read(pool: aw.pool.Pool) -> str:
    found = pool.read(list(pool.ids)).quarantined
    return "taken" if not found else "set aside: " + "; ".join(found.values())


def _text(content: bytes, *, name: str = "a.csv", **options: str) -> str:
    Path(name).write_bytes(content)
    said: list[str] = []
    error = refused(lambda: said.append(_read(aw.pool.text(name, encode=_encode, **options))))
    return said[0] if said else error


def _table(content: bytes) -> str:
    Path("t.csv").write_bytes(content)
    said: list[str] = []
    error = refused(lambda: said.append(_read(aw.pool.table("t.csv"))))
    return said[0] if said else error
