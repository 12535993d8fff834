import pytest
from tiny_data import digests, put

from askwise.data.encoders import MINILM, EncoderFiles
from askwise.errors import CorruptError

CONTENTS = {"config.json": b"{}", "model.safetensors": b"weights"}


def test_a_whole_folder_is_good(tmp_path):
    EncoderFiles("tiny", digests(CONTENTS)).check(put(tmp_path, CONTENTS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model.safetensors": b"other"}, "is not the published file"),
        ({"model.safetensors": None}, "is missing"),
    ],
)
def test_a_changed_or_missing_file_is_named(tmp_path, change, message):
    kept = {name: content for name, content in {**CONTENTS, **change}.items() if content is not None}
    with pytest.raises(CorruptError, match=rf"model\.safetensors {message}"):
        EncoderFiles("tiny", digests(CONTENTS)).check(put(tmp_path, kept))


def test_minilm_has_its_weights_its_tokenizer_and_no_pickle():
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(MINILM.digests)
    assert not any(name.endswith((".bin", ".pt", ".pkl", ".py")) for name in MINILM.digests)
