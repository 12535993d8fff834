"""A model as files: weights, how items are prepared, and a card that says what it is and is not."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askwise import encoders
from askwise.bayes.fitted import Fitted
from askwise.files import write_whole
from askwise.loop.calibration import Tempered

CARD = "README.md"
_ITEMS = {"images": "image", "text": "text"}
_SHOWN = ("accuracy", "nll", "ece", "brier")


@dataclass(frozen=True)
class Card:
    """What a reader of the model must know beside the model itself."""

    name: str
    data: str
    items: int
    labels: Mapping[str, int]
    """How many labels each class had."""
    round: int
    trained: str
    """How it was trained, in one line."""
    draws: int
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was measured on items that were held out, by the part they are."""
    quality: Sequence[str] = ()
    """What is known by test answers, in sentences."""
    tempered: Tempered | None = None
    """The temperature, and what chose it."""


def write_model(folder: Path, model: Fitted, card: Card) -> None:
    """Write the model and its card into a folder: `aw.load(folder)` reads it again."""
    model.save(folder)
    write_whole(folder / CARD, written(card, model, folder).encode())


def written(card: Card, model: Fitted, folder: Path) -> str:
    """The card in Markdown, with the front matter that Hugging Face reads."""
    counts = Counter(card.labels)
    encoder = model.preparation.get("encoder")
    lines = [
        *_front(card, model),
        f"# {card.name}",
        "",
        f"Tells {len(model.classes)} classes apart: {', '.join(model.classes)}.",
        "",
        "```python",
        "import askwise as aw",
        f"model = aw.load({(folder.name if folder.is_absolute() else str(folder))!r})",
        'found = aw.predict(model, aw.pool_for(model, "new_items/"))',
        "```",
        "",
        f"`found.mean` has a row of probabilities for each item, in the order of `model.classes`; "
        f"`found.epistemic` and `found.aleatoric` say how uncertain it is, in nats. `askwise predict` draws "
        f"{card.draws} networks; more draws change the uncertainty a little.",
        "",
        "## Data",
        "",
        f"{card.items:,} items of {card.data}; labels learned from: {sum(counts.values()):,}",
        "",
        *(f"- {name}: {counts[name]:,}" for name in model.classes),
        "",
        "The items were chosen because the model was uncertain about them, or at the start because they are "
        "typical of many: the labels are not a random sample, and their shares are not those of the pool.",
        "",
        "## Training",
        "",
        f"Round {card.round}: {card.trained}.",
        "",
        "## Calibration",
        "",
        *_calibration(card),
        "",
        "## Licence",
        "",
        *_licence(encoder),
    ]
    return "\n".join(lines) + "\n"


def _front(card: Card, model: Fitted) -> list[str]:
    """What Hugging Face reads from a card: YAML, of which every JSON text is a part."""
    kind = _ITEMS.get(str(model.preparation.get("kind")), "tabular")
    task = {"regression": "regression", "segmentation": "segmentation"}.get(model.task.name, "classification")
    found = {
        part: {name: float(value[name]) for name in _SHOWN if isinstance(value.get(name), float)}
        for part, value in card.metrics.items()
    }
    about = {"task": {"type": f"{kind}-{task}"}, "dataset": {"name": card.data, "type": "own"}}
    results = [
        {**about, "metrics": [{"type": name, "value": value, "name": f"{part} {name}"}]}
        for part, measured in found.items()
        for name, value in measured.items()
    ]
    front: dict[str, Any] = {
        "library_name": "askwise",
        "pipeline_tag": f"{kind}-{task}",
        "tags": ["active-learning", "bayesian-deep-learning", "uncertainty", model.posterior.name],
    }
    if results:
        front["model-index"] = [{"name": card.name, "results": results}]
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in front.items()), "---", ""]


def _calibration(card: Card) -> list[str]:
    tempered = f"{card.tempered or 'probabilities are not tempered'}."
    lines = [_begun(line) for line in card.quality]
    for part, found in card.metrics.items():
        values = ", ".join(
            f"{name} {found[name]:.3f}" for name in _SHOWN if isinstance(found.get(name), float)
        )
        lines.append(f"On the {part} items, which it did not learn from: {values}.")
    if not lines:
        lines.append("How often it is right was not measured: there were no validation or test labels.")
    return [*lines, "", _begun(tempered)]


def _begun(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _licence(encoder: str | None) -> list[str]:
    own = "The weights that were learned are yours, as the labels are."
    if encoder is None:
        return [own]
    known = next((record for record in encoders.known() if record.name == encoder), None)
    licence = "of your own" if known is None else f"under {known.licence}"
    return [
        f"{own} The encoder {encoder}, {licence}, is not part of these files; it must be installed to "
        "predict from items, and its digest is checked."
    ]
