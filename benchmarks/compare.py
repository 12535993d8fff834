"""Every posterior with its defaults on 1,000 labels: digits over ten seeds, MNIST over five.

The trial is that of `askwise compare`; here every posterior and seed is a job of the queue.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jobs import tables
from jobs.experiment import Experiment, Key, Row, options, plain
from jobs.tables import Measure

from askwise.bayes.posteriors import POSTERIORS
from askwise.compare import Job, Protocol, columns, make
from askwise.compare.material import Material, material
from askwise.compare.outcome import BASELINE
from askwise.compare.trial import trial
from askwise.report.figure import save
from askwise.report.side_by_side import Panel, side_by_side

COLUMNS = columns("classification")
SEEDS = {"digits": range(10), "mnist": range(5)}
DRAWS = {"digits": 100, "mnist": 20}
OOD = "fashion_mnist"  # real images of other things; scaled to the size of the digits
# These get a table of differences each; the others only their mean.
COMPARED = ("accuracy", "nll", "brier", "ece", "elbo", "auroc_total", "auroc_epistemic")
MEASURES = [
    Measure(
        key=column.key,
        title=f"{column.title} {column.under}".strip(),
        write=column.write,
        factor=column.factor,
        high=column.high,
    )
    for column in COLUMNS
]


@cache
def protocol(data: str) -> Protocol:
    """What is the same for every posterior."""
    return make(data, labels=1000, draws=DRAWS[data], ood=OOD)


@cache
def items(data: str) -> Material:
    """The images, read once for all jobs of a process."""
    return material(protocol(data))


def experiment(data: str, *, seconds: float) -> Experiment:
    """The comparison on one data set."""
    name = f"compare_{data}"

    def settings(key: Key) -> dict[str, object]:
        own = protocol(data)
        posterior = options(own.posterior(str(key["posterior"])))
        shared = {**vars(own), "training": options(own.training())}
        return plain({"protocol": shared, "posterior": posterior})

    def run(key: Key, _: Path) -> dict[str, object]:
        return trial(protocol(data), Job(str(key["posterior"]), int(key["seed"])), items(data))

    def write(rows: Sequence[Row], folder: Path) -> None:
        own = protocol(data)
        title = f"Posteriors on {own.labels:,} labels of {data} ({own.network})"
        lines = [
            f"# {title}",
            "",
            "Each posterior with its defaults; the seed draws the labels, the first weights and the draws, in common for "
            "all. Mean ± standard error over the seeds. kl_weight: the temperature of the KL from the prior, 1 is Bayes' "
            "rule. NLL in nats; Brier: squares summed over the classes; ECE with 15 bins; ELBO: of the labels learned "
            "from, in nats a label, at a kl_weight of 1. AUROC: how well total and epistemic uncertainty tell images of "
            f"{OOD} from the test images. "
            f"Training, and prediction of all test images under {own.draws} draws, in CPU seconds; params are all "
            "numbers that the trained model keeps, in thousands. Nothing was chosen on the test images here: settings are the "
            "library's defaults.",
            "",
            *_means(rows),
            tables.ABOUT.format(units="seeds"),
            "",
        ]
        for measure in (m for m in MEASURES if m.key in COMPARED):
            values = tables.of(rows, measure.key, by="posterior")
            if values:  # not every posterior has an ELBO, and point has none
                lines += [f"## {measure.title}", ""]
                lines += tables.differences(values, measure, baseline=BASELINE)
        lines += [*tables.footer(rows), f"![Every metric of every posterior]({name}.png)", ""]
        tables.save(folder / f"{name}.md", lines)
        _picture(rows, folder / f"{name}.png", title)

    return Experiment(
        name=name,
        about=f"every posterior on 1,000 labels of {data}, {len(SEEDS[data])} seeds",
        jobs=[{"posterior": posterior, "seed": seed} for seed in SEEDS[data] for posterior in POSTERIORS],
        settings=settings,
        run=run,
        tables=write,
        seconds=seconds,
        ready=lambda: items(data),
    )


def _means(rows: Sequence[Row]) -> list[str]:
    head = ["posterior", "seeds", *(measure.title for measure in MEASURES)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for posterior in dict.fromkeys(row["posterior"] for row in rows):
        own = [row for row in rows if row["posterior"] == posterior]
        cells = [
            tables.mean_and_error(
                [measure.factor * row[measure.key] for row in own if row[measure.key] is not None],
                measure.write,
            )
            for measure in MEASURES
        ]
        lines.append(f"| {' | '.join([posterior, str(len(own)), *cells])} |")
    return [*lines, ""]


def _picture(rows: Sequence[Row], path: Path, title: str) -> None:
    panels = []
    for measure, column in zip(MEASURES, COLUMNS, strict=True):
        values = tables.of(rows, measure.key, by="posterior")
        if not values or measure.key == "kl_weight":
            continue
        scaled = {name: [measure.factor * v for v in own.values()] for name, own in values.items()}
        arrow = "↑" if measure.high else "↓"
        panels.append(Panel(f"{measure.title} {arrow}", scaled, write=measure.write, log=column.log))
    new = path.with_name(f"new-{path.name}")
    save(side_by_side(panels, title=title, baseline=BASELINE), new)
    new.replace(path)


DIGITS = experiment("digits", seconds=15)
MNIST = experiment("mnist", seconds=150)
