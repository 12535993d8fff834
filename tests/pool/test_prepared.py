"""New items are read as a pool's own were, from what the pool said of its preparation."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import askwise as aw
from askwise.errors import InputError
from askwise.pool import prepared


def again(pool, path, **options):
    """The preparation as a saved model holds it: through JSON."""
    return prepared(path, json.loads(json.dumps(pool.preparation())), **options)


def deep(path, value):
    path.parent.mkdir(exist_ok=True)
    rows = np.linspace(0, value, 64).reshape(8, 8).astype(np.uint16)
    Image.fromarray(rows).save(path)


def test_pictures_of_16_bits_keep_the_stretch_of_the_first_pool(tmp_path):
    deep(tmp_path / "pool" / "a.png", 4000)
    deep(tmp_path / "new" / "b.png", 2000)
    pool = aw.pool.images(tmp_path / "pool", size=8, channels=1)
    new = again(pool, tmp_path / "new").item("b.png").inputs
    assert new.max() == pytest.approx(0.5, abs=0.02)
    fresh = aw.pool.images(tmp_path / "new", size=8, channels=1).item("b.png").inputs
    assert fresh.max() > 0.95  # the control: by its own stretch the picture is twice as bright


def test_one_picture_is_read_as_a_folder_of_pictures_is_and_nothing_else(tmp_path):
    for name in ("pool/a.png", "new/b.png", "new/c.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (4, 4), (255, 0, 0)).save(tmp_path / name)
    pool = aw.pool.images(tmp_path / "pool", size=(8, 6))
    assert list(again(pool, tmp_path / "new").ids) == ["b.png", "c.png"]
    one = again(pool, tmp_path / "new" / "c.png")
    assert (list(one.ids), one.like().shape) == (["c.png"], (3, 8, 6))
    (tmp_path / "notes.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match=r"notes.csv is no picture"):
        again(pool, tmp_path / "notes.csv")
    with pytest.raises(InputError, match="there is no file or folder"):
        again(pool, tmp_path / "nowhere")


def test_other_rows_of_a_table_are_read_by_the_coding_of_the_first(tmp_path):
    (tmp_path / "one.csv").write_text("x,kind,number\n0,a,7\n2,b,8\n")
    (tmp_path / "two.csv").write_text("number,kind,x\n1,b,101\n")
    (tmp_path / "bare.csv").write_text("kind,x\na,1\n")
    pool = aw.pool.table(tmp_path / "one.csv", id_column="number")
    other = again(pool, tmp_path / "two.csv")
    assert list(other.ids) == ["1"]
    assert other.item(0).inputs.tolist() == [100.0, 0.0, 1.0]  # one deviation is 1, the mean is 1
    assert again(pool, tmp_path / "bare.csv").item(0).inputs.tolist() == [0.0, 1.0, 0.0]


def test_texts_come_from_the_same_column_and_other_rows_by_the_same_scale(tmp_path):
    def encode(texts):
        return torch.tensor([[float(len(words))] for words in texts])

    (tmp_path / "a.csv").write_text("words,other\nabc,x\n")
    (tmp_path / "b.csv").write_text("other,words\nx,abcdef\n")
    pool = aw.pool.text(tmp_path / "a.csv", column="words", encode=encode)
    assert again(pool, tmp_path / "b.csv", encode=encode).item(0).inputs.tolist() == [6.0]
    np.save(tmp_path / "a.npy", np.array([[255], [0]], np.uint8))
    rows = aw.pool.arrays(tmp_path / "a.npy", scale=1 / 255)
    assert again(rows, tmp_path / "a.npy").item(0).inputs.tolist() == [1.0]


def test_embeddings_come_from_the_same_column(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"v": [1.0, 2.0]}\n')
    (tmp_path / "b.jsonl").write_text('{"v": [3.0, 4.0]}\n')
    pool = aw.pool.embeddings(tmp_path / "a.jsonl", embedding="v")
    assert again(pool, tmp_path / "b.jsonl").item(0).inputs.tolist() == [3.0, 4.0]


def test_a_kind_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(InputError, match="unknown kind of items 'sounds'"):
        prepared(tmp_path, {"kind": "sounds"})


def test_texts_keep_the_ids_of_their_column_where_new_ones_have_it(tmp_path):
    def encode(texts):
        return torch.tensor([[len(text)] for text in texts], dtype=torch.float32)

    (tmp_path / "old.csv").write_text("number,words\nt1,good\nt2,bad\n")
    (tmp_path / "new.csv").write_text("number,words\nt3,fine\n")
    (tmp_path / "bare.csv").write_text("words\nfine\n")
    pool = aw.pool.text(tmp_path / "old.csv", column="words", id_column="number", encode=encode)
    assert list(again(pool, tmp_path / "old.csv", encode=encode).ids) == ["t1", "t2"]
    assert list(again(pool, tmp_path / "new.csv", encode=encode).ids) == ["t3"]
    assert len(again(pool, tmp_path / "bare.csv", encode=encode)) == 1  # ids are made from the text
