"""Encoders that `fetch` brings, as the files of their folder; `askwise.nets.minilm` loads them."""

from dataclasses import dataclass
from pathlib import Path

from askwise.data import files


@dataclass(frozen=True)
class EncoderFiles:
    """What a folder must hold."""

    name: str
    digests: dict[str, str]

    def check(self, folder: Path) -> None:
        """Nothing, if the folder holds all files as they were published."""
        for file, digest in self.digests.items():
            files.verify_file(folder / file, digest=digest)


MINILM = EncoderFiles(
    name="minilm",
    digests={
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
