"""What a person should know of their texts before they are encoded: their length and language."""

from collections import Counter

from askwise import encoders
from askwise.pool import Pool
from askwise.pool.ahead import encoding_order

_LOOKED_AT = 200  # texts, drawn at random
_FEWEST = 20  # common words before anything is said
_SHARE = 0.6  # of the texts that can be told
_COMMON = {
    encoders.ENGLISH: "the and of to is was with that this for you are have not they from but",
    "German": "der die das und ist nicht ich mit ein eine zu den auf für sie war auch wir",
    "French": "le les des une est pas que pour dans qui sur avec vous nous je plus au été",
    "Spanish": "el los las una que por con para como pero más está muy su del al fue",
    "Italian": "il gli della che non per con una sono ma più anche come questo alla è",
    "Portuguese": "os uma não que para com por mais como mas foi muito ao são você da",
    "Dutch": "het een van niet dat en ik voor met op zijn maar ook naar deze wij",
}
_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_SCRIPTS = (
    ("a Cyrillic script", 0x400, 0x52F),
    ("Greek", 0x370, 0x3FF),
    ("Hebrew", 0x590, 0x5FF),
    ("Arabic script", 0x600, 0x6FF),
    ("an Indian script", 0x900, 0xDFF),
    ("Thai", 0xE00, 0xE7F),
    ("Japanese", 0x3040, 0x30FF),
    ("Korean", 0xAC00, 0xD7AF),
    ("Chinese", 0x4E00, 0x9FFF),
)


def language_of(texts: list[str]) -> str | None:
    """The language, or the script, of most of the texts; None where that cannot be told."""
    found: Counter[str] = Counter()
    common = 0
    for text in texts:
        scripts = Counter(
            name for letter in text for name, low, high in _SCRIPTS if low <= ord(letter) <= high
        )
        if scripts.total() > sum(map(str.isalpha, text)) / 2:
            found[scripts.most_common(1)[0][0]] += 1
            common += scripts.total()
            continue
        words = text.lower().split()
        counts = Counter({name: sum(word in known for word in words) for name, known in _WORDS.items()})
        (best, most), (_, second) = counts.most_common(2)
        if most > second:
            found[best] += 1
            common += most
    if common < _FEWEST or not found:
        return None
    best, count = found.most_common(1)[0]
    return best if count >= _SHARE * found.total() else None


def language_note(pool: Pool, encoder: str) -> list[str]:
    """A line for a person whose texts are in another language than the encoder by name knows best."""
    of = {record.name: record for record in encoders.known() if record.takes == encoders.TEXTS}
    if encoder not in of:
        return []
    language = language_of(_some(pool))
    if language in (None, of[encoder].language):
        return []
    ways = [_way(record) for record in of.values() if record.language == language]
    ways.append("--encoder FOLDER takes a multilingual model from Hugging Face")
    return [
        f"the texts seem to be {language}, a guess by common words, and {encoder} knows mostly "
        f"{of[encoder].language}; {', '.join(ways)}"
    ]


def _way(record: encoders.Record) -> str:
    """How to take an encoder, and how to get it where it is not installed."""
    before = "" if record.place else f"{record.install}, then "
    return f"{before}--encoder {record.name} knows it"


def length_note(pool: Pool, encoder: encoders.Encoder | None) -> list[str]:
    """A line on the share of texts that the encoder reads window by window, and of those that it cuts."""
    if encoder is None or not isinstance(encoder.module, encoders.SentenceEncoder):
        return []
    module, texts = encoder.module, _some(pool)
    long, cut = (module.share_cut(texts, length=most) for most in (module.window, encoder.longest))
    if not long:
        return []
    rest = f"{cut:.0%} are cut after {encoder.longest:,}" if cut else "none of them is cut"
    return [
        f"{long:.0%} of {len(texts)} texts looked at have more than the {module.window} tokens that "
        f"{encoder.record.name} reads at once; they are read window by window, and {rest}"
    ]


def _some(pool: Pool) -> list[str]:
    """Some texts of the pool, drawn at random."""
    some = (pool.original(name) for name in encoding_order(list(pool.ids))[:_LOOKED_AT])
    return [text for text in some if isinstance(text, str)]
