"""What a plan's `data` stands for: the items, and the labels that are known of them."""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from askwise import encoders
from askwise.data import NAMES, Dataset, load
from askwise.data.catalogue import STORED, task_of
from askwise.encoders import PICTURES, ROWS, TEXTS, Encoder
from askwise.errors import InputError, check_options, choose
from askwise.loop.plan import Plan
from askwise.oracle import File
from askwise.oracle.labelling import labelling
from askwise.pool import Coding, Pool, arrays, embeddings, images, table, text
from askwise.pool.folder import walk
from askwise.pool.images import SUFFIXES
from askwise.pool.stretch import Stretch
from askwise.pool.tables import rows as rows_of
from askwise.runs.plan_file import read
from askwise.store.facts import Told

FOLDERS = "folders"
_TEXTS = 1000  # encoded at a time


@dataclass(frozen=True)
class Material:
    """What a plan's `data` stands for: items, and the labels that are known of them."""

    pool: Pool
    labels: Mapping[str, Told]
    test: tuple[Tensor, Sequence[Told]] | None = None
    encoder: Encoder | None = None
    """What turns the items into features, where the plan names one."""


def read_plan(path: str | Path, *, overrides: Iterable[str] = ()) -> Plan:
    """The plan in a file; where it names a data set, task, classes and tags may be left to that."""
    return read(path, overrides=[*_own_labels(Path(path)), *overrides])


def material(plan: Plan, *, data_dir: str | Path | None = None, folder: Path | None = None) -> Material:
    """The items of a plan: a data set by name, a folder of pictures or texts, a table, an array.

    Paths are those of the plan, from the present folder; modules of one's own are looked for in `folder`.
    """
    if plan.data is None:
        raise InputError('the plan names no data; add e.g. data = "digits", or a folder of pictures')
    encoder = encoders.load(plan.encoder, folder=folder) if plan.encoder else None
    if plan.data in NAMES:
        if plan.labels:
            raise InputError(f"labels in the plan: {plan.data} is a data set, and comes with its own")
        found = load(plan.data, data_dir=data_dir, **plan.data_options)
        if found.task != plan.kind:
            raise InputError(f"{plan.data} holds data for {found.task}, and the plan is of {plan.kind}")
        return _known(found, encoder)
    pool = _pool(plan, Path(plan.data), encoder)
    return Material(pool, _labels(plan, pool), None, encoder)


def _pool(plan: Plan, path: Path, encoder: Encoder | None) -> Pool:
    """The items of one's own data, read as the encoder wants them unless the plan says otherwise."""
    if not path.exists():
        choose("data set (and there is no such file or folder)", str(path), NAMES)
    kind, make = _kind(path, plan.data_options)
    options = {**(encoder.reading if encoder is not None else {}), **plan.data_options}
    if isinstance(options.get("coding"), str):
        options["coding"] = _coding(Path(options["coding"]))
    if isinstance(options.get("stretch"), list):
        options["stretch"] = _stretch(options["stretch"])
    if encoder is not None and encoder.record.takes not in (kind, ROWS):
        raise InputError(
            f"encoder in the plan: {encoder.record.name} takes {encoder.record.takes}, and {path} has {kind}"
        )
    if kind == TEXTS and encoder is None:
        raise InputError(f'{path} holds texts, which need an encoder; add encoder = "minilm" to the plan')
    check_options(f"data {plan.data!r}", make, plan.data_options, given=("encode",))
    return make(path, **options)


def _stretch(given: list[Any]) -> Stretch:
    """What becomes of deep pictures, as a plan has it."""
    if len(given) != 2 or not all(isinstance(end, list) for end in given):
        raise InputError(
            f"stretch in the plan is [[low, ...], [high, ...]], one of each a channel, not {given}"
        )
    return Stretch(*map(tuple, given))


def _coding(path: Path) -> Coding:
    """What the columns of a table become, from a file that a person may have edited."""
    try:
        return Coding.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(
            f"there is no file {path}, which the plan names as the coding of its table"
        ) from None
    except (OSError, ValueError) as error:
        line = str(error).replace("\n", " ")
        raise InputError(f"{path} is no coding of a table: {line}") from None


def _kind(path: Path, options: Mapping[str, Any]) -> tuple[str, Callable[..., Pool]]:
    """What a path holds, and the function that makes a pool of it."""
    if path.is_dir():
        if next(walk(path, SUFFIXES), None) is None and next(walk(path, (".txt",)), None) is not None:
            return TEXTS, text
        if (path / "dataset_info.json").exists() or (path / "state.json").exists():
            return TEXTS, text
        return PICTURES, images
    if path.suffix.lower() == ".npy":
        return ROWS, arrays
    if path.suffix.lower() in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"):
        if "embedding" in options:
            return ROWS, embeddings
        return (TEXTS, text) if "column" in options else (ROWS, table)
    raise InputError(
        f"{path} is no folder of pictures or texts, and no .csv, .tsv, .jsonl, .parquet or .npy file"
    )


