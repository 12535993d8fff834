"""Tags for comments, many at once: a frozen MiniLM encoder, a Bayesian head, and what to ask.

    pip install 'askwise[text]'; python examples/text_tags.py --data DIR       GoEmotions, 28 emotions
    python examples/text_tags.py --small                 generated sentences under a tiny random encoder

Every comment is encoded once; only the head learns, and its weights are Gaussian. Comments with the
highest BALD are asked for, against the same number at random: on these data neither is clearly ahead.
The table shows what it would ask next, at most one comment for each likeliest tag.
"""

import textwrap
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
    tags = (torch.rand(count, len(WORDS), generator=rng) < 0.25).float()
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
    """Labels and measures of every round, the last model, and the positions it was not told about."""
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
        found = aw.measure(fitted, test, draws=50)
        curve.append((len(told), found))
        print(f"{acquire:>7}: {len(told):5d} labels, macro F1 {found['f1_macro']:.3f}", flush=True)
        if number < rounds:
            scores = aw.score_pool(fitted, x[rest], acquire, draws=50, seed=number)
            picks = aw.select("top_k", scores=scores, count=first)
            told = torch.cat([told, rest[picks]])
            rest = torch.tensor(sorted(set(range(len(x))) - set(told.tolist())))
    return curve, fitted, rest


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """Top-1, top-5, recall and F1 on the test comments after the last round of asking by BALD."""
    if small:
        rng = torch.Generator().manual_seed(0)
        torch.manual_seed(0)  # the encoder's weights
        classes, encoder = tuple(WORDS), aw.nets.tiny_encoder(width=128)
        (texts, y), (test_texts, test_y) = generated(500, rng), generated(200, rng)
    else:
        data = here(lambda: aw.data.load("goemotions", data_dir=data_dir), otherwise="skipped")
        encoder = data and here(lambda: aw.nets.minilm.load(aw.data.fetch("minilm")), otherwise="skipped")
        if data is None or encoder is None:
            return {}
        classes = data.classes
        texts, y = data.train_x[:8000], data.train_y[:8000]
        test_texts, test_y = data.test_x[:2000], data.test_y[:2000]
    pool, test = (encoded(encoder, texts), y), (encoded(encoder, test_texts), test_y)

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    curves, table = figure.subplots(1, 2, width_ratios=(2, 5))
    plain(curves).set(xlabel="labelled comments", ylabel="macro F1", title=f"{len(classes)} tags")
    for acquire, colour in (("random", GREY), ("bald", BLUE)):
        curve, fitted, rest = learn(acquire, pool, test, first=60 if small else 500, rounds=2 if small else 5)
        labels, f1 = zip(*((count, found["f1_macro"]) for count, found in curve), strict=True)
        curves.plot(labels, f1, "o-", color=colour, label=acquire)
    curves.legend(frameon=False)

    scores = aw.score_pool(fitted, pool[0][rest], "bald", draws=50)
    guess = aw.predict(fitted, pool[0][rest], draws=50).mean[..., 1]
    cells: dict[int, list[str]] = {}  # by the likeliest tag
    for at in scores.argsort(descending=True).tolist():
        chances, tags = guess[at].topk(3)
        told = "\n".join(f"{classes[tag]} {chance:.2f}" for chance, tag in zip(chances, tags, strict=True))
        true = "\n".join(classes[tag] for tag in y[rest[at]].nonzero().flatten()) or "none"
        cells.setdefault(int(tags[0]), [textwrap.fill(texts[rest[at]], 60), told, true])
    table.set_axis_off()
    titles = ["comments it would ask for next", "guess", "truth"]
    drawn = table.table(
        list(cells.values())[:6], colLabels=titles, colWidths=[0.6, 0.22, 0.18], colLoc="left",
        cellLoc="left", bbox=[0, 0, 1, 1], edges="horizontal",
    )  # fmt: skip
    for cell in drawn.get_celld().values():
        cell.PAD = 0.01
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    save(figure, out, "text_tags")
    last = curve[-1][1]
    return {name: last[name] for name in ("top_1", "top_5", "recall_micro", "f1_micro", "f1_macro")}


if __name__ == "__main__":
    run(main, __doc__)
