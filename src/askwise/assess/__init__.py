"""How good is it, may I stop, which labels can I trust: pure functions, one idea per file."""

from askwise.assess.agreement import cohen, fleiss, krippendorff
from askwise.assess.band import PROMISE, Band, Spread, band
from askwise.assess.certify import CannotCertify, Certificate, Open, certify, fewest_checks
from askwise.assess.dawid_skene import Annotators, dawid_skene
from askwise.assess.estimate import Estimate, group_prevalence, prevalence
from askwise.assess.forecast import Forecast, forecast
from askwise.assess.means import mean, stratified
from askwise.assess.misses import Misses, misses
from askwise.assess.parts import Recalls, recalls, tags
from askwise.assess.suspects import Suspects, folds, suspects

__all__ = [
    "PROMISE",
    "Annotators",
    "Band",
    "CannotCertify",
    "Certificate",
    "Estimate",
    "Forecast",
    "Misses",
    "Open",
    "Recalls",
    "Spread",
    "Suspects",
    "band",
    "certify",
    "cohen",
    "dawid_skene",
    "fewest_checks",
    "fleiss",
    "folds",
    "forecast",
    "group_prevalence",
    "krippendorff",
    "mean",
    "misses",
    "prevalence",
    "recalls",
    "stratified",
    "suspects",
    "tags",
]
