"""The tokens of BERT: words split at blanks and punctuation, then into the longest known pieces."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from askwise.errors import InputError

_LONGEST = 100  # letters; a longer word is unknown
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_KEPT = 100_000  # words whose pieces are remembered
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """A vocabulary, and how texts become numbers in it."""

    def __init__(self, vocabulary: Mapping[str, int], *, lower: bool) -> None:
        missing = [name for name in _SPECIAL if name not in vocabulary]
        if missing:
            raise InputError(f"the vocabulary lacks {', '.join(missing)}, so it is not BERT's")
        self._vocabulary, self._lower = vocabulary, lower
        self.padding, self._unknown, first, last = (vocabulary[name] for name in _SPECIAL)
        self.before, self.after = (first,), (last,)
        self._pieces: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """The numbers of a text's pieces, without those that open and close it."""
        found: list[int] = []
        for word in self._words(text):
            pieces = self._pieces.get(word)
            if pieces is None:
                pieces = self._split(word)
                if len(self._pieces) < _KEPT:
                    self._pieces[word] = pieces
            found += pieces
        return found

    def _words(self, text: str) -> Iterator[str]:
        clean = "".join(map(_cleaned, text))
        for part in clean.split():
            plain = _without_accents(part.lower()) if self._lower else part
            word = ""
            for letter in plain:
                if _is_mark(letter):
                    if word:
                        yield word
                    yield letter
                    word = ""
                else:
                    word += letter
            if word:
                yield word

    def _split(self, word: str) -> list[int]:
        """The longest known beginning, and so on with the rest."""
        if len(word) > _LONGEST:
            return [self._unknown]
        found, start = [], 0
        while start < len(word):
            opening = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(opening + word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return [self._unknown]
        return found


def read(folder: Path) -> WordPiece:
    """The tokenizer in a folder of Hugging Face: `tokenizer.json`, or `vocab.txt`."""
    options = _json(folder / "tokenizer_config.json")
    lower = options.get("do_lower_case", True)
    whole = _json(folder / "tokenizer.json")
    if whole:
        model, shape = whole.get("model", {}), whole.get("normalizer") or {}
        # old files leave the model's kind out
        if model.get("type", "WordPiece") != "WordPiece" or "vocab" not in model:
            raise InputError(f"{folder} splits texts by {model.get('type')}, not as BERT does")
        return WordPiece(model["vocab"], lower=bool(shape.get("lowercase", lower)))
    try:
        lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{folder} has no tokenizer.json and no vocab.txt that can be read") from None
    return WordPiece({piece: number for number, piece in enumerate(lines)}, lower=bool(lower))


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as reason:
        raise InputError(f"{path} is not JSON: {reason}") from reason
    return found if isinstance(found, dict) else {}


def _cleaned(letter: str) -> str:
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    if letter in "\0�" or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if any(first <= ord(letter) <= last for first, last in _IDEOGRAPHS):
        return f" {letter} "
    return letter


def _without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")


def _is_mark(letter: str) -> bool:
    if letter.isascii():
        return not letter.isalnum() and letter.isprintable()
    return unicodedata.category(letter).startswith("P")
