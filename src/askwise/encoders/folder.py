"""Encoders in folders of Hugging Face: those of BERT's kind by our own network, others by `transformers`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.encoders import bert, wordpiece
from askwise.encoders.record import PICTURES, TEXTS, Encoder, Record
from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import InputError
from askwise.files import json_object

_EXTRA = "pip install 'askwise[transformers]'"
_MOST_TOKENS = 512  # of a window, where a folder does not tell


def load(folder: Path) -> Encoder:
    """The encoder in a folder, frozen. Nothing is downloaded, and no code that a folder holds is run."""
    options = json_object(folder / "config.json")
    if not options:
        raise InputError(f"{folder} holds no encoder: it has no config.json that can be read")
    looks = json_object(folder / "preprocessor_config.json")
    if looks and ("image_mean" in looks or "vision_config" in options):
        return _pictures(folder, options, looks)
    window = _window(folder, options)
    if options.get("model_type") == "bert" and not looks:
        text = SentenceEncoder(bert.read(folder), wordpiece.read(folder), window=window)
    else:
        text = _by_transformers(folder, window)
    record = _record(folder, TEXTS, size=window, width=text.width)
    return Encoder(record, text.requires_grad_(False).eval())


def _record(folder: Path, takes: str, *, size: int, width: int) -> Record:
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return Record(
        str(folder), takes, size, width, _licence(folder), weights, "it is a folder of yours", folder
    )


def _licence(folder: Path) -> str:
    """What the folder's README says of its licence, as Hugging Face writes it at the top."""
    try:
        lines = (folder / "README.md").read_text("utf-8", "replace").splitlines()[:60]
    except OSError:
        return "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("license:")), "unknown")


def _window(folder: Path, options: Mapping[str, Any]) -> int:
    places = options.get("max_position_embeddings", _MOST_TOKENS)
    told = json_object(folder / "sentence_bert_config.json").get("max_seq_length", places)
    window = min(int(told or places), int(places), _MOST_TOKENS)
    # RoBERTa counts its positions from the padding's number on
    return (
        window - 2 if window == places and options.get("model_type") not in ("bert", "distilbert") else window
    )


class LibraryText(nn.Module):
    """A transformer of the library, called as ours are."""

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    @property
    def width(self) -> int:
        """How many features a token gets."""
        return int(self.transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]

    def forward(
        self, tokens: Int64[Tensor, "N length"], there: Bool[Tensor, "N length"]
    ) -> Float[Tensor, "N length D"]:
        """One vector for each token."""
        found: Tensor = self.transformer(input_ids=tokens, attention_mask=there.long()).last_hidden_state
        return found


class LibraryTokenizer:
    """A tokenizer of the library, called as ours is."""

    def __init__(self, tokenizer: Any) -> None:
        if tokenizer.pad_token_id is None:
            raise InputError("the folder's tokenizer has no padding token; give one to tokenizer_config.json")
        self._tokenizer = tokenizer
        self.padding = int(tokenizer.pad_token_id)
        bare, whole = self.ids("a"), list(tokenizer("a")["input_ids"])
        start = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        self.before, self.after = tuple(whole[:start]), tuple(whole[start + len(bare) :])

    def ids(self, text: str) -> list[int]:
        """The numbers of a text, without those that open and close it."""
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


class LibraryPictures(nn.Module):
    """A vision transformer of the library, from values between 0 and 1 to its summary of the picture."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, network: nn.Module, mean: list[float], deviation: list[float]) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(mean).reshape(-1, 1, 1))
        self.register_buffer("deviation", torch.tensor(deviation).reshape(-1, 1, 1))

    def forward(self, pictures: Float[Tensor, "N 3 H W"]) -> Float[Tensor, "N D"]:
        """One row of features for each picture."""
        found = self.network(pixel_values=(pictures - self.mean) / self.deviation)
        summary: Tensor | None = getattr(found, "pooler_output", None)
        return found.last_hidden_state[:, 0] if summary is None else summary.flatten(1)


def _pictures(folder: Path, options: Mapping[str, Any], looks: Mapping[str, Any]) -> Encoder:
    network: Any = _from_library(folder, "AutoModel")
    network = getattr(network, "vision_model", network)  # CLIP and its kin have a part for texts, too
    size = _side(looks.get("crop_size") or looks.get("size") or options.get("image_size") or 224)
    mean, deviation = looks.get("image_mean", [0.5] * 3), looks.get("image_std", [0.5] * 3)
    module = LibraryPictures(network, mean, deviation).requires_grad_(False).eval()
    with torch.no_grad():
        width = module(torch.zeros(1, 3, size, size)).shape[1]
    return Encoder(_record(folder, PICTURES, size=size, width=width), module)


def _side(size: Any) -> int:
    if isinstance(size, Mapping):
        size = size.get("height") or size.get("shortest_edge") or 224
    return int(size)


def _by_transformers(folder: Path, window: int) -> SentenceEncoder:
    transformer = LibraryText(_from_library(folder, "AutoModel"))
    return SentenceEncoder(
        transformer, LibraryTokenizer(_from_library(folder, "AutoTokenizer")), window=window
    )


def _from_library(folder: Path, kind: str) -> Any:
    try:
        import transformers
    except ImportError as reason:
        raise InputError(
            f"{folder} is not a BERT, so it needs the library transformers; get it with: {_EXTRA}"
        ) from reason
    safe = {"use_safetensors": True} if kind == "AutoModel" else {}
    try:
        return getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **safe
        )
    except (OSError, ValueError, KeyError) as reason:
        first = str(reason).strip().splitlines()[0]
        raise InputError(f"{folder} holds no encoder that transformers can read: {first}") from reason
