"""Labels at a promised error: grow a set from the surest prediction down, and audit it in a random order.

The audit bets against "more than `error` of this set are wrong" (a test supermartingale for sampling without
replacement, Waudby-Smith, Stark and Ramdas 2021). Sets are nested and tested in order, each only after the
one before was certified, so the first set that breaks the promise is the only one that can be certified by
bad luck.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.assess.checks import between, class_numbers, probabilities, same_length, several_classes
from askwise.errors import InputError, positive
from askwise.seeding import derive, hashes

# Chosen on MNIST, digits, CIFAR-10 and TREC for large certified sets; the promise does not depend on them.
_FIRST = 0.15  # the first set's mean uncertainty, as a share of the promised error
_SMALLEST = 0.02  # of the pool: a smaller first set is not worth an audit
_STEP = 0.025  # of the pool, by which a certified set grows
_SCARCE = 1.7  # times the fewest checks: with fewer than that, bet on hardly any errors
_FEW, _SOME = 10, 4  # the error bet on is the promised one divided by these
_REUSED = 0.7  # of a check: what a reused answer is worth in the choice of the bet


@dataclass(frozen=True, kw_only=True)
class ClassCount:
    """Of one predicted class: how many labels are certified, how many were checked, how many were wrong."""

    labels: int
    checks: int
    wrong: int


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The certified positions and what is promised of them."""

    positions: Int64[Tensor, " K"]
    error: float
    confidence: float
    attempt: int
    checks: int
    wrong: int
    classes: tuple[ClassCount, ...]

    @property
    def promise(self) -> str:
        """The promise in the words that are shown with it."""
        share = f"{100 * self.error:g} %"
        return (
            f"at most {share} of these {len(self.positions):,} labels differ from your own answers, on "
            f"average over the set; a class with fewer than {share} of the set may be entirely wrong"
        )


@dataclass(frozen=True, kw_only=True)
class CannotCertify:
    """No set can be promised, and why; `checks` were spent on it."""

    reason: str
    checks: int


@dataclass(frozen=True, kw_only=True)
class Open:
    """The audit waits for these items, in this order; `checks` were answered."""

    ask: tuple[int, ...]
    checks: int


def certify(
    uncertainty: Float[Tensor, " N"],
    predicted: Int64[Tensor, " N"],
    answers: Mapping[int, bool],
    *,
    classes: int,
    error: int | float,
    checks: int,
    confidence: int | float = 0.95,
    attempt: int = 1,
    reused: Sequence[int] = (),
    seed: int = 0,
    ids: Sequence[str] | Sequence[int] | None = None,
    ahead: int = 1,
) -> Certificate | CannotCertify | Open:
    """The largest set that the answers certify, the items to check next, or why nothing can be certified.

    `uncertainty` and `predicted` come from a model that is frozen for the audit; `answers` says of checked
    positions whether the prediction was right. The order of the audit is drawn from seed, attempt and ids,
    before any answer, so the same arguments with more answers go on with the same audit. Attempt k spends
    (1 - confidence) / 2^k, so that trying again, or for another error, cannot break the promise. `ahead`
    items are asked together; some of them may turn out not to be needed.

    `reused` are positions of test answers, in the order in which they were drawn: they come first, cost no
    check, and the promise is then about the region they were drawn from, which must be the pool given here,
    and about new data.

    >>> uncertainty, predicted = torch.linspace(0, 0.5, 900), torch.zeros(900, dtype=torch.long)
    >>> answers, asked = {}, {"classes": 2, "error": 0.1, "checks": 200}
    >>> certify, waits = aw.assess.certify, aw.assess.Open
    >>> while isinstance(found := certify(uncertainty, predicted, answers, **asked), waits):
    ...     answers |= {position: True for position in found.ask}  # a person looks, and finds it right
    >>> found.checks, len(found.positions)  # at most a tenth of them is wrong
    (119, 900)
    """
    risk = _risk(error, confidence, attempt)
    positive("checks", checks)
    positive("ahead", ahead)
    names = range(len(uncertainty)) if ids is None else ids
    uncertainty = _checked(uncertainty, predicted, names, classes)
    audit = _Audit(uncertainty, names, error, risk, checks, list(reused), derive(seed, "certify", attempt))
    if refused := audit.hopeless():
        return CannotCertify(reason=refused, checks=0)
    size = 0
    for wanted in audit.sizes():
        outcome = audit.walk(wanted, answers)
        if isinstance(outcome, list):
            left = min(ahead, checks - len(audit.checked))
            return Open(ask=tuple(outcome[:left]), checks=len(audit.checked))
        if not outcome:
            break
        size = wanted
    wrong = sum(not answers[at] for at in audit.checked)
    if not size:
        return CannotCertify(reason=audit.failed(wrong), checks=len(audit.checked))
    positions = audit.surest[:size].sort().values
    return Certificate(
        positions=positions,
        error=error,
        confidence=confidence,
        attempt=attempt,
        checks=len(audit.checked),
        wrong=wrong,
        classes=_counts(predicted, positions, [*audit.checked, *reused], answers, classes),
    )


def fewest_checks(error: int | float, *, confidence: int | float = 0.95, attempt: int = 1) -> int:
    """The checks without a single error that a certificate takes at least, whatever the pool.

    >>> aw.assess.fewest_checks(0.05), aw.assess.fewest_checks(0.01)
    (72, 368)
    """
    risk = _risk(error, confidence, attempt)
    return math.ceil(math.log(1 / risk) / -math.log1p(-error))