def _labels(plan: Plan, pool: Pool) -> Mapping[str, Told]:
    """The labels known of one's own data: of a file, or the names of the folders that items are in."""
    if plan.labels is None:
        return {}
    if plan.labels != FOLDERS:
        return File(plan.labels, classes=labelling(plan.task, plan.names), find=pool.find).labels
    if plan.kind != "classification":
        raise InputError(f'labels = "folders" in the plan gives one class for each item, not {plan.kind}')
    found = {name: pool.name(name).rpartition("/")[0].rpartition("/")[2] for name in pool.ids}
    known = {name: label for name, label in found.items() if label in plan.classes}
    if not known:
        raise InputError(
            f'labels = "folders" in the plan: no folder under {plan.data} is called as a class; '
            f"the classes are {', '.join(plan.classes)}"
        )
    return known


def _own_labels(path: Path) -> list[str]:
    """What a label of the data set is, as settings, if the plan names one and does not say it."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []  # said by the reader of plans
    data = written.get("data")
    if data not in NAMES:
        return []
    task, names = task_of(data), STORED[data].classes if data in STORED else tuple("0123456789")
    own = ", ".join(f"{key} = {json.dumps(value)}" for key, value in task.items())
    found = [] if "task" in written or task["name"] == "classification" else [f"task={{{own}}}"]
    word = "tags" if task["name"] == "multilabel" else "classes"
    return found + ([f"{word}={json.dumps(list(names))}"] if names and word not in written else [])


def _known(data: Dataset, encoder: Encoder | None) -> Material:
    if isinstance(data.train_x, list) and encoder is None:
        raise InputError(
            f'{data.name} holds texts, which need an encoder; add encoder = "minilm" to the plan'
        )

    def told(labels: Tensor) -> Sequence[Told]:
        if data.task == "classification":
            return [data.classes[label] for label in labels.tolist()]
        return list(labels)

    def numbers(items: Tensor | list[str]) -> Tensor:
        if isinstance(items, Tensor) and data.task == "regression" and items.ndim == 2:
            return in_deviations(items, torch.as_tensor(data.train_x))
        if isinstance(items, Tensor) or encoder is None:
            return torch.as_tensor(items)
        return tokens(encoder, items, width=width)

    texts = [text for part in (data.train_x, data.test_x) if isinstance(part, list) for text in part]
    width = _longest(encoder, texts) if encoder is not None and texts else None
    labels = dict(zip(data.train_ids, told(data.train_y), strict=True))
    pool = arrays(numbers(data.train_x), ids=data.train_ids)
    return Material(pool, labels, (numbers(data.test_x), told(data.test_y)), encoder)


def tokens(encoder: Encoder, texts: Sequence[str], *, width: int | None = None) -> Tensor:
    """The tokens of all texts [N, width], as many as the longest has unless said otherwise.

    A few texts at a time: before they are cut, rows are very long.
    """
    encode = encoder.reading["encode"]
    width = _longest(encoder, texts) if width is None else width
    return torch.cat([encode(texts[at : at + _TEXTS])[:, :width] for at in range(0, len(texts), _TEXTS)])


def _longest(encoder: Encoder, texts: Sequence[str]) -> int | None:
    """The number of tokens of the longest text; none where an encoder does not say what fills the rest."""
    padding = getattr(encoder.module, "padding", None)
    if padding is None:
        return None
    encode = encoder.reading["encode"]
    parts = (encode(texts[at : at + _TEXTS]) for at in range(0, len(texts), _TEXTS))
    return max(1, *(int((part != padding).sum(dim=1).max()) for part in parts))


def in_deviations(rows: Tensor, pool: Tensor) -> Tensor:
    """The columns of a table of numbers in deviations from the pool's mean: their units differ widely."""
    spread = pool.std(dim=0, correction=0)
    return (rows - pool.mean(dim=0)) / torch.where(spread > 0, spread, 1.0)


def columns_of(plan: Plan, pool: Pool, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The cells of these columns for every item; data without columns are refused."""
    path = Path(plan.data or "")
    if not path.is_file() or path.suffix.lower() == ".npy":
        raise InputError(f"{plan.data} has no columns, and {', '.join(names)} should be among them")
    cells = [row.cells for row in rows_of(path, list(names))]
    return {name: cells[place] for name in pool.ids if (place := pool.row(name)) < len(cells)}
