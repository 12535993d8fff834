"""What is measured of a posterior, by task: the columns of the table, and the words under it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A measure: its key, its title in two lines, how it is written, and whether high is good."""

    key: str
    title: str
    under: str = ""
    write: str = "{:.3f}"
    factor: float = 1.0
    high: bool = False
    log: bool = False
    brief: bool = True
    """Whether a terminal of 80 characters shows it too."""


def _percent(key: str, title: str, under: str = "%", *, brief: bool = True) -> Column:
    return Column(key, title, under, write="{:.2f}", factor=100.0, high=True, brief=brief)


_NLL = Column("nll", "NLL")
_OWN: Mapping[str, tuple[Column, ...]] = {
    "classification": (_percent("accuracy", "acc."), _NLL, Column("brier", "Brier"), Column("ece", "ECE")),
    "multilabel": (
        _percent("top_1", "top-1"),
        _percent("top_5", "top-5"),
        _percent("recall_micro", "recall", brief=False),
        _percent("f1_micro", "F1", "micro, %", brief=False),
        _percent("f1_macro", "F1", "macro, %"),
        _NLL,
    ),
    "regression": (Column("rmse", "RMSE"), _NLL, _percent("inside", "inside", "95 %")),
    "segmentation": (
        _percent("mean_iou", "IoU", "mean, %"),
        _percent("class_accuracy", "acc.", "class, %"),
        _percent("accuracy", "acc."),
        _NLL,
    ),
}
_ABOUT: Mapping[str, str] = {
    "classification": "NLL in nats; Brier: squares summed over the classes; ECE with 15 bins",
    "multilabel": "top-1 and top-5: items of which the likeliest tag, or one of the five likeliest, is true; "
    "recall and F1 of all tags together (micro), F1 as the mean over the tags (macro), predicted above one "
    "half; NLL in nats a tag",
    "regression": "RMSE in the units of the data; NLL in nats a number; inside: test numbers within 1.96 "
    "deviations of their mean, of which 95 % should be",
    "segmentation": "IoU: the mean over the classes; acc. class: the mean recall of the classes; acc.: of "
    "all pixels; NLL in nats a pixel",
}
_LEAD = {
    "classification": "accuracy",
    "multilabel": "top-1",
    "regression": "RMSE",
    "segmentation": "mean IoU",
}


def columns(task: str) -> tuple[Column, ...]:
    """The measures of a task, those of uncertainty and those of cost."""
    return (
        Column("kl_weight", "kl_weight", write="{:g}"),
        *_OWN[task],
        Column("elbo", "ELBO", "a label", high=True),
        Column("auroc_total", "AUROC", "total", high=True),
        Column("auroc_epistemic", "AUROC", "epist.", high=True),
        Column("training_cpu_s", "train", "CPU s", write="{:.1f}", log=True),
        Column("prediction_cpu_s", "pred.", "CPU s", write="{:.2f}", log=True),
        Column("parameters", "params", "k", write="{:,.1f}", factor=1e-3, log=True),
    )


def lead(task: str) -> Column:
    """The measure that says first how good a model is."""
    return _OWN[task][0]


def far_behind(task: str) -> str:
    """What is said of posteriors more than 2 points behind the baseline, or with 2 % more of an error."""
    if lead(task).high:
        return f"more than two points of {_LEAD[task]} below"
    return f"more than two percent of {_LEAD[task]} above"


def about(task: str) -> str:
    """What the measures of a task are, in words."""
    return _ABOUT[task]