def _risk(error: int | float, confidence: int | float, attempt: int) -> float:
    """The probability of a broken promise that this attempt may spend."""
    between("error", error)
    return float((1 - between("confidence", confidence)) / 2 ** positive("attempt", attempt))


def _checked(
    uncertainty: Tensor, predicted: Tensor, ids: Sequence[str] | Sequence[int], classes: int
) -> Float[Tensor, " N"]:
    """The uncertainties, if they are probabilities and go with the predicted classes and the ids."""
    several_classes(classes)
    found = probabilities("uncertainty", uncertainty)
    same_length(uncertainty=len(found), predicted=len(predicted))
    class_numbers("predicted", predicted, classes)
    same_length(items=len(found), ids=len(ids))
    return found


class _Audit:
    """One attempt: its order, its sets, and the items that were looked at."""

    def __init__(
        self,
        uncertainty: Tensor,
        ids: Sequence[str] | Sequence[int],
        error: float,
        risk: float,
        checks: int,
        reused: list[int],
        seed: int,
    ) -> None:
        self.error, self.risk, self.budget, self.reused = error, risk, checks, reused
        self.order = hashes(seed, ids).argsort(stable=True)
        tied = hashes(derive(seed, "ties"), ids).argsort(stable=True)
        self.surest = tied[uncertainty[tied].argsort(stable=True)]
        self.rank = torch.empty_like(self.surest)
        self.rank[self.surest] = torch.arange(len(self.surest))
        sums = uncertainty[self.surest].cumsum(0) / torch.arange(1, len(uncertainty) + 1)
        self.first = int((sums <= _FIRST * error).sum())
        fewest = math.log(1 / risk) / -math.log1p(-error)
        scarce = checks + _REUSED * len(reused) < _SCARCE * fewest
        self.bet = error / (_FEW if scarce else _SOME)
        self.checked: dict[int, None] = {}  # positions in the order in which they were asked

    def hopeless(self) -> str:
        """Why no audit is begun; empty where one is."""
        total = len(self.surest)
        if self.first < max(1, math.ceil(_SMALLEST * total)):
            return (
                f"the model is sure enough of {self.first} of {total} items only; label more, or allow "
                f"more than {100 * self.error:g} % errors"
            )
        if self.reused or self.first <= self.budget:  # a set that can be checked whole needs no luck
            return ""
        capital, needed = 0.0, math.log(1 / self.risk)
        for done in range(self.budget):
            mu = self._null(self.first, done, 0)
            capital += math.log1p(-min(self.bet, mu)) - math.log1p(-mu) if mu < 1 else math.inf
            if capital >= needed:
                return ""
        return (
            f"{self.budget} checks cannot show at most {100 * self.error:g} % errors, even if all are right; "
            "allow more of one or the other"
        )

    def failed(self, wrong: int) -> str:
        """Why no set is certified after the checks, `wrong` of which were wrong."""
        return (
            f"{wrong} of {len(self.checked)} checks were wrong, and no set is shown to have at most "
            f"{100 * self.error:g} % errors; label more, allow more errors, or give more checks"
        )

    def sizes(self) -> list[int]:
        """The sizes of the nested sets, from the first to the whole pool."""
        total = len(self.surest)
        step = max(1, round(_STEP * total))
        return [*range(self.first, total, step), total]

    def walk(self, size: int, answers: Mapping[int, bool]) -> bool | list[int]:
        """Whether the set of this size is certified, or the positions that must be answered first."""
        members = self.order[self.rank[self.order] < size].tolist()
        if self.reused:
            inside = [at for at in self.reused if self.rank[at] < size]
            members = inside + [at for at in members if at not in set(inside)]
        capital, needed, wrong = 0.0, math.log(1 / self.risk), 0
        known = set(self.reused)
        for done, at in enumerate(members):
            if at not in known and at not in self.checked:
                if len(self.checked) >= self.budget:
                    return False
                if at not in answers:
                    return [one for one in members[done:] if one not in answers]
                self.checked[at] = None
            mu = self._null(size, done, wrong)
            if mu <= 0:  # more are wrong than the promise allows
                return False
            right = _answer(answers, at)
            if mu >= 1:  # all that are left would have to be wrong
                capital = math.inf if right else capital
            else:
                q = min(self.bet, mu)
                capital += math.log1p(-q) - math.log1p(-mu) if right else math.log(q / mu)
            wrong += not right
            if capital >= needed:
                return True
        return False

    def _null(self, size: int, done: int, wrong: int) -> float:
        """The chance that the next item is wrong, if one more of the set is wrong than the promise allows.

        Reused answers are draws from a region that stands for new data: there it is the promised error
        itself.
        """
        if self.reused:
            return self.error
        return (math.floor(self.error * size + 1e-9) + 1 - wrong) / (size - done)


def _answer(answers: Mapping[int, bool], at: int) -> bool:
    if at not in answers:
        raise InputError(f"position {at} is reused, and has no answer")
    return bool(answers[at])


def _counts(
    predicted: Tensor, positions: Tensor, seen: Sequence[int], answers: Mapping[int, bool], classes: int
) -> tuple[ClassCount, ...]:
    """The counts of every predicted class in the certified set."""
    labels = predicted[positions].bincount(minlength=classes).tolist()
    inside = set(positions.tolist())
    checks, wrong = [0] * classes, [0] * classes
    for at in dict.fromkeys(seen):
        if at in inside:
            checks[int(predicted[at])] += 1
            wrong[int(predicted[at])] += not answers[at]
    return tuple(
        ClassCount(labels=n, checks=c, wrong=w) for n, c, w in zip(labels, checks, wrong, strict=True)
    )
