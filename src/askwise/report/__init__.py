"""What was learned, on one page: curves, calibration, questions, mix-ups, time and the plan."""

from askwise.report.content import Bin, Calibration, Content, Curve, Segment, Shown, Spent
from askwise.report.curves import labels_to
from askwise.report.page import render, write

__all__ = [
    "Bin", "Calibration", "Content", "Curve", "Segment", "Shown", "Spent",
    "labels_to", "render", "write",
]  # fmt: skip
